import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import type { Command, LockNode, Vote } from "../../src/node.ts";
import { openNodes } from "../../src/nodes/input.ts";
import { systemRuntime } from "../../src/runtime.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { untilReady } from "./support/status.ts";
import { spyOn } from "./support/traffic.ts";

/** Commands of one tick travel together, and are answered each by itself. */

const TTL_MS = 60_000;

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(1, { proxied: true });
});
afterAll(() => masters?.stop());

function acquireOf(...keys: string[]): Command {
  return { kind: "acquire", keys, token: `token of ${keys}`, ttlMs: TTL_MS };
}

function releaseOf(...keys: string[]): Command {
  return { kind: "release", keys, token: `token of ${keys}`, ttlMs: TTL_MS };
}

/** A node of its own, which sends them in one tick. */
async function sendTogether(url: string, commands: readonly Command[]): Promise<readonly Vote[]> {
  const [node] = openNodes([url], { nodeTimeoutMs: 5_000, runtime: systemRuntime }).all as [LockNode];
  try {
    return await Promise.all(commands.map((command) => node.send(command, 5_000)));
  } finally {
    await node.close();
  }
}

describe("on the wire", () => {
  async function requestsOf(count: number, keysEach = 1): Promise<readonly string[]> {
    await using redlock = new Redlock(masters.urls);
    await untilReady(redlock);
    const spy = spyOn(masters.at(0).proxy);
    const names = Array.from({ length: count }, () => Array.from({ length: keysEach }, () => randomUUID()));
    const locks = await Promise.all(names.map((keys) => redlock.acquire(keys, TTL_MS)));
    const acquires = spy.requests.length;
    await Promise.all(locks.map((lock) => lock.release()));
    expect(spy.requests.length).toBe(2 * acquires);
    spy.end();
    return spy.requests.slice(0, acquires);
  }

  test("one acquire goes as the plain command", async () => {
    expect(await requestsOf(1)).toEqual([expect.stringMatching(/^set \S+ \S+ PX 60000 NX$/)]);
  });

  test.each([
    { count: 2, requests: 1 },
    { count: 128, requests: 1 },
    { count: 129, requests: 2 },
    { count: 1_000, requests: 8 },
  ])("$count acquires of one tick go as $requests, and so do their releases", async ({ count, requests }) => {
    expect(await requestsOf(count)).toHaveLength(requests);
  });

  test("many keys count as many", async () => {
    expect(await requestsOf(6, 50)).toHaveLength(3);
  });
});

describe("one that fails does not fail its neighbours", () => {
  const [first, wrong, last] = [acquireOf(randomUUID()), acquireOf("forbidden:a"), acquireOf(randomUUID())];

  test("a key that the user may not touch", async () => {
    const master = masters.at(0);
    await master.admin("ACL", "SETUSER", "app", "on", ">app", "~*-*", "+@all");
    const votes = await sendTogether(master.url.replace("://", "://app:app@"), [first, wrong, last]);
    expect(votes).toMatchObject([
      { vote: "granted" },
      { vote: "unknown", reason: "refused", message: expect.stringMatching(/^NOPERM/) },
      { vote: "granted" },
    ]);
    for (const command of [first, last]) await master.admin("DEL", command.keys[0] as string);
  });

  test("a script command that the user may not use", async () => {
    const master = masters.at(0);
    await master.admin("ACL", "SETUSER", "plain", "on", ">plain", "~*", "+@all", "-pexpire");
    const key = randomUUID();
    const extend: Command = { ...acquireOf(key), kind: "extend" } as Command;
    const url = master.url.replace("://", "://plain:plain@");
    expect(await sendTogether(url, [acquireOf(key), extend, releaseOf(key)])).toMatchObject([
      { vote: "granted" },
      { vote: "unknown", reason: "refused", message: expect.stringMatching(/^NOPERM/) },
      { vote: "granted", found: { key: "ours" } },
    ]);
  });

  test("a server that is out of memory still carries out releases", async () => {
    const master = masters.at(0);
    const key = randomUUID();
    await sendTogether(master.url, [acquireOf(key)]);
    await master.admin("CONFIG", "SET", "maxmemory", "1");
    const votes = await sendTogether(master.url, [acquireOf(randomUUID()), releaseOf(key)]);
    await master.admin("CONFIG", "SET", "maxmemory", "0");
    expect(votes).toMatchObject([
      { vote: "unknown", reason: "refused", message: expect.stringMatching(/^OOM/) },
      { vote: "granted", found: { key: "ours" } },
    ]);
  });

  test("a server that became a replica votes for none of them, and is found out", async () => {
    const replica = await startMasters(1);
    const [node] = openNodes(replica.urls, { nodeTimeoutMs: 5_000, runtime: systemRuntime }).all as [LockNode];
    await node.send(acquireOf(randomUUID()), 5_000);
    const { host, port } = masters.at(0);
    await replica.at(0).admin("REPLICAOF", host, String(port));
    const votes = await Promise.all([first, last].map((command) => node.send(command, 5_000)));
    expect(votes.map(({ vote }) => vote)).toEqual(["unknown", "unknown"]);
    await expect.poll(() => node.status().state).toBe("unfit");
    await node.close();
    await replica.stop();
  });
});

describe("what waits for room in flight", () => {
  const COUNT = 3_000;

  async function crowd() {
    const [node] = openNodes(masters.urls, { nodeTimeoutMs: 200, runtime: systemRuntime }).all as [LockNode];
    await node.send(releaseOf(randomUUID()), 5_000);
    const { proxy } = masters.at(0);
    proxy.stop();
    const votes = Promise.all(Array.from({ length: COUNT }, () => node.send(acquireOf(randomUUID()), 60_000)));
    // All have been posted, and what finds room has left.
    await new Promise((resolve) => setImmediate(resolve));
    return { node, proxy, votes };
  }

  test("is answered when the connection ends", async () => {
    const { node, proxy, votes } = await crowd();
    proxy.resume();
    proxy.cut();
    const answers = await votes;
    expect(answers).toHaveLength(COUNT);
    expect(new Set(answers.map(({ vote }) => vote))).toEqual(new Set(["unknown"]));
    await node.close();
    await masters.at(0).admin("FLUSHALL");
  });

  test("is answered when the node is closed", async () => {
    const { node, proxy, votes } = await crowd();
    await node.close();
    expect(new Set((await votes).map(({ vote }) => vote))).toEqual(new Set(["unknown"]));
    proxy.resume();
    await masters.at(0).admin("FLUSHALL");
  });
});

test("a node whose refusal of one key among several comes late is not silent any more", async () => {
  const master = masters.at(0);
  await master.admin("ACL", "SETUSER", "app", "on", ">app", "~*-*", "+@all");
  const url = master.url.replace("://", "://app:app@");
  const [node] = openNodes([url], { nodeTimeoutMs: 50, runtime: systemRuntime }).all as [LockNode];
  const [first, wrong] = [acquireOf(randomUUID()), acquireOf("forbidden:b")];
  await node.send(releaseOf(randomUUID()), 5_000);
  master.proxy.stop();
  const votes = Promise.all([first, wrong].map((command) => node.send(command, 5_000)));
  // Each further command asks whether the oldest is overdue.
  const askAndLook = () => {
    void node.send(acquireOf(randomUUID()), 5_000);
    return node.status().state;
  };
  await expect.poll(askAndLook, { interval: 60 }).toBe("not-responding");
  master.proxy.resume();
  expect((await votes).map(({ vote }) => vote)).toEqual(["granted", "unknown"]);
  expect(node.status().state).toBe("ready");
  await node.close();
  await master.admin("FLUSHALL");
});
