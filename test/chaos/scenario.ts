import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startMasters } from "../fixture/masters.ts";
import { scratchFolder } from "../fixture/scratch.ts";
import { Chance } from "../simulation/chance.ts";
import { Clients } from "./clients.ts";
import { Cluster } from "./cluster.ts";
import { keysOf } from "./faults/keys.ts";
import type { FinalState, NodeKeys } from "./final-state.ts";
import type { FlawName } from "./flaws.ts";
import { type HistoryEvent, Journal, nowMs, readHistory } from "./history.ts";
import { SharedFile } from "./shared-file.ts";
import type { Weather } from "./storm.ts";
import type { Terms } from "./terms.ts";
import type { Traffic } from "./traffic.ts";

/** A cluster, traffic on it, and what happens to it meanwhile. */
export interface Scenario {
  readonly seed: number;
  readonly nodes: number;
  /** Nothing: in local processes. */
  readonly image?: string;
  readonly traffic: Traffic;
  readonly weather: Weather;
  readonly isInBounds: boolean;
  /** Of the first clients. */
  readonly flaws?: readonly FlawName[];
}

/** What came of it: all that the checker needs, and what a person wants to see besides. */
export interface Run {
  readonly scenario: Scenario;
  readonly terms: Terms;
  readonly history: readonly HistoryEvent[];
  readonly final: FinalState;
  readonly serverLogs: readonly { readonly name: string; readonly log: string }[];
}

export type Watch = (cluster: Cluster) => void;

const BEAT_MS = 25;
const STALL_MS = 75;
/** Beyond the longest ttl, for the servers' own expiry. */
const EXPIRY_MS = 1_000;
/** At once, but through commands that are still on their way. */
const AT_ONCE_MS = 1_000;

/** Plays a scenario to its end: the storm is over, every client has closed, every ttl has passed. */
export async function play(scenario: Scenario, watch: Watch = () => {}): Promise<Run> {
  const { nodes, image, traffic, weather, isInBounds, seed, flaws = [] } = scenario;
  const backend = image === undefined ? "process" : "container";
  const folder = scratchFolder();
  const journalFolder = join(folder, "history");
  mkdirSync(journalFolder);
  const journal = new Journal(journalFolder, "runner");
  const longestTtlMs = Math.max(...traffic.ttlsMs);
  await using masters = await startMasters(nodes, { backend, proxied: true, args: SETTINGS, ...(image && { image }) });
  using _heart = beat(journal);
  const { urls } = masters;
  await using clients = await Clients.start(traffic.clients, journal, (name, ordinal) => ({
    ...{ name, urls, traffic, journalFolder, folder },
    seed: new Chance(seed, ordinal + 1).whole(0, 2 ** 32),
    ...(flaws[ordinal] && { flaw: flaws[ordinal] }),
  }));
  const cluster = new Cluster(masters, clients, journal, { longestTtlMs, backend });
  watch(cluster);
  await clients.see(nodes);
  await weather(cluster);
  await clients.stop();
  const keysAtEnd = await keysLeft(cluster, AT_ONCE_MS);
  const keysLater = keysAtEnd.length === 0 ? [] : await keysLeft(cluster, longestTtlMs + EXPIRY_MS);
  return {
    scenario,
    terms: { nodes: masters.nodes.map(({ name }) => name), longestTtlMs, isInBounds },
    history: readHistory(journalFolder),
    final: {
      keysAtEnd,
      keysLater,
      counts: Object.fromEntries(traffic.resources.map((name) => [name, new SharedFile(folder, name).read()])),
    },
    serverLogs: masters.nodes.map((node) => ({ name: node.name, log: node.logs() })),
  };
}

/** A replica that waits for more replicas would take longer than it lasts. */
const SETTINGS = ["--repl-diskless-sync-delay", "0"];

/** The network is in this process: when it stands still, so does the network. */
function beat(journal: Journal): Disposable {
  let lastMs = nowMs();
  const heart = setInterval(() => {
    const atMs = nowMs();
    if (atMs - lastMs > STALL_MS) journal.write({ is: "stalled", sinceMs: lastMs }, atMs);
    lastMs = atMs;
  }, BEAT_MS);
  return { [Symbol.dispose]: () => clearInterval(heart) };
}

/** What is left when no key is, or when the time is over. */
async function keysLeft({ nodes }: Cluster, limitMs: number): Promise<NodeKeys[]> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const found = await Promise.all(nodes.map(async (node) => ({ node: node.name, keys: await keysOf(node) })));
    const left = found.filter(({ keys }) => keys.length > 0);
    if (left.length === 0 || performance.now() > endMs) return left;
    await sleep(BEAT_MS);
  }
}
