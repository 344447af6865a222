export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Without overlaps, in the order of time. */
export function union(spans: readonly Span[]): Span[] {
  const merged: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = merged.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else merged.push({ fromMs, toMs });
  }
  return merged;
}

/** How much of a time they cover; they do not overlap each other. */
export function coveredMs(spans: readonly Span[], fromMs: number, toMs: number): number {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs)), 0);
}

export function touches(spans: readonly Span[], fromMs: number, toMs: number): boolean {
  return spans.some((span) => span.fromMs <= toMs && span.toMs >= fromMs);
}
