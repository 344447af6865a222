import { Counts, type Occurred } from "./counts.ts";
import type { Wish } from "./plan.ts";
import type { Violation } from "./referee.ts";
import { run } from "./run.ts";

/** Some seeds, one after the other, as they are handed to a worker. */
export interface Batch {
  /** That of the first run; the seed counts up. */
  readonly wish: Wish;
  readonly seeds: number;
}

export interface BatchResult {
  /** How many were run: fewer than asked for when one failed. */
  readonly seeds: number;
  readonly events: number;
  readonly counts: Partial<Record<Occurred, number>>;
  readonly failure: Failure | undefined;
}

/** A seed that failed, and how. */
export interface Failure {
  readonly seed: number;
  readonly violation: Violation;
}

/** Runs seeds until one fails, all have been run, or time is up. */
export function runBatch({ wish, seeds }: Batch, isOver: () => boolean = () => false): BatchResult {
  const counts = new Counts();
  let events = 0;
  for (let done = 0; done < seeds; done += 1) {
    if (isOver()) return { seeds: done, events, counts: counts.toJSON(), failure: undefined };
    const seed = wish.seed + done;
    const result = run({ ...wish, seed });
    events += result.events;
    counts.addAll(result.counts);
    const { violation } = result;
    if (violation === undefined) continue;
    return { seeds: done + 1, events, counts: counts.toJSON(), failure: { seed, violation } };
  }
  return { seeds, events, counts: counts.toJSON(), failure: undefined };
}
