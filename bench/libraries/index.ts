import type { Open } from "./library.ts";

/** What a run is about: all others are compared with it. */
export const OURS = "redlock-quorum";
/** Another build of ours, which a run can be given to compare with. */
export const BASE = "base";
/** The bare commands, without a lock's promises. */
export const FLOOR = "floor";

interface Contender {
  /** What it is installed as. */
  readonly packageName?: string;
  /** It holds locks that extend themselves. */
  readonly keeps: boolean;
  /** What stands before the resource in its keys. */
  readonly keyPrefix?: string;
  load(): Promise<{ readonly open: Open }>;
}

/** Who takes part. Each is loaded in a process of its own, and only there. */
export const CONTENDERS: Readonly<Record<string, Contender>> = {
  [OURS]: { keeps: true, load: () => import("./redlock-quorum.ts") },
  [BASE]: { keeps: true, load: () => import("./redlock-quorum.ts") },
  [FLOOR]: { keeps: false, load: () => import("./floor.ts") },
  "redlock-4": { packageName: "redlock-4", keeps: false, load: () => import("./redlock-4.ts") },
  "redlock-5": { packageName: "redlock-5", keeps: true, load: () => import("./redlock-5.ts") },
  sesamecare: { packageName: "@sesamecare-oss/redlock", keeps: true, load: () => import("./sesamecare.ts") },
  "redis-semaphore": {
    packageName: "redis-semaphore",
    keeps: true,
    keyPrefix: "mutex:",
    load: () => import("./redis-semaphore.ts"),
  },
  "redlock-universal": { packageName: "redlock-universal", keeps: true, load: () => import("./redlock-universal.ts") },
};

export function contender(library: string): Contender {
  const found = CONTENDERS[library];
  if (found === undefined)
    throw new RangeError(`expected one of ${Object.keys(CONTENDERS).join(", ")}, got ${library}`);
  return found;
}
