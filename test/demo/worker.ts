/**
 * One worker of the demo, a process of its own, which uses the built package as an application would. It takes turns until
 * it is told to stop, and reports each to its parent.
 *
 * Usage: worker.ts NUMBER FILE lock|no-lock URL…
 */
import { Redlock, RedlockError } from "redlock-quorum";
import { increment } from "./counter.ts";
import { type Failure, sharedNowMs, TTL_MS, type Turn, WAIT_MS } from "./turn.ts";

const [number, file, guard, ...urls] = process.argv.slice(2);
if (number === undefined || file === undefined) throw new Error("usage: worker.ts NUMBER FILE lock|no-lock URL…");

// The turns are short, so there is no point in waiting long between two attempts.
const redlock = new Redlock(urls, { backoff: { minMs: 2, maxMs: 20 } });

let isStopping = false;
process.on("message", () => {
  isStopping = true;
});
// Without a parent there is nobody left to work for.
process.on("disconnect", () => process.exit());

while (!isStopping) {
  const turn = await take("shared", (throwIfLost) => increment(file, throwIfLost));
  await report(turn);
  if (turn.failure === undefined) await report(await take("own", () => {}));
}
await redlock.close();
process.disconnect();

/** Resolves when the turn has left this process: what is not sent yet when it disconnects would be lost. */
function report(turn: Turn): Promise<unknown> {
  return new Promise((resolve) => process.send?.(turn, resolve));
}

type Work = (throwIfLost: () => void) => Promise<void> | void;

async function take(resource: Turn["resource"], work: Work): Promise<Turn> {
  const startedAtMs = sharedNowMs();
  let workMs: number | undefined;
  let failure: Failure | undefined;
  try {
    await protect(resource, async (throwIfLost) => {
      const workStartedAtMs = sharedNowMs();
      await work(throwIfLost);
      workMs = sharedNowMs() - workStartedAtMs;
    });
  } catch (error) {
    if (!RedlockError.is(error)) throw error;
    failure = { code: error.code, message: error.message };
  }
  const endedAtMs = sharedNowMs();
  return {
    resource,
    startedAtMs,
    endedAtMs,
    incremented: resource === "shared" && workMs !== undefined,
    ...(failure === undefined ? { lockMs: endedAtMs - startedAtMs - (workMs ?? 0) } : { failure }),
  };
}

async function protect(resource: Turn["resource"], work: Work): Promise<void> {
  if (guard === "no-lock") return work(() => {});
  const name = resource === "shared" ? "demo:counter" : `demo:worker-${number}`;
  return redlock.using(name, TTL_MS, { waitMs: WAIT_MS }, (_signal, lock) => work(() => lock.throwIfLost()));
}
