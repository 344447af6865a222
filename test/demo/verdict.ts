import type { Statistics } from "./statistics.ts";
import type { Phase } from "./story.ts";

/** What came of the whole demo. */
export interface Outcome {
  readonly phases: readonly { readonly phase: Phase; readonly statistics: Statistics }[];
  /** Turns during which masters were killed or started: something can come of them, or nothing. */
  readonly between: Statistics;
  /** Increments that the workers have made. */
  readonly expected: number;
  /** What the file says. */
  readonly found: number;
}

/** All that should not have happened, in words; nothing when the lock did what it promises. */
export function complaintsAbout({ phases, expected, found }: Outcome): string[] {
  return [
    ...(found === expected ? [] : [`${expected - found} of ${expected} increments were lost`]),
    ...phases.flatMap(({ phase, statistics }) => {
      const complaint = phase.expected === "progress" ? noProgress(statistics) : noStandstill(statistics);
      return complaint === undefined ? [] : [`${phase.name}: ${complaint}`];
    }),
  ];
}

function noProgress({ increments }: Statistics): string | undefined {
  return increments === 0 ? "expected progress, but there was not one increment" : undefined;
}

function noStandstill({ increments, failures }: Statistics): string | undefined {
  if (increments > 0) return `expected none without a quorum, but there were ${increments} increments`;
  if (failures.length === 0) return "expected acquires to fail, but none did";
  const other = failures.find(({ code }) => code !== "ERR_QUORUM_UNREACHABLE");
  return other && `expected ERR_QUORUM_UNREACHABLE, but ${other.count} acquires failed with ${other.code}`;
}
