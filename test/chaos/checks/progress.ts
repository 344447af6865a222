import { isAcquire, type Reading } from "../reading.ts";
import { coveredMs, type Span, touches } from "../spans.ts";
import type { Terms } from "../terms.ts";
import { troubleOf } from "../trouble.ts";
import type { Check, Evidence, Violation } from "./check.ts";

/** A client connects at the latest a second after its last try, asks the server what it is, and asks an unfit one again twice a second. */
const RECOVERY_MS = 2_500;
/** Shorter waits can fall into the moment in which a client finds out about a fault. */
const JUDGED_WAIT_MS = 1_000;
const PACE_MS = 2_000;

/** While a quorum is well nobody hears that there is none. */
export const needlessFailures: Check = ({ reading, terms }) => {
  const trouble = troubles(reading, terms);
  return reading.calls.flatMap(({ invoke, outcome }): Violation[] => {
    const { process, operation, waitMs = 0 } = invoke;
    if (outcome?.is !== "failed" || outcome.code !== "ERR_QUORUM_UNREACHABLE") return [];
    if (!isAcquire(operation) || waitMs < JUDGED_WAIT_MS) return [];
    if (touches([...trouble(process), ...reading.stallsOf(process)], invoke.atMs, outcome.atMs)) return [];
    const message = `${operation} failed although a quorum was well: ${outcome.message}`;
    return [{ atMs: outcome.atMs, who: process, message }];
  });
};

/** While a quorum is well locks are granted. A client that is killed or paused as a holder can keep others waiting for one ttl. */
export const progress: Check = ({ reading, terms }) => {
  const trouble = troubles(reading, terms);
  const limitMs = terms.longestTtlMs + PACE_MS;
  const grants = reading.holds.map(({ granted }) => granted.atMs).sort((one, other) => one - other);
  const stops = reading.strikes.filter(({ clients }) => clients.length > 0);
  return reading.of("started").flatMap(({ process, atMs }): Violation[] => {
    const wishes = reading.calls.filter(({ invoke }) => invoke.process === process && isAcquire(invoke.operation));
    const untilMs = Math.max(...wishes.map(({ invoke }) => invoke.atMs));
    const own = [...trouble(process), ...stops];
    const moments = [atMs, untilMs, ...grants, ...own.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]
      .filter((moment) => moment >= atMs && moment <= untilMs)
      .sort((one, other) => one - other);
    return moments.flatMap((moment, index): Violation[] => {
      const nextMs = moments[index + 1] ?? moment;
      if (reading.ranMs(process, moment, nextMs) <= limitMs || touches(own, moment + 1, nextMs - 1)) return [];
      const message = `saw nobody get a lock for ${Math.round(nextMs - moment)} ms`;
      return [{ atMs: nextMs, who: process, message }];
    });
  });
};

/** A node that is well again votes again, soon, for every client that runs. */
export const recovery: Check = ({ reading, terms }) => {
  const clients = reading.of("started");
  return reading.strikes.flatMap(({ number, nodes, toMs }): Violation[] => {
    const limitMs = toMs + RECOVERY_MS;
    if (touches(reading.stallsOf("runner"), toMs, limitMs)) return [];
    return nodes.flatMap((node) => {
      const others = reading.strikes.filter((strike) => strike.number !== number && strike.nodes.includes(node));
      if (touches(others, toMs, limitMs)) return [];
      return clients
        .filter(({ process, atMs }) => atMs < toMs && reading.endOf(process) > limitMs)
        .filter(({ process }) => !touches(reading.stallsOf(process), toMs, limitMs))
        .filter(({ process }) => !seesWithin(reading, process, terms.nodes.indexOf(node), toMs, limitMs))
        .map(({ process }) => ({ atMs: limitMs, who: process, message: `does not see ${node} vote again` }));
    });
  });
};

function seesWithin(reading: Reading, client: string, node: number, fromMs: number, toMs: number): boolean {
  const views = reading.of("sees").filter(({ process, atMs }) => process === client && atMs <= toMs);
  const first = views.findLastIndex(({ atMs }) => atMs <= fromMs);
  return views.slice(Math.max(0, first)).some(({ nodes }) => nodes.includes(node));
}

/** How much of the clients' time the first two checks had something to say about. */
export function calmTime({ reading, terms }: Evidence): { readonly allMs: number; readonly calmMs: number } {
  let [allMs, calmMs] = [0, 0];
  for (const { process, atMs } of reading.of("started")) {
    const endMs = reading.endOf(process);
    allMs += endMs - atMs;
    calmMs += endMs - atMs - coveredMs(troubleOf(process, reading, terms), atMs, endMs);
  }
  return { allMs, calmMs };
}

/** Each client's, found out once. */
function troubles(reading: Reading, terms: Terms): (client: string) => readonly Span[] {
  const known = new Map<string, readonly Span[]>();
  return (client) => {
    const spans = known.get(client) ?? troubleOf(client, reading, terms);
    known.set(client, spans);
    return spans;
  };
}
