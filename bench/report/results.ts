import { mkdir, writeFile } from "node:fs/promises";
import type { Row } from "../benches/bench.ts";
import type { Machine } from "./machine.ts";

/** What one run of one bench found, and all that one needs to judge and repeat it. */
export interface Results {
  readonly bench: string;
  readonly date: string;
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly roundMs: number;
  readonly rounds: number;
  readonly rows: readonly Row[];
}

const FOLDER = new URL("../results/", import.meta.url);

/** @param label tells runs of one bench apart, such as "before" */
export async function writeResults(results: Results, label: string | undefined): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(fileOf(results.bench, label), `${JSON.stringify(results, null, 2)}\n`);
}

function fileOf(bench: string, label: string | undefined): URL {
  return new URL(`${labelled(bench, label)}.json`, FOLDER);
}

export function labelled(name: string, label: string | undefined): string {
  return label === undefined ? name : `${name}-${label}`;
}
