import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { at, isFound, type OpenSubject, TTL_MS } from "./open-subject.ts";
import { ANOTHERS_TOKEN, isAbout } from "./states.ts";

/** Clients read whole numbers near 2^53 with an error of one. */
const LONGEST_TOLD_MS = Number.MAX_SAFE_INTEGER + 1;

/** Several commands: their order, their votes, and time. */
export function describeSequences(subject: OpenSubject): void {
  test.each([
    { count: "one", states: ["absent"] },
    { count: "two", states: ["absent", "absent"] },
  ] as const)("a repair of $count that are ours already is granted, and excludes others", async ({ states }) => {
    const { token, keys } = await subject.prepare(states);
    await subject.acquire(keys, token);
    expect(await subject.send({ kind: "repair", keys, token, ttlMs: TTL_MS })).toMatchObject({ vote: "granted" });
    expect(await subject.acquire(keys, "somebody else")).toMatchObject({ vote: "denied" });
    expect(await subject.admin.get(at(keys, 0))).toBe(token);
  });

  test("commands of one tick are carried out in their order", async () => {
    const { token, keys } = await subject.prepare(["absent"]);
    const votes = await Promise.all([
      subject.acquire(keys, token),
      subject.acquire(keys, "second"),
      subject.extend(keys, token),
      subject.extend(keys, "second"),
      subject.release(keys, token),
      subject.acquire(keys, "second"),
      subject.inspect(at(keys, 0)),
      subject.release(keys, "second"),
    ]);
    const expected = ["granted", "denied", "granted", "denied", "granted", "granted", "granted", "granted"];
    expect(votes.map(({ vote }) => vote)).toEqual(expected);
    expect(votes[6]).toMatchObject({ found: { key: "another", token: "second" } });
    expect(await subject.admin.get(at(keys, 0))).toBeUndefined();
  });

  test("each of many commands of one tick gets its own vote", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `many:${randomUUID()}:${index}`);
    const held = names.filter((_, index) => index % 3 === 0);
    await Promise.all(held.map((name) => subject.admin.set(name, ANOTHERS_TOKEN, TTL_MS)));
    const votes = await Promise.all(names.map((name) => subject.acquire([name], "mine")));
    const denied = names.filter((_, index) => votes[index]?.vote === "denied");
    expect(denied).toEqual(held);
    const released = await Promise.all(names.map((name) => subject.release([name], "mine")));
    expect(names.filter((_, index) => isFound(released[index], "another"))).toEqual(held);
    for (const name of names)
      expect(await subject.admin.get(name)).toBe(held.includes(name) ? ANOTHERS_TOKEN : undefined);
  });

  test("a key expires, is not extended after that, and is free for another", async () => {
    const { token, keys } = await subject.prepare(["absent", "absent"]);
    await subject.acquire(keys, token, 20);
    await vi.waitUntil(async () => (await subject.admin.ttlMs(at(keys, 1))) === undefined, {
      timeout: 5_000,
      interval: 1,
    });
    expect(await subject.extend(keys, token)).toEqual({ vote: "denied", found: { key: "absent" } });
    expect(await subject.release(keys, token)).toEqual({ vote: "granted", found: { key: "absent" } });
    expect(await subject.acquire(keys, "another")).toMatchObject({ vote: "granted" });
  });

  test("a ttl of 2^53 − 1 ms", async () => {
    const { token, keys } = await subject.prepare(["absent"]);
    expect(await subject.acquire(keys, token, Number.MAX_SAFE_INTEGER)).toMatchObject({ vote: "granted" });
    expect(isAbout(await subject.admin.ttlMs(at(keys, 0)), LONGEST_TOLD_MS)).toBe(true);
    expect(await subject.extend(keys, token, Number.MAX_SAFE_INTEGER)).toMatchObject({ vote: "granted" });
    expect(await subject.extend(keys, token, 1_000)).toMatchObject({ vote: "granted" });
    expect(isAbout(await subject.admin.ttlMs(at(keys, 0)), LONGEST_TOLD_MS)).toBe(true);
    const both = [at(keys, 0), `${at(keys, 0)}:second`];
    expect(await subject.acquire(both, token, Number.MAX_SAFE_INTEGER)).toMatchObject({ vote: "granted" });
    expect(await subject.release(both, token)).toEqual({ vote: "granted", found: { key: "ours" } });
  });
}
