import type { Journal, Operation } from "./history.ts";

export interface Invocation {
  readonly operation: Operation;
  readonly limitMs: number;
  readonly waitMs?: number;
  readonly resources?: readonly string[];
  readonly ttlMs?: number;
}

/** The calls of one client, each written down when it is made and when it has settled. */
export class Calls {
  readonly #journal: Journal;
  #last = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  invoke(invocation: Invocation): number {
    this.#last += 1;
    this.#journal.write({ is: "invoke", call: this.#last, ...invocation });
    return this.#last;
  }

  ok(call: number): void {
    this.#journal.write({ is: "ok", call });
  }

  /** An extension that stayed undecided may have been carried out on any node. */
  failed(call: number, error: unknown, isUndecided = false): void {
    const code = codeOf(error);
    if (isUndecided && code === "ERR_QUORUM_UNREACHABLE") this.#journal.write({ is: "unknown", call, code });
    else this.#journal.write({ is: "failed", call, code, message: String(error) });
  }

  unknown(call: number, code: string): void {
    this.#journal.write({ is: "unknown", call, code });
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
