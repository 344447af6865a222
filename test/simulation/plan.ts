import { Chance } from "./chance.ts";
import { type FlawName, flawOf } from "./flaws.ts";

/** Faults that can happen at any moment of a run that stays within bounds. What each does: faults.ts. */
export const FAULTS = [
  "crash",
  "crash losing data",
  "freeze",
  "slow",
  "refuse",
  "delay",
  "cut",
  "partition",
  "one-way stop",
  "pause",
  "stall",
  "suspend",
  "kill",
  "close",
  "set clock forward",
  "set clock back",
] as const;

export type FaultName = (typeof FAULTS)[number] | "flush" | "set server clock forward";

/** Which assumption of the algorithm does not hold in a run. Without one, nothing may be found. */
export const HOLES = ["drift", "empty restart", "disjoint quorums", "server clock", "suspension hidden"] as const;
export type Hole = (typeof HOLES)[number];

/** What a run is asked to be, beside its seed. */
export interface Wish {
  readonly seed: number;
  readonly hole?: Hole | undefined;
  /** Left out, to make a failing run smaller. */
  readonly without?: readonly FaultName[];
  readonly maxClients?: number | undefined;
  readonly flaw?: FlawName | undefined;
}

/** What is decided before a run begins. */
export interface Plan {
  readonly seed: number;
  readonly hole: Hole | undefined;
  readonly flaw: FlawName | undefined;
  /**
   * Servers that lose their data may be back at once. That is out of bounds, so two may hold one lock; all the rest must hold, above
   * all that a lock which another one got meanwhile is lost for its first holder.
   */
  readonly forgets: boolean;
  readonly nodes: number;
  readonly clients: number;
  /** Concurrent callers in one client. */
  readonly callers: number;
  readonly resources: readonly string[];
  readonly ttlMs: number;
  /** The longest ttl that anybody asks for. */
  readonly maxTtlMs: number;
  readonly nodeTimeoutMs: number;
  readonly driftFactor: number;
  /** The clocks' rates are within 1 ± half of it. */
  readonly rateSpread: number;
  readonly meanDelayMs: number;
  readonly backoffMaxMs: number;
  /** Mean time between two calls of one caller, ms. */
  readonly thinkMs: number;
  /** How long anything may happen. */
  readonly safetyMs: number;
  readonly faults: readonly FaultName[];
  /** How many, on average. */
  readonly faultsPerTtl: number;
  /** Only the first so many servers are befallen. */
  readonly faultyNodes: number;
  readonly mayKill: boolean;
  /** Some servers hold data under a name that callers take for a resource at times. */
  readonly hasData: boolean;
  /** At the end of the safety phase callers are told to stop at once; otherwise they finish what they do. */
  readonly endsAbruptly: boolean;
  /** What a lock has to outlive at the end, if anything. */
  readonly trial: Trial | undefined;
}

/** Each server in turn forgets its keys; or all are silent when an extension is due. */
export type Trial = "losses" | "silence";

export const DATA_KEY = "data";

const SILENCE_TTL_MS = 4_000;

/** Most worlds are small: what can go wrong in a large one nearly always can in a small one, and there a run costs less. */
const SIZES = { "3": 66, "4": 10, "5": 15, "6": 3, "7": 2, "8": 2, "9": 2 };
const CLIENTS = { "2": 62, "3": 24, "4": 8, "5": 2, "6": 2, "8": 1, "12": 1 };

/** Each run leaves some faults out entirely: they hide one another (swarm testing, Groce et al., ISSTA 2012). */
export function planOf(wish: Wish): Plan {
  const { seed, hole, flaw, without = [] } = wish;
  const chance = new Chance(seed);
  const forgets = chance.happens(0.2) ? hole === undefined : hole === "empty restart" || isForgetful(flaw);
  const ttlMs = Math.round(chance.magnitude(60, 20_000));
  const nodeTimeoutMs = chance.pick([25, 100, 250]);
  const nodes = hole === "disjoint quorums" ? 5 : Number(chance.weighted(SIZES));
  const plan: Plan = {
    seed,
    hole,
    flaw,
    forgets,
    nodes,
    clients: Math.min(Number(chance.weighted(CLIENTS)), wish.maxClients ?? Number.POSITIVE_INFINITY),
    callers: chance.happens(0.1) ? 2 : 1,
    resources: ["a", "b", "c"].slice(0, chance.pick([1, 1, 1, 2, 3])),
    ttlMs,
    maxTtlMs: ttlMs * 2,
    nodeTimeoutMs,
    ...clocksOf(hole, chance.pick([0.001, 0.01, 0.01, 0.05])),
    meanDelayMs: Math.min(chance.magnitude(0.05, 8), ttlMs / 60, nodeTimeoutMs / 15),
    backoffMaxMs: Math.max(20, ttlMs * chance.between(0.2, 0.8)),
    thinkMs: ttlMs * chance.between(0.05, 0.5),
    safetyMs: ttlMs * chance.between(0.8, 2) + 50,
    faults: faultsOf(chance, hole, forgets, without),
    faultsPerTtl: chance.whole(0, 10) / 1.4,
    faultyNodes: nodes,
    mayKill: chance.happens(0.9),
    hasData: chance.happens(0.1),
    endsAbruptly: chance.happens(0.6),
    trial: undefined,
  };
  const whole = forgets && chance.happens(0.7) ? stormOf(plan, chance, without) : plan;
  return { ...whole, trial: trialOf(whole, chance) };
}

/**
 * Two servers forget all the time, and little else happens but that messages are late: for what takes several losses of data within
 * one ttl, in the right order. The third one remembers, so that locks live long enough to be extended.
 */
function stormOf(plan: Plan, chance: Chance, without: readonly FaultName[]): Plan {
  const faults: readonly FaultName[] = ["flush", "flush", "flush", "one-way stop", "delay"];
  return {
    ...plan,
    nodes: 3,
    clients: 2,
    resources: ["a"],
    backoffMaxMs: plan.ttlMs * 0.1,
    thinkMs: plan.ttlMs * 0.05,
    faults: faults.filter((fault) => !without.includes(fault)),
    faultsPerTtl: chance.pick([6, 12, 25]),
    faultyNodes: 2,
  };
}

/**
 * What lies in an old socket can take the key's place on a node where it was lost; and a client that gave commands up by itself
 * asks again what its server is, which takes half a second.
 */
function trialOf({ ttlMs, faults }: Plan, chance: Chance): Trial | undefined {
  const trial = chance.happens(0.15) ? chance.pick(["losses", "silence"] as const) : undefined;
  if (trial === "losses" && faults.includes("cut")) return undefined;
  return trial === "silence" && ttlMs < SILENCE_TTL_MS ? undefined : trial;
}

function isForgetful(flaw: FlawName | undefined): boolean {
  return flaw !== undefined && flawOf(flaw).needsForgetting === true;
}

/**
 * Within bounds: a key lives `ttl / (1 + spread/2)` at least, a holder counts on `ttl × (1 − factor) / (1 − spread/2)` at most.
 * With the spread equal to the factor the first is the larger one, by a hair.
 */
function clocksOf(hole: Hole | undefined, driftFactor: number): Pick<Plan, "driftFactor" | "rateSpread"> {
  return { driftFactor, rateSpread: hole === "drift" ? Math.min(0.5, driftFactor * 8) : driftFactor };
}

function faultsOf(
  chance: Chance,
  hole: Hole | undefined,
  forgets: boolean,
  without: readonly FaultName[],
): readonly FaultName[] {
  const enabled: FaultName[] = FAULTS.filter(() => chance.happens(0.45));
  // A suspension shows in the wall clock, unless that is set back: then only at timer turns, in the time since boot.
  const excluded = enabled.includes("suspend") ? [...without, "set clock back"] : without;
  // Several servers have to forget before it shows.
  if (forgets) enabled.push("flush", "flush", "flush", "crash losing data", "crash losing data");
  if (hole === "server clock") enabled.push("set server clock forward");
  if (hole === "suspension hidden") enabled.push("suspend");
  return enabled.filter((fault) => !excluded.includes(fault));
}
