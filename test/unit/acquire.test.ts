import { describe, expect, test } from "vitest";
import { LockHeldError, QuorumUnreachableError, RedlockError } from "../../src/errors.ts";
import type { Lock } from "../../src/lock.ts";
import type { Vote } from "../../src/node.ts";
import type { MemoryNode } from "../../src/nodes/memory.ts";
import { Redlock } from "../../src/redlock.ts";
import { afterMicrotasks, never, range, subsets, World } from "../support/world.ts";

const DRIFT_MS = 12; // of a ttl of 1,000 ms

describe("a lock that is returned", () => {
  test("holds its key with its ttl on every node, and tells what it holds", async () => {
    const world = new World({ nodes: 5 });
    const lock = await world.run(world.redlock.acquire("invoice:42", 1_000));
    expect(lock.resources).toEqual(["invoice:42"]);
    expect(lock.token).not.toBe("");
    expect(world.values("invoice:42")).toEqual(range(5).map(() => lock.token));
    expect(lock.isHeld()).toBe(true);
    expect(lock.remainingMs()).toBe(1_000 - DRIFT_MS);
    expect(lock.validUntil.getTime()).toBe(world.runtime.wallMs() + 1_000 - DRIFT_MS);
    expect(() => lock.throwIfLost()).not.toThrow();
  });

  test("P1: excludes every other owner until it is released, by waiting or by null", async () => {
    const world = new World();
    const { redlock: other } = world.neighbour();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    expect(await world.run(other.tryAcquire("a", 1_000))).toBeNull();
    const waiting = other.acquire("a", 1_000);
    await world.runtime.advance(500);
    expect(lock.isHeld()).toBe(true);
    expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
    await world.run(lock.release());
    const next = await world.run(waiting);
    expect(next.isHeld()).toBe(true);
  });

  test.each(range(20).map((seed) => seed + 1))(
    "P1: of six processes at most one counts the resource as its own, at every ms (seed %i)",
    async (seed) => {
      const world = new World({ nodes: 5, seed });
      const held = new Set<Lock>();
      const processes = range(6).map(() => world.neighbour());
      const turns = processes.map(async ({ redlock, relays }) => {
        for (const relay of relays) relay.requestMs = world.runtime.random() * 3;
        const lock = await redlock.acquire("a", 300, { waitMs: Number.POSITIVE_INFINITY });
        held.add(lock);
        // Half of them forget to release.
        if (world.runtime.random() < 0.5) await lock.release();
      });
      const done = Promise.all(turns);
      let mostHolders = 0;
      for (let ms = 0; ms < 3_000; ms += 1) {
        await world.runtime.advance(1);
        mostHolders = Math.max(mostHolders, [...held].filter((lock) => lock.isHeld()).length);
      }
      await done;
      expect(mostHolders).toBe(1);
      expect(held.size).toBe(6);
    },
  );

  test("P2: every command that can create a key carries its ttl, and nothing else is ever sent for it", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    expect(world.commands).toEqual(
      range(3).map(() => ({ kind: "acquire", keys: ["a"], token: lock.token, ttlMs: 1_000 })),
    );
    for (const node of world.memory) expect(node.ttlMs("a")).toBe(1_000);
    await world.runtime.advance(1_000);
    expect(world.keysLeft()).toEqual([]);
  });

  test("row 1: has almost all its validity, however long it was waited for", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(5);
    world.hold("a", [0, 1, 2], 1_200);
    const { result: lock, tookMs } = await world.timed(() => world.redlock.acquire("a", 1_000));
    expect(tookMs).toBeGreaterThanOrEqual(1_200);
    expect(lock.remainingMs()).toBe(1_000 - DRIFT_MS - 5);
  });

  test("row 2: is never expired: replies slower than the ttl give no lock and leave no key", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(300);
    const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 100, { waitMs: 2_000 }));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(tookMs).toBeLessThanOrEqual(2_000);
    expect(world.keysLeft()).toEqual([]);
    await world.runtime.advance(1_000);
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test("P5: is valid at that moment: answers that were read after a stall longer than the ttl give none", async () => {
    const world = new World();
    for (const node of world.memory) node.slow(10);
    const acquiring = world.redlock.tryAcquire("a", 1_000);
    await world.runtime.advance(1);
    world.runtime.block(5_000);
    const { error } = await world.failed(() => acquiring);
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(String(error)).toContain("too late");
    expect(world.keysLeft()).toEqual([]);
  });

  test.each(range(6))(
    "P5: is valid at that moment: a stall on the way to the hand-over, after %i steps",
    async (steps) => {
      const world = new World({ nodes: 1 });
      const [relay] = world.relays;
      if (relay !== undefined) {
        relay.script = async (command, pass) => {
          const vote = await pass();
          if (command.kind === "acquire") afterMicrotasks(steps, () => world.runtime.block(5_000));
          return vote;
        };
      }
      const { error } = await world.failed(() => world.redlock.tryAcquire("a", 1_000));
      expect(error).toBeInstanceOf(QuorumUnreachableError);
      expect(String(error)).toContain("the answers came too late");
    },
  );

  test("has a token of its own in every attempt, and each is cleaned up", async () => {
    const world = new World();
    world.hold("a", [0, 1, 2], 500);
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const tokens = (kind: "acquire" | "release") =>
      world.relays[0]?.commands(kind).map((command) => "token" in command && command.token) ?? [];
    expect(tokens("acquire").length).toBeGreaterThan(3);
    expect(new Set(tokens("acquire")).size).toBe(tokens("acquire").length);
    expect(tokens("acquire").at(-1)).toBe(lock.token);
    expect(tokens("release")).toEqual(tokens("acquire").slice(0, -1));
  });
});

const DEATHS: readonly ((node: MemoryNode) => void)[] = [
  (node) => node.down(),
  (node) => node.freeze(),
  (node) => node.slow(60_000),
];

describe("P3: any minority of nodes may be dead", () => {
  test.each(range(9).map((index) => index + 1))("%i nodes: every minority, at no cost in time", async (nodes) => {
    const minority = Math.ceil(nodes / 2) - 1;
    for (const [index, dead] of subsets(nodes, minority).entries()) {
      const world = new World({ nodes });
      for (const node of dead) DEATHS[(index + node) % DEATHS.length]?.(world.memory[node] as MemoryNode);
      const lock = await world.run(world.redlock.acquire("a", 1_000));
      await world.run(lock.extend());
      expect(await world.run(lock.release())).toMatchObject({ status: "released" });
      expect(world.elapsedMs, `with ${dead} dead`).toBe(0);
    }
  });

  test.each(range(9).map((index) => index + 1))("%i nodes: one more is one too many", async (nodes) => {
    for (const [index, kill] of DEATHS.entries()) {
      const world = new World({ nodes });
      for (const node of world.memory.slice(0, Math.ceil(nodes / 2))) kill(node);
      const { error } = await world.failed(() => world.redlock.tryAcquire("a", 1_000));
      expect(error, `death ${index}`).toBeInstanceOf(QuorumUnreachableError);
      const alive = world.memory.slice(Math.ceil(nodes / 2));
      expect(alive.flatMap((node) => node.keys())).toEqual([]);
    }
  });

  test("row 10: one of three hangs: acquire, extend and release take no longer than with three healthy ones", async () => {
    const times = [];
    for (const isHung of [false, true]) {
      const world = new World();
      for (const node of world.memory) node.slow(7);
      if (isHung) world.memory[1]?.freeze();
      const { result: lock, tookMs: acquireMs } = await world.timed(() => world.redlock.acquire("a", 10_000));
      const { tookMs: extendMs } = await world.timed(() => lock.extend());
      const { tookMs: releaseMs } = await world.timed(() => lock.release());
      times.push({ acquireMs, extendMs, releaseMs });
    }
    expect(times).toEqual(range(2).map(() => ({ acquireMs: 7, extendMs: 7, releaseMs: 7 })));
  });

  test("row 11: two of three hang: acquire fails within its wait time, with which nodes and why", async () => {
    const world = new World();
    world.memory[0]?.freeze();
    world.memory[2]?.freeze();
    const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs: 1_000 }));
    expect(tookMs).toBeLessThanOrEqual(1_000);
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(String(error)).toMatch(
      /"a": 1\/3 granted, 2 needed \(2 not responding \(an earlier command is overdue\): redis-1, redis-3\)/,
    );
    if (!RedlockError.is(error)) throw error;
    expect(error.code).toBe("ERR_QUORUM_UNREACHABLE");
    expect(error.votes.map(({ name, vote }) => `${name} ${vote}`)).toEqual([
      "redis-1 unknown",
      "redis-2 granted",
      "redis-3 unknown",
    ]);
    expect(world.values("a")).toEqual([undefined, undefined, undefined]);
    for (const node of world.memory) node.thaw();
    await world.runtime.advance(0);
    expect(world.keysLeft()).toEqual([]);
  });

  test("P8: an error says what each node answered", async () => {
    const world = new World({ nodes: 5 });
    world.hold("a", [1], 8_200);
    world.memory[2]?.freeze();
    world.memory[3]?.down("connect ECONNREFUSED");
    world.memory[4]?.down("connect ECONNREFUSED");
    const { error } = await world.failed(() => world.redlock.tryAcquire("a", 10_000));
    expect(String(error)).toBe(
      'QuorumUnreachableError: "a": 1/5 granted, 3 needed (1 held by another owner; 1 timed out after 250 ms: redis-3; ' +
        "2 not connected: connect ECONNREFUSED: redis-4, redis-5)",
    );
  });
});

describe("row 3: half of the nodes are held by somebody else", () => {
  test.each([2, 4])("%i nodes: one round trip for the answer, one for the clean-up, nothing hangs", async (nodes) => {
    const world = new World({ nodes });
    for (const node of world.memory) node.slow(5);
    world.hold("a", range(nodes / 2));
    const { result, tookMs } = await world.timed(() => world.redlock.tryAcquire("a", 10_000));
    expect(result).toBeNull();
    expect(tookMs).toBe(10);
    expect(world.keysLeft()).toEqual(range(nodes / 2).map((node) => `redis-${node + 1}/a`));
  });

  test.each([2, 4])(
    "%i nodes, the other half silent: the attempt ends, and the caller's wait time is kept",
    async (nodes) => {
      const world = new World({ nodes });
      world.hold("a", range(nodes / 2));
      for (const node of world.memory.slice(nodes / 2)) node.freeze();
      const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs: 1_000 }));
      expect(error).toBeInstanceOf(LockHeldError);
      expect(tookMs).toBeLessThanOrEqual(1_000);
      const { tookMs: oneMs } = await world.timed(() => world.redlock.tryAcquire("a", 10_000));
      expect(oneMs).toBeLessThanOrEqual(250);
    },
  );

  test.each([2, 4])("%i nodes: two contenders that split them evenly both let go, and one wins", async (nodes) => {
    const world = new World({ nodes });
    const { redlock: other, relays } = world.neighbour();
    for (const node of world.memory) node.slow(1);
    for (const node of range(nodes)) {
      const far = node < nodes / 2 ? relays[node] : world.relays[node];
      if (far !== undefined) far.requestMs = 1;
    }
    const both = [world.redlock.acquire("a", 10_000), other.acquire("a", 10_000)];
    const lock = await world.run(Promise.race(both));
    expect(lock.isHeld()).toBe(true);
    await world.run(lock.release());
    await world.run(Promise.all(both));
  });
});

describe("row 4: two contenders, one of three nodes down, the others split", () => {
  test.each(range(20).map((seed) => seed + 1))("one wins within its next two attempts (seed %i)", async (seed) => {
    const world = new World({ seed });
    const { redlock: other, relays } = world.neighbour();
    for (const node of world.memory) node.slow(1);
    world.memory[2]?.down();
    const [, far] = world.relays;
    const [otherFar] = relays;
    if (far !== undefined) far.requestMs = 1;
    if (otherFar !== undefined) otherFar.requestMs = 1;
    const attempts = (all: typeof relays) => all[0]?.commands("acquire").length ?? 0;
    const both = [world.redlock.acquire("a", 10_000), other.acquire("a", 10_000)];
    // Each had one node: neither has a lock, and each deletes what it had.
    await world.runtime.advance(2);
    expect([attempts(world.relays), attempts(relays)]).toEqual([1, 1]);
    for (const { sent } of [...world.relays, ...relays]) expect(sent[1]?.command.kind).toBe("release");
    const winner = await world.run(Promise.race(both.map((acquiring, index) => acquiring.then(() => index))));
    expect(attempts(winner === 0 ? world.relays : relays)).toBeLessThanOrEqual(3);
  });
});

describe("waiting", () => {
  test("waitMs 0: one attempt, which has the node timeout", async () => {
    const world = new World();
    world.hold("a", [0, 1]);
    const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs: 0 }));
    expect(error).toMatchObject({ code: "ERR_LOCK_HELD", attempts: 1, waitedMs: 0 });
    expect(tookMs).toBe(0);
    for (const node of world.memory) node.slow(100);
    const lock = await world.run(world.redlock.acquire("b", 10_000, { waitMs: 0 }));
    expect(lock.isHeld()).toBe(true);
  });

  test("waitMs Infinity: until it is free, however long that takes", async () => {
    const world = new World();
    world.hold("a", [0, 1, 2], 120_000);
    const { tookMs } = await world.timed(() => world.redlock.acquire("a", 1_000, { waitMs: Number.POSITIVE_INFINITY }));
    expect(tookMs).toBeGreaterThanOrEqual(120_000);
    expect(tookMs).toBeLessThan(120_300);
  });

  test.each([1, 3, 40, 333])("waitMs %d: settles by then, though nodes hang", async (waitMs) => {
    const world = new World();
    world.memory[0]?.freeze();
    world.memory[1]?.freeze();
    const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs }));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(tookMs).toBeLessThanOrEqual(waitMs);
    for (const node of world.memory) node.thaw();
    await world.runtime.advance(1_000);
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test.each([1, 40, 333])("waitMs %d: no attempt begins when the time is over", async (waitMs) => {
    const world = new World();
    world.hold("a", [0, 1, 2]);
    const { error, tookMs } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs }));
    expect(error).toBeInstanceOf(LockHeldError);
    expect(tookMs).toBe(waitMs);
    for (const { timeoutMs } of world.relays.flatMap(({ sent }) => sent)) expect(timeoutMs).toBeGreaterThan(0);
  });

  test("an attempt that the deadline cuts short does not hide who held it", async () => {
    for (const waitMs of range(60).map((ms) => ms + 30)) {
      const world = new World();
      for (const node of world.memory) node.slow(10);
      world.hold("a", [0, 1, 2]);
      const { error } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs }));
      expect(error, `waitMs ${waitMs}`).toBeInstanceOf(LockHeldError);
    }
  });

  test("wakes when the holder's time to live ends, though the backoff would sleep longer", async () => {
    const world = new World({ backoff: { minMs: 1_000, maxMs: 60_000 } });
    const firsts = [];
    for (const index of range(10)) {
      world.hold(`a${index}`, [0, 1, 2], 100);
      const { tookMs } = await world.timed(() => world.redlock.acquire(`a${index}`, 1_000));
      firsts.push(tookMs);
    }
    for (const tookMs of firsts) expect(tookMs).toBeLessThanOrEqual(1_200);
  });

  test("the error tells how often, how long, and when it will be free", async () => {
    const world = new World();
    world.hold("a", [0, 1, 2], 30_000);
    const { error } = await world.failed(() => world.redlock.acquire("a", 10_000, { waitMs: 2_000 }));
    expect(error).toBeInstanceOf(LockHeldError);
    const held = error as LockHeldError;
    expect(held.waitedMs).toBe(2_000);
    expect(held.attempts).toBe(world.relays[0]?.commands("acquire").length);
    expect(held.attempts).toBeGreaterThan(5);
    expect(held.freeInMs).toBeGreaterThan(27_900);
    expect(held.freeInMs).toBeLessThanOrEqual(28_300);
    expect(held.message).toMatch(/^"a": 0\/3 granted, 2 needed \(3 held by another owner, free in at most 2\d s\)$/);
  });

  test("the error tells when the holder is this very process", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire(["a", "b"], 60_000));
    const { error } = await world.failed(() => world.redlock.acquire("b", 1_000, { waitMs: 50 }));
    expect(String(error)).toMatch(/; the holder is this very process$/);
    const { error: elsewhere } = await world.failed(() =>
      world.neighbour().redlock.acquire("b", 1_000, { waitMs: 50 }),
    );
    expect(String(elsewhere)).not.toContain("this very process");
    await world.run(lock.release());
  });
});

describe("tryAcquire", () => {
  test("is null when another holds it, a lock when it is free, an error when too few answer", async () => {
    const world = new World();
    world.hold("a", [0, 1]);
    expect(await world.run(world.redlock.tryAcquire("a", 1_000))).toBeNull();
    expect(world.relays[0]?.commands("acquire")).toHaveLength(1);
    expect((await world.run(world.redlock.tryAcquire("b", 1_000)))?.isHeld()).toBe(true);
    world.memory[0]?.down();
    world.memory[2]?.down();
    const { error } = await world.failed(() => world.redlock.tryAcquire("c", 1_000));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
  });
});

describe("answers that come late", () => {
  test("grants after a won acquire count: the lock outlives the nodes that answered first", async () => {
    const world = new World({ nodes: 5 });
    world.memory[3]?.slow(50);
    world.memory[4]?.slow(50);
    const { result: lock, tookMs } = await world.timed(() => world.redlock.acquire("a", 10_000));
    expect(tookMs).toBe(0);
    await world.runtime.advance(50);
    world.memory[0]?.delete("a");
    world.memory[1]?.delete("a");
    await world.run(lock.extend());
    expect(lock.isHeld()).toBe(true);
  });

  test("nodes that never answered do not count", async () => {
    const world = new World({ nodes: 5 });
    world.memory[3]?.down();
    world.memory[4]?.down();
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    world.memory[3]?.up();
    world.memory[4]?.up();
    world.memory[0]?.delete("a");
    expect((await world.failed(() => lock.extend())).error).toMatchObject({ code: "ERR_LOCK_LOST" });
  });

  test("grants after a lost acquire are cleaned up", async () => {
    const world = new World();
    for (const relay of world.relays) relay.requestMs = 400;
    const { error } = await world.failed(() => world.redlock.tryAcquire("a", 60_000));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    await world.runtime.advance(160);
    await world.runtime.advance(10_000);
    expect(world.relays[0]?.commands().map(({ kind }) => kind)).toEqual(["acquire", "release"]);
    expect(world.keysLeft()).toEqual([]);
  });

  test("P7: a lost attempt is cleaned up on every node, whatever it answered, and on one that is down once it is back", async () => {
    const world = new World({ nodes: 5 });
    world.hold("a", [0, 1, 2]);
    world.memory[3]?.slow(1_000);
    const [, , , , last] = world.memory;
    const relay = world.relays[4];
    // The node carries the acquire out and is gone before the answer.
    if (relay !== undefined) {
      relay.script = async (command, pass) => {
        if (command.kind !== "acquire") return pass();
        const vote = pass();
        last?.down();
        await vote;
        return { vote: "unknown", reason: "connection", message: "the connection ended" };
      };
    }
    expect(await world.run(world.redlock.tryAcquire("a", 60_000))).toBeNull();
    for (const { sent } of world.relays)
      expect(sent.map(({ command }) => command.kind)).toEqual(["acquire", "release"]);
    last?.up();
    await world.runtime.advance(0);
    expect(world.values("a").slice(3)).toEqual([undefined, undefined]);
  });
});

describe("time limits", () => {
  test.each([
    { ttlMs: 100, timeoutMs: 25 },
    { ttlMs: 3, timeoutMs: 0.75 },
    { ttlMs: 10_000, timeoutMs: 250 },
  ])("a round of ttl $ttlMs listens to a node for $timeoutMs ms", async ({ ttlMs, timeoutMs }) => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", ttlMs));
    await world.run(lock.extend());
    for (const { sent } of world.relays) expect(sent.map((one) => one.timeoutMs)).toEqual([timeoutMs, timeoutMs]);
  });

  test("a ttl of 3 ms: a lock, valid when it is returned, lost by its end, gone without a trace", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 3));
    expect(lock.isHeld()).toBe(true);
    expect(lock.remainingMs()).toBeCloseTo(0.97);
    await world.runtime.advance(1);
    expect(lock.isHeld()).toBe(false);
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test.each(range(40).map((index) => 1_000 + index * 13 + (index % 3)))(
    "a ttl of %i ms, whatever fraction the drift leaves: the signal aborts within the last 3 ms",
    async (ttlMs) => {
      const world = new World();
      const lock = await world.run(world.redlock.acquire("a", ttlMs));
      const endMs = lock.remainingMs();
      const { signal } = lock;
      await world.runtime.advance(endMs - 3.001);
      expect(signal.aborted).toBe(false);
      await world.runtime.advance(3.001);
      expect(signal.aborted).toBe(true);
    },
  );

  test.each([604_800_000, Number.MAX_SAFE_INTEGER])("row 18: a ttl of %i ms works", async (ttlMs) => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", ttlMs, { autoExtend: true }));
    expect(lock.remainingMs()).toBeGreaterThan(ttlMs * 0.98);
    expect(Number.isNaN(lock.validUntil.getTime())).toBe(false);
    await world.runtime.advance(604_800_000 * 0.9);
    expect(lock.isHeld()).toBe(true);
    await world.run(lock.extend());
    await world.run(lock.extend(1_000));
    expect(lock.remainingMs()).toBeGreaterThan(ttlMs * 0.98);
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
    expect(world.runtime.pendingTimers).toBe(0);
  });
});

describe("row 23: a name that is a data key", () => {
  test.each([
    { what: "a hash", options: { type: "hash" } },
    { what: "a list", options: { type: "list" } },
    { what: "a string without expiry", options: {} },
  ])("$what: fails at once, with words that say so", async ({ what, options }) => {
    const world = new World();
    for (const node of world.memory) node.set("a", "data", options);
    const text = `LockHeldError: "a": 0/3 granted, 2 needed (3 holding data under that name (${what}), not a lock: redis-1, redis-2, redis-3)`;
    for (const call of [
      () => world.redlock.acquire("a", 1_000, { waitMs: Number.POSITIVE_INFINITY }),
      () => world.redlock.tryAcquire("a", 1_000),
      () => world.redlock.using("a", 1_000, () => {}),
    ]) {
      const { error, tookMs } = await world.failed(call);
      expect(String(error)).toBe(text);
      expect(error).toMatchObject({ code: "ERR_LOCK_HELD", attempts: 1 });
      expect(tookMs).toBe(0);
    }
    expect(world.values("a")).toEqual(["data", "data", "data"]);
  });

  test("on a minority it costs a vote, not the lock", async () => {
    const world = new World();
    world.memory[0]?.set("a", "data", { type: "hash" });
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    expect(lock.isHeld()).toBe(true);
    await world.run(lock.release());
    expect(world.values("a")).toEqual(["data", undefined, undefined]);
  });

  test("beside a lock it never reads as free in an infinite time", async () => {
    const world = new World({ nodes: 4 });
    world.memory[0]?.set("a", "data");
    world.memory[1]?.set("a", "data");
    world.hold("a", [2], 5_000);
    const { error } = await world.failed(() => world.redlock.acquire("a", 1_000));
    expect(error).toBeInstanceOf(LockHeldError);
    expect((error as LockHeldError).freeInMs).toBeUndefined();
    expect(String(error)).not.toContain("Infinity");
  });
});

describe("several resources", () => {
  test("row 17: duplicates are one resource", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire(["a", "b", "a"], 1_000));
    expect(lock.resources).toEqual(["a", "b"]);
    expect(world.commands[0]).toMatchObject({ keys: ["a", "b"] });
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
    expect(world.keysLeft()).toEqual([]);
  });

  test("hundreds: all or none", async () => {
    const world = new World();
    const names = range(500).map((index) => `item:${index}`);
    world.hold("item:499", [0, 1]);
    expect(await world.run(world.redlock.tryAcquire(names, 1_000))).toBeNull();
    expect(world.keysLeft()).toEqual(["redis-1/item:499", "redis-2/item:499"]);
    const { error } = await world.failed(() => world.redlock.acquire(names, 1_000, { waitMs: 10 }));
    expect(String(error)).toContain('"item:0", "item:1", "item:2" and 497 more: 1/3 granted');
    for (const node of world.memory) node.flush();
    const lock = await world.run(world.redlock.acquire(names, 1_000));
    expect(world.keysLeft()).toHaveLength(1_500);
    await world.run(lock.extend());
    await world.run(lock.release());
    expect(world.keysLeft()).toEqual([]);
  });
});

describe("a LockNode of a user", () => {
  const faults: readonly { what: string; send: () => Promise<Vote>; words: string }[] = [
    { what: "rejects", send: () => Promise.reject(new Error("boom")), words: "send() failed: Error: boom" },
    {
      what: "throws at once",
      send: () => {
        throw new Error("boom");
      },
      words: "send() failed: Error: boom",
    },
    { what: "never answers", send: never, words: "timed out after 250 ms" },
    {
      what: "answers nonsense",
      send: () => Promise.resolve(undefined as unknown as Vote),
      words: "send() answered with no vote: undefined",
    },
    {
      what: "answers with a vote that is none",
      send: () => Promise.resolve({ vote: "yes" } as unknown as Vote),
      words: 'send() answered with no vote: {"vote":"yes"}',
    },
  ];

  test.each(faults)("that $what counts as unknown, for every command, and nothing else breaks", async ({ send }) => {
    const world = new World();
    const [faulty] = world.relays;
    if (faulty !== undefined) faulty.script = send;
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    await world.run(lock.extend());
    expect(lock.isHeld()).toBe(true);
    await world.run(world.redlock.inspect("a"));
    expect(await world.run(lock.release())).toMatchObject({ status: "released" });
    await world.run(world.redlock.close());
    expect(world.keysLeft()).toEqual([]);
    expect(world.runtime.pendingTimers).toBe(0);
  });

  test.each(faults)("that $what is named in the error", async ({ send, words }) => {
    const world = new World();
    for (const relay of world.relays.slice(1)) relay.script = send;
    const { error } = await world.failed(() => world.redlock.tryAcquire("a", 10_000));
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(String(error)).toContain(`(2 ${words}: redis-2, redis-3)`);
  });

  test.each(faults)("that $what in a repair does no harm, and is repaired when it is well again", async ({ send }) => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    const [, , faulty] = world.relays;
    world.memory[2]?.flush();
    if (faulty !== undefined) faulty.script = (command, pass) => (command.kind === "repair" ? send() : pass());
    await world.run(lock.extend());
    await world.runtime.advance(300);
    expect(lock.isHeld()).toBe(true);
    if (faulty !== undefined) faulty.script = undefined;
    await world.run(lock.extend());
    await world.runtime.advance(0);
    expect(world.values("a")[2]).toBe(lock.token);
  });

  test("with an objection to the resources: a RangeError with its words, before anything is sent", async () => {
    const world = new World();
    const [node, ...others] = world.relays;
    if (node === undefined) throw new Error("no node");
    Object.assign(node, { objection: (keys: string[]) => (keys.length > 1 ? "two slots" : undefined) });
    const redlock = new Redlock([node, ...others], {}, world.runtime);
    const { error } = await world.failed(() => redlock.acquire(["a", "b"], 1_000));
    expect(error).toEqual(new RangeError("redis-1: two slots"));
    expect(world.commands).toEqual([]);
    expect((await world.run(redlock.acquire("a", 1_000))).isHeld()).toBe(true);
  });
});
