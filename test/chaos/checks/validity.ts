import type { Hold } from "../holds.ts";
import type { Reading } from "../reading.ts";
import { touches } from "../spans.ts";
import { longestValidityMs } from "../terms.ts";
import type { Check, Violation } from "./check.ts";

/** Clocks are read one after the other. */
const CLOCK_MS = 1;
/** Between the library's last look and the holder's first statement: no code of ours, but the process may be stopped. */
const HAND_OVER_MS = 100;

/** A lock that is handed over is valid then. */
export const handOver: Check = ({ reading }) =>
  reading.holds.flatMap(({ granted: { atMs, validUntilMs, process, resources } }): Violation[] => {
    if (validUntilMs > atMs) return [];
    if (touches(reading.stallsOf(process), atMs - HAND_OVER_MS, atMs + HAND_OVER_MS)) return [];
    return [{ atMs, who: process, message: `got "${resources.join(", ")}" when its validity had ended` }];
  });

/** A validity grows by extensions only, and never beyond `ttl − drift` from now. */
export const growth: Check = ({ reading }) => reading.holds.flatMap(growthOf);

function growthOf({ granted, looks }: Hold): Violation[] {
  let limitMs = granted.atMs + longestValidityMs(granted.ttlMs);
  return looks.flatMap((look): Violation[] => {
    const isExtended = granted.isAutoExtended || look.is === "granted" || look.ttlMs !== undefined;
    if (isExtended) limitMs = Math.max(limitMs, look.atMs + longestValidityMs(look.ttlMs ?? granted.ttlMs));
    const excessMs = look.validUntilMs - limitMs;
    if (excessMs <= CLOCK_MS) return [];
    const message = `"${granted.resources.join(", ")}" is said to be held ${Math.round(excessMs)} ms longer than its ttl allows`;
    return [{ atMs: look.atMs, who: granted.process, message }];
  });
}

/** A process that was stopped for longer than the ttl knows in its first statement that the lock is gone. */
export const waking: Check = ({ reading, terms }) => {
  const longestMs = longestValidityMs(terms.longestTtlMs);
  const pauses = reading.strikes.filter(
    ({ clients, fault, injectedMs, healMs }) =>
      clients.length > 0 && fault === PAUSED && healMs - injectedMs > longestMs,
  );
  return pauses.flatMap(({ clients, fromMs, healMs }) =>
    reading.holds
      .filter(({ granted }) => clients.includes(granted.process) && granted.atMs < fromMs)
      .flatMap((hold) => claimsAfter(reading, hold, healMs)),
  );
};

/** The fault's name; its own module would bring processes and servers along. */
const PAUSED = "client process paused";

function claimsAfter(reading: Reading, { granted, looks }: Hold, atMs: number): Violation[] {
  const writes = reading.of("writing").filter(({ token }) => token === granted.token);
  return [...looks, ...writes]
    .filter((claim) => claim.atMs > atMs)
    .map((claim) => ({
      atMs: claim.atMs,
      who: granted.process,
      message: `still holds "${granted.resources.join(", ")}" after a pause that was longer than its ttl`,
    }));
}

/** No two grants have one token. */
export const tokens: Check = ({ reading }) => {
  const seen = new Set<string>();
  return reading.holds.flatMap(({ granted: { token, atMs, process } }): Violation[] => {
    if (!seen.has(token)) {
      seen.add(token);
      return [];
    }
    return [{ atMs, who: process, message: `was granted the token ${token}, which had been used before` }];
  });
};
