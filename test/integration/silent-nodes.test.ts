import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Lock, LockLostError, Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName, untilNoKey } from "./support/keys.ts";
import { elapsedMs, failureOf, words } from "./support/outcome.ts";
import { untilReady, untilState } from "./support/status.ts";
import { spyOn } from "./support/traffic.ts";

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(5, { proxied: true });
});
afterEach(async () => {
  await Promise.all(masters.nodes.map((master) => master.thaw()));
  for (const { proxy } of masters.nodes) proxy.cut();
});
afterAll(() => masters?.stop());

describe("row 9: a majority hangs while a lock is held with auto-extend", () => {
  /** Extended at least once, so that the validity that ends is one that an extension gave. */
  async function heldAndExtended(redlock: Redlock, ttlMs: number): Promise<Lock> {
    const extended = masters.at(0).proxy.nextRequest("PEXPIRE");
    const lock = await redlock.acquire(resourceName(), ttlMs, { autoExtend: true });
    await extended;
    return lock;
  }

  const freezeMajority = () => Promise.all(masters.nodes.slice(0, 3).map((master) => master.freeze()));

  test("the signal aborts by the end of validity", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const lock = await heldAndExtended(redlock, 900);
    await freezeMajority();
    // Timers run in the order of their ends, however late: the one of the signal has to be the earlier.
    const isFirst = await new Promise((resolve) => {
      const watch = () =>
        setTimeout(() => {
          // An extension may have been answered just before its servers froze.
          if (lock.isHeld()) watch();
          else resolve(false);
        }, Math.ceil(lock.remainingMs()) + 1);
      watch();
      lock.signal.addEventListener("abort", () => resolve(true));
    });
    expect(isFirst).toBe(true);
    expect(lock.isHeld()).toBe(false);
    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
    expect(lock.signal.reason.message).toContain("its validity has ended");
  });

  test("using settles, with the loss", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resource = resourceName();
    const work = redlock.using(resource, 600, async (signal) => {
      await freezeMajority();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    expect(await failureOf(work)).toMatchObject({ code: "ERR_LOCK_LOST" });
    await Promise.all(masters.nodes.slice(0, 3).map((master) => master.thaw()));
    await untilNoKey(masters, resource);
  });
});

test("row 10: one node of three hangs: nothing is slower", async () => {
  const nodeTimeoutMs = 2_000;
  await using redlock = new Redlock(masters.urls.slice(0, 3), { nodeTimeoutMs });
  await untilReady(redlock);
  await masters.at(2).freeze();
  for (let cycle = 0; cycle < 3; cycle += 1) {
    let lock: Lock | undefined;
    const acquired = redlock.acquire(resourceName(), 60_000).then((granted) => {
      lock = granted;
    });
    expect(await elapsedMs(acquired)).toBeLessThan(nodeTimeoutMs / 4);
    expect(await elapsedMs(Promise.resolve(lock?.extend()))).toBeLessThan(nodeTimeoutMs / 4);
    expect(await elapsedMs(Promise.resolve(lock?.release()))).toBeLessThan(nodeTimeoutMs / 4);
    expect(await lock?.release()).toMatchObject({ status: "released" });
  }
});

test("row 11: two nodes of three hang: acquire fails within its wait time, and says which and why", async () => {
  const three = { nodes: masters.nodes.slice(0, 3) };
  await using redlock = new Redlock(masters.urls.slice(0, 3));
  await untilReady(redlock);
  await Promise.all([masters.at(1).freeze(), masters.at(2).freeze()]);
  let error: Error | undefined;
  const acquired = redlock.acquire(resourceName("a"), 60_000, { waitMs: 1_000 }).catch((reason) => {
    error = reason;
  });
  expect(await elapsedMs(acquired)).toBeLessThan(1_250);
  expect(error).toMatchObject({ code: "ERR_QUORUM_UNREACHABLE" });
  expect(words(error?.message ?? "", three)).toMatch(
    /^"a:\d+": 1\/3 granted, 2 needed \(\d+ .*(not responding|timed out).*: redis-2:6379.*redis-3:6379\)$/,
  );
});

describe("a hung node", () => {
  test("gets no new work, and keeps nothing", async () => {
    await using redlock = new Redlock(masters.urls.slice(0, 3));
    await untilReady(redlock);
    await masters.at(2).freeze();
    const until = untilState(redlock, 2, "not-responding");
    const cycle = async () => (await redlock.acquire(resourceName(), 60_000)).release();
    let isHung = false;
    void until.then(() => {
      isHung = true;
    });
    while (!isHung) await cycle();
    const spy = spyOn(masters.at(2).proxy);
    for (let count = 0; count < 300; count += 1) await cycle();
    expect(spy.requests).toEqual([]);
    expect(redlock.nodes[2]).toMatchObject({ state: "not-responding" });
    expect(redlock.nodes[2]?.keptReleases ?? 0).toBe(0);
    spy.end();

    await masters.at(2).thaw();
    await untilState(redlock, 2, "ready");
    const lock = await redlock.acquire(resourceName(), 60_000);
    await expect.poll(() => masters.at(2).admin("GET", lock.resources[0] as string)).toBe(lock.token);
    await lock.release();
  });

  test("whatever was on its way to it is cleaned up behind it", async () => {
    await using redlock = new Redlock(masters.urls.slice(0, 3));
    await untilReady(redlock);
    await masters.at(2).freeze();
    const resource = resourceName();
    const lock = await redlock.acquire(resource, 60_000);
    await lock.release();
    await masters.at(2).thaw();
    await untilNoKey(masters, resource);
  });

  test("has no more than a bounded number of commands in flight", async () => {
    await using redlock = new Redlock(masters.urls.slice(0, 1), { nodeTimeoutMs: 1_000 });
    await untilReady(redlock);
    const spy = spyOn(masters.at(0).proxy);
    masters.at(0).proxy.stop();
    const names = Array.from({ length: 3_000 }, () => resourceName());
    const outcomes = await Promise.all(names.map((name) => failureOf(redlock.tryAcquire(name, 60_000))));
    expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(["ERR_QUORUM_UNREACHABLE"]));
    // Releases follow the acquires that were sent, so that they are carried out even if this process ends.
    const sent = names.filter((name) => spy.requests.some((request) => request.includes(name)));
    expect(sent.length).toSatisfy((count: number) => count > 0 && count <= 1_024);
    spy.end();
    masters.at(0).proxy.resume();
    await untilState(redlock, 0, "ready");
    for (const name of names.slice(0, 512)) await redlock.inspect(name);
    expect(await masters.at(0).admin("DBSIZE")).toBe(0);
  });
});
