import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Finding } from "../checker.ts";
import { Reading } from "../reading.ts";
import type { Run } from "../scenario.ts";
import { timelineOf } from "./timeline.ts";

const HOME = fileURLToPath(new URL("../../../.cache/chaos/", import.meta.url));
/** Around the first violation. */
const CLOSE_UP_MS = 3_000;

/** Writes all that is known of a run. @returns where */
export function keepRun(run: Run, findings: readonly Finding[], repeat: string): string {
  const { scenario, history, terms, serverLogs } = run;
  const folder = join(HOME, `0x${scenario.seed.toString(16)}-${new Date().toISOString().replaceAll(":", "-")}`);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const reading = new Reading(history);
  write("repeat.txt", `${repeat}\n`);
  write("history.jsonl", history.map((event) => `${JSON.stringify(event)}\n`).join(""));
  write("final.json", JSON.stringify({ terms, final: run.final }, undefined, 2));
  write("violations.txt", findings.map((finding) => `${describe(finding, reading.fromMs)}\n`).join(""));
  write("timeline.svg", timelineOf(reading, terms, findings));
  const [first] = findings;
  if (first !== undefined) {
    const span = { fromMs: first.atMs - CLOSE_UP_MS, toMs: first.atMs + CLOSE_UP_MS };
    write("violation.svg", timelineOf(reading, terms, findings, span));
  }
  for (const { name, log } of serverLogs) write(`${name}.log`, log);
  return folder;
}

export function describe({ atMs, check, who, message }: Finding, originMs: number): string {
  return `${((atMs - originMs) / 1_000).toFixed(3)} s  ${check}: ${who} ${message}`;
}
