import type { Chance } from "../simulation/chance.ts";

type Manner = "using" | "keep" | "acquire" | "tryAcquire" | "extend" | "overstay" | "inspect";

/** What the clients do: how many of them, on what, for how long. */
export interface Traffic {
  readonly clients: number;
  /** In each client, at the same time. */
  readonly callers: number;
  readonly resources: readonly string[];
  /** Short ones run out while they are held; long ones outlive faults. */
  readonly ttlsMs: readonly number[];
  /** How often what is done, in relation to each other. */
  readonly manners: Readonly<Partial<Record<Manner, number>>>;
}

/** Short stays of all kinds. */
export const BRISK = { using: 36, acquire: 25, tryAcquire: 10, extend: 12, inspect: 7 };
export const ALL_MANNERS = {
  ...BRISK,
  /** Longer than the ttl, extended by itself. */
  keep: 4,
  /** Until the lock runs out. */
  overstay: 6,
};

/** From hopeless to patient. */
const WAITS_MS = [50, 300, 1_000, 3_000];
const SHARE_OF_SEVERAL = 0.2;
const SHARE_OF_ABORTED = 0.1;
const LONGER_THAN_TTL = 1.5;

/** What one caller does next: gets a lock, and increments under it step by step. */
export interface Turn {
  readonly manner: Manner;
  readonly resources: readonly string[];
  readonly ttlMs: number;
  readonly waitMs: number;
  /** The caller gives up then. */
  readonly abortAfterMs?: number;
  /** How long it works under the lock. */
  readonly stayMs: number;
  /** From reading the number to writing it. */
  readonly stepMs: number;
  readonly idleMs: number;
}

export function nextTurn({ resources, ttlsMs, manners }: Traffic, chance: Chance): Turn {
  const manner = chance.weighted(manners as Record<Manner, number>);
  const count = manner !== "inspect" && chance.happens(SHARE_OF_SEVERAL) ? chance.whole(2, 3) : 1;
  const isLong = manner === "keep" || manner === "overstay";
  const ttlMs = isLong ? Math.min(...ttlsMs) : chance.pick(ttlsMs);
  return {
    manner,
    resources: chance.shuffled(resources).slice(0, count),
    ttlMs,
    waitMs: chance.pick(WAITS_MS),
    ...(chance.happens(SHARE_OF_ABORTED) ? { abortAfterMs: Math.round(chance.magnitude(1, 1_000)) } : {}),
    stayMs: isLong ? ttlMs * LONGER_THAN_TTL : chance.magnitude(2, 200),
    stepMs: chance.magnitude(1, 40),
    idleMs: chance.between(0, 40),
  };
}
