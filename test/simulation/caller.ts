import type { Lock } from "../../src/lock.ts";
import type { Calls } from "./calls.ts";
import type { Chance } from "./chance.ts";
import type { Checker } from "./checker.ts";
import type { Client } from "./client.ts";
import type { Counts } from "./counts.ts";
import type { Curfew } from "./curfew.ts";
import type { Handle } from "./handles.ts";
import { DATA_KEY, type Plan } from "./plan.ts";
import { Whim } from "./whim.ts";

export interface CallerOptions {
  readonly client: Client;
  readonly plan: Plan;
  readonly chance: Chance;
  readonly checker: Checker;
  readonly calls: Calls;
  readonly curfew: Curfew;
  readonly counts: Counts;
}

/** Somebody who uses locks, in every way that the interface offers, one call after the other. */
export class Caller {
  isDone = false;
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { curfew, chance, plan } = this.#options;
    while (!curfew.hasBegun) {
      await curfew.sleep(chance.exponential(plan.thinkMs));
      if (!curfew.hasBegun) await this.#turn();
    }
    this.isDone = true;
  }

  async #turn(): Promise<void> {
    const { chance, client, calls, plan } = this.#options;
    // Whoever has not heard of a close calls all the same.
    if (client.isClosed && chance.happens(0.8)) return;
    const kind = chance.weighted({ acquire: 60, try: 15, using: 20, inspect: 2 });
    if (kind === "acquire") await this.#acquire();
    else if (kind === "try") await this.#try();
    else if (kind === "using") await this.#using();
    else await calls.settle(client, "inspect", plan.nodeTimeoutMs, client.redlock.inspect(chance.pick(plan.resources)));
  }

  async #acquire(): Promise<void> {
    const { client, chance, plan, calls, counts, curfew } = this.#options;
    const whim = chance.happens(0.15) ? new Whim(client, chance, plan.ttlMs) : undefined;
    const leaving = new Error("about to leave");
    const leave = plan.endsAbruptly ? new AbortController() : undefined;
    using _ = curfew.onAbrupt(() => leave?.abort(leaving));
    const waitMs = chance.pick([0, plan.ttlMs * 0.3, plan.ttlMs, plan.ttlMs * 2, Number.POSITIVE_INFINITY]);
    const autoExtend = chance.happens(0.35);
    const maxHoldMs = chance.happens(0.1) ? plan.ttlMs * chance.between(0.3, 3) : Number.POSITIVE_INFINITY;
    const signal = whim?.signal ?? leave?.signal;
    const wish = { waitMs, autoExtend, maxHoldMs, signal };
    const call = client.redlock.acquire(this.#resources(), this.#ttlMs(), wish);
    const reason = whim?.reason ?? leaving;
    const boundMs = waitMs === 0 ? this.#attemptMs : waitMs;
    const outcome = await calls.settle(client, "acquire", boundMs, call, reason, signal);
    if (outcome.is === "failed" && outcome.error === reason) counts.add("acquisition aborted");
    if (outcome.is === "done") await this.#hold(outcome.value, autoExtend, maxHoldMs);
  }

  async #try(): Promise<void> {
    const { client, calls } = this.#options;
    const call = client.redlock.tryAcquire(this.#resources(), this.#ttlMs());
    const outcome = await calls.settle(client, "tryAcquire", this.#attemptMs, call);
    if (outcome.is === "done" && outcome.value !== null) await this.#hold(outcome.value);
  }

  async #using(): Promise<void> {
    const { client, calls, chance, plan } = this.#options;
    const failure = chance.happens(0.1) ? new Error("of the routine's own") : undefined;
    const routine = async (_: AbortSignal, lock: Lock) => {
      const handle = this.#handOver(lock);
      await this.#work(handle);
      handle.isGivenBack = true;
      if (chance.happens(0.1)) await lock.release();
      if (failure !== undefined) throw failure;
    };
    const waitMs = plan.ttlMs * chance.between(0, 2);
    const { redlock } = client;
    const call = chance.happens(0.1)
      ? redlock.using(this.#resources(), this.#ttlMs(), routine)
      : redlock.using(this.#resources(), this.#ttlMs(), { waitMs }, routine);
    await calls.settle(client, "using", Number.POSITIVE_INFINITY, call, failure);
  }

  async #hold(lock: Lock, autoExtend = false, maxHoldMs = Number.POSITIVE_INFINITY): Promise<void> {
    const { client, chance, calls, counts, plan, checker } = this.#options;
    const handle = this.#handOver(lock, maxHoldMs);
    await this.#work(handle);
    if (chance.happens(0.2)) checker.handles.askForSignal(handle);
    // Nobody forgets a lock that extends itself: that would hold it for ever.
    const isEndless = autoExtend && maxHoldMs === Number.POSITIVE_INFINITY;
    if (!isEndless && chance.happens(0.08)) {
      client.note(`abandons ${lock.token}`);
      counts.add("lock abandoned");
      return;
    }
    client.note(`releases ${lock.token}`);
    handle.isGivenBack = true;
    const call: PromiseLike<unknown> = chance.happens(0.1) ? lock[Symbol.asyncDispose]() : lock.release();
    await calls.settle(client, "release", plan.nodeTimeoutMs, call);
  }

  #handOver(lock: Lock, maxHoldMs?: number): Handle {
    const { client, counts, checker } = this.#options;
    const leftMs = () => client.machine.observe(() => lock.remainingMs()).toFixed(1);
    client.note(`gets ${lock.token}`, () => `on "${lock.resources.join("+")}" for ${leftMs()} ms`);
    if (lock.resources.length > 1) counts.add("several resources");
    return checker.handles.handOver(client, lock, maxHoldMs);
  }

  async #work({ lock }: Handle): Promise<void> {
    const { chance, plan, curfew } = this.#options;
    for (let step = chance.whole(1, 3); step > 0; step -= 1) {
      await curfew.sleep(plan.ttlMs * chance.pick([0.02, 0.1, 0.3, 0.9]) * chance.random());
      if (!lock.isHeld() || curfew.isAbrupt) return;
      if (chance.happens(0.4)) await this.#extend(lock);
    }
  }

  async #extend(lock: Lock): Promise<void> {
    const { client, chance, plan, calls, counts } = this.#options;
    const ttlMs = Math.ceil(plan.ttlMs * chance.pick([0.25, 0.5, 1, 2]));
    const whim = chance.happens(0.1) ? new Whim(client, chance, plan.meanDelayMs * 4) : undefined;
    counts.add(ttlMs < plan.ttlMs / 2 ? "shorter extension" : "extension");
    client.isExtendingByHand = true;
    const call = lock.extend(ttlMs, { signal: whim?.signal });
    client.isExtendingByHand = false;
    const { reason, signal } = whim ?? {};
    const outcome = await calls.settle(client, `extend ${ttlMs}`, plan.nodeTimeoutMs, call, reason, signal);
    if (outcome.is === "failed" && outcome.error === reason) counts.add("extension aborted");
  }

  #resources(): readonly string[] {
    const { chance, plan } = this.#options;
    if (plan.hasData && chance.happens(0.1)) return chance.pick([[DATA_KEY], [DATA_KEY, ...plan.resources]]);
    const count = chance.happens(0.7) ? 1 : plan.resources.length;
    return chance.shuffled(plan.resources).slice(0, count);
  }

  #ttlMs(): number {
    const { chance, plan } = this.#options;
    return Math.ceil(plan.ttlMs * chance.pick([0.5, 1]));
  }

  /** One attempt: a round, and a clean-up whose answers tell more; for data keys all of those answers. */
  get #attemptMs(): number {
    return 2 * this.#options.plan.nodeTimeoutMs;
  }
}
