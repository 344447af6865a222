import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Backoff, backoffMs, freeInMs } from "../../../src/core/backoff.ts";

const LARGEST_RANDOM = 1 - 2 ** -53;

describe("backoff", () => {
  test.each([
    { lostAttempts: 1, ceilingMs: 10 },
    { lostAttempts: 2, ceilingMs: 20 },
    { lostAttempts: 5, ceilingMs: 160 },
    { lostAttempts: 6, ceilingMs: 250 },
    { lostAttempts: 100_000, ceilingMs: 250 },
  ])("after $lostAttempts lost attempts lies between 0 and $ceilingMs ms", ({ lostAttempts, ceilingMs }) => {
    const backoff = { minMs: 10, maxMs: 250 };
    expect(backoffMs(backoff, lostAttempts, 0)).toBe(0);
    expect(backoffMs(backoff, lostAttempts, 0.5)).toBe(ceilingMs / 2);
    expect(backoffMs(backoff, lostAttempts, LARGEST_RANDOM)).toBeLessThanOrEqual(ceilingMs);
  });

  const anyBackoff: fc.Arbitrary<Backoff> = fc
    .tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.double({ min: 0, max: 1e9, noNaN: true }))
    .map(([minMs, moreMs]) => ({ minMs, maxMs: minMs + moreMs }));
  const anyRandom = fc.double({ min: 0, max: LARGEST_RANDOM, noNaN: true });
  const anyAttempts = fc.oneof(
    fc.integer({ min: 1, max: 2_000 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  );

  test("is a number of ms between 0 and maxMs whatever the attempt", () => {
    fc.assert(
      fc.property(anyBackoff, anyAttempts, anyRandom, (backoff, lostAttempts, random) => {
        const delayMs = backoffMs(backoff, lostAttempts, random);
        expect(Number.isFinite(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(backoff.maxMs);
      }),
      { examples: [[{ minMs: 0, maxMs: 1 }, Number.MAX_SAFE_INTEGER, 0]] },
    );
  });

  test("never gets shorter from one lost attempt to the next, for the same chance", () => {
    fc.assert(
      fc.property(anyBackoff, fc.integer({ min: 1, max: 2_000 }), anyRandom, (backoff, lostAttempts, random) => {
        const nextMs = backoffMs(backoff, lostAttempts + 1, random);
        expect(nextMs).toBeGreaterThanOrEqual(backoffMs(backoff, lostAttempts, random));
      }),
    );
  });
});

describe("free in", () => {
  test.each([
    { holderTtlsMs: [8_200, 100, 5_000], missing: 1, freeMs: 100 },
    { holderTtlsMs: [8_200, 100, 5_000], missing: 2, freeMs: 5_000 },
    { holderTtlsMs: [8_200, 100, 5_000], missing: 3, freeMs: 8_200 },
    { holderTtlsMs: [8_200, 100, 5_000], missing: 4, freeMs: undefined },
    { holderTtlsMs: [], missing: 1, freeMs: undefined },
    { holderTtlsMs: [100], missing: 0, freeMs: undefined },
    { holderTtlsMs: [Number.POSITIVE_INFINITY, 100], missing: 1, freeMs: 100 },
    { holderTtlsMs: [10, 9, 100], missing: 2, freeMs: 10 },
  ])("$missing of keys with $holderTtlsMs ms left: $freeMs", ({ holderTtlsMs, missing, freeMs }) => {
    expect(freeInMs(holderTtlsMs, missing)).toBe(freeMs);
  });

  test("leaves the list as it was", () => {
    const holderTtlsMs = Object.freeze([3, 1, 2]);
    expect(freeInMs(holderTtlsMs, 1)).toBe(1);
  });
});
