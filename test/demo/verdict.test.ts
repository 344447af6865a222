import { expect, test } from "vitest";
import type { Statistics } from "./statistics.ts";
import { STORY } from "./story.ts";
import { complaintsAbout, type Outcome } from "./verdict.ts";

const busy: Statistics = { increments: 10, failures: [], own: undefined, shared: undefined };
const idle: Statistics = { ...busy, increments: 0 };
const failing = (code: string): Statistics => ({ ...idle, failures: [{ code, count: 4, example: "" }] });
const standstill = failing("ERR_QUORUM_UNREACHABLE");

/** As it has to be, in the order of the story. */
const GOOD = [busy, busy, standstill, busy];

function outcome(seen: readonly Statistics[], { expected = 30, found = 30 } = {}): Outcome {
  const phases = STORY.map((phase, index) => ({ phase, statistics: seen[index] ?? idle }));
  return { phases, between: standstill, expected, found };
}

const cases: { name: string; seen: Outcome; complaints: string[] }[] = [
  { name: "all as it has to be", seen: outcome(GOOD), complaints: [] },
  {
    name: "a lost update",
    seen: outcome(GOOD, { found: 29 }),
    complaints: ["1 of 30 increments were lost"],
  },
  {
    name: "no progress with two dead",
    seen: outcome([busy, standstill, standstill, busy]),
    complaints: ["two dead: expected progress, but there was not one increment"],
  },
  {
    name: "progress with three dead",
    seen: outcome([busy, busy, busy, busy]),
    complaints: ["three dead: expected none without a quorum, but there were 10 increments"],
  },
  {
    name: "three dead, and nothing failed",
    seen: outcome([busy, busy, idle, busy]),
    complaints: ["three dead: expected acquires to fail, but none did"],
  },
  {
    name: "three dead, and an error that says something else",
    seen: outcome([busy, busy, failing("ERR_LOCK_HELD"), busy]),
    complaints: ["three dead: expected ERR_QUORUM_UNREACHABLE, but 4 acquires failed with ERR_LOCK_HELD"],
  },
  {
    name: "no recovery",
    seen: outcome([busy, busy, standstill, standstill]),
    complaints: ["all back: expected progress, but there was not one increment"],
  },
];

test.each(cases)("the demo's verdict: $name", ({ seen, complaints }) => {
  expect(complaintsAbout(seen)).toEqual(complaints);
});
