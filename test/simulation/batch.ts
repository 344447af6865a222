import { Counts, type Occurred } from "./counts.ts";
import type { Wish } from "./plan.ts";
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
  /** The seed that failed. */
  readonly failedSeed: number | undefined;
}

/** Runs seeds until one fails, all have been run, or time is up. */
export function runBatch({ wish, seeds }: Batch, isOver: () => boolean = () => false): BatchResult {
  const counts = new Counts();
  let events = 0;
  for (let done = 0; done < seeds; done += 1) {
    if (isOver()) return { seeds: done, events, counts: counts.toJSON(), failedSeed: undefined };
    const seed = wish.seed + done;
    const result = run({ ...wish, seed });
    events += result.events;
    counts.addAll(result.counts);
    if (result.violation !== undefined) return { seeds: done + 1, events, counts: counts.toJSON(), failedSeed: seed };
  }
  return { seeds, events, counts: counts.toJSON(), failedSeed: undefined };
}
