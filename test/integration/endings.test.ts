import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { countKeys, holdByAnother, resourceName, untilNoKey } from "./support/keys.ts";
import { elapsedMs, failureOf } from "./support/outcome.ts";
import { untilReady } from "./support/status.ts";
import { acquireOf } from "./support/traffic.ts";

const TTL_MS = 60_000;

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(3, { proxied: true });
});
afterEach(async () => {
  for (const master of masters.nodes) {
    if (master.state === "frozen") await master.thaw();
    master.proxy.resume();
    master.proxy.cut();
  }
});
afterAll(() => masters?.stop());

describe("row 16: a waiting acquire is aborted", () => {
  const reason = new Error("the caller's own reason");

  test.each(["up", "down"] as const)(
    "with commands in flight, stopped on the way %s: no key left",
    async (direction) => {
      await using redlock = new Redlock(masters.urls, { nodeTimeoutMs: 5_000 });
      await untilReady(redlock);
      for (const { proxy } of masters.nodes) proxy.stop(direction);
      const resource = resourceName();
      const sent = Promise.all(masters.nodes.map(({ proxy }) => proxy.nextRequest(acquireOf(resource))));
      const controller = new AbortController();
      const acquired = redlock.acquire(resource, TTL_MS, { signal: controller.signal });
      await sent;
      controller.abort(reason);
      await expect(acquired).rejects.toBe(reason);
      for (const { proxy } of masters.nodes) proxy.resume();
      await untilNoKey(masters, resource);
      await redlock.inspect(resource);
      expect(await countKeys(masters, resource)).toBe(0);
    },
  );

  test("while another holds it: rejects at once, the other's keys stay", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resource = resourceName();
    await holdByAnother(masters.nodes, resource, TTL_MS);
    const controller = new AbortController();
    const tried = masters.at(0).proxy.nextRequest("GET");
    const acquired = redlock.acquire(resource, TTL_MS, { signal: controller.signal, waitMs: Number.POSITIVE_INFINITY });
    await tried;
    controller.abort(reason);
    await expect(acquired).rejects.toBe(reason);
    expect(await countKeys(masters, resource)).toBe(3);
  });

  test("by a signal that times out: in the middle of whatever it does, many times over", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const resources = Array.from({ length: 60 }, () => resourceName());
    await Promise.all(
      resources.map(async (resource, index) => {
        const controller = new AbortController();
        const acquired = redlock.acquire(resource, TTL_MS, { signal: controller.signal });
        // So many turns of the event loop later: somewhere between the sending and the hand-over.
        for (let turn = 0; turn < index % 20; turn += 1) await new Promise(setImmediate);
        controller.abort(reason);
        const outcome = await acquired.catch((error: unknown) => error);
        if (outcome !== reason) await (outcome as Awaited<typeof acquired>).release();
      }),
    );
    for (const resource of resources) await untilNoKey(masters, resource);
  });
});

describe("row 39: close", () => {
  test.each(["alive", "with a hung node"])("%s: waiters get ERR_CLOSED, held locks are released", async (condition) => {
    const nodeTimeoutMs = 1_000;
    const redlock = new Redlock(masters.urls, { nodeTimeoutMs });
    await untilReady(redlock);
    const [held, waited] = [resourceName(), resourceName()];
    await holdByAnother(masters.nodes, waited, TTL_MS);
    const lock = await redlock.acquire(held, TTL_MS, { autoExtend: true });
    const aborted = new Promise((resolve) => lock.signal.addEventListener("abort", () => resolve(lock.signal.reason)));
    await expect.poll(() => countKeys(masters, held)).toBe(3);
    if (condition === "with a hung node") await masters.at(2).freeze();
    const waiting = [1, 2, 3].map(() =>
      failureOf(redlock.acquire(waited, TTL_MS, { waitMs: Number.POSITIVE_INFINITY })),
    );
    await masters.at(0).proxy.nextRequest("GET");

    const closed = redlock.close();
    expect(redlock.close()).toBe(closed);
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(Array(3).fill("ERR_CLOSED"));
    expect(await elapsedMs(closed)).toBeLessThan(nodeTimeoutMs * 1.5);
    expect(await aborted).toMatchObject({ code: "ERR_CLOSED" });
    expect(await lock.release()).toMatchObject({ status: "released" });
    expect(lock.isHeld()).toBe(false);
    expect(await failureOf(redlock.acquire(held, TTL_MS))).toMatchObject({ code: "ERR_CLOSED" });
    expect(redlock.nodes.map(({ state }) => state)).toEqual(Array(3).fill("closed"));

    // What was in the hung server's socket is carried out when it goes on.
    if (condition === "with a hung node") await masters.at(2).thaw();
    await untilNoKey(masters, held);
    expect(await countKeys(masters, waited)).toBe(3);
  });

  test("in the middle of an acquisition: no key left", async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const redlock = new Redlock(masters.urls);
      await untilReady(redlock);
      const resource = resourceName();
      const acquired = redlock.acquire(resource, TTL_MS).catch((error: unknown) => error);
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await redlock.close();
      const outcome = await acquired;
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: "ERR_CLOSED" });
      await untilNoKey(masters, resource);
    }
  });

  test("connections that it opened end", async () => {
    const redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    await redlock.close();
    await expect
      .poll(async () => String(await masters.at(0).admin("CLIENT", "LIST")))
      .not.toContain("name=redlock-quorum");
  });
});
