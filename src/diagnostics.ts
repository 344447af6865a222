import { channel, type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { LockLostError } from "./errors.js";
import type { CommandKind, NodeStatus, Vote } from "./node.js";

/**
 * What the library tells about itself, on Node's diagnostics channels; without subscribers a message is not even built.
 * Named in the manner of ioredis (`ioredis:command`): the tracing channels are `tracing:redlock-quorum:acquire:start` and so on.
 */

/** Context of the tracing channels: one operation on one lock. */
export interface OperationMessage {
  readonly resources: readonly string[];
  readonly ttlMs?: number;
}

/** `redlock-quorum:loss`: a lock ended without having been released. */
export interface LossMessage {
  readonly resources: readonly string[];
  readonly error: LockLostError;
}

/** `redlock-quorum:node`: a node changed its state. */
export interface NodeMessage {
  readonly status: NodeStatus;
}

/** `redlock-quorum:background`: work that no caller waits for did not succeed on a node. */
export interface BackgroundMessage {
  readonly resources: readonly string[];
  readonly command: CommandKind;
  readonly node: string;
  readonly vote: Vote;
}

const acquireChannel = tracingChannel<unknown, OperationMessage>("redlock-quorum:acquire");
const extendChannel = tracingChannel<unknown, OperationMessage>("redlock-quorum:extend");
const releaseChannel = tracingChannel<unknown, OperationMessage>("redlock-quorum:release");
const lossChannel = channel("redlock-quorum:loss");
const nodeChannel = channel("redlock-quorum:node");
const backgroundChannel = channel("redlock-quorum:background");

export const traceAcquire = tracer(acquireChannel);
export const traceExtend = tracer(extendChannel);
export const traceRelease = tracer(releaseChannel);
export const publishLoss = publisher<LossMessage>(lossChannel);
export const publishNode = publisher<NodeMessage>(nodeChannel);
export const publishBackground = publisher<BackgroundMessage>(backgroundChannel);

type Trace = <T>(operation: () => Promise<T>, context: () => OperationMessage) => Promise<T>;

function tracer(tracing: TracingChannel<unknown, OperationMessage>): Trace {
  // `tracing.hasSubscribers` came with Node 20.13 and is not in its typings: the five channels are asked instead.
  const { start, end, asyncStart, asyncEnd, error } = tracing;
  const isWatched = () =>
    start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    error.hasSubscribers;
  return (operation, context) => (isWatched() ? tracing.tracePromise(operation, context()) : operation());
}

function publisher<Message>(target: ReturnType<typeof channel>): (message: () => Message) => void {
  return (message) => {
    if (target.hasSubscribers) target.publish(message());
  };
}
