import type { Fault } from "./faults/fault.ts";
import type { Weather } from "./storm.ts";

const GRANTS = 1;

/** One fault after the other on one group of nodes after the other. Each lasts until every client has got locks meanwhile. */
export function eachOf(faults: readonly Fault[], groups: readonly (readonly number[])[]): Weather {
  return async (cluster) => {
    const { clients, nodes } = cluster;
    for (const fault of faults) {
      for (const group of groups) {
        const victims = nodes.filter((_, index) => group.includes(index));
        await cluster.strike(fault, victims, 0, () => clients.progress(GRANTS));
        await clients.see(nodes.length);
      }
    }
  };
}
