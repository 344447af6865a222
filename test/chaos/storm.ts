import { setTimeout as sleep } from "node:timers/promises";
import type { Master } from "../fixture/masters.ts";
import type { Chance } from "../simulation/chance.ts";
import type { Client } from "./clients.ts";
import type { Cluster } from "./cluster.ts";
import type { Fault } from "./faults/fault.ts";

/** What happens to a cluster while its clients work. Resolves when all faults have ended. */
export type Weather = (cluster: Cluster) => Promise<void>;

export interface StormOptions {
  readonly faults: readonly Fault[];
  readonly chance: Chance;
  /** No new fault begins after that, and those that last end early. */
  readonly lengthMs: number;
  /** From one fault to the next. */
  readonly pauseMs: { readonly min: number; readonly max: number };
}

const MAX_AT_ONCE = 4;
/** Of the faults, so many leave a quorum of nodes untouched. Of the rest, some hit a bare majority, some all. */
const SHARE_OF_MINORITIES = 0.85;

/** What is hit at present, by the part of it. */
type Struck = Map<Fault["part"], Set<Master | Client>>;

/** Random faults on random victims, several at once. Each kind comes up once before any comes up again. */
export function storm({ faults, chance, lengthMs, pauseMs }: StormOptions): Weather {
  return async (cluster) => {
    const over = AbortSignal.timeout(lengthMs);
    const pass = (ms: number) => sleep(ms, undefined, { signal: over }).catch(() => {});
    const struck: Struck = new Map();
    const underWay = new Set<Promise<void>>();
    let deck: readonly Fault[] = [];
    while (!over.aborted) {
      await pass(chance.between(pauseMs.min, pauseMs.max));
      if (over.aborted) break;
      if (underWay.size >= MAX_AT_ONCE) await Promise.race(underWay);
      if (deck.length === 0) deck = chance.shuffled(faults);
      const [fault, ...rest] = deck;
      if (fault === undefined) return;
      const victims = choose(fault, cluster, struck, chance);
      // Those that it could hit are hit already: it has to wait for its turn.
      deck = victims.length === 0 ? [...rest, fault] : rest;
      if (victims.length === 0) continue;
      const busy = struck.get(fault.part) ?? new Set();
      struck.set(fault.part, busy);
      for (const victim of victims) busy.add(victim);
      const strike = cluster.strike(fault, victims, fault.lengthMs(chance, cluster), pass).then(() => {
        for (const victim of victims) busy.delete(victim);
        underWay.delete(strike);
      });
      underWay.add(strike);
      // It is waited for at the end at the latest.
      strike.catch(() => {});
    }
    await Promise.all(underWay);
  };
}

function choose({ part, maxVictims }: Fault, cluster: Cluster, struck: Struck, chance: Chance): (Master | Client)[] {
  const all: readonly (Master | Client)[] = part === "client" ? cluster.clients.living : cluster.nodes;
  const minority = Math.ceil(all.length / 2) - 1;
  const free = chance.shuffled(all.filter((victim) => !struck.get(part)?.has(victim)));
  const most = maxVictims ?? all.length;
  if (!chance.happens(SHARE_OF_MINORITIES))
    return free.slice(0, Math.min(most, chance.pick([minority + 1, all.length])));
  // Those that something else has struck already cost nothing.
  const others = new Set(
    [...struck.values()].flatMap((victims) => [...victims]).filter((victim) => all.includes(victim)),
  );
  const [down, well] = [free.filter((victim) => others.has(victim)), free.filter((victim) => !others.has(victim))];
  const room = Math.max(0, minority - others.size);
  return chance
    .shuffled([...down, ...well.slice(0, room)])
    .slice(0, Math.min(most, chance.whole(1, Math.max(1, minority))));
}
