import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ClosedError } from "../../src/errors.ts";
import { afterMicrotasks, failureOf, range, World } from "../support/world.ts";

const REASON = new Error("changed my mind");

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

function expectReason(error: unknown): undefined {
  expect(error).toBe(REASON);
}

/** Nothing of an aborted call is left: no key (a hung node gets its time), no timer, no listener. */
async function expectNoTrace(world: World, signal: AbortSignal): Promise<void> {
  for (const node of world.memory) {
    node.thaw();
    node.slow(0);
  }
  await world.runtime.advance(2_000);
  expect(world.keysLeft()).toEqual([]);
  expect(world.runtime.pendingTimers).toBe(0);
  expect(listeners(signal)).toBe(0);
}

describe("row 16: an acquire is aborted", () => {
  test("before the call: nothing is sent", async () => {
    const world = new World();
    const signal = AbortSignal.abort(REASON);
    for (const call of [
      () => world.redlock.acquire("a", 60_000, { signal }),
      () => world.redlock.tryAcquire("a", 60_000, { signal }),
      () => world.redlock.using("a", 60_000, { signal }, () => {}),
    ]) {
      const { error, tookMs } = await world.failed(call);
      expect(error).toBe(REASON);
      expect(tookMs).toBe(0);
    }
    expect(world.commands).toEqual([]);
    await expectNoTrace(world, signal);
  });

  test.each(["frozen", "slow"])("while commands are in flight to %s nodes: rejects at once", async (trouble) => {
    const world = new World();
    for (const node of world.memory) {
      if (trouble === "frozen") node.freeze();
      else node.slow(100);
    }
    const controller = new AbortController();
    const acquiring = world.redlock.acquire("a", 60_000, { signal: controller.signal });
    await world.runtime.advance(50);
    controller.abort(REASON);
    const { error, tookMs } = await world.failed(() => acquiring);
    expect(error).toBe(REASON);
    expect(tookMs).toBe(0);
    await expectNoTrace(world, controller.signal);
  });

  test("while the lost attempt is cleaned up: rejects at once", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(100);
    world.hold("a", [0, 1], 5_000);
    const controller = new AbortController();
    const acquiring = world.redlock.acquire("a", 60_000, { signal: controller.signal });
    await world.runtime.advance(150);
    expect(world.relays[0]?.commands().map(({ kind }) => kind)).toEqual(["acquire", "release"]);
    controller.abort(REASON);
    const { error, tookMs } = await world.failed(() => acquiring);
    expect(error).toBe(REASON);
    expect(tookMs).toBe(0);
    for (const node of world.memory) node.delete("a");
    await expectNoTrace(world, controller.signal);
  });

  test("while it sleeps: rejects at once", async () => {
    const world = new World({ backoff: { minMs: 1_000, maxMs: 1_000 } });
    world.hold("a", [0, 1, 2], 60_000);
    const controller = new AbortController();
    const acquiring = world.redlock.acquire("a", 60_000, { signal: controller.signal });
    await world.runtime.advance(1);
    const sent = world.commands.length;
    controller.abort(REASON);
    const { error, tookMs } = await world.failed(() => acquiring);
    expect(error).toBe(REASON);
    expect(tookMs).toBe(0);
    expect(world.commands.length).toBe(sent);
    for (const node of world.memory) node.delete("a");
    await expectNoTrace(world, controller.signal);
  });

  test("at any ms of a long contention", async () => {
    for (const ms of range(60)) {
      const world = new World({ seed: ms });
      for (const node of world.memory) node.slow(7);
      world.hold("a", [0, 1], 40);
      const controller = new AbortController();
      const acquiring = world.redlock.acquire("a", 60_000, { signal: controller.signal });
      acquiring.catch(() => {});
      await world.runtime.advance(ms);
      controller.abort(REASON);
      const lock = await world.run(acquiring.catch(expectReason));
      if (lock !== undefined) await world.run(lock.release());
      await expectNoTrace(world, controller.signal);
    }
  });

  test.each(range(40))("after quorum, before hand-over: after %i steps", async (steps) => {
    const world = new World({ nodes: 1 });
    const controller = new AbortController();
    const [relay] = world.relays;
    if (relay !== undefined) {
      relay.script = async (command, pass) => {
        const vote = await pass();
        if (command.kind === "acquire") afterMicrotasks(steps, () => controller.abort(REASON));
        return vote;
      };
    }
    const acquiring = world.redlock.acquire("a", 60_000, { signal: controller.signal });
    const lock = await world.run(acquiring.catch(expectReason));
    // The last steps are those of the promises that carry the lock to the caller: from there nobody could call it back.
    if (steps <= 6) expect(lock, "handed over").toBeUndefined();
    if (lock !== undefined) {
      expect(lock.isHeld()).toBe(true);
      await world.run(lock.release());
    }
    await expectNoTrace(world, controller.signal);
  });

  test.each(range(40))("closed after quorum, before hand-over: after %i steps", async (steps) => {
    const world = new World({ nodes: 1 });
    const [relay] = world.relays;
    let closing: Promise<void> | undefined;
    if (relay !== undefined) {
      relay.script = async (command, pass) => {
        const vote = await pass();
        if (command.kind === "acquire")
          afterMicrotasks(steps, () => {
            closing = world.redlock.close();
          });
        return vote;
      };
    }
    const acquiring = world.redlock.acquire("a", 60_000, { autoExtend: true });
    const lock = await world.run(acquiring.catch((error: unknown) => void expect(error).toBeInstanceOf(ClosedError)));
    await world.runtime.advance(0);
    if (closing !== undefined) await world.run(closing);
    expect(lock?.isHeld() ?? false).toBe(false);
    if (lock !== undefined) expect(() => lock.throwIfLost()).toThrow(ClosedError);
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("a reason that is no error is passed on as it is, a missing one is an AbortError", async () => {
    const world = new World();
    world.hold("a", [0, 1, 2]);
    for (const reason of ["words", 0, null]) {
      const controller = new AbortController();
      const acquiring = failureOf(world.redlock.acquire("a", 60_000, { signal: controller.signal }));
      await world.runtime.advance(5);
      controller.abort(reason);
      expect(await world.run(acquiring)).toBe(reason);
    }
    const controller = new AbortController();
    const acquiring = failureOf(world.redlock.acquire("a", 60_000, { signal: controller.signal }));
    controller.abort();
    expect(await world.run(acquiring)).toMatchObject({ name: "AbortError" });
  });

  test("the signal ends the acquisition, never a lock already returned", async () => {
    const world = new World();
    const controller = new AbortController();
    const lock = await world.run(world.redlock.acquire("a", 1_000, { signal: controller.signal, autoExtend: true }));
    expect(listeners(controller.signal)).toBe(0);
    controller.abort(REASON);
    await world.runtime.advance(3_000);
    expect(lock.isHeld()).toBe(true);
    await world.run(lock.release());
    await expectNoTrace(world, controller.signal);
  });

  test("row 30: endless waiting piles up no listener and no timer", async () => {
    const world = new World();
    world.hold("a", [0, 1, 2], 100_000);
    const controller = new AbortController();
    const waiting = { signal: controller.signal, waitMs: Number.POSITIVE_INFINITY };
    const acquiring = failureOf(world.redlock.acquire("a", 60_000, waiting));
    for (let turn = 0; turn < 50; turn += 1) {
      await world.runtime.advance(1_000);
      expect(listeners(controller.signal)).toBe(1);
      expect(world.runtime.pendingTimers).toBe(1);
    }
    controller.abort(REASON);
    expect(await world.run(acquiring)).toBe(REASON);
    for (const node of world.memory) node.delete("a");
    await expectNoTrace(world, controller.signal);
  });
});

describe("row 16: an extend is aborted", () => {
  test("before the call: nothing is sent, the lock is held", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const signal = AbortSignal.abort(REASON);
    expect((await world.failed(() => lock.extend(1_000, { signal }))).error).toBe(REASON);
    expect(world.relays[0]?.commands("extend")).toEqual([]);
    expect(lock.isHeld()).toBe(true);
    await world.run(lock.release());
    await expectNoTrace(world, signal);
  });

  test("in flight: rejects at once, the lock is held, and what the round wins counts", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const controller = new AbortController();
    for (const node of world.memory) node.slow(100);
    await world.runtime.advance(500);
    const extending = lock.extend(1_000, { signal: controller.signal });
    await world.runtime.advance(50);
    controller.abort(REASON);
    const { error, tookMs } = await world.failed(() => extending);
    expect(error).toBe(REASON);
    expect(tookMs).toBe(0);
    expect(lock.remainingMs()).toBe(988 - 550);
    await world.runtime.advance(50);
    expect(lock.remainingMs()).toBe(988 - 100);
    await world.run(lock.release());
    await expectNoTrace(world, controller.signal);
  });

  test("in flight, and the round fails later: nothing is unhandled", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const controller = new AbortController();
    for (const node of world.memory) node.freeze();
    const extending = failureOf(lock.extend(1_000, { signal: controller.signal }));
    controller.abort(REASON);
    expect(await world.run(extending)).toBe(REASON);
    await world.runtime.advance(1_000);
    expect(lock.isHeld()).toBe(false);
    await expectNoTrace(world, controller.signal);
  });

  test("not at all: no listener is left", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const { signal } = new AbortController();
    await world.run(lock.extend(1_000, { signal }));
    expect(listeners(signal)).toBe(0);
    await world.run(lock.release());
    await expectNoTrace(world, signal);
  });
});
