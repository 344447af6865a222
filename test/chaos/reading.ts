import { groupBy } from "./group-by.ts";
import type { EventOf, HistoryEvent, Operation } from "./history.ts";
import { type Hold, holdsIn } from "./holds.ts";
import { coveredMs, type Span, union } from "./spans.ts";

type Outcome = EventOf<"ok"> | EventOf<"failed"> | EventOf<"unknown">;

/** A call and what came of it; nothing if it was not seen to settle. */
export interface Call {
  readonly invoke: EventOf<"invoke">;
  readonly outcome: Outcome | undefined;
}

/** A fault, from the moment it may have begun until the moment it has surely ended. */
export interface StrikeSpan extends Span {
  readonly number: number;
  readonly fault: string;
  readonly nodes: readonly string[];
  readonly clients: readonly string[];
  /** From when on it was surely in force. */
  readonly injectedMs: number;
  /** Until when it was surely in force. */
  readonly healMs: number;
}

/** A history, put in order for those who judge or show it. */
export class Reading {
  readonly history: readonly HistoryEvent[];
  readonly calls: readonly Call[];
  readonly holds: readonly Hold[];
  readonly strikes: readonly StrikeSpan[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly #byKind: ReadonlyMap<HistoryEvent["is"], readonly HistoryEvent[]>;
  readonly #stalls: ReadonlyMap<string, readonly Span[]>;
  readonly #gone: ReadonlyMap<string, EventOf<"gone">>;

  constructor(history: readonly HistoryEvent[]) {
    this.history = history;
    this.#byKind = groupBy(history, ({ is }) => is);
    this.calls = callsIn(history);
    this.holds = holdsIn(history);
    this.strikes = strikesIn(history);
    this.fromMs = history[0]?.atMs ?? 0;
    this.toMs = history.at(-1)?.atMs ?? 0;
    this.#gone = new Map(this.of("gone").map((event) => [event.who, event]));
    const stalls = [...groupBy(this.of("stalled"), (event) => event.process)];
    this.#stalls = new Map(
      stalls.map(([process, events]) => [
        process,
        union(events.map(({ sinceMs, atMs }) => ({ fromMs: sinceMs, toMs: atMs }))),
      ]),
    );
  }

  of<Kind extends HistoryEvent["is"]>(kind: Kind): readonly EventOf<Kind>[] {
    return (this.#byKind.get(kind) ?? []) as readonly HistoryEvent[] as readonly EventOf<Kind>[];
  }

  /** The end of a process that did not end by itself. */
  goneOf(process: string): EventOf<"gone"> | undefined {
    return this.#gone.get(process);
  }

  /** When the process ended, in whatever way. */
  endOf(process: string): number {
    const ended = this.of("ended").find((event) => event.process === process);
    return this.goneOf(process)?.atMs ?? ended?.atMs ?? this.toMs;
  }

  /** When the process did not run, by its own account. */
  stallsOf(process: string): readonly Span[] {
    return this.#stalls.get(process) ?? [];
  }

  /** How much of a time the process ran: nobody can be in time while it does not. */
  ranMs(process: string, fromMs: number, toMs: number): number {
    return toMs - fromMs - coveredMs(this.stallsOf(process), fromMs, toMs);
  }
}

export function isAcquire(operation: Operation): boolean {
  return operation === "acquire" || operation === "tryAcquire" || operation === "using";
}

function callsIn(history: readonly HistoryEvent[]): Call[] {
  const calls = new Map<string, Call>();
  for (const event of history) {
    if (event.is === "invoke") calls.set(`${event.process} ${event.call}`, { invoke: event, outcome: undefined });
    if (event.is !== "ok" && event.is !== "failed" && event.is !== "unknown") continue;
    const key = `${event.process} ${event.call}`;
    const call = calls.get(key);
    if (call !== undefined) calls.set(key, { ...call, outcome: event });
  }
  return [...calls.values()];
}

function strikesIn(history: readonly HistoryEvent[]): StrikeSpan[] {
  const endMs = history.at(-1)?.atMs ?? 0;
  const events = history.filter((event) => event.is === "strike");
  return [...groupBy(events, ({ strike }) => strike)].map(([number, phases]) => {
    const [{ fault, nodes, clients, atMs }] = phases as [EventOf<"strike">];
    const at = (wanted: EventOf<"strike">["phase"], otherwise: number) =>
      phases.find(({ phase }) => phase === wanted)?.atMs ?? otherwise;
    const toMs = at("healed", endMs);
    return {
      ...{ number, fault, nodes, clients, toMs },
      fromMs: atMs,
      injectedMs: at("injected", toMs),
      healMs: at("heal", toMs),
    };
  });
}
