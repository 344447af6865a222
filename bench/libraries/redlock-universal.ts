import { createRedlock, IoredisAdapter } from "redlock-universal";
import type { Open } from "./library.ts";
import { keepByUsing } from "./using.ts";

export const open: Open = (clients) => {
  const adapters = clients.map((client) => new IoredisAdapter(client));
  return {
    async acquire(resource, ttlMs) {
      const lock = createRedlock({ adapters, key: resource, ttl: ttlMs });
      const handle = await lock.acquire();
      return { release: () => lock.release(handle) };
    },
    keep(resource, ttlMs) {
      const lock = createRedlock({ adapters, key: resource, ttl: ttlMs });
      return keepByUsing((routine) => lock.using(routine));
    },
  };
};
