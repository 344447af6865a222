import { parseArgs } from "node:util";
import { TTL_MS, WAIT_MS } from "./turn.ts";

/**
 * Masters that come back empty must have been dead for longer than any lock lives (story.ts), and while they are, each worker
 * needs time for a whole acquire that fails, after the one that it was in.
 */
const MIN_PHASE_SECONDS = (TTL_MS + WAIT_MS) / 1_000;

export interface DemoOptions {
  /** How long each phase lasts. */
  readonly phaseMs: number;
  readonly workers: number;
  readonly withLock: boolean;
}

export const USAGE = `Usage: npm run demo -- [--seconds 2] [--workers 4] [--without-lock]

  --seconds       how long each of the four phases lasts, at least ${MIN_PHASE_SECONDS}
  --workers       how many processes want the lock, at least 2
  --without-lock  shows what the lock prevents: updates get lost, and the exit code is 1`;

/** The options, or what is wrong with the arguments. */
export function parseDemoOptions(args: string[]): DemoOptions | string {
  let values: ReturnType<typeof readArgs>;
  try {
    values = readArgs(args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const seconds = Number(values.seconds);
  const workers = Number(values.workers);
  if (!(seconds >= MIN_PHASE_SECONDS))
    return `--seconds: expected at least ${MIN_PHASE_SECONDS}, got ${values.seconds}`;
  if (!Number.isInteger(workers) || workers < 2) {
    return `--workers: expected a whole number, at least 2, got ${values.workers}`;
  }
  return { phaseMs: seconds * 1_000, workers, withLock: !values["without-lock"] };
}

function readArgs(args: string[]) {
  return parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "2" },
      workers: { type: "string", default: "4" },
      "without-lock": { type: "boolean", default: false },
    },
  }).values;
}
