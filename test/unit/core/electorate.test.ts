import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Electorate } from "../../../src/core/electorate.ts";
import { type Event, type Start, World } from "./electorate-world.ts";

const STARTS: readonly Start[] = ["all granted", "one grant is late", "one has never got it"];

/** How many events of each kind may still happen. */
type Budget = Readonly<Record<Event["is"], number>>;

/** All that can happen next and changes something. */
function choices(world: World, budget: Budget, last?: Event): Event[] {
  const nodes = world.keys.map((_, node) => node);
  const events: Event[] = [];
  if (budget.flush > 0) {
    // Two flushes in a row commute: one order is enough.
    const first = last?.is === "flush" ? last.node : 0;
    const flushable = nodes.filter((node) => node >= first && world.keys[node] !== "absent");
    events.push(...flushable.map((node) => ({ is: "flush", node }) as const));
  }
  if (budget.rival > 0) {
    events.push(...subsets(world.absent, world.quorum).map((subset) => ({ is: "rival", nodes: subset }) as const));
  }
  if (budget.round > 0) {
    const minority = world.nodeCount - world.quorum;
    const silent = Array.from({ length: minority + 1 }, (_, size) => subsets(nodes, size)).flat();
    events.push(...silent.map((subset) => ({ is: "round", silent: subset }) as const));
  }
  if (budget.deliver > 0) events.push(...world.waiting.map((node) => ({ is: "deliver", node }) as const));
  return events;
}

function subsets(nodes: readonly number[], size: number): number[][] {
  if (size === 0) return [[]];
  return nodes.flatMap((node, index) => subsets(nodes.slice(index + 1), size - 1).map((rest) => [node, ...rest]));
}

/** The first history that ends with two holders; undefined: there is none within the budget. */
function search(
  start: Start,
  budget: Budget,
  count: { histories: number },
  history: readonly Event[] = [],
): readonly Event[] | undefined {
  const world = new World(3, start);
  for (const event of history) world.apply(event);
  count.histories += 1;
  if (world.isBroken) return history;
  if (world.isLost) return undefined;
  for (const event of choices(world, budget, history.at(-1))) {
    const rest = { ...budget, [event.is]: budget[event.is] - 1 };
    const found = search(start, rest, count, [...history, event]);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe("once a rival has been granted a quorum, no extension that is sent after that is won", () => {
  // Three flushes give the rival its quorum and make it forget one node; two late answers carry a repair past a round.
  test.each(STARTS)("every history of three nodes with up to 9 events: %s", (start) => {
    const count = { histories: 0 };
    expect(search(start, { flush: 3, rival: 1, round: 3, deliver: 2 }, count)).toBeUndefined();
    expect(count.histories).toBeGreaterThan(100_000);
  });

  test.each([3, 4, 5])("long random histories of %i nodes", (nodeCount) => {
    const unlimited: Budget = { flush: 1, rival: 1, round: 1, deliver: 1 };
    const anyHistory = fc.array(fc.nat(), { minLength: 10, maxLength: 60 });
    fc.assert(
      fc.property(fc.constantFrom(...STARTS), anyHistory, (start, history) => {
        const world = new World(nodeCount, start);
        const happened: Event[] = [];
        for (const choice of history) {
          if (world.isLost) break;
          const possible = choices(world, unlimited);
          const event = possible[choice % possible.length];
          if (event === undefined) break;
          happened.push(event);
          world.apply(event);
          if (world.isBroken) throw new Error(`two holders after ${JSON.stringify(happened)}`);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A held lock on three nodes that all granted. */
function heldOnThree(): Electorate {
  const electorate = new Electorate(3, 2);
  for (const node of [0, 1, 2]) electorate.acquireAnswered(node, true, true);
  return electorate;
}

/** Those that count in the round that is opened now. */
function votersOf(electorate: Electorate): number[] {
  electorate.openRound();
  return [...electorate.voters];
}

/** The others grant, so the round is won without node 0, which answers last. */
function wonRound(electorate: Electorate, nodeZero: "granted" | "denied"): void {
  const round = electorate.openRound();
  for (const node of [1, 2]) electorate.extendGranted(node, round, true);
  if (nodeZero === "granted") electorate.extendGranted(0, round, true);
  else electorate.extendDenied(0);
}

describe("who votes", () => {
  test("those that granted the acquire, also late; those that denied or stayed silent do not", () => {
    const electorate = new Electorate(5, 3);
    electorate.acquireAnswered(0, true, true);
    electorate.acquireAnswered(1, false, true);
    electorate.acquireAnswered(2, true, true);
    electorate.acquireAnswered(3, true, true);
    electorate.acquireAnswered(4, true, true);
    expect(votersOf(electorate)).toEqual([0, 2, 3, 4]);
  });

  test("a grant that comes after the round's deadline does not count at once: it may be of just now", () => {
    const electorate = new Electorate(3, 2);
    electorate.acquireAnswered(1, true, true);
    electorate.acquireAnswered(2, true, true);
    electorate.acquireAnswered(0, true, false);
    expect(votersOf(electorate)).toEqual([1, 2]);
    wonRound(electorate, "granted");
    expect(votersOf(electorate)).toEqual([0, 1, 2]);
  });

  test("only a node that does not count may be repaired", () => {
    const electorate = heldOnThree();
    expect(electorate.mayRepair(0)).toBe(false);
    wonRound(electorate, "denied");
    expect(electorate.mayRepair(0)).toBe(true);
    electorate.repaired(0);
    expect(electorate.mayRepair(0)).toBe(false);
  });

  test("not a node that said its key is gone, though a late answer to the acquire says otherwise", () => {
    const electorate = new Electorate(3, 2);
    electorate.acquireAnswered(0, true, true);
    electorate.acquireAnswered(1, true, true);
    electorate.extendDenied(2);
    electorate.acquireAnswered(2, true, true);
    expect(votersOf(electorate)).toEqual([0, 1]);
  });

  test("a repaired node: not in the round right after, and again after a later one was won without it", () => {
    const electorate = heldOnThree();
    wonRound(electorate, "denied");
    electorate.repaired(0);
    expect(votersOf(electorate)).toEqual([1, 2]);
    wonRound(electorate, "granted");
    expect(votersOf(electorate)).toEqual([0, 1, 2]);
  });

  test("a repaired node stays out as long as no round is won without it", () => {
    const electorate = heldOnThree();
    wonRound(electorate, "denied");
    electorate.repaired(0);
    for (let turn = 0; turn < 3; turn += 1) {
      const round = electorate.openRound();
      electorate.extendGranted(0, round, false);
      electorate.extendGranted(1, round, false);
    }
    expect(votersOf(electorate)).toEqual([1, 2]);
  });

  test("a repair that is confirmed while a round is under way waits for the next one", () => {
    const electorate = heldOnThree();
    wonRound(electorate, "denied");
    const round = electorate.openRound();
    electorate.repaired(0);
    electorate.extendGranted(0, round, true);
    expect(votersOf(electorate)).toEqual([1, 2]);
    wonRound(electorate, "granted");
    expect(votersOf(electorate)).toEqual([0, 1, 2]);
  });

  test("a node that votes again keeps its vote when the answer to its repair comes after that", () => {
    const electorate = heldOnThree();
    wonRound(electorate, "denied");
    wonRound(electorate, "granted");
    wonRound(electorate, "granted");
    electorate.repaired(0);
    expect(votersOf(electorate)).toEqual([0, 1, 2]);
  });

  test("a node that never answered the acquire, and is found to hold the key, is treated as a repaired one", () => {
    const electorate = new Electorate(3, 2);
    electorate.acquireAnswered(1, true, true);
    electorate.acquireAnswered(2, true, true);
    wonRound(electorate, "granted");
    expect(votersOf(electorate)).toEqual([1, 2]);
    wonRound(electorate, "granted");
    expect(votersOf(electorate)).toEqual([0, 1, 2]);
  });
});

describe("loss", () => {
  test("comes when the voters that still hold the key are no quorum any more, and repairs do not undo it", () => {
    const electorate = heldOnThree();
    electorate.extendDenied(0);
    expect(electorate.isLost).toBe(false);
    electorate.extendDenied(1);
    expect(electorate.isLost).toBe(true);
    electorate.repaired(0);
    electorate.repaired(1);
    expect(electorate.isLost).toBe(true);
  });

  test("does not come from silence", () => {
    const electorate = heldOnThree();
    for (let turn = 0; turn < 10; turn += 1) electorate.openRound();
    expect(electorate.isLost).toBe(false);
  });

  test.each([3, 4, 5])(
    "does not come when each of %i nodes restarts in turn, with two rounds in between",
    (nodeCount) => {
      const world = new World(nodeCount, "all granted");
      for (let node = 0; node < nodeCount; node += 1) {
        world.apply({ is: "flush", node });
        world.apply({ is: "round", silent: [] });
        world.apply({ is: "deliver", node });
        world.apply({ is: "round", silent: [] });
        expect(world.isLost).toBe(false);
        expect(world.voters()).toHaveLength(nodeCount);
      }
      expect(world.keys.every((key) => key === "ours")).toBe(true);
    },
  );
});
