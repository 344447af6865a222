import type { Backoff } from "./core/backoff.js";
import { driftMs } from "./core/validity.js";

/** Options of a {@link Redlock}. Each has a default in {@link DEFAULTS}. */
export interface RedlockOptions {
  /**
   * How long one round listens to a node, ms. A node that has not answered by then votes `unknown`; its late answer is still
   * heard. Counts from the moment the round is sent, and is never more than a quarter of the ttl, so that a silent node
   * cannot use up the validity. Well above a round trip, well below the ttl.
   *
   * Minimum: above 0.
   * @default 250
   */
  readonly nodeTimeoutMs?: number | undefined;
  /**
   * How much the clocks' rates may differ between this process and the servers, as a share of the ttl: 0.01 is one per cent.
   * It is taken off every validity, with 2 ms for the clocks' granularity.
   *
   * Minimum: 0. Below: 1.
   * @default 0.01
   * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
   */
  readonly driftFactor?: number | undefined;
  /**
   * Delay between two attempts of one waiting call, ms: drawn between 0 and a ceiling that starts at `minMs` and doubles with
   * each lost attempt up to `maxMs`. Counts from the end of the lost attempt.
   *
   * Minimum: above 0 for `minMs`; `minMs` for `maxMs`.
   * @default { minMs: 10, maxMs: 250 }
   */
  readonly backoff?: Partial<Backoff> | undefined;
}

/** Options of one acquisition. */
export interface AcquireOptions extends HoldOptions {
  /**
   * How long to go on trying, ms, counted from the call. `0`: one attempt. `Infinity`: until granted, aborted or closed. A call
   * settles by then: an attempt still under way is cut short and cleaned up (with `0` the one attempt has the node timeout).
   *
   * Minimum: 0.
   * @default 10_000
   */
  readonly waitMs?: number | undefined;
}

/** Options of a call that makes one attempt. */
export interface HoldOptions {
  /** Aborting rejects the call with the signal's own reason. It ends the acquisition, never a lock already returned. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Extend the lock by itself, every third of the ttl, until it is released, lost or held for `maxHoldMs`.
   *
   * @default false; true in `using`
   */
  readonly autoExtend?: boolean | undefined;
  /**
   * The longest the lock can be held, ms, counted from its return. After that it counts as lost: the signal aborts and the lock
   * is released everywhere. A stop for routines that never end.
   *
   * Minimum: above 0.
   * @default Infinity
   */
  readonly maxHoldMs?: number | undefined;
}

export const DEFAULTS = {
  nodeTimeoutMs: 250,
  driftFactor: 0.01,
  backoff: { minMs: 10, maxMs: 250 },
  waitMs: 10_000,
  autoExtend: false,
  maxHoldMs: Number.POSITIVE_INFINITY,
} as const satisfies Required<RedlockOptions> & Required<Omit<AcquireOptions, "signal">>;

export interface ResolvedOptions {
  readonly nodeTimeoutMs: number;
  readonly driftFactor: number;
  readonly backoff: Backoff;
}

export function resolveOptions(options: RedlockOptions = {}): ResolvedOptions {
  requireObject("options", options, ["nodeTimeoutMs", "driftFactor", "backoff"]);
  const { nodeTimeoutMs = DEFAULTS.nodeTimeoutMs, driftFactor = DEFAULTS.driftFactor } = options;
  requireNumber("nodeTimeoutMs", nodeTimeoutMs, { above: 0 });
  requireNumber("driftFactor", driftFactor, { atLeast: 0, below: 1 });
  const { backoff = DEFAULTS.backoff } = options;
  requireObject("backoff", backoff, ["minMs", "maxMs"]);
  const { minMs = DEFAULTS.backoff.minMs, maxMs = DEFAULTS.backoff.maxMs } = backoff as Partial<Backoff>;
  requireNumber("backoff.minMs", minMs, { above: 0 });
  requireNumber("backoff.maxMs", maxMs, { atLeast: minMs });
  return { nodeTimeoutMs, driftFactor, backoff: { minMs, maxMs } };
}

export interface ResolvedAcquireOptions {
  readonly waitMs: number;
  readonly autoExtend: boolean;
  readonly maxHoldMs: number;
  readonly signal: AbortSignal | undefined;
}

const HOLD_OPTIONS = ["signal", "autoExtend", "maxHoldMs"];

/** @param autoExtend what it is where the options do not say */
export function resolveAcquireOptions(options: AcquireOptions = {}, autoExtend?: boolean): ResolvedAcquireOptions {
  requireObject("options", options, ["waitMs", ...HOLD_OPTIONS]);
  const { waitMs = DEFAULTS.waitMs, ...hold } = options;
  requireNumber("waitMs", waitMs, { atLeast: 0, infinite: true });
  return { waitMs, ...resolveHold(hold, autoExtend) };
}

/** One attempt does not wait: `waitMs` is refused. */
export function resolveAttemptOptions(options: HoldOptions = {}): ResolvedAcquireOptions {
  requireObject("options", options, HOLD_OPTIONS);
  return { waitMs: 0, ...resolveHold(options) };
}

function resolveHold(options: HoldOptions, autoExtendDefault: boolean = DEFAULTS.autoExtend) {
  const { signal, autoExtend = autoExtendDefault, maxHoldMs = DEFAULTS.maxHoldMs } = options;
  requireNumber("maxHoldMs", maxHoldMs, { above: 0, infinite: true });
  if (typeof autoExtend !== "boolean") throw new TypeError(`autoExtend: expected a boolean, got ${show(autoExtend)}`);
  requireSignal(signal);
  return { autoExtend, maxHoldMs, signal };
}

/** @throws TypeError for options of `extend` that are none */
export function requireExtendOptions(options: { readonly signal?: AbortSignal | undefined }): void {
  requireObject("options", options, ["signal"]);
  requireSignal(options.signal);
}

function requireSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new TypeError(`signal: expected an AbortSignal, got ${show(signal)}`);
}

/** One resource or several, as a list without duplicates in the order given. */
export function resolveResources(resources: string | readonly string[]): readonly string[] {
  const list: readonly unknown[] = Array.isArray(resources) ? resources : [resources];
  if (list.length === 0) throw new RangeError("resources: expected at least one resource, got an empty array");
  for (const resource of list) {
    if (typeof resource !== "string") throw new TypeError(`resource: expected a string, got ${show(resource)}`);
    if (resource === "")
      throw new RangeError("resource: expected a name of at least one character, got an empty string");
  }
  return [...new Set(list as readonly string[])];
}

/** @throws TypeError or RangeError unless it is a whole number of ms that leaves some validity after the drift */
export function requireTtl(ttlMs: number, driftFactor: number): void {
  if (typeof ttlMs !== "number") throw new TypeError(`ttlMs: expected a number of ms, got ${show(ttlMs)}`);
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0) {
    throw new RangeError(`ttlMs: expected a positive whole number of ms, got ${show(ttlMs)}`);
  }
  const drift = driftMs(ttlMs, driftFactor);
  if (ttlMs - drift <= 0) {
    throw new RangeError(`ttlMs: expected more than the clock drift allowed for (${drift} ms), got ${show(ttlMs)}`);
  }
}

interface Bounds {
  readonly above?: number;
  readonly atLeast?: number;
  readonly below?: number;
  readonly infinite?: boolean;
}

function requireNumber(name: string, value: unknown, { above, atLeast, below, infinite = false }: Bounds): void {
  if (typeof value !== "number") throw new TypeError(`${name}: expected a number, got ${show(value)}`);
  const isInside =
    (above === undefined || value > above) &&
    (atLeast === undefined || value >= atLeast) &&
    (below === undefined || value < below) &&
    (infinite ? !Number.isNaN(value) : Number.isFinite(value));
  if (isInside) return;
  const bounds = [
    above === undefined ? [] : `above ${above}`,
    atLeast === undefined ? [] : `of at least ${atLeast}`,
    below === undefined ? [] : `below ${below}`,
  ].flat();
  throw new RangeError(
    `${name}: expected a${infinite ? "" : " finite"} number ${bounds.join(" and ")}, got ${show(value)}`,
  );
}

/** A misspelt option would silently be its default, so that unknown names are refused. */
function requireObject(name: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`${name}: expected an object, got ${show(value)}`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new TypeError(`${name}: unknown option "${key}"; known are ${known.join(", ")}`);
  }
}

/** A value and its type, for messages about wrong arguments. */
export function show(value: unknown): string {
  if (typeof value === "string") return `${JSON.stringify(value)} (string)`;
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "an array" : `an object (${constructorName(value)})`;
  if (typeof value === "function") return `a function (${value.name || "anonymous"})`;
  return `${String(value)} (${typeof value})`;
}

function constructorName(value: object): string {
  return value.constructor?.name ?? "no prototype";
}
