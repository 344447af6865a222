import type { Cluster } from "../cluster.ts";
import { KILL_CLIENT, PAUSE } from "./clients.ts";
import type { Fault } from "./fault.ts";
import * as network from "./network.ts";
import * as restarts from "./restarts.ts";
import * as servers from "./servers.ts";

const ALL: readonly Fault[] = [
  ...Object.values(restarts),
  ...Object.values(servers),
  ...Object.values(network),
  PAUSE,
  KILL_CLIENT,
];

/** What can happen there. */
export function faultsFor(cluster: Pick<Cluster, "backend">, isInBounds: boolean): readonly Fault[] {
  return ALL.filter((fault) => fault.available(cluster) && !(isInBounds && fault.losesKeys));
}
