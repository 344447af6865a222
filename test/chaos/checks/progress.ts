import { isAcquire, type Reading } from "../reading.ts";
import { coveredMs, type Span, touches, union } from "../spans.ts";
import { quorumOf, type Terms } from "../terms.ts";
import type { Check, Evidence, Violation } from "./check.ts";

/** By then every client has a node again that is well: it connects at the latest a second after its last try, and asks what it is. */
const RECOVERY_MS = 2_500;
/** After the network stood still answers come at once. */
const ARRIVAL_MS = 500;
/** Shorter waits can fall into a node's way back entirely. */
const JUDGED_WAIT_MS = 1_000;
const PACE_MS = 2_000;

/** While a quorum is well nobody hears that there is none. */
export const needlessFailures: Check = ({ reading, terms }) => {
  const trouble = troubleIn(reading, terms);
  return reading.calls.flatMap(({ invoke, outcome }): Violation[] => {
    const { process, operation, waitMs = 0 } = invoke;
    if (outcome?.is !== "failed" || outcome.code !== "ERR_QUORUM_UNREACHABLE") return [];
    if (!isAcquire(operation) || waitMs < JUDGED_WAIT_MS) return [];
    if (touches(trouble, invoke.atMs, outcome.atMs)) return [];
    if (touches(reading.stallsOf(process), invoke.atMs - ARRIVAL_MS, outcome.atMs)) return [];
    const message = `${operation} failed although a quorum was well: ${outcome.message}`;
    return [{ atMs: outcome.atMs, who: process, message }];
  });
};

/** While a quorum is well locks are granted. A client that is killed or paused as a holder can keep others waiting for one ttl. */
export const progress: Check = ({ reading, terms }) => {
  const grants = reading.holds.map(({ granted }) => granted.atMs);
  const wishes = reading.calls.filter(({ invoke }) => isAcquire(invoke.operation)).map(({ invoke }) => invoke.atMs);
  const stops = reading.strikes.filter(({ clients }) => clients.length > 0);
  const trouble = [...troubleIn(reading, terms), ...stops];
  const span = { fromMs: Math.min(...grants), toMs: Math.max(...wishes) };
  const moments = [...grants, span.toMs, ...trouble.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]
    .filter((atMs) => atMs >= span.fromMs && atMs <= span.toMs)
    .sort((one, other) => one - other);
  const clients = [...new Set(reading.of("started").map(({ process }) => process))];
  return moments.flatMap((atMs, index): Violation[] => {
    const nextMs = moments[index + 1] ?? atMs;
    const ranMs = Math.max(...clients.map((client) => reading.ranMs(client, atMs, nextMs)));
    if (ranMs <= terms.longestTtlMs + PACE_MS || touches(trouble, atMs + 1, nextMs - 1)) return [];
    return [{ atMs: nextMs, who: "runner", message: `no lock was granted for ${Math.round(nextMs - atMs)} ms` }];
  });
};

/** How long the two checks above had something to say. */
export function calmMs({ reading, terms }: Evidence): number {
  return reading.toMs - reading.fromMs - coveredMs(troubleIn(reading, terms), reading.fromMs, reading.toMs);
}

/** When there may have been no quorum: too many nodes struck, or on their way back, or the network stood still. */
function troubleIn(reading: Reading, terms: Terms): Span[] {
  const strikes = reading.strikes
    .filter(({ nodes }) => nodes.length > 0)
    .map((strike) => ({ ...strike, toMs: strike.toMs + RECOVERY_MS }));
  const moments = strikes.flatMap(({ fromMs, toMs }) => [fromMs, toMs]).toSorted((one, other) => one - other);
  const spans: Span[] = reading.stallsOf("runner").map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + ARRIVAL_MS }));
  for (const [index, fromMs] of moments.entries()) {
    const toMs = moments[index + 1] ?? fromMs;
    const struck = new Set(
      strikes.filter((strike) => strike.fromMs <= fromMs && strike.toMs >= toMs).flatMap(({ nodes }) => nodes),
    );
    if (terms.nodes.length - struck.size < quorumOf(terms)) spans.push({ fromMs, toMs });
  }
  return union(spans);
}
