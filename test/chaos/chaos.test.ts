import { beforeAll, describe, expect, inject, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { commitSeed } from "../simulation/options.ts";
import { playRound, verdictOn } from "./campaign.ts";
import type { CheckName, Finding } from "./checker.ts";
import type { Fault } from "./faults/fault.ts";
import { KILL, RESTART_KEPT } from "./faults/restarts.ts";
import { FREEZE } from "./faults/servers.ts";
import type { FlawName } from "./flaws.ts";
import { eachOf } from "./minorities.ts";
import type { ChaosOptions } from "./options.ts";
import { isAcquire, Reading } from "./reading.ts";
import { play, type Run } from "./scenario.ts";
import type { Weather } from "./storm.ts";
import { BRISK } from "./traffic.ts";

/** `npm run chaos` goes on for as long as one likes. The same bodies for each backend. */

const LIMIT_MS = 120_000;
const TTLS_MS = [800, 3_000];
const CLIENTS = 3;

/** Clients that a run has to find out, in their order. */
const WRONG: readonly { what: string; flaw: FlawName; check: CheckName; who: RegExp }[] = [
  { what: "locks without asking anybody", flaw: "bypass", check: "exclusion", who: /client/ },
  {
    what: "does not hear that its lock has ended",
    flaw: "deaf",
    check: "validity grows by extension",
    who: /client-2/,
  },
  { what: "gets no signal", flaw: "mute", check: "signal in time", who: /client-3/ },
  { what: "fails too late", flaw: "late", check: "settling", who: /client-4/ },
  { what: "leaves a key behind", flaw: "hoard", check: "keys left", who: /redis/ },
];

interface Variant {
  readonly title: string;
  readonly image?: string;
  readonly stormMs: number;
  /** A container takes a second to start: fewer there. */
  readonly minorities: readonly (readonly number[])[];
}

const PAIRS = [
  [0, 1],
  [2, 3],
  [4, 0],
  [1, 3],
  [2, 4],
];
const local: Variant = { title: "local processes", stormMs: 6_000, minorities: [[0], [1], [2], [3], [4], ...PAIRS] };
const containers = inject("images")
  .filter((image) => image === "valkey/valkey:9")
  .map((image): Variant => ({ title: image, image, stormMs: 6_000, minorities: [[0], [1, 3]] }));
const variants = [...(inject("server").backend === "process" ? [local] : []), ...containers];

describe.each(variants)("$title", ({ image, stormMs, minorities }) => {
  const where = image === undefined ? {} : { image };

  test.each([
    { bounds: "within the stated bounds", isInBounds: true, nodes: 5 },
    { bounds: "keys taken from under their holders", isInBounds: false, nodes: 4 },
  ])("a storm, $bounds: nothing is violated", { timeout: LIMIT_MS }, async ({ isInBounds, nodes }) => {
    const { complaint } = await playRound({ ...OPTIONS, ...where, isInBounds, nodes, minutes: stormMs / 60_000 });
    if (complaint !== undefined) expect.fail(complaint);
  });

  test("row 36: each minority killed, frozen, restarted; a majority gone", { timeout: LIMIT_MS }, async () => {
    const errors: MajorityError[] = [];
    const run = await play({
      ...{ seed: commitSeed(), nodes: 5, isInBounds: true, ...where },
      traffic: { ...TRAFFIC, ttlsMs: [10_000] },
      weather: async (cluster) => {
        await eachOf([KILL, FREEZE, RESTART_KEPT], minorities)(cluster);
        for (const fault of [KILL, FREEZE]) await majority(fault, (error) => errors.push(error))(cluster);
      },
    });
    const { complaint } = verdictOn(run, "npx vitest run test/chaos -t 'row 36'");
    if (complaint !== undefined) expect.fail(complaint);
    for (const { error, tookMs, ports } of errors) {
      expect(error).toMatchObject({ code: "ERR_QUORUM_UNREACHABLE" });
      expect(String(error)).toMatch(/"own": 2\/5 granted, 3 needed \(.*not (connected|responding)/);
      for (const port of ports) expect(String(error)).toContain(`:${port}`);
      expect(tookMs).toBeLessThan(1_500);
    }
    expect(failuresIn(run)).toEqual([]);
  });
});

describe("a run finds a client that", () => {
  let findings: readonly Finding[];
  beforeAll(async () => {
    const run = await play({
      ...{ seed: 1, nodes: 3, isInBounds: true, flaws: WRONG.map(({ flaw }) => flaw) },
      traffic: { ...TRAFFIC, clients: WRONG.length, ttlsMs: [500], manners: { overstay: 1 } },
      weather: ({ clients }) => clients.progress(2),
    });
    findings = verdictOn(run, "").findings;
  }, LIMIT_MS);

  test.each(WRONG)("$what", ({ check, who }) => {
    expect(findings).toContainEqual(expect.objectContaining({ check, who: expect.stringMatching(who) }));
  });
});

const TRAFFIC = { clients: CLIENTS, callers: 2, resources: ["stock", "payment", "invoice"], manners: BRISK };
const OPTIONS: Omit<ChaosOptions, "isInBounds" | "minutes"> = {
  seed: commitSeed(),
  clients: CLIENTS,
  ttlsMs: TTLS_MS,
  isKept: false,
};

interface MajorityError {
  readonly error: unknown;
  readonly tookMs: number;
  readonly ports: readonly number[];
}

/** Three of five are struck: a caller hears of it within its wait time. */
function majority(fault: Fault, onError: (error: MajorityError) => void): Weather {
  return async (cluster) => {
    const victims = [1, 2, 4].flatMap((index) => cluster.nodes[index] ?? []);
    await using redlock = new Redlock(cluster.nodes.map(({ url }) => url));
    await (await redlock.acquire("own", 10_000)).release();
    await cluster.strike(fault, victims, 0, async () => {
      const startMs = performance.now();
      const error = await redlock.acquire("own", 10_000, { waitMs: 1_000 }).catch((reason: unknown) => reason);
      const ports = victims.map(({ proxy }) => proxy.port);
      onError({ error, tookMs: performance.now() - startMs, ports });
    });
    await cluster.clients.see(5);
    await cluster.clients.progress(2);
    await (await redlock.acquire("own", 10_000)).release();
  };
}

/** Longer than any minority can matter. */
const PATIENT_MS = 3_000;

/** Whoever was patient and heard that there is no quorum, while there was one. */
function failuresIn({ history }: Run): (string | undefined)[] {
  const { calls, strikes } = new Reading(history);
  const majorities = strikes.filter(({ nodes }) => nodes.length > 2);
  return calls.flatMap(({ invoke: { operation, waitMs = 0, atMs }, outcome }) => {
    if (outcome?.is !== "failed" || outcome.code !== "ERR_QUORUM_UNREACHABLE") return [];
    if (!isAcquire(operation) || waitMs < PATIENT_MS) return [];
    return majorities.some(({ fromMs, toMs }) => atMs < toMs && outcome.atMs > fromMs) ? [] : [outcome.message];
  });
}
