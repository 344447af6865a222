/** Chaos for as long as one likes. Exit code 1 on a violation, or when a kind of fault never occurred. */
import { constants } from "node:os";
import pc from "picocolors";
import { ensureServer } from "../setup/program.ts";
import { campaign } from "./campaign.ts";
import type { Cluster } from "./cluster.ts";
import { faultsFor } from "./faults/all.ts";
import { type ChaosOptions, parseChaosOptions, USAGE } from "./options.ts";
import { summaryOf } from "./report/summary.ts";

/** So short a run need not have seen every kind of fault. */
const COUNTING_FROM_MINUTES = 5;
const PROGRESS_MS = 5_000;

// The end of this process ends clients and servers, each through whoever watches over it (scratch.ts).
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

const options = parseChaosOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exit(2);
}
await ensureServer();
process.exitCode = await chaos(options);

/** @returns the exit code */
async function chaos(options: ChaosOptions): Promise<number> {
  const { seed, minutes, image, isInBounds } = options;
  console.log(
    `${minutes} minutes from seed 0x${seed.toString(16)}, ${image ?? "local processes"}, ${isInBounds ? "within" : "beyond"} the stated bounds`,
  );
  const startMs = performance.now();
  let round = 0;
  let violations = 0;
  let cluster: Cluster | undefined;
  const ticker = setInterval(() => {
    if (cluster === undefined) return;
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    console.log(
      `${String(seconds).padStart(5)} s  round ${round}: ${cluster.nodes.length} nodes, ${cluster.clients.grants} locks granted, ${cluster.strikes} faults; violations so far: ${violations}`,
    );
  }, PROGRESS_MS);
  const watch = (present: Cluster) => {
    round += 1;
    cluster = present;
  };
  const tally = await campaign(options, watch, ({ complaint, folder }, sofar) => {
    violations = sofar.violations;
    if (complaint !== undefined) console.log(pc.red(complaint));
    else if (folder !== undefined) console.log(`All about round ${round}: ${folder}`);
  });
  clearInterval(ticker);
  const faults = faultsFor({ backend: image === undefined ? "process" : "container" }, isInBounds);
  console.log(`\n${summaryOf(tally, faults)}`);
  const missing = faults.filter(({ name }) => !tally.faults.has(name)).map(({ name }) => name);
  if (missing.length > 0 && minutes >= COUNTING_FROM_MINUTES) {
    console.log(pc.red(`Never occurred: ${missing.join(", ")}.`));
    return 1;
  }
  return tally.violations === 0 ? 0 : 1;
}
