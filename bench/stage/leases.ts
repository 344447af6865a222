import { Redis } from "ioredis";
import type { Master } from "../../test/fixture/masters.ts";

/** The remaining times to live of some keys, as a quorum of the servers has them, ms; 0 where it has none. */
export async function quorumTtls(masters: readonly Master[], keys: readonly string[]): Promise<number[]> {
  const perServer = await Promise.all(masters.map((master) => ttlsOn(master, keys)));
  return keys.map((_, index) => quorumth(perServer.map((ttls) => ttls[index] ?? 0)));
}

/** What as many as a quorum reach: the third largest of five. */
export function quorumth(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => b - a);
  return sorted[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function ttlsOn({ host, port }: Master, keys: readonly string[]): Promise<number[]> {
  const client = new Redis({ host, port });
  try {
    const replies = await Promise.all(keys.map((key) => client.pttl(key)));
    // Below zero: there is no such key.
    return replies.map((ttlMs) => Math.max(0, ttlMs));
  } finally {
    client.disconnect();
  }
}
