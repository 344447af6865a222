import type { UnknownReason } from "../node.js";

/** The server has changed: what it is has to be asked anew. */
const CHANGED = new Set(["READONLY", "MASTERDOWN", "LOADING", "NOAUTH", "MOVED"]);

/** Why a command got no vote from a server or its connection, in words that a person can act on. */
export interface Refusal {
  readonly reason: UnknownReason;
  readonly message: string;
  readonly cause: unknown;
}

/** Whether a refusal shows that the server, or the way to it, is not what it was when it was verified. */
export function endsTrust({ reason, message }: Pick<Refusal, "reason" | "message">): boolean {
  return reason === "timeout" || CHANGED.has(message.slice(0, message.indexOf(":")));
}

export function isForbidden({ message }: Refusal): boolean {
  return message.startsWith("NOPERM");
}

/** The error codes of Redis and Valkey that a lock can meet: what is wrong (and what to do). No semicolons: they separate nodes. */
const ADVICE: Readonly<Record<string, string>> = {
  LOADING: "still loading its data after a start (it votes when it has finished)",
  READONLY: "a read-only replica (give the address of its master)",
  MASTERDOWN: "a replica without its master (give the address of a master)",
  MISCONF: "refuses writes because it cannot save to disk (look at its log and its disk)",
  OOM: "out of memory (raise maxmemory, or remove what does not belong on a lock server)",
  BUSY: "busy with a long script (wait, or end it with SCRIPT KILL)",
  NOAUTH: "wants a password (give one in the URL or the options)",
  WRONGPASS: "rejects the user name or the password",
  NOPERM: "the user lacks a permission (grant the commands and keys that docs/api.md lists)",
  NOREPLICAS: "refuses writes without enough replicas (set min-replicas-to-write to 0, lock servers need none)",
  CLUSTERDOWN: "its cluster is down or has unassigned slots",
  MOVED: "part of a Redis Cluster (pass one Cluster client for the whole cluster)",
  ASK: "part of a Redis Cluster (pass one Cluster client for the whole cluster)",
  TRYAGAIN: "its cluster is moving these keys to another server (it votes when that is done)",
  CROSSSLOT: "the resources are in different slots of its cluster (give them one {hash tag})",
  WRONGTYPE: "the name is a key of another type",
  NOPROTO: "does not speak the protocol version that the client asks for",
};

/** Inside a script Redis 7 names no code. */
const SCRIPT_NOPERM = /can't run this command|can't access/;
const CODE = new RegExp(`\\b(${Object.keys(ADVICE).join("|")})\\b`);

/** Classifies an error of a client: the server's own reply, a time limit of the client, or the connection. */
export function refusalOf(thrown: unknown): Refusal {
  const error = withoutCommand(thrown);
  const text = error instanceof Error ? error.message : String(error);
  // Redis 6 wraps the errors of a script's commands ("ERR Error running script …: -OOM …"), so the code may stand anywhere.
  const code = CODE.exec(text)?.[1] ?? (SCRIPT_NOPERM.test(text) ? "NOPERM" : undefined);
  if (code !== undefined) return { reason: "refused", message: `${code}: ${ADVICE[code]}`, cause: error };
  if (isReplyError(error)) return { reason: "refused", message: `answered "${text}"`, cause: error };
  if (text === "Command timed out") {
    return { reason: "timeout", message: "timed out by the client's own commandTimeout", cause: error };
  }
  return { reason: "connection", message: `not connected (${describeConnectionError(error)})`, cause: error };
}

/** "connect ECONNREFUSED", without the address, which the node's name tells. Several addresses of one name fail as one error. */
function describeConnectionError(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return String(first);
  const { code, syscall } = first as NodeJS.ErrnoException;
  if (code !== undefined && syscall !== undefined) return `${syscall} ${code}`;
  return first.message || code || first.name;
}

/** An error reply carries its command, and with it a password (AUTH) or a token: errors are made to be logged. */
export function withoutCommand<E>(error: E): E | Error {
  if (!(error instanceof Error) || !("command" in error)) return error;
  const { name, message, stack } = error;
  return Object.assign(new Error(message), { name, stack });
}

function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}
