import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execaNode } from "execa";

/** What a worker tells its parent. */
export type Report =
  | { readonly kind: "incremented" }
  /** Somebody else was there at the same time. */
  | { readonly kind: "overlap" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  /** How many nodes vote, as this worker sees it. */
  | { readonly kind: "ready"; readonly nodes: number };

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
/** Limits, not waits. */
const LIMIT_MS = 20_000;

function startWorker(folder: string, urls: readonly string[]) {
  return execaNode(WORKER, [folder, ...urls], { nodeOptions: ["--import", "tsx"], ipc: true, reject: false });
}

interface Worker {
  readonly process: ReturnType<typeof startWorker>;
  increments: number;
  readyNodes: number;
}

/** Worker processes on one file, and what they have reported. */
export class Team implements AsyncDisposable {
  readonly failures: { code: string; message: string }[] = [];
  overlaps = 0;
  readonly #folder = mkdtempSync(join(tmpdir(), "redlock-chaos-"));
  readonly #workers: readonly Worker[];
  readonly #watchers = new Set<() => void>();
  #hasEnded = false;

  constructor(size: number, urls: readonly string[]) {
    writeFileSync(join(this.#folder, "count"), "0");
    this.#workers = Array.from({ length: size }, () => ({
      process: startWorker(this.#folder, urls),
      increments: 0,
      readyNodes: 0,
    }));
    for (const worker of this.#workers) worker.process.on("message", (report) => this.#hear(worker, report as Report));
  }

  /** How often the workers say that they incremented the number. */
  get increments(): number {
    return this.#workers.reduce((sum, { increments }) => sum + increments, 0);
  }

  /** What is in the file. */
  get count(): number {
    return Number(readFileSync(join(this.#folder, "count"), "utf8"));
  }

  /** Resolves when there are so many increments more, and one more by each worker. */
  async progress(increments: number): Promise<void> {
    const before = this.#workers.map((worker) => worker.increments);
    const target = this.increments + increments;
    await this.#until(
      () =>
        this.increments >= target && this.#workers.every((worker, index) => worker.increments > (before[index] ?? 0)),
      "the workers make no progress",
    );
  }

  /** Resolves when every worker sees so many nodes vote. */
  async sees(nodes: number): Promise<void> {
    await this.#until(
      () => this.#workers.every(({ readyNodes }) => readyNodes === nodes),
      `not all see ${nodes} nodes`,
    );
  }

  async failure(): Promise<void> {
    const { length } = this.failures;
    await this.#until(() => this.failures.length > length, "nothing fails");
  }

  /** Lets every worker end its turn, and waits until all are gone. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await Promise.all(
      this.#workers.map(async ({ process }) => {
        await process.sendMessage("stop").catch(() => {});
        const { exitCode, stderr } = await process;
        if (exitCode !== 0) throw new Error(`a worker ended with ${exitCode}: ${stderr}`);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.#workers) process.kill("SIGKILL");
    await Promise.all(this.#workers.map(({ process }) => process));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #hear(worker: Worker, report: Report): void {
    if (report.kind === "incremented") worker.increments += 1;
    else if (report.kind === "ready") worker.readyNodes = report.nodes;
    else if (report.kind === "overlap") this.overlaps += 1;
    else this.failures.push(report);
    for (const look of this.#watchers) look();
  }

  #until(isReached: () => boolean, complaint: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#watchers.delete(look);
        const ready = this.#workers.map(({ readyNodes, increments }) => ({ readyNodes, increments }));
        reject(new Error(`${complaint}: ${JSON.stringify({ ready, failures: this.failures.slice(-3) })}`));
      }, LIMIT_MS);
      const look = () => {
        if (!isReached()) return;
        this.#watchers.delete(look);
        clearTimeout(limit);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }
}
