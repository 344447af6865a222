import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { driftMs, validityLeftMs } from "../../../src/core/validity.ts";

describe("validity", () => {
  test.each([
    { ttlMs: 10_000, elapsedMs: 0, driftFactor: 0.01, leftMs: 9_898 },
    { ttlMs: 10_000, elapsedMs: 9_898, driftFactor: 0.01, leftMs: 0 },
    { ttlMs: 10_000, elapsedMs: 20_000, driftFactor: 0.01, leftMs: -10_102 },
    { ttlMs: 100, elapsedMs: 300, driftFactor: 0.01, leftMs: -203 },
    { ttlMs: 1_000, elapsedMs: 10, driftFactor: 0, leftMs: 988 },
    { ttlMs: 2, elapsedMs: 0, driftFactor: 0, leftMs: 0 },
    { ttlMs: 604_800_000, elapsedMs: 0, driftFactor: 0.01, leftMs: 598_751_998 },
  ])("of $ttlMs ms after $elapsedMs ms with drift $driftFactor is $leftMs ms", (row) => {
    expect(validityLeftMs(row.ttlMs, row.elapsedMs, row.driftFactor)).toBe(row.leftMs);
  });

  test("of 2^53 − 1 ms is finite, positive, and still counts down", () => {
    const atStartMs = validityLeftMs(Number.MAX_SAFE_INTEGER, 0, 0.01);
    expect(atStartMs).toBeGreaterThan(8.9e15);
    expect(Number.isFinite(atStartMs)).toBe(true);
    expect(validityLeftMs(Number.MAX_SAFE_INTEGER, 1_000, 0.01)).toBe(atStartMs - 1_000);
  });

  test("is never more than the ttl minus elapsed minus 2 ms, and the drift grows with the ttl", () => {
    const ttl = fc.integer({ min: 1, max: 2 ** 40 });
    const elapsed = fc.integer({ min: 0, max: 2 ** 40 });
    const factor = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(ttl, elapsed, factor, (ttlMs, elapsedMs, driftFactor) => {
        expect(validityLeftMs(ttlMs, elapsedMs, driftFactor)).toBeLessThanOrEqual(ttlMs - elapsedMs - 2);
        expect(driftMs(ttlMs + 1, driftFactor)).toBeGreaterThanOrEqual(driftMs(ttlMs, driftFactor));
      }),
    );
  });
});
