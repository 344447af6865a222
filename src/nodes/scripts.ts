import type { Command, Found, Vote } from "../node.js";

/**
 * The commands as Redis sees them, and its replies as votes.
 *
 * Scripts travel as EVAL with their full text. EVALSHA would answer NOSCRIPT after a restart, and the second step, EVAL, lets a
 * release overtake the acquire that it follows; the difference is a few microseconds.
 *
 * Every script answers `{carried out (1 or 0), "ours" | "absent" | "another", remaining ttl, type, token}`.
 */

/** GET fails on other types than strings, so it is tried first; what stands there is looked at only when it is not ours. */
const LOOK = `
local token, ttl = ARGV[1], ARGV[2]
local function look(key)
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
const ACQUIRE = `${LOOK}
for _, key in ipairs(KEYS) do
  local found, value = look(key)
  if found == 'another' then return another(0, key, value) end
end
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ttl) then redis.call('SET', key, token, 'PX', ttl) end
end
return {1, 'ours'}
`;

/**
 * Never creates a key and never lowers a time to live: a shorter one would free keys that the holder still counts on. It writes
 * also when there is nothing to raise: a master that was made a replica answers reads, and is found out by a write.
 */
const EXTEND = `${LOOK}
local absent = false
for _, key in ipairs(KEYS) do
  local found, value = look(key)
  if found == 'another' then return another(0, key, value) end
  if found == 'absent' then absent = true end
end
if absent then return {0, 'absent'} end
for _, key in ipairs(KEYS) do
  local left = redis.call('PTTL', key)
  redis.call('PEXPIRE', key, left < tonumber(ttl) and ttl or string.format('%.0f', left))
end
return {1, 'ours'}
`;

/** "ours" only when every key was. Tells of a foreign key how long it lives (the longest, of several; below zero is without end) and what type it has. */
const RELEASE = `${LOOK}
local deleted, foreign, foreignValue, longest = 0, nil, nil, nil
for _, key in ipairs(KEYS) do
  local found, value = look(key)
  if found == 'ours' then
    redis.call('DEL', key)
    deleted = deleted + 1
  elseif found == 'another' then
    local left = redis.call('PTTL', key)
    if left < 0 then left = math.huge end
    if not longest or left > longest then foreign, foreignValue, longest = key, value, left end
  end
end
if deleted == #KEYS then return {1, 'ours'} end
if foreign then return another(1, foreign, foreignValue) end
return {1, 'absent'}
`;

/** With an empty token nothing is ours. */
const INSPECT = `${LOOK}
local found, value = look(KEYS[1])
if found == 'another' then return another(1, KEYS[1], value) end
return {1, found}
`;

const SCRIPTS = { acquire: ACQUIRE, repair: ACQUIRE, extend: EXTEND, release: RELEASE, inspect: INSPECT } as const;

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
  const args =
    kind === "inspect" ? [""] : kind === "release" ? [command.token] : [command.token, String(command.ttlMs)];
  return ["eval", SCRIPTS[kind], keys.length, ...keys, ...args];
}

/** The vote that a reply stands for. Clients may be set to give numbers as strings. */
export function voteOf(command: Command, reply: unknown): Vote {
  if (reply === "OK") return GRANTED;
  if (reply === null && command.kind === "acquire") return HELD;
  if (!Array.isArray(reply) || reply.length < 2) {
    return { vote: "unknown", reason: "refused", message: `answered something unexpected: ${String(reply)}` };
  }
  const [carriedOut, key, ttlMs, type, token] = reply as unknown[];
  const found = foundOf(String(key), ttlMs, type, command.kind === "inspect" ? token : undefined);
  return { vote: Number(carriedOut) === 1 ? "granted" : "denied", found };
}

const GRANTED: Vote = { vote: "granted", found: { key: "ours" } };
/** SET NX tells no more; the release that follows does. */
const HELD: Vote = { vote: "denied", found: { key: "another" } };

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
