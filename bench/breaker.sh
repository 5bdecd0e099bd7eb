#!/usr/bin/env bash
# A circuit breaker as one writes it by hand: flock, jq, a threshold, a timeout, one probe. breaker.sh NAME THRESHOLD TIMEOUT COMMAND...
set -u
name=$1 threshold=$2 timeout=$3
shift 3
dir=${BREAKER_DIR:?}
state=$dir/$name.json lock=$dir/$name.lock

exec 9>"$lock"
flock 9
now=$(date +%s)
if [ -s "$state" ]; then
	read -r open_until probing failures < <(jq -r '"\(.open_until) \(.probing) \(.failures)"' "$state")
else
	open_until=0 probing=0 failures=0
fi
if ((open_until > 0)); then
	if ((now < open_until)) || ((probing > now - timeout)); then
		echo "$name is open; skipped" >&2
		exit 75
	fi
	jq -n --argjson o "$open_until" --argjson p "$now" --argjson f "$failures" \
		'{open_until: $o, probing: $p, failures: $f}' >"$state.tmp" && sync -d "$state.tmp" && mv "$state.tmp" "$state"
fi
flock -u 9

"$@" 9>&-
code=$?

flock 9
now=$(date +%s)
if ((code == 0)); then
	failures=0 open_until=0
else
	failures=$(($(jq -r .failures "$state" 2>/dev/null || echo 0) + 1))
	open_until=0
	((failures >= threshold)) && open_until=$((now + timeout))
fi
jq -n --argjson o "$open_until" --argjson f "$failures" \
	'{open_until: $o, probing: 0, failures: $f}' >"$state.tmp" && sync -d "$state.tmp" && mv "$state.tmp" "$state"
exit "$code"
