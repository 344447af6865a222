import type { FinalState } from "../final-state.ts";
import type { Reading } from "../reading.ts";
import type { Terms } from "../terms.ts";

export interface Violation {
  readonly atMs: number;
  /** Whose it is: a client, a node, or a resource. */
  readonly who: string;
  readonly message: string;
}

/** What was seen of a run. */
export interface Evidence {
  readonly reading: Reading;
  readonly final: FinalState;
  readonly terms: Terms;
}

/** One promise of the library. A pure function: whoever made the evidence has no say in it. */
export type Check = (evidence: Evidence) => Violation[];

/**
 * What a process that runs may be late by: stalls below the size that is written down, timers, and the writing of the history. The
 * times in which a process stood still are known, and are taken off.
 */
export const SLACK_MS = 300;
