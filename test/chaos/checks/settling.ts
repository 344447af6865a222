import { isAcquire } from "../reading.ts";
import { type Check, SLACK_MS, type Violation } from "./check.ts";

/** Every call settles, in the time that the documentation gives it. */
export const settling: Check = ({ reading }) =>
  reading.calls.flatMap(({ invoke, outcome }): Violation[] => {
    const { atMs, process, operation, limitMs } = invoke;
    const who = process;
    if (outcome === undefined) {
      const isUnknown = reading.goneOf(process) !== undefined;
      return isUnknown ? [] : [{ atMs, who, message: `${operation} never settled` }];
    }
    const lateMs = reading.ranMs(process, atMs, outcome.atMs) - limitMs;
    if (lateMs <= SLACK_MS) return [];
    const message = `${operation} settled ${Math.round(lateMs)} ms after its limit of ${Math.round(limitMs)} ms`;
    return [{ atMs: outcome.atMs, who, message }];
  });

const ACQUIRE_CODES = ["ERR_LOCK_HELD", "ERR_QUORUM_UNREACHABLE", "gave up", "stopping", "null"];

/** Calls fail only as they are documented to. */
export const errors: Check = ({ reading }) =>
  reading.calls.flatMap(({ invoke: { operation, process }, outcome }): Violation[] => {
    if (outcome?.is !== "failed") return [];
    const known = isAcquire(operation) ? ACQUIRE_CODES : [];
    // What `using` throws when the lock was lost comes at its end, which stands in the history as a release.
    if ([...known, "ERR_LOCK_LOST"].includes(outcome.code)) return [];
    const message = `${operation} failed with ${outcome.code}: ${outcome.message}`;
    return [{ atMs: outcome.atMs, who: process, message }];
  });

/** Every client that nobody killed comes to its end, with all nodes well again and no release left to tell. */
export const endings: Check = ({ reading, terms }) => {
  const ended = new Set(reading.of("ended").map(({ process }) => process));
  const unended = reading.of("started").flatMap(({ process, atMs }): Violation[] => {
    const gone = reading.goneOf(process);
    if (gone?.why === "killed" || (gone === undefined && ended.has(process))) return [];
    return [{ atMs: gone?.atMs ?? atMs, who: process, message: `did not end by itself: ${gone?.message ?? "silent"}` }];
  });
  const unsettled = reading.of("settled").flatMap(({ process, atMs, ready, kept }): Violation[] => {
    if (ready === terms.nodes.length && kept === 0) return [];
    const message = `${ready} of ${terms.nodes.length} nodes vote again, ${kept} releases are kept`;
    return [{ atMs, who: process, message }];
  });
  return [...unended, ...unsettled];
};
