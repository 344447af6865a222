import { FAULTS, type FaultName, type Wish } from "./plan.ts";
import { type Result, run } from "./run.ts";

/**
 * Leaves out of a failing run what it does not need to fail in the same way: kinds of faults, and clients. What remains tells
 * what the failure is about.
 */
export function minimize(failing: Result): Result {
  const invariant = failing.violation?.invariant;
  const stillFails = (wish: Wish) => run(wish).violation?.invariant === invariant;
  let wish = failing.wish;
  for (const fault of FAULTS) {
    const without: readonly FaultName[] = [...(wish.without ?? []), fault];
    if (stillFails({ ...wish, without })) wish = { ...wish, without };
  }
  for (const maxClients of [2, 3, 4]) {
    const smaller = { ...wish, maxClients };
    if (!stillFails(smaller)) continue;
    wish = smaller;
    break;
  }
  return run(wish, { isRecording: true });
}
