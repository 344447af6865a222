/**
 * How long a lock may be relied upon. Pure: elapsed times are arguments.
 *
 * Source: the Redlock algorithm, https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ ("validity time":
 * the time to live minus the time the acquisition took minus an allowance for clock drift between processes).
 */

/** Covers the granularity of the servers' expiry (1 ms) and of this process's timers (1 ms). */
const GRANULARITY_MS = 2;

/** What clocks that run at different rates can cost over one time to live: `ttl × driftFactor + 2 ms`. */
export function driftMs(ttlMs: number, driftFactor: number): number {
  return ttlMs * driftFactor + GRANULARITY_MS;
}

/** `ttl − elapsed − drift`, elapsed counted from before the first send; zero or less means: not valid. */
export function validityLeftMs(ttlMs: number, elapsedMs: number, driftFactor: number): number {
  return ttlMs - elapsedMs - driftMs(ttlMs, driftFactor);
}
