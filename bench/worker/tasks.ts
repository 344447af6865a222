/** What a worker can be asked for: input and output of each task, as they travel between the processes. */
export interface Tasks {
  open: [{ library: string; build: string; urls: readonly string[] }, undefined];
  cycle: [CycleInput, CycleReport];
  first: [{ limitMs: number }, FirstReport];
  roundTrip: [{ times: number }, { medianMs: number }];
  keep: [KeepInput, KeepReport];
  watch: [{ ms: number }, { cpuShare: number; held: number }];
  letGo: [{ limitMs: number }, undefined];
}

export interface CycleInput {
  /** Each with a resource of its own, one cycle after another. */
  readonly callers: number;
  readonly ms: number;
  /** How long after `ms` a call may take. */
  readonly limitMs: number;
  /** Where the profile of it goes. */
  readonly profile?: string;
}

export interface CycleReport {
  readonly cycles: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
  readonly failures: number;
  /** Of the first failure. */
  readonly failure?: string;
  /** Callers whose call had not settled at the limit. */
  readonly hung: number;
}

/** How one call ended, with its time; without an outcome it had none within the limit. */
export interface FirstReport {
  readonly tookMs: number;
  readonly outcome?: "granted" | "failed";
}

export interface KeepInput {
  readonly count: number;
  readonly ttlMs: number;
  /** How long acquiring them all may take. */
  readonly limitMs: number;
}

export interface KeepReport {
  readonly acquired: number;
  readonly tookMs: number;
  readonly heapBytesPerLock: number;
  /** Of the first failure. */
  readonly failure?: string;
}

/** What a parent sends, and gets back. */
export interface Question {
  readonly id: number;
  readonly task: keyof Tasks;
  readonly input: unknown;
}

export interface Answer {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: string;
}

/** Long enough that no lock of a cycle runs out in a slow run. */
export const CYCLE_TTL_MS = 30_000;

export const resourceName = (index: number) => `bench:${index}`;
