import { describe, expect, test } from "vitest";
import { at, expectAnothers, expectTold, isUntold, type OpenSubject, TTL_MS } from "./open-subject.ts";
import { ANOTHERS_TOKEN, isForeign, isUntouched, longestLived, OURS_TTL_MS, STATES, type State } from "./states.ts";

/** One key in every state, and every pair, and three keys where the last one decides. */
const SITUATIONS: readonly (readonly State[])[] = [
  ...STATES.map((state) => [state]),
  ...STATES.flatMap((first) => STATES.map((second) => [first, second])),
  ["ours", "ours", "absent"],
  ["absent", "ours", "another"],
  ["ours", "absent", "hash"],
  ["ours", "absent", "plain"],
];

/** Every command on keys in every state: what it votes, and what stands there afterwards. */
export function describeSituations(subject: OpenSubject): void {
  describe.each(SITUATIONS.map((states) => ({ name: states.join(" + "), states })))("keys: $name", ({ states }) => {
    const hasForeign = states.some(isForeign);

    test.each([
      { kind: "acquire", ttlMs: TTL_MS, what: "a longer ttl" },
      { kind: "acquire", ttlMs: 30_000, what: "a shorter ttl" },
      { kind: "repair", ttlMs: TTL_MS, what: "a longer ttl" },
      { kind: "repair", ttlMs: 30_000, what: "a shorter ttl" },
    ] as const)("$kind with $what", async ({ kind, ttlMs }) => {
      const { token, keys, expectUntouched } = await subject.prepare(states);
      const vote = await subject.send({ kind, keys, token, ttlMs });
      // Every acquire has a new token, so it may go as the plain SET NX, which cannot tell our own key from another's.
      const isDeniedUntold = isUntold(vote) && kind === "acquire" && states.every((state) => state === "ours");
      if (hasForeign || isDeniedUntold) {
        expectAnothers(vote, "denied");
        await expectUntouched();
        return;
      }
      expect(vote).toEqual({ vote: "granted", found: { key: "ours" } });
      for (const [index, state] of states.entries()) {
        await subject.expectKey(at(keys, index), token, state === "ours" ? Math.max(ttlMs, OURS_TTL_MS) : ttlMs);
      }
    });

    test.each([
      { ttlMs: TTL_MS, what: "a longer ttl" },
      { ttlMs: 30_000, what: "a shorter ttl" },
    ])("extend with $what", async ({ ttlMs }) => {
      const { token, keys, expectUntouched } = await subject.prepare(states);
      const vote = await subject.extend(keys, token, ttlMs);
      if (states.every((state) => state === "ours")) {
        expect(vote).toEqual({ vote: "granted", found: { key: "ours" } });
        for (const key of keys) await subject.expectKey(key, token, Math.max(ttlMs, OURS_TTL_MS));
        return;
      }
      if (hasForeign) expectAnothers(vote, "denied");
      else expect(vote).toEqual({ vote: "denied", found: { key: "absent" } });
      await expectUntouched();
    });

    test("release", async () => {
      const { token, keys } = await subject.prepare(states);
      const vote = await subject.release(keys, token);
      const longest = longestLived(states);
      if (states.every((state) => state === "ours")) expect(vote).toEqual({ vote: "granted", found: { key: "ours" } });
      else if (longest === undefined) expect(vote).toEqual({ vote: "granted", found: { key: "absent" } });
      else expectTold(expectAnothers(vote, "granted"), longest);
      for (const [index, state] of states.entries()) {
        expect(await isUntouched(subject.admin, at(keys, index), state === "ours" ? "absent" : state), state).toBe(
          true,
        );
      }
    });
  });

  describe.each(STATES)("inspect: %s", (state) => {
    test("tells what is there and changes nothing", async () => {
      const { token, keys, expectUntouched } = await subject.prepare([state]);
      const vote = await subject.inspect(at(keys, 0));
      await expectUntouched();
      if (state === "absent") {
        expect(vote).toEqual({ vote: "granted", found: { key: "absent" } });
        return;
      }
      const found = expectAnothers(vote, "granted");
      if (state === "ours") expectTold(found, { ttlMs: OURS_TTL_MS, types: ["string"] });
      else expectTold(found, longestLived([state]));
      const tokens = { ours: token, another: ANOTHERS_TOKEN, plain: "data", hash: undefined };
      expect(found.token).toBe(tokens[state]);
    });
  });
}
