import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Master, type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName, untilNoKey, valuesOf } from "./support/keys.ts";
import { failureOf } from "./support/outcome.ts";
import { untilReady } from "./support/status.ts";
import { acquireOf } from "./support/traffic.ts";

let masters: Masters;
let master: Master;
beforeAll(async () => {
  masters = await startMasters(1, { proxied: true });
  master = masters.at(0);
});
afterEach(() => master.proxy.cut());
afterAll(() => masters?.stop());

/** A SET whose bytes are still in the old socket when the client is connected again. */
async function leaveBehind(redlock: Redlock, resource: string, ttlMs: number) {
  await untilReady(redlock);
  const held = master.proxy.holdRequest(acquireOf(resource));
  const acquired = failureOf(redlock.tryAcquire(resource, ttlMs));
  await held.arrived;
  master.proxy.cut("client");
  expect((await acquired).votes).toMatchObject([{ vote: "unknown", reason: "connection" }]);
  await untilReady(redlock);
  // Answered, so the kept release was carried out before.
  await redlock.inspect(resource);
  return held;
}

describe("a SET that waits in the socket of a connection that is gone", () => {
  test("is ended with that connection: it never runs after the release", async () => {
    await using redlock = new Redlock(masters.urls, { nodeTimeoutMs: 2_000 });
    const resource = resourceName();
    const held = await leaveBehind(redlock, resource, 60_000);
    await expect(held.release()).rejects.toThrow("its connection to the server ended");
    expect(await valuesOf(masters, resource)).toEqual([null]);
  });

  test("the same for a client that was passed in, and does not send again", async () => {
    const client = new Redis(master.url, { autoResendUnfulfilledCommands: false });
    client.on("error", () => {});
    await using redlock = new Redlock([client], { nodeTimeoutMs: 2_000 });
    const resource = resourceName();
    const held = await leaveBehind(redlock, resource, 60_000);
    await expect(held.release()).rejects.toThrow("its connection to the server ended");
    expect(await valuesOf(masters, resource)).toEqual([null]);
    client.disconnect();
  });

  test("where CLIENT KILL is not permitted it lives for one ttl at most", async () => {
    await master.admin("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-client|kill");
    const { host } = new URL(master.url);
    await using redlock = new Redlock([`redis://app:secret@${host}`], { nodeTimeoutMs: 2_000 });
    const resource = resourceName();
    const held = await leaveBehind(redlock, resource, 500);
    await held.release();
    expect(await master.admin("PTTL", resource)).toBeLessThanOrEqual(500);
    await untilNoKey(masters, resource);
  });

  test("connections of other clients, and those without lost commands, are left alone", async () => {
    const other = new Redis(master.url);
    const otherId = await other.client("ID");
    await using redlock = new Redlock(masters.urls, { nodeTimeoutMs: 2_000 });
    await untilReady(redlock);
    const clients = String(await master.admin("CLIENT", "LIST"));
    const [, ownId] = /id=(\d+) [^\n]*name=redlock-quorum/.exec(clients) ?? [];
    await master.admin("CLIENT", "KILL", "ID", String(ownId));
    await untilReady(redlock);
    expect(await other.client("ID")).toBe(otherId);
    other.disconnect();
  });
});
