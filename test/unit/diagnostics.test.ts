import { describe, expect, test, vi } from "vitest";
import { publishBackground, publishLoss, publishNode, traceAcquire } from "../../src/diagnostics.ts";
import { LockHeldError, LockLostError, QuorumUnreachableError } from "../../src/errors.ts";
import { watch } from "../support/watch.ts";
import { World } from "../support/world.ts";

const TTL_MS = 1_000;

describe("tracing channels", () => {
  test("acquire: start and end with the resources and the ttl, and the lock as the result", async () => {
    using start = watch("tracing:redlock-quorum:acquire:start");
    using asyncEnd = watch("tracing:redlock-quorum:acquire:asyncEnd");
    using error = watch("tracing:redlock-quorum:acquire:error");
    const world = new World();
    const lock = await world.run(world.redlock.acquire(["a", "b", "a"], TTL_MS));
    expect(start.messages).toHaveLength(1);
    expect(asyncEnd.messages).toEqual([{ resources: ["a", "b"], ttlMs: TTL_MS, result: lock }]);
    expect(start.messages[0]).toBe(asyncEnd.messages[0]);
    expect(error.messages).toEqual([]);
  });

  test("acquire: a failure is an error there too", async () => {
    using failures = watch("tracing:redlock-quorum:acquire:error");
    const world = new World();
    world.hold("a", [0, 1], 60_000);
    const { error } = await world.failed(() => world.redlock.acquire("a", TTL_MS, { waitMs: 50 }));
    expect(error).toBeInstanceOf(LockHeldError);
    expect(failures.messages).toEqual([{ resources: ["a"], ttlMs: TTL_MS, error }]);
  });

  test("acquire: held is null for tryAcquire, not an error", async () => {
    using ends = watch("tracing:redlock-quorum:acquire:asyncEnd");
    using failures = watch("tracing:redlock-quorum:acquire:error");
    const world = new World();
    world.hold("a", [0, 1], 60_000);
    expect(await world.run(world.redlock.tryAcquire("a", TTL_MS))).toBeNull();
    expect(ends.messages).toEqual([{ resources: ["a"], ttlMs: TTL_MS, result: null }]);
    expect(failures.messages).toEqual([]);
  });

  test("extend: by hand and by itself, and its failure", async () => {
    using ends = watch("tracing:redlock-quorum:extend:asyncEnd");
    using failures = watch("tracing:redlock-quorum:extend:error");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS, { autoExtend: true }));
    await world.run(lock.extend(5_000));
    await world.runtime.advance(400);
    expect(ends.messages).toMatchObject([
      { resources: ["a"], ttlMs: 5_000 },
      { resources: ["a"], ttlMs: TTL_MS },
    ]);
    for (const node of world.memory) node.down();
    const { error } = await world.failed(() => lock.extend());
    expect(error).toBeInstanceOf(QuorumUnreachableError);
    expect(failures.messages).toMatchObject([{ resources: ["a"], ttlMs: TTL_MS, error }]);
  });

  test("release: once, with what was confirmed", async () => {
    using ends = watch("tracing:redlock-quorum:release:asyncEnd");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    const first = lock.release();
    expect(lock.release()).toBe(first);
    const result = await world.run(first);
    expect(ends.messages).toEqual([{ resources: ["a"], result }]);
  });
});

describe("loss", () => {
  test("carries the error that the signal aborts with", async () => {
    using losses = watch("redlock-quorum:loss");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    await world.runtime.advance(TTL_MS);
    expect(losses.messages).toEqual([{ resources: ["a"], error: expect.any(LockLostError) }]);
    expect(lock.signal.reason).toBe((losses.messages[0] as { error: unknown }).error);
  });

  test("is not told of a release, nor of a close", async () => {
    using losses = watch("redlock-quorum:loss");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    await world.run(lock.release());
    await world.run(world.redlock.acquire("b", TTL_MS));
    await world.run(world.redlock.close());
    await world.runtime.advance(2 * TTL_MS);
    expect(losses.messages).toEqual([]);
  });
});

describe("background", () => {
  test("tells of a release that a node could not be told of", async () => {
    using failures = watch("redlock-quorum:background");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    world.memory[1]?.down();
    await world.run(lock.release());
    expect(failures.messages).toMatchObject([
      { resources: ["a"], command: "release", node: "redis-2", vote: { vote: "unknown", reason: "not-ready" } },
    ]);
  });

  test("tells of a release that a node left unanswered", async () => {
    using failures = watch("redlock-quorum:background");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    world.memory[1]?.freeze();
    await world.run(lock.release());
    await world.runtime.advance(300);
    expect(failures.messages).toMatchObject([
      { resources: ["a"], command: "release", node: "redis-2", vote: { vote: "unknown", reason: "timeout" } },
    ]);
  });

  test("tells of a repair that failed", async () => {
    using failures = watch("redlock-quorum:background");
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", TTL_MS));
    world.memory[2]?.flush();
    const [, , relay] = world.relays;
    if (relay !== undefined) {
      relay.script = async (command, pass) => {
        if (command.kind === "repair") world.memory[2]?.set("a", "somebody else", { ttlMs: 500 });
        return pass();
      };
    }
    await world.run(lock.extend());
    await world.runtime.advance(0);
    expect(failures.messages).toMatchObject([
      { resources: ["a"], command: "repair", node: "redis-3", vote: { vote: "denied" } },
    ]);
  });
});

test("without subscribers no message is built", async () => {
  const build = vi.fn();
  publishLoss(build);
  publishNode(build);
  publishBackground(build);
  expect(await traceAcquire(async () => "done", build)).toBe("done");
  expect(build).not.toHaveBeenCalled();
});

test("a subscriber of any one of a tracing channel's events is enough", async () => {
  for (const event of ["start", "end", "asyncStart", "asyncEnd"]) {
    using events = watch(`tracing:redlock-quorum:acquire:${event}`);
    await traceAcquire(
      async () => {},
      () => ({ resources: ["a"] }),
    );
    expect(events.messages, event).toHaveLength(1);
  }
});
