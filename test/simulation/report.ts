import pc from "picocolors";
import { type Counts, OCCURRENCES } from "./counts.ts";
import type { FaultName, Wish } from "./plan.ts";
import type { Result } from "./run.ts";
import type { Entry } from "./timeline.ts";

/** Enough to see what led there; the whole story is one option away. */
const LAST_LINES = 120;
const FAULT_WORDS =
  /crash|frees|freezes|thaws|slow|refuses|delay|cut|partition|stop |pauses|stalled|suspended|wall clock|starts|faults end/;

/** What to type to see a run again, exactly. */
export function replayCommand({ seed, hole, without = [], maxClients, flaw }: Wish): string {
  const options = [
    `--seeds 1 --seed 0x${seed.toString(16)}`,
    ...(hole === undefined ? [] : [`--hole "${hole}"`]),
    ...(flaw === undefined ? [] : [`--flaw "${flaw}"`]),
    ...(without.length === 0 ? [] : [`--without "${(without as readonly FaultName[]).join(",")}"`]),
    ...(maxClients === undefined ? [] : [`--max-clients ${maxClients}`]),
  ];
  return `npm run simulate -- ${options.join(" ")}`;
}

/** The verdict on a run that failed, its last events, and how to see it again. */
export function describeFailure({ wish, violation, entries }: Result, lines = LAST_LINES): string {
  const until = entries.findIndex(({ who, what }) => who === "referee" && what.startsWith("VIOLATION"));
  const story = entries.slice(0, until + 1);
  const left = story.length - lines;
  return [
    ...(left > 0 ? [pc.dim(`… ${left} events before that; --whole shows them`)] : []),
    ...story.slice(-lines).map(line),
    "",
    `Violated: ${violation?.invariant}: ${violation?.message}`,
    `Again:    ${replayCommand(wish)}`,
  ].join("\n");
}

function line({ atMs, who, what }: Entry): string {
  const text = `${atMs.toFixed(2).padStart(11)}  ${who.padEnd(10)} ${what}`;
  if (who === "referee") return pc.bold(pc.red(text));
  return FAULT_WORDS.test(what) && !/[→←]/.test(what) ? pc.yellow(text) : text;
}

/** How often each kind really occurred. */
export function describeCounts(counts: Counts): string {
  const width = Math.max(...OCCURRENCES.map(({ length }) => length));
  return OCCURRENCES.map((what) => {
    const text = `  ${what.padEnd(width)} ${String(counts.of(what)).padStart(11)}`;
    return counts.of(what) === 0 ? pc.red(text) : text;
  }).join("\n");
}
