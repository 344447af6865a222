import { Chance } from "../simulation/chance.ts";
import { faultsFor } from "./faults/all.ts";
import type { ChaosOptions } from "./options.ts";
import type { Scenario } from "./scenario.ts";
import { storm } from "./storm.ts";
import { ALL_MANNERS } from "./traffic.ts";

const ROUND_MS = 60_000;
const CALLERS = 3;
const RESOURCES = ["stock", "payment", "invoice", "mail"];
const PAUSE_MS = { min: 100, max: 900 };

export function lengthMsOf({ minutes }: ChaosOptions): number {
  return Math.min(ROUND_MS, minutes * 60_000);
}

/** One round: a storm of a minute at the most, all of which the seed decides. */
export function roundOf(options: ChaosOptions): Scenario {
  const { seed, image, clients, ttlsMs, isInBounds, flaw } = options;
  const chance = new Chance(seed);
  const lengthMs = lengthMsOf(options);
  const backend = image === undefined ? "process" : "container";
  return {
    seed,
    nodes: options.nodes ?? chance.pick([5, 5, 4, 3]),
    ...(image === undefined ? {} : { image }),
    traffic: { clients, callers: CALLERS, resources: RESOURCES, ttlsMs, manners: ALL_MANNERS },
    weather: storm({ faults: faultsFor({ backend }, isInBounds), chance, lengthMs, pauseMs: PAUSE_MS }),
    isInBounds,
    ...(flaw === undefined ? {} : { flaws: [flaw] }),
  };
}
