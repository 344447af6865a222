import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Batch, BatchResult, Failure } from "./batch.ts";
import { bundleWorker } from "./bundle.ts";
import { Counts } from "./counts.ts";
import type { Edit } from "./mutations.ts";
import type { SimulateOptions } from "./options.ts";

/** Small enough that the progress is seen, large enough that handing it over costs nothing. */
const BATCH_SEEDS = 100;
/** A run lives on little, and leaves much behind: with more room for it the collector has less to move. */
const WORKER_FLAGS = ["--max-semi-space-size=64"];

export interface CampaignOptions extends Pick<SimulateOptions, "seeds" | "workers" | "wish"> {
  /** Made to the library before it is run. */
  readonly edits?: readonly Edit[];
}

export interface Progress {
  readonly seeds: number;
  readonly events: number;
  readonly seconds: number;
}

/** Many runs, on several cores: seeds are handed out in order, so the smallest one that fails is the one that is found. */
export class Campaign {
  readonly counts = new Counts();
  readonly #options: CampaignOptions;
  readonly #onProgress: (progress: Progress) => void;
  readonly #startMs = performance.now();
  #handedOut = 0;
  #done = 0;
  #events = 0;
  #failure: Failure | undefined;

  constructor(options: CampaignOptions, onProgress: (progress: Progress) => void = () => {}) {
    this.#options = options;
    this.#onProgress = onProgress;
  }

  get progress(): Progress {
    return { seeds: this.#done, events: this.#events, seconds: (performance.now() - this.#startMs) / 1_000 };
  }

  /** @returns the failure of the smallest seed that failed, if any */
  async run(): Promise<Failure | undefined> {
    await using bundle = await bundleWorker(this.#options.edits ?? []);
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#work(bundle.program)));
    return this.#failure;
  }

  async #work(program: URL): Promise<void> {
    const worker = fork(program, { execArgv: WORKER_FLAGS });
    const exit = once(worker, "exit");
    try {
      for (let batch = this.#next(); batch !== undefined; batch = this.#next()) {
        this.#add(await answerOf(worker, exit, batch));
      }
    } finally {
      worker.kill();
    }
  }

  #next(): Batch | undefined {
    const left = this.#options.seeds - this.#handedOut;
    if (left <= 0 || this.#failure !== undefined) return undefined;
    const { wish } = this.#options;
    const seeds = Math.min(BATCH_SEEDS, left);
    const batch = { wish: { ...wish, seed: wish.seed + this.#handedOut }, seeds };
    this.#handedOut += seeds;
    return batch;
  }

  #add({ seeds, events, counts, failure }: BatchResult): void {
    this.#done += seeds;
    this.#events += events;
    this.counts.addAll(counts);
    if (failure !== undefined && failure.seed < (this.#failure?.seed ?? Number.POSITIVE_INFINITY))
      this.#failure = failure;
    this.#onProgress(this.progress);
  }
}

async function answerOf(worker: ChildProcess, exit: Promise<unknown>, batch: Batch): Promise<BatchResult> {
  worker.send(batch);
  const answer = await Promise.race([once(worker, "message"), exit.then(() => undefined)]);
  if (answer === undefined) {
    throw new Error(`a worker ended by itself among the ${batch.seeds} seeds from 0x${batch.wish.seed.toString(16)}`);
  }
  return answer[0];
}
