import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { countKeys, holdByAnother, resourceName, untilNoKey, valuesOf } from "./support/keys.ts";
import { elapsedMs, failureOf } from "./support/outcome.ts";
import { untilReady } from "./support/status.ts";

const DAY_MS = 86_400_000;

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(4, { proxied: true });
});
afterEach(() => {
  for (const { proxy } of masters.nodes) {
    proxy.delayMs(0);
    proxy.cut();
  }
});
afterAll(() => masters?.stop());

test("acquire, extend and release on every master", async () => {
  await using redlock = new Redlock(masters.urls);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, 60_000);
  expect(await redlock.tryAcquire(resource, 60_000)).toBeNull();
  await expect.poll(() => valuesOf(masters, resource)).toEqual(Array(4).fill(lock.token));
  await lock.extend(120_000);
  expect(lock.remainingMs()).toBeGreaterThan(100_000);
  expect(await redlock.inspect(resource)).toMatchObject({ holder: lock.token, isOurs: true });
  expect(await lock.release()).toMatchObject({ status: "released" });
  await untilNoKey(masters, resource);
  expect((await redlock.inspect(resource)).nodes.map(({ state }) => state)).toEqual(Array(4).fill("free"));
});

test("row 2: replies take 300 ms, the ttl is 100 ms: no expired lock is returned, no key is left", async () => {
  await using redlock = new Redlock(masters.urls);
  await untilReady(redlock);
  for (const { proxy } of masters.nodes) proxy.delayMs(300, "down");
  const resource = resourceName();
  expect(await failureOf(redlock.acquire(resource, 100, { waitMs: 600 }))).toMatchObject({
    code: "ERR_QUORUM_UNREACHABLE",
  });
  await untilNoKey(masters, resource);
});

test("row 2: a lock that came too late is cleaned up at once, not by its ttl", async () => {
  await using redlock = new Redlock(masters.urls, { nodeTimeoutMs: 50 });
  await untilReady(redlock);
  for (const { proxy } of masters.nodes) proxy.delayMs(300, "down");
  const resource = resourceName();
  await failureOf(redlock.tryAcquire(resource, DAY_MS));
  await untilNoKey(masters, resource);
});

test.each([2, 4])(
  "row 3: half of %i nodes held by somebody else: one round trip, nothing of ours stays",
  async (count) => {
    const used = { nodes: masters.nodes.slice(0, count) };
    await using redlock = new Redlock(masters.urls.slice(0, count), { nodeTimeoutMs: 10_000 });
    await untilReady(redlock);
    const resource = resourceName();
    await holdByAnother(used.nodes.slice(count / 2), resource, 60_000);
    // An attempt that waits for what cannot come would take the node timeout.
    expect(await elapsedMs(redlock.tryAcquire(resource, 60_000))).toBeLessThan(2_500);
    expect(await redlock.tryAcquire(resource, 60_000)).toBeNull();
    await expect.poll(() => countKeys(used, resource)).toBe(count / 2);
    expect(await failureOf(redlock.acquire(resource, 60_000, { waitMs: 50 }))).toMatchObject({ code: "ERR_LOCK_HELD" });
  },
);

test("row 13: the release of an expired lock returns at once, and does not throw", async () => {
  await using redlock = new Redlock(masters.urls, { nodeTimeoutMs: 10_000 });
  const lock = await redlock.acquire(resourceName(), 100);
  await new Promise((resolve) => lock.signal.addEventListener("abort", resolve));
  const startMs = performance.now();
  expect(await lock.release()).toEqual({ status: "expired", votes: [] });
  expect(performance.now() - startMs).toBeLessThan(2_500);
});

test.each([7 * DAY_MS, Number.MAX_SAFE_INTEGER])("row 18: a ttl of %i ms works", async (ttlMs) => {
  await using redlock = new Redlock(masters.urls);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, ttlMs, { autoExtend: true });
  expect(lock.remainingMs()).toBeGreaterThan(ttlMs * 0.98);
  await expect.poll(() => countKeys(masters, resource)).toBe(4);
  expect(await masters.at(0).admin("PTTL", resource)).toBeGreaterThan(ttlMs * 0.98);
  await lock.extend();
  expect(lock.isHeld()).toBe(true);
  expect(await lock.release()).toMatchObject({ status: "released" });
  await untilNoKey(masters, resource);
});
