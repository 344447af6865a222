import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * What happened in a run, as all that took part wrote it down, on one clock: Node's `hrtime` is CLOCK_MONOTONIC, which all
 * processes of a machine share.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export type Operation = "acquire" | "tryAcquire" | "using" | "extend" | "release" | "inspect" | "close";

/** A key that a node held: the resource, and its holder's token. */
export interface Key {
  readonly resource: string;
  readonly token: string;
}

type CallEvent =
  /** `limitMs`: by when it has to settle, as the documentation says, if the process runs. `waitMs`: of an acquire. */
  | {
      readonly is: "invoke";
      readonly call: number;
      readonly operation: Operation;
      readonly limitMs: number;
      readonly waitMs?: number;
      readonly resources?: readonly string[];
      readonly ttlMs?: number;
    }
  | { readonly is: "ok"; readonly call: number }
  | { readonly is: "failed"; readonly call: number; readonly code: string; readonly message?: string }
  /** It may have been carried out or not. A call without any end is as unknown: its process was killed. */
  | { readonly is: "unknown"; readonly call: number; readonly code: string };

type HoldEvent =
  | {
      readonly is: "granted";
      readonly call: number;
      readonly token: string;
      readonly resources: readonly string[];
      readonly ttlMs: number;
      readonly isAutoExtended: boolean;
      readonly validUntilMs: number;
    }
  /** The library says that it is held, now and until then: after an extension, by itself or by hand (`ttlMs`). */
  | { readonly is: "held"; readonly token: string; readonly validUntilMs: number; readonly ttlMs?: number }
  /** The library reports that the lock has ended. */
  | {
      readonly is: "lost";
      readonly token: string;
      readonly by: "signal" | "throwIfLost" | "extend" | "release";
      readonly code: string;
    }
  /** The holder counts on it no more: written before it releases. */
  | { readonly is: "left"; readonly token: string };

type ResourceEvent =
  /** Found the mark of somebody else on the resource. */
  | { readonly is: "met"; readonly token: string; readonly resource: string; readonly other: string }
  /** When the library was asked, right before the write, and said that the lock is held until then. */
  | {
      readonly is: "writing";
      readonly token: string;
      readonly resource: string;
      readonly value: number;
      readonly validUntilMs: number;
    }
  | { readonly is: "written"; readonly token: string; readonly resource: string; readonly value: number };

type ProcessEvent =
  | { readonly is: "started" }
  /** Its event loop stood still until now: stopped by a signal, or without a processor. */
  | { readonly is: "stalled"; readonly sinceMs: number }
  /** The nodes that it sees vote have changed: their numbers, from 0. */
  | { readonly is: "sees"; readonly nodes: readonly number[] }
  /** All nodes are up again for long enough: how many of them vote, and how many releases still wait for one. */
  | { readonly is: "settled"; readonly ready: number; readonly kept: number }
  | { readonly is: "ended" }
  /** By the runner, of another process. */
  | { readonly is: "gone"; readonly who: string; readonly why: "killed" | "crashed"; readonly message?: string };

export type Phase = "inject" | "injected" | "heal" | "healed";

type FaultEvent =
  | {
      readonly is: "strike";
      readonly strike: number;
      readonly fault: string;
      readonly phase: Phase;
      readonly nodes: readonly string[];
      readonly clients: readonly string[];
    }
  /** A node lost these keys, at this moment at the earliest; at the latest when the strike was injected, if it is certain. */
  | {
      readonly is: "wiped";
      readonly strike: number;
      readonly node: string;
      readonly keys: readonly Key[];
      readonly isCertain: boolean;
    };

type Body = CallEvent | HoldEvent | ResourceEvent | ProcessEvent | FaultEvent;
export type HistoryEvent = Body & { readonly atMs: number; readonly process: string };
export type EventOf<Kind extends Body["is"]> = Extract<HistoryEvent, { is: Kind }>;

/** What one process writes down. Each line is with the kernel before the process goes on, so SIGKILL loses none. */
export class Journal {
  readonly process: string;
  readonly #file: number;

  constructor(folder: string, process: string) {
    this.process = process;
    this.#file = openSync(join(folder, `${process}.jsonl`), "a");
  }

  write(body: Body, atMs = nowMs()): void {
    writeSync(this.#file, `${JSON.stringify({ atMs, process: this.process, ...body })}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Everybody's lines in the order of time. */
export function readHistory(folder: string): HistoryEvent[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as HistoryEvent)
    .sort((one, other) => one.atMs - other.atMs);
}
