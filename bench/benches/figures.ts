import type { Measured } from "../stage/cycles.ts";
import type { Figure } from "./bench.ts";

export const PER_SECOND: Figure = { name: "perSecond", head: "cycles/s", digits: 0, better: "more" };
export const P50: Figure = { name: "p50Ms", head: "p50, ms", digits: 3, better: "less" };
export const P99: Figure = { name: "p99Ms", head: "p99, ms", digits: 3, better: "less" };
export const CLIENT_CPU: Figure = { name: "clientCpuUs", head: "client CPU, µs/cycle", digits: 1, better: "less" };
const SERVER_CPU: Figure = { name: "serverCpuUs", head: "server CPU, µs/cycle", digits: 1, better: "less" };

export const CYCLE_FIGURES = [PER_SECOND, P50, P99, CLIENT_CPU, SERVER_CPU] as const;

export function cycleFigures({
  perSecond,
  p50Ms,
  p99Ms,
  cpuUs,
  serverCpuUs,
  cycles,
}: Measured): Record<string, number> {
  return { perSecond, p50Ms, p99Ms, clientCpuUs: cpuUs / cycles, serverCpuUs: serverCpuUs / cycles };
}
