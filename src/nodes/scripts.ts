import type { Command, CommandKind, Found, UnknownReason, Vote } from "../node.js";
import { refusalOf } from "./refusal.js";

/**
 * The commands as Redis sees them, and its replies as votes.
 *
 * Scripts travel as EVAL with their full text. EVALSHA would answer NOSCRIPT after a restart, and the second step, EVAL, lets a
 * release overtake the acquire that it follows; the difference is a few microseconds.
 *
 * Every function answers 1 (carried out, and all keys were the token's), or
 * `{carried out (1 or 0), "ours" | "absent" | "another", remaining ttl, type, token}`.
 */

/** GET fails on other types than strings, so it is tried first; what stands there is looked at only when it is not ours. */
const LOOK = `
local function look(key, token)
  local value = redis.pcall('GET', key)
  if value == token then return 'ours' end
  if value == false then return 'absent' end
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', key) end
  return 'another', value
end
local function another(carriedOut, key, value)
  local kind = redis.pcall('TYPE', key).ok or ''
  return {carriedOut, 'another', redis.call('PTTL', key), kind, type(value) == 'string' and value or ''}
end
`;

/** A key that is ours already keeps the larger time to live; PTTL is below zero where there is no key or no expiry. */
const ACQUIRE = `
local function acquire(keys, token, ttl)
  if #keys == 1 and redis.call('SET', keys[1], token, 'PX', ttl, 'NX') then return 1 end
  for _, key in ipairs(keys) do
    local found, value = look(key, token)
    if found == 'another' then return another(0, key, value) end
  end
  for _, key in ipairs(keys) do
    if redis.call('PTTL', key) < tonumber(ttl) then redis.call('SET', key, token, 'PX', ttl) end
  end
  return 1
end
`;

/**
 * Never creates a key and never lowers a time to live: a shorter one would free keys that the holder still counts on. It writes
 * also when there is nothing to raise: a master that was made a replica answers reads, and is found out by a write.
 */
const EXTEND = `
local function extend(keys, token, ttl)
  local absent = false
  for _, key in ipairs(keys) do
    local found, value = look(key, token)
    if found == 'another' then return another(0, key, value) end
    if found == 'absent' then absent = true end
  end
  if absent then return {0, 'absent'} end
  for _, key in ipairs(keys) do
    local left = redis.call('PTTL', key)
    redis.call('PEXPIRE', key, left < tonumber(ttl) and ttl or string.format('%.0f', left))
  end
  return 1
end
`;

/** "ours" only when every key was. Tells of a foreign key how long it lives (the longest, of several; below zero is without end) and what type it has. */
const RELEASE = `
local function release(keys, token)
  local deleted, foreign, foreignValue, longest = 0, nil, nil, nil
  for _, key in ipairs(keys) do
    local found, value = look(key, token)
    if found == 'ours' then
      redis.call('DEL', key)
      deleted = deleted + 1
    elseif found == 'another' then
      local left = redis.call('PTTL', key)
      if left < 0 then left = math.huge end
      if not longest or left > longest then foreign, foreignValue, longest = key, value, left end
    end
  end
  if deleted == #keys then return 1 end
  if foreign then return another(1, foreign, foreignValue) end
  return {1, 'absent'}
end
`;

/** With an empty token nothing is ours. */
const INSPECT = `
local function inspect(keys)
  local found, value = look(keys[1], '')
  if found == 'another' then return another(1, keys[1], value) end
  return {1, found}
end
`;

/** How a command's arguments follow one another behind its keys, and the letter that stands for it among several. */
const FORMS = {
  acquire: { name: "acquire", text: ACQUIRE, letter: "a", args: 2 },
  repair: { name: "acquire", text: ACQUIRE, letter: "a", args: 2 },
  extend: { name: "extend", text: EXTEND, letter: "e", args: 2 },
  release: { name: "release", text: RELEASE, letter: "r", args: 1 },
  inspect: { name: "inspect", text: INSPECT, letter: "i", args: 0 },
} as const satisfies Record<CommandKind, { name: string; text: string; letter: string; args: number }>;

/**
 * Several commands, one after the other. `ARGV[1]` has one letter for each; a capital says that the number of its keys comes before
 * its other arguments, otherwise it has one key. One that fails does not take the others with it: it answers `{-1, error}`. The
 * number of commands alone is the answer when each of them answered 1.
 */
const SEVERAL = `${LOOK}${ACQUIRE}${EXTEND}${RELEASE}${INSPECT}
local forms = {a = {acquire, 2}, e = {extend, 2}, r = {release, 1}, i = {inspect, 0}}
local letters, key, arg, plain, answers = ARGV[1], 0, 1, true, {}
for at = 1, #letters do
  local letter, keys = string.sub(letters, at, at), nil
  local form = forms[letter]
  if form then
    key = key + 1
    keys = {KEYS[key]}
  else
    form = forms[string.lower(letter)]
    arg = arg + 1
    keys = {}
    for _ = 1, tonumber(ARGV[arg]) do
      key = key + 1
      keys[#keys + 1] = KEYS[key]
    end
  end
  local done, answer = pcall(form[1], keys, ARGV[arg + 1], ARGV[arg + 2])
  arg = arg + form[2]
  if not done then answer = {-1, type(answer) == 'table' and answer.err or tostring(answer)} end
  if answer ~= 1 then plain = false end
  answers[at] = answer
end
if plain then return #letters end
return answers
`;

/** A command's words on the wire. */
export type Words = readonly [command: string, ...args: (string | number)[]];

/**
 * @param plain a single acquire may go as the plain command. Not through a client that sends a command again by itself: the plain
 *   command cannot tell our own key, set by the first sending, from another's.
 */
export function wordsOf(command: Command, plain: boolean): Words {
  const { kind, keys } = command;
  const [first] = keys;
  if (kind === "acquire" && plain && keys.length === 1 && first !== undefined) {
    return ["set", first, command.token, "PX", String(command.ttlMs), "NX"];
  }
  return ["eval", SINGLE[kind], keys.length, ...keys, ...argsOf(command)];
}

/** Several commands as one. */
export function wordsOfSeveral(commands: readonly Command[]): Words {
  let letters = "";
  const keys: string[] = [];
  const args: string[] = [];
  for (const command of commands) {
    const { letter } = FORMS[command.kind];
    const isSingle = command.keys.length === 1;
    letters += isSingle ? letter : letter.toUpperCase();
    if (!isSingle) args.push(String(command.keys.length));
    keys.push(...command.keys);
    args.push(...argsOf(command));
  }
  return ["eval", SEVERAL, keys.length, ...keys, letters, ...args];
}

/** The vote that a reply stands for. Clients may be set to give numbers as strings. */
export function voteOf(command: Command, reply: unknown): Vote {
  if (reply === "OK" || reply === 1 || reply === "1") return GRANTED;
  if (reply === null && command.kind === "acquire") return HELD;
  if (!Array.isArray(reply) || reply.length < 2) return unexpected(reply);
  const [carriedOut, key, ttlMs, type, token] = reply as unknown[];
  if (Number(carriedOut) === -1) return { vote: "unknown", ...refusalOf(scriptError(String(key))) };
  const found = foundOf(String(key), ttlMs, type, command.kind === "inspect" ? token : undefined);
  return { vote: Number(carriedOut) === 1 ? "granted" : "denied", found };
}

/** The votes, in order, that the reply to several commands stands for. */
export function votesOfSeveral(commands: readonly Command[], reply: unknown): readonly Vote[] {
  if (Number(reply) === commands.length) return commands.map(() => GRANTED);
  const replies: readonly unknown[] = Array.isArray(reply) ? reply : [];
  return commands.map((command, index) =>
    index < replies.length ? voteOf(command, replies[index]) : unexpected(reply),
  );
}

const SINGLE: Readonly<Record<CommandKind, string>> = {
  acquire: single("acquire"),
  repair: single("repair"),
  extend: single("extend"),
  release: single("release"),
  inspect: single("inspect"),
};

function single(kind: CommandKind): string {
  const { name, text } = FORMS[kind];
  return `${LOOK}${text}return ${name}(KEYS, ARGV[1], ARGV[2])\n`;
}

function argsOf(command: Command): readonly string[] {
  switch (command.kind) {
    case "inspect":
      return [];
    case "release":
      return [command.token];
    default:
      return [command.token, String(command.ttlMs)];
  }
}

const GRANTED: Vote = { vote: "granted", found: { key: "ours" } };
/** SET NX tells no more; the release that follows does. */
const HELD: Vote = { vote: "denied", found: { key: "another" } };

function unexpected(reply: unknown): Vote {
  const reason: UnknownReason = "refused";
  return { vote: "unknown", reason, message: `answered something unexpected: ${String(reply)}` };
}

function scriptError(message: string): Error {
  const error = new Error(message);
  error.name = "ReplyError";
  return error;
}

function foundOf(key: string, ttlMs: unknown, type: unknown, token: unknown): Found {
  if (key === "ours" || key === "absent") return { key };
  const leftMs = Number(ttlMs);
  return {
    key: "another",
    ttlMs: leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs,
    ...(typeof type === "string" && type !== "" ? { type } : {}),
    ...(typeof token === "string" && token !== "" ? { token } : {}),
  };
}
