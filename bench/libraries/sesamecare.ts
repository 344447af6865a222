import { Redlock } from "@sesamecare-oss/redlock";
import type { Open } from "./library.ts";
import { keepByUsing } from "./using.ts";

export const open: Open = (clients) => {
  const redlock = new Redlock(clients);
  return {
    acquire: (resource, ttlMs) => redlock.acquire([resource], ttlMs),
    keep: (resource, ttlMs) => keepByUsing((routine) => redlock.using([resource], ttlMs, routine)),
  };
};
