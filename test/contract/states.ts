import type { LockNode } from "../../src/node.ts";

/** What the suite sees of a server beside the node: never through the code under test. */
export interface Admin {
  /** The value of a string key; undefined when it is absent. */
  get(key: string): Promise<string | undefined>;
  /** Remaining time to live, ms; `Infinity`: none; undefined: no such key. */
  ttlMs(key: string): Promise<number | undefined>;
  /** Without `ttlMs` the value does not expire. */
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  makeHash(key: string): Promise<void>;
  delete(key: string): Promise<void>;
}

export interface Subject {
  readonly node: LockNode;
  readonly admin: Admin;
  dispose(): Promise<void>;
}

/** What stands under a key before a command comes. `plain` is a string without expiry: data, not a lock. */
export const STATES = ["absent", "ours", "another", "hash", "plain"] as const;
export type State = (typeof STATES)[number];

export const OURS_TTL_MS = 40_000;
const ANOTHERS_TTL_MS = 50_000;
export const ANOTHERS_TOKEN = "another's token";

/** With the wall clock running, a time to live has lost a little by the time it is read. */
const SLACK_MS = 10_000;

export function isForeign(state: State): boolean {
  return state === "another" || state === "hash" || state === "plain";
}

export async function put(admin: Admin, key: string, state: State, token: string): Promise<void> {
  if (state === "ours") await admin.set(key, token, OURS_TTL_MS);
  else if (state === "another") await admin.set(key, ANOTHERS_TOKEN, ANOTHERS_TTL_MS);
  else if (state === "hash") await admin.makeHash(key);
  else if (state === "plain") await admin.set(key, "data");
  else await admin.delete(key);
}

/** Whatever a command does to our own keys, these are left as they were: value, type and time to live. */
export async function isUntouched(admin: Admin, key: string, state: State): Promise<boolean> {
  const ttlMs = await admin.ttlMs(key);
  if (state === "absent") return ttlMs === undefined;
  if (state === "hash") return ttlMs === Number.POSITIVE_INFINITY;
  const value = await admin.get(key);
  if (state === "plain") return value === "data" && ttlMs === Number.POSITIVE_INFINITY;
  return value === ANOTHERS_TOKEN && isAbout(ttlMs, ANOTHERS_TTL_MS);
}

export function isAbout(ttlMs: number | undefined, expectedMs: number): boolean {
  return ttlMs !== undefined && ttlMs <= expectedMs && ttlMs > expectedMs - SLACK_MS;
}

/** What of several keys lives longest, for that is what a release tells. */
export function longestLived(states: readonly State[]): { ttlMs: number; types: string[] } | undefined {
  const types = [states.includes("hash") ? ["hash"] : [], states.includes("plain") ? ["string"] : []].flat();
  if (types.length > 0) return { ttlMs: Number.POSITIVE_INFINITY, types };
  return states.includes("another") ? { ttlMs: ANOTHERS_TTL_MS, types: ["string"] } : undefined;
}
