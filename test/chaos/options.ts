import { parseArgs } from "node:util";
import { commitSeed } from "../simulation/options.ts";
import { FLAWS, type FlawName } from "./flaws.ts";

/** What a run is made of; what is missing is drawn from the seed of each round. */
export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly image?: string;
  readonly nodes?: number;
  readonly clients: number;
  readonly ttlsMs: readonly number[];
  readonly isInBounds: boolean;
  readonly isKept: boolean;
  readonly flaw?: FlawName;
}

const DEFAULT_TTLS_MS = [1_000, 2_000, 10_000];
const DEFAULT_IMAGE = "valkey/valkey:9";
const DEFAULT_CLIENTS = 4;

export const USAGE = `Usage: npm run chaos -- [--minutes 5] [--seed 0x5eed] [--out-of-bounds]

  --minutes        how long, in rounds of a minute
  --seed           of the first round, the others count up from it; default: from the commit
  --backend        process or container
  --image          of the containers; default: ${DEFAULT_IMAGE}
  --nodes          how many servers; default: 3, 4 or 5, by the seed
  --clients        how many processes; default: ${DEFAULT_CLIENTS}
  --ttls           of the locks, ms; default: ${DEFAULT_TTLS_MS.join(",")}
  --out-of-bounds  also faults that take keys from under their holders
  --keep           write the folder with history, timelines and logs of each round, also without a violation
  --flaw           a wrong first client, which has to be found out: ${Object.keys(FLAWS).join(", ")}`;

/** The options, or what is wrong with the arguments. */
export function parseChaosOptions(args: string[]): ChaosOptions | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        minutes: { type: "string", default: "5" },
        seed: { type: "string" },
        backend: { type: "string" },
        image: { type: "string" },
        nodes: { type: "string" },
        clients: { type: "string", default: String(DEFAULT_CLIENTS) },
        ttls: { type: "string", default: DEFAULT_TTLS_MS.join(",") },
        "out-of-bounds": { type: "boolean", default: false },
        keep: { type: "boolean", default: false },
        flaw: { type: "string" },
      },
    });
    const image = imageOf(values.backend, values.image);
    return {
      seed: values.seed === undefined ? commitSeed() : number("--seed", values.seed, isWhole),
      minutes: number("--minutes", values.minutes, (value) => value > 0),
      ...(image === undefined ? {} : { image }),
      ...(values.nodes === undefined ? {} : { nodes: number("--nodes", values.nodes, isWhole) }),
      clients: number("--clients", values.clients, isWhole),
      ttlsMs: values.ttls.split(",").map((ttl) => number("--ttls", ttl, isWhole)),
      isInBounds: !values["out-of-bounds"],
      isKept: values.keep,
      ...(values.flaw === undefined ? {} : { flaw: oneOf("--flaw", values.flaw, Object.keys(FLAWS) as FlawName[]) }),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What to type to see one round again: the same choices, though not the same schedule of the machine. */
export function repeatCommand({
  seed,
  minutes,
  image,
  nodes,
  clients,
  ttlsMs,
  isInBounds,
  flaw,
}: ChaosOptions): string {
  const options = [
    `--minutes ${Number(minutes.toFixed(2))} --seed 0x${seed.toString(16)} --clients ${clients} --ttls ${ttlsMs.join(",")}`,
    ...(image === undefined ? [] : [`--image ${image}`]),
    ...(nodes === undefined ? [] : [`--nodes ${nodes}`]),
    ...(isInBounds ? [] : ["--out-of-bounds"]),
    ...(flaw === undefined ? [] : [`--flaw ${flaw}`]),
  ];
  return `npm run chaos -- ${options.join(" ")}`;
}

function imageOf(backend: string | undefined, image: string | undefined): string | undefined {
  if (backend !== undefined) oneOf("--backend", backend, ["process", "container"]);
  if (backend === "process" && image !== undefined) throw new Error("--image: processes run without one");
  return image ?? (backend === "container" ? DEFAULT_IMAGE : undefined);
}

const isWhole = (value: number) => Number.isSafeInteger(value) && value >= 1;

function number(name: string, text: string, isFit: (value: number) => boolean): number {
  const value = Number(text);
  if (isFit(value)) return value;
  throw new Error(`${name}: expected a ${isFit === isWhole ? "whole " : ""}number above 0, got ${text}`);
}

function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new Error(`${name}: expected one of ${known.join(", ")}, got ${text}`);
  return found;
}
