import { describe, expect, test } from "vitest";
import { LockLostError } from "../../src/errors.ts";
import type { Lock } from "../../src/lock.ts";
import { watch } from "../support/watch.ts";
import { World } from "../support/world.ts";

const TTL_MS = 1_000;
const VALID_MS = 988;

async function held(options = {}, ttlMs = TTL_MS): Promise<{ world: World; lock: Lock }> {
  const world = new World();
  const lock = await world.run(world.redlock.acquire("a", ttlMs, options));
  return { world, lock };
}

describe("P5: the end of the validity", () => {
  test("aborts the signal in time, whatever the nodes do", async () => {
    for (const trouble of ["freeze", "down", "flush"] as const) {
      const { world, lock } = await held({ autoExtend: trouble === "freeze" });
      const { signal } = lock;
      for (const node of world.memory) node[trouble]();
      let abortedAtMs: number | undefined;
      signal.addEventListener("abort", () => {
        abortedAtMs = world.elapsedMs;
      });
      await world.runtime.advance(5 * TTL_MS);
      expect(abortedAtMs, trouble).toBeGreaterThan(VALID_MS - 3);
      expect(abortedAtMs, trouble).toBeLessThanOrEqual(VALID_MS);
      expect(signal.reason).toBeInstanceOf(LockLostError);
    }
  });

  test("ends isHeld, remainingMs and throwIfLost to the millisecond, timers or not", async () => {
    const { world, lock } = await held();
    world.runtime.block(VALID_MS - 1);
    expect([lock.isHeld(), lock.remainingMs()]).toEqual([true, 1]);
    expect(() => lock.throwIfLost()).not.toThrow();
    world.runtime.block(1);
    expect([lock.isHeld(), lock.remainingMs()]).toEqual([false, 0]);
    expect(() => lock.throwIfLost()).toThrow(LockLostError);
  });

  test("is final, for every way to ask", async () => {
    const { world, lock } = await held();
    await world.runtime.advance(TTL_MS);
    expect(lock.isHeld()).toBe(false);
    expect(lock.remainingMs()).toBe(0);
    expect(lock.validUntil.getTime()).toBe(world.runtime.wallMs());
    expect(() => lock.throwIfLost()).toThrow(lock.signal.reason);
    expect((await world.failed(() => lock.extend())).error).toBe(lock.signal.reason);
    expect(lock.signal.reason).toMatchObject({ code: "ERR_LOCK_LOST", resources: ["a"] });
  });

  test("a signal that is first asked for after the loss is aborted", async () => {
    const { world, lock } = await held();
    await world.runtime.advance(TTL_MS);
    expect(lock.signal.aborted).toBe(true);
    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
  });

  test("is prolonged by an extension: the old end passes unnoticed", async () => {
    const { world, lock } = await held();
    const { signal } = lock;
    await world.runtime.advance(500);
    await world.run(lock.extend());
    await world.runtime.advance(600);
    expect([lock.isHeld(), signal.aborted]).toEqual([true, false]);
    await world.runtime.advance(388);
    expect([lock.isHeld(), signal.aborted]).toEqual([false, true]);
  });
});

describe("row 12: the event loop is blocked for longer than the ttl, another client came and went", () => {
  async function stalled(options = {}) {
    const { world, lock } = await held(options);
    const { signal } = lock;
    world.runtime.block(1_500);
    for (const node of world.memory) {
      node.set("a", "another client", { ttlMs: TTL_MS });
      node.delete("a");
    }
    return { world, lock, signal, sent: world.commands.length };
  }

  test("the first statement after the block sees it", async () => {
    const { lock } = await stalled();
    expect(lock.isHeld()).toBe(false);
    expect(lock.remainingMs()).toBe(0);
    expect(() => lock.throwIfLost()).toThrow(LockLostError);
  });

  test("extend refuses, though the key is free, and sends none", async () => {
    const { world, lock } = await stalled();
    const { error } = await world.failed(() => lock.extend());
    expect(error).toBeInstanceOf(LockLostError);
    expect(world.relays[0]?.commands("extend")).toEqual([]);
    expect(world.keysLeft()).toEqual([]);
  });

  test("the loss is published, once", async () => {
    using losses = watch("redlock-quorum:loss");
    const { world, lock } = await stalled();
    await world.failed(() => lock.extend());
    await world.runtime.advance(TTL_MS);
    await world.run(lock.release());
    expect(losses.messages).toEqual([{ resources: ["a"], error: lock.signal.reason }]);
  });

  test.each([{ autoExtend: false }, { autoExtend: true }])(
    "the signal aborts in the first timer turn (%o), and nothing is extended",
    async (options) => {
      const { world, lock, signal } = await stalled(options);
      await world.runtime.advance(0);
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      expect(lock.isHeld()).toBe(false);
      expect(world.relays[0]?.commands("extend")).toEqual([]);
      expect(world.runtime.pendingTimers).toBe(0);
    },
  );
});

describe("clocks", () => {
  test("the wall clock set forward ends the lock early", async () => {
    const { world, lock } = await held();
    world.runtime.stepWall(600);
    expect(lock.remainingMs()).toBe(VALID_MS - 600);
    world.runtime.stepWall(400);
    expect(lock.isHeld()).toBe(false);
    expect((await world.failed(() => lock.extend())).error).toBeInstanceOf(LockLostError);
  });

  test("the wall clock set back changes nothing", async () => {
    const { world, lock } = await held();
    const { signal } = lock;
    world.runtime.stepWall(-3_600_000);
    expect(lock.remainingMs()).toBe(VALID_MS);
    await world.runtime.advance(VALID_MS - 3);
    expect([lock.isHeld(), signal.aborted]).toEqual([true, false]);
    await world.runtime.advance(3);
    expect([lock.isHeld(), signal.aborted]).toEqual([false, true]);
  });

  test("a machine that slept longer than the validity has lost its locks when it wakes", async () => {
    const { world, lock } = await held({ autoExtend: true });
    await world.runtime.advance(2_000);
    world.runtime.suspend(5_000);
    expect(lock.isHeld()).toBe(false);
    const { signal } = lock;
    await world.runtime.advance(TTL_MS / 3);
    expect(signal.aborted).toBe(true);
  });

  test("sleep that only the time since boot shows is seen within a second", async () => {
    const { world, lock } = await held({}, 3_000);
    const { signal } = lock;
    await world.runtime.advance(500);
    await world.run(lock.extend());
    world.runtime.suspend(2_800);
    world.runtime.stepWall(-2_800);
    await world.runtime.advance(1_000);
    expect(signal.aborted).toBe(true);
    expect(lock.isHeld()).toBe(false);
  });

  test.each(["suspend", "stepWall"] as const)(
    "P5: after %s the signal does not wait for a timer that stood still",
    async (how) => {
      const { world, lock } = await held({}, 60_000);
      const { signal } = lock;
      await world.runtime.advance(10_000);
      world.runtime[how](45_000);
      expect(lock.isHeld()).toBe(true);
      await world.runtime.advance(1_000);
      expect(signal.aborted).toBe(false);
      await world.runtime.advance(4_000);
      expect(signal.aborted).toBe(true);
      const other = await world.run(world.redlock.acquire("another", 60_000));
      world.runtime[how](70_000);
      expect(other.isHeld()).toBe(false);
      await world.runtime.advance(1_000);
      expect(other.signal.aborted).toBe(true);
    },
  );

  test("the coarseness of the time since boot ends nothing", async () => {
    const { world, lock } = await held({ autoExtend: true });
    for (let turn = 0; turn < 100; turn += 1) {
      world.runtime.suspend(turn % 2 === 0 ? 10 : -10);
      world.runtime.stepWall(turn % 2 === 0 ? -10 : 10);
      await world.runtime.advance(137);
    }
    expect(lock.isHeld()).toBe(true);
  });
});

describe("what a loss leaves", () => {
  test("P7: no key: it is released everywhere, on a node that is away once it is back", async () => {
    const { world, lock } = await held({ maxHoldMs: 500 });
    world.memory[2]?.down();
    await world.runtime.advance(500);
    expect(lock.isHeld()).toBe(false);
    world.memory[2]?.up();
    expect(world.keysLeft()).toEqual([]);
  });

  test("no timer", async () => {
    const { world } = await held({ autoExtend: true });
    for (const node of world.memory) node.flush();
    await world.runtime.advance(5 * TTL_MS);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("row 35: with nobody listening nothing crashes: no rejection, no error event", async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", listener);
    process.on("uncaughtException", listener);
    const { world, lock } = await held({ autoExtend: true });
    for (const node of world.memory) node.flush();
    await world.runtime.advance(TTL_MS);
    expect(lock.isHeld()).toBe(false);
    const { world: frozen } = await held({ autoExtend: true });
    for (const node of frozen.memory) node.freeze();
    await frozen.runtime.advance(5 * TTL_MS);
    process.off("unhandledRejection", listener);
    process.off("uncaughtException", listener);
    expect(unhandled).toEqual([]);
  });
});
