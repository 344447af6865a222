import pc from "picocolors";
import { Campaign, type Progress } from "./campaign.ts";
import type { Counts } from "./counts.ts";
import { outsideReactions } from "./microtasks.ts";
import { minimize } from "./minimize.ts";
import { parseSimulateOptions, type SimulateOptions, USAGE } from "./options.ts";
import { describeCounts, describeFailure, replayCommand } from "./report.ts";
import { run } from "./run.ts";

/** So few runs need not have seen every kind of fault. */
const COUNTING_FROM_SEEDS = 2_000;
const PROGRESS_MS = 1_000;

const options = parseSimulateOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else process.exitCode = await simulate(options);

/** @returns the exit code */
async function simulate(options: SimulateOptions): Promise<number> {
  const { wish, seeds } = options;
  console.log(`Simulating ${seeds} runs from seed 0x${wish.seed.toString(16)} on ${options.workers} cores.`);
  let shownMs = 0;
  const campaign = new Campaign(options, (progress) => {
    if (performance.now() - shownMs < PROGRESS_MS) return;
    shownMs = performance.now();
    process.stdout.write(
      `${process.stdout.isTTY ? "\r" : ""}${describe(progress, seeds)}${process.stdout.isTTY ? "" : "\n"}`,
    );
  });
  const failure = await campaign.run();
  console.log(`\n${describe(campaign.progress, seeds)}`);
  console.log(describeCounts(campaign.counts));
  if (failure !== undefined) return await showFailure(options, failure.seed);
  return judgeCounts(campaign.counts, options);
}

/** Failing is what a run with a hole or a flaw is for. */
async function showFailure({ wish, isWhole }: SimulateOptions, seed: number): Promise<number> {
  const smallest = await outsideReactions(() => minimize(run({ ...wish, seed })));
  console.log(`\n${describeFailure(smallest, isWhole ? Number.POSITIVE_INFINITY : undefined)}`);
  console.log(`In full:  ${replayCommand({ ...wish, seed })}`);
  const isWanted = wish.hole !== undefined || wish.flaw !== undefined;
  if (isWanted) console.log(pc.green(`Found after ${seed - wish.seed + 1} seeds.`));
  return isWanted ? 0 : 1;
}

function judgeCounts({ missing }: Counts, { seeds, wish }: SimulateOptions): number {
  if (wish.hole !== undefined || wish.flaw !== undefined) {
    console.log(pc.red("Nothing was found, and there is something to find."));
    return 1;
  }
  const isSelective = seeds < COUNTING_FROM_SEEDS || (wish.without?.length ?? 0) > 0;
  if (missing.length === 0 || isSelective) {
    console.log(pc.green("Nothing was violated."));
    return 0;
  }
  console.log(pc.red(`Nothing was violated, but never tested: ${missing.join(", ")}.`));
  return 1;
}

function describe({ seeds, events, seconds }: Progress, of: number): string {
  return `${seeds} of ${of} seeds, ${Math.round(seeds / seconds)} seeds/s, ${Math.round(events / seconds)} events/s`;
}
