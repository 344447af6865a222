import type { RedisOptions } from "ioredis";
import { isLockNode, type LockNode } from "../node.js";
import { show } from "../options.js";
import type { Runtime } from "../runtime.js";
import { type ClusterClient, nameOf, type RedisClient } from "./client.js";
import { IoredisNode } from "./ioredis.js";
import { openOwned } from "./owned.js";
import { Roster } from "./roster.js";

/**
 * What a node can be made of:
 * - a URL (`redis://`, `rediss://`, `valkey://`, `valkeys://`) or ioredis options: connected and closed by the Redlock;
 * - a client of ioredis 5 or 6, of iovalkey, or one compatible with them, single or Cluster: used and guarded, never closed;
 * - any {@link LockNode}: used as it is, never closed.
 */
export type NodeInput = string | RedisOptions | RedisClient | ClusterClient | LockNode;

export interface NodeOptions {
  readonly nodeTimeoutMs: number;
  readonly runtime: Runtime;
}

/** The nodes of a quorum in the order given, and those among them that are the library's to close. */
export interface OpenedNodes {
  readonly all: readonly LockNode[];
  readonly own: readonly LockNode[];
}

/** Looks at every input before it connects to any. */
export function openNodes(inputs: readonly NodeInput[], options: NodeOptions): OpenedNodes {
  if (!Array.isArray(inputs)) {
    // A string may be a URL with a password, so it is not repeated.
    const got = typeof inputs === "string" ? "a string: put it into an array" : show(inputs);
    throw new TypeError(`nodes: expected an array with one entry for each independent master, got ${got}`);
  }
  if (inputs.length === 0) throw new RangeError("nodes: expected at least one node, got an empty array");
  const given = inputs.filter(isLockNode);
  if (new Set(given).size < given.length) {
    throw new RangeError("nodes: the same LockNode is listed twice: it would vote twice");
  }
  const openers = inputs.map((input, index) => openerOf(input, `nodes[${index}]`));
  const roster = new Roster();
  const names = new Map<string, number>();
  const own: LockNode[] = [];
  const all = openers.map((open) => {
    const opened = open();
    if ("node" in opened) return opened.node;
    // The same address twice is reported by name when the server turns out to be the same: the names have to differ.
    const address = nameOf(opened.client);
    const count = (names.get(address) ?? 0) + 1;
    names.set(address, count);
    const name = count === 1 ? address : `${address} (${count})`;
    const node = new IoredisNode({ ...options, ...opened, name, roster });
    own.push(node);
    return node;
  });
  return { all, own };
}

type Opened = { readonly node: LockNode } | { readonly client: RedisClient; readonly isOwned: boolean };

/** @throws TypeError for what can be no node, with what to pass instead */
function openerOf(input: unknown, where: string): () => Opened {
  if (isLockNode(input)) return () => ({ node: input });
  if (typeof input === "string") {
    const options = urlOptions(input, where);
    return () => ({ client: openOwned(options), isOwned: true });
  }
  if (isRedisClient(input)) return () => ({ client: input, isOwned: false });
  if (isConnectionOptions(input)) return () => ({ client: openOwned(input), isOwned: true });
  throw new TypeError(
    `${where}: expected a URL, ioredis options, a client of ioredis or iovalkey, or a LockNode, got ${advise(input)}`,
  );
}

function advise(input: unknown): string {
  const got = show(input);
  const has = (name: string) => typeof input === "object" && input !== null && name in input;
  if (Array.isArray(input))
    return `${got}: pass one Cluster client for a whole cluster, or each independent master as an entry of its own`;
  if (typeof input === "function") return `${got}: pass an instance, not what makes one`;
  if (has("then")) return `${got}: await it first`;
  if (has("sendCommand") || has("isOpen"))
    return `${got}: node-redis clients are not supported, pass the same URL instead, as a string`;
  if (has("customCommand")) return `${got}: GLIDE clients are not supported, pass a URL instead`;
  if (has("acquire") || has("tryAcquire")) return `${got}: pass the masters themselves, not a lock made of them`;
  return got;
}

const SCHEMES = ["redis:", "rediss:", "valkey:", "valkeys:"];

/** Host, port, user, password and database (`/3`): how to connect is not the URL's to say. */
function urlOptions(text: string, where: string): RedisOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === "") {
    // The text may hold a password, so it is not repeated.
    const got = url?.protocol.startsWith("http")
      ? `a URL that begins with "${url.protocol}"`
      : "a string without such a scheme";
    throw new TypeError(
      `${where}: expected a URL such as "redis://host:6379" (redis, rediss, valkey or valkeys), got ${got}`,
    );
  }
  const database = url.pathname.slice(1);
  if (!/^\d*$/.test(database)) {
    throw new TypeError(
      `${where}: expected a database number after the URL's address, got ${JSON.stringify(url.pathname)}`,
    );
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
    ...(database === "" ? {} : { db: Number(database) }),
    ...(url.protocol === "rediss:" || url.protocol === "valkeys:" ? { tls: {} } : {}),
  };
}

function isRedisClient(input: unknown): input is RedisClient {
  const client = input as Partial<RedisClient> | null;
  return (
    typeof client === "object" &&
    client !== null &&
    typeof client.status === "string" &&
    typeof client.call === "function" &&
    typeof client.on === "function" &&
    typeof client.disconnect === "function"
  );
}

function isConnectionOptions(input: unknown): input is RedisOptions {
  if (typeof input !== "object" || input === null) return false;
  const prototype: unknown = Object.getPrototypeOf(input);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return ["host", "port", "path", "sentinels"].some((name) => name in input);
}
