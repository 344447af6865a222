/**
 * Counting votes: the one place where a round is decided.
 *
 * A vote has three values, and the third matters: `unknown` (no trustworthy answer) is neither a grant nor a denial.
 * Pure: nothing is imported, nothing is remembered.
 */

/** What one node said, as far as counting goes; `undefined` while it has said nothing yet. */
export type Ballot = "granted" | "denied" | "unknown" | undefined;

export interface Tally {
  granted: number;
  denied: number;
  unknown: number;
  pending: number;
}

/**
 * - `undecided`: an answer that is still to come can change the outcome.
 * - `won`: a quorum granted, and there is validity left.
 * - `expired`: a quorum granted, but so late that nothing is left of the validity.
 * - `refused`: so many nodes denied that no answer of the others could make a quorum.
 * - `contended`: not won, though as many nodes answered as a quorum needs: the denials made the difference.
 * - `unreachable`: not won, because fewer nodes than a quorum gave a trustworthy answer.
 */
export type Verdict = "undecided" | "won" | "expired" | "refused" | "contended" | "unreachable";

/** ⌊N/2⌋ + 1 of the *configured* nodes, so that any two quorums share a node. */
export function quorumOf(nodeCount: number): number {
  return Math.floor(nodeCount / 2) + 1;
}

export function tally(ballots: Iterable<Ballot>): Tally {
  const count: Tally = { granted: 0, denied: 0, unknown: 0, pending: 0 };
  for (const ballot of ballots) count[ballot ?? "pending"] += 1;
  return count;
}

/**
 * The verdict on a round. It is final: further answers may complete the tally, they never contradict the verdict (except
 * that `contended` may harden into `refused`).
 *
 * A round is lost as soon as `granted + pending < quorum`. Waiting for "denied ≥ quorum" instead would hang on an even
 * split. Why it was lost is told only when that is certain too: with a minority silent, the answers of the others settle it.
 *
 * @param validityLeftMs what is left of the validity at this moment; `Infinity` where nothing expires
 */
export function verdictOn(count: Tally, quorum: number, validityLeftMs: number): Verdict {
  const { granted, denied, unknown, pending } = count;
  if (granted >= quorum) return validityLeftMs > 0 ? "won" : "expired";
  if (granted + pending >= quorum) return "undecided";
  if (granted + unknown + pending < quorum) return "refused";
  if (granted + denied >= quorum) return "contended";
  // With an even number of nodes those that are still to come could yet refuse: two nodes, one silent, the other denies.
  if (granted + denied + pending < quorum && granted + unknown >= quorum) return "unreachable";
  return "undecided";
}
