import { describe, expect, test } from "vitest";
import { ClosedError, LockReleasedError } from "../../src/errors.ts";
import { Redlock } from "../../src/redlock.ts";
import { failureOf, settled, World } from "../support/world.ts";

const TTL_MS = 10_000;

describe("row 39: close() with waiters, held locks and a hung node", () => {
  async function busy() {
    const world = new World();
    const { redlock } = world;
    const held = await world.run(redlock.acquire("held", TTL_MS, { autoExtend: true }));
    const { signal } = held;
    world.hold("taken", [0, 1, 2], 60_000);
    world.memory[2]?.freeze();
    const waiters = [
      failureOf(redlock.acquire("taken", TTL_MS, { waitMs: Number.POSITIVE_INFINITY })),
      failureOf(redlock.using("taken", TTL_MS, () => {})),
      failureOf(redlock.acquire("held", TTL_MS)),
    ];
    await world.runtime.advance(100);
    // One more whose commands are in flight.
    for (const node of world.memory.slice(0, 2)) node.slow(20);
    waiters.push(failureOf(redlock.acquire("free", TTL_MS)));
    await world.runtime.advance(10);
    return { world, held, signal, waiters };
  }

  test("settles within a node timeout; waiters get ERR_CLOSED; the held lock's signal aborts; no key is left", async () => {
    const { world, held, signal, waiters } = await busy();
    const closing = world.redlock.close();
    expect(signal.reason).toBeInstanceOf(ClosedError);
    expect(held.isHeld()).toBe(false);
    const { tookMs } = await world.timed(() => closing);
    expect(tookMs).toBeLessThanOrEqual(250);
    for (const error of await world.run(Promise.all(waiters))) expect(error).toMatchObject({ code: "ERR_CLOSED" });
    world.memory[2]?.thaw();
    await world.runtime.advance(1_000);
    expect(world.keysLeft()).toEqual(["redis-1/taken", "redis-2/taken", "redis-3/taken"]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("waiters hear of it at once, not when the close is done", async () => {
    const { world, waiters } = await busy();
    const heard: unknown[] = [];
    for (const waiter of waiters) void waiter.then((error) => heard.push(error));
    const closing = world.redlock.close();
    await settled();
    expect(heard).toHaveLength(4);
    await world.run(closing);
  });
});

describe("close", () => {
  test("refuses new calls before anything is sent", async () => {
    const world = new World();
    await world.run(world.redlock.close());
    for (const call of [
      () => world.redlock.acquire("a", TTL_MS),
      () => world.redlock.tryAcquire("a", TTL_MS),
      () => world.redlock.using("a", TTL_MS, () => {}),
      () => world.redlock.inspect("a"),
    ]) {
      const { error } = await world.failed(call);
      expect(error).toBeInstanceOf(ClosedError);
      expect(String(error)).toBe('ClosedError: "a": this Redlock has been closed');
    }
    expect(world.commands).toEqual([]);
  });

  test("is one and the same promise, also by `await using`", async () => {
    const world = new World();
    expect(world.redlock.close()).toBe(world.redlock.close());
    await world.run(world.redlock.close());
    let lockEnded = false;
    const work = async () => {
      await using redlock = new Redlock(world.memory, {}, world.runtime);
      const lock = await redlock.acquire("a", TTL_MS);
      lock.signal.addEventListener("abort", () => {
        lockEnded = true;
      });
    };
    await world.run(work());
    expect(lockEnded).toBe(true);
    expect(world.keysLeft()).toEqual([]);
  });

  test("what a lock says afterwards: closed, not lost; a release is answered as for any other", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    await world.run(world.redlock.close());
    expect(() => lock.throwIfLost()).toThrow(ClosedError);
    expect((await world.failed(() => lock.extend())).error).toBeInstanceOf(ClosedError);
    expect(lock.signal.reason).toBeInstanceOf(ClosedError);
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
  });

  test("leaves a lock that was released before as it was", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    const { signal } = lock;
    await world.run(lock.release());
    await world.run(world.redlock.close());
    expect(signal.aborted).toBe(false);
    expect(() => lock.throwIfLost()).toThrow(LockReleasedError);
  });

  test("closes no node that was passed in", async () => {
    const world = new World();
    await world.run(world.redlock.close());
    expect(world.redlock.nodes.map(({ state }) => state)).toEqual(["ready", "ready", "ready"]);
    expect((await world.run(world.neighbour().redlock.acquire("a", TTL_MS))).isHeld()).toBe(true);
  });

  test("waits for releases that are under way", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    for (const relay of world.relays) relay.requestMs = 100;
    void lock.release();
    const { tookMs } = await world.timed(() => world.redlock.close());
    expect(tookMs).toBe(100);
    expect(world.keysLeft()).toEqual([]);
  });

  test("P6: settles when every node hangs", async () => {
    const world = new World();
    await world.run(world.redlock.acquire("a", TTL_MS));
    for (const node of world.memory) node.freeze();
    const { tookMs } = await world.timed(() => world.redlock.close());
    expect(tookMs).toBeLessThanOrEqual(250);
  });
});
