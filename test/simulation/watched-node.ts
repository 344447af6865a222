import type { Command, LockNode, NodeStatus, Vote } from "../../src/node.ts";

export interface NodeWatcher {
  sent(node: LockNode, command: Command): void;
  voted(node: LockNode, command: Command, vote: Vote): void;
}

/** The boundary between the rounds and a node: everything that passes is seen, and nothing is changed. */
export class WatchedNode implements LockNode {
  readonly #node: LockNode;
  readonly #watcher: NodeWatcher;

  constructor(node: LockNode, watcher: NodeWatcher) {
    this.#node = node;
    this.#watcher = watcher;
  }

  get name(): string {
    return this.#node.name;
  }

  send(command: Command, timeoutMs: number): Promise<Vote> {
    this.#watcher.sent(this, command);
    const vote = this.#node.send(command, timeoutMs);
    void vote.then((heard) => this.#watcher.voted(this, command, heard));
    return vote;
  }

  status(): NodeStatus {
    return this.#node.status();
  }

  close(): Promise<void> {
    return this.#node.close();
  }
}
