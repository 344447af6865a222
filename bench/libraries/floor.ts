import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { Open } from "./library.ts";

const COMPARE_AND_DELETE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;

/**
 * What no lock over these commands and this client can go below: the commands to all nodes, settled at a quorum of successes.
 * It measures no validity, cleans nothing up, and waits for ever where there is no quorum.
 */
export const open: Open = async (clients) => {
  const quorum = Math.floor(clients.length / 2) + 1;
  const [sha] = await Promise.all(
    clients.map((client) => client.script("LOAD", COMPARE_AND_DELETE) as Promise<string>),
  );

  const fanOut = (send: (client: Redis) => Promise<unknown>, success: unknown) =>
    new Promise<void>((resolve) => {
      let successes = 0;
      const hear = (reply: unknown) => {
        if (reply === success && ++successes === quorum) resolve();
      };
      for (const client of clients) send(client).then(hear, () => {});
    });

  return {
    async acquire(resource, ttlMs) {
      const token = randomUUID();
      await fanOut((client) => client.set(resource, token, "PX", ttlMs, "NX"), "OK");
      return { release: () => fanOut((client) => client.evalsha(sha as string, 1, resource, token), 1) };
    },
  };
};
