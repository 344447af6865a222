import type { Check, Evidence, Violation } from "./checks/check.ts";
import { increments, writesUnderLock } from "./checks/counting.ts";
import { exclusion, presence } from "./checks/exclusion.ts";
import { leftovers } from "./checks/leftovers.ts";
import { reports, signals } from "./checks/loss.ts";
import { needlessFailures, progress, recovery } from "./checks/progress.ts";
import { endings, errors, settling } from "./checks/settling.ts";
import { growth, handOver, tokens, waking } from "./checks/validity.ts";

export const CHECKS = {
  exclusion,
  presence,
  increments,
  "writes under the lock": writesUnderLock,
  settling,
  errors,
  endings,
  "signal in time": signals,
  "loss reported": reports,
  "valid at hand-over": handOver,
  "validity grows by extension": growth,
  "truth after a pause": waking,
  "tokens are new": tokens,
  "keys left": leftovers,
  "no needless failure": needlessFailures,
  progress,
  recovery,
} satisfies Record<string, Check>;

export type CheckName = keyof typeof CHECKS;
export type Finding = Violation & { readonly check: CheckName };

/** All that should not have been. */
export function judge(evidence: Evidence): Finding[] {
  return Object.entries(CHECKS)
    .flatMap(([check, judgeBy]) => judgeBy(evidence).map((found) => ({ ...found, check: check as CheckName })))
    .sort((one, other) => one.atMs - other.atMs);
}
