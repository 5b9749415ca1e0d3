import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { maxAheadMs } from '../hybrid-clock.js';

/** Lua script that Redis executes atomically. */
export interface Script {
  readonly lua: string;
  /** Name of its command in a client. */
  readonly name: string;
}

function script(lua: string): Script {
  return { lua, name: `script ${createHash('sha1').update(lua).digest('hex')}` };
}

type Argument = string | number;

/**
 * Runs a script as a command of the client, which sends its text once a connection, then its digest, and the text again
 * if Redis has lost it. All keys have the same hash tag.
 */
export async function runScript(
  redis: Redis,
  { lua, name }: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  if (!(name in redis)) redis.defineCommand(name, { lua });
  const command = Reflect.get(redis, name) as (...all: readonly Argument[]) => Promise<unknown>; // just defined
  return command.call(redis, keys.length, ...keys, ...args);
}

const nowMs = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Expiry of shared state after the last instance exits: a restart of all instances finds it again. */
const idleMs = 3_600_000;

/**
 * Last-writer-wins write: ignores records that are not later than the stored ones, and those whose time is far
 * ahead, stored ones too. KEYS shared, expiry. ARGV channel, then key, end (0: never) and record of each write.
 */
export const writeShared = script(`
${nowMs}
local function version(record)
  local at, tie = string.match(record, '^%[(%d+),(%d+),')
  at, tie = tonumber(at or -1), tonumber(tie or -1)
  if at > nowMs + ${maxAheadMs} then return -1, -1 end
  return at, tie
end
for at = 2, #ARGV, 3 do
  local key, expires, record = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local old = redis.call('HGET', KEYS[1], key)
  local newAt, newTie = version(record)
  local oldAt, oldTie = version(old or '')
  if newAt > oldAt or (newAt == oldAt and newTie > oldTie) then
    redis.call('HSET', KEYS[1], key, record)
    if expires > 0 then redis.call('ZADD', KEYS[2], expires, key) else redis.call('ZREM', KEYS[2], key) end
    redis.call('PUBLISH', ARGV[1], record)
  end
end
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', nowMs, 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
end
redis.call('PEXPIRE', KEYS[1], ${idleMs})
redis.call('PEXPIRE', KEYS[2], ${idleMs})
return 1
`);

/** Timeout since the last heartbeat, after which an instance counts as dead. */
export const deadAfterMs = 3500;

/**
 * Heartbeat: returns the Redis time, and removes dead instances with their permits. KEYS instances, places,
 * shared, expiry. ARGV instance, channel, message, then slot and permit count of each slot.
 */
export const heartbeat = script(`
${nowMs}
redis.call('ZADD', KEYS[1], nowMs, ARGV[1])
for at = 4, #ARGV, 2 do
  local field = ARGV[1] .. ' ' .. ARGV[at]
  if tonumber(ARGV[at + 1]) > 0 then redis.call('HSET', KEYS[2], field, ARGV[at + 1]) else redis.call('HDEL', KEYS[2], field) end
end
local dead = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs - ${deadAfterMs})
for _, instance in ipairs(dead) do
  redis.call('ZREM', KEYS[1], instance)
  for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    if string.sub(field, 1, #instance + 1) == instance .. ' ' then redis.call('HDEL', KEYS[2], field) end
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${idleMs}) end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return nowMs
`);

/**
 * Acquires a permit: returns 1 if one was free, else 0. KEYS instances, places. ARGV instance, slot, limit.
 */
export const takePermit = script(`
${nowMs}
local function count(instance)
  return tonumber(redis.call('HGET', KEYS[2], instance .. ' ' .. ARGV[2]) or 0) or 0
end
local held = count(ARGV[1])
for _, instance in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], nowMs - ${deadAfterMs}, '+inf')) do
  if instance ~= ARGV[1] then held = held + count(instance) end
end
if held >= tonumber(ARGV[3]) then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 1)
return 1
`);

/** Releases a permit. KEYS places. ARGV instance, slot. */
export const releasePermit = script(`
local field = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HINCRBY', KEYS[1], field, -1) <= 0 then redis.call('HDEL', KEYS[1], field) end
return 1
`);

/** Removes an instance with its permits. KEYS instances, places. ARGV instance, channel, message. */
export const leave = script(`
redis.call('ZREM', KEYS[1], ARGV[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(field, 1, #ARGV[1] + 1) == ARGV[1] .. ' ' then redis.call('HDEL', KEYS[2], field) end
end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`);

/**
 * Reads the meter KEYS[1] as `used, left`; nil if no window is open. Deletes a foreign value: one that is not a number
 * with an expiry.
 */
const openWindow = `
local function openWindow()
  local text = redis.pcall('GET', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  local isNumber = type(text) == 'string' and string.match(text, '^%-?%d+%.?%d*e?[+-]?%d*$')
  local used = isNumber and tonumber(text)
  if used and used - used == 0 and left > 0 then return used, left end
  redis.call('DEL', KEYS[1])
  return nil
end
`;

/**
 * Adds to a meter unless that exceeds the limit: returns [added (0 or 1), used, ms left in the window]. KEYS
 * meter. ARGV amount, window in ms, limit ('' for none).
 */
export const useMeter = script(`
${openWindow}
local used, left = openWindow()
if not used then
  redis.call('SET', KEYS[1], 0, 'PX', ARGV[2])
  used, left = 0, tonumber(ARGV[2])
end
if ARGV[3] ~= '' and used + tonumber(ARGV[1]) > tonumber(ARGV[3]) then return {0, tostring(used), left} end
return {1, redis.call('INCRBYFLOAT', KEYS[1], ARGV[1]), left}
`);

/** Adds to a meter that is open: as `readMeter` returns it, or nothing if no window is open. KEYS meter. ARGV amount. */
export const addOpened = script(`
${openWindow}
local used, left = openWindow()
if not used then return false end
return {redis.call('INCRBYFLOAT', KEYS[1], ARGV[1]), left}
`);

/** Raises a meter that is open to at least an amount: as `readMeter` returns it. KEYS meter. ARGV amount. */
export const raiseMeter = script(`
${openWindow}
local used, left = openWindow()
if not used then return false end
if used < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1], 'PX', left) end
return {redis.call('GET', KEYS[1]), left}
`);

/** Reads a meter: [used, ms left in the window], or nothing if no window is open. KEYS meter. */
export const readMeter = script(`
${openWindow}
local used, left = openWindow()
if not used then return false end
return {redis.call('GET', KEYS[1]), left}
`);

/** Writes a key that expires at once, as a probe: returns the Redis time. KEYS key. */
export const writeProbe = script(`
${nowMs}
redis.call('SET', KEYS[1], nowMs, 'PX', 1)
return nowMs
`);

/** Acquires or renews a lock: returns 0 if another token holds it. KEYS lock. ARGV token, milliseconds. */
export const takeLock = script(`
local token = redis.call('GET', KEYS[1])
if token and token ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** Releases a lock and publishes the release. KEYS lock. ARGV token, channel, message. */
export const dropLock = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`);

/**
 * Claims a value: returns the value in force afterwards. KEYS claim. ARGV value, milliseconds, value to
 * replace ('' for none).
 */
export const claim = script(`
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[3] then return value end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`);

/** Releases a claim that still has this value. KEYS claim. ARGV value. */
export const releaseClaim = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);
