import { type Finding, judge } from "./checker.ts";
import { type ChaosOptions, repeatCommand } from "./options.ts";
import { Reading } from "./reading.ts";
import { describe, keepRun } from "./report/folder.ts";
import { Tally } from "./report/tally.ts";
import { lengthMsOf, roundOf } from "./round.ts";
import { play, type Run, type Watch } from "./scenario.ts";

export interface Verdict {
  readonly run: Run;
  readonly findings: readonly Finding[];
  /** In words: what was found, where all about it is, and how to see it again. Nothing when nothing was found. */
  readonly complaint: string | undefined;
  readonly folder: string | undefined;
}

/** Enough to see what happened; all of them are in the folder. */
const SHOWN = 20;

/** Plays one round and judges it. */
export async function playRound(options: ChaosOptions, watch?: Watch): Promise<Verdict> {
  const run = await play(roundOf(options), watch);
  return verdictOn(run, repeatCommand({ ...options, minutes: lengthMsOf(options) / 60_000 }), options.isKept);
}

export function verdictOn(run: Run, repeat: string, isKept = false): Verdict {
  const reading = new Reading(run.history);
  const findings = judge({ reading, final: run.final, terms: run.terms });
  if (findings.length === 0 && !isKept) return { run, findings, complaint: undefined, folder: undefined };
  const folder = keepRun(run, findings, repeat);
  if (findings.length === 0) return { run, findings, complaint: undefined, folder };
  const complaint = [
    ...findings.slice(0, SHOWN).map((finding) => describe(finding, reading.fromMs)),
    ...(findings.length > SHOWN ? [`… ${findings.length - SHOWN} more`] : []),
    `All about it: ${folder}`,
    `Again:        ${repeat}`,
  ].join("\n");
  return { run, findings, complaint, folder };
}

/** Rounds until the time is over; their seeds count up. */
export async function campaign(
  options: ChaosOptions,
  watch: Watch,
  onRound: (verdict: Verdict, tally: Tally) => void,
): Promise<Tally> {
  const tally = new Tally();
  const endMs = performance.now() + options.minutes * 60_000;
  let { seed } = options;
  do {
    const verdict = await playRound({ ...options, seed }, watch);
    tally.add(verdict.run, verdict.findings);
    onRound(verdict, tally);
    seed += 1;
  } while (performance.now() < endMs);
  return tally;
}
