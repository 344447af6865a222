import type { Vote } from "../../src/node.ts";
import { MemoryNode } from "../../src/nodes/memory.ts";
import type { RedlockOptions } from "../../src/options.ts";
import { Redlock } from "../../src/redlock.ts";
import { RelayNode } from "./relay-node.ts";
import { microtasks, VirtualRuntime } from "./virtual-runtime.ts";

export interface WorldOptions extends RedlockOptions {
  readonly nodes?: number;
  readonly seed?: number;
}

/** One process with a Redlock, the nodes it reaches, and time in a test's hands. */
export class World {
  readonly runtime: VirtualRuntime;
  readonly memory: readonly MemoryNode[];
  readonly relays: readonly RelayNode[];
  readonly redlock: Redlock;
  readonly #startMs: number;

  constructor({ nodes = 3, seed = 1, ...options }: WorldOptions = {}) {
    this.runtime = new VirtualRuntime({ seed });
    const { runtime } = this;
    this.#startMs = runtime.nowMs();
    this.memory = Array.from({ length: nodes }, (_, index) => new MemoryNode({ name: `redis-${index + 1}`, runtime }));
    this.relays = this.memory.map((node) => new RelayNode(node, runtime));
    this.redlock = new Redlock(this.relays, options, runtime);
  }

  /** Another process that reaches the same nodes. */
  neighbour(options: RedlockOptions = {}): { readonly redlock: Redlock; readonly relays: readonly RelayNode[] } {
    const relays = this.memory.map((node) => new RelayNode(node, this.runtime));
    return { redlock: new Redlock(relays, options, this.runtime), relays };
  }

  /** Lets time pass until the promise settles, and not longer. */
  run<T>(promise: Promise<T>, boundMs?: number): Promise<T> {
    return this.runtime.run(promise, boundMs);
  }

  /** Since the start, ms. */
  get elapsedMs(): number {
    return this.runtime.nowMs() - this.#startMs;
  }

  /** How long a call takes, and what comes of it. */
  async timed<T>(call: () => Promise<T>): Promise<{ readonly tookMs: number; readonly result: T }> {
    const startMs = this.runtime.nowMs();
    const result = await this.run(call());
    return { tookMs: this.runtime.nowMs() - startMs, result };
  }

  /** Runs a call that must fail; how, and after how long. */
  async failed(call: () => Promise<unknown>): Promise<{ readonly tookMs: number; readonly error: unknown }> {
    const startMs = this.runtime.nowMs();
    const error = await this.run(failureOf(call()));
    return { tookMs: this.runtime.nowMs() - startMs, error };
  }

  /** What each node holds under a name. */
  values(resource: string): (string | undefined)[] {
    return this.memory.map((node) => node.get(resource));
  }

  /** All keys on all nodes, as `node/key`: none may be left when everything has ended. */
  keysLeft(): string[] {
    return this.memory.flatMap((node) => node.keys().map((key) => `${node.name}/${key}`));
  }

  /** On so many nodes somebody else holds the name. */
  hold(resource: string, nodes: readonly number[], ttlMs = 30_000): void {
    for (const node of nodes) this.memory[node]?.set(resource, "somebody else", { ttlMs });
  }

  /** What was sent to any node. */
  get commands() {
    return this.relays.flatMap((relay) => relay.commands());
  }
}

export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`expected a rejection, got ${String(outcome.value)}`);
}

/** Something happens when so many steps of promises have gone by: to look between any two of them. */
export function afterMicrotasks(count: number, callback: () => void): void {
  if (count === 0) callback();
  else queueMicrotask(() => afterMicrotasks(count - 1, callback));
}

export const settled = microtasks;

/** An answer that never comes. */
export function never(): Promise<Vote> {
  return new Promise(() => {});
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** All subsets of so many nodes that are no larger than `largest`. */
export function subsets(count: number, largest: number): number[][] {
  return range(2 ** count)
    .map((bits) => range(count).filter((node) => bits & (1 << node)))
    .filter((nodes) => nodes.length <= largest);
}
