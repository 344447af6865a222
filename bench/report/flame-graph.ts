import { readFile } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";
import { writeSvg } from "./charts.ts";

/** A function in its place in the stacks: from which share of all samples to which. */
interface Frame {
  readonly name: string;
  readonly origin: Origin;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
}

type Origin = "redlock-quorum" | "ioredis" | "bench" | "node" | "other";

const WIDTH = 1_200;
const ROW_HEIGHT = 17;
const LETTER_WIDTH = 6;
/** Below a third of a pixel nobody sees it. */
const LEAST_SHARE = 1 / WIDTH / 3;
/** When nothing ran, and what the profiler itself takes. */
const LEFT_OUT = ["(idle)", "profiled"];
const COLOURS: Record<Origin, string> = {
  "redlock-quorum": "#f28e2b",
  ioredis: "#76b7b2",
  bench: "#bab0ac",
  node: "#a0cbe8",
  other: "#d4d4d4",
};

/** A CPU profile as a picture: the wider a function, the more time it took; what it called stands below it. */
export async function writeFlameGraph(profileFile: URL, name: string): Promise<void> {
  const profile: Profiler.Profile = JSON.parse(await readFile(fileURLToPath(profileFile), "utf8"));
  const frames = framesOf(profile);
  const values = frames.map((frame) => ({
    ...frame,
    share: `${((frame.to - frame.from) * 100).toFixed(1)} %`,
    label: frame.name.slice(0, Math.max(0, Math.floor(((frame.to - frame.from) * WIDTH - 4) / LETTER_WIDTH))),
  }));
  const depth = Math.max(...frames.map((frame) => frame.depth)) + 1;
  const y = { field: "depth", type: "ordinal", axis: null, scale: { padding: 0.05 } };
  await writeSvg(name, {
    title: { text: "CPU time of the client, by function; what a function calls stands below it", anchor: "start" },
    width: WIDTH,
    height: depth * ROW_HEIGHT,
    data: { values },
    encoding: { y },
    layer: [
      {
        mark: { type: "bar", stroke: "white", strokeWidth: 0.5, tooltip: true },
        encoding: {
          x: { field: "from", type: "quantitative", axis: null, scale: { domain: [0, 1] } },
          x2: { field: "to" },
          color: {
            field: "origin",
            title: null,
            scale: { domain: Object.keys(COLOURS), range: Object.values(COLOURS) },
          },
          description: { field: "name" },
        },
      },
      {
        mark: { type: "text", align: "left", dx: 3, fontSize: 10 },
        encoding: { x: { field: "from", type: "quantitative" }, text: { field: "label" } },
      },
    ],
  });
}

function framesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const selfUs = new Map<number, number>();
  for (const [index, id] of samples.entries()) selfUs.set(id, (selfUs.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const totalUs = new Map<number, number>();
  const total = (node: Profiler.ProfileNode): number => {
    const children = childrenOf(node).reduce((sum, child) => sum + total(child), 0);
    const sum = LEFT_OUT.includes(node.callFrame.functionName) ? 0 : (selfUs.get(node.id) ?? 0) + children;
    totalUs.set(node.id, sum);
    return sum;
  };
  const childrenOf = ({ children = [] }: Profiler.ProfileNode) => children.flatMap((id) => byId.get(id) ?? []);

  const [root] = nodes;
  if (root === undefined) return [];
  const allUs = total(root);
  const frames: Frame[] = [];
  const place = (node: Profiler.ProfileNode, depth: number, fromUs: number) => {
    const us = totalUs.get(node.id) ?? 0;
    const from = fromUs / allUs;
    if (us / allUs < LEAST_SHARE) return;
    const { functionName, url } = node.callFrame;
    const name = functionName === "" ? "(anonymous)" : functionName;
    if (depth >= 0) frames.push({ name, origin: originOf(url, name), depth, from, to: from + us / allUs });
    let at = fromUs;
    for (const child of childrenOf(node).sort((a, b) => (totalUs.get(b.id) ?? 0) - (totalUs.get(a.id) ?? 0))) {
      place(child, depth + 1, at);
      at += totalUs.get(child.id) ?? 0;
    }
  };
  place(root, -1, 0);
  return frames;
}

function originOf(url: string, name: string): Origin {
  if (url.includes("/dist/")) return url.includes("/node_modules/") ? "other" : "redlock-quorum";
  if (/\/node_modules\/(ioredis|@ioredis|redis-parser|redis-errors|standard-as-callback|denque)/.test(url))
    return "ioredis";
  if (url.startsWith("node:") || (url === "" && !name.startsWith("("))) return "node";
  if (url.includes("/node_modules/") || url === "") return "other";
  return "bench";
}
