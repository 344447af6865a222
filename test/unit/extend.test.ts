import { describe, expect, test } from "vitest";
import { LockLostError, QuorumUnreachableError } from "../../src/errors.ts";
import { range, World } from "../support/world.ts";

const TTL_MS = 1_000;
const DRIFT_MS = 12;
const VALID_MS = TTL_MS - DRIFT_MS;

async function held(world: World, options = {}, ttlMs = TTL_MS) {
  return world.run(world.redlock.acquire("a", ttlMs, options));
}

describe("extend", () => {
  test("gives the whole ttl again, counted from its own start", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(5);
    const lock = await held(world);
    await world.runtime.advance(800);
    await world.run(lock.extend());
    expect(lock.remainingMs()).toBe(VALID_MS - 5);
    await world.runtime.advance(800);
    expect(lock.isHeld()).toBe(true);
    expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
  });

  test("P3: right after the acquire, and two of the quickest nodes hang: the slower ones count", async () => {
    const world = new World({ nodes: 5 });
    for (const node of world.memory.slice(3)) node.slow(5);
    const lock = await held(world);
    await world.run(lock.extend());
    await world.runtime.advance(100);
    for (const node of world.memory.slice(0, 2)) node.freeze();
    await world.run(lock.extend());
    expect(lock.remainingMs()).toBeGreaterThan(VALID_MS - 10);
  });

  test.each([
    [{ sginal: undefined }, 'options: unknown option "sginal"'],
    [7, "options: expected an object, got 7 (number)"],
    [{ signal: {} }, "signal: expected an AbortSignal, got an object (Object)"],
  ])("options %j are refused: %s", async (options, message) => {
    const world = new World();
    const lock = await held(world);
    await expect(lock.extend(TTL_MS, options as object)).rejects.toThrow(message);
  });

  test("takes a ttl of its own, on the nodes too", async () => {
    const world = new World();
    const lock = await held(world);
    await world.run(lock.extend(60_000));
    expect(lock.remainingMs()).toBe(60_000 - 602);
    for (const node of world.memory) expect(node.ttlMs("a")).toBe(60_000);
  });

  test("never lowers: a shorter one changes neither the validity nor a key", async () => {
    const world = new World();
    const lock = await held(world, {}, 10_000);
    await world.runtime.advance(100);
    await world.run(lock.extend(500));
    expect(lock.remainingMs()).toBe(10_000 - 102 - 100);
    for (const node of world.memory) expect(node.ttlMs("a")).toBe(9_900);
  });

  test("P4: only the owner extends: a key that became another's stays as it is", async () => {
    const world = new World();
    const lock = await held(world);
    for (const node of world.memory) node.set("a", "somebody else", { ttlMs: 700 });
    expect((await world.failed(() => lock.extend())).error).toBeInstanceOf(LockLostError);
    for (const node of world.memory) expect([node.get("a"), node.ttlMs("a")]).toEqual(["somebody else", 700]);
  });

  test("one that stays undecided takes nothing away", async () => {
    const world = new World();
    const lock = await held(world);
    await world.runtime.advance(100);
    world.memory[0]?.freeze();
    world.memory[1]?.freeze();
    const { error, tookMs } = await world.failed(() => lock.extend(60_000));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(String(error)).toBe(
      'QuorumUnreachableError: "a": 1/3 granted, 2 needed (2 timed out after 250 ms: redis-1, redis-2)',
    );
    expect(tookMs).toBe(250);
    expect(lock.isHeld()).toBe(true);
    expect(lock.remainingMs()).toBe(VALID_MS - 350);
    for (const node of world.memory) node.thaw();
    await world.run(lock.extend());
    expect(lock.remainingMs()).toBe(VALID_MS);
  });

  test("one whose answers are read after a stall, when its own ttl is over, has not succeeded", async () => {
    const world = new World();
    const lock = await held(world, {}, 60_000);
    for (const node of world.memory) node.slow(10);
    const extending = lock.extend(1_000);
    world.runtime.block(5_000);
    const { error } = await world.failed(() => extending);
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(String(error)).toContain("the answers came too late");
    expect(lock.remainingMs()).toBe(60_000 - 602 - 5_000);
  });

  test("concurrent ones all succeed, and the longest counts", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(3);
    const lock = await held(world);
    await world.run(Promise.all([lock.extend(2_000), lock.extend(20_000), lock.extend(), lock.extend(500)]));
    expect(lock.remainingMs()).toBe(20_000 - 202 - 3);
    await world.run(lock.release());
    expect(world.keysLeft()).toEqual([]);
  });

  test("one that comes too late does not bring a lost lock back", async () => {
    const world = new World();
    const lock = await held(world);
    await world.runtime.advance(900);
    for (const node of world.memory) node.slow(150);
    const { error } = await world.failed(() => lock.extend());
    expect(error).toBeInstanceOf(LockLostError);
    expect(lock.isHeld()).toBe(false);
    await world.runtime.advance(500);
    expect(lock.isHeld()).toBe(false);
    expect(lock.remainingMs()).toBe(0);
    expect(world.keysLeft()).toEqual([]);
  });

  test.each(["release", "loss"])("is refused after a %s, and sends nothing", async (end) => {
    const world = new World();
    const lock = await held(world);
    if (end === "release") await world.run(lock.release());
    else await world.runtime.advance(TTL_MS);
    const sent = world.commands.length;
    const { error } = await world.failed(() => lock.extend());
    expect(error).toMatchObject({ code: end === "release" ? "ERR_LOCK_RELEASED" : "ERR_LOCK_LOST" });
    expect(world.commands.length).toBe(sent);
  });

  test("tells of a node that holds the key and does not count", async () => {
    const world = new World();
    const lock = await held(world, {}, 10_000);
    world.memory[2]?.flush();
    await world.run(lock.extend());
    await world.runtime.advance(1);
    world.memory[1]?.freeze();
    const { error } = await world.failed(() => lock.extend());
    expect(String(error)).toBe(
      'QuorumUnreachableError: "a": 1/3 granted, 2 needed ' +
        "(1 timed out after 250 ms: redis-2; 1 holding the key again, not counted yet: redis-3)",
    );
    expect(lock.isHeld()).toBe(true);
  });
});

describe("a node that lost the key", () => {
  test("gets it back after a won extension, with the whole ttl", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.flush();
    await world.run(lock.extend());
    await world.runtime.advance(0);
    expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
    expect(world.relays[2]?.commands().map(({ kind }) => kind)).toEqual(["acquire", "extend", "repair"]);
  });

  test("P1: an extension creates no key", async () => {
    const world = new World();
    const lock = await held(world);
    for (const node of world.memory) node.flush();
    await world.failed(() => lock.extend());
    for (const relay of world.relays)
      expect(relay.commands().map(({ kind }) => kind)).toEqual(["acquire", "extend", "release"]);
    expect(world.keysLeft()).toEqual([]);
  });

  test("gets nothing back when the round was not won", async () => {
    const world = new World({ nodes: 5 });
    const lock = await held(world);
    world.memory[4]?.flush();
    world.memory[0]?.freeze();
    world.memory[1]?.freeze();
    await world.failed(() => lock.extend());
    expect(world.relays[4]?.commands("repair")).toEqual([]);
    expect(world.values("a")[4]).toBeUndefined();
  });

  test("P1: does not vote in the next round: with another voter gone the lock is lost", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.flush();
    await world.run(lock.extend());
    await world.runtime.advance(1);
    expect(world.values("a")[2]).toBe(lock.token);
    world.memory[1]?.flush();
    const { error } = await world.failed(() => lock.extend());
    expect(error).toBeInstanceOf(LockLostError);
    expect(String(error)).toBe(
      'LockLostError: "a": this lock has been lost: its keys are gone; ' +
        '"a": 1/3 granted, 2 needed (1 without the key: redis-2; 1 no answer yet)',
    );
    await world.runtime.advance(0);
    expect(world.keysLeft()).toEqual([]);
  });

  test("votes again after a later round was won without it", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.flush();
    await world.run(lock.extend());
    await world.runtime.advance(1);
    await world.run(lock.extend());
    world.memory[1]?.flush();
    await world.run(lock.extend());
    expect(lock.isHeld()).toBe(true);
    await world.runtime.advance(1);
    expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
  });

  test("with another's key stays another's, and is not repaired", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.set("a", "somebody else", { ttlMs: 5_000 });
    await world.run(lock.extend());
    await world.runtime.advance(1);
    expect(world.relays[2]?.commands("repair")).toEqual([]);
    expect(world.values("a")).toEqual([lock.token, lock.token, "somebody else"]);
    expect(lock.isHeld()).toBe(true);
  });

  test("and is asked in vain brings no storm: one repair at a time", async () => {
    const world = new World();
    const lock = await held(world);
    world.memory[2]?.flush();
    const [, , relay] = world.relays;
    if (relay !== undefined) relay.requestMs = 100;
    await world.run(Promise.all(range(10).map(() => lock.extend())));
    await world.runtime.advance(150);
    expect(relay?.commands("repair")).toHaveLength(1);
  });
});

describe("autoExtend", () => {
  test("keeps the lock, with an extension every third of the ttl", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    await world.runtime.advance(10 * TTL_MS + 1);
    expect(lock.isHeld()).toBe(true);
    expect(world.relays[0]?.commands("extend")).toHaveLength(30);
    expect(lock.signal.aborted).toBe(false);
    await world.run(lock.release());
    await world.runtime.advance(10 * TTL_MS);
    expect(world.relays[0]?.commands("extend")).toHaveLength(30);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("is off unless asked for", async () => {
    const world = new World();
    const lock = await held(world);
    await world.runtime.advance(TTL_MS);
    expect(lock.isHeld()).toBe(false);
    expect(world.relays[0]?.commands("extend")).toEqual([]);
  });

  test("tries undecided rounds again: a majority may be silent for most of the validity", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    await world.runtime.advance(300);
    world.memory[0]?.freeze();
    world.memory[1]?.down();
    await world.runtime.advance(550);
    expect(lock.isHeld()).toBe(true);
    world.memory[0]?.thaw();
    await world.runtime.advance(5 * TTL_MS);
    expect(lock.isHeld()).toBe(true);
  });

  test("row 9: a majority hangs: the signal aborts by the end of the validity", async () => {
    const world = new World({ nodes: 5 });
    const lock = await held(world, { autoExtend: true });
    const { signal } = lock;
    await world.runtime.advance(2_100);
    const validMs = lock.remainingMs();
    for (const node of world.memory.slice(2)) node.freeze();
    await world.runtime.advance(validMs - 3);
    expect(signal.aborted).toBe(false);
    await world.runtime.advance(3);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    // P8: a loss says which nodes left the extensions undecided.
    expect(String(signal.reason)).toBe(
      'LockLostError: "a": this lock has been lost: its validity has ended, and the last extension stayed undecided; ' +
        '"a": 2/5 granted, 3 needed (3 not responding (an earlier command is overdue): redis-3, redis-4, redis-5)',
    );
    expect(signal.reason).toMatchObject({ votes: { length: 5 } });
    for (const node of world.memory) node.thaw();
    await world.runtime.advance(0);
    expect(world.keysLeft()).toEqual([]);
  });

  test("row 8: keys deleted from outside and taken by another: lost at the next extension, before the validity ends", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    const { signal } = lock;
    await world.runtime.advance(100);
    for (const node of world.memory) node.delete("a");
    const other = await world.run(world.neighbour().redlock.acquire("a", 10_000));
    const endMs = lock.remainingMs();
    const { tookMs } = await world.timed(
      () => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    );
    expect(tookMs).toBeLessThanOrEqual(TTL_MS / 3);
    expect(tookMs).toBeLessThan(endMs);
    expect(lock.isHeld()).toBe(false);
    await world.runtime.advance(TTL_MS);
    expect(world.values("a")).toEqual([other.token, other.token, other.token]);
  });

  test("row 26: each of five nodes restarts empty in turn: still held, on all five, at the end", async () => {
    const world = new World({ nodes: 5 });
    const lock = await held(world, { autoExtend: true });
    for (const node of world.memory) {
      node.down();
      await world.runtime.advance(2 * TTL_MS);
      node.flush();
      node.up();
      await world.runtime.advance(TTL_MS);
    }
    expect(lock.isHeld()).toBe(true);
    expect(world.values("a")).toEqual(range(5).map(() => lock.token));
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
    expect(world.keysLeft()).toEqual([]);
  });

  test("row 26: quick restarts too: half a ttl for each", async () => {
    const world = new World({ nodes: 5 });
    const lock = await held(world, { autoExtend: true });
    for (const node of [...world.memory, ...world.memory]) {
      node.flush();
      await world.runtime.advance(TTL_MS / 2);
    }
    expect(lock.isHeld()).toBe(true);
    expect(world.values("a")).toEqual(range(5).map(() => lock.token));
  });

  test("brings the next extension forward after a repair, so that the node votes again soon", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    world.memory[2]?.flush();
    // Extended and repaired after 334 ms, extended again 84 ms later.
    await world.runtime.advance(425);
    expect(world.relays[0]?.commands("extend")).toHaveLength(2);
    world.memory[1]?.flush();
    await world.runtime.advance(TTL_MS);
    expect(lock.isHeld()).toBe(true);
  });

  test("row 28: a quorum is flushed: lost at the next extension, and never silently taken again", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true });
    world.memory[0]?.flush();
    world.memory[1]?.flush();
    await world.runtime.advance(TTL_MS / 3 + 1);
    expect(lock.isHeld()).toBe(false);
    expect(() => lock.throwIfLost()).toThrow(LockLostError);
    await world.runtime.advance(10 * TTL_MS);
    expect(lock.isHeld()).toBe(false);
    expect(world.keysLeft()).toEqual([]);
    for (const relay of world.relays) {
      expect(relay.commands("acquire")).toHaveLength(1);
      expect(relay.commands("repair")).toEqual([]);
    }
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("stops at maxHoldMs: lost then, with a word, and released everywhere", async () => {
    const world = new World();
    const lock = await held(world, { autoExtend: true, maxHoldMs: 2_500 });
    const { signal } = lock;
    expect(lock.remainingMs()).toBe(VALID_MS);
    await world.runtime.advance(2_400);
    expect(lock.remainingMs()).toBe(100);
    await world.runtime.advance(97);
    expect(signal.aborted).toBe(false);
    await world.runtime.advance(3);
    expect(signal.aborted).toBe(true);
    expect(String(signal.reason)).toContain("held for the longest time allowed (maxHoldMs 2500)");
    expect(world.keysLeft()).toEqual([]);
    expect((await world.failed(() => lock.extend())).error).toBe(signal.reason);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("maxHoldMs also ends a lock that is not extended", async () => {
    const world = new World();
    const lock = await held(world, { maxHoldMs: 100 });
    await world.runtime.advance(100);
    expect(lock.isHeld()).toBe(false);
    expect(world.keysLeft()).toEqual([]);
  });
});
