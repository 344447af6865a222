import { expect, test } from "vitest";
import { LockLostError, QuorumUnreachableError } from "../../src/errors.ts";
import { Keeper } from "../../src/keeper.ts";
import { VirtualRuntime } from "../support/virtual-runtime.ts";

const TTL_MS = 1_200;
const THIRD_MS = 400;
const TWELFTH_MS = 100;
const UNDECIDED = new QuorumUnreachableError("undecided", { resources: ["a"], votes: [] });

/** A keeper of something whose extensions take so long and end so. */
function kept({ tookMs = 0, failure, ttlMs = TTL_MS }: { tookMs?: number; failure?: Error; ttlMs?: number } = {}) {
  const runtime = new VirtualRuntime({ seed: 1 });
  const startMs = runtime.nowMs();
  const startsMs: number[] = [];
  const prolong = async () => {
    startsMs.push(runtime.nowMs() - startMs);
    if (tookMs > 0) await new Promise<void>((resolve) => void runtime.setTimer(tookMs, resolve));
    if (failure !== undefined) throw failure;
  };
  return { runtime, startsMs, keeper: new Keeper(runtime, ttlMs, { prolong }) };
}

test("a third of the ttl lies between the starts, however long an extension takes", async () => {
  const { runtime, startsMs } = kept({ tookMs: 150 });
  await runtime.advance(3 * THIRD_MS);
  expect(startsMs).toEqual([THIRD_MS, 2 * THIRD_MS, 3 * THIRD_MS]);
});

test("told to hurry it extends a twelfth of the ttl after the last start", async () => {
  const { runtime, startsMs, keeper } = kept();
  keeper.hasten();
  await runtime.advance(TWELFTH_MS);
  expect(startsMs).toEqual([TWELFTH_MS]);
  keeper.hasten();
  await runtime.advance(TWELFTH_MS);
  expect(startsMs).toEqual([TWELFTH_MS, 2 * TWELFTH_MS]);
  await runtime.advance(THIRD_MS);
  expect(startsMs).toEqual([TWELFTH_MS, 2 * TWELFTH_MS, 2 * TWELFTH_MS + THIRD_MS]);
});

test("told so during an extension it ends that one first", async () => {
  const { runtime, startsMs, keeper } = kept({ tookMs: 50 });
  await runtime.advance(THIRD_MS + 10);
  keeper.hasten();
  await runtime.advance(THIRD_MS);
  expect(startsMs).toEqual([THIRD_MS, THIRD_MS + TWELFTH_MS]);
});

test.each(["before", "during"])(
  "stopped %s an extension it begins none any more, not even in a hurry",
  async (when) => {
    const { runtime, startsMs, keeper } = kept({ tookMs: 50 });
    await runtime.advance(when === "during" ? THIRD_MS + 10 : 10);
    keeper.stop();
    keeper.hasten();
    await runtime.advance(100);
    keeper.hasten();
    await runtime.advance(5 * TTL_MS);
    expect(startsMs).toHaveLength(when === "during" ? 1 : 0);
    expect(runtime.pendingTimers).toBe(0);
  },
);

test.each([
  [TTL_MS, 60, 120],
  [60_000, 500, 1_000],
])(
  "with a ttl of %i ms an undecided round is tried again %i to %i ms after its end",
  async (ttlMs, leastMs, mostMs) => {
    const tookMs = 20;
    const { runtime, startsMs } = kept({ tookMs, failure: UNDECIDED, ttlMs });
    await runtime.advance(ttlMs / 3 + 20 * (mostMs + tookMs));
    const pausesMs = startsMs.slice(1).map((startMs, index) => startMs - (startsMs[index] ?? 0) - tookMs);
    expect(pausesMs.length).toBeGreaterThanOrEqual(20);
    expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(leastMs);
    expect(Math.max(...pausesMs)).toBeLessThanOrEqual(mostMs + 1);
  },
);

test.each([new LockLostError("lost", { resources: ["a"], votes: [] }), new Error("unheard of")])(
  "%s ends it",
  async (failure) => {
    const { runtime, startsMs } = kept({ failure });
    await runtime.advance(5 * TTL_MS);
    expect(startsMs).toEqual([THIRD_MS]);
    expect(runtime.pendingTimers).toBe(0);
  },
);
