import Table from "cli-table3";
import type { Fault } from "../faults/fault.ts";
import type { Tally } from "./tally.ts";

/** The library's own colours do not ask whether there is a terminal. */
const STYLE = { head: [], border: [], compact: true };

/** What was done, what was done to it, and what came of it. */
export function summaryOf(tally: Tally, faults: readonly Fault[]): string {
  const { rounds, seconds, handOvers, longestWaitMs, longestStallMs } = tally;
  return [
    operationTable(tally),
    faultTable(tally, faults),
    `${rounds} rounds, ${Math.round(seconds)} s; a client saw a quorum well, and progress was demanded, for ${Math.round(100 * tally.calmShare)} % of it`,
    `hand-overs:        ${handOvers}, ${(handOvers / seconds).toFixed(1)}/s; increments: ${tally.increments}`,
    `longest wait:      ${Math.round(longestWaitMs)} ms until a lock was granted (longest stall of a process: ${Math.round(longestStallMs)} ms)`,
    `failures:          ${inWords(tally.codes)}`,
    `losses reported:   ${inWords(tally.losses)}`,
    `quorums lost:      ${tally.quorumsLost}; overlaps excused by that: ${tally.overlapsExcused}`,
    `late writes:       ${tally.lateWrites} (asked in time, and carried out after the validity: only a fencing token helps)`,
    `keys left:         ${tally.keysLeft}`,
    `violations:        ${tally.violations}`,
  ].join("\n");
}

function operationTable({ operations }: Tally): string {
  const table = new Table({
    head: ["operation", "ok", "failed", "unknown", "longest, ms"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: STYLE,
  });
  for (const [operation, { ok, failed, unknown, longestMs }] of operations) {
    table.push([operation, ok, failed, unknown, Math.round(longestMs)]);
  }
  return table.toString();
}

function faultTable(tally: Tally, faults: readonly Fault[]): string {
  const table = new Table({ head: ["fault", "victims"], colAligns: ["left", "right"], style: STYLE });
  for (const { name } of faults) table.push([name, tally.faults.get(name) ?? 0]);
  return table.toString();
}

function inWords(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, times]) => `${what} ${times}`).join(", ") || "none";
}
