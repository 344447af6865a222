import { readFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { Redis as Valkey } from "iovalkey";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { holdByAnother, resourceName, untilNoKey, valuesOf } from "./support/keys.ts";
import { failureOf } from "./support/outcome.ts";
import { startSentinel } from "./support/sentinel.ts";
import { untilReady } from "./support/status.ts";

const TTL_MS = 60_000;

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(3);
});
afterAll(() => masters?.stop());

const address = (index: number) => ({ host: masters.at(index).host, port: masters.at(index).port });

test("row 34: ioredis 6, ioredis 5 and iovalkey side by side, accepted by the types as they are", async () => {
  const clients = [new Redis(address(0)), new Redis5(address(1)), new Valkey(address(2))] as const;
  await using redlock = new Redlock(clients);
  await untilReady(redlock);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, TTL_MS);
  await expect.poll(() => valuesOf(masters, resource)).toEqual(Array(3).fill(lock.token));
  await lock.extend();
  expect(await lock.release()).toMatchObject({ status: "released" });
  await untilNoKey(masters, resource);
  await redlock.close();
  // Passed in: used, never closed, and left without a listener of ours.
  expect(await Promise.all(clients.map((client) => client.ping()))).toEqual(["PONG", "PONG", "PONG"]);
  for (const client of clients) {
    for (const event of ["ready", "close", "end", "error", "-node"]) expect(client.listenerCount(event)).toBe(0);
    client.disconnect();
  }
});

const makers = {
  "ioredis 6": (options: object) => new Redis({ ...address(0), ...options }),
  "ioredis 5": (options: object) => new Redis5({ ...address(0), ...options }),
  iovalkey: (options: object) => new Valkey({ ...address(0), ...options }),
};

describe.each(Object.entries(makers))("%s", (_, make) => {
  test("row 33: keyPrefix and db 3 are honoured", async () => {
    const client = make({ keyPrefix: "app:", db: 3 });
    const plain = make({ db: 3 });
    await using redlock = new Redlock([client]);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, TTL_MS);
    expect(await plain.get(`app:${resource}`)).toBe(lock.token);
    expect(await plain.dbsize()).toBe(1);
    expect(await valuesOf(masters, resource)).toEqual([null, null, null]);
    expect(redlock.nodes[0]?.name).toBe(`127.0.0.1:${masters.at(0).port}/3`);
    await lock.extend();
    expect(await redlock.inspect(resource)).toMatchObject({ holder: lock.token });
    expect(await lock.release()).toMatchObject({ status: "released" });
    const several = await redlock.acquire([resource, `${resource}:2`], TTL_MS);
    expect(await plain.get(`app:${resource}:2`)).toBe(several.token);
    expect(await several.release()).toMatchObject({ status: "released" });
    expect(await plain.dbsize()).toBe(0);
    client.disconnect();
    plain.disconnect();
  });

  test.each([
    { lazyConnect: true },
    { lazyConnect: true, enableOfflineQueue: false },
    { enableReadyCheck: false },
    { enableAutoPipelining: true },
    { stringNumbers: true },
    { maxRetriesPerRequest: null },
    { autoResendUnfulfilledCommands: false },
    { connectionName: "app", readOnly: false },
  ])("with %o it works like with any other settings", async (options) => {
    const client = make(options);
    await using redlock = new Redlock([client]);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, TTL_MS);
    expect(await redlock.tryAcquire(resource, TTL_MS)).toBeNull();
    await lock.extend(TTL_MS * 2);
    expect(await lock.release()).toMatchObject({ status: "released" });
    await holdByAnother([masters.at(0)], resource, TTL_MS);
    const error = await failureOf(redlock.acquire(resource, TTL_MS, { waitMs: 0 }));
    expect(error).toMatchObject({ code: "ERR_LOCK_HELD" });
    expect((error as { freeInMs?: number }).freeInMs).toBeGreaterThan(TTL_MS / 2);
    client.disconnect();
  });

  test("closed by its owner: votes unknown, and says so", async () => {
    const client = make({});
    await using redlock = new Redlock([client]);
    await untilReady(redlock);
    client.disconnect();
    const error = await failureOf(redlock.tryAcquire(resourceName(), TTL_MS));
    expect(error.votes).toMatchObject([{ vote: "unknown", reason: "not-ready" }]);
    expect(error.message).toMatch(/not connected/);
  });

  test("closed before it was passed in: votes unknown, and says so", async () => {
    const client = make({ lazyConnect: true });
    client.disconnect();
    await using redlock = new Redlock([client]);
    const error = await failureOf(redlock.tryAcquire(resourceName(), TTL_MS));
    expect(error.message).toContain("not connected (the client was closed)");
  });
});

describe("owned connections", () => {
  test("by options, by URL with database and password, by name in the URL", async () => {
    await using guarded = await startMasters(1, { password: "p@ss:w/rd" });
    await guarded.at(0).admin("ACL", "SETUSER", "app:1", "on", ">s/cret", "~*", "&*", "+@all");
    const host = `127.0.0.1:${guarded.at(0).port}`;
    await using redlock = new Redlock([
      { ...address(0), db: 2, keyPrefix: "own:" },
      `valkey://localhost:${masters.at(1).port}/5`,
      `redis://${encodeURIComponent("app:1")}:${encodeURIComponent("s/cret")}@${host}`,
    ]);
    await untilReady(redlock);
    const resource = resourceName();
    const lock = await redlock.acquire(resource, TTL_MS);
    const prefixed = new Redis({ ...address(0), db: 2 });
    const numbered = new Redis({ ...address(1), db: 5 });
    expect(await prefixed.get(`own:${resource}`)).toBe(lock.token);
    await expect.poll(() => numbered.get(resource)).toBe(lock.token);
    await expect.poll(() => guarded.at(0).admin("GET", resource)).toBe(lock.token);
    expect(await lock.release()).toMatchObject({ status: "released" });
    await expect.poll(() => Promise.all([prefixed.dbsize(), numbered.dbsize()])).toEqual([0, 0]);
    prefixed.disconnect();
    numbered.disconnect();
  });

  test("options that would make a vote untrustworthy are overruled", async () => {
    await using redlock = new Redlock([
      { ...address(0), enableOfflineQueue: true, autoResendUnfulfilledCommands: true, retryStrategy: () => null },
    ]);
    await untilReady(redlock);
    const clients = String(await masters.at(0).admin("CLIENT", "LIST"));
    const [, id] = /id=(\d+) [^\n]*name=redlock-quorum/.exec(clients) ?? [];
    await masters.at(0).admin("CLIENT", "KILL", "ID", String(id));
    await untilReady(redlock);
    await (await redlock.acquire(resourceName(), TTL_MS)).release();
  });
});

test("a master found by Sentinel, by a client and by options, named after it", async () => {
  await using sentinel = await startSentinel("main", masters.at(0));
  const found = { sentinels: [{ host: "127.0.0.1", port: sentinel.port }], name: "main" };
  const client = new Redis(found);
  await using redlock = new Redlock([client]);
  const lock = await redlock.acquire(resourceName(), TTL_MS);
  expect(redlock.nodes[0]).toMatchObject({ name: `main by sentinel 127.0.0.1:${sentinel.port}`, state: "ready" });
  expect(await lock.release()).toMatchObject({ status: "released" });
  await using owner = new Redlock([found]);
  await (await owner.acquire(resourceName(), TTL_MS)).release();
  client.disconnect();
});

describe("a connection that is not what it was to be", () => {
  test.each([
    ["that does not exist", "/99", "ERR DB index is out of range"],
    ["that the user may not select", "/1", "NOPERM"],
  ])("a database %s: the node does not vote, instead of locking in database 0", async (_, path, why) => {
    const master = masters.at(0);
    await master.admin(
      "ACL",
      "SETUSER",
      "nodb",
      "on",
      ">password",
      "~*",
      "+@all",
      ...(path === "/1" ? ["-select"] : []),
    );
    await using redlock = new Redlock([`redis://nodb:password@${master.host}:${master.port}${path}`]);
    const resource = resourceName();
    const error = await failureOf(redlock.acquire(resource, TTL_MS, { waitMs: 1_000 }));
    expect(error.message).toContain(why);
    expect(redlock.nodes[0]?.state).not.toBe("ready");
    expect(await master.admin("GET", resource)).toBeNull();
  });

  test("a status shows no password", async () => {
    const master = masters.at(0);
    await using redlock = new Redlock([`redis://u:s3cret@${master.host}:${master.port}`]);
    await failureOf(redlock.tryAcquire(resourceName(), TTL_MS));
    const { lastError } = redlock.nodes[0] ?? {};
    expect(lastError?.message).toMatch(/^WRONGPASS/);
    expect(JSON.stringify({ ...lastError })).not.toContain("s3cret");
  });
});

test("the permissions that docs/api.md lists are enough", async () => {
  const [, rule = ""] = /ACL SETUSER locks (.*)/.exec(await readFile("docs/api.md", "utf8")) ?? [];
  for (const master of masters.nodes) {
    await master.admin("ACL", "SETUSER", "locks", ...rule.split(" "));
    await master.admin("ACL", "LOG", "RESET");
  }
  await using redlock = new Redlock(masters.nodes.map(({ host, port }) => `redis://locks:password@${host}:${port}`));
  await untilReady(redlock);
  for (const resources of [["lock:a"], ["lock:a", "lock:b"]]) {
    const lock = await redlock.acquire(resources, TTL_MS);
    await lock.extend();
    expect(await redlock.inspect("lock:a")).toMatchObject({ isOurs: true });
    expect(await redlock.tryAcquire(resources, TTL_MS)).toBeNull();
    expect(await lock.release()).toMatchObject({ status: "released" });
  }
  // What ioredis tells of itself may be refused: nothing depends on it.
  const refused = await Promise.all(masters.nodes.map((master) => master.admin("ACL", "LOG")));
  expect(JSON.stringify(refused).replaceAll("client|setinfo", "")).not.toMatch(/"object","[a-z]/);
});
