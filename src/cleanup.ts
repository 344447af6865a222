import { publishBackground } from "./diagnostics.js";
import type { LockNode, Vote } from "./node.js";
import { type Quorum, Round } from "./round.js";

/**
 * Releases on all nodes, and remembers which of them are still under way: `close()` waits for those, callers never have to.
 */
export class Cleanup {
  readonly #quorum: Quorum;
  readonly #timeoutMs: number;
  readonly #underWay = new Set<Promise<void>>();

  constructor(quorum: Quorum, timeoutMs: number) {
    this.#quorum = quorum;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Deletes the token's keys on every node, whatever the nodes answered before: a node that denied or stayed silent may hold
   * the key all the same. On a node's connection this follows the command that set the key.
   *
   * @param ttlMs how long a key of this token may live
   */
  release(keys: readonly string[], token: string, ttlMs: number): Round {
    const { nodes } = this.#quorum;
    const silent = new Set(nodes);
    const report = (node: LockNode, vote: () => Vote) =>
      publishBackground(() => ({ resources: keys, command: "release", node: node.name, vote: vote() }));
    const round = new Round(
      this.#quorum,
      { kind: "release", keys, token, ttlMs },
      {
        timeoutMs: this.#timeoutMs,
        onVote: (index, vote) => {
          const node = nodes[index] as LockNode;
          silent.delete(node);
          if (vote.vote === "unknown") report(node, () => vote);
        },
      },
    );
    this.#underWay.add(round.complete);
    void round.complete.then(() => {
      this.#underWay.delete(round.complete);
      for (const node of silent) report(node, () => round.votes()[nodes.indexOf(node)] as Vote);
    });
    return round;
  }

  /** Settles when every release has been answered or given up: at the latest after one node timeout. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
