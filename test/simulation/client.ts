import type { Command } from "../../src/node.ts";
import { IoredisNode } from "../../src/nodes/ioredis.ts";
import { Roster } from "../../src/nodes/roster.ts";
import { Redlock } from "../../src/redlock.ts";
import type { Chance } from "./chance.ts";
import type { Checker } from "./checker.ts";
import type { Counts } from "./counts.ts";
import { flawOf } from "./flaws.ts";
import { Machine } from "./machine.ts";
import type { Link } from "./network.ts";
import type { Plan } from "./plan.ts";
import { Redis } from "./redis.ts";
import type { Server } from "./server.ts";
import type { Time } from "./time.ts";
import type { Timeline } from "./timeline.ts";
import { type NodeWatcher, WatchedNode } from "./watched-node.ts";

export interface ClientOptions {
  readonly name: string;
  readonly plan: Plan;
  readonly time: Time;
  readonly timeline: Timeline;
  readonly counts: Counts;
  readonly chance: Chance;
  readonly checker: Checker;
  readonly rate: number;
  /** The nodes that it is configured with, and its ways to them. */
  readonly members: readonly { readonly server: Server; readonly link: Link }[];
  /** A command is leaving for a server. */
  onSent(server: Server, command: Command): void;
}

/** One process that locks: the real library on a simulated machine, with connections of its own. */
export class Client {
  readonly name: string;
  readonly machine: Machine;
  readonly servers: readonly Server[];
  readonly links: readonly Link[];
  readonly #options: ClientOptions;
  #redlock: Redlock;
  #redises: Redis[] = [];
  #nodes: IoredisNode[] = [];
  #isClosed = false;
  #awaitedVotes: { count: number; readonly callback: () => void } | undefined;
  /** What a node could not be told before the close, it was never told. */
  hasEverClosed = false;
  /** A caller is calling `extend` just now: other extensions are the library's own. */
  isExtendingByHand = false;

  constructor(options: ClientOptions) {
    const { name, time, chance, rate, members, checker } = options;
    this.name = name;
    this.#options = options;
    this.servers = members.map(({ server }) => server);
    this.links = members.map(({ link }) => link);
    this.machine = new Machine({ name, time, chance, rate, onTurnEnd: () => checker.turnEnded(this) });
    this.#redlock = this.#open();
  }

  get redlock(): Redlock {
    return this.#redlock;
  }

  get redises(): readonly Redis[] {
    return this.#redises;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get quorum(): number {
    return Math.floor(this.servers.length / 2) + 1;
  }

  /** Calls back once, when so many more answers have been heard. */
  afterVotes(count: number, callback: () => void): void {
    this.#awaitedVotes = { count, callback };
  }

  note(what: string, detail?: () => string): void {
    this.#options.timeline.note(this.machine.trueNowMs, this.name, what, detail);
  }

  /** The Redlock and all that it stands on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.hasEverClosed = true;
    const [nodes, redises] = [this.#nodes, this.#redises];
    await this.#redlock.close();
    this.#options.checker.handles.judgeClosed(this);
    await Promise.all(nodes.map((node) => node.close()));
    for (const redis of redises) redis.disconnect();
  }

  /** After a close: the same process begins anew. */
  reopen(): void {
    this.#isClosed = false;
    this.#redlock = this.#open();
  }

  /** The process is gone at once; its operating system closes the connections. */
  crash(): void {
    this.note("crashes");
    this.machine.crash();
    for (const redis of this.#redises) redis.disconnect();
  }

  #countVote(): void {
    const awaited = this.#awaitedVotes;
    if (awaited === undefined) return;
    awaited.count -= 1;
    if (awaited.count > 0) return;
    this.#awaitedVotes = undefined;
    awaited.callback();
  }

  #open(): Redlock {
    const { plan, time, counts, chance, checker, members, onSent } = this.#options;
    const roster = new Roster();
    const { machine } = this;
    this.#redises = members.map(({ server, link }) => {
      const isOwned = chance.happens(0.6);
      const resends = !isOwned && chance.happens(0.7);
      const commandTimeoutMs = isOwned || chance.happens(0.7) ? undefined : plan.nodeTimeoutMs * chance.between(1, 3);
      return new Redis({ isOwned, resends, commandTimeoutMs }, { machine, server, link, time, counts, chance });
    });
    this.#nodes = this.#redises.map((client) => {
      const { isOwned, options } = client;
      const { nodeTimeoutMs } = plan;
      return new IoredisNode({ name: options.host, client, isOwned, nodeTimeoutMs, roster, runtime: machine });
    });
    const judge = checker.watcherOf(this);
    const watcher: NodeWatcher = {
      sent: (node, command) => {
        judge.sent(node, command);
        const server = this.servers.find(({ name }) => name === node.name);
        if (server !== undefined) onSent(server, command);
      },
      voted: (node, command, vote) => {
        judge.voted(node, command, vote);
        this.#countVote();
      },
    };
    const flaw = plan.flaw === undefined ? undefined : flawOf(plan.flaw);
    const watched = this.#nodes.map((node) => new WatchedNode(flaw?.spoil(node) ?? node, watcher));
    const backoff = { minMs: plan.backoffMaxMs / 4, maxMs: plan.backoffMaxMs };
    return new Redlock(watched, { nodeTimeoutMs: plan.nodeTimeoutMs, driftFactor: plan.driftFactor, backoff }, machine);
  }
}
