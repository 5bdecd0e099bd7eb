package store

import "cb/internal/redis"

// What a server does in one step. The scripts compare, fetch and put; the core
// decides. All take the five keys of a circuit, in the order of Redis.keys:
// document, queue, leases, damaged document, output.
//
// A document's version is its SHA-1. Safety rests on it alone. Those who were
// too late once stand in a queue, so that a crowd does not spend its time on
// overtaking each other. Nothing breaks when the queue lapses, which it does
// when its head does nothing for a while.

// steps are the common parts of the scripts.
const steps = `
local function milliseconds(after)
	local t = redis.call('TIME')
	return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + after)
end
local function version(doc) return doc and redis.sha1hex(doc) or '' end
local function state()
	local t, doc = redis.call('TIME'), redis.call('GET', KEYS[1])
	local live = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. milliseconds(0), '+inf')
	return {t[1], t[2], doc, version(doc), live}
end
local function queue(token, px)
	local t = redis.call('TIME')
	redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', t[1] * 1000000 + t[2]), token)
	local ahead = redis.call('ZRANK', KEYS[2], token)
	if ahead == 0 or redis.call('PTTL', KEYS[2]) < 0 then redis.call('PEXPIRE', KEYS[2], px) end
	return ahead
end
local function leave(token, px)
	if redis.call('ZREM', KEYS[2], token) == 1 then redis.call('PEXPIRE', KEYS[2], px) end
end
local function lease(token, px)
	redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', milliseconds(0))
	redis.call('ZADD', KEYS[3], milliseconds(tonumber(px)), token)
	redis.call('PEXPIRE', KEYS[3], px)
end
local function put(key, value, px)
	if px == '0' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', px) end
end
`

// readScript ARGV: a place in the queue, or nothing; how long its head may do
// nothing. It returns the state, or how many are ahead in the queue. Without a
// place it writes nothing.
const readScript redis.Script = steps + `
if ARGV[1] ~= '' then
	local ahead = queue(ARGV[1], ARGV[2])
	if ahead > 0 then return ahead end
end
return state()
`

// writeScript ARGV: the place in the queue; how long its head may do nothing;
// the version that is to be replaced; the new document, or nothing to remove
// the circuit; its time to live, or 0; how long to keep the old document, which
// is damaged, or 0; how long leases last; how many of the tokens get one;
// "queued" when the state came by way of the queue, or "new"; the tokens, last
// those whose leases end. It returns OK when it has written, else it stands in
// the queue and returns what readScript does. New ones do not overtake a queue.
const writeScript redis.Script = steps + `
local doc, waiting = redis.call('GET', KEYS[1]), redis.call('EXISTS', KEYS[2]) == 1
if version(doc) ~= ARGV[3] or (waiting and ARGV[9] == 'new') then
	local ahead = queue(ARGV[1], ARGV[2])
	if ahead > 0 then return ahead end
	return state()
end
if ARGV[4] == '' then redis.call('DEL', KEYS[1], KEYS[3], KEYS[5]) else put(KEYS[1], ARGV[4], ARGV[5]) end
if ARGV[6] ~= '0' then put(KEYS[4], doc, ARGV[6]) end
for i = 10, #ARGV do
	if i < 10 + tonumber(ARGV[8]) then lease(ARGV[i], ARGV[7]) else redis.call('ZREM', KEYS[3], ARGV[i]) end
end
leave(ARGV[1], ARGV[2])
return 'OK'
`

// leaveScript ARGV: the place in the queue that is given up; how long its head
// may do nothing.
const leaveScript redis.Script = steps + `
leave(ARGV[1], ARGV[2])
return 'OK'
`

// renewScript ARGV: token of a probe; how long its lease lasts. It returns 0,
// and renews nothing, when the document does not list the probe any more.
const renewScript redis.Script = steps + `
local doc = redis.call('GET', KEYS[1])
if not doc or not string.find(doc, ARGV[1], 1, true) then return 0 end
lease(ARGV[1], ARGV[2])
return 'OK'
`

// keepScript ARGV: output; its time to live, or 0. It dates the output.
const keepScript redis.Script = steps + `
put(KEYS[5], milliseconds(0) .. ' ' .. ARGV[1], ARGV[2])
return 'OK'
`

// outputScript returns what keepScript kept, or nothing, and the time.
const outputScript redis.Script = steps + `
return {redis.call('GET', KEYS[5]), milliseconds(0)}
`
