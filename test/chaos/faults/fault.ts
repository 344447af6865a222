import type { Master } from "../../fixture/masters.ts";
import type { Chance } from "../../simulation/chance.ts";
import type { Client } from "../clients.ts";
import type { Cluster } from "../cluster.ts";
import type { Key } from "../history.ts";

/** One occurrence of a fault. */
export interface Strike {
  readonly cluster: Cluster;
  /** While it is injected: how long it is meant to last; while it is healed: how long it has lasted. */
  readonly lengthMs: number;
  /** A node loses these keys, and changed none after they had been looked up. `isCertain`: not only perhaps. */
  wiped(node: Master, keys: readonly Key[], isCertain: boolean): void;
}

interface FaultOf<Part extends string, Victim> {
  readonly name: string;
  /** What it acts on: two faults on the same part of one victim are never in force together. */
  readonly part: Part;
  /** Outside the stated bounds: it takes keys from under their holders. */
  readonly losesKeys?: true;
  /** At the same time. @default as many as there are */
  readonly maxVictims?: number;
  available(cluster: Pick<Cluster, "backend">): boolean;
  lengthMs(chance: Chance, cluster: Pick<Cluster, "longestTtlMs">): number;
  /** Resolves when it is in force for this victim. */
  inject(victim: Victim, strike: Strike): Promise<void>;
  /** The victim is well afterwards. */
  heal(victim: Victim, strike: Strike): Promise<void>;
}

export type NodeFault = FaultOf<"server" | "network", Master>;
export type ClientFault = FaultOf<"client", Client>;
export type Fault = NodeFault | ClientFault;

/** From unnoticed to longer than what a round, an extension, or a short ttl takes. */
export function anyLengthMs(chance: Chance): number {
  return chance.magnitude(30, 3_000);
}

export const everywhere = () => true;
export const nothing = async () => {};
export const noLengthMs = () => 0;
