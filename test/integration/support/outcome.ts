import { type AnyRedlockError, RedlockError } from "../../../src/index.ts";
import type { Masters } from "../../fixture/masters.ts";

/** The error of this library that the promise has to reject with. */
export async function failureOf(promise: Promise<unknown>): Promise<AnyRedlockError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`expected a rejection, got ${JSON.stringify(outcome.value)}`);
  if (!RedlockError.is(outcome.error)) throw outcome.error;
  return outcome.error;
}

/** How long it takes until the promise settles, ms. */
export async function elapsedMs(promise: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await promise.catch(() => {});
  return performance.now() - startMs;
}

/**
 * Words with the masters' names in place of their addresses, and without what differs from run to run: times, and how many of
 * the nodes that would all say the same had said so when the verdict fell.
 */
export function words(text: string, { nodes }: Pick<Masters, "nodes">): string {
  let result = text;
  for (const { name, host, port, url } of nodes) {
    for (const address of [new URL(url).host, `${host}:${port}`]) result = result.replaceAll(address, `${name}:6379`);
  }
  result = result.replace(
    /(\d) (held by another owner[^;)]*)(.*); (\d) no answer yet/,
    (_, heard, held, others, pending) => `${Number(heard) + Number(pending)} ${held}${others}`,
  );
  return result.replace(/(free in at most) [\d.]+ (ms|s)/g, "$1 … $2");
}
