import { describe, expect, test } from "vitest";
import { World } from "../support/world.ts";

describe("inspect", () => {
  test("tells of each node what it holds: free, ours, another's, no lock, no answer", async () => {
    const world = new World({ nodes: 5 });
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    await world.runtime.advance(1_000);
    world.memory[0]?.delete("a");
    world.memory[2]?.set("a", "other", { ttlMs: 5_000 });
    world.memory[3]?.set("a", "data", { type: "hash" });
    world.memory[4]?.down("connect ECONNREFUSED");
    const { result, tookMs } = await world.timed(() => world.redlock.inspect("a"));
    expect(tookMs).toBe(0);
    expect(result).toEqual({
      resource: "a",
      isOurs: false,
      nodes: [
        { name: "redis-1", state: "free" },
        { name: "redis-2", state: "ours", token: lock.token, ttlMs: 9_000 },
        { name: "redis-3", state: "another", token: "other", ttlMs: 5_000 },
        { name: "redis-4", state: "not-a-lock", kind: "a hash" },
        { name: "redis-5", state: "unknown", message: "not connected: connect ECONNREFUSED" },
      ],
    });
  });

  test("names the holder that a quorum of nodes agrees on", async () => {
    const world = new World();
    expect(await world.run(world.redlock.inspect("a"))).toMatchObject({
      isOurs: false,
      nodes: [{ state: "free" }, {}, {}],
    });
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    expect(await world.run(world.redlock.inspect("a"))).toMatchObject({ holder: lock.token, isOurs: true });
    const other = await world.run(world.neighbour().redlock.inspect("a"));
    expect(other).toMatchObject({ holder: lock.token, isOurs: false, nodes: [{ state: "another" }, {}, {}] });
    await world.run(lock.release());
    expect(await world.run(world.redlock.inspect("a"))).not.toHaveProperty("holder");
  });

  test("a string without expiry is no lock", async () => {
    const world = new World();
    for (const node of world.memory) node.set("a", "data");
    const { nodes } = await world.run(world.redlock.inspect("a"));
    for (const node of nodes) expect(node).toMatchObject({ state: "not-a-lock", kind: "a string without expiry" });
  });

  test("P6: waits for a hung node no longer than the node timeout, and changes nothing", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 10_000));
    world.memory[1]?.freeze();
    const { result, tookMs } = await world.timed(() => world.redlock.inspect("a"));
    expect(tookMs).toBe(250);
    expect(result.holder).toBe(lock.token);
    expect(result.nodes[1]).toEqual({ name: "redis-2", state: "unknown", message: "timed out after 250 ms" });
    expect(world.memory[0]?.ttlMs("a")).toBe(9_750);
    expect(lock.isHeld()).toBe(true);
  });
});

test("nodes: how each does, in the order given", () => {
  const world = new World();
  world.memory[1]?.down();
  expect(world.redlock.nodes.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "redis-1 ready",
    "redis-2 down",
    "redis-3 ready",
  ]);
});
