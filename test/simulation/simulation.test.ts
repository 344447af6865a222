import { describe, expect, test } from "vitest";
import { type BatchResult, runBatch } from "./batch.ts";
import { FLAWS, type FlawName, flawOf } from "./flaws.ts";
import { outsideReactions } from "./microtasks.ts";
import { minimize } from "./minimize.ts";
import { commitSeed } from "./options.ts";
import { HOLES, type Wish } from "./plan.ts";
import { describeFailure } from "./report.ts";
import { run } from "./run.ts";

/** `npm run simulate` runs for as long as one likes. Where the tests themselves are tested, a number of seeds is given instead. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? Number.POSITIVE_INFINITY);
const BUDGET_MS = Number.isFinite(SEEDS) ? Number.POSITIVE_INFINITY : 20_000;
/** The holes and flaws are found with a tenth of it. */
const HOLE_SEEDS = 1_000;
const FLAW_SEEDS = 10_000;
const LIMIT_MS = 120_000;

describe("one seed is one run", () => {
  test("event for event, also in another order and when somebody records it", async () => {
    const hashes = (seeds: readonly number[], isRecording: boolean) =>
      outsideReactions(() => new Map(seeds.map((seed) => [seed, run({ seed }, { isRecording }).hash])));
    const seeds = Array.from({ length: 50 }, (_, index) => index + 1);
    const first = await hashes(seeds, false);
    const again = await hashes(seeds.toReversed(), true);
    expect(Object.fromEntries(again)).toEqual(Object.fromEntries(first));
    expect(new Set(first.values()).size).toBe(seeds.length);
  });
});

describe("within the stated bounds", () => {
  test(
    "nothing is violated",
    async () => {
      const startMs = performance.now();
      const wish = { seed: commitSeed() };
      const isOver = () => performance.now() - startMs > BUDGET_MS;
      const { seeds, failure } = await outsideReactions(() => runBatch({ wish, seeds: SEEDS }, isOver));
      console.log(
        `${seeds} seeds from 0x${wish.seed.toString(16)}, ${Math.round((seeds * 1_000) / (performance.now() - startMs))} seeds/s`,
      );
      if (failure !== undefined) expect.fail(await story({ seed: failure.seed }));
    },
    LIMIT_MS,
  );
});

describe("the simulator finds", () => {
  test.each(HOLES)(
    "two holders where an assumption is broken: %s",
    async (hole) => {
      const { failure } = await search({ seed: 1, hole }, HOLE_SEEDS);
      expect(failure, `a seed within ${HOLE_SEEDS}`).toBeDefined();
    },
    LIMIT_MS,
  );

  test.each(Object.keys(FLAWS) as FlawName[])(
    "a mistake: %s",
    async (flaw) => {
      const { failure } = await search({ seed: 1, flaw }, FLAW_SEEDS);
      expect(failure, `a seed within ${FLAW_SEEDS}`).toBeDefined();
      expect(flawOf(flaw).breaks).toContain(failure?.violation.invariant);
    },
    LIMIT_MS,
  );
});

function search(wish: Wish, seeds: number): Promise<BatchResult> {
  return outsideReactions(() => runBatch({ wish, seeds }));
}

function story(wish: Wish): Promise<string> {
  return outsideReactions(() => describeFailure(minimize(run(wish))));
}
