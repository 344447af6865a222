/**
 * How long a lock lives unless it is extended. A turn takes some milliseconds; a worker that dies in its turn holds up the
 * others for so long.
 */
export const TTL_MS = 1_000;

/** How long an acquire tries: enough to come through the queue of a few workers, and to hear soon that a quorum is gone. */
export const WAIT_MS = 500;

/** What a worker tells of each turn: one acquire and release, with or without success. */
export interface Turn {
  /** `shared`: the resource that all workers want; `own`: one that nobody else wants, to see the lock's own latency. */
  readonly resource: "shared" | "own";
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The counter was written, whatever became of the turn afterwards. */
  readonly incremented: boolean;
  /** Time spent on acquire and release, without the work in between, ms. Missing where the turn failed. */
  readonly lockMs?: number;
  readonly failure?: Failure;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** The time by a clock that all processes of this machine share, ms. */
export function sharedNowMs(): number {
  return performance.timeOrigin + performance.now();
}
