import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { FLAWS, type FlawName } from "./flaws.ts";
import { FAULTS, type FaultName, HOLES, type Hole, type Wish } from "./plan.ts";

export interface SimulateOptions {
  readonly seeds: number;
  readonly workers: number;
  /** Shows all of a failing run. */
  readonly isWhole: boolean;
  /** Each run: the seed counts up from this one's. */
  readonly wish: Wish;
}

export const USAGE = `Usage: npm run simulate -- [--seeds 20000] [--seed 0x5eed] [--workers 2]

  --seeds        how many runs
  --seed         the first run's seed; default: from the commit
  --workers      processes; default: one for each core
  --hole         with an assumption broken, until two hold one lock: ${HOLES.join(", ")}
  --flaw         with a mistake built in: ${Object.keys(FLAWS).join(", ")}
  --without      kinds of faults to leave out: ${FAULTS.join(", ")}
  --max-clients  no more clients than that
  --whole        all events of a failing run`;

/** The options, or what is wrong with the arguments. */
export function parseSimulateOptions(args: string[]): SimulateOptions | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seeds: { type: "string", default: "20000" },
        seed: { type: "string" },
        workers: { type: "string", default: String(availableParallelism()) },
        hole: { type: "string" },
        flaw: { type: "string" },
        without: { type: "string", default: "" },
        "max-clients": { type: "string" },
        whole: { type: "boolean", default: false },
      },
    });
    const seeds = whole("--seeds", values.seeds);
    const maxClients = values["max-clients"];
    return {
      seeds,
      workers: Math.min(whole("--workers", values.workers), seeds),
      isWhole: values.whole,
      wish: {
        seed: values.seed === undefined ? commitSeed() : whole("--seed", values.seed),
        hole: values.hole === undefined ? undefined : oneOf<Hole>("--hole", values.hole, HOLES),
        flaw: values.flaw === undefined ? undefined : oneOf("--flaw", values.flaw, Object.keys(FLAWS) as FlawName[]),
        without: values.without
          .split(",")
          .filter(Boolean)
          .map((name) => oneOf<FaultName>("--without", name, FAULTS)),
        maxClients: maxClients === undefined ? undefined : whole("--max-clients", maxClients),
      },
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Each commit is tested with seeds of its own, and everybody who tests it has the same ones. */
export function commitSeed(): number {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number.parseInt(commit.slice(0, 12), 16);
  } catch {
    return 0x5eed;
  }
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name}: expected a whole number, at least 1, got ${text}`);
  return value;
}

function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new Error(`${name}: expected one of ${known.join(", ")}, got ${text}`);
  return found;
}
