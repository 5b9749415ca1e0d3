import { createHash } from 'node:crypto';

/** What Redis does in one step, with nothing in between. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

function script(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

const nowMs = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** How long what is shared outlives the last instance, so that a restart of all of them finds it again. */
const idleMs = 3_600_000;

/**
 * KEYS shared, expiry. ARGV channel, then key, end (0: never) and record of each write. A record that is not later than the
 * one there changes nothing.
 */
export const writeShared = script(`
${nowMs}
local function version(record)
  local at, tie = string.match(record, '^%[(%d+),(%d+),')
  return tonumber(at), tonumber(tie)
end
for at = 2, #ARGV, 3 do
  local key, expires, record = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local old = redis.call('HGET', KEYS[1], key)
  local isLater = true
  if old then
    local newAt, newTie = version(record)
    local oldAt, oldTie = version(old)
    isLater = newAt > oldAt or (newAt == oldAt and newTie > oldTie)
  end
  if isLater then
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

/** How long an instance counts as running after its last beat. */
export const deadAfterMs = 3500;

/**
 * KEYS instances, places, shared, expiry. ARGV instance, channel, message, then slot and count of what it holds. Gives the
 * time. Whoever has not been heard of for too long goes, with all it held.
 */
export const beat = script(`
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

/** KEYS instances, places. ARGV instance, slot, limit. 1 where a place was free. */
export const takePlace = script(`
${nowMs}
local held = tonumber(redis.call('HGET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2]) or 0)
for _, instance in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], nowMs - ${deadAfterMs}, '+inf')) do
  if instance ~= ARGV[1] then held = held + tonumber(redis.call('HGET', KEYS[2], instance .. ' ' .. ARGV[2]) or 0) end
end
if held >= tonumber(ARGV[3]) then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 1)
return 1
`);

/** KEYS places. ARGV instance, slot. */
export const releasePlace = script(`
local field = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HINCRBY', KEYS[1], field, -1) <= 0 then redis.call('HDEL', KEYS[1], field) end
return 1
`);

/** KEYS instances, places. ARGV instance, channel, message. */
export const leave = script(`
redis.call('ZREM', KEYS[1], ARGV[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(field, 1, #ARGV[1] + 1) == ARGV[1] .. ' ' then redis.call('HDEL', KEYS[2], field) end
end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`);

/** KEYS meter. ARGV amount, window, limit ('' for none). Gives whether it was added, what is used then, and the rest of the window. */
export const useMeter = script(`
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then
  redis.call('SET', KEYS[1], 0, 'PX', ARGV[2])
  used, left = 0, tonumber(ARGV[2])
end
if ARGV[3] ~= '' and used + tonumber(ARGV[1]) > tonumber(ARGV[3]) then return {0, tostring(used), left} end
return {1, redis.call('INCRBYFLOAT', KEYS[1], ARGV[1]), left}
`);

/** KEYS meter. Gives what is used and the rest of the window; nothing where none is open. */
export const readMeter = script(`
local used = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if not used or left <= 0 then return false end
return {used, left}
`);

/** KEYS lock. ARGV token, milliseconds. Takes it, or keeps what the token has taken; 0 where somebody else has it. */
export const takeLock = script(`
local token = redis.call('GET', KEYS[1])
if token and token ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** KEYS lock. ARGV token, channel, message. */
export const dropLock = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`);

/** KEYS claim. ARGV value, milliseconds, value that is replaced ('' for none). Gives the value that is claimed then. */
export const claim = script(`
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[3] then return value end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`);

/** KEYS claim. ARGV value. */
export const releaseClaim = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);
