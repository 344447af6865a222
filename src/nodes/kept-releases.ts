import type { Command } from "../node.js";

export type Release = Extract<Command, { kind: "release" }>;

/** Beyond it the oldest are dropped: their keys end with their ttl. */
const MAX_KEPT = 10_000;

/** Releases that a node could not be told of. They are sent as soon as it is back. */
export class KeptReleases {
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, { readonly release: Release; readonly expiresAtMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#kept.size;
  }

  keep(release: Release): void {
    this.#kept.delete(release.token);
    this.#kept.set(release.token, { release, expiresAtMs: this.#nowMs() + release.ttlMs });
    if (this.#kept.size <= MAX_KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }

  /**
   * Hands over what is still worth sending.
   *
   * @param isFateKnown every command that set these keys was answered: then a key older than its ttl is gone by itself. Otherwise
   *   one may have been carried out at any time until now.
   */
  take(isFateKnown = true): readonly Release[] {
    const nowMs = this.#nowMs();
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    if (!isFateKnown) return kept.map(({ release }) => release);
    // One that has to be kept again is kept for what is left, so that none is tried for ever.
    const withLeft = kept.map(({ release, expiresAtMs }) => ({ ...release, ttlMs: expiresAtMs - nowMs }));
    return withLeft.filter(({ ttlMs }) => ttlMs > 0);
  }
}
