import type { LockNode } from "../../src/node.ts";
import { IoredisNode } from "../../src/nodes/ioredis.ts";
import { Roster } from "../../src/nodes/roster.ts";
import type { RedlockOptions } from "../../src/options.ts";
import { Redlock } from "../../src/redlock.ts";
import { Chance } from "./chance.ts";
import { Counts } from "./counts.ts";
import { Machine } from "./machine.ts";
import { outsideReactions } from "./microtasks.ts";
import { type Link, Way } from "./network.ts";
import { Redis, type RedisOptions } from "./redis.ts";
import { Server } from "./server.ts";
import { Time } from "./time.ts";
import { Timeline } from "./timeline.ts";

export interface StageOptions extends RedlockOptions {
  readonly servers?: number;
  readonly redis?: Partial<RedisOptions>;
}

const SEED = 1;
const MEAN_DELAY_MS = 1;
const BOUND_MS = 600_000;

/**
 * The parts of a world where nothing happens by chance: one process and some servers, for a test that tells them what to do. What it
 * does itself are members that can be passed on by themselves.
 */
export class Stage {
  readonly time = new Time();
  readonly machine: Machine;
  readonly servers: readonly Server[];
  readonly links: readonly Link[];
  readonly redises: readonly Redis[];
  readonly nodes: readonly LockNode[];
  readonly redlock: Redlock;

  constructor({ servers = 3, redis = {}, nodeTimeoutMs = 100, ...options }: StageOptions = {}) {
    const { time } = this;
    const chance = new Chance(SEED);
    const counts = new Counts();
    const timeline = new Timeline(false);
    const machine = new Machine({ name: "client", time, chance, rate: 1, onTurnEnd() {} });
    this.machine = machine;
    this.servers = Array.from({ length: servers }, (_, index) => {
      const name = `redis-${index + 1}`;
      return new Server({ name, time, timeline, counts, chance, rate: 1, mayKill: true, onCommand() {} });
    });
    this.links = this.servers.map(() => ({
      toServer: new Way(chance, MEAN_DELAY_MS),
      toClient: new Way(chance, MEAN_DELAY_MS),
    }));
    const settings = { isOwned: true, resends: false, commandTimeoutMs: undefined, ...redis };
    this.redises = this.servers.map((server, index) => {
      const link = this.links[index] as Link;
      return new Redis(settings, { machine, server, link, time, counts, chance });
    });
    const roster = new Roster();
    this.nodes = this.redises.map((client, index) => {
      const name = `redis-${index + 1}`;
      return new IoredisNode({ name, client, isOwned: settings.isOwned, nodeTimeoutMs, roster, runtime: machine });
    });
    this.redlock = new Redlock(this.nodes, { nodeTimeoutMs, ...options }, machine);
  }

  /** Lets time pass until a call has settled, and not longer. */
  run = <T>(call: () => Promise<T>): T => {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    this.machine.receive(() => {
      call().then(
        (value) => {
          outcome = { value };
        },
        (error: unknown) => {
          outcome = { error };
        },
      );
    });
    this.time.runUntil(this.time.nowMs + BOUND_MS, () => outcome !== undefined);
    if (outcome === undefined) throw new Error(`still pending after ${BOUND_MS} ms`);
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  };

  /** Begins a call that takes longer than the next statement. */
  begin = (call: () => Promise<unknown>): void => {
    this.machine.receive(() => void call().catch(() => {}));
  };

  pass = (ms: number): void => {
    this.time.runUntil(this.time.nowMs + ms);
  };
}

/** Plays a scene where time can be made to pass. */
export function onStage<T>(options: StageOptions, play: (stage: Stage) => T): Promise<T> {
  return outsideReactions(() => play(new Stage(options)));
}
