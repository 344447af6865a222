import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Stage } from "./benches/bench.ts";
import { LIMIT_MS } from "./benches/crowd.ts";
import { OURS } from "./libraries/index.ts";
import { writeFlameGraph } from "./report/flame-graph.ts";
import { labelled } from "./report/results.ts";
import { measureCycles } from "./stage/cycles.ts";
import { startServers } from "./stage/servers.ts";

const NODES = 5;
const CALLERS = 128;
const FOLDER = new URL(".cache/", import.meta.url);

/** Where the time of our process goes when it is busy. */
export async function profile(stage: Stage, label: string | undefined): Promise<void> {
  const name = labelled("flame-graph", label);
  const file = new URL(`${name}.cpuprofile`, FOLDER);
  await mkdir(FOLDER, { recursive: true });
  await using masters = await startServers(NODES);
  await using contestant = await stage.open(OURS, masters.urls);
  const input = { callers: CALLERS, ms: stage.roundMs, limitMs: LIMIT_MS };
  await measureCycles(contestant, masters.nodes, input);
  const { perSecond } = await measureCycles(contestant, masters.nodes, { ...input, profile: fileURLToPath(file) });
  await writeFlameGraph(file, name);
  console.log(
    `${Math.round(perSecond)} cycles/s while being watched; docs/benchmarks/${name}.svg, bench/.cache/${name}.cpuprofile`,
  );
}
