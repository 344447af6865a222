import type { Lock } from "../../src/lock.ts";
import type { Client } from "./client.ts";
import type { Counts } from "./counts.ts";
import type { Extensions } from "./extensions.ts";
import type { Plan } from "./plan.ts";
import type { Referee } from "./referee.ts";
import type { Time } from "./time.ts";
import type { Tokens } from "./tokens.ts";

/** A lock in somebody's hands. */
export interface Handle {
  readonly client: Client;
  readonly lock: Lock;
  /** The holder asked for it. */
  hasSignal: boolean;
  readonly clockDisturbances: number;
  readonly wallSteps: number;
  readonly handedOverAtMs: number;
  /** Its keys stood on a quorum at that moment. */
  hadKeys: boolean;
  /** The end of its validity on its holder's monotonic clock, as it was last seen. */
  endMs: number;
  /** The latest that it was ever seen to be: what the timers go by. */
  latestEndMs: number;
  /** The holder, or a close, ended it: no signal is due for that. */
  isGivenBack: boolean;
  isOver: boolean;
  /** On its holder's monotonic clock. */
  seenOverAtMs: number | undefined;
}

/** With its lateness, on a slow clock. */
const LEAST_TIMER_MS = 2.1;

/** Rounding is not an extension. */
const HAIR_MS = 0.001;

/** Once a second the library looks at the clocks that its timers do not follow; the rest is for the timers' own lateness. */
const WATCH_MS = 1_150;

export interface HandlesOptions {
  readonly time: Time;
  readonly plan: Plan;
  readonly counts: Counts;
  readonly referee: Referee;
  readonly tokens: Tokens;
  readonly extensions: Extensions;
}

/** Judges the locks that were handed over. */
export class Handles {
  readonly #options: HandlesOptions;
  #live: Handle[] = [];
  readonly #over: Handle[] = [];

  constructor(options: HandlesOptions) {
    this.#options = options;
  }

  /** In the holder's first statement after its acquire. */
  handOver(client: Client, lock: Lock, maxHoldMs = Number.POSITIVE_INFINITY): Handle {
    const hasSignal = client.machine.random() < 0.6;
    if (hasSignal) void lock.signal;
    const handle: Handle = {
      client,
      lock,
      hasSignal,
      clockDisturbances: client.machine.clockDisturbances,
      wallSteps: client.machine.wallSteps,
      handedOverAtMs: client.machine.trueNowMs,
      hadKeys: false,
      endMs: endOf(client, lock),
      latestEndMs: endOf(client, lock),
      isGivenBack: false,
      isOver: false,
      seenOverAtMs: undefined,
    };
    // A turn that stalled on its way here is ahead of true time: the lock is its holder's when time has come there.
    if (client.machine.isAhead) {
      this.#options.time.at(client.machine.trueNowMs, () => this.#live.push(handle));
      return handle;
    }
    this.#live.push(handle);
    if (!isHeld(handle)) this.#options.referee.report("held when handed over", `${nameOf(handle)} is over already`);
    this.#requireValidity(handle, maxHoldMs);
    handle.hadKeys = holdingServers(handle) >= client.quorum;
    this.#requireKeys(handle, "keys when handed over");
    return handle;
  }

  /** Later than others do, maybe when it is too late. */
  askForSignal(handle: Handle): void {
    handle.hasSignal = true;
    void handle.lock.signal;
  }

  /** Its Redlock is closed. */
  judgeClosed(client: Client): void {
    const held = this.#live.find((handle) => handle.client === client && isHeld(handle));
    if (held !== undefined) this.#options.referee.report("close ends all", `${nameOf(held)} is held after close()`);
  }

  judge(): void {
    this.#sortOut();
    for (const [index, one] of this.#live.entries()) {
      for (let other = index + 1; other < this.#live.length; other += 1)
        this.#judgePair(one, this.#live[other] as Handle);
    }
    for (const handle of this.#over) {
      if (isHeld(handle))
        this.#options.referee.report("lost for good", `${nameOf(handle)} was over, and is held again`);
    }
  }

  /** Servers have just changed their keys. */
  judgeKeys(): void {
    this.#sortOut();
    for (const handle of this.#live) this.#requireKeys(handle, "keys while held");
  }

  /** After a turn in which a handle's validity may have grown. */
  judgeExtensions(client: Client): void {
    for (const handle of this.#live) {
      if (handle.client !== client) continue;
      const endMs = endOf(client, handle.lock);
      if (endMs > handle.endMs + HAIR_MS) this.#judgeExtension(handle);
      if (this.#options.extensions.isRefuted(handle.lock.token) && isHeld(handle)) {
        this.#options.referee.report("loss is noticed", `${nameOf(handle)} is held, though a quorum denied it`);
      }
      handle.endMs = endMs;
      handle.latestEndMs = Math.max(handle.latestEndMs, endMs);
    }
  }

  /** All timers that were due have run. */
  judgeSignals(client: Client): void {
    if (client.machine.isCatchingUp) return;
    for (const handle of this.#over) {
      if (handle.client !== client || !handle.hasSignal || handle.isGivenBack || client.isClosed) continue;
      if (handle.lock.signal.aborted) continue;
      // Handed over with less left than a timer's least delay.
      if (this.#options.time.nowMs - handle.handedOverAtMs < LEAST_TIMER_MS) continue;
      // Timers follow the monotonic clock: what a suspension or a step of the wall clock ends is noticed at the next look around.
      const monoMs = client.machine.observe(() => client.machine.nowMs());
      handle.seenOverAtMs ??= monoMs;
      const isDisturbed = handle.clockDisturbances !== client.machine.clockDisturbances;
      if (isDisturbed && monoMs - handle.seenOverAtMs < WATCH_MS) continue;
      // A wall clock that was set right again before that look: the timers do not know of it, and need not.
      if (handle.wallSteps !== client.machine.wallSteps && monoMs < handle.latestEndMs) continue;
      this.#options.referee.report("signal in time", `${nameOf(handle)} is over, and its signal has not aborted`);
    }
  }

  /** Ended ones are out of the way, so that judging costs what is held. */
  #sortOut(): void {
    if (this.#live.every(isHeld)) return;
    for (const handle of this.#live) {
      if (isHeld(handle)) continue;
      handle.isOver = true;
      this.#over.push(handle);
      if (!handle.isGivenBack) this.#options.counts.add("lock lost");
    }
    this.#live = this.#live.filter(({ isOver }) => !isOver);
  }

  #judgePair(one: Handle, other: Handle): void {
    const shared = sharedResource(one, other);
    if (shared === undefined) return;
    this.#options.referee.report("mutual exclusion", `${nameOf(one)} and ${nameOf(other)} both hold "${shared}"`);
  }

  #requireValidity(handle: Handle, maxHoldMs: number): void {
    const { tokens, plan, referee } = this.#options;
    const validityMs = tokens.validityMs(handle.lock.token, plan.driftFactor);
    if (validityMs === undefined) return;
    const expectedMs = Math.min(validityMs, maxHoldMs);
    const leftMs = handle.client.machine.observe(() => handle.lock.remainingMs());
    if (Math.abs(leftMs - expectedMs) <= HAIR_MS) return;
    referee.report("validity when handed over", `${nameOf(handle)} is valid for ${leftMs} ms, not ${expectedMs}`);
  }

  #judgeExtension(handle: Handle): void {
    const { tokens, extensions, plan } = this.#options;
    const { token } = handle.lock;
    const sinceMs = extensions.grantedSinceMs(token);
    // A known limit (docs/testing.md): the slowest node's grant counts at once until the round's deadline, whatever was lost meanwhile.
    const overAtMs = tokens.acquireOverAtMs(token, plan.nodeTimeoutMs);
    // Every grant of the other one came after this one's, and every grant of the extension after the other one's.
    const isLater = ({ lock, handedOverAtMs, hadKeys }: Handle) =>
      hadKeys &&
      tokens.sentAtMs(lock.token) > handle.handedOverAtMs &&
      handedOverAtMs > overAtMs &&
      handedOverAtMs < sinceMs;
    for (const other of [...this.#live, ...this.#over]) {
      if (!isLater(other) || sharedResource(handle, other) === undefined) continue;
      const text = `${nameOf(handle)} was extended after ${nameOf(other)} had been granted`;
      this.#options.referee.report("not taken back", text);
    }
  }

  #requireKeys(handle: Handle, invariant: "keys when handed over" | "keys while held"): void {
    const { client } = handle;
    const holding = holdingServers(handle);
    if (holding >= client.quorum) return;
    const isWithinTtl = ({ lostDataAtMs }: { lostDataAtMs: number }) =>
      this.#options.time.nowMs - lostDataAtMs < 2 * this.#options.plan.maxTtlMs;
    if (client.servers.some(isWithinTtl)) return;
    this.#options.referee.report(
      invariant,
      `${nameOf(handle)} has its keys on ${holding} nodes, ${client.quorum} needed`,
    );
  }
}

/** A process that is stopped counts as the holder until its clock says otherwise; one that is dead holds nothing. */
function isHeld({ client, lock }: Handle): boolean {
  return !client.machine.isDead && client.machine.observe(() => lock.remainingMs()) > 0;
}

function sharedResource(one: Handle, other: Handle): string | undefined {
  return one.lock.resources.find((resource) => other.lock.resources.includes(resource));
}

function endOf({ machine }: Client, lock: Lock): number {
  return machine.observe(() => machine.nowMs() + lock.remainingMs());
}

function holdingServers({ client, lock }: Handle): number {
  return client.servers.filter((server) => server.isHolding(lock.resources, lock.token)).length;
}

function nameOf({ client, lock }: Handle): string {
  return `${client.name}'s ${lock.token} on "${lock.resources.join("+")}"`;
}
