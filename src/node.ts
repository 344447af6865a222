/**
 * One voter of a quorum, and the words it uses. Whatever happens to a command, a node answers with a vote: it never rejects.
 */
export interface LockNode {
  /** For people: `host:port`, in errors and status. */
  readonly name: string;
  /**
   * Carries out a command, in the order of calls, and votes.
   *
   * @param timeoutMs for how long the caller is going to listen. What could not be sent by then must not be sent at all; what
   *   was sent may be answered later, and its vote is still worth knowing.
   */
  send(command: Command, timeoutMs: number): Promise<Vote>;
  status(): NodeStatus;
  /** Why this node can never carry out a command on these keys (such as two slots of a Cluster); undefined: it can. */
  objection?(keys: readonly string[]): string | undefined;
  /** Ends what the node opened itself. Settles even when the server does not answer. */
  close(): Promise<void>;
}

/** Keys of one command are all or nothing on a node. */
export type Command =
  /** Sets the keys, if all are absent. A node that can tell grants a key that already holds the token; its ttl is not lowered. */
  | { readonly kind: "acquire"; readonly keys: readonly string[]; readonly token: string; readonly ttlMs: number }
  /** The same for a lock that is held and lost keys on this node: those that still hold the token are granted. */
  | { readonly kind: "repair"; readonly keys: readonly string[]; readonly token: string; readonly ttlMs: number }
  /** Raises the time to live of keys that hold the token. Never creates a key, never lowers a time to live. */
  | { readonly kind: "extend"; readonly keys: readonly string[]; readonly token: string; readonly ttlMs: number }
  /** Deletes the keys that hold the token. `ttlMs`: how long a key that cannot be deleted now may live on. */
  | { readonly kind: "release"; readonly keys: readonly string[]; readonly token: string; readonly ttlMs: number }
  /** Looks at the keys. */
  | { readonly kind: "inspect"; readonly keys: readonly string[] };

export type CommandKind = Command["kind"];

/** What a node found under the keys. */
export type Found =
  | { readonly key: "ours" }
  | { readonly key: "absent" }
  | {
      readonly key: "another";
      /** Remaining time to live, ms; `Infinity`: it has none, so it is no lock. Missing where the reply did not tell. */
      readonly ttlMs?: number;
      /** The type of the value: a lock is a `string`. Missing where the reply did not tell. */
      readonly type?: string;
      /** The owner's token, in answers to `inspect`. */
      readonly token?: string;
    };

/**
 * `granted`: the command has been carried out (for a release: no key of ours is left). `denied`: the key is not ours.
 * `unknown`: no trustworthy answer; the command may have been carried out or may yet be.
 */
export type Vote =
  | { readonly vote: "granted"; readonly found: Found }
  | { readonly vote: "denied"; readonly found: Found }
  | {
      readonly vote: "unknown";
      readonly reason: UnknownReason;
      /** What happened, and what to do: "timed out after 250 ms". */
      readonly message: string;
      readonly cause?: unknown;
    };

/**
 * - `timeout`: no answer in time.
 * - `pending`: the outcome was certain before its answer came.
 * - `not-ready`: not connected, or connected and not verified yet.
 * - `not-responding`: an earlier command is overdue, so nothing new is sent.
 * - `connection`: the connection ended before the answer came, or the answer belongs to another connection.
 * - `busy`: too many commands are in flight to this node.
 * - `refused`: the server answered with an error.
 * - `unfit`: the server cannot be a voter (a replica, too old, part of a cluster).
 * - `same-server`: another node of this quorum is the same server.
 * - `closed`: the node was closed.
 */
export type UnknownReason =
  | "timeout"
  | "pending"
  | "not-ready"
  | "not-responding"
  | "connection"
  | "busy"
  | "refused"
  | "unfit"
  | "same-server"
  | "closed";

export interface NodeStatus {
  readonly name: string;
  /** `ready`: it votes. Every other state votes `unknown`. */
  readonly state: "connecting" | "ready" | "not-responding" | "unfit" | "down" | "closed";
  /** Why it is in this state, where there is more to say. */
  readonly detail?: string;
  readonly lastError?: Error;
  /** Smoothed time from a command to its answer, ms. */
  readonly latencyMs?: number;
  /** The server's `run_id`. */
  readonly runId?: string;
  /** Releases that wait for the node to come back. */
  readonly keptReleases?: number;
}

/** A vote with its node's name, as errors and results carry it. */
export type NodeVote = Vote & {
  readonly name: string;
  /** From the start of the round to the answer, ms. */
  readonly elapsedMs: number;
};

export function isLockNode(input: unknown): input is LockNode {
  const node = input as Partial<LockNode> | null;
  return (
    typeof node === "object" &&
    node !== null &&
    typeof node.name === "string" &&
    typeof node.send === "function" &&
    typeof node.status === "function" &&
    typeof node.close === "function"
  );
}

export function isVote(answer: unknown): answer is Vote {
  const { vote, found } = (answer ?? {}) as { readonly vote?: unknown; readonly found?: Partial<Found> };
  return vote === "unknown" || ((vote === "granted" || vote === "denied") && found?.key !== undefined);
}
