import type { Open } from "./library.ts";

export const open: Open = async (clients, build) => {
  const { Redlock }: typeof import("../../src/index.ts") = await import(build);
  const redlock = new Redlock(clients);
  return {
    acquire: (resource, ttlMs) => redlock.acquire(resource, ttlMs),
    keep: (resource, ttlMs) => redlock.acquire(resource, ttlMs, { autoExtend: true }),
  };
};
