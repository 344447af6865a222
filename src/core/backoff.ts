/**
 * How long to wait before the next attempt. Pure: the random number is an argument.
 *
 * Full jitter: a delay drawn uniformly between zero and an exponentially growing ceiling. It breaks up contenders that
 * split the votes, at the least total work (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 */

export interface Backoff {
  /** The ceiling of the first delay, in ms. */
  readonly minMs: number;
  /** What the ceiling never exceeds, in ms. */
  readonly maxMs: number;
}

/**
 * @param lostAttempts how many attempts were lost so far, 1 or more
 * @param random a number in [0, 1)
 */
export function backoffMs({ minMs, maxMs }: Backoff, lostAttempts: number, random: number): number {
  // 2 ** 1023 is the largest power a double holds: beyond, the ceiling would be Infinity × 0 = NaN for minMs 0.
  const ceilingMs = Math.min(maxMs, minMs * 2 ** Math.min(lostAttempts - 1, 1023));
  return random * ceilingMs;
}

/**
 * When so many of the denying nodes have lost their holder's key that, with those which granted, a quorum could form.
 *
 * @param holderTtlsMs the remaining time to live of the holder's key on each denying node
 * @param missing how many votes were missing
 * @returns undefined when it cannot be told
 */
export function freeInMs(holderTtlsMs: readonly number[], missing: number): number | undefined {
  const soonestFirst = [...holderTtlsMs].sort((a, b) => a - b);
  return soonestFirst[missing - 1];
}
