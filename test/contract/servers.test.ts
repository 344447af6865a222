import { Cluster, Redis } from "ioredis";
import { inject, vi } from "vitest";
import { type NodeInput, openNodes } from "../../src/nodes/input.ts";
import { systemRuntime } from "../../src/runtime.ts";
import { startCluster } from "../fixture/cluster.ts";
import { type Masters, type MastersOptions, startMasters } from "../fixture/masters.ts";
import { lockNodeContract } from "./contract.ts";
import type { Admin, Subject } from "./states.ts";

const READY_WITHIN_MS = 10_000;

/** Each version that is here, and whatever this machine runs servers in. */
const servers: readonly { readonly name: string; readonly options: Pick<MastersOptions, "image"> }[] = [
  { name: `default (${inject("server").backend})`, options: {} },
  ...inject("images").map((image) => ({ name: image, options: { image } })),
];

for (const { name, options } of servers) {
  lockNodeContract(`${name}, connected by URL`, async () => {
    const masters = await startMasters(1, options);
    return subject(masters, masters.at(0).url, [new Redis(masters.at(0).url)]);
  });

  lockNodeContract(`${name}, client passed in`, async () => {
    const masters = await startMasters(1, options);
    const client = new Redis(masters.at(0).url);
    return subject(masters, client, [new Redis(masters.at(0).url), client]);
  });

  lockNodeContract(`${name}, Cluster client`, async () => {
    const masters = await startCluster(options);
    const client = clusterOf(masters);
    return subject(masters, client, [clusterOf(masters), client]);
  });
}

function clusterOf({ nodes }: Masters): Cluster {
  return new Cluster(nodes.map(({ host, port }) => ({ host, port })));
}

/** @param clients the first one is the tests' own way to the server; all of them end with the suite */
async function subject(
  masters: Masters,
  input: NodeInput,
  clients: [Redis | Cluster, ...(Redis | Cluster)[]],
): Promise<Subject> {
  const { all, own } = openNodes([input], { nodeTimeoutMs: 5_000, runtime: systemRuntime });
  const [node] = all;
  if (node === undefined) throw new Error("one input is one node");
  await vi.waitUntil(() => node.status().state === "ready", { timeout: READY_WITHIN_MS, interval: 5 });
  return {
    node,
    admin: adminOf(clients[0]),
    async dispose() {
      await Promise.all(own.map((each) => each.close()));
      for (const client of clients) client.disconnect();
      await masters.stop();
    },
  };
}

function adminOf(client: Redis | Cluster): Admin {
  return {
    get: async (key) => (await client.get(key)) ?? undefined,
    async ttlMs(key) {
      const [none, endless] = [-2, -1];
      const ttlMs = await client.pttl(key);
      if (ttlMs === none) return undefined;
      return ttlMs === endless ? Number.POSITIVE_INFINITY : ttlMs;
    },
    async set(key, value, ttlMs) {
      await (ttlMs === undefined ? client.set(key, value) : client.set(key, value, "PX", ttlMs));
    },
    makeHash: async (key) => void (await client.hset(key, "field", "value")),
    delete: async (key) => void (await client.del(key)),
  };
}
