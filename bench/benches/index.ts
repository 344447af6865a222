import type { Bench } from "./bench.ts";
import { cycle } from "./cycle.ts";
import { degraded } from "./degraded.ts";
import { keep } from "./keep.ts";
import { latency } from "./latency.ts";
import { nodes } from "./nodes.ts";

export const BENCHES: readonly Bench[] = [cycle, nodes, degraded, keep, latency];
