import type { Finding } from "../checker.ts";
import { lateWritesIn } from "../checks/counting.ts";
import { isExcused, overlapsIn } from "../checks/excuses.ts";
import { lostHoldsIn } from "../checks/loss.ts";
import { calmTime } from "../checks/progress.ts";
import type { Operation } from "../history.ts";
import { isAcquire, Reading } from "../reading.ts";
import type { Run } from "../scenario.ts";

export type Outcomes = Record<"ok" | "failed" | "unknown", number> & { longestMs: number };

/** What several rounds add up to. */
export class Tally {
  readonly operations = new Map<Operation, Outcomes>();
  readonly codes = new Map<string, number>();
  readonly faults = new Map<string, number>();
  readonly losses = new Map<string, number>();
  rounds = 0;
  seconds = 0;
  handOvers = 0;
  increments = 0;
  longestWaitMs = 0;
  #clientMs = 0;
  #calmMs = 0;
  quorumsLost = 0;
  overlapsExcused = 0;
  lateWrites = 0;
  longestStallMs = 0;
  keysLeft = 0;
  violations = 0;

  /** Of the clients' time: when they had nothing to excuse them. */
  get calmShare(): number {
    return this.#calmMs / this.#clientMs;
  }

  add(run: Run, findings: readonly Finding[]): void {
    const reading = new Reading(run.history);
    const evidence = { reading, final: run.final, terms: run.terms };
    this.rounds += 1;
    this.seconds += (reading.toMs - reading.fromMs) / 1_000;
    const time = calmTime(evidence);
    this.#clientMs += time.allMs;
    this.#calmMs += time.calmMs;
    this.#addCalls(reading);
    for (const { fault, nodes, clients } of reading.strikes) count(this.faults, fault, nodes.length + clients.length);
    for (const { losses } of reading.holds)
      for (const by of new Set(losses.map((loss) => loss.by))) count(this.losses, by);
    this.handOvers += reading.holds.length;
    this.increments += reading.of("written").length;
    this.quorumsLost += lostHoldsIn(evidence).length;
    this.overlapsExcused += overlapsIn(evidence).filter((overlap) => isExcused(evidence, overlap)).length;
    this.lateWrites += lateWritesIn(evidence);
    const stalls = reading.of("stalled").map(({ atMs, sinceMs }) => atMs - sinceMs);
    this.longestStallMs = Math.max(this.longestStallMs, ...stalls);
    this.keysLeft += run.final.keysLater.reduce((sum, { keys }) => sum + keys.length, 0);
    this.violations += findings.length;
  }

  #addCalls(reading: Reading): void {
    for (const { invoke, outcome } of reading.calls) {
      const { operation, process, atMs } = invoke;
      const outcomes = this.operations.get(operation) ?? { ok: 0, failed: 0, unknown: 0, longestMs: 0 };
      this.operations.set(operation, outcomes);
      outcomes[outcome?.is ?? "unknown"] += 1;
      if (outcome === undefined) continue;
      if (outcome.is !== "ok") count(this.codes, outcome.code);
      const tookMs = reading.ranMs(process, atMs, outcome.atMs);
      outcomes.longestMs = Math.max(outcomes.longestMs, tookMs);
      if (isAcquire(operation) && outcome.is === "ok") this.longestWaitMs = Math.max(this.longestWaitMs, tookMs);
    }
  }
}

function count(counts: Map<string, number>, key: string, times = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + times);
}
