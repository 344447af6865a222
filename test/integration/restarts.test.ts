import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Lock, LockLostError, Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { countKeys, resourceName, untilNoKey, untilValue, valuesOf } from "./support/keys.ts";
import { untilReady, untilState } from "./support/status.ts";

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(5, { proxied: true });
});
afterEach(() => {
  for (const { proxy } of masters.nodes) proxy.cut();
});
afterAll(() => masters?.stop());

function loss(lock: Lock): Promise<LockLostError> {
  return new Promise((resolve) => lock.signal.addEventListener("abort", () => resolve(lock.signal.reason)));
}

async function untilEverywhere(lock: Lock): Promise<void> {
  const [resource] = lock.resources as [string];
  for (const master of masters.nodes) await untilValue(master, resource, lock.token);
}

test("row 8: keys deleted from outside, another acquires: the first holder is told before its validity ends", async () => {
  await using redlock = new Redlock(masters.urls);
  await using rival = new Redlock(masters.urls);
  await Promise.all([untilReady(redlock), untilReady(rival)]);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, 3_000, { autoExtend: true });
  const lost = loss(lock);
  const { validUntil } = lock;
  await untilEverywhere(lock);
  await Promise.all(masters.nodes.map((master) => master.admin("DEL", resource)));
  const rivals = await rival.acquire(resource, 60_000);
  expect(await lost).toBeInstanceOf(LockLostError);
  expect(Date.now()).toBeLessThan(validUntil.getTime());
  expect(lock.isHeld()).toBe(false);
  expect(rivals.isHeld()).toBe(true);
  expect(await lock.release()).toMatchObject({ status: "expired" });
  expect(await countKeys(masters, resource)).toBe(5);
  await rivals.release();
});

describe("row 25: a node restarted empty, and the lock is released", () => {
  test("while the repair is on its way: no key left", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, 60_000);
    await untilEverywhere(lock);
    const restarted = untilState(redlock, 0, "down");
    await masters.at(0).restart({ data: "empty" });
    await restarted;
    await untilReady(redlock);

    const repair = masters
      .at(0)
      .proxy.holdRequest((request) => request.includes("'SET'") && request.includes(lock.token));
    await lock.extend();
    await repair.arrived;
    const released = lock.release();
    await repair.release();
    expect(await released).toMatchObject({ status: "released" });
    await untilNoKey(masters, resource);
    await redlock.inspect(resource);
    expect(await countKeys(masters, resource)).toBe(0);
  });

  test("at once, over and over: no key left", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resources: string[] = [];
    for (let time = 0; time < 5; time += 1) {
      const resource = resourceName();
      resources.push(resource);
      const lock = await redlock.acquire(resource, 60_000);
      await masters.at(time).restart({ data: "empty" });
      const extended = lock.extend();
      await lock.release();
      await extended.catch(() => {});
    }
    await untilReady(redlock);
    for (const resource of resources) await untilNoKey(masters, resource);
    for (const resource of resources) await redlock.inspect(resource);
    for (const resource of resources) expect(await countKeys(masters, resource)).toBe(0);
  });
});

test("row 26: each of five nodes restarts empty during one long hold: held at the end, on all five", async () => {
  await using redlock = new Redlock(masters.urls);
  await untilReady(redlock);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, 2_000, { autoExtend: true });
  await untilEverywhere(lock);
  for (const master of masters.nodes) {
    await master.restart({ data: "empty" });
    await untilValue(master, resource, lock.token);
    expect(lock.isHeld()).toBe(true);
  }
  expect(lock.signal.aborted).toBe(false);
  expect(await valuesOf(masters, resource)).toEqual(Array(5).fill(lock.token));
  await lock.extend();
  expect(await lock.release()).toMatchObject({ status: "released" });
  await untilNoKey(masters, resource);
});

describe("row 28: FLUSHALL on a quorum while held", () => {
  test("is reported as lost at the next extend, and never re-taken", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, 60_000);
    await untilEverywhere(lock);
    await Promise.all(masters.nodes.slice(0, 3).map((master) => master.admin("FLUSHALL")));
    const lost = loss(lock);
    await expect(lock.extend()).rejects.toMatchObject({ code: "ERR_LOCK_LOST" });
    expect((await lost).message).toMatch(
      /^"resource:\d+": this lock has been lost: its keys are gone; .*3 without the key/,
    );
    await untilNoKey(masters, resource);
    await redlock.inspect(resource);
    expect(await countKeys(masters, resource)).toBe(0);
  });

  test("on a minority it costs nothing: the keys come back", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, 60_000);
    await untilEverywhere(lock);
    await Promise.all(masters.nodes.slice(0, 2).map((master) => master.admin("FLUSHALL")));
    await lock.extend();
    await untilEverywhere(lock);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    await untilNoKey(masters, resource);
  });
});
