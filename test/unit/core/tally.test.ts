import { describe, expect, test } from "vitest";
import { type Ballot, quorumOf, type Tally, tally, type Verdict, verdictOn } from "../../../src/core/tally.ts";

const NODE_COUNTS = [1, 2, 3, 4, 5] as const;
const VALUES = ["granted", "denied", "unknown"] as const;
type Value = (typeof VALUES)[number];

/** ⌊N/2⌋ + 1, written out. */
const QUORUMS = new Map([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 3],
]);

describe("quorum", () => {
  test.each(NODE_COUNTS)("of %i nodes", (nodeCount) => {
    expect(quorumOf(nodeCount)).toBe(QUORUMS.get(nodeCount));
  });

  test("any two quorums share a node, and all nodes make one", () => {
    for (let nodeCount = 1; nodeCount <= 101; nodeCount += 1) {
      expect(2 * quorumOf(nodeCount)).toBeGreaterThan(nodeCount);
      expect(quorumOf(nodeCount)).toBeLessThanOrEqual(nodeCount);
    }
  });

  test("a minority of nodes can be dead, and no more is asked for than needed", () => {
    for (let nodeCount = 1; nodeCount <= 101; nodeCount += 1) {
      const minority = Math.ceil(nodeCount / 2) - 1;
      expect(nodeCount - minority).toBeGreaterThanOrEqual(quorumOf(nodeCount));
      expect(2 * (quorumOf(nodeCount) - 1)).toBeLessThanOrEqual(nodeCount);
    }
  });
});

/** What a complete round means, in the words of the documentation and not in those of the code. */
function meaning(votes: readonly Value[], quorum: number): Exclude<Verdict, "undecided" | "expired"> {
  const granted = votes.filter((vote) => vote === "granted").length;
  const denied = votes.filter((vote) => vote === "denied").length;
  if (granted >= quorum) return "won";
  if (votes.length - denied < quorum) return "refused";
  return granted + denied >= quorum ? "contended" : "unreachable";
}

/** A lost round is told as contention or as unreachable; `contended` may harden into `refused`. */
function outcome(verdict: Verdict): Verdict {
  return verdict === "refused" ? "contended" : verdict;
}

function* completions(ballots: readonly Ballot[]): Generator<Value[]> {
  const open = ballots.indexOf(undefined);
  if (open === -1) yield ballots as Value[];
  else for (const value of VALUES) yield* completions(ballots.with(open, value));
}

function* assignments(nodeCount: number): Generator<Value[]> {
  yield* completions(Array.from({ length: nodeCount }, () => undefined));
}

function* orders(nodes: readonly number[]): Generator<number[]> {
  if (nodes.length === 0) yield [];
  for (const node of nodes) for (const rest of orders(nodes.filter((other) => other !== node))) yield [node, ...rest];
}

/** The verdict that can be given when these ballots are in: what all completions agree on. */
const expected = memoized((ballots: readonly Ballot[]): Verdict => {
  const quorum = quorumOf(ballots.length);
  const meanings = [...completions(ballots)].map((votes) => meaning(votes, quorum));
  const [first = "undecided", ...others] = new Set(meanings.map(outcome));
  if (others.length > 0) return "undecided";
  if (first !== "contended") return first;
  return meanings.every((each) => each === "refused") ? "refused" : "contended";
});

function memoized<T>(compute: (ballots: readonly Ballot[]) => T): (ballots: readonly Ballot[]) => T {
  const known = new Map<string, T>();
  return (ballots) => {
    const key = ballots.map((ballot) => ballot?.[0] ?? "-").join("");
    const value = known.get(key) ?? compute(ballots);
    known.set(key, value);
    return value;
  };
}

describe.each(NODE_COUNTS)("%i nodes: every vote, every order of arrival, every deadline", (nodeCount) => {
  const quorum = quorumOf(nodeCount);
  const all = Array.from({ length: nodeCount }, (_, node) => node);

  test("the verdict falls as early as it can, and the full tally never contradicts it", () => {
    const faults: string[] = [];
    let cases = 0;
    for (const votes of assignments(nodeCount)) {
      const final = meaning(votes, quorum);
      for (const order of orders(all)) {
        cases += 1;
        const ballots: Ballot[] = all.map(() => undefined);
        for (let heard = 0; ; heard += 1) {
          const told = verdictOn(tally(ballots), quorum, 1);
          const where = () => `${votes} in order ${order}, ${heard} heard: ${told}`;
          if (told !== expected(ballots)) faults.push(`${where()}, expected ${expected(ballots)}`);
          if (told !== "undecided" && outcome(told) !== outcome(final)) faults.push(`${where()}, in the end ${final}`);
          // The deadline: what has not been heard is unknown, and the round is decided whatever came.
          const atDeadline = ballots.map((ballot) => ballot ?? "unknown");
          const last = verdictOn(tally(atDeadline), quorum, 1);
          if (last !== meaning(atDeadline, quorum)) faults.push(`${where()}, at the deadline ${last}`);
          const next = order[heard];
          if (next === undefined) break;
          ballots[next] = votes[next];
        }
      }
    }
    expect(faults.slice(0, 5)).toEqual([]);
    expect(cases).toBe(3 ** nodeCount * factorial(nodeCount));
  });

  test("no two rounds that other owners' keys exclude from each other are both won", () => {
    // A node grants one of two rounds at most, whatever else it answers: a denial, or nothing that can be trusted.
    for (const first of assignments(nodeCount)) {
      for (const second of assignments(nodeCount)) {
        if (first.some((vote, node) => vote === "granted" && second[node] === "granted")) continue;
        const won = [first, second].filter((votes) => verdictOn(tally(votes), quorum, 1) === "won");
        expect(won.length).toBeLessThan(2);
      }
    }
  });

  test("a quorum that comes when no validity is left is never won", () => {
    for (const votes of assignments(nodeCount)) {
      const isWon = meaning(votes, quorum) === "won";
      for (const leftMs of [0, -1, Number.NEGATIVE_INFINITY]) {
        expect(verdictOn(tally(votes), quorum, leftMs)).toBe(isWon ? "expired" : meaning(votes, quorum));
      }
      if (isWon) expect(verdictOn(tally(votes), quorum, Number.POSITIVE_INFINITY)).toBe("won");
    }
  });
});

/** Thresholds as a person reads them: each row is a round, and the column `verdict` what is told of it. */
const ROWS: readonly [
  granted: number,
  denied: number,
  unknown: number,
  pending: number,
  verdict: Verdict,
  why: string,
][] = [
  [2, 0, 0, 1, "won", "nobody waits for the third"],
  [1, 1, 0, 1, "undecided", "the third decides"],
  [1, 1, 1, 0, "contended", "two answered, which is a quorum"],
  [1, 0, 2, 0, "unreachable", "one answered"],
  [0, 2, 0, 1, "refused", "the third cannot make a quorum"],
  [0, 1, 1, 1, "undecided", "lost, and the third tells why"],
  [0, 0, 2, 1, "unreachable", "whatever the third says"],
  [1, 2, 0, 0, "refused", "two deny"],
  [2, 2, 0, 0, "refused", "an even split of four ends at once"],
  [1, 1, 0, 0, "refused", "an even split of two ends at once"],
  [2, 1, 1, 0, "contended", "three of four answered"],
  [2, 0, 2, 0, "unreachable", "two of four answered"],
  [0, 2, 0, 2, "refused", "two of four deny: no quorum of three is left"],
  [1, 3, 1, 0, "refused", "three of five deny"],
  [2, 1, 2, 0, "contended", "three of five answered"],
  [1, 1, 3, 0, "unreachable", "two of five answered"],
  [3, 0, 0, 2, "won", "three of five"],
];

describe("verdicts in words", () => {
  test.each(ROWS)(
    "%i granted, %i denied, %i unknown, %i pending: %s (%s)",
    (granted, denied, unknown, pending, verdict) => {
      const count: Tally = { granted, denied, unknown, pending };
      expect(verdictOn(count, quorumOf(granted + denied + unknown + pending), 1)).toBe(verdict);
    },
  );

  test("a round with fewer voters than a quorum can never be won", () => {
    expect(verdictOn(tally(["granted", undefined]), 3, 1)).not.toBe("won");
    expect(verdictOn(tally(["granted", "granted"]), 3, 1)).not.toBe("won");
  });
});

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
