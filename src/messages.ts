import type { Found, NodeVote } from "./node.js";

/**
 * Votes in words: have and need, then each kind of answer with how many nodes gave it. Names are given where somebody has to
 * act on the node; "held by another owner" is nobody's fault.
 *
 *     "invoice:42": 1/5 granted, 3 needed (3 held by another owner, free in at most 8.2 s; 1 timed out after 250 ms: redis-3:6379)
 */
export function describeVotes(
  resources: readonly string[],
  votes: readonly NodeVote[],
  needed: number,
  freeInMs?: number,
  voters?: ReadonlySet<number>,
): string {
  const counts = (node: number) => voters === undefined || voters.has(node);
  const granted = votes.filter(({ vote }, node) => vote === "granted" && counts(node)).length;
  const groups = new Map<string, { count: number; names: string[] }>();
  for (const [node, vote] of votes.entries()) {
    if (vote.vote === "granted" && counts(node)) continue;
    const { words, named } = describeVote(vote);
    const group = groups.get(words) ?? { count: 0, names: [] };
    group.count += 1;
    if (named) group.names.push(vote.name);
    groups.set(words, group);
  }
  const parts = [...groups].map(([words, { count, names }]) => {
    const free = words === HELD && freeInMs !== undefined ? `, free in at most ${duration(freeInMs)}` : "";
    return `${count} ${words}${free}${names.length > 0 ? `: ${names.join(", ")}` : ""}`;
  });
  if (granted >= needed) parts.push("the answers came too late");
  const details = parts.length > 0 ? ` (${parts.join("; ")})` : "";
  return `${quote(resources)}: ${granted}/${votes.length} granted, ${needed} needed${details}`;
}

const HELD = "held by another owner";

function describeVote(vote: NodeVote): { words: string; named: boolean } {
  if (vote.vote === "granted") return { words: "holding the key again, not counted yet", named: true };
  if (vote.vote === "unknown") {
    const isUnfit = vote.reason === "unfit" || vote.reason === "same-server";
    // The verdict did not wait for it: nothing is wrong with that node.
    return { words: `${isUnfit ? "unfit: " : ""}${vote.message}`, named: vote.reason !== "pending" };
  }
  if (vote.found.key === "absent") return { words: "without the key", named: true };
  const foreign = dataKind(vote.found);
  if (foreign !== undefined) return { words: `holding data under that name (${foreign}), not a lock`, named: true };
  return { words: HELD, named: false };
}

/** What kind of data key this is; undefined when it can be a lock: a string that expires. */
export function dataKind(found: Found): string | undefined {
  if (found.key !== "another") return undefined;
  if (found.type !== undefined && found.type !== "string") return `a ${found.type}`;
  return found.ttlMs === Number.POSITIVE_INFINITY ? "a string without expiry" : undefined;
}

const MAX_QUOTED = 3;

/** Resources for a message: quoted, and not more of them than one reads. */
export function quote(resources: readonly string[]): string {
  const shown = resources.slice(0, MAX_QUOTED).map((resource) => JSON.stringify(resource));
  const rest = resources.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** "850 ms", "8.2 s", "3 min", "2.5 h": as precise as a person needs. */
export function duration(ms: number): string {
  const rounded = (value: number) => (value < 10 ? Math.ceil(value * 10) / 10 : Math.ceil(value));
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  if (ms < 60_000) return `${rounded(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${rounded(ms / 60_000)} min`;
  return `${rounded(ms / 3_600_000)} h`;
}
