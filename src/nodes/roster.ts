/**
 * Which server stands behind which node of one quorum. Two nodes with one `run_id` are one server, however it is addressed: the
 * second must not vote, or one server would count twice.
 */
export class Roster {
  readonly #ownerOf = new Map<string, string>();
  readonly #warned = new Set<string>();

  /**
   * Notes that a node reached these servers (one, or the masters of a cluster), in place of what it reached before.
   *
   * @returns the name of the node that was there first, or undefined
   */
  claim(node: string, runIds: readonly string[]): string | undefined {
    this.release(node);
    for (const runId of runIds) {
      const owner = this.#ownerOf.get(runId);
      if (owner === undefined) continue;
      this.#warn(node, owner);
      return owner;
    }
    for (const runId of runIds) this.#ownerOf.set(runId, node);
    return undefined;
  }

  release(node: string): void {
    for (const [runId, owner] of this.#ownerOf) if (owner === node) this.#ownerOf.delete(runId);
  }

  #warn(node: string, owner: string): void {
    const message = `nodes ${owner} and ${node} are the same server: ${node} does not vote, so fewer failures are survived than it looks`;
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    process.emitWarning(message, { type: "RedlockWarning", code: "REDLOCK_SAME_SERVER" });
  }
}
