/** In that file of `src`, in the place of the first text the second one. The first stands there exactly once. */
export type Edit = readonly [file: string, instead: string, text: string];

/** Mistakes in the shipped code itself. The simulation alone must notice each of them (mutate.ts). */
export const MUTATIONS: Readonly<Record<string, readonly Edit[]>> = {
  "validity is not checked": [
    ["core/tally.ts", 'validityLeftMs > 0 ? "won" : "expired"', '"won"'],
    ["acquisition.ts", " && round.validityLeftMs() > 0", ""],
    ["acquisition.ts", " && ended.lock.isHeld()", ""],
  ],
  "the quorum is one lower": [["core/tally.ts", "Math.floor(nodeCount / 2) + 1", "Math.floor(nodeCount / 2)"]],
  "nodes that denied are not released": [
    [
      "acquisition.ts",
      "cleanup.release(resources, token, ttlMs)",
      "cleanup.release(resources, token, ttlMs, round.votes())",
    ],
    ["cleanup.ts", "token: string, ttlMs: number)", "token: string, ttlMs: number, votes = [])"],
    [
      "cleanup.ts",
      "      this.#quorum,\n",
      '{ ...this.#quorum, nodes: this.#quorum.nodes.filter((_, node) => votes[node]?.vote !== "denied") },',
    ],
  ],
  "nodes that were silent are not released": [
    [
      "acquisition.ts",
      "cleanup.release(resources, token, ttlMs)",
      "cleanup.release(resources, token, ttlMs, round.votes())",
    ],
    ["cleanup.ts", "token: string, ttlMs: number)", "token: string, ttlMs: number, votes = [])"],
    [
      "cleanup.ts",
      "      this.#quorum,\n",
      '{ ...this.#quorum, nodes: this.#quorum.nodes.filter((_, node) => votes[node]?.vote !== "unknown") },',
    ],
  ],
  "the attempts of one call share a token": [
    [
      "acquisition.ts",
      "const token = quorum.runtime.newToken()",
      "const token = (wish.token ??= quorum.runtime.newToken())",
    ],
  ],
  "elapsed time counts from the first attempt": [
    [
      "acquisition.ts",
      "  await patience.until(round.settled);",
      "round.stopwatch = wish.first ??= round.stopwatch;\n$&",
    ],
  ],
  "elapsed time counts from the verdict": [
    [
      "held-lock.ts",
      "driftFactor), stopwatch };",
      "driftFactor), stopwatch: new Stopwatch(this.#estate.quorum.runtime) };",
    ],
  ],
  "no allowance for drift": [["core/validity.ts", "return ttlMs * driftFactor + GRANULARITY_MS", "return 0"]],
  "a grant that comes too late counts at once": [
    ["core/electorate.ts", "else if (isInTime)", "else if (isInTime || true)"],
  ],
  "the deadline is not armed": [["deadline.ts", "    this.#lock = lock;\n    this.arm();", "    this.#lock = lock;"]],
  "an extension creates keys": [
    [
      "nodes/memory-store.ts",
      '    if (keys.some((key) => this.read(key) === undefined)) return { vote: "denied", found: { key: "absent" } };\n',
      "",
    ],
  ],
  "an extension is sent as a repair": [["extension.ts", '{ kind: "extend", keys', '{ kind: "repair", keys']],
  "an extension lowers the time to live": [["nodes/memory-store.ts", "Math.max(ttlMs, this.ttlMs(key) ?? 0)", "ttlMs"]],
  "a shorter extension shortens the validity": [
    ["held-lock.ts", "if (validity.ms - validity.stopwatch.elapsedMs() > this.#validityLeftMs()) ", ""],
  ],
  "a node that denied an extension goes on voting": [
    [
      "core/electorate.ts",
      "  extendDenied(node: number): void {\n    this.#standings[node] = OUT;",
      "  extendDenied() {",
    ],
  ],
  "a repaired node votes in the next round": [
    [
      "core/electorate.ts",
      "  repaired(node: number): void {\n    this.#confirm(node);",
      "  repaired(node) {\n    this.#standings[node] = VOTING;",
    ],
  ],
  "a repaired node votes after any round": [
    ["core/electorate.ts", "wonWithoutIt && round > standing.afterRound", "true"],
  ],
  "a repair is written after the release": [["held-lock.ts", 'return this.#state.is !== "held";', "return false;"]],
  "nothing is repaired": [["extension.ts", "this.#electorate.mayRepair(node)", "false"]],
  "a lock that was lost is not released": [
    [
      "held-lock.ts",
      "return this.#estate.cleanup.release(this.resources, this.token, this.#longestTtlMs);",
      'return state.is === "lost" ? undefined : this.#estate.cleanup.release(this.resources, this.token, this.#longestTtlMs);',
    ],
  ],
  "anybody's token is released": [
    [
      "nodes/memory-store.ts",
      "const ours = keys.filter((key) => this.#holds(key, token))",
      "const ours = keys.filter((key) => this.read(key) !== undefined)",
    ],
  ],
  "a wait is not aborted": [["patience.ts", "    for (const wake of this.#wakes) wake();\n", ""]],
  "close() does not release": [
    ["redlock.ts", "    for (const lock of this.#locks) lock.shutDown(new ClosedError(lock.resources));\n", ""],
  ],
  "close() does not end waiting": [
    [
      "redlock.ts",
      "    for (const [caller, resources] of this.#callers) caller.cancel(new ClosedError(resources));\n",
      "",
    ],
  ],
  "nothing is extended by itself": [["keeper.ts", "    this.#schedule(ttlMs / EXTENSIONS_PER_TTL);\n", ""]],
  "an undecided extension is not tried again": [
    [
      "keeper.ts",
      'RedlockError.is(error) && error.code === "ERR_QUORUM_UNREACHABLE" ? "undecided" : "ended"',
      '"ended"',
    ],
  ],
  "a round has no deadline": [["round.ts", "runtime.afterArrivals(() => this.#end())", "{}"]],
};
