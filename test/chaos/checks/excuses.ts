import type { Hold } from "../holds.ts";
import type { Evidence } from "./check.ts";

/** Two holds of one resource: `earlier` was granted first. */
export interface Overlap {
  readonly resource: string;
  readonly earlier: Hold;
  readonly later: Hold;
}

/** All pairs whose holders counted on the same resource at the same time. */
export function overlapsIn({ reading: { holds } }: Evidence): Overlap[] {
  const active = new Map<string, Hold[]>();
  const overlaps: Overlap[] = [];
  for (const later of holds.toSorted((one, other) => one.granted.atMs - other.granted.atMs)) {
    const fromMs = later.granted.atMs;
    for (const resource of later.granted.resources) {
      const others = (active.get(resource) ?? []).filter(({ untilMs }) => untilMs > fromMs);
      if (later.untilMs > fromMs) overlaps.push(...others.map((earlier) => ({ resource, earlier, later })));
      active.set(resource, [...others, later]);
    }
  }
  return overlaps;
}

/**
 * Outside the stated bounds two may hold one resource, if a node lost the first one's key before the second was granted. The
 * nodes were asked for their keys when they lost them, so no other holder is excused, and none whose keys were elsewhere. (One
 * node is enough: it may be the only one that is in the quorums of both.) Within the bounds nothing is excused.
 */
export function isExcused({ reading, terms }: Evidence, { resource, earlier, later }: Overlap): boolean {
  if (terms.isInBounds) return false;
  const { token } = earlier.granted;
  return reading
    .of("wiped")
    .some(
      ({ atMs, keys }) =>
        atMs <= later.granted.atMs && keys.some((key) => key.resource === resource && key.token === token),
    );
}
