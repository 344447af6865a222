import { groupBy } from "../group-by.ts";
import type { Hold } from "../holds.ts";
import { touches } from "../spans.ts";
import { quorumOf, roundMs } from "../terms.ts";
import { type Check, type Evidence, SLACK_MS, type Violation } from "./check.ts";

/** A lock's signal aborts by the end of its validity, and never later than anything else that tells of the loss. */
export const signals: Check = ({ reading }) =>
  reading.holds.flatMap((hold): Violation[] => {
    const { process, resources } = hold.granted;
    const validUntilMs = Math.max(...hold.looks.map((look) => look.validUntilMs));
    const signal = hold.losses.find(({ by }) => by === "signal");
    const other = hold.losses.find(({ by }) => by === "throwIfLost" || by === "extend");
    const name = resources.join(", ");
    if (signal === undefined && other !== undefined && hold.left !== undefined) {
      return [{ atMs: other.atMs, who: process, message: `the signal of "${name}" never aborted` }];
    }
    const endMs = signal?.atMs ?? hold.left?.atMs ?? reading.goneOf(process)?.atMs ?? reading.toMs;
    const lateMs = reading.ranMs(process, validUntilMs, Math.max(validUntilMs, endMs));
    if (lateMs <= SLACK_MS) return [];
    const message = `${Math.round(lateMs)} ms after its validity "${name}" was not reported lost`;
    return [{ atMs: endMs, who: process, message }];
  });

/**
 * Where keys were taken from under a holder, so that those it has left make no quorum, it hears of it: at the latest with the end
 * of its validity (that is `signals`), and a lock that extends itself with its next extension, if the nodes that lost the
 * keys can answer it.
 */
export const reports: Check = (evidence) => {
  const { reading } = evidence;
  return lostHoldsIn(evidence).flatMap(({ hold, strike, nodes }): Violation[] => {
    const { process, ttlMs, isAutoExtended, resources } = hold.granted;
    if (!isAutoExtended) return [];
    const limitMs = ttlMs / 3 + 2 * roundMs(ttlMs) + SLACK_MS;
    const endMs = Math.min(...[...hold.losses, ...[hold.left ?? []].flat()].map(({ atMs }) => atMs), reading.toMs);
    const lateMs = reading.ranMs(process, strike.toMs, Math.max(strike.toMs, endMs)) - limitMs;
    if (lateMs <= 0 || reading.goneOf(process) !== undefined) return [];
    const others = reading.strikes.filter(
      (other) => other.number !== strike.number && other.nodes.some((node) => nodes.includes(node)),
    );
    const silence = [...others, ...reading.stallsOf("runner")];
    if (touches(silence, strike.fromMs - SLACK_MS, endMs)) return [];
    const message = `lost "${resources.join(", ")}" and heard of it ${Math.round(lateMs)} ms late`;
    return [{ atMs: endMs, who: process, message }];
  });
};

interface LostHold {
  readonly hold: Hold;
  readonly strike: Evidence["reading"]["strikes"][number];
  /** Those that lost its keys. */
  readonly nodes: readonly string[];
}

/** Holds that lost their quorum for certain, all at once. */
export function lostHoldsIn({ reading, terms }: Evidence): LostHold[] {
  const holds = new Map(reading.holds.map((hold) => [hold.granted.token, hold]));
  const wipes = groupBy(
    reading.of("wiped").filter(({ isCertain }) => isCertain),
    ({ strike }) => strike,
  );
  return reading.strikes.flatMap((strike) => {
    const nodesOf = new Map<string, Set<string>>();
    for (const { node, keys } of wipes.get(strike.number) ?? []) {
      for (const { token } of keys) nodesOf.set(token, (nodesOf.get(token) ?? new Set()).add(node));
    }
    return [...nodesOf].flatMap(([token, nodes]) => {
      const hold = holds.get(token);
      const isLost = terms.nodes.length - nodes.size < quorumOf(terms);
      const wasHeld = hold !== undefined && hold.untilMs > strike.injectedMs;
      return isLost && wasHeld ? [{ hold, strike, nodes: [...nodes] }] : [];
    });
  });
}
