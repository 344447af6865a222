import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { MemoryNode } from "../../src/testing.ts";
import { startCluster } from "../fixture/cluster.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName } from "./support/keys.ts";
import { elapsedMs, failureOf, words } from "./support/outcome.ts";
import { untilNodes } from "./support/status.ts";

/** What the constructor says to it, as a JavaScript program would meet it. */
function refusal(nodes: unknown): string {
  try {
    void new Redlock(nodes as never).close();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return `${error.name}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("row 21: what can be no node is refused at construction, with what to pass instead", () => {
  test("clients of other libraries, connected or not", () => {
    expect(refusal([createClient()])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Class): node-redis clients are not supported, pass the same URL instead, as a string"`,
    );
    expect(refusal([createCluster({ rootNodes: [{ url: "redis://127.0.0.1:1" }] })])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Class): node-redis clients are not supported, pass the same URL instead, as a string"`,
    );
    expect(refusal([{ customCommand: () => {}, close: () => {} }])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Object): GLIDE clients are not supported, pass a URL instead"`,
    );
  });

  test("things that lead to a client", () => {
    expect(refusal([Redis])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got a function (Redis): pass an instance, not what makes one"`,
    );
    expect(refusal([() => "redis://127.0.0.1"])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got a function (anonymous): pass an instance, not what makes one"`,
    );
    expect(refusal([Promise.resolve("redis://127.0.0.1")])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Promise): await it first"`,
    );
    expect(refusal([new Redlock([new MemoryNode()])])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Redlock): pass the masters themselves, not a lock made of them"`,
    );
  });

  test("the node list of a Cluster", () => {
    expect(refusal([[{ host: "127.0.0.1", port: 7000 }]])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an array: pass one Cluster client for a whole cluster, or each independent master as an entry of its own"`,
    );
    const cluster = new Cluster([{ host: "127.0.0.1", port: 1 }], { lazyConnect: true });
    expect(refusal([cluster.nodes("master")])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an array: pass one Cluster client for a whole cluster, or each independent master as an entry of its own"`,
    );
    cluster.disconnect();
  });

  test("no list", () => {
    expect(refusal("redis://:secret@127.0.0.1")).toMatchInlineSnapshot(
      `"TypeError: nodes: expected an array with one entry for each independent master, got a string: put it into an array"`,
    );
    expect(refusal(undefined)).toMatchInlineSnapshot(
      `"TypeError: nodes: expected an array with one entry for each independent master, got undefined"`,
    );
    expect(refusal({ host: "127.0.0.1" })).toMatchInlineSnapshot(
      `"TypeError: nodes: expected an array with one entry for each independent master, got an object (Object)"`,
    );
    expect(refusal([])).toMatchInlineSnapshot(`"RangeError: nodes: expected at least one node, got an empty array"`);
  });

  test("what is not an address", () => {
    expect(refusal(["127.0.0.1:6379"])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL such as "redis://host:6379" (redis, rediss, valkey or valkeys), got a string without such a scheme"`,
    );
    expect(refusal(["localhost"])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL such as "redis://host:6379" (redis, rediss, valkey or valkeys), got a string without such a scheme"`,
    );
    expect(refusal(["http://user:secret@127.0.0.1"])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL such as "redis://host:6379" (redis, rediss, valkey or valkeys), got a URL that begins with "http:""`,
    );
    expect(refusal(["redis://127.0.0.1/zero"])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a database number after the URL's address, got "/zero""`,
    );
    expect(refusal([6379])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got 6379 (number)"`,
    );
    expect(refusal([null])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got null"`,
    );
    expect(refusal([{}])).toMatchInlineSnapshot(
      `"TypeError: nodes[0]: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got an object (Object)"`,
    );
  });

  test("the same LockNode twice", () => {
    const node = new MemoryNode();
    expect(refusal([node, node])).toMatchInlineSnapshot(
      `"RangeError: nodes: the same LockNode is listed twice: it would vote twice"`,
    );
  });
});

describe("row 21: single connections to the members of a cluster", () => {
  let cluster: Masters;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  test("are no voters, and the error says what to pass instead", async () => {
    await using redlock = new Redlock(cluster.urls);
    const error = await failureOf(redlock.tryAcquire("a", 60_000));
    expect(words(error.message, cluster)).toMatchInlineSnapshot(
      `""a": 0/3 granted, 2 needed (3 unfit: a member of a Redis Cluster, not an independent master (pass one Cluster client for the whole cluster, as one node): redis-1:6379, redis-2:6379, redis-3:6379)"`,
    );
    expect(redlock.nodes.every(({ state }) => state === "unfit")).toBe(true);
  });
});

describe("row 20: a client that never connects", () => {
  let masters: Masters;
  beforeAll(async () => {
    masters = await startMasters(2, { proxied: true });
  });
  afterAll(() => masters?.stop());

  const nodeTimeoutMs = 1_000;
  const wrong: [what: string, url: () => string | Promise<string>, why: RegExp][] = [
    ["TLS, where the server speaks none", () => masters.at(0).url.replace("redis:", "rediss:"), /not connected/],
    ["a port where nobody listens", () => "redis://127.0.0.1:1", /not connected \(connect ECONNREFUSED\)/],
    [
      "a name that does not exist",
      () => "redis://redis.invalid",
      /not connected \(getaddrinfo (ENOTFOUND|EAI_AGAIN)\)/,
    ],
    [
      "a port that takes connections and answers nothing",
      () => {
        masters.at(1).proxy.hang();
        return masters.at(1).url;
      },
      /not (connected|ready)|INFO is not answered/,
    ],
  ];

  test.each(wrong)("%s: acquire fails in the node timeout with not ready", async (_, url, why) => {
    await using redlock = new Redlock([await url()], { nodeTimeoutMs });
    const acquired = redlock.tryAcquire(resourceName(), 60_000);
    expect(await elapsedMs(acquired)).toBeLessThan(nodeTimeoutMs * 2);
    const error = await failureOf(acquired);
    expect(error.votes).toMatchObject([{ vote: "unknown", reason: "not-ready" }]);
    expect(error.message).toMatch(why);
    expect(redlock.nodes[0]?.state).not.toBe("ready");
  });

  test("it votes as soon as it gets through", async () => {
    masters.at(0).proxy.refuse();
    await using redlock = new Redlock([masters.at(0).url]);
    await untilNodes(redlock, ([node]) => node?.state === "down");
    expect(redlock.nodes[0]).toMatchObject({ detail: "not connected (connect ECONNREFUSED)" });
    await masters.at(0).proxy.accept();
    await (await redlock.acquire(resourceName(), 60_000)).release();
  });
});
