import pLimit from "p-limit";
import { publishNode } from "../diagnostics.js";
import type { Command, LockNode, NodeStatus, UnknownReason, Vote } from "../node.js";
import type { Runtime } from "../runtime.js";
import { isCluster, keyPrefixOf, type RedisClient } from "./client.js";
import { Connection } from "./connection.js";
import { type Flight, Flights, isWrite, tokenOf } from "./flights.js";
import { KeptReleases, type Release } from "./kept-releases.js";
import { Queue } from "./queue.js";
import { endsTrust, refusalOf } from "./refusal.js";
import type { Roster } from "./roster.js";
import { voteOf, wordsOf } from "./scripts.js";
import { slotOf } from "./slot.js";

export interface IoredisNodeOptions {
  readonly name: string;
  readonly client: RedisClient;
  /** Opened by this library, so closed by it. */
  readonly isOwned: boolean;
  readonly nodeTimeoutMs: number;
  readonly roster: Roster;
  readonly runtime: Runtime;
}

const MAX_IN_FLIGHT = 512;
const MAX_QUEUED = 10_000;
/** Releases that the server refused are tried again so often. */
const RETRY_KEPT_MS = 1_000;
/** A caller waits for the first connection, and learns why there is none before its round calls that silence. */
const GATE_SHARE = 0.9;
const LATENCY_WEIGHT = 0.1;

/** A voter behind a client of ioredis or iovalkey: one master, or one cluster. */
export class IoredisNode implements LockNode {
  readonly name: string;
  readonly #options: IoredisNodeOptions;
  readonly #connection: Connection;
  readonly #limit = pLimit(MAX_IN_FLIGHT);
  readonly #queue = new Queue();
  readonly #flights: Flights;
  readonly #kept: KeptReleases;
  /** Writes that a Cluster client has not settled: it may send them again, also when they have long landed here. */
  readonly #unsettled = new Set<Flight>();
  /** Tokens whose acquire was not sent: there is nothing to release. */
  readonly #neverSent = new Set<string>();
  readonly #isCluster: boolean;
  #latencyMs: number | undefined;
  #hasLostWrites = false;
  #keptSentAtMs = Number.NEGATIVE_INFINITY;
  #isRetryingKept = false;
  /** While it is connecting: until that succeeded or failed, or a caller has waited for it in vain. */
  #gate: Promise<void> | undefined;
  #openGate = () => {};

  constructor(options: IoredisNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#isCluster = isCluster(options.client);
    this.#kept = new KeptReleases(() => options.runtime.nowMs());
    this.#flights = new Flights({
      ...options,
      onOverdueChange: () => this.#publish(),
      onAbandoned: () => this.#connection.abandon(),
    });
    this.#closeGate();
    this.#connection = new Connection({
      ...options,
      onClose: () => this.#connectionClosed(),
      onChange: () => this.#connectionChanged(),
    });
    this.#connectionChanged();
  }

  async send(command: Command, timeoutMs: number): Promise<Vote> {
    const { runtime } = this.#options;
    const giveUpAtMs = runtime.nowMs() + timeoutMs;
    if (this.#gate !== undefined) {
      const timer = runtime.setTimer(timeoutMs * GATE_SHARE, () => this.#openGate());
      await this.#gate;
      timer.cancel();
    }
    if (command.kind === "release") return this.#sendRelease(command);
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) return this.#withhold(command, obstacle);
    this.#queue.enter(command);
    return this.#limit(() => this.#depart(command, giveUpAtMs));
  }

  status(): NodeStatus {
    const { state, lastError } = this.#connection;
    const { silentMs } = this.#flights;
    const isHung = state.is === "ready" && silentMs !== undefined;
    const silence = isHung ? `not responding for ${Math.round(silentMs)} ms` : undefined;
    const detail = "detail" in state ? state.detail : silence;
    return {
      name: this.name,
      state: isHung ? "not-responding" : state.is,
      ...(detail === undefined ? {} : { detail }),
      ...(lastError === undefined ? {} : { lastError }),
      ...(this.#latencyMs === undefined ? {} : { latencyMs: this.#latencyMs }),
      ...(state.is === "ready" ? { runId: state.runId } : {}),
      ...(this.#kept.size === 0 ? {} : { keptReleases: this.#kept.size }),
    };
  }

  objection(keys: readonly string[]): string | undefined {
    if (!this.#isCluster || keys.length === 1) return undefined;
    const prefix = keyPrefixOf(this.#connection.client);
    const slots = new Set(keys.map((key) => slotOf(prefix + key)));
    if (slots.size === 1) return undefined;
    return `these resources are in ${slots.size} hash slots of the cluster, one is needed: give them one {hash tag}, as in "{order:7}:stock"`;
  }

  async close(): Promise<void> {
    this.#openGate();
    this.#connection.close();
    this.#flights.landAll(unknown("closed", "closed while the command was in flight"));
  }

  /** Why nothing can be sent now. */
  #obstacle(): Vote | undefined {
    const { state } = this.#connection;
    switch (state.is) {
      case "closed":
        return unknown("closed", "this node has been closed");
      case "connecting":
        return unknown("not-ready", "not connected yet");
      case "down":
        return unknown("not-ready", state.detail);
      case "unfit":
        return unknown(state.reason, state.detail);
      case "ready":
        if (!this.#connection.isUsable)
          return unknown("not-ready", `not connected: the client is ${this.#connection.client.status}`);
        // Without a time, so that an error can name all nodes that hang together.
        if (this.#flights.isOverdue())
          return unknown("not-responding", "not responding (an earlier command is overdue)");
        if (this.#limit.pendingCount >= MAX_QUEUED)
          return unknown("busy", `${MAX_QUEUED} commands are waiting for this node`);
        return undefined;
    }
  }

  /**
   * A command that is not sent. A release is kept for later; when the command that set its key is still on its way it follows that
   * on the same connection, so that it is carried out even if this process is not there any more.
   */
  #withhold(command: Command, obstacle: Vote): Vote {
    if (command.kind === "acquire") this.#neverSent.add(command.token);
    if (command.kind !== "release" || this.#neverSent.delete(command.token)) return obstacle;
    this.#repeatBehindWrites(command);
    if (this.#connection.isUsable && this.#flights.carries(command.token)) void this.#fly(command);
    else this.#kept.keep(command);
    return obstacle;
  }

  /** Not behind the commands of others; behind the writes of its own token it stays. */
  async #sendRelease(release: Release): Promise<Vote> {
    if (this.#queue.holds(release.token)) return this.#limit(() => this.#departRelease(release));
    return this.#departRelease(release);
  }

  async #departRelease(release: Release): Promise<Vote> {
    const obstacle = this.#obstacle();
    return obstacle === undefined ? this.#fly(release) : this.#withhold(release, obstacle);
  }

  /** The command's turn has come: it may be too late for it, or the connection may have gone meanwhile. */
  async #depart(command: Command, giveUpAtMs: number): Promise<Vote> {
    this.#queue.leave(command);
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) return this.#withhold(command, obstacle);
    const isTooLate = this.#options.runtime.nowMs() > giveUpAtMs;
    if (isTooLate) return unknown("busy", "not sent: it waited too long behind other commands");
    return this.#fly(command);
  }

  #fly(command: Command): Promise<Vote> {
    this.#neverSent.delete(tokenOf(command));
    return new Promise((resolve) => {
      const flight = this.#flights.start(command, this.#connection.epoch, (vote) => {
        if (command.kind === "release" && vote.vote === "unknown") {
          this.#kept.keep(command);
          if (vote.reason === "refused") this.#retryKeptLater();
        }
        resolve(vote);
      });
      if (command.kind === "release") this.#repeatBehindWrites(command);
      if (this.#isCluster && isWrite(command)) this.#unsettled.add(flight);
      this.#call(command).then(
        (reply) => this.#answered(flight, voteOf(command, reply)),
        (error: unknown) => this.#failed(flight, error),
      );
    });
  }

  /** A client that throws instead of rejecting must not take the flight with it. */
  async #call(command: Command): Promise<unknown> {
    const [name, ...args] = wordsOf(command, !this.#isCluster);
    return this.#connection.client.call(name, ...args);
  }

  /**
   * A Cluster client sends a command again when a connection ends or a slot moves: an acquire may then run after the release that
   * was sent behind it. So that release is sent once more when the fate of the acquire is known.
   */
  #repeatBehindWrites(release: Command & { kind: "release" }): void {
    for (const flight of this.#unsettled) if (tokenOf(flight.command) === release.token) flight.repeatAfter = release;
  }

  #answered(flight: Flight, vote: Vote): void {
    this.#unsettled.delete(flight);
    const { repeatAfter } = flight;
    if (repeatAfter !== undefined) void this.#sendRelease(repeatAfter);
    // Whatever the answer is worth, the node is not silent any more.
    const wasOverdue = this.#flights.endOverdue(flight);
    if (flight.epoch !== this.#connection.epoch) {
      // The client sent the command again on a new connection: the server may have lost its data in between.
      flight.land(unknown("connection", "answered on another connection than the command was sent on"));
      if (wasOverdue) this.#sendKept();
      return;
    }
    if (vote.vote !== "unknown") {
      const latencyMs = this.#options.runtime.nowMs() - flight.sentAtMs;
      this.#latencyMs =
        this.#latencyMs === undefined ? latencyMs : this.#latencyMs + (latencyMs - this.#latencyMs) * LATENCY_WEIGHT;
    }
    flight.land(vote);
    // A server that goes on refusing releases, and answers all else, is not asked about them at each answer.
    const isRetryDue = this.#options.runtime.nowMs() - this.#keptSentAtMs >= RETRY_KEPT_MS;
    if (vote.vote !== "unknown" && (wasOverdue || isRetryDue)) this.#sendKept();
  }

  #failed(flight: Flight, error: unknown): void {
    const refusal = refusalOf(error);
    const isCurrent = flight.epoch === this.#connection.epoch;
    // Given up by the client, not by the server: the command may run yet, and a node that hangs is to get no further one.
    if (refusal.reason === "timeout" && isWrite(flight.command)) this.#hasLostWrites = true;
    this.#answered(flight, { vote: "unknown", ...refusal });
    if (isCurrent && endsTrust(refusal)) this.#connection.doubt(refusal.message);
  }

  #connectionClosed(): { lostWrites: boolean } {
    this.#hasLostWrites ||= this.#flights.hasWrites;
    this.#flights.landAll(unknown("connection", "the connection ended before the answer came"));
    return { lostWrites: this.#hasLostWrites };
  }

  #connectionChanged(): void {
    const { state } = this.#connection;
    if (state.is === "connecting") this.#closeGate();
    else this.#openGate();
    if (state.is === "ready") this.#sendKept();
    if (state.is === "ready") this.#hasLostWrites = false;
    this.#publish();
  }

  #closeGate(): void {
    this.#gate ??= new Promise((resolve) => {
      this.#openGate = () => {
        this.#gate = undefined;
        resolve();
      };
    });
  }

  #sendKept(): void {
    if (this.#kept.size === 0) return;
    this.#keptSentAtMs = this.#options.runtime.nowMs();
    for (const release of this.#kept.take(!this.#hasLostWrites)) {
      void this.#sendRelease(release);
    }
  }

  /** After a refusal there may be no further answer that would bring the releases to mind. */
  #retryKeptLater(): void {
    if (this.#isRetryingKept) return;
    this.#isRetryingKept = true;
    this.#options.runtime.setTimer(RETRY_KEPT_MS, () => {
      this.#isRetryingKept = false;
      // With an obstacle its end is the time to send them.
      if (this.#obstacle() === undefined) this.#sendKept();
    });
  }

  #publish(): void {
    publishNode(() => ({ status: this.status() }));
  }
}

function unknown(reason: UnknownReason, message: string): Vote {
  return { vote: "unknown", reason, message };
}
