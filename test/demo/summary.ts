import Table from "cli-table3";
import { colours } from "./colours.ts";
import type { Quantiles, Statistics } from "./statistics.ts";
import type { Phase } from "./story.ts";
import { complaintsAbout, type Outcome } from "./verdict.ts";

/** The whole outcome as text. */
export function summaryOf(outcome: Outcome): string {
  const { phases, between, expected, found } = outcome;
  const rows = [
    ...phases.map(({ phase, statistics }) => ({ name: phase.name, statistics })),
    { name: "while changing", statistics: between },
  ];
  const complaints = complaintsAbout(outcome);
  const verdict =
    complaints.length === 0
      ? [colours.green("PASSED: no update was lost, and a dead minority stopped nobody.")]
      : complaints.map((complaint) => colours.red(`FAILED: ${complaint}.`));
  return [
    phaseTable(rows),
    "Times are of acquire + release: of a lock that nobody else wants, and of the one that all want, waiting included.",
    "",
    ...failureLines(rows),
    `Increments made by the workers: ${expected}; found in the file: ${found}.`,
    ...comparison(outcome),
    ...verdict,
  ].join("\n");
}

interface Row {
  readonly name: string;
  readonly statistics: Statistics;
}

function phaseTable(rows: readonly Row[]): string {
  const table = new Table({
    head: ["phase", "increments", "failed\nacquires", "uncontended, ms\nmedian / p95", "contended, ms\nmedian / p95"],
    colAligns: ["left", "right", "right", "right", "right"],
    // The library's own colours do not ask whether there is a terminal.
    style: { head: [], border: [], compact: true },
  });
  for (const { name, statistics } of rows) {
    const { increments, failures, own, shared } = statistics;
    const failed = failures.reduce((sum, { count }) => sum + count, 0);
    table.push([colours.bold(name), increments, failed, inWords(own), inWords(shared)]);
  }
  return table.toString();
}

function inWords(quantiles: Quantiles | undefined): string {
  return quantiles === undefined ? "–" : `${quantiles.medianMs.toFixed(1)} / ${quantiles.p95Ms.toFixed(1)}`;
}

function failureLines(rows: readonly Row[]): string[] {
  const lines = rows.flatMap(({ name, statistics }) =>
    statistics.failures.flatMap(({ code, count, example }) => [
      `  ${name}: ${count} × ${colours.yellow(code)}, such as`,
      `    ${example}`,
    ]),
  );
  return lines.length === 0 ? [] : ["Why acquires failed:", ...lines, ""];
}

/** What two dead masters cost: the promise is nothing. */
function comparison({ phases }: Outcome): string[] {
  const medianOf = (name: Phase["name"]) => phases.find(({ phase }) => phase.name === name)?.statistics.own?.medianMs;
  const healthyMs = medianOf("healthy");
  const twoDeadMs = medianOf("two dead");
  if (healthyMs === undefined || twoDeadMs === undefined) return [];
  const ratio = (twoDeadMs / healthyMs).toFixed(2);
  return [
    `Uncontended median: ${healthyMs.toFixed(2)} ms healthy, ${twoDeadMs.toFixed(2)} ms with two dead (× ${ratio}).`,
  ];
}
