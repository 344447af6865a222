import type { Turn } from "./turn.ts";

/** A stretch of time, by the shared clock. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Quantiles {
  readonly medianMs: number;
  readonly p95Ms: number;
}

export interface Statistics {
  readonly increments: number;
  readonly failures: readonly FailureGroup[];
  /** Acquire and release of a resource that nobody else wants; undefined when there was none. */
  readonly own: Quantiles | undefined;
  /** The same of the resource that all workers want: mostly waiting for the others. */
  readonly shared: Quantiles | undefined;
}

/** Failed turns with the same code. */
interface FailureGroup {
  readonly code: string;
  readonly count: number;
  /** The message of the first of them. */
  readonly example: string;
}

/**
 * The turns that lie in one of the spans as a whole, and the rest: those during which something changed. Only of the former
 * is it clear what should come of them.
 */
export function divide(turns: readonly Turn[], spans: readonly Span[]): { inSpan: Turn[][]; between: Turn[] } {
  const inSpan: Turn[][] = spans.map(() => []);
  const between: Turn[] = [];
  for (const turn of turns) {
    const index = spans.findIndex(({ fromMs, toMs }) => turn.startedAtMs >= fromMs && turn.endedAtMs <= toMs);
    (inSpan[index] ?? between).push(turn);
  }
  return { inSpan, between };
}

export function statisticsOf(turns: readonly Turn[]): Statistics {
  return {
    increments: turns.filter(({ incremented }) => incremented).length,
    failures: groupFailures(turns),
    own: quantilesOf(turns, "own"),
    shared: quantilesOf(turns, "shared"),
  };
}

function groupFailures(turns: readonly Turn[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { failure } of turns) {
    if (failure === undefined) continue;
    const { count, example } = groups.get(failure.code) ?? { count: 0, example: failure.message };
    groups.set(failure.code, { code: failure.code, count: count + 1, example });
  }
  return [...groups.values()];
}

function quantilesOf(turns: readonly Turn[], resource: Turn["resource"]): Quantiles | undefined {
  const sorted = turns
    .flatMap((turn) => (turn.resource === resource && turn.lockMs !== undefined ? [turn.lockMs] : []))
    .sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1];
  const medianMs = at(0.5);
  const p95Ms = at(0.95);
  return medianMs === undefined || p95Ms === undefined ? undefined : { medianMs, p95Ms };
}
