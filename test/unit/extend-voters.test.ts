import { expect, test } from "vitest";
import { LockLostError, QuorumUnreachableError } from "../../src/errors.ts";
import { World } from "../support/world.ts";

/** So long that a round's deadline is the node timeout. */
const TTL_MS = 2_000;

test("a node that denied the acquire does not count: without one of the others the lock is lost", async () => {
  const world = new World();
  world.hold("a", [2]);
  const lock = await world.run(world.redlock.acquire("a", TTL_MS));
  await world.runtime.advance(1);
  world.memory[2]?.freeze();
  world.memory[0]?.flush();
  expect((await world.failed(() => lock.extend())).error).toBeInstanceOf(LockLostError);
});

test("a node whose grant came after the acquire's deadline does not count: without one of the others the lock is lost", async () => {
  const world = new World();
  const [, , relay] = world.relays;
  if (relay !== undefined) relay.requestMs = 300;
  const lock = await world.run(world.redlock.acquire("a", TTL_MS));
  await world.runtime.advance(350);
  if (relay !== undefined) relay.requestMs = 0;
  expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
  world.memory[0]?.flush();
  expect((await world.failed(() => lock.extend())).error).toBeInstanceOf(LockLostError);
});

test("an undecided extension tells what each node answered, and is forgotten once a later one was won", async () => {
  const world = new World();
  const lock = await world.run(world.redlock.acquire("a", TTL_MS));
  for (const node of world.memory.slice(1)) node.freeze();
  const { error } = await world.failed(() => lock.extend());
  expect(error).toBeInstanceOf(QuorumUnreachableError);
  expect(error).toMatchObject({
    resources: ["a"],
    votes: [{ vote: "granted" }, { vote: "unknown" }, { vote: "unknown" }],
  });
  for (const node of world.memory) node.thaw();
  await world.run(lock.extend());
  await world.runtime.advance(TTL_MS);
  expect(() => lock.throwIfLost()).toThrow(/^"a": this lock has been lost: its validity has ended$/);
});

test("a node that loses the key again right after its repair gets it back again", async () => {
  const world = new World();
  const lock = await world.run(world.redlock.acquire("a", TTL_MS));
  for (let times = 1; times <= 2; times += 1) {
    world.memory[2]?.flush();
    await world.run(lock.extend());
    await world.runtime.advance(1);
    expect(world.values("a")).toEqual([lock.token, lock.token, lock.token]);
    expect(world.relays[2]?.commands("repair")).toHaveLength(times);
  }
});
