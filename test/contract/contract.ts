import { describe } from "vitest";
import { describeNames } from "./names.ts";
import { CrowdedSubject, OpenSubject } from "./open-subject.ts";
import { describeSequences } from "./sequences.ts";
import { describeSituations } from "./situations.ts";
import type { Subject } from "./states.ts";

/** What every node does, whatever is behind it. The same suite runs on the node in memory and on real servers. */
export function lockNodeContract(title: string, open: () => Promise<Subject>): void {
  describe(`LockNode contract: ${title}`, () => {
    const subject = new OpenSubject(open);
    describeSituations(subject);
    describeSequences(subject);
    describeNames(subject);
  });
  describe(`LockNode contract: ${title}, in one tick with other commands`, () => {
    const subject = new CrowdedSubject(open);
    describeSituations(subject);
    describeNames(subject);
  });
}
