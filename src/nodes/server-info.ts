/** What INFO tells of a server, as far as a voter has to know it. */
export interface ServerInfo {
  /** Random, new at each start of the server. */
  readonly runId: string;
  readonly isReplica: boolean;
  /** `host:port` of a replica's master. */
  readonly master?: string;
  readonly isLoading: boolean;
  readonly isClusterMember: boolean;
  readonly product: "Redis" | "Valkey";
  readonly version: string;
}

const OLDEST = { Redis: [6, 2], Valkey: [7, 2] } as const;

export function parseServerInfo(text: string): ServerInfo {
  const fields = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  // Valkey keeps `redis_version` at 7.2.4 for old clients and has its own version beside it.
  const valkeyVersion = fields.get("valkey_version");
  const isReplica = fields.get("role") === "slave";
  return {
    runId: fields.get("run_id") ?? "",
    isReplica,
    ...(isReplica ? { master: `${fields.get("master_host")}:${fields.get("master_port")}` } : {}),
    isLoading: fields.get("loading") === "1",
    isClusterMember: fields.get("cluster_enabled") === "1",
    product: valkeyVersion === undefined ? "Redis" : "Valkey",
    version: valkeyVersion ?? fields.get("redis_version") ?? "0",
  };
}

/** Why this server can be no voter, or undefined. A Cluster client is expected to meet members of a cluster. */
export function unfitness(info: ServerInfo, viaClusterClient: boolean): string | undefined {
  const { product, version } = info;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST[product];
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    return `${product} ${version} is too old: ${product} ${oldestMajor}.${oldestMinor} or newer is needed`;
  }
  if (info.isReplica) return `a replica of ${info.master}, not an independent master (give the master's address, once)`;
  if (info.isClusterMember && !viaClusterClient) {
    return "a member of a Redis Cluster, not an independent master (pass one Cluster client for the whole cluster, as one node)";
  }
  return undefined;
}
