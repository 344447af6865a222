export type { Backoff } from "./core/backoff.js";
export type { BackgroundMessage, LossMessage, NodeMessage, OperationMessage } from "./diagnostics.js";
export {
  type AnyRedlockError,
  ClosedError,
  LockHeldError,
  LockLostError,
  LockReleasedError,
  QuorumUnreachableError,
  RedlockError,
  type RedlockErrorCode,
} from "./errors.js";
export type { Inspection, NodeInspection } from "./inspection.js";
export type { Lock, ReleaseResult } from "./lock.js";
export type { Command, CommandKind, Found, LockNode, NodeStatus, NodeVote, UnknownReason, Vote } from "./node.js";
export type { ClusterClient, RedisClient } from "./nodes/client.js";
export type { NodeInput } from "./nodes/input.js";
export { type AcquireOptions, DEFAULTS, type HoldOptions, type RedlockOptions } from "./options.js";
export { Redlock, type Routine } from "./redlock.js";
export type { Runtime, Timer } from "./runtime.js";
