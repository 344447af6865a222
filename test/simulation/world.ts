import type { Command } from "../../src/node.ts";
import { Caller } from "./caller.ts";
import { Calls } from "./calls.ts";
import { Chance } from "./chance.ts";
import { Checker } from "./checker.ts";
import { Client } from "./client.ts";
import type { Connection } from "./connection.ts";
import { Counts } from "./counts.ts";
import { Curfew } from "./curfew.ts";
import { FAULT, type Fault, type Spot } from "./faults.ts";
import { type Link, Way } from "./network.ts";
import { DATA_KEY, type Plan } from "./plan.ts";
import { Server } from "./server.ts";
import { Time } from "./time.ts";
import { Timeline } from "./timeline.ts";

/** Streams of chance: what one draws does not change what another one gets. */
const STREAM = { clocks: 1, network: 2, servers: 3, faults: 4, clients: 100, callers: 10_000 } as const;

/** When a fault begins. Half of them begin at any time, half where a command is on its way or its answer is. */
const MOMENTS = ["any", "any", "sent", "carried out"] as const;
/** Where servers forget, what sets keys again is what matters. */
const MOMENTS_OF_LOSS = ["any", "any", "sent", "carried out", "repair sent"] as const;

/** Servers, processes, what is between them, and what goes wrong. */
export class World {
  readonly plan: Plan;
  readonly time = new Time();
  readonly timeline: Timeline;
  readonly counts = new Counts();
  readonly checker: Checker;
  readonly calls: Calls;
  readonly servers: readonly Server[];
  readonly clients: Client[] = [];
  readonly #callers: { readonly caller: Caller; readonly client: Client }[] = [];
  readonly #curfews = new Map<Client, Curfew>();
  readonly #clocks: Chance;
  readonly #network: Chance;
  /** What ends the faults that are under way. */
  readonly #heals = new Set<() => void>();
  /** A fault that waits for something to disturb. */
  #ambush: { readonly on: "sent" | "repair sent" | "carried out"; spring(spot: Spot): void } | undefined;
  #isCalm = false;
  readonly #faulty: readonly Server[];

  constructor(plan: Plan, isRecording: boolean) {
    this.plan = plan;
    this.timeline = new Timeline(isRecording);
    const { time, timeline, counts } = this;
    this.checker = new Checker({ time, timeline, counts, plan });
    this.calls = new Calls(this.checker.referee);
    this.#clocks = new Chance(plan.seed, STREAM.clocks);
    this.#network = new Chance(plan.seed, STREAM.network);
    const chance = new Chance(plan.seed, STREAM.servers);
    const onCommand = (server: Server, { link }: Connection) => {
      this.checker.serverChanged();
      if (this.#ambush?.on !== "carried out") return;
      const client = this.clients.find(({ links }) => links.includes(link));
      if (client !== undefined) this.#ambush.spring({ client, server });
    };
    this.servers = Array.from({ length: plan.nodes }, (_, index) => {
      const { mayKill } = plan;
      const name = `redis-${index + 1}`;
      return new Server({ name, time, timeline, counts, chance, rate: this.#rate(), mayKill, onCommand });
    });
    this.#faulty = this.servers.slice(0, plan.faultyNodes);
    if (plan.hasData) this.#putData(chance);
    for (let index = 0; index < plan.clients; index += 1) this.addClient();
    if (plan.nodes % 2 === 0) counts.add("even number of nodes");
    this.#faultLater(new Chance(plan.seed, STREAM.faults));
  }

  /** No fault begins any more, and none is under way, except that servers that lost their data stay away as long as they have to. */
  get isCalm(): boolean {
    return this.#isCalm;
  }

  note(who: string, what: string, detail?: () => string): void {
    this.timeline.note(this.time.nowMs, who, what, detail);
  }

  /** A process that begins, with its callers unless it is too late for that. */
  addClient(): Client {
    const index = this.clients.length;
    const { plan, time, timeline, counts, checker } = this;
    const members = this.#membersOf(index).map((server) => ({ server, link: this.#link() }));
    const chance = new Chance(plan.seed, STREAM.clients + index);
    const name = `client-${index + 1}`;
    const rate = this.#rate();
    const onSent = (server: Server, { kind }: Command) => {
      const isAwaited = this.#ambush?.on === "sent" || (this.#ambush?.on === "repair sent" && kind === "repair");
      if (isAwaited) this.#ambush?.spring({ client, server });
    };
    const client: Client = new Client({ name, plan, time, timeline, counts, chance, checker, rate, members, onSent });
    const curfew = new Curfew(client.machine);
    this.clients.push(client);
    this.#curfews.set(client, curfew);
    if (this.#isCalm) return client;
    for (let number = 0; number < plan.callers; number += 1) {
      const own = new Chance(plan.seed, STREAM.callers + 10 * index + number);
      const caller = new Caller({ client, plan, chance: own, checker, calls: this.calls, curfew, counts });
      this.#callers.push({ caller, client });
      client.machine.receive(() => void caller.run());
    }
    return client;
  }

  /** @param end called after so long, or when the faults end */
  heals(durationMs: number, end: () => void): void {
    const heal = () => {
      if (this.#heals.delete(heal)) end();
    };
    this.#heals.add(heal);
    this.time.after(durationMs, heal);
  }

  calmDown(): void {
    this.#isCalm = true;
    this.#ambush = undefined;
    this.note("world", "all faults end");
    for (const server of this.servers) server.finishLoading();
    for (const heal of [...this.#heals]) heal();
    for (const [client, curfew] of this.#curfews) {
      client.machine.stallNoMore();
      client.machine.receive(() => curfew.begin({ isAbrupt: this.plan.endsAbruptly }));
    }
  }

  /** Nobody in a process that lives has anything to do any more. */
  get areCallersDone(): boolean {
    return this.#callers.every(({ caller, client }) => caller.isDone || client.machine.isDead);
  }

  get areAllUp(): boolean {
    return (
      this.servers.every(({ isUp }) => isUp) &&
      this.clients.every(({ machine, isClosed }) => machine.isDead || (machine.isRunning && !isClosed))
    );
  }

  closeAndReopen(client: Client, downMs: number): void {
    this.counts.add("Redlock closed");
    client.machine.receive(async () => {
      await this.calls.settle(client, "close", this.plan.nodeTimeoutMs, client.close());
      await client.machine.sleep(downMs);
      client.reopen();
    });
  }

  #putData(chance: Chance): void {
    this.counts.add("data in the way");
    for (const { store } of chance.shuffled(this.servers).slice(0, chance.whole(1, this.servers.length))) {
      store.write(DATA_KEY, "", Number.POSITIVE_INFINITY, chance.pick(["hash", "string"]));
    }
  }

  #rate(): number {
    const spread = this.plan.rateSpread;
    // The ends of the range are where a bound that is missed by a hair shows.
    const share = this.#clocks.happens(0.5) ? this.#clocks.pick([-0.5, 0.5]) : this.#clocks.between(-0.5, 0.5);
    return 1 + spread * share;
  }

  #link(): Link {
    const meanMs = this.plan.meanDelayMs * this.#network.pick([0.5, 1, 1, 2]);
    return { toServer: new Way(this.#network, meanMs), toClient: new Way(this.#network, meanMs) };
  }

  /** All servers; or, where the set of nodes was changed carelessly, two sets whose quorums need not share one. */
  #membersOf(client: number): readonly Server[] {
    if (this.plan.hole !== "disjoint quorums") return this.servers;
    return client % 2 === 0 ? this.servers.slice(0, 3) : this.servers.slice(2);
  }

  #faultLater(chance: Chance): void {
    const { faults, faultsPerTtl, ttlMs, forgets } = this.plan;
    if (faults.length === 0 || faultsPerTtl === 0) return;
    this.time.after(chance.exponential(ttlMs / faultsPerTtl), () => {
      if (this.#isCalm) return;
      const fault = FAULT[chance.pick(faults)];
      this.#faultLater(chance);
      const kind = chance.pick(forgets ? MOMENTS_OF_LOSS : MOMENTS);
      if (kind !== "any") this.#ambush = { on: kind, spring: (spot) => this.#spring(fault, chance, spot) };
      else fault(this, chance, { client: chance.pick(this.clients), server: chance.pick(this.#faulty) });
    });
  }

  #spring(fault: Fault, chance: Chance, spot: Spot): void {
    if (!this.#faulty.includes(spot.server)) return;
    this.#ambush = undefined;
    this.time.after(chance.pick([0, 0, chance.exponential(this.plan.meanDelayMs)]), () => {
      if (!this.#isCalm) fault(this, chance, spot);
    });
  }
}
