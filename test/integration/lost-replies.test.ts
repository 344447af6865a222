import { once } from "node:events";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Master, type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName, untilNoKey, valuesOf } from "./support/keys.ts";
import { failureOf } from "./support/outcome.ts";
import { untilReady, untilState } from "./support/status.ts";
import { acquireOf, spyOn } from "./support/traffic.ts";

const TTL_MS = 60_000;

let masters: Masters;
let master: Master;
beforeAll(async () => {
  masters = await startMasters(3, { proxied: true });
  master = masters.at(0);
});
afterEach(async () => {
  for (const node of masters.nodes) {
    if (node.state === "frozen") await node.thaw();
    if (node.state === "dead") await node.restart({ data: "empty" });
    node.proxy.resume();
    node.proxy.cut();
  }
});
afterAll(() => masters?.stop());

/** Clients with their default settings: they queue, and send again what was in flight when a connection ended. */
const clients = {
  "ioredis 6": (options = {}) => new Redis(master.proxy.port, master.proxy.host, options),
  "ioredis 5": (options = {}) => new Redis5(master.proxy.port, master.proxy.host, options),
};

/** Every way of connecting to the first master. */
const connections = {
  ...clients,
  owned: () => master.url,
};

function open(make: () => Redis | Redis5 | string) {
  const input = make();
  if (typeof input !== "string") input.on("error", () => {});
  const redlock = new Redlock([input], { nodeTimeoutMs: 2_000 });
  return {
    redlock,
    async [Symbol.asyncDispose]() {
      await redlock.close();
      if (typeof input !== "string") input.disconnect();
    },
  };
}

/** Everything that a client had queued has been carried out by now, for commands of one connection keep their order. */
async function expectNothingLeft(redlock: Redlock, resource: string): Promise<void> {
  await untilReady(redlock);
  await untilNoKey({ nodes: [master] }, resource);
  await redlock.inspect(resource);
  await redlock.inspect(resource);
  expect(await valuesOf({ nodes: [master] }, resource)).toEqual([null]);
}

describe.each(Object.entries(clients))("row 5: commandTimeout, %s", (_, make) => {
  test("the server is down and comes up: no key of ours", async () => {
    await using opened = open(() => make({ commandTimeout: 100 }));
    const { redlock } = opened;
    await untilReady(redlock);
    const resource = resourceName();
    await master.kill();
    await failureOf(redlock.acquire(resource, TTL_MS, { waitMs: 500 }));
    await master.restart({ data: "empty" });
    await expectNothingLeft(redlock, resource);
  });

  test("the server hangs, dies with the SET in its socket, and comes up: no key of ours", async () => {
    await using opened = open(() => make({ commandTimeout: 100 }));
    const { redlock } = opened;
    await untilReady(redlock);
    const resource = resourceName();
    await master.freeze();
    await failureOf(redlock.tryAcquire(resource, TTL_MS));
    await master.restart({ data: "empty" });
    await expectNothingLeft(redlock, resource);
  });

  test("the server hangs for longer than the ttl, dies and comes up: no key of ours", async () => {
    await using opened = open(() => make({ commandTimeout: 100 }));
    const { redlock } = opened;
    await untilReady(redlock);
    const resource = resourceName();
    await master.freeze();
    await failureOf(redlock.acquire(resource, 400, { waitMs: 1_000 }));
    await master.restart({ data: "empty" });
    await expectNothingLeft(redlock, resource);
  });

  test("the server hangs: it gets no new work, and votes again when it goes on", async () => {
    await using opened = open(() => make({ commandTimeout: 100 }));
    const { redlock } = opened;
    await untilReady(redlock);
    await master.freeze();
    await failureOf(redlock.tryAcquire(resourceName(), TTL_MS));
    const resource = resourceName();
    const queued = spyOn(master.proxy);
    const error = await failureOf(redlock.acquire(resource, TTL_MS, { waitMs: 500 }));
    expect(error.votes[0]).not.toMatchObject({ reason: "timeout" });
    expect(queued.requests.filter((request) => request.includes(resource))).toEqual([]);
    queued.end();
    await master.thaw();
    await expectNothingLeft(redlock, resource);
    expect(await redlock.tryAcquire(resource, TTL_MS)).not.toBeNull();
  });
});

describe.each(Object.entries(connections))("row 6: the reply is lost and the client reconnects, %s", (_, make) => {
  test("a single node: no lock, and no key without an owner", async () => {
    await using opened = open(make);
    const { redlock } = opened;
    await untilReady(redlock);
    const resource = resourceName();
    const swallowed = master.proxy.swallowReply(acquireOf(resource));
    const error = await failureOf(redlock.tryAcquire(resource, TTL_MS));
    expect(error).toMatchObject({ code: "ERR_QUORUM_UNREACHABLE", votes: [{ vote: "unknown", reason: "connection" }] });
    await swallowed;
    await expectNothingLeft(redlock, resource);
    await (await redlock.acquire(resource, TTL_MS)).release();
  });

  test("one of three: the lock is held, its key there is ours, and goes with the others", async () => {
    const input = make();
    if (typeof input !== "string") input.on("error", () => {});
    await using redlock = new Redlock([input, ...masters.urls.slice(1)]);
    await untilReady(redlock);
    const resource = resourceName();
    const swallowed = master.proxy.swallowReply(acquireOf(resource));
    const lock = await redlock.acquire(resource, TTL_MS);
    await swallowed;
    await untilReady(redlock);
    expect(await valuesOf(masters, resource)).toEqual(Array(3).fill(lock.token));
    await lock.extend();
    expect(await lock.release()).toMatchObject({ status: "released" });
    await untilNoKey(masters, resource);
    if (typeof input !== "string") input.disconnect();
  });
});

describe("row 7: between acquire and release", () => {
  test("the scripts are flushed", async () => {
    await using redlock = new Redlock(masters.urls);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, TTL_MS);
    await untilReady(redlock);
    await Promise.all(masters.nodes.map((node) => node.admin("SCRIPT", "FLUSH")));
    expect(await lock.release()).toMatchObject({ status: "released" });
    await untilNoKey(masters, resource);
  });

  test.each(["kept", "empty"] as const)(
    "a server restarts with its data %s: the release waits for it",
    async (data) => {
      await using redlock = new Redlock(masters.urls);
      await untilReady(redlock);
      const resource = resourceName();
      const lock = await redlock.acquire(resource, TTL_MS);
      await expect.poll(() => valuesOf(masters, resource)).toEqual(Array(3).fill(lock.token));
      await master.kill();
      await untilState(redlock, 0, "down");
      expect(await lock.release()).toMatchObject({ status: "released" });
      await expect.poll(() => redlock.nodes[0]?.keptReleases).toBe(1);
      await master.restart({ data });
      await untilReady(redlock);
      await untilNoKey(masters, resource);
      await expect.poll(() => redlock.nodes[0]?.keptReleases).toBeUndefined();
    },
  );

  test("a server restarts, and acquire and release follow at once", async () => {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const restarted = master.restart({ data: "empty" });
    const resources = Array.from({ length: 50 }, () => resourceName());
    for (const resource of resources) {
      const lock = await redlock.acquire(resource, TTL_MS);
      expect(await lock.release()).toMatchObject({ status: "released" });
    }
    await restarted;
    await untilReady(redlock);
    for (const resource of resources) await untilNoKey(masters, resource);
  });
});

describe.each(Object.entries(clients))("row 37: a socket destroyed while the status says ready, %s", (_, make) => {
  test("nothing is queued for later, the vote is unknown", async () => {
    const client = make();
    client.on("error", () => {});
    await using redlock = new Redlock([client]);
    await untilReady(redlock);
    const resource = resourceName();
    (client as unknown as { stream: { destroy(): void } }).stream.destroy();
    expect(client.status).toBe("ready");
    const queued = master.proxy.nextRequest(resource);
    const error = await failureOf(redlock.tryAcquire(resource, TTL_MS));
    expect(error.votes).toMatchObject([{ vote: "unknown", reason: "not-ready" }]);
    await untilReady(redlock);
    await client.ping();
    await client.get(`${resource}:the first request with this name`);
    expect(await queued).toContain("the first request");
    client.disconnect();
  });
});

describe.each(Object.entries(connections))("row 38: SET in flight when the server restarts empty, %s", (_, make) => {
  test("the answer to a command that was sent again is no vote", async () => {
    await using opened = open(make);
    const { redlock } = opened;
    await untilReady(redlock);
    const resource = resourceName();
    const held = master.proxy.holdRequest(acquireOf(resource));
    const acquired = failureOf(redlock.tryAcquire(resource, TTL_MS));
    await held.arrived;
    await master.restart({ data: "empty" });
    expect((await acquired).votes).toMatchObject([{ vote: "unknown", reason: "connection" }]);
    await expectNothingLeft(redlock, resource);
  });
});

test("a socket destroyed by the client's owner in the middle of a round: unknown, and cleaned up", async () => {
  const client = clients["ioredis 6"]();
  client.on("error", () => {});
  await using redlock = new Redlock([client], { nodeTimeoutMs: 2_000 });
  await untilReady(redlock);
  const resource = resourceName();
  const closed = once(client, "close");
  const acquired = failureOf(redlock.tryAcquire(resource, TTL_MS));
  (client as unknown as { stream: { destroy(): void } }).stream.destroy();
  expect((await acquired).votes).toMatchObject([{ vote: "unknown" }]);
  await closed;
  await expectNothingLeft(redlock, resource);
  client.disconnect();
});
