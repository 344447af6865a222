import { Cluster, Redis } from "ioredis";
import { describe, inject } from "vitest";
import { openNodes } from "../../src/nodes/input.ts";
import { systemRuntime } from "../../src/runtime.ts";
import { startCluster } from "../fixture/cluster.ts";
import { type MastersOptions, startMasters } from "../fixture/masters.ts";
import { lockNodeContract } from "./contract.ts";
import type { Admin, Subject } from "./states.ts";

type Client = Redis | Cluster;

/** The server as another client sees it. */
function adminOf(client: Client): Admin {
  return {
    get: async (key) => (await client.get(key)) ?? undefined,
    async ttlMs(key) {
      const leftMs = await client.pttl(key);
      if (leftMs === -2) return undefined;
      return leftMs === -1 ? Number.POSITIVE_INFINITY : leftMs;
    },
    async set(key, value, ttlMs) {
      if (ttlMs === undefined) await client.set(key, value);
      else await client.set(key, value, "PX", ttlMs);
    },
    makeHash: async (key) => void (await client.hset(key, "field", "value")),
    delete: async (key) => void (await client.del(key)),
  };
}

/** @param input a client to be passed in, or the address for a connection of the library's own */
function subjectOf(input: Client | string, admin: Client, stop: () => Promise<void>): Subject {
  const { all } = openNodes([input], { nodeTimeoutMs: 5_000, runtime: systemRuntime });
  const [node] = all;
  if (node === undefined) throw new Error("unreachable: one was opened");
  return {
    node,
    admin: adminOf(admin),
    async dispose() {
      await node.close();
      if (typeof input !== "string") input.disconnect();
      admin.disconnect();
      await stop();
    },
  };
}

async function single(options: MastersOptions): Promise<Subject> {
  const masters = await startMasters(1, options);
  const { url } = masters.at(0);
  return subjectOf(new Redis(url), new Redis(url), () => masters.stop());
}

async function owned(options: MastersOptions): Promise<Subject> {
  const masters = await startMasters(1, options);
  const { url } = masters.at(0);
  return subjectOf(url, new Redis(url), () => masters.stop());
}

async function cluster(options: MastersOptions): Promise<Subject> {
  const masters = await startCluster(options);
  const seeds = masters.nodes.map(({ host, port }) => ({ host, port }));
  return subjectOf(new Cluster(seeds), new Cluster(seeds), () => masters.stop());
}

const variants: { title: string; options: MastersOptions }[] = [
  { title: `default (${inject("server").backend})`, options: {} },
  ...inject("images").map((image) => ({ title: image, options: { image } })),
];

describe.each(variants)("$title", ({ title, options }) => {
  lockNodeContract(`${title}, a client passed in`, () => single(options));
  lockNodeContract(`${title}, a connection of its own`, () => owned(options));
  lockNodeContract(`${title}, Cluster client`, () => cluster(options));
});
