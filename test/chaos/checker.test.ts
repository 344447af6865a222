import { expect, test } from "vitest";
import { CHECKS, type CheckName, judge } from "./checker.ts";
import type { FinalState } from "./final-state.ts";
import type { HistoryEvent, Operation } from "./history.ts";
import { Reading } from "./reading.ts";
import type { Terms } from "./terms.ts";

/** Histories written by hand. Each check finds the bad one that is meant for it; the good ones pass all checks. */

const NODES = ["redis-1", "redis-2", "redis-3"];
const TTL_MS = 1_000;
const VALIDITY_MS = 988;

type Bare<Event> = Event extends unknown ? Omit<Event, "process"> : never;
type Line = Bare<HistoryEvent>;

/** One process's lines. */
function by(process: string, ...lines: readonly Line[]): HistoryEvent[] {
  return lines.map((line) => ({ ...line, process }) as HistoryEvent);
}

function call(call: number, operation: Operation, atMs: number, endMs: number): Line[] {
  return [
    { is: "invoke", call, operation, limitMs: 3_000, waitMs: 3_000, atMs },
    { is: "ok", call, atMs: endMs },
  ];
}

interface HoldWish {
  readonly token: string;
  readonly atMs: number;
  readonly untilMs?: number;
  readonly isAutoExtended?: boolean;
  /** What it writes to the file in the middle of its time. */
  readonly value?: number;
}

function hold({ token, atMs, untilMs = atMs + 100, isAutoExtended = false, value }: HoldWish): Line[] {
  const validUntilMs = atMs + VALIDITY_MS - 10;
  const middleMs = (atMs + untilMs) / 2;
  return [
    ...call(atMs, "acquire", atMs - 5, atMs),
    { is: "granted", call: atMs, token, resources: ["a"], ttlMs: TTL_MS, isAutoExtended, validUntilMs, atMs },
    ...(value === undefined ? [] : write(token, value, middleMs)),
    { is: "left", token, atMs: untilMs },
  ];
}

function write(token: string, value: number, atMs: number, endMs = atMs + 1, validUntilMs = atMs + 500): Line[] {
  return [
    { is: "writing", token, resource: "a", value, validUntilMs, atMs },
    { is: "written", token, resource: "a", value, atMs: endMs },
  ];
}

/** A client's whole life around these lines. */
function life(process: string, ...lines: readonly (Line | readonly Line[])[]): HistoryEvent[] {
  return by(
    process,
    { is: "started", atMs: 0 },
    { is: "sees", nodes: [0, 1, 2], atMs: 0 },
    ...(lines.flat() as Line[]),
    { is: "settled", ready: NODES.length, kept: 0, atMs: 9_000 },
    { is: "ended", atMs: 9_001 },
  );
}

interface StrikeWish {
  readonly strike: number;
  readonly fault: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nodes?: readonly string[];
  readonly clients?: readonly string[];
}

function strike({ fromMs, toMs, nodes = [], clients = [], ...what }: StrikeWish): HistoryEvent[] {
  const line = { is: "strike", ...what, nodes, clients } as const;
  return by(
    "runner",
    { ...line, phase: "inject", atMs: fromMs },
    { ...line, phase: "injected", atMs: fromMs + 1 },
    { ...line, phase: "heal", atMs: toMs - 1 },
    { ...line, phase: "healed", atMs: toMs },
  );
}

/** FLUSHALL on these nodes, which held these tokens. */
function flush(atMs: number, nodes: readonly string[], tokens: readonly string[]): HistoryEvent[] {
  const keys = tokens.map((token) => ({ resource: "a", token }));
  return [
    ...strike({ strike: 1, fault: "FLUSHALL", fromMs: atMs, toMs: atMs + 5, nodes }),
    ...by("runner", ...nodes.map((node): Line => ({ is: "wiped", strike: 1, node, keys, isCertain: true, atMs }))),
  ];
}

interface Case {
  readonly what: string;
  readonly history: readonly HistoryEvent[];
  readonly final?: Partial<FinalState>;
  readonly isInBounds?: boolean;
  /** Nothing: it is as it has to be. */
  readonly finds?: CheckName;
}

const OUT = { isInBounds: false };
const LEFT = [{ node: "redis-1", keys: [{ resource: "a", token: "A" }] }];
const A = { token: "A", atMs: 100 };
/** Begins while A is there. */
const B = { token: "B", atMs: 150 };

const good: readonly Case[] = [
  {
    what: "one after the other",
    history: [...life("client-1", hold({ ...A, value: 1 })), ...life("client-2", hold({ ...B, atMs: 250, value: 2 }))],
    final: { counts: { a: 2 } },
  },
  {
    what: "a killed holder's mark, and its write, which may or may not have been carried out",
    history: [
      ...by("client-1", { is: "started", atMs: 0 }, ...hold({ ...A, untilMs: 2_000 }).slice(0, -1)),
      ...by("client-1", ...write("A", 1, 120).slice(0, 1)),
      ...by("runner", { is: "gone", who: "client-1", why: "killed", atMs: 130 }),
      ...life("client-2", hold({ ...B, atMs: 1_200, value: 1 }), {
        is: "met",
        token: "B",
        resource: "a",
        other: "A",
        atMs: 1_201,
      }),
    ],
    final: { counts: { a: 1 }, keysAtEnd: [] },
  },
  {
    what: "a holder that is paused for longer than its validity in the middle of a write",
    history: [
      ...life(
        "client-1",
        hold({ ...A, untilMs: 3_000 }),
        write("A", 1, 200, 2_900, 1_078),
        { is: "stalled", sinceMs: 201, atMs: 2_900 },
        { is: "lost", token: "A", by: "signal", code: "ERR_LOCK_LOST", atMs: 2_901 },
      ),
      ...life("client-2", hold({ ...B, atMs: 1_500, value: 1 })),
      ...strike({ strike: 1, fault: "client process paused", clients: ["client-1"], fromMs: 201, toMs: 2_890 }),
    ],
    final: { counts: { a: 1 } },
  },
  {
    what: "two holders after the first one's key was flushed, and the loss reported",
    history: [
      ...life("client-1", hold({ ...A, untilMs: 1_200 }), {
        is: "lost",
        token: "A",
        by: "signal",
        code: "ERR_LOCK_LOST",
        atMs: 1_070,
      }),
      ...life("client-2", hold(B)),
      ...flush(140, ["redis-1", "redis-2"], ["A"]),
    ],
    ...OUT,
  },
  {
    what: "no quorum: nobody is granted anything, and hears why",
    history: [
      ...life("client-1", hold(A), [
        { is: "invoke", call: 7, operation: "acquire", limitMs: 3_000, waitMs: 3_000, atMs: 1_000 },
        { is: "failed", call: 7, code: "ERR_QUORUM_UNREACHABLE", atMs: 4_000 },
      ]),
      ...strike({ strike: 1, fault: "server killed", nodes: ["redis-1", "redis-2"], fromMs: 500, toMs: 8_000 }),
    ],
  },
];

const bad: readonly (Case & { finds: CheckName })[] = [
  {
    what: "two holders",
    history: [...life("client-1", hold(A)), ...life("client-2", hold(B))],
    finds: "exclusion",
  },
  {
    what: "two holders, and the key of another was flushed",
    history: [...life("client-1", hold(A)), ...life("client-2", hold(B)), ...flush(140, NODES, ["C"])],
    ...OUT,
    finds: "exclusion",
  },
  {
    what: "two holders, and the key was flushed afterwards",
    history: [...life("client-1", hold(A)), ...life("client-2", hold(B)), ...flush(160, NODES, ["A"])],
    ...OUT,
    finds: "exclusion",
  },
  {
    what: "two holders after a flush, where none is allowed",
    history: [...life("client-1", hold(A)), ...life("client-2", hold(B)), ...flush(140, NODES, ["A"])],
    finds: "exclusion",
  },
  {
    what: "somebody who is still there",
    history: [
      ...life("client-1", hold(A)),
      ...life("client-2", hold(B), { is: "met", token: "B", resource: "a", other: "A", atMs: 151 }),
    ],
    finds: "presence",
  },
  {
    what: "a write that takes another's back",
    history: [...life("client-1", hold({ ...A, value: 1 })), ...life("client-2", hold({ ...B, atMs: 250, value: 1 }))],
    final: { counts: { a: 1 } },
    finds: "increments",
  },
  {
    what: "a file that says less than was written",
    history: life("client-1", hold({ ...A, value: 1 })),
    final: { counts: { a: 0 } },
    finds: "increments",
  },
  {
    what: "a write after the loss was reported",
    history: life(
      "client-1",
      hold({ ...A, untilMs: 300 }),
      { is: "lost", token: "A", by: "signal", code: "ERR_LOCK_LOST", atMs: 150 },
      write("A", 1, 200),
    ),
    final: { counts: { a: 1 } },
    finds: "writes under the lock",
  },
  {
    what: "a call that never settles",
    history: life("client-1", call(7, "acquire", 100, 0).slice(0, 1)),
    finds: "settling",
  },
  { what: "a call that settles late", history: life("client-1", call(7, "acquire", 100, 4_000)), finds: "settling" },
  {
    what: "an error that is not documented",
    history: life("client-1", [
      { is: "invoke", call: 7, operation: "acquire", limitMs: 3_000, atMs: 100 },
      { is: "failed", call: 7, code: "TypeError", atMs: 110 },
    ]),
    finds: "errors",
  },
  {
    what: "a client that ends by itself",
    history: [
      ...by("client-1", { is: "started", atMs: 0 }),
      ...by("runner", { is: "gone", who: "client-1", why: "crashed", atMs: 100 }),
    ],
    finds: "endings",
  },
  {
    what: "a node that is well and does not vote again",
    history: by(
      "client-1",
      { is: "started", atMs: 0 },
      { is: "settled", ready: 2, kept: 0, atMs: 9_000 },
      { is: "ended", atMs: 9_001 },
    ),
    finds: "endings",
  },
  {
    what: "a lock that runs out without a word",
    history: life("client-1", hold({ ...A, untilMs: 1_600 })),
    finds: "signal in time",
  },
  {
    what: "a signal that comes late",
    history: life("client-1", hold({ ...A, untilMs: 1_700 }), {
      is: "lost",
      token: "A",
      by: "signal",
      code: "ERR_LOCK_LOST",
      atMs: 1_600,
    }),
    finds: "signal in time",
  },
  {
    what: "a loss that only throws",
    history: life("client-1", hold({ ...A, untilMs: 1_100 }), {
      is: "lost",
      token: "A",
      by: "throwIfLost",
      code: "ERR_LOCK_LOST",
      atMs: 1_095,
    }),
    finds: "signal in time",
  },
  {
    what: "a quorum of keys flushed, and nothing said at the next extension",
    history: [
      ...life("client-1", hold({ ...A, isAutoExtended: true, untilMs: 2_000 }), [
        { is: "held", token: "A", validUntilMs: 1_400, atMs: 450 },
        { is: "held", token: "A", validUntilMs: 2_100, atMs: 1_150 },
      ]),
      ...flush(500, ["redis-1", "redis-2"], ["A"]),
    ],
    ...OUT,
    finds: "loss reported",
  },
  {
    what: "a lock that has ended when it is handed over",
    history: life("client-1", [
      ...call(7, "acquire", 100, 110),
      ...hold(A).map((line) => (line.is === "granted" ? { ...line, validUntilMs: 100 } : line)),
    ]),
    finds: "valid at hand-over",
  },
  {
    what: "a validity that grows by itself",
    history: life("client-1", hold({ ...A, untilMs: 900 }), {
      is: "held",
      token: "A",
      validUntilMs: 1_500,
      atMs: 800,
    }),
    finds: "validity grows by extension",
  },
  {
    what: "a holder that wakes after its ttl and goes on",
    history: [
      ...life(
        "client-1",
        hold({ ...A, isAutoExtended: true, untilMs: 2_600 }),
        { is: "stalled", sinceMs: 150, atMs: 2_500 },
        { is: "held", token: "A", validUntilMs: 3_400, atMs: 2_510 },
      ),
      ...strike({ strike: 1, fault: "client process paused", clients: ["client-1"], fromMs: 150, toMs: 2_500 }),
    ],
    finds: "truth after a pause",
  },
  {
    what: "the same token twice",
    history: life("client-1", hold(A), hold({ ...A, atMs: 300 })),
    finds: "tokens are new",
  },
  {
    what: "a key that outlives its client",
    history: life("client-1", hold(A)),
    final: { keysAtEnd: LEFT },
    finds: "keys left",
  },
  {
    what: "a key that outlives its ttl",
    history: life("client-1", hold(A)),
    final: { keysAtEnd: LEFT, keysLater: LEFT },
    ...OUT,
    finds: "keys left",
  },
  {
    what: "no quorum, though two of three are well",
    history: [
      ...life("client-1", [
        { is: "invoke", call: 7, operation: "acquire", limitMs: 3_000, waitMs: 3_000, atMs: 1_000 },
        { is: "failed", call: 7, code: "ERR_QUORUM_UNREACHABLE", atMs: 4_000 },
      ]),
      ...strike({ strike: 1, fault: "server killed", nodes: ["redis-1"], fromMs: 500, toMs: 8_000 }),
    ],
    finds: "no needless failure",
  },
  {
    what: "nothing granted for a long time, and nothing in the way",
    history: life("client-1", hold(A), hold({ token: "B", atMs: 6_000 })),
    finds: "progress",
  },
  {
    what: "a node that is well and does not come back for a client",
    history: [
      ...life("client-1", { is: "sees", nodes: [1, 2], atMs: 510 }),
      ...strike({ strike: 1, fault: "server killed", nodes: ["redis-1"], fromMs: 500, toMs: 1_000 }),
    ],
    finds: "recovery",
  },
];

function findingsOf({ history, final, isInBounds = true }: Case): CheckName[] {
  const terms: Terms = { nodes: NODES, longestTtlMs: TTL_MS, isInBounds };
  const sorted = history.toSorted((one, other) => one.atMs - other.atMs);
  const evidence = { reading: new Reading(sorted), terms };
  const findings = judge({ ...evidence, final: { keysAtEnd: [], keysLater: [], counts: {}, ...final } });
  return [...new Set(findings.map(({ check }) => check))];
}

test.each(good)("good: $what", (story) => {
  expect(findingsOf(story)).toEqual([]);
});

test.each(bad)("bad: $what", (story) => {
  expect(findingsOf(story)).toContain(story.finds);
});

test("each check finds something", () => {
  expect(new Set(bad.map(({ finds }) => finds))).toEqual(new Set(Object.keys(CHECKS)));
});
