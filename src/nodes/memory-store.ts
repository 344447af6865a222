import type { Command, Found, Vote } from "../node.js";

/** One value under a key. */
interface Entry {
  readonly value: string;
  /** Counted from `sinceMs`; `Infinity`: it does not expire. An end instead would lose the last bits of a ttl near 2^53. */
  readonly ttlMs: number;
  /** On the store's clock. */
  readonly sinceMs: number;
  /** A lock is a `string`. */
  readonly type: string;
}

type CommandOf<Kind> = Extract<Command, { kind: Kind }>;

const OURS: Vote = { vote: "granted", found: { key: "ours" } };

/**
 * The keys of one server, and what the scripts do to them. Each command runs to its end before the next one starts, as on a
 * server with one thread. Keys expire when they are looked at: no timers.
 */
export class MemoryStore {
  readonly #entries = new Map<string, Entry>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  read(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#leftMs(entry) > 0) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  write(key: string, value: string, ttlMs: number, type: string): void {
    this.#entries.set(key, { value, ttlMs, sinceMs: this.#nowMs(), type });
  }

  delete(key: string): boolean {
    return this.read(key) !== undefined && this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  keys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.read(key) !== undefined);
  }

  ttlMs(key: string): number | undefined {
    const entry = this.read(key);
    return entry === undefined ? undefined : this.#leftMs(entry);
  }

  carryOut(command: Command): Vote {
    switch (command.kind) {
      case "acquire":
      case "repair":
        return this.#acquire(command);
      case "extend":
        return this.#extend(command);
      case "release":
        return this.#release(command);
      case "inspect":
        return { vote: "granted", found: this.#inspect(command.keys) };
    }
  }

  #acquire({ keys, token, ttlMs }: CommandOf<"acquire" | "repair">): Vote {
    const another = this.#anothers(keys, token);
    if (another !== undefined) return { vote: "denied", found: another };
    for (const key of keys) this.#raise(key, token, ttlMs);
    return OURS;
  }

  #extend({ keys, token, ttlMs }: CommandOf<"extend">): Vote {
    const another = this.#anothers(keys, token);
    if (another !== undefined) return { vote: "denied", found: another };
    if (keys.some((key) => this.read(key) === undefined)) return { vote: "denied", found: { key: "absent" } };
    for (const key of keys) this.#raise(key, token, ttlMs);
    return OURS;
  }

  #release({ keys, token }: CommandOf<"release">): Vote {
    const ours = keys.filter((key) => this.#holds(key, token));
    for (const key of ours) this.#entries.delete(key);
    if (ours.length === keys.length) return OURS;
    return { vote: "granted", found: this.#anothers(keys, token) ?? { key: "absent" } };
  }

  /** Here every value is another's, since the command carries no token. */
  #inspect(keys: readonly string[]): Found {
    const longest = this.#longestLived(keys);
    if (longest === undefined) return { key: "absent" };
    const found = this.#found(longest);
    return longest.type === "string" ? { ...found, token: longest.value } : found;
  }

  /** What stands in the way of a token: of several keys the one that lives longest, for it tells when all are free. */
  #anothers(keys: readonly string[], token: string): Found | undefined {
    const longest = this.#longestLived(keys.filter((key) => !this.#holds(key, token)));
    return longest === undefined ? undefined : this.#found(longest);
  }

  #longestLived(keys: readonly string[]): Entry | undefined {
    const [longest] = keys
      .flatMap((key) => this.read(key) ?? [])
      .toSorted((a, b) => (this.#leftMs(a) < this.#leftMs(b) ? 1 : -1));
    return longest;
  }

  #found(entry: Entry): Extract<Found, { key: "another" }> {
    return { key: "another", ttlMs: this.#leftMs(entry), type: entry.type };
  }

  /** Whole ms as a server tells them, rounded up, so that a key that is there never has 0 ms left. */
  #leftMs({ ttlMs, sinceMs }: Entry): number {
    return Math.ceil(ttlMs - (this.#nowMs() - sinceMs));
  }

  #holds(key: string, token: string): boolean {
    const entry = this.read(key);
    return entry?.type === "string" && entry.value === token;
  }

  /** Sets a key that is absent or ours; the remaining time to live never gets smaller. */
  #raise(key: string, token: string, ttlMs: number): void {
    this.write(key, token, Math.max(ttlMs, this.ttlMs(key) ?? 0), "string");
  }
}
