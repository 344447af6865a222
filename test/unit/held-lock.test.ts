import { describe, expect, test } from "vitest";
import { LockReleasedError } from "../../src/errors.ts";
import { World } from "../support/world.ts";

const TTL_MS = 1_000;
const VALID_MS = 988;

async function held(ttlMs = TTL_MS) {
  const world = new World();
  return { world, lock: await world.run(world.redlock.acquire("a", ttlMs)) };
}

describe("a lock that its holder released", () => {
  test("has a signal that does not abort, also when it is asked for the first time after that", async () => {
    const { world, lock } = await held();
    await world.run(lock.release());
    expect(lock.signal.aborted).toBe(false);
  });

  test("in the very moment in which its validity ended, had expired", async () => {
    const { world, lock } = await held();
    world.runtime.block(VALID_MS);
    expect(await world.run(lock.release())).toEqual({ status: "expired", votes: [] });
  });

  test("is to be forgotten by its nodes only when its longest ttl is over", async () => {
    const { world, lock } = await held();
    await world.run(lock.extend(60_000));
    await world.run(lock.extend(500));
    await world.run(lock.release());
    expect(world.relays[0]?.commands("release")).toMatchObject([{ ttlMs: 60_000 }]);
  });

  test("stays released, though the machine slept and another lock's listener released it in the turn that noticed", async () => {
    const world = new World();
    const short = await world.run(world.redlock.acquire("b", 2_000));
    const lock = await world.run(world.redlock.acquire("a", 60_000));
    short.signal.addEventListener("abort", () => void lock.release());
    world.runtime.suspend(5_000);
    await world.runtime.advance(1_500);
    expect(short.isHeld()).toBe(false);
    expect(() => lock.throwIfLost()).toThrow(LockReleasedError);
    await world.runtime.advance(60_000);
    expect(() => lock.throwIfLost()).toThrow(LockReleasedError);
    expect(world.relays[0]?.commands("release")).toHaveLength(2);
  });
});

test("an extension that would end sooner, because its answers came late, does not count", async () => {
  const { world, lock } = await held();
  for (const node of world.memory) node.slow(100);
  await world.run(lock.extend(900));
  expect(lock.remainingMs()).toBe(VALID_MS - 100);
});

test("a validity that ended without an extension is a loss without votes", async () => {
  const { world, lock } = await held();
  await world.runtime.advance(TTL_MS);
  expect(lock.signal.reason).toMatchObject({ code: "ERR_LOCK_LOST", votes: [] });
});
