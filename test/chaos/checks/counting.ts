import { groupBy } from "../group-by.ts";
import type { EventOf } from "../history.ts";
import type { Check, Evidence, Violation } from "./check.ts";
import { isExcused, overlapsIn } from "./excuses.ts";

/**
 * One write to a shared file. It is certain when the process came back from it while the lock was valid. Otherwise it may have
 * been carried out at any moment until then, or not at all: its process was killed, or it was stopped between asking the library
 * and writing, for longer than the validity. Against that no lock helps, only a fencing token; such writes are counted.
 */
interface Write {
  readonly writing: EventOf<"writing">;
  readonly isCertain: boolean;
  readonly untilMs: number;
}

function writesIn(evidence: Evidence): Write[] {
  const { reading } = evidence;
  const written = groupBy(reading.of("written"), ({ token, resource, value }) => `${token} ${resource} ${value}`);
  const inOverlap = new Set(
    overlapsIn(evidence)
      .filter((overlap) => isExcused(evidence, overlap))
      .flatMap(({ earlier, later }) => [earlier.granted.token, later.granted.token]),
  );
  return reading.of("writing").map((writing) => {
    const { token, resource, value, validUntilMs, process } = writing;
    const end = written.get(`${token} ${resource} ${value}`)?.find(({ atMs }) => atMs >= writing.atMs)?.atMs;
    return {
      writing,
      isCertain: end !== undefined && end <= validUntilMs && !inOverlap.has(token),
      untilMs: end ?? reading.goneOf(process)?.atMs ?? reading.toMs,
    };
  });
}

/** Writes of which the process came back after the validity: it was slow, or stopped between its last look at the lock and the end. */
export function lateWritesIn({ reading }: Evidence): number {
  const validUntil = new Map(
    reading
      .of("writing")
      .map(({ token, resource, value, validUntilMs }) => [`${token} ${resource} ${value}`, validUntilMs]),
  );
  return reading
    .of("written")
    .filter(({ token, resource, value, atMs }) => atMs > (validUntil.get(`${token} ${resource} ${value}`) ?? 0)).length;
}

/** No increment is lost: each certain write adds one to what stood there, and the file ends with what the last one wrote. */
export const increments: Check = (evidence) => {
  const { reading, final } = evidence;
  const violations: Violation[] = [];
  const writes = groupBy(writesIn(evidence), ({ writing }) => writing.resource);
  for (const [resource, found] of Object.entries(final.counts)) {
    let possible = new Set([0]);
    const uncertain: Write[] = [];
    for (const write of writes.get(resource) ?? []) {
      const { value, atMs, process } = write.writing;
      if (!write.isCertain) {
        uncertain.push(write);
        possible.add(value);
        continue;
      }
      if (!possible.has(value - 1)) {
        const message = `wrote ${value} to "${resource}", where ${[...possible].join(" or ")} stood: an increment is lost`;
        violations.push({ atMs, who: process, message });
      }
      const later = uncertain.filter(({ untilMs }) => untilMs >= atMs);
      possible = new Set([value, ...later.map(({ writing }) => writing.value)]);
    }
    if (possible.has(found)) continue;
    const message = `"${resource}" ends with ${found}, and ${[...possible].join(" or ")} was written last`;
    violations.push({ atMs: reading.toMs, who: resource, message });
  }
  return violations;
};

/** What the clock that was read before the library's own may say less of a validity. */
const CLOCK_MS = 5;

/** Nobody writes after the library has reported the loss. */
export const writesUnderLock: Check = ({ reading }) => {
  const holds = new Map(reading.holds.map((hold) => [hold.granted.token, hold]));
  return reading.of("writing").flatMap(({ atMs, process, token, resource }) => {
    const hold = holds.get(token);
    const isHeld = hold !== undefined && atMs <= hold.untilMs + CLOCK_MS;
    return isHeld ? [] : [{ atMs, who: process, message: `wrote to "${resource}" without holding it` }];
  });
};
