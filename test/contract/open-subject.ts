import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect } from "vitest";
import type { Command, Found, LockNode, Vote } from "../../src/node.ts";
import { type Admin, isAbout, isUntouched, OURS_TTL_MS, put, type State, type Subject } from "./states.ts";

const TIMEOUT_MS = 5_000;
export const TTL_MS = 60_000;

/** The node of one suite: opened before its tests, disposed of after them. */
export class OpenSubject {
  #subject: Subject | undefined;

  constructor(open: () => Promise<Subject>) {
    beforeAll(async () => {
      this.#subject = await open();
    });
    afterAll(() => this.#subject?.dispose());
  }

  get node(): LockNode {
    return this.#opened.node;
  }

  get admin(): Admin {
    return this.#opened.admin;
  }

  get #opened(): Subject {
    if (this.#subject === undefined) throw new Error("the node is open only while a test runs");
    return this.#subject;
  }

  send(command: Command): Promise<Vote> {
    return this.node.send(command, TIMEOUT_MS);
  }

  acquire(keys: readonly string[], token: string, ttlMs = TTL_MS): Promise<Vote> {
    return this.send({ kind: "acquire", keys, token, ttlMs });
  }

  extend(keys: readonly string[], token: string, ttlMs = TTL_MS): Promise<Vote> {
    return this.send({ kind: "extend", keys, token, ttlMs });
  }

  release(keys: readonly string[], token: string): Promise<Vote> {
    return this.send({ kind: "release", keys, token, ttlMs: TTL_MS });
  }

  inspect(key: string): Promise<Vote> {
    return this.send({ kind: "inspect", keys: [key] });
  }

  /** New keys in these states, all in one slot of a Cluster, and a token that is the owner of those which are ours. */
  async prepare(states: readonly State[]) {
    const token = randomUUID();
    const tag = `{${randomUUID()}}`;
    const keys = states.map((_, index) => `${tag}:${index}`);
    for (const [index, state] of states.entries()) await put(this.admin, at(keys, index), state, token);
    const expectUntouched = async () => {
      for (const [index, state] of states.entries()) {
        const key = at(keys, index);
        if (state === "ours") await this.expectKey(key, token, OURS_TTL_MS);
        else expect(await isUntouched(this.admin, key, state), `${state} key`).toBe(true);
      }
    };
    return { token, keys, expectUntouched };
  }

  async expectKey(key: string, token: string, ttlMs: number): Promise<void> {
    expect(await this.admin.get(key)).toBe(token);
    const leftMs = await this.admin.ttlMs(key);
    expect(isAbout(leftMs, ttlMs), `time to live ${leftMs}, expected about ${ttlMs}`).toBe(true);
  }
}

/** Sends every command between two others, in one tick: its own outcome is to be the same, and so is theirs. */
export class CrowdedSubject extends OpenSubject {
  override async send(command: Command): Promise<Vote> {
    const [left, right] = [[randomUUID()], [randomUUID()]];
    const neighbour = { token: "neighbour", ttlMs: TTL_MS };
    const [before, vote, after] = await Promise.all([
      super.send({ kind: "acquire", keys: left, ...neighbour }),
      super.send(command),
      super.send({ kind: "acquire", keys: right, ...neighbour }),
    ]);
    const released = await Promise.all(
      [left, right].map((keys) => super.send({ kind: "release", keys, ...neighbour })),
    );
    const granted = { vote: "granted", found: { key: "ours" } };
    expect([before, after, ...released]).toEqual([granted, granted, granted, granted]);
    return vote;
  }
}

export type Anothers = Extract<Found, { key: "another" }>;

export function expectAnothers(vote: Vote, expected: "granted" | "denied"): Anothers {
  expect(vote).toMatchObject({ vote: expected, found: { key: "another" } });
  if (vote.vote === "unknown" || vote.found.key !== "another") throw new Error("unreachable: checked above");
  return vote.found;
}

/** Of the keys that stand in the way the one that lives longest. */
export function expectTold(found: Anothers, longest: { ttlMs: number; types: string[] } | undefined): void {
  if (longest === undefined) throw new Error("expected a key that stands in the way");
  if (longest.ttlMs === Number.POSITIVE_INFINITY) expect(found.ttlMs).toBe(Number.POSITIVE_INFINITY);
  else expect(isAbout(found.ttlMs, longest.ttlMs), `told ${found.ttlMs}, expected about ${longest.ttlMs}`).toBe(true);
  expect(longest.types).toContain(found.type);
}

/** Denied, by a reply that tells nothing of the key that stands in the way. */
export function isUntold(vote: Vote): boolean {
  return vote.vote === "denied" && vote.found.key === "another" && vote.found.ttlMs === undefined;
}

export function isFound(vote: Vote | undefined, key: Found["key"]): boolean {
  return vote !== undefined && vote.vote !== "unknown" && vote.found.key === key;
}

export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`no number ${index} among ${list.length}`);
  return item;
}
