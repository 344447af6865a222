import type { Command, LockNode, NodeStatus, Vote } from "../../src/node.ts";
import type { Runtime } from "../../src/runtime.ts";

export const GRANTED: Vote = { vote: "granted", found: { key: "ours" } };
export const DENIED: Vote = { vote: "denied", found: { key: "another" } };
export const NOT_READY: Vote = { vote: "unknown", reason: "not-ready", message: "not connected" };

/** What a node does with a command. `silent`: nothing, ever. The other two are what a faulty node of a user might do. */
export type Behaviour =
  | { readonly afterMs: number; readonly vote: Vote }
  | { readonly silent: true }
  | { readonly rejects: Error }
  | { readonly throws: Error };

/** A node that answers as it was told, and remembers what it was sent. */
export class ScriptedNode implements LockNode {
  readonly sent: { readonly command: Command; readonly timeoutMs: number; readonly atMs: number }[] = [];
  readonly #runtime: Runtime;
  readonly #behaviour: Behaviour;

  constructor(
    runtime: Runtime,
    readonly name: string,
    behaviour: Behaviour,
  ) {
    this.#runtime = runtime;
    this.#behaviour = behaviour;
  }

  send(command: Command, timeoutMs: number): Promise<Vote> {
    this.sent.push({ command, timeoutMs, atMs: this.#runtime.nowMs() });
    const behaviour = this.#behaviour;
    if ("throws" in behaviour) throw behaviour.throws;
    if ("rejects" in behaviour) return Promise.reject(behaviour.rejects);
    if ("afterMs" in behaviour && behaviour.afterMs === 0) return Promise.resolve(behaviour.vote);
    return new Promise((resolve) => {
      if ("afterMs" in behaviour) this.#runtime.setTimer(behaviour.afterMs, () => resolve(behaviour.vote));
    });
  }

  status(): NodeStatus {
    return { name: this.name, state: "ready" };
  }

  async close(): Promise<void> {}
}
