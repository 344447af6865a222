import type { NodeKeys } from "../final-state.ts";
import type { Check, Violation } from "./check.ts";

/**
 * Nothing is left behind: when every client has closed, no key is; after one more ttl surely none. Before that there may be keys
 * of clients that were killed, and copies that a replica made.
 */
export const leftovers: Check = ({ reading, final, terms }) => {
  const { toMs } = reading;
  const later = violationsOf(final.keysLater, toMs, "after every ttl has passed");
  const closedMs = Math.max(0, ...reading.of("ended").map(({ atMs }) => atMs));
  const wasKilled = reading.of("gone").some(({ atMs }) => atMs > closedMs - terms.longestTtlMs);
  if (wasKilled || !terms.isInBounds || later.length > 0) return later;
  return violationsOf(final.keysAtEnd, toMs, "after every client had closed");
};

function violationsOf(left: readonly NodeKeys[], atMs: number, when: string): Violation[] {
  return left.flatMap(({ node, keys }) =>
    keys.map(({ resource, token }) => ({ atMs, who: node, message: `still has "${resource}" (${token}) ${when}` })),
  );
}
