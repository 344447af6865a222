/** Compares the built library with what else there is, and with the least that such a lock can cost. */
import { constants } from "node:os";
import type { Bench, Stage } from "./benches/bench.ts";
import { bundleWorker } from "./bundle.ts";
import { ensureInstalled } from "./install.ts";
import { BASE, FLOOR, OURS } from "./libraries/index.ts";
import { type BenchOptions, parseBenchOptions, USAGE } from "./options.ts";
import { profile } from "./profile.ts";
import { writeCharts } from "./report/charts.ts";
import { writeIntoDocument } from "./report/document.ts";
import { thisMachine, versions } from "./report/machine.ts";
import { labelled, type Results, writeResults } from "./report/results.ts";
import { ABOUT_RATIOS, tableOf } from "./report/table.ts";
import { inTerminal } from "./report/terminal.ts";
import { Contestant } from "./stage/contestant.ts";

const OUR_BUILD = new URL("../dist/index.js", import.meta.url).href;

async function run(options: BenchOptions): Promise<void> {
  await ensureInstalled(console.log);
  await using worker = await bundleWorker();
  const stage: Stage = {
    size: options.isSmoke ? "small" : "full",
    libraries: options.libraries,
    roundMs: options.roundMs,
    rounds: options.rounds,
    open: (library, urls) =>
      Contestant.open(worker.program, { library, urls, build: (library === BASE && options.base) || OUR_BUILD }),
    say: (line) => console.log(`  ${line}`),
  };
  if (options.isProfile) return await profile(stage, options.label);
  for (const bench of options.benches) await compare(bench, stage, options);
}

async function compare(bench: Bench, stage: Stage, options: BenchOptions): Promise<void> {
  const { rounds, roundMs, label, isPartial, isSmoke } = options;
  console.log(`${bench.name}: ${bench.title}`);
  const rows = await bench.run(isSmoke && bench.smoke === "few" ? { ...stage, libraries: [OURS, FLOOR] } : stage);
  const table = tableOf(bench, rows);
  console.log(`${inTerminal(table)}\n${bench.compared.length > 0 ? `${ABOUT_RATIOS}\n` : ""}`);
  for (const row of rows) {
    // Peers have their peculiarities; ours has to be right.
    if (row.library === OURS && row.remarks.length > 0) process.exitCode = 1;
  }
  if (isPartial) return;
  const results: Results = {
    bench: bench.name,
    date: new Date().toISOString().slice(0, 10),
    command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
    machine: thisMachine(),
    versions: await versions(),
    roundMs,
    rounds,
    rows,
  };
  await writeResults(results, label);
  await writeCharts(bench, rows, labelled(bench.name, label));
  if (label === undefined) await writeIntoDocument(results, table);
}

// The end of this process ends workers and servers, each through whoever watches over it.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

const options = parseBenchOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else await run(options);
