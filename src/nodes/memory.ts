import type { Command, LockNode, NodeStatus, UnknownReason, Vote } from "../node.js";
import { DEFAULTS } from "../options.js";
import { type Runtime, systemRuntime, type Timer } from "../runtime.js";
import { KeptReleases } from "./kept-releases.js";
import { MemoryStore } from "./memory-store.js";

export interface MemoryNodeOptions {
  /** For errors and status. Default: `memory-1`, `memory-2` and so on. */
  readonly name?: string;
  /** The node's own clock and timers. Default: the machine's. */
  readonly runtime?: Pick<Runtime, "nowMs" | "setTimer">;
}

export interface MemoryValueOptions {
  /** Default: the value does not expire, as data that is no lock. */
  readonly ttlMs?: number;
  /** `string`, `hash`, `list` and so on. @default "string" */
  readonly type?: string;
}

/** A command that has been received and not been answered. */
interface Flight {
  readonly command: Command;
  readonly receivedAtMs: number;
  readonly answer: (vote: Vote) => void;
}

/** An answer on its way back. */
interface Reply {
  readonly flight: Flight;
  readonly vote: Vote;
  readonly dueAtMs: number;
  readonly timer: Timer;
}

let unnamedNodes = 0;

/**
 * A node in this process, without a server behind it: for tests of code that uses locks. It carries out commands exactly as a
 * server does, and can be made to fail as servers fail: {@link down}, {@link freeze}, {@link slow}, {@link flush}.
 */
export class MemoryNode implements LockNode {
  readonly name: string;
  readonly #runtime: Pick<Runtime, "nowMs" | "setTimer">;
  readonly #store: MemoryStore;
  readonly #keptReleases = new KeptReleases(() => this.#runtime.nowMs());
  /** Received and unanswered, oldest first. */
  readonly #flights = new Set<Flight>();
  /** Received and not carried out: the socket of a frozen server. */
  #socket: Flight[] = [];
  #replies: Reply[] = [];
  #replyDelayMs = 0;
  #isFrozen = false;
  #isClosed = false;
  #downReason: string | undefined;

  constructor({ name, runtime = systemRuntime }: MemoryNodeOptions = {}) {
    if (name === undefined) unnamedNodes += 1;
    this.name = name ?? `memory-${unnamedNodes}`;
    this.#runtime = runtime;
    this.#store = new MemoryStore(() => runtime.nowMs());
  }

  send(command: Command): Promise<Vote> {
    return new Promise((answer) => {
      const refusal = this.#refusal();
      if (refusal !== undefined) {
        if (command.kind === "release" && refusal.reason !== "closed") this.#keptReleases.keep(command);
        answer(refusal);
        return;
      }
      const flight = { command, receivedAtMs: this.#runtime.nowMs(), answer };
      this.#flights.add(flight);
      if (this.#isFrozen) this.#socket.push(flight);
      else this.#reply(flight, this.#store.carryOut(command));
    });
  }

  status(): NodeStatus {
    const refusal = this.#refusal();
    const common = { name: this.name, keptReleases: this.#keptReleases.size };
    if (this.#isClosed) return { ...common, state: "closed" };
    if (refusal === undefined) return { ...common, state: "ready" };
    const state = this.#downReason === undefined ? "not-responding" : "down";
    return { ...common, state, detail: refusal.message };
  }

  /** Answers what is unanswered. The values stay, for tests to look at. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#keptReleases.take();
    this.#disconnect(unknown("closed", "the node has been closed"));
  }

  /** The value of a key; undefined when it is absent or has expired. */
  get(key: string): string | undefined {
    return this.#store.read(key)?.value;
  }

  /** Remaining time to live, ms; `Infinity`: the value does not expire; undefined: there is none. */
  ttlMs(key: string): number | undefined {
    return this.#store.ttlMs(key);
  }

  /** Puts a value there as somebody else would: another owner's token, or data that is no lock. */
  set(
    key: string,
    value: string,
    { ttlMs = Number.POSITIVE_INFINITY, type = "string" }: MemoryValueOptions = {},
  ): void {
    this.#store.write(key, value, ttlMs, type);
  }

  /** True when there was something to delete. */
  delete(key: string): boolean {
    return this.#store.delete(key);
  }

  /** Forgets all keys. Between {@link down} and {@link up}: a server that restarts without its data. */
  flush(): void {
    this.#store.clear();
  }

  keys(): string[] {
    return this.#store.keys();
  }

  /**
   * The connection breaks and does not come back: unanswered commands and new ones vote `unknown` at once. Values stay.
   * Releases are kept, to be carried out on {@link up}.
   */
  down(reason = "connection refused"): void {
    this.#downReason = reason;
    const unreceived = this.#socket;
    this.#socket = [];
    for (const { command } of unreceived) if (command.kind === "release") this.#keptReleases.keep(command);
    this.#disconnect(unknown("connection", `the connection ended before the answer came: ${reason}`));
  }

  /** Ends {@link down}. */
  up(): void {
    this.#downReason = undefined;
    this.#carryOutKept();
  }

  /**
   * The server hangs with its connections open: what is sent is neither carried out nor answered before {@link thaw}. Once a
   * command is overdue the node votes `not-responding` at once, and keeps releases.
   */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Ends {@link freeze}: what was sent meanwhile is carried out, in order, also what nobody waits for any more. */
  thaw(): void {
    this.#isFrozen = false;
    const received = this.#socket;
    this.#socket = [];
    // All of them before the first answer: an answer lets the kept releases go, which were sent after them.
    const replies = received.map((flight) => ({ flight, vote: this.#store.carryOut(flight.command) }));
    for (const { flight, vote } of replies) this.#reply(flight, vote);
    this.#carryOutKept();
  }

  /** Commands are carried out at once, and every answer takes so long from now on; 0 ends it. Answers keep their order. */
  slow(replyDelayMs: number): void {
    this.#replyDelayMs = replyDelayMs;
  }

  /** Why nothing can be sent now; undefined: it can. */
  #refusal(): Extract<Vote, { vote: "unknown" }> | undefined {
    if (this.#isClosed) return unknown("closed", "the node has been closed");
    if (this.#downReason !== undefined) return unknown("not-ready", `not connected: ${this.#downReason}`);
    const [oldest] = this.#flights;
    if (oldest === undefined || this.#runtime.nowMs() - oldest.receivedAtMs < DEFAULTS.nodeTimeoutMs) return undefined;
    return unknown("not-responding", "not responding (an earlier command is overdue)");
  }

  #reply(flight: Flight, vote: Vote): void {
    const nowMs = this.#runtime.nowMs();
    const dueAtMs = Math.max(nowMs + this.#replyDelayMs, this.#replies.at(-1)?.dueAtMs ?? 0);
    if (dueAtMs <= nowMs && this.#replies.length === 0) {
      this.#deliver(flight, vote);
      return;
    }
    // Each timer delivers the oldest reply, not its own, so that timers that fire out of turn change no order.
    const timer = this.#runtime.setTimer(dueAtMs - nowMs, () => {
      const oldest = this.#replies.shift();
      if (oldest !== undefined) this.#deliver(oldest.flight, oldest.vote);
    });
    this.#replies.push({ flight, vote, dueAtMs, timer });
  }

  #deliver(flight: Flight, vote: Vote): void {
    this.#flights.delete(flight);
    flight.answer(vote);
    this.#carryOutKept();
  }

  /** Nothing that was sent will be answered on this connection. */
  #disconnect(vote: Vote): void {
    for (const { timer } of this.#replies) timer.cancel();
    this.#replies = [];
    for (const flight of this.#flights) flight.answer(vote);
    this.#flights.clear();
  }

  /** Releases that could not be sent are made good as soon as the node takes commands again. */
  #carryOutKept(): void {
    if (this.#isFrozen || this.#refusal() !== undefined) return;
    for (const command of this.#keptReleases.take()) this.#store.carryOut(command);
  }
}

function unknown(reason: UnknownReason, message: string): Extract<Vote, { vote: "unknown" }> {
  return { vote: "unknown", reason, message };
}
