import Redlock from "redlock-4";
import type { Open } from "./library.ts";

export const open: Open = (clients) => {
  const redlock = new Redlock(clients);
  return {
    async acquire(resource, ttlMs) {
      const lock = await redlock.lock(resource, ttlMs);
      return { release: () => lock.unlock() };
    },
  };
};
