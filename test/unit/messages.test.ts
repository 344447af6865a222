import { describe, expect, test } from "vitest";
import { dataKind, describeVotes, duration, quote } from "../../src/messages.ts";
import type { NodeVote, Vote } from "../../src/node.ts";

const GRANTED: Vote = { vote: "granted", found: { key: "ours" } };
const HELD: Vote = { vote: "denied", found: { key: "another", ttlMs: 8_200, type: "string" } };
const HASH: Vote = { vote: "denied", found: { key: "another", ttlMs: Number.POSITIVE_INFINITY, type: "hash" } };
const TIMEOUT: Vote = { vote: "unknown", reason: "timeout", message: "timed out after 250 ms" };

function from(...votes: Vote[]): NodeVote[] {
  return votes.map((vote, index) => ({ ...vote, name: `redis-${index + 1}:6379`, elapsedMs: 1 }));
}

describe("votes in words", () => {
  test("as the documentation shows them", () => {
    const votes = from(HELD, HELD, TIMEOUT, GRANTED, HELD);
    expect(describeVotes(["invoice:42"], votes, 3, 8_200)).toBe(
      '"invoice:42": 1/5 granted, 3 needed (3 held by another owner, free in at most 8.2 s; 1 timed out after 250 ms: redis-3:6379)',
    );
  });

  test.each([
    { votes: from(GRANTED, GRANTED), text: '"a": 2/2 granted, 2 needed (the answers came too late)' },
    {
      votes: from(TIMEOUT, TIMEOUT),
      text: '"a": 0/2 granted, 2 needed (2 timed out after 250 ms: redis-1:6379, redis-2:6379)',
    },
    {
      votes: from(HASH),
      text: '"a": 0/1 granted, 1 needed (1 holding data under that name (a hash), not a lock: redis-1:6379)',
    },
    {
      votes: from({ vote: "denied", found: { key: "absent" } }),
      text: '"a": 0/1 granted, 1 needed (1 without the key: redis-1:6379)',
    },
    {
      votes: from({ vote: "denied", found: { key: "another" } }),
      text: '"a": 0/1 granted, 1 needed (1 held by another owner)',
    },
  ])("$text", ({ votes, text }) => {
    expect(describeVotes(["a"], votes, quorumSize(votes))).toBe(text);
  });
});

const quorumSize = (votes: readonly NodeVote[]) => Math.floor(votes.length / 2) + 1;

test.each([
  [{ key: "another", type: "hash", ttlMs: 5 }, "a hash"],
  [{ key: "another", type: "string", ttlMs: Number.POSITIVE_INFINITY }, "a string without expiry"],
  [{ key: "another", type: "string", ttlMs: 5 }, undefined],
  [{ key: "another" }, undefined],
  [{ key: "ours" }, undefined],
  [{ key: "absent" }, undefined],
] as const)("what is no lock: %j is %s", (found, kind) => {
  expect(dataKind(found)).toBe(kind);
});

test.each([
  [0, "0 ms"],
  [0.2, "1 ms"],
  [850, "850 ms"],
  [999, "999 ms"],
  [1_000, "1 s"],
  [8_200, "8.2 s"],
  [8_201, "8.3 s"],
  [9_950, "10 s"],
  [12_300, "13 s"],
  [59_000, "59 s"],
  [60_000, "1 min"],
  [90_000, "1.5 min"],
  [3_600_000, "1 h"],
  [604_800_000, "168 h"],
])("%d ms are %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("a tenth that is exact stays as it is, whatever binary fractions do", () => {
  for (let tenths = 10; tenths < 100; tenths += 1) expect(duration(tenths * 100)).toBe(`${tenths / 10} s`);
});

test("a time never reads as more than what makes the next unit", () => {
  for (let ms = 1; ms < 4_000_000; ms += 37) {
    const [value = "", unit] = duration(ms).split(" ");
    const isNextUnit =
      (unit === "ms" && Number(value) >= 1_000) || (unit !== "h" && unit !== "ms" && Number(value) > 60);
    expect(isNextUnit, `${ms} ms are ${value} ${unit}`).toBe(false);
  }
});

test.each([
  [["a"], '"a"'],
  [["a", "b", "c"], '"a", "b", "c"'],
  [["a", "b", "c", "d", "e"], '"a", "b", "c" and 2 more'],
  [['with "quotes"\n'], '"with \\"quotes\\"\\n"'],
  [[], ""],
])("resources %j are quoted as %s", (resources, text) => {
  expect(quote(resources)).toBe(text);
});
