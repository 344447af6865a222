import type { Check } from "./check.ts";
import { isExcused, overlapsIn } from "./excuses.ts";

/** Never do two count on one resource: each from its hand-over until it leaves, hears of the loss, or its validity ends. */
export const exclusion: Check = (evidence) =>
  overlapsIn(evidence)
    .filter((overlap) => !isExcused(evidence, overlap))
    .map(({ resource, earlier, later }) => ({
      atMs: later.granted.atMs,
      who: later.granted.process,
      message: `got "${resource}" while ${earlier.granted.process} held it for ${(earlier.untilMs - later.granted.atMs).toFixed(1)} ms more`,
    }));

/**
 * The same by the resource itself, without a clock: nobody meets another's mark. The marks of those who were killed, or paused
 * until their lock had run out, are no sign of two holders.
 */
export const presence: Check = (evidence) => {
  const holds = new Map(evidence.reading.holds.map((hold) => [hold.granted.token, hold]));
  return evidence.reading.of("met").flatMap(({ atMs, process, token, resource, other }) => {
    const [here, there] = [holds.get(token), holds.get(other)];
    if (here === undefined || there === undefined) {
      return [{ atMs, who: process, message: `met somebody unknown at "${resource}"` }];
    }
    if (atMs >= there.untilMs || atMs >= here.untilMs) return [];
    const isFirst = here.granted.atMs <= there.granted.atMs;
    const [earlier, later] = isFirst ? [here, there] : [there, here];
    if (isExcused(evidence, { resource, earlier, later })) return [];
    return [{ atMs, who: process, message: `met ${there.granted.process} at "${resource}"` }];
  });
};
