import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Bench } from "./benches/bench.ts";
import { BENCHES } from "./benches/index.ts";
import { BASE, CONTENDERS, OURS } from "./libraries/index.ts";

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly isSmoke: boolean;
  readonly libraries: readonly string[];
  /** Not all libraries: the figures are shown and kept nowhere. */
  readonly isPartial: boolean;
  readonly roundMs: number;
  readonly rounds: number;
  /** The entry of another build of ours. */
  readonly base: string | undefined;
  readonly label: string | undefined;
  readonly isProfile: boolean;
}

const PEERS = Object.keys(CONTENDERS).filter((name) => name !== OURS && name !== BASE);

export const USAGE = `Usage: npm run bench -- [${BENCHES.map(({ name }) => name).join(" | ")}] [--seconds 1] [--rounds 7]

  --seconds  how long each library runs in a round
  --rounds   how many rounds
  --only     compare only with some of ${PEERS.join(", ")}; with nobody: --only ""
  --base     another build of ${OURS} to compare with: the path of its index.js
  --label    a word behind the names of the files that are written, such as "before"
  --smoke    everything as small as it gets: whether it works; the figures mean nothing
  --profile  a CPU profile and a flame graph of ${OURS} at 128 callers, in place of a comparison

Without a name: all. Results go to bench/results, docs/benchmarks and docs/benchmarks.md, unless --only, --base or --smoke is given.`;

const SMOKE_SECONDS = 0.05;

/** The options, or what is wrong with the arguments. */
export function parseBenchOptions(args: string[]): BenchOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "1" },
        rounds: { type: "string", default: "7" },
        only: { type: "string" },
        base: { type: "string" },
        label: { type: "string" },
        smoke: { type: "boolean", default: false },
        profile: { type: "boolean", default: false },
      },
    });
    const seconds = Number(values.seconds);
    const rounds = Number(values.rounds);
    if (!(seconds > 0)) throw new Error(`--seconds: expected a number above 0, got ${values.seconds}`);
    if (!Number.isSafeInteger(rounds) || rounds < 1) {
      throw new Error(`--rounds: expected a whole number, at least 1, got ${values.rounds}`);
    }
    if (values.base !== undefined && !existsSync(values.base)) throw new Error(`--base: there is no ${values.base}`);
    const peers = (values.only?.split(",").filter(Boolean) ?? PEERS).map((name) => oneOf("--only", name, PEERS));
    const names = positionals.map((name) =>
      oneOf(
        "bench",
        name,
        BENCHES.map((bench) => bench.name),
      ),
    );
    return {
      benches: names.length === 0 ? BENCHES : BENCHES.filter(({ name }) => names.includes(name)),
      isSmoke: values.smoke,
      libraries: [OURS, ...(values.base === undefined ? [] : [BASE]), ...peers],
      isPartial: values.only !== undefined || values.base !== undefined || values.smoke,
      roundMs: (values.smoke ? SMOKE_SECONDS : seconds) * 1_000,
      rounds: values.smoke ? 1 : rounds,
      base: values.base === undefined ? undefined : pathToFileURL(values.base).href,
      label: values.label,
      isProfile: values.profile,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function oneOf(what: string, name: string, known: readonly string[]): string {
  if (!known.includes(name)) throw new Error(`${what}: expected one of ${known.join(", ")}, got ${name}`);
  return name;
}
