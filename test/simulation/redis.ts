import type { RedisClient } from "../../src/nodes/client.ts";
import type { Chance } from "./chance.ts";
import { Connection, type ToClient, type Words } from "./connection.ts";
import type { Counts } from "./counts.ts";
import type { Machine } from "./machine.ts";
import type { Link } from "./network.ts";
import type { Server } from "./server.ts";
import type { Time } from "./time.ts";

/** How a client treats its commands: `owned` ones are opened by the library with the settings it wants, others come as they are. */
export interface RedisOptions {
  readonly isOwned: boolean;
  /** What was in flight when the connection ended is sent again on the next one (ioredis's default). */
  readonly resends: boolean;
  /** The client rejects a command after so long, and the server carries it out all the same. */
  readonly commandTimeoutMs: number | undefined;
}

export interface RedisSurroundings {
  readonly machine: Machine;
  readonly server: Server;
  readonly link: Link;
  readonly time: Time;
  readonly counts: Counts;
  readonly chance: Chance;
}

interface Pending {
  readonly words: Words;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: as in the interface that it stands in for
type Listener = (...args: any[]) => void;

const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;
/** After a socket was destroyed ioredis says "ready" for a moment. */
const CLOSE_MS = 0.2;

/** In the place of ioredis: one connection at a time to one server, made anew when it ends. The node above it is the real one. */
export class Redis implements RedisClient {
  status = "connecting";
  stream: { writable: boolean; destroy(): void } | undefined;
  readonly options: { readonly host: string; readonly port: number };
  readonly #settings: RedisOptions;
  readonly #around: RedisSurroundings;
  readonly #listeners = new Map<string, Set<Listener>>();
  #connection: Connection | undefined;
  /** Sent on this connection and unanswered, oldest first. */
  #sent: Pending[] = [];
  /** To be sent when a connection is ready. */
  #queued: Pending[] = [];
  #retries = 0;

  constructor(settings: RedisOptions, around: RedisSurroundings) {
    this.#settings = settings;
    this.#around = around;
    this.options = { host: around.server.name, port: 6379 };
    this.#connect();
  }

  get isOwned(): boolean {
    return this.#settings.isOwned;
  }

  /** The connection that faults can befall. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  on(event: string, listener: Listener): void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
  }

  off(event: string, listener: Listener): void {
    this.#listeners.get(event)?.delete(listener);
  }

  call(...words: Words): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const pending = { words, resolve, reject };
      if (this.status === "ready" && this.stream?.writable === true) this.#send(pending);
      else if (this.status === "end" || this.#settings.isOwned) reject(new Error("Stream isn't writeable"));
      else this.#queued.push(pending);
      this.#perhapsGiveUp(pending);
    });
  }

  async connect(): Promise<void> {}

  disconnect(): void {
    if (this.status === "end") return;
    const connection = this.#connection;
    this.status = "end";
    this.stream = undefined;
    this.#connection = undefined;
    if (connection === undefined) return;
    connection.isOpenAtClient = false;
    // Behind the commands that have left.
    connection.requests.send({ is: "end" }, this.#around.machine.trueNowMs);
  }

  /** This end of the connection goes. What was sent stays on its way; what comes back finds nobody. */
  breakOff(): void {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOpenAtClient) return;
    connection.isOpenAtClient = false;
    if (this.stream !== undefined) this.stream.writable = false;
    this.#around.counts.add("reply lost", connection.replies.cut().filter(({ is }) => is === "reply").length);
    this.#around.time.after(CLOSE_MS, () => this.#around.machine.receive(() => this.#closed(connection)));
  }

  #connect(): void {
    const { machine, server, link, time } = this.#around;
    if (this.status === "end") return;
    this.status = "connecting";
    const connection = new Connection(time, link, {
      toServer: (from, message) => server.receive(from, message),
      toClient: (to, message) => machine.receive(() => this.#received(to, message)),
    });
    this.#connection = connection;
    connection.requests.send({ is: "open" }, machine.trueNowMs);
    machine.setTimer(CONNECT_TIMEOUT_MS, () => {
      if (this.#connection !== connection || this.status !== "connecting") return;
      connection.isOpenAtClient = false;
      connection.requests.cut();
      connection.requests.send({ is: "end" }, machine.trueNowMs);
      this.#failed(connection, "connect ETIMEDOUT");
    });
  }

  #received(connection: Connection, message: ToClient): void {
    if (connection !== this.#connection || !connection.isOpenAtClient) return;
    if (message.is === "opened") this.#opened(connection);
    else if (message.is === "end") this.#ended(connection);
    else {
      const pending = this.#sent.shift();
      if (message.is === "reply") pending?.resolve(message.reply);
      else pending?.reject(replyError(message.message));
    }
  }

  #opened(connection: Connection): void {
    this.#retries = 0;
    this.status = "ready";
    this.stream = { writable: true, destroy: () => this.breakOff() };
    const waiting = this.#queued;
    this.#queued = [];
    for (const pending of waiting) this.#send(pending);
    if (connection === this.#connection) this.#emit("ready");
  }

  #ended(connection: Connection): void {
    connection.isOpenAtClient = false;
    if (this.status === "connecting") this.#failed(connection, "connect ECONNREFUSED");
    else this.#closed(connection);
  }

  #failed(connection: Connection, text: string): void {
    this.#around.counts.add("connection refused");
    const [syscall, code] = text.split(" ");
    this.#emit("error", Object.assign(new Error(text), { syscall, code }));
    this.#closed(connection);
  }

  #closed(connection: Connection): void {
    if (connection !== this.#connection || this.status === "end") return;
    const { machine, chance } = this.#around;
    this.#connection = undefined;
    this.stream = undefined;
    this.status = "close";
    const sent = this.#sent;
    this.#sent = [];
    this.#emit("close");
    if (this.#settings.resends) {
      this.#queued.unshift(...sent);
      this.#around.counts.add("command sent again", sent.filter(isWrite).length);
    } else for (const { reject } of sent) reject(new Error("Connection is closed."));
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** this.#retries, MAX_RETRY_MS) * chance.between(0.5, 1);
    this.#retries += 1;
    machine.setTimer(delayMs, () => this.#connect());
  }

  #send(pending: Pending): void {
    this.#sent.push(pending);
    this.#connection?.requests.send({ is: "command", words: pending.words }, this.#around.machine.trueNowMs);
  }

  #perhapsGiveUp(pending: Pending): void {
    const { commandTimeoutMs } = this.#settings;
    if (commandTimeoutMs === undefined) return;
    this.#around.machine.setTimer(commandTimeoutMs, () => {
      if (!this.#sent.includes(pending) && !this.#queued.includes(pending)) return;
      this.#around.counts.add("command given up by the client");
      pending.reject(new Error("Command timed out"));
    });
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(...args);
  }
}

function isWrite({ words }: Pending): boolean {
  return words[0] === "set" || words[0] === "eval";
}

function replyError(message: string): Error {
  const error = new Error(message);
  error.name = "ReplyError";
  return error;
}
