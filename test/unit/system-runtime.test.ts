import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryNode } from "../../src/nodes/memory.ts";
import { Redlock } from "../../src/redlock.ts";
import { Stopwatch, systemRuntime } from "../../src/runtime.ts";

describe("systemRuntime", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a timer calls back once, in time, and does not keep the process alive", () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const callback = vi.fn();
    systemRuntime.setTimer(1_000, callback);
    expect(set.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
    vi.advanceTimersByTime(999);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    vi.advanceTimersByTime(10_000);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  test.each([2 ** 31 - 1, 2 ** 31, 5 * 2 ** 31 + 7])(
    "row 18: a timer of %i ms fires neither at once nor late",
    (delayMs) => {
      const set = vi.spyOn(globalThis, "setTimeout");
      const callback = vi.fn();
      systemRuntime.setTimer(delayMs, callback);
      vi.advanceTimersByTime(delayMs - 1);
      expect(callback).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(callback).toHaveBeenCalledTimes(1);
      for (const [, ms] of set.mock.calls) expect(ms).toBeLessThan(2 ** 31);
      for (const { value } of set.mock.results) expect(value.hasRef()).toBe(false);
    },
  );

  test("a timer of 2^53 ms can be cancelled in any of its steps", () => {
    const callback = vi.fn();
    const timer = systemRuntime.setTimer(2 ** 53 - 1, callback);
    vi.advanceTimersByTime(3 * 2 ** 31);
    timer.cancel();
    expect(vi.getTimerCount()).toBe(0);
    expect(callback).not.toHaveBeenCalled();
    timer.cancel();
  });

  test("its clocks are the monotonic, the wall's and the one since boot", () => {
    const [nowMs, wallMs] = [systemRuntime.nowMs(), systemRuntime.wallMs()];
    vi.advanceTimersByTime(500);
    expect(systemRuntime.nowMs() - nowMs).toBe(500);
    expect(systemRuntime.wallMs() - wallMs).toBe(500);
    expect(systemRuntime.uptimeMs()).toBeGreaterThan(0);
  });

  test("a token has 16 bytes of its own", () => {
    const tokens = Array.from({ length: 1_000 }, () => systemRuntime.newToken());
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(tokens).size).toBe(1_000);
    expect(systemRuntime.random()).toBeLessThan(1);
  });

  test("a stopwatch shows the larger of the two clocks", () => {
    const stopwatch = new Stopwatch(systemRuntime);
    vi.advanceTimersByTime(100);
    expect(stopwatch.elapsedMs()).toBe(100);
    vi.setSystemTime(Date.now() + 5_000);
    expect(stopwatch.elapsedMs()).toBe(5_100);
    vi.setSystemTime(Date.now() - 60_000);
    expect(stopwatch.elapsedMs(), "it never runs backwards").toBe(5_100);
  });
});

describe("with a test runner's fake timers", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a wait takes the time that the test lets pass, and close() settles", async () => {
    const nodes = [new MemoryNode(), new MemoryNode(), new MemoryNode()];
    const redlock = new Redlock(nodes);
    const lock = await redlock.acquire("a", 1_000);
    const waiting = redlock.acquire("a", 1_000, { waitMs: 5_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(lock.isHeld()).toBe(false);
    const second = await waiting;
    for (const node of nodes) node.freeze();
    const extending = second.extend().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await extending).toBeInstanceOf(Error);
    await redlock.close();
  });
});
