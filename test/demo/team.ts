import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Turn } from "./turn.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

export interface TeamOptions {
  readonly size: number;
  readonly urls: readonly string[];
  /** The file with the counter. */
  readonly file: string;
  readonly withLock: boolean;
  onTurn(turn: Turn): void;
}

/** Enough that the first ones, with cold code and new connections, are not taken for a healthy quorum's speed. */
const WARM_UP_TURNS = 20;

/** The worker processes. They end with this process, however it ends. */
export class Team {
  readonly #workers: readonly ChildProcess[];
  /** Rejects when one of them ends otherwise than by itself and in peace. */
  readonly #ends: readonly Promise<void>[];

  private constructor({ size, urls, file, withLock, onTurn }: TeamOptions) {
    this.#workers = Array.from({ length: size }, (_, index) => {
      const args = [String(index + 1), file, withLock ? "lock" : "no-lock", ...urls];
      const worker = fork(WORKER, args, { execArgv: ["--import", "tsx"] });
      worker.on("message", (turn) => onTurn(turn as Turn));
      return worker;
    });
    this.#ends = this.#workers.map(async (worker, index) => {
      // All that it has reported has been heard once it is disconnected.
      const [[code, signal]] = await Promise.all([once(worker, "exit"), once(worker, "disconnect")]);
      if (code !== 0) throw new Error(`worker ${index + 1} ended with ${signal ?? `exit code ${code}`}`);
    });
    // Whoever waits for the team hears of it; until then it is no unhandled rejection.
    for (const end of this.#ends) end.catch(() => {});
  }

  /** Starts the workers, at once. Resolves when each is warm. */
  static async start(options: TeamOptions): Promise<Team> {
    const team = new Team(options);
    await Promise.race([Promise.all(team.#workers.map(warmUp)), team.failure()]);
    return team;
  }

  /** Never resolves; rejects when a worker fails. */
  failure(): Promise<never> {
    return new Promise((_, reject) => {
      for (const end of this.#ends) end.catch(reject);
    });
  }

  /** Lets the workers finish their turns. Resolves when all have reported and are gone. */
  async stop(): Promise<void> {
    // One that has failed takes no message; its end says so.
    for (const worker of this.#workers) worker.send("stop", () => {});
    await Promise.all(this.#ends);
  }
}

async function warmUp(worker: ChildProcess): Promise<void> {
  for (let turns = 0; turns < WARM_UP_TURNS; turns++) await once(worker, "message");
}
