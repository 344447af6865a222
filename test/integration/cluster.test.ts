import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5 } from "ioredis-5";
import { Cluster as ValkeyCluster } from "iovalkey";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { startCluster } from "../fixture/cluster.ts";
import { type Master, type Masters, startMasters } from "../fixture/masters.ts";
import { TcpProxy } from "../fixture/proxy/proxy.ts";
import { resourceName } from "./support/keys.ts";
import { failureOf } from "./support/outcome.ts";
import { untilReady, untilTrue } from "./support/status.ts";

const TTL_MS = 60_000;

let cluster: Masters;
let seeds: { host: string; port: number }[];
beforeAll(async () => {
  cluster = await startCluster();
  seeds = cluster.nodes.map(({ host, port }) => ({ host, port }));
});
afterAll(() => cluster?.stop());

/** What the cluster holds under a key, asked on the master that has its slot. */
async function clusterValue(key: string): Promise<unknown> {
  for (const master of cluster.nodes) {
    const value = await master.admin("GET", key).catch((error: Error) => error);
    if (!(value instanceof Error && value.message.startsWith("MOVED"))) return value;
  }
  throw new Error("no master has the slot");
}

const makers = {
  "ioredis 6": (options: object = {}) => new Cluster(seeds, options),
  "ioredis 5": (options: object = {}) => new Cluster5(seeds, options),
  iovalkey: (options: object = {}) => new ValkeyCluster(seeds, options),
};

describe.each(Object.entries(makers))("a Cluster client of %s", (_, make) => {
  test("is one voter, and stays open", async () => {
    const client = make();
    await using redlock = new Redlock([client]);
    for (let slot = 0; slot < 12; slot += 1) {
      const resource = resourceName();
      const lock = await redlock.acquire(resource, TTL_MS);
      expect(await clusterValue(resource)).toBe(lock.token);
      expect(await redlock.tryAcquire(resource, TTL_MS)).toBeNull();
      await lock.extend();
      expect(await lock.release()).toMatchObject({ status: "released" });
      expect(await clusterValue(resource)).toBeNull();
    }
    expect(redlock.nodes).toMatchObject([{ name: `cluster 127.0.0.1:${seeds[0]?.port}`, state: "ready" }]);
    await redlock.close();
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
  });

  test("row 22: resources in different slots are refused before anything is sent", async () => {
    const client = make();
    await using redlock = new Redlock([client]);
    await untilReady(redlock);
    const acquired = redlock.acquire(["order:7:stock", "order:7:payment"], TTL_MS);
    await expect(acquired).rejects.toThrow(RangeError);
    await expect(acquired).rejects.toThrow(
      /^cluster 127\.0\.0\.1:\d+: these resources are in 2 hash slots of the cluster, one is needed: give them one \{hash tag\}, as in "\{order:7\}:stock"$/,
    );
    expect(await clusterValue("order:7:stock")).toBeNull();

    const names = ["{order:7}:stock", "{order:7}:payment"];
    const lock = await redlock.acquire(names, TTL_MS);
    expect(await Promise.all(names.map(clusterValue))).toEqual([lock.token, lock.token]);
    expect(await lock.release()).toMatchObject({ status: "released" });
    client.disconnect();
  });

  test("row 33: keyPrefix, also where it carries the hash tag", async () => {
    const client = make({ keyPrefix: "{app}:" });
    await using redlock = new Redlock([client]);
    const lock = await redlock.acquire(["a", "b"], TTL_MS);
    expect(await clusterValue("{app}:a")).toBe(lock.token);
    expect(await lock.release()).toMatchObject({ status: "released" });
    expect(await clusterValue("{app}:a")).toBeNull();
    client.disconnect();
  });

  test("lazyConnect", async () => {
    const client = make({ lazyConnect: true });
    await using redlock = new Redlock([client]);
    await (await redlock.acquire(resourceName(), TTL_MS)).release();
    client.disconnect();
  });
});

test("a cluster votes beside single masters, and counts once", async () => {
  await using masters = await startMasters(2);
  const client = new Cluster(seeds);
  await using redlock = new Redlock([client, ...masters.urls]);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, TTL_MS);
  await expect.poll(() => clusterValue(resource)).toBe(lock.token);
  await lock.release();
  await Promise.all(masters.nodes.map((master) => master.kill()));
  const error = await failureOf(redlock.acquire(resource, TTL_MS, { waitMs: 500 }));
  expect(error.votes.filter(({ vote }) => vote === "granted")).toHaveLength(1);
  await untilTrue(async () => (await clusterValue(resource)) === null);
  client.disconnect();
});

test("two Cluster clients of one cluster are one voter", async () => {
  const clients = [new Cluster(seeds), new Cluster(seeds.slice(1))];
  await using redlock = new Redlock(clients);
  const error = await failureOf(redlock.acquire(resourceName(), TTL_MS, { waitMs: 500 }));
  expect(error.votes.map((vote) => ("reason" in vote ? vote.reason : vote.vote)).toSorted()).toEqual([
    "granted",
    "same-server",
  ]);
  for (const client of clients) client.disconnect();
});

describe("faults of one master", () => {
  let proxies: TcpProxy[];
  let natMap: Record<string, { host: string; port: number }>;
  beforeAll(async () => {
    proxies = await Promise.all(cluster.nodes.map((master) => TcpProxy.open(master)));
    natMap = Object.fromEntries(
      cluster.nodes.map(({ host, port }, index) => [
        `${host}:${port}`,
        { host, port: (proxies[index] as TcpProxy).port },
      ]),
    );
  });
  afterEach(() => {
    for (const proxy of proxies) {
      proxy.resume();
      proxy.cut();
    }
  });
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

  const behindProxies = {
    "ioredis 6": (options: object = {}) => new Cluster(Object.values(natMap), { natMap, ...options }),
    "ioredis 5": (options: object = {}) => new Cluster5(Object.values(natMap), { natMap, ...options }),
  };

  /** The master that has the slot of this key, and the proxy in front of it. */
  async function homeOf(key: string): Promise<{ master: Master; proxy: TcpProxy }> {
    for (const [index, master] of cluster.nodes.entries()) {
      const isHome = await master.admin("GET", key).then(
        () => true,
        () => false,
      );
      if (isHome) return { master, proxy: proxies[index] as TcpProxy };
    }
    throw new Error("no master has the slot");
  }

  describe.each(Object.entries(behindProxies))("%s", (_, make) => {
    test("the connection ends with an acquire in flight, which the client sends again: no key is left", async () => {
      const client = make();
      await using redlock = new Redlock([client], { nodeTimeoutMs: 3_000 });
      await untilReady(redlock);
      const resource = resourceName();
      const { master, proxy } = await homeOf(resource);
      // The first sending is lost with the connection; the client sends it again when it has one.
      const held = proxy.holdRequest(resource);
      const acquired = failureOf(redlock.tryAcquire(resource, TTL_MS));
      await held.arrived;
      const again = proxy.nextRequest((request) => request.includes("'SET'") && request.includes(resource));
      proxy.cut();
      expect((await acquired).votes).toMatchObject([{ vote: "unknown" }]);
      await again;
      await untilReady(redlock);
      await untilTrue(async () => (await master.admin("GET", resource)) === null);
      await client.get(resource);
      await redlock.inspect(resource);
      expect(await master.admin("GET", resource)).toBeNull();
      client.disconnect();
    });

    test("the reply to an acquire is lost: no key is left", async () => {
      const client = make();
      await using redlock = new Redlock([client], { nodeTimeoutMs: 3_000 });
      await untilReady(redlock);
      const resource = resourceName();
      const { master, proxy } = await homeOf(resource);
      const swallowed = proxy.swallowReply((request) => request.includes("'SET'") && request.includes(resource));
      const again = swallowed.then(() =>
        proxy.nextRequest((request) => request.includes("'SET'") && request.includes(resource)),
      );
      await failureOf(redlock.tryAcquire(resource, TTL_MS));
      await again;
      await untilTrue(async () => (await master.admin("GET", resource)) === null);
      client.disconnect();
    });
  });

  test("a master dies and comes back: the others' slots go on, its own as soon as it is there", async () => {
    const client = new Cluster(seeds);
    client.on("error", () => {});
    await using redlock = new Redlock([client]);
    await untilReady(redlock);
    const home = (await homeOf("a")).master;
    await home.restart({ data: "kept" });
    await (await redlock.acquire("a", TTL_MS, { waitMs: 20_000 })).release();
    // The attempts before may still be on their way through the client, and their releases behind them.
    await untilTrue(async () => (await home.admin("GET", "a")) === null);
    client.disconnect();
  });
});

test("single connections and a Cluster client of the same cluster", async () => {
  const client = new Cluster(seeds);
  const single = new Redis(seeds[0]?.port as number, "127.0.0.1");
  await using redlock = new Redlock([client, single]);
  const error = await failureOf(redlock.acquire(resourceName(), TTL_MS, { waitMs: 300 }));
  expect(error.message).toContain("pass one Cluster client for the whole cluster, as one node");
  client.disconnect();
  single.disconnect();
});
