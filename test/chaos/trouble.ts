import type { Reading } from "./reading.ts";
import { type Span, union } from "./spans.ts";
import { quorumOf, type Terms } from "./terms.ts";

/** After the network stood still answers come at once. */
const ARRIVAL_MS = 500;

/** When there may have been no quorum for a client: too many nodes were struck, or it did not see them vote, or the network stood still. */
export function troubleOf(client: string, reading: Reading, terms: Terms): readonly Span[] {
  const views = reading.of("sees").filter(({ process }) => process === client);
  const strikes = reading.strikes.filter(({ nodes }) => nodes.length > 0);
  const end = reading.endOf(client);
  const moments = [...views.map(({ atMs }) => atMs), ...strikes.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]
    .filter((atMs) => atMs < end)
    .sort((one, other) => one - other);
  const spans: Span[] = reading.stallsOf("runner").map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + ARRIVAL_MS }));
  let view = 0;
  for (const [index, fromMs] of [reading.fromMs, ...moments].entries()) {
    const toMs = moments[index] ?? end;
    while ((views[view]?.atMs ?? Number.POSITIVE_INFINITY) <= fromMs) view += 1;
    const seen = new Set(views[view - 1]?.nodes);
    const struck = new Set(
      strikes.filter((strike) => strike.fromMs <= fromMs && strike.toMs >= toMs).flatMap(({ nodes }) => nodes),
    );
    const well = terms.nodes.filter((name, node) => seen.has(node) && !struck.has(name));
    if (well.length < quorumOf(terms)) spans.push({ fromMs, toMs });
  }
  return union(spans);
}
