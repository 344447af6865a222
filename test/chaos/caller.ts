import { setTimeout as sleep } from "node:timers/promises";
import type { Lock } from "../../src/index.ts";
import type { Chance } from "../simulation/chance.ts";
import type { Calls } from "./calls.ts";
import type { Locks } from "./flaws.ts";
import type { Journal } from "./history.ts";
import { SharedFile } from "./shared-file.ts";
import { Stay } from "./stay.ts";
import { NODE_TIMEOUT_MS, roundMs } from "./terms.ts";
import { nextTurn, type Traffic, type Turn } from "./traffic.ts";

export interface CallerOptions {
  readonly locks: Locks;
  readonly journal: Journal;
  readonly calls: Calls;
  readonly traffic: Traffic;
  readonly chance: Chance;
  /** Of the shared files. */
  readonly folder: string;
  /** Who is there now, so that the heartbeat can look after them. */
  readonly stays: Set<Stay>;
  readonly stopping: AbortSignal;
  onGrant(): void;
}

const EXTENSION_CHANCE = 0.3;

/** One of a client's concurrent callers: takes turns until it is told to stop. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { traffic, chance, stopping } = this.#options;
    while (!stopping.aborted) {
      const turn = nextTurn(traffic, chance);
      await this.#take(turn);
      await sleep(turn.idleMs);
    }
  }

  async #take(turn: Turn): Promise<void> {
    if (turn.manner === "inspect") return this.#inspect(turn);
    if (isUsing(turn)) return this.#use(turn);
    const { locks } = this.#options;
    const signal = this.#signalOf(turn);
    const resources = single(turn.resources);
    const call = this.#invoke(turn.manner === "tryAcquire" ? "tryAcquire" : "acquire", turn);
    let lock: Lock | null;
    try {
      if (turn.manner === "tryAcquire") lock = await locks.tryAcquire(resources, turn.ttlMs, { signal });
      else lock = await locks.acquire(resources, turn.ttlMs, { waitMs: turn.waitMs, signal });
    } catch (error) {
      return this.#options.calls.failed(call, error);
    }
    if (lock === null) return this.#options.calls.failed(call, "null");
    this.#options.calls.ok(call);
    await this.#stay(turn, lock, call);
    await this.#release(lock);
  }

  /** Two calls in the history: the acquire, until the routine begins, and the release, from where it ends. */
  async #use(turn: Turn): Promise<void> {
    const { locks, calls } = this.#options;
    let call = this.#invoke("using", turn);
    try {
      const options = { waitMs: turn.waitMs, signal: this.#signalOf(turn) };
      await locks.using(single(turn.resources), turn.ttlMs, options, async (_, lock) => {
        calls.ok(call);
        await this.#stay(turn, lock, call);
        call = calls.invoke({ operation: "release", limitMs: NODE_TIMEOUT_MS });
      });
      calls.ok(call);
    } catch (error) {
      calls.failed(call, error);
    }
  }

  async #stay(turn: Turn, lock: Lock, call: number): Promise<void> {
    const { folder, journal, stays, stopping, onGrant } = this.#options;
    onGrant();
    const files = lock.resources.map((resource) => new SharedFile(folder, resource));
    const stay = new Stay({ lock, call, ttlMs: turn.ttlMs, isAutoExtended: isUsing(turn) }, files, journal);
    stays.add(stay);
    stay.enter();
    const endAtMs = performance.now() + turn.stayMs;
    while (await stay.step(() => this.#pass(turn, lock, stay))) {
      if (performance.now() >= endAtMs || stopping.aborted) break;
    }
    stay.leave();
    stays.delete(stay);
  }

  async #pass(turn: Turn, lock: Lock, stay: Stay): Promise<void> {
    await sleep(turn.stepMs);
    if (turn.manner === "extend" && this.#options.chance.happens(EXTENSION_CHANCE)) await this.#extend(lock, stay);
  }

  async #extend(lock: Lock, stay: Stay): Promise<void> {
    const { calls, chance, traffic } = this.#options;
    const ttlMs = chance.pick(traffic.ttlsMs);
    const call = calls.invoke({ operation: "extend", ttlMs, limitMs: roundMs(ttlMs) });
    try {
      await lock.extend(ttlMs);
      calls.ok(call);
      stay.look(ttlMs);
    } catch (error) {
      calls.failed(call, error, true);
      if (!lock.isHeld()) stay.lost("extend", error);
    }
  }

  async #release(lock: Lock): Promise<void> {
    const { calls, journal } = this.#options;
    const call = calls.invoke({ operation: "release", limitMs: NODE_TIMEOUT_MS });
    const { status } = await lock.release();
    if (status === "unconfirmed") return calls.unknown(call, status);
    calls.ok(call);
    if (status === "expired") journal.write({ is: "lost", token: lock.token, by: "release", code: status });
  }

  async #inspect({ resources: [resource = ""] }: Turn): Promise<void> {
    const { calls, locks } = this.#options;
    const call = calls.invoke({ operation: "inspect", limitMs: NODE_TIMEOUT_MS });
    try {
      await locks.inspect(resource);
      calls.ok(call);
    } catch (error) {
      calls.failed(call, error);
    }
  }

  #invoke(operation: "acquire" | "tryAcquire" | "using", { resources, ttlMs, waitMs, abortAfterMs }: Turn): number {
    // One attempt: its round, and what the release then tells.
    const patienceMs = operation === "tryAcquire" ? 2 * NODE_TIMEOUT_MS : waitMs;
    return this.#options.calls.invoke({
      operation,
      resources,
      ttlMs,
      limitMs: Math.min(patienceMs, abortAfterMs ?? Number.POSITIVE_INFINITY),
      ...(operation === "tryAcquire" ? {} : { waitMs }),
    });
  }

  #signalOf({ abortAfterMs }: Turn): AbortSignal {
    const { stopping } = this.#options;
    if (abortAfterMs === undefined) return stopping;
    // Not AbortSignal.timeout(): Node 20 loses one that only AbortSignal.any() knows (nodejs/node#57736).
    const controller = new AbortController();
    setTimeout(() => controller.abort("gave up"), abortAfterMs).unref();
    return AbortSignal.any([stopping, controller.signal]);
  }
}

function isUsing({ manner }: Turn): boolean {
  return manner === "using" || manner === "keep";
}

/** One resource goes as a string, so that both forms are used. */
function single(resources: readonly string[]): string | readonly string[] {
  return resources.length === 1 ? (resources[0] as string) : resources;
}
