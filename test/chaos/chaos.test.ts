import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, type MastersOptions, startMasters } from "../fixture/masters.ts";
import { FAULTS, FROZEN, KILLED } from "./faults.ts";
import { Team } from "./team.ts";

/** Real worker processes, real servers, and one fault after another: the same on every backend. */

const WORKERS = 3;
const SINGLES = [[0], [1], [2], [3], [4]];

interface Variant {
  readonly title: string;
  readonly options: MastersOptions;
  /** A container takes a second to start: fewer there. */
  readonly pairs: readonly (readonly [number, number])[];
}

const variants: Variant[] = [
  {
    title: `default (${inject("server").backend})`,
    options: {},
    pairs: [
      [0, 1],
      [2, 3],
      [4, 0],
      [1, 3],
      [2, 4],
    ],
  },
  ...inject("images")
    .filter((image) => image === "valkey/valkey:9")
    .map((image): Variant => ({ title: image, options: { image }, pairs: [[1, 3]] })),
];

describe.each(variants)("row 36: increments under the lock, $title", ({ options, pairs }) => {
  let masters: Masters;
  let team: Team;
  beforeAll(async () => {
    masters = await startMasters(5, options);
    team = new Team(WORKERS, masters.urls);
    await team.sees(5);
    await team.progress(10);
  });
  afterAll(async () => {
    await team?.[Symbol.asyncDispose]();
    await masters?.stop();
  });

  function expectExclusion(): void {
    expect(team.overlaps).toBe(0);
  }

  test.each(FAULTS)("each minority $name: traffic goes on, nothing fails", { timeout: 60_000 }, async (fault) => {
    for (const minority of [...SINGLES, ...pairs]) {
      const hit = minority.map((index) => masters.at(index));
      await fault.begin(hit);
      await team.progress(15);
      await fault.end(hit);
      await team.sees(5);
    }
    expect(team.failures).toEqual([]);
    expectExclusion();
  });

  test.each([
    { what: "dead", fault: KILLED },
    { what: "frozen", fault: FROZEN },
  ])("three $what: a clear error within the wait time, and work again afterwards", async ({ fault }) => {
    const hit = [1, 2, 4].map((index) => masters.at(index));
    await using redlock = new Redlock(masters.urls);
    await (await redlock.acquire("own", 10_000)).release();
    await fault.begin(hit);
    const startMs = performance.now();
    const error = await redlock.acquire("own", 10_000, { waitMs: 1_000 }).catch((reason: unknown) => reason);
    const tookMs = performance.now() - startMs;
    await team.failure();
    await fault.end(hit);
    expect(tookMs).toBeLessThan(1_500);
    expect(error).toMatchObject({ code: "ERR_QUORUM_UNREACHABLE" });
    expect(String(error)).toMatch(/"own": 2\/5 granted, 3 needed \(.*not (connected|responding)/);
    for (const { port } of hit) expect(String(error)).toContain(`:${port}`);

    await team.sees(5);
    await team.progress(15);
    await (await redlock.acquire("own", 10_000)).release();
    expectExclusion();
    const codes = new Set(team.failures.map(({ code }) => code));
    // Whose time was over just when the masters came back met the others, who had been waiting as well.
    for (const code of codes) expect(["ERR_QUORUM_UNREACHABLE", "ERR_LOCK_HELD"]).toContain(code);
  });

  test("at the end: no increment is lost, no lock key is left", async () => {
    await team.stop();
    expect(team.increments).toBeGreaterThan(0);
    expect(team.count).toBe(team.increments);
    expectExclusion();
    await expect
      .poll(() => Promise.all(masters.nodes.map((master) => master.admin("DBSIZE"))), { timeout: 5_000 })
      .toEqual([0, 0, 0, 0, 0]);
  });
});
