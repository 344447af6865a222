import type { Master } from "../../fixture/masters.ts";
import type { Key } from "../history.ts";

const FIND = `
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  found[#found + 1] = key
  found[#found + 1] = redis.call('GET', key)
end
`;

function keysIn(reply: unknown): Key[] {
  const words = reply as string[];
  return Array.from({ length: words.length / 2 }, (_, index) => ({
    resource: words[2 * index] as string,
    token: words[2 * index + 1] as string,
  }));
}

/** All keys of a node. */
export async function keysOf(master: Master): Promise<Key[]> {
  return keysIn(await master.admin("EVAL_RO", `${FIND} return found`, 0));
}

/** Takes them all, and tells which they were: nothing can come in between. */
export async function flush(master: Master): Promise<Key[]> {
  return keysIn(await master.admin("EVAL", `${FIND} redis.call('FLUSHALL') return found`, 0));
}

const PAUSE_MS = 60_000;

/** All keys of a node that changes none of them from now on, until it is killed or `unpause`d. */
export async function lastKeysOf(master: Master): Promise<Key[]> {
  await master.admin("CLIENT", "PAUSE", PAUSE_MS, "WRITE");
  return keysOf(master);
}

export async function unpause(master: Master): Promise<void> {
  await master.admin("CLIENT", "UNPAUSE");
}
