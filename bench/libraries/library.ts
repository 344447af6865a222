import type { Redis } from "ioredis";

/** A lock that is held, whichever library it is of. */
interface Held {
  release(): Promise<unknown>;
}

export interface Kept extends Held {
  isHeld(): boolean;
}

/** A library behind what the bench asks of it. */
export interface Library {
  acquire(resource: string, ttlMs: number): Promise<Held>;
  /** Held and extended until it is released. Absent where the library extends nothing by itself. */
  keep?(resource: string, ttlMs: number): Promise<Kept>;
}

/** @param build where the built redlock-quorum is; the published packages are found by their names */
export type Open = (clients: readonly Redis[], build: string) => Library | Promise<Library>;
