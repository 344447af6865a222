import { driftMs } from "../../src/core/validity.ts";
import { DEFAULTS } from "../../src/options.ts";

/** What the checker has to know of a run besides its history. */
export interface Terms {
  readonly nodes: readonly string[];
  readonly longestTtlMs: number;
  /**
   * Whether all faults stayed within the stated bounds. Outside them keys were taken from under their holders: that is excused,
   * and has to be reported.
   */
  readonly isInBounds: boolean;
}

export const NODE_TIMEOUT_MS = DEFAULTS.nodeTimeoutMs;

/** How long one round may listen, as docs/api.md says. */
export function roundMs(ttlMs: number): number {
  return Math.min(NODE_TIMEOUT_MS, ttlMs / 4);
}

/** The longest validity that a grant or an extension can have. */
export function longestValidityMs(ttlMs: number): number {
  return ttlMs - driftMs(ttlMs, DEFAULTS.driftFactor);
}

export function quorumOf({ nodes }: Terms): number {
  return Math.floor(nodes.length / 2) + 1;
}
