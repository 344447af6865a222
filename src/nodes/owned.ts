import { Redis, type RedisOptions } from "ioredis";

const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
/** For so long a server that is slow may go on reading what was written before the end: the last releases. */
const DISCONNECT_TIMEOUT_MS = 250;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/**
 * Opens a connection with the settings that make a vote trustworthy: nothing waits in a queue to be sent later, nothing is sent
 * twice, and whatever is in flight when the connection ends is given up.
 *
 * The given options decide where and as whom to connect; those below, how.
 */
export function openOwned(options: RedisOptions): Redis {
  return new Redis({
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    connectionName: "redlock-quorum",
    ...options,
    lazyConnect: false,
    // The node's own INFO comes first on every connection, and knows why a server that is loading does not vote.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    replyMapping: "legacy",
    retryStrategy: (times: number) =>
      Math.min(FIRST_RETRY_MS * 2 ** Math.min(times - 1, 10), MAX_RETRY_MS) * (0.5 + Math.random() / 2),
  });
}
