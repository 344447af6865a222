import type { Master, Masters } from "../../fixture/masters.ts";
import { untilTrue } from "./status.ts";

type Some = Pick<Masters, "nodes">;

let count = 0;

/** A resource that no other test uses. */
export function resourceName(what = "resource"): string {
  count += 1;
  return `${what}:${count}`;
}

/** What each running master holds under a key, asked past proxies and past the code under test. */
export function valuesOf({ nodes }: Some, key: string): Promise<(string | null)[]> {
  const running = nodes.filter(({ state }) => state === "running");
  return Promise.all(running.map((master) => master.admin("GET", key) as Promise<string | null>));
}

/** On how many of the running masters the key exists. */
export async function countKeys(masters: Some, key: string): Promise<number> {
  return (await valuesOf(masters, key)).filter((value) => value !== null).length;
}

export function untilNoKey(masters: Some, key: string): Promise<void> {
  return untilTrue(async () => (await countKeys(masters, key)) === 0);
}

export async function untilValue(master: Master, key: string, value: string): Promise<void> {
  await untilTrue(async () => (await master.admin("GET", key)) === value);
}

/** Puts another owner's lock under a key. */
export async function holdByAnother(masters: readonly Master[], key: string, ttlMs: number): Promise<void> {
  await Promise.all(masters.map((master) => master.admin("SET", key, "another's token", "PX", ttlMs)));
}
