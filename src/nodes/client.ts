/**
 * The part of a client that a node uses. Structural, so that ioredis 5, ioredis 6 and iovalkey fit side by side: their classes
 * have private members, which would tie the types to one copy of one package.
 */
export interface RedisClient {
  readonly status: string;
  // biome-ignore lint/suspicious/noExplicitAny: listeners and overloads differ between the packages; only their shape matters.
  on(event: any, listener: (...args: any[]) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  off(event: any, listener: (...args: any[]) => void): unknown;
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
  connect(): Promise<void>;
  disconnect(): void;
}

/** A Redis Cluster client: all masters of the cluster are one voter. */
export interface ClusterClient extends RedisClient {
  readonly isCluster: true;
}

/** What of a client's inside is read at run time, where it exists: typings differ, and stand-ins have less. */
interface ClientInside {
  readonly isCluster?: boolean;
  readonly stream?: { readonly writable?: boolean; destroy(): void } | undefined;
  readonly options?: {
    readonly host?: string;
    readonly port?: number;
    readonly path?: string;
    readonly db?: number;
    readonly name?: string;
    readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[];
    readonly keyPrefix?: string;
  };
  /** `select`: the database that the client has chosen last. */
  readonly condition?: { readonly select?: number } | null;
  readonly startupNodes?: readonly (string | number | { readonly host?: string; readonly port?: number })[];
  nodes?(role: "master"): readonly RedisClient[];
}

function inside(client: RedisClient): ClientInside {
  return client as unknown as ClientInside;
}

export function isCluster(client: RedisClient): boolean {
  return inside(client).isCluster === true;
}

/** After a socket was destroyed ioredis still says "ready" for a while, and queues what it is given. */
export function isWritable(client: RedisClient): boolean {
  return client.status === "ready" && inside(client).stream?.writable !== false;
}

/** Ends a connection whose server may never answer the end of it. */
export function destroySocket(client: RedisClient): void {
  inside(client).stream?.destroy();
}

/** The connections to the masters of a cluster; the client itself where there is none. */
export function mastersOf(client: RedisClient): readonly RedisClient[] {
  return isCluster(client) ? (inside(client).nodes?.("master") ?? []) : [client];
}

/** The database that commands are meant for: a client whose SELECT was refused goes on in another one. */
export function databaseOf(client: RedisClient): number {
  const { condition, options } = inside(client);
  return condition?.select ?? options?.db ?? 0;
}

export function keyPrefixOf(client: RedisClient): string {
  return inside(client).options?.keyPrefix ?? "";
}

/** `host:port`, the socket's path, or what leads to it; never a user name or a password. */
export function nameOf(client: RedisClient): string {
  const { options = {}, startupNodes = [] } = inside(client);
  if (isCluster(client)) return `cluster ${addressOf(startupNodes[0])}`;
  if (options.sentinels !== undefined && options.sentinels !== null) {
    return `${options.name ?? "master"} by sentinel ${addressOf(options.sentinels[0])}`;
  }
  const address = options.path ?? addressOf(options);
  return options.db === undefined || options.db === 0 ? address : `${address}/${options.db}`;
}

function addressOf(address: string | number | { readonly host?: string; readonly port?: number } | undefined): string {
  if (typeof address === "string") return address.replace(/^.*@/, "").replace(/^\w+:\/\//, "");
  if (typeof address === "number") return `127.0.0.1:${address}`;
  return `${address?.host ?? "127.0.0.1"}:${address?.port ?? 6379}`;
}
