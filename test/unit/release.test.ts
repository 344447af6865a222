import { describe, expect, test } from "vitest";
import { LockLostError, LockReleasedError } from "../../src/errors.ts";
import { range, World } from "../support/world.ts";

const TTL_MS = 1_000;

async function held(world: World, options = {}) {
  return world.run(world.redlock.acquire("a", TTL_MS, options));
}

describe("release", () => {
  test("deletes the keys on every node, and tells what each answered", async () => {
    const world = new World();
    const lock = await held(world);
    const result = await world.run(lock.release());
    expect(result.status).toBe("released");
    expect(result.votes.map(({ name, vote }) => `${name} ${vote}`)).toContain("redis-1 granted");
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("ends the handle at once, before anything is answered, and aborts no signal", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    const { signal } = lock;
    for (const node of world.memory) node.freeze();
    const releasing = lock.release();
    expect(lock.isHeld()).toBe(false);
    expect(lock.remainingMs()).toBe(0);
    expect(() => lock.throwIfLost()).toThrow(LockReleasedError);
    await world.run(releasing);
    await world.runtime.advance(2 * TTL_MS);
    expect(signal.aborted).toBe(false);
  });

  test("is one and the same promise every time, and is sent once", async () => {
    const world = new World();
    const lock = await held(world);
    const first = lock.release();
    expect(lock.release()).toBe(first);
    await world.run(first);
    expect(lock.release()).toBe(first);
    await world.run(Promise.resolve(lock[Symbol.asyncDispose]()));
    expect(world.relays[0]?.commands("release")).toHaveLength(1);
  });

  test("by `await using`", async () => {
    const world = new World();
    const work = async () => {
      await using lock = await world.redlock.acquire("a", TTL_MS);
      expect(world.values("a")).toEqual(range(3).map(() => lock.token));
    };
    await world.run(work());
    expect(world.keysLeft()).toEqual([]);
  });

  test("P4: leaves another owner's key alone", async () => {
    const world = new World();
    const lock = await held(world);
    world.hold("a", [0, 1, 2]);
    expect(await world.run(lock.release())).toMatchObject({ status: "expired" });
    expect(world.values("a")).toEqual(["somebody else", "somebody else", "somebody else"]);
  });

  test("whose voters had lost their keys unnoticed is told as expired", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[0]?.flush();
    world.memory[1]?.flush();
    expect(await world.run(lock.release())).toMatchObject({ status: "expired" });
    const second = await held(world);
    world.memory[0]?.flush();
    expect(await world.run(second.release())).toMatchObject({ status: "released" });
    expect(world.keysLeft()).toEqual([]);
  });

  test("P6: resolves at the node timeout when nodes hang: unconfirmed, and kept until they are back", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[0]?.freeze();
    world.memory[1]?.freeze();
    const { result, tookMs } = await world.timed(() => lock.release());
    expect(result.status).toBe("unconfirmed");
    expect(result.votes.map(({ vote }) => vote)).toEqual(["unknown", "unknown", "granted"]);
    expect(tookMs).toBe(250);
    world.memory[0]?.thaw();
    world.memory[1]?.thaw();
    await world.runtime.advance(0);
    expect(world.keysLeft()).toEqual([]);
  });

  test("P7: reaches a node that is down as soon as it is back", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.down();
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
    expect(world.keysLeft()).toEqual(["redis-3/a"]);
    world.memory[2]?.up();
    await world.runtime.advance(0);
    expect(world.keysLeft()).toEqual([]);
  });
});

describe("release of a lock that has expired", () => {
  test("row 13: returns at once, does not throw, does not retry", async () => {
    const world = new World();
    const lock = await held(world);
    for (const node of world.memory) node.freeze();
    await world.runtime.advance(5 * TTL_MS);
    const { result, tookMs } = await world.timed(() => lock.release());
    expect(result).toEqual({ status: "expired", votes: [] });
    expect(tookMs).toBe(0);
    await world.runtime.advance(5 * TTL_MS);
    for (const relay of world.relays) expect(relay.commands("release")).toHaveLength(1);
  });

  test("row 13: also when the event loop was blocked and nobody has noticed yet", async () => {
    const world = new World();
    const lock = await held(world);
    const { signal } = lock;
    world.runtime.block(5 * TTL_MS);
    const { result, tookMs } = await world.timed(() => lock.release());
    expect(result).toEqual({ status: "expired", votes: [] });
    expect(tookMs).toBe(0);
    expect(signal.reason).toBeInstanceOf(LockLostError);
  });

  test("row 14: with endless waiting configured it returns within a round trip", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(10);
    const lock = await held(world, { waitMs: Number.POSITIVE_INFINITY });
    await world.runtime.advance(5 * TTL_MS);
    const { result, tookMs } = await world.timed(() => lock.release());
    expect(result.status).toBe("expired");
    expect(tookMs).toBeLessThanOrEqual(10);
  });

  test("leaves alone who holds it now", async () => {
    const world = new World();
    const lock = await held(world);
    await world.runtime.advance(TTL_MS);
    const next = await world.run(world.neighbour().redlock.acquire("a", TTL_MS));
    await world.run(lock.release());
    expect(world.values("a")).toEqual([next.token, next.token, next.token]);
  });
});

describe("row 25: a repair while the lock is being released", () => {
  test.each(range(70))(
    "released after %i ms: no key is left on any node, and nothing is written any more",
    async (ms) => {
      const world = new World();
      const lock = await held(world, { autoExtend: true });
      world.memory[2]?.flush();
      const [, , relay] = world.relays;
      if (relay !== undefined) relay.requestMs = 20;
      world.memory[2]?.slow(5);
      // Denied after 25 ms, repaired after 45, heard after 50.
      const extending = lock.extend();
      await world.runtime.advance(ms);
      const releasing = lock.release();
      await world.run(extending);
      await world.run(releasing);
      await world.runtime.advance(100);
      expect(world.keysLeft()).toEqual([]);
      expect(relay?.commands("repair")).toHaveLength(ms < 25 ? 0 : 1);
      for (const { sent } of world.relays) expect(sent.at(-1)?.command.kind).toBe("release");
    },
  );
});
