import { type Backoff, backoffMs, freeInMs } from "./core/backoff.js";
import { type Estate, HeldLock } from "./held-lock.js";
import { dataKind } from "./messages.js";
import type { NodeVote } from "./node.js";
import type { ResolvedAcquireOptions } from "./options.js";
import type { Patience } from "./patience.js";
import { Round } from "./round.js";

export interface Wish extends Pick<ResolvedAcquireOptions, "waitMs" | "autoExtend" | "maxHoldMs"> {
  readonly resources: readonly string[];
  readonly ttlMs: number;
  readonly backoff: Backoff;
}

/** Why an acquisition ended without a lock. */
export interface Lost {
  readonly resources: readonly string[];
  /**
   * `held`: by another owner. `data`: the name is a data key on so many nodes that waiting is in vain. `unreachable`: too few
   * nodes gave a trustworthy answer, or they gave it too late.
   */
  readonly why: "held" | "data" | "unreachable";
  readonly votes: readonly NodeVote[];
  readonly freeInMs: number | undefined;
  readonly attempts: number;
  /** From the call to its end, ms. */
  readonly waitedMs: number;
}

type LostAttempt = Pick<Lost, "why" | "votes" | "freeInMs">;

interface WonAttempt {
  readonly lock: HeldLock;
  readonly votes: readonly NodeVote[];
}

/**
 * One caller's way to a lock: attempts, each with a token of its own, and waiting between them.
 *
 * @throws what cancelled the caller
 */
export async function acquisition(estate: Estate, wish: Wish, patience: Patience): Promise<HeldLock | Lost> {
  const { runtime } = estate.quorum;
  let lost: LostAttempt | undefined;
  let attempts = 0;
  do {
    patience.throwIfCancelled();
    attempts += 1;
    const ended = await admitted(estate, wish, patience);
    if (ended !== undefined && "lock" in ended && ended.lock.isHeld()) return ended.lock;
    patience.throwIfCancelled();
    // Its time ended before its turn came.
    if (ended === undefined) break;
    const outcome = "lock" in ended ? tooLate(ended) : ended;
    // An attempt that the caller's deadline cut short says less than the whole one before it.
    if (lost === undefined || outcome.why === "data" || patience.leftMs > 0) lost = outcome;
    const isInVain = lost.why === "data";
    if (isInVain || patience.leftMs <= 0) break;
    const backoff = backoffMs(wish.backoff, attempts, runtime.random());
    const freed = (lost.freeInMs ?? Number.POSITIVE_INFINITY) + runtime.random() * wish.backoff.minMs;
    await patience.sleep(Math.min(backoff, freed, patience.leftMs));
    patience.throwIfCancelled();
    // An attempt that begins when the time is over could only be given up at once.
  } while (patience.leftMs > 0);
  lost ??= {
    why: "unreachable",
    votes: estate.quorum.nodes.map(({ name }) => ({ ...NOT_ASKED, name })),
    freeInMs: undefined,
  };
  return { ...lost, resources: wish.resources, attempts, waitedMs: patience.waitedMs };
}

/** The event loop stalled on the way here, and the validity has passed meanwhile. */
function tooLate({ lock, votes }: WonAttempt): LostAttempt {
  void lock.release();
  return { why: "unreachable", votes, freeInMs: undefined };
}

const NOT_ASKED = {
  vote: "unknown",
  reason: "busy",
  message: "not asked: too many acquisitions of this process are under way",
  elapsedMs: 0,
} as const;

/** An attempt when its turn has come; undefined when the caller was cancelled, or its time ended, before that. */
async function admitted(estate: Estate, wish: Wish, patience: Patience): Promise<WonAttempt | LostAttempt | undefined> {
  const { admission } = estate;
  const hasDeadline = wish.waitMs > 0;
  if (!(await admission.enter(patience, hasDeadline ? patience.leftMs : undefined))) return undefined;
  try {
    if (patience.isCancelled || (hasDeadline && patience.leftMs <= 0)) return undefined;
    return await attempt(estate, wish, patience);
  } finally {
    admission.leave();
  }
}

/** One acquire round, and its clean-up when it is lost. The clean-up is sent at once whatever ends the attempt. */
async function attempt(estate: Estate, wish: Wish, patience: Patience): Promise<WonAttempt | LostAttempt> {
  const { quorum, nodeTimeoutMs, cleanup } = estate;
  const { resources, ttlMs, waitMs, autoExtend, maxHoldMs } = wish;
  const token = quorum.runtime.newToken();
  const patienceMs = waitMs === 0 ? Number.POSITIVE_INFINITY : patience.leftMs;
  let lock: HeldLock | undefined;
  const round: Round = new Round(
    quorum,
    { kind: "acquire", keys: resources, token, ttlMs },
    {
      timeoutMs: Math.min(nodeTimeoutMs, ttlMs / 4, patienceMs),
      onVote: (node, vote) => lock?.acquireAnswered(node, vote, !round.isOver),
    },
  );
  await patience.until(round.settled);
  if (round.verdict === "won" && !patience.isCancelled && round.validityLeftMs() > 0) {
    lock = new HeldLock(estate, { resources, token, ttlMs, round, autoExtend, maxHoldMs });
    return { lock, votes: round.votes() };
  }
  const released = cleanup.release(resources, token, ttlMs);
  // The answers tell who holds the key and for how long, and which nodes are well: worth a round trip, not the caller's deadline.
  const isContended = round.verdict === "refused" || round.verdict === "contended";
  const telling = isContended ? released.settled : round.complete;
  await patience.until(telling, waitMs === 0 ? undefined : patience.leftMs);
  const votes = () => withFindings(round.votes(), released.votes());
  // One data key is reason to hear every node: the slowest may hold the one that makes waiting vain, at each attempt anew.
  if (countDataKeys(votes()) > 0) await patience.until(released.complete, waitMs === 0 ? undefined : patience.leftMs);
  const isData = quorum.nodes.length - countDataKeys(votes()) < quorum.size;
  return {
    why: isData ? "data" : isContended ? "held" : "unreachable",
    votes: votes(),
    freeInMs: isContended ? untilFree(released.votes(), quorum.size) : undefined,
  };
}

function countDataKeys(votes: readonly NodeVote[]): number {
  return votes.filter((answer) => answer.vote === "denied" && dataKind(answer.found) !== undefined).length;
}

/** The clean-up's findings (whose key, its remaining time to live, its type) in the denials that could not tell. */
function withFindings(votes: readonly NodeVote[], released: readonly NodeVote[]): readonly NodeVote[] {
  return votes.map((vote, node) => {
    const release = released[node];
    const isFuller = vote.vote === "denied" && release?.vote === "granted" && release.found.key === "another";
    return isFuller ? { ...vote, found: release.found } : vote;
  });
}

/** When so many of the other owner's keys have run out that a quorum can form. */
function untilFree(released: readonly NodeVote[], quorumSize: number): number | undefined {
  const ttlsMs: number[] = [];
  let free = 0;
  for (const vote of released) {
    if (vote.vote !== "granted") continue;
    if (vote.found.key !== "another") free += 1;
    else if (Number.isFinite(vote.found.ttlMs)) ttlsMs.push(vote.found.ttlMs as number);
  }
  return freeInMs(ttlsMs, quorumSize - free);
}
