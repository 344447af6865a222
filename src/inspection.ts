import { dataKind } from "./messages.js";
import type { NodeVote } from "./node.js";

/** What one node holds under a resource. `ttlMs`: what is left of the key's time to live. */
export type NodeInspection = { readonly name: string } & (
  | { readonly state: "free" }
  | { readonly state: "ours"; readonly token: string; readonly ttlMs: number }
  | { readonly state: "another"; readonly token: string; readonly ttlMs: number }
  /** A value that no lock would be: `kind` says which. */
  | { readonly state: "not-a-lock"; readonly kind: string }
  /** No trustworthy answer; `message` says why. */
  | { readonly state: "unknown"; readonly message: string }
);

export interface Inspection {
  readonly resource: string;
  /** The token that a quorum of nodes holds; missing when none is held by a quorum. */
  readonly holder?: string;
  /** The holder is a lock of this Redlock. */
  readonly isOurs: boolean;
  readonly nodes: readonly NodeInspection[];
}

export function inspectionOf(
  resource: string,
  votes: readonly NodeVote[],
  ourTokens: ReadonlySet<string>,
  quorumSize: number,
): Inspection {
  const nodes = votes.map((vote) => inspectNode(vote, ourTokens));
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if ("token" in node) counts.set(node.token, (counts.get(node.token) ?? 0) + 1);
  }
  const holder = [...counts].find(([, count]) => count >= quorumSize)?.[0];
  return {
    resource,
    ...(holder === undefined ? {} : { holder }),
    isOurs: holder !== undefined && ourTokens.has(holder),
    nodes,
  };
}

function inspectNode({ name, ...vote }: NodeVote, ourTokens: ReadonlySet<string>): NodeInspection {
  if (vote.vote === "unknown") return { name, state: "unknown", message: vote.message };
  const { found } = vote;
  if (found.key !== "another") return { name, state: "free" };
  const kind = dataKind(found);
  if (kind !== undefined) return { name, state: "not-a-lock", kind };
  const { token = "", ttlMs = 0 } = found;
  return { name, state: ourTokens.has(token) ? "ours" : "another", token, ttlMs };
}
