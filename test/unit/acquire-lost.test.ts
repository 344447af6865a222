import { expect, test } from "vitest";
import { LockHeldError } from "../../src/errors.ts";
import { World } from "../support/world.ts";

const ONCE = { waitMs: 0 };

test("free is what can form a quorum with the nodes that are free already", async () => {
  const world = new World({ nodes: 5 });
  world.hold("a", [0], 900);
  world.hold("a", [1], 400);
  world.hold("a", [2], 700);
  const { error } = await world.failed(() => world.redlock.acquire("a", 1_000, ONCE));
  // Two are free, one more is needed: the first of the three that becomes free.
  expect(error).toMatchObject({ code: "ERR_LOCK_HELD", freeInMs: 400 });
});

test("with one node silent a single denial makes it held, not unreachable", async () => {
  const world = new World();
  world.hold("a", [0]);
  world.memory[2]?.freeze();
  const { error } = await world.failed(() => world.redlock.acquire("a", 1_000, ONCE));
  expect(error).toMatchObject({ code: "ERR_LOCK_HELD" });
});

test("one attempt hears the slowest node, when the others hold data under the name and it makes waiting vain", async () => {
  const world = new World({ nodes: 5 });
  for (const node of world.memory.slice(0, 2)) node.set("a", "data", { type: "hash" });
  world.hold("a", [2, 3]);
  world.memory[4]?.set("a", "data", { type: "hash" });
  world.memory[4]?.slow(50);
  const { error, tookMs } = await world.failed(() => world.redlock.tryAcquire("a", 1_000));
  expect(error).toBeInstanceOf(LockHeldError);
  expect(tookMs).toBeGreaterThanOrEqual(50);
});
