import { describe, expect, test, vi } from "vitest";
import { ClosedError, LockHeldError, LockLostError } from "../../src/errors.ts";
import type { Lock } from "../../src/lock.ts";
import { World } from "../support/world.ts";

const TTL_MS = 1_000;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function pause(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => void world.runtime.setTimer(ms, resolve));
}

describe("using", () => {
  test("runs the routine under the lock, extends it, releases it once, and gives the routine's result", async () => {
    const world = new World();
    const result = await world.run(
      world.redlock.using("a", TTL_MS, async (signal, lock) => {
        expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
        expect(signal).toBe(lock.signal);
        await pause(world, 10 * TTL_MS);
        expect(signal.aborted).toBe(false);
        expect(lock.isHeld()).toBe(true);
        return 42;
      }),
    );
    expect(result).toBe(42);
    expect(world.keysLeft()).toEqual([]);
    expect(world.relays[0]?.commands("release")).toHaveLength(1);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("takes options before the routine: autoExtend off, a wait time, several resources", async () => {
    const world = new World();
    const routine = async (signal: AbortSignal) => {
      await aborted(signal);
      return 1;
    };
    const { error } = await world.failed(() => world.redlock.using(["a", "b"], TTL_MS, { autoExtend: false }, routine));
    expect(error).toBeInstanceOf(LockLostError);
    world.hold("a", [0, 1], 10_000);
    const waiting = () => world.redlock.using("a", TTL_MS, { waitMs: 100 }, () => 1);
    expect((await world.failed(waiting)).error).toBeInstanceOf(LockHeldError);
    expect(await world.run(world.redlock.using("c", TTL_MS, {}, () => "plain value"))).toBe("plain value");
  });

  test("does not run the routine without the lock", async () => {
    const world = new World();
    world.hold("a", [0, 1], 60_000);
    const routine = vi.fn();
    await world.failed(() => world.redlock.using("a", TTL_MS, { waitMs: 100 }, routine));
    expect(routine).not.toHaveBeenCalled();
  });

  test("the routine's own error comes out, rejected or thrown, and the lock is released", async () => {
    const world = new World();
    const own = new Error("own");
    for (const routine of [
      () => Promise.reject(own),
      () => {
        throw own;
      },
    ]) {
      expect((await world.failed(() => world.redlock.using("a", TTL_MS, routine))).error).toBe(own);
      expect(world.keysLeft()).toEqual([]);
    }
  });

  test("row 15: the routine throws after the lock was lost: its own error, at once", async () => {
    const world = new World();
    const own = new Error("own");
    let thrownAtMs = 0;
    const { error } = await world.failed(() =>
      world.redlock.using("a", TTL_MS, async (signal) => {
        for (const node of world.memory) node.freeze();
        await aborted(signal);
        await pause(world, 100);
        thrownAtMs = world.elapsedMs;
        throw own;
      }),
    );
    expect(error).toBe(own);
    expect(world.elapsedMs).toBe(thrownAtMs);
  });

  test("a release that cannot be confirmed hides neither the result nor the error", async () => {
    const world = new World();
    const routine = () => {
      for (const node of world.memory) node.down();
      return "done";
    };
    expect(await world.run(world.redlock.using("a", TTL_MS, routine))).toBe("done");
  });

  test("lost while the routine ran: LockLostError instead of a result made without the lock", async () => {
    const world = new World();
    let reason: unknown;
    const { error } = await world.failed(() =>
      world.redlock.using("a", TTL_MS, async (signal) => {
        for (const node of world.memory) node.flush();
        await aborted(signal);
        reason = signal.reason;
        return "a result";
      }),
    );
    expect(error).toBeInstanceOf(LockLostError);
    expect(error).toBe(reason);
  });

  test("lost while the routine blocked the event loop: LockLostError too", async () => {
    const world = new World();
    const { error } = await world.failed(() => world.redlock.using("a", TTL_MS, () => world.runtime.block(2 * TTL_MS)));
    expect(error).toBeInstanceOf(LockLostError);
  });

  test("row 9: a majority hangs: the signal aborts by the end of the validity, and it settles", async () => {
    const world = new World({ nodes: 5 });
    const { error, tookMs } = await world.failed(() =>
      world.redlock.using("a", TTL_MS, async (signal) => {
        for (const node of world.memory.slice(2)) node.freeze();
        await aborted(signal);
      }),
    );
    expect(error).toBeInstanceOf(LockLostError);
    expect(tookMs).toBeLessThanOrEqual(TTL_MS - 12);
  });

  test("a routine may release by itself: its result counts, and nothing is released twice", async () => {
    const world = new World();
    const routine = async (_: AbortSignal, lock: Lock) => {
      expect(await lock.release()).toMatchObject({ status: "released" });
      return "done";
    };
    expect(await world.run(world.redlock.using("a", TTL_MS, routine))).toBe("done");
    expect(world.relays[0]?.commands("release")).toHaveLength(1);
  });

  test("close() while it runs: the signal aborts with ClosedError, which it rejects with", async () => {
    const world = new World();
    let reason: unknown;
    const using = world.redlock.using("a", TTL_MS, async (signal) => {
      await aborted(signal);
      reason = signal.reason;
    });
    const failing = world.failed(() => using);
    await world.runtime.advance(10);
    await world.run(world.redlock.close());
    const { error } = await failing;
    expect(error).toBeInstanceOf(ClosedError);
    expect(error).toBe(reason);
    expect(world.keysLeft()).toEqual([]);
  });

  test("maxHoldMs stops a routine that never ends", async () => {
    const world = new World();
    const { error, tookMs } = await world.failed(() =>
      world.redlock.using("a", TTL_MS, { maxHoldMs: 3_000 }, (signal) => aborted(signal)),
    );
    expect(String(error)).toContain("maxHoldMs 3000");
    expect(tookMs).toBeGreaterThan(2_990);
    expect(tookMs).toBeLessThanOrEqual(3_000);
  });
});
