import { rmSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { holdByAnother } from "./support/keys.ts";
import { failureOf, words } from "./support/outcome.ts";
import { untilNodes, untilReady, untilState } from "./support/status.ts";

/** What a person reads when an acquisition fails: what happened, on which node, what to do. */

let masters: Masters;
let redlock: Redlock;
beforeAll(async () => {
  masters = await startMasters(5);
});
beforeEach(async () => {
  redlock = new Redlock(masters.urls);
  await untilReady(redlock);
});
afterEach(async () => {
  for (const master of masters.nodes) {
    if (master.state === "frozen") await master.thaw();
    if (master.state === "dead") await master.restart({ data: "empty" });
    else await master.admin("FLUSHALL");
  }
  await redlock.close();
});
afterAll(() => masters?.stop());

const at = (...indexes: number[]) => indexes.map((index) => masters.at(index));

/** Dead for so long that a new connection was tried. */
const untilRefused = (...indexes: number[]) =>
  untilNodes(redlock, (nodes) => indexes.every((index) => nodes[index]?.detail?.includes("ECONNREFUSED") === true));

/** The message of an acquisition that is tried for so long. */
async function message(resources: string | string[] = "invoice:42", waitMs = 300): Promise<string> {
  const error = await failureOf(redlock.acquire(resources, 60_000, { waitMs }));
  return words(`${error.name}: ${error.message}`, masters);
}

test("held by another owner", async () => {
  await holdByAnother(masters.nodes, "invoice:42", 60_000);
  expect(await message()).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (5 held by another owner, free in at most … s)"`,
  );
});

test("held by this very process", async () => {
  await using _lock = await redlock.acquire("invoice:42", 60_000);
  expect(await message()).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (5 held by another owner, free in at most … s); the holder is this very process"`,
  );
});

test("several resources, one of them held by another", async () => {
  await holdByAnother(masters.nodes, "b", 60_000);
  expect(await message(["a", "b", "c", "d", "e"])).toMatchInlineSnapshot(
    `"LockHeldError: "a", "b", "c" and 2 more: 0/5 granted, 3 needed (5 held by another owner, free in at most … s)"`,
  );
});

test("split between two other owners, one dead", async () => {
  await holdByAnother(at(0, 1), "invoice:42", 60_000);
  await holdByAnother(at(2, 3), "invoice:42", 50_000);
  await masters.at(4).kill();
  await untilRefused(4);
  expect(await message()).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (4 held by another owner, free in at most … s; 1 not connected (connect ECONNREFUSED): redis-5:6379)"`,
  );
});

test("two dead, held by another owner", async () => {
  await holdByAnother(masters.nodes, "invoice:42", 60_000);
  await Promise.all(at(3, 4).map((master) => master.kill()));
  await untilRefused(3, 4);
  expect(await message()).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (3 held by another owner, free in at most … s; 2 not connected (connect ECONNREFUSED): redis-4:6379, redis-5:6379)"`,
  );
});

test("three dead", async () => {
  await Promise.all(at(2, 3, 4).map((master) => master.kill()));
  await untilRefused(2, 3, 4);
  expect(await message()).toMatchInlineSnapshot(
    `"QuorumUnreachableError: "invoice:42": 2/5 granted, 3 needed (3 not connected (connect ECONNREFUSED): redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
});

test("three frozen: first attempt", async () => {
  await Promise.all(at(2, 3, 4).map((master) => master.freeze()));
  const error = await failureOf(redlock.tryAcquire("invoice:42", 60_000));
  expect(words(error.message, masters)).toMatchInlineSnapshot(
    `""invoice:42": 2/5 granted, 3 needed (3 timed out after 250 ms: redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
});

test("three frozen for a while", async () => {
  await Promise.all(at(2, 3, 4).map((master) => master.freeze()));
  expect(await message("invoice:42", 1_500)).toMatchInlineSnapshot(
    `"QuorumUnreachableError: "invoice:42": 2/5 granted, 3 needed (3 not responding (an earlier command is overdue): redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
});

test("row 24: read-only replicas, demoted while connected and found as such", async () => {
  const { host, port } = masters.at(0);
  await Promise.all(at(2, 3, 4).map((master) => master.admin("REPLICAOF", host, port)));
  try {
    expect(await message()).toMatchInlineSnapshot(
      `"QuorumUnreachableError: "invoice:42": 2/5 granted, 3 needed (3 unfit: a replica of redis-1:6379, not an independent master (give the master's address, once): redis-3:6379, redis-4:6379, redis-5:6379)"`,
    );
    await redlock.close();
    redlock = new Redlock(masters.urls);
    await untilState(redlock, 4, "unfit");
    expect(await message()).toMatchInlineSnapshot(
      `"QuorumUnreachableError: "invoice:42": 2/5 granted, 3 needed (3 unfit: a replica of redis-1:6379, not an independent master (give the master's address, once): redis-3:6379, redis-4:6379, redis-5:6379)"`,
    );
  } finally {
    await Promise.all(at(2, 3, 4).map((master) => master.admin("REPLICAOF", "NO", "ONE")));
  }
});

test("row 24: out of memory", async () => {
  await Promise.all(at(2, 3, 4).map((master) => master.admin("CONFIG", "SET", "maxmemory", 1)));
  expect(await message()).toMatchInlineSnapshot(
    `"QuorumUnreachableError: "invoice:42": 2/5 granted, 3 needed (3 OOM: out of memory (raise maxmemory, or remove what does not belong on a lock server): redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
  await Promise.all(at(2, 3, 4).map((master) => master.admin("CONFIG", "SET", "maxmemory", 0)));
});

test("row 24: a disk that cannot be written", async () => {
  const broken = masters.at(4);
  const [, folder] = (await broken.admin("CONFIG", "GET", "dir")) as [string, string];
  rmSync(folder, { recursive: true });
  await broken.admin("CONFIG", "SET", "save", "3600 1000000");
  await broken.admin("BGSAVE").catch(() => {});
  await expect.poll(() => broken.admin("INFO", "persistence")).toContain("rdb_last_bgsave_status:err");
  await using single = new Redlock([broken.url]);
  const error = await failureOf(single.tryAcquire("invoice:42", 60_000));
  expect(words(error.message, masters)).toMatchInlineSnapshot(
    `""invoice:42": 0/1 granted, 1 needed (1 MISCONF: refuses writes because it cannot save to disk (look at its log and its disk): redis-5:6379)"`,
  );
  await broken.restart({ data: "empty" });
});

test("row 24: no password, a wrong one, a missing permission", async () => {
  await using guarded = await startMasters(3, { password: "secret" });
  await guarded.at(2).admin("ACL", "SETUSER", "app", "on", ">app", "~*", "+info", "+get", "+eval");
  const address = (index: number) => `${guarded.at(index).host}:${guarded.at(index).port}`;
  const urls = [`redis://${address(0)}`, `redis://:wrong@${address(1)}`, `redis://app:app@${address(2)}`];
  await using single = new Redlock(urls);
  const error = await failureOf(single.acquire("invoice:42", 60_000, { waitMs: 500 }));
  expect(words(error.message, guarded)).toMatchInlineSnapshot(
    `""invoice:42": 0/3 granted, 2 needed (1 NOAUTH: wants a password (give one in the URL or the options): redis-1:6379; 1 WRONGPASS: rejects the user name or the password: redis-2:6379; 1 NOPERM: the user lacks a permission (grant the commands and keys that docs/api.md lists): redis-3:6379)"`,
  );
  expect(JSON.stringify(error.message)).not.toContain("secret");
});

test("row 24: busy with a script", async () => {
  const busy = masters.at(4);
  await busy.admin("CONFIG", "SET", "busy-reply-threshold", 1);
  await using single = new Redlock([busy.url]);
  await untilReady(single);
  const script = new Redis(busy.url);
  const running = script.eval("while true do end", 0).catch(() => {});
  await expect.poll(() => busy.admin("PING").catch((error: Error) => error.message)).toContain("BUSY");
  const error = await failureOf(single.tryAcquire("invoice:42", 60_000));
  expect(words(error.message, masters)).toMatchInlineSnapshot(
    `""invoice:42": 0/1 granted, 1 needed (1 BUSY: busy with a long script (wait, or end it with SCRIPT KILL): redis-5:6379)"`,
  );
  await busy.admin("SCRIPT", "KILL");
  await running;
  script.disconnect();
  await (await single.acquire("invoice:42", 60_000)).release();
});

test("row 24: still loading", async () => {
  await using slow = await startMasters(1, {
    args: ["--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024"],
  });
  await slow.at(0).admin("EVAL", "for i = 1, 20000 do redis.call('SET', 'key:' .. i, i) end", 0);
  await using single = new Redlock(slow.urls);
  await untilReady(single);
  const restarted = slow.at(0).restart({ data: "kept" });
  await untilState(single, 0, "unfit");
  const error = await failureOf(single.tryAcquire("invoice:42", 60_000));
  expect(words(error.message, slow)).toMatchInlineSnapshot(
    `""invoice:42": 0/1 granted, 1 needed (1 LOADING: still loading its data after a start (it votes when it has finished): redis-1:6379)"`,
  );
  await slow.at(0).admin("CONFIG", "SET", "key-load-delay", 0);
  await restarted;
  await untilReady(single);
  await (await single.acquire("invoice:42", 60_000)).release();
});

test("row 23: the name is a data key: at once, whatever the wait time", async () => {
  await Promise.all(masters.nodes.map((master) => master.admin("HSET", "invoice:42", "total", 7)));
  expect(await message("invoice:42", Number.POSITIVE_INFINITY)).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (5 holding data under that name (a hash), not a lock: redis-1:6379, redis-2:6379, redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
  await Promise.all(masters.nodes.map((master) => master.admin("SET", "invoice:42", "paid")));
  expect(await message("invoice:42", Number.POSITIVE_INFINITY)).toMatchInlineSnapshot(
    `"LockHeldError: "invoice:42": 0/5 granted, 3 needed (5 holding data under that name (a string without expiry), not a lock: redis-1:6379, redis-2:6379, redis-3:6379, redis-4:6379, redis-5:6379)"`,
  );
  await expect(redlock.tryAcquire("invoice:42", 60_000)).rejects.toMatchObject({ code: "ERR_LOCK_HELD" });
  expect((await redlock.inspect("invoice:42")).nodes[0]).toMatchObject({
    state: "not-a-lock",
    kind: "a string without expiry",
  });
  expect(await masters.at(0).admin("GET", "invoice:42")).toBe("paid");
});
