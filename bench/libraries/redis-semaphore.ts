import { RedlockMutex } from "redis-semaphore";
import type { Open } from "./library.ts";

export const open: Open = (clients) => ({
  async acquire(resource, ttlMs) {
    const mutex = new RedlockMutex(clients, resource, { lockTimeout: ttlMs, refreshInterval: 0 });
    await mutex.acquire();
    return mutex;
  },
  async keep(resource, ttlMs) {
    // Without a listener a loss is an unhandled rejection.
    const mutex = new RedlockMutex(clients, resource, { lockTimeout: ttlMs, onLockLost: () => {} });
    await mutex.acquire();
    return { isHeld: () => mutex.isAcquired, release: () => mutex.release() };
  },
});
