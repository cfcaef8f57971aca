#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Containers that are made ahead: that they are used, by one call each; what a call leaves for the next (nothing); and
# every way to lose one.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load engines

setup_file() {
	engines_start docker
	engines_start podman
}

teardown_file() {
	engines_stop
}

setup() {
	has docker
	WORK=$(mktemp -d /var/tmp/cordon-warm-XXXXXX)
	chmod 755 "$WORK"
	mkdir "$WORK/w" "$WORK/state"
	export CORDON_STATE_DIR=$WORK/state
	policy 1 60
	cd "$WORK/w" || return
}

teardown() {
	[ -n "${WORK-}" ] || return 0
	# what waits would be in the way of the next test's counting
	for id in $(ids); do
		api DELETE "/containers/$id?force=1" >/dev/null
	done
	cd / && rm -rf "$WORK"
}

policy() {
	echo "sandbox: {container: {warm: $1, warm_seconds: $2}}" >"$WORK/p.yaml"
	chmod 644 "$WORK/p.yaml"
}

api() {
	engine_api docker "$@"
}

ids() {
	api GET '/containers/json?all=1' | jq -r '.[].Id'
}

# call WORD...: sets SINCE, for made().
call() {
	SINCE=$(date +%s.%N)
	run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" "$@"
}

# How many containers were made for calls themselves since the last one began.
made() {
	api GET "/events?since=$SINCE&until=$(date +%s.%N)&filters=%7B%22event%22%3A%5B%22create%22%5D%7D" |
		jq -s '[.[] | select(.Actor.Attributes["dev.cordon.call"] != "warm")] | length'
}

# ready [N]: until so many wait.
ready() {
	local n=0
	for _ in $(seq 200); do
		n=$(find "$WORK/state" -path '*/.cordon-work-*/s' | wc -l)
		[ "$n" != "${1-1}" ] || return 0
		sleep 0.1
	done
	echo "$n are ready"
	return 1
}

# gone ID: until the engine has it no more.
gone() {
	for _ in $(seq 100); do
		[[ "$(ids)" == *"$1"* ]] || return 0
		sleep 0.1
	done
	return 1
}

@test 'the second call takes what the first left, and leaves another' {
	call -- sh -c 'cat; exit 7' <<<in
	[ "$status" = 7 ]
	[ "$output" = in ]
	ready
	first=$(ids)
	call -- sh -c 'echo out; echo err >&2; kill -15 $$' </dev/null
	[ "$status" = 143 ]
	[ "$output" = out ]
	[ "$stderr" = err ]
	[ "$(made)" = 0 ]
	gone "$first"
	ready
	[ "$(ids | wc -l)" = 1 ]
	# without the field none is taken and none is made
	SINCE=$(date +%s.%N)
	"$CORDON" run -q -b docker -- true
	[ "$(made)" = 1 ]
}

@test 'a call in it is under the same limits, and can have a terminal' {
	call -m 64M -- true
	ready
	call -m 64M --report "$WORK/r" -- python3 -c 'bytearray(300 << 20)'
	[ "$status" = 137 ]
	[ "$(made)" = 0 ]
	jq -e '.result.oom' "$WORK/r"
	ready
	call -m 64M --report "$WORK/r" -- python3 -c 'print(7)'
	[ "$output" = 7 ]
	[ "$(made)" = 0 ]
	jq -e '(.result.oom | not) and .isolation.achieved.backend == "docker"' "$WORK/r"
	ready
	call -m 64M -t 1s -- sleep 60
	[ "$status" = 124 ]
	[ "$(made)" = 0 ]
	ready
	SINCE=$(date +%s.%N)
	run script -qec "'$CORDON' run -q -b docker -m 64M -p '$WORK/p.yaml' -- tty" /dev/null </dev/null
	[[ "$output" == */dev/pts/* ]]
	[ "$(made)" = 0 ]
}

@test 'nothing that a call leaves is there for the next' {
	leave='
touch /tmp/left /dev/shm/left /var/tmp/left 2>/dev/null
ipcmk -M 4096 >/dev/null
python3 -c "
import os, socket, time
if os.fork() == 0:
    os.setsid()
    s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + \"left\"); s.listen(1)
    t = socket.socket(); t.bind((\"127.0.0.1\", 7007)); t.listen(1)
    open(\"/tmp/listens\", \"w\")
    time.sleep(300)
"
while [ ! -e /tmp/listens ]; do sleep 0.1; done'
	look='
[ ! -e /tmp/left ] || echo tmp
[ ! -e /dev/shm/left ] || echo shm
[ "$(ipcs -m | grep -c 0x)" = 0 ] || echo ipc
ls /proc | grep -c "^[0-9]" | { read n; [ "$n" -le 6 ] || echo processes; }
grep -q @left /proc/net/unix && echo abstract
python3 -c "import socket; socket.create_connection((\"127.0.0.1\", 7007), 1)" 2>/dev/null && echo port
true'
	# within one call it is all found
	call -- sh -c "$leave
for i in 1 2 3 4 5; do sleep 9 & done
$look"
	[ "$output" = $'tmp\nshm\nipc\nprocesses\nabstract\nport' ]
	ready
	call -- sh -c "$leave"
	[ "$(made)" = 0 ]
	ready
	call -- sh -c "$look"
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ "$(made)" = 0 ]
	[ ! -e /var/tmp/left ]
}

@test 'other grants or limits are another container' {
	mkdir "$WORK/granted"
	echo granted >"$WORK/granted/f"
	call -r "$WORK/granted" -- cat "$WORK/granted/f"
	[ "$output" = granted ]
	ready
	call -- cat "$WORK/granted/f"
	[ "$status" != 0 ]
	[ -z "$output" ]
	[ "$(made)" = 1 ]
	ready 2
	call -m 64M -r "$WORK/granted" -- cat "$WORK/granted/f"
	[ "$(made)" = 1 ]
	ready 3
	call -r "$WORK/granted" -- cat "$WORK/granted/f"
	[ "$output" = granted ]
	[ "$(made)" = 0 ]
	# to write is more than to read
	call -w "$WORK/granted" -- sh -c 'echo more >>"$1"' sh "$WORK/granted/f"
	[ "$status" = 0 ]
	[ "$(made)" = 1 ]
	[ "$(cat "$WORK/granted/f")" = $'granted\nmore' ]
}

@test 'what a call may not see in its grants is not seen in one that was ready' {
	echo secret >s
	call -- cat s
	[ "$output" = secret ]
	ready
	call -x "$WORK/w/s" -- cat s
	[ "$status" != 0 ]
	[ -z "$output" ]
	[ "$(made)" = 0 ]
}

@test 'a directory that was replaced since is not served as it was' {
	mkdir "$WORK/granted"
	echo old >"$WORK/granted/f"
	call -r "$WORK/granted" -- true
	ready
	mv "$WORK/granted" "$WORK/was"
	mkdir "$WORK/granted"
	echo new >"$WORK/granted/f"
	call -r "$WORK/granted" -- cat "$WORK/granted/f"
	[ "$status" = 0 ]
	[ "$output" = new ]
	[ "$(made)" = 1 ]
	ready
	call -r "$WORK/granted" -- cat "$WORK/granted/f"
	[ "$output" = new ]
	[ "$(made)" = 0 ]
	# the workspace itself
	ready
	cd /
	mv "$WORK/w" "$WORK/w2"
	mkdir "$WORK/w"
	cd "$WORK/w"
	call -r "$WORK/granted" -- sh -c 'echo here >f'
	[ "$status" = 0 ]
	[ -e "$WORK/w/f" ]
	[ ! -e "$WORK/w2/f" ]
}

@test 'one that was removed, paused or lost with its engine costs a new one' {
	call -- true
	ready
	api DELETE "/containers/$(ids)?force=1"
	call -- echo removed
	[ "$output" = removed ]
	[ "$(made)" = 1 ]
	ready
	paused=$(ids)
	api POST "/containers/$paused/pause"
	call -- echo paused
	[ "$output" = paused ]
	[ "$(made)" = 1 ]
	api DELETE "/containers/$paused?force=1"
	second=$ENGINES/second
	first=$DOCKER_HOST
	DOCKER_HOST=$("$SRCDIR/tests/engines/engine" start docker "$second")
	call -- true
	ready 2
	"$SRCDIR/tests/engines/engine" stop "$second"
	call -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *'install docker'* ]]
	[ ! -e ran ]
	DOCKER_HOST=$("$SRCDIR/tests/engines/engine" start docker "$second")
	call -- echo again
	made=$(made)
	"$SRCDIR/tests/engines/engine" stop "$second"
	DOCKER_HOST=$first # where teardown() removes what waits
	[ "$output" = again ]
	[ "$made" -ge 1 ] # the engine is tried anew, too
}

@test 'one that is removed under its call' {
	call -- true
	ready
	for _ in $(seq 100); do # the first call's own may be on its way out
		[ "$(ids | wc -l)" -gt 1 ] || break
		sleep 0.1
	done
	id=$(ids)
	"$CORDON" run -b docker -p "$WORK/p.yaml" -- sh -c 'echo ready; sleep 60; echo more' >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	for _ in $(seq 100); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	api DELETE "/containers/$id?force=1"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 125 ]
	grep 'what the command ran in was lost' "$WORK/err"
	! grep more "$WORK/out" || return 1
}

@test 'cordon killed at any moment leaves what goes by itself' {
	policy 1 3
	for wait in 0.01 0.05 0.1 0.3 0.6; do
		"$CORDON" run -q -b docker -p "$WORK/p.yaml" -- sh -c 'echo ready; exec sleep 301' >"$WORK/out" &
		pid=$!
		sleep "$wait"
		kill -9 "$pid"
		wait "$pid" || true
	done
	# and what makes the next one, too
	"$CORDON" run -q -b docker -p "$WORK/p.yaml" -- true
	for pid in $(pgrep -f '^cordon-engine$'); do # of this test: it holds the container's directory
		[[ "$(readlink "/proc/$pid/fd/3")" != "$WORK"/* ]] || kill -9 "$pid" 2>/dev/null || true
	done
	for _ in $(seq 150); do
		left=$(api GET /containers/json | jq length)
		[ "$left" != 0 ] || break
		sleep 0.1
	done
	[ "$left" = 0 ]
	[ -z "$(pgrep -f 'sleep 301')" ]
	# one that the engine was about to start when its maker was killed goes in its time; on this machine that is seen by the
	# next command, whichever it is
	for _ in $(seq 30); do
		"$CORDON" run -q -- true
		[ -n "$(find "$WORK" -maxdepth 2 -name '.cordon-*')" ] || break
		sleep 0.5
	done
	find "$WORK" /tmp /var/tmp -maxdepth 2 -name '.cordon-*' -user "$(id -u)" -newer "$WORK/p.yaml"
	[ -z "$(find "$WORK" -maxdepth 2 -name '.cordon-*')" ]
	# what the engine was asked for and never started is only in its list, and goes with the next call of that engine
	"$CORDON" run -q -b docker -- true
	for _ in $(seq 50); do
		left=$(api GET '/containers/json?all=1' | jq '[.[] | select(.State != "removing")] | length')
		[ "$left" != 0 ] || break
		sleep 0.2
	done
	[ "$left" = 0 ]
}

@test 'one that nobody takes goes in time, and its place with the next command' {
	policy 1 1
	call -- true
	ready
	id=$(ids)
	gone "$id"
	[ "$(find "$WORK/state" -name '.cordon-work-*' | wc -l)" = 1 ]
	"$CORDON" run -q -- true
	[ "$(find "$WORK/state" -name '.cordon-work-*' | wc -l)" = 0 ]
	# the next call is not the worse for it
	call -- echo works
	[ "$output" = works ]
}

@test 'many at once: each has its own' {
	policy 3 60
	call -- true
	ready 3
	for i in 1 2 3 4 5 6; do
		"$CORDON" run -q -b docker -p "$WORK/p.yaml" -- sh -c 'touch "/tmp/mine$1"; sleep 1; ls /tmp/mine* | wc -l; echo ended >&2' sh "$i" >"$WORK/o$i" 2>"$WORK/e$i" &
	done
	wait
	[ "$(cat "$WORK"/o? | sort | uniq -c | xargs)" = '6 1' ]
	[ "$(cat "$WORK"/e? | grep -c ended)" = 6 ]
	ready 3
}

@test 'a change set of one call is not made ahead' {
	echo a >a
	call --workspace discard -- sh -c 'echo b >a; cat a'
	[ "$output" = b ]
	sleep 1
	[ -z "$(find "$WORK/state" -path '*/.cordon-work-*/s')" ]
	[ "$(cat a)" = a ]
}

@test 'as another user, and not from a project' {
	echo 'sandbox: {container: {warm: 1}}' >.cordon.yaml
	run --separate-stderr "$CORDON" run -b docker -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *sandbox.container.warm* ]]
	[ ! -e ran ]
	rm .cordon.yaml
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot become another user'
	chown -R 65534:65534 "$WORK/w" "$WORK/state"
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent-home CORDON_CONFIG_DIR=/nonexistent "CORDON_STATE_DIR=$WORK/state")
	chown 65534 "$WORK/p.yaml"
	for want in 1 0; do
		SINCE=$(date +%s.%N)
		run --separate-stderr "${as[@]}" "$CORDON" run -q -b docker -p "$WORK/p.yaml" -- id -u
		[ "$output" = 65534 ]
		made=$(made)
		[ "$want" = 1 ] || [ "$made" = 0 ]
		ready
	done
}

@test 'podman: the same' {
	has podman
	state() { engine_api podman GET '/containers/json?all=1' | jq -r '.[].Id'; }
	"$CORDON" run -q -b podman -p "$WORK/p.yaml" -- touch /tmp/left
	ready
	first=$(state)
	run --separate-stderr "$CORDON" run -q -b podman -p "$WORK/p.yaml" -- sh -c 'ls /tmp/left; exit 5'
	code=$status
	ready
	for _ in $(seq 100); do
		second=$(state)
		[[ "$second" == *"$first"* ]] || break
		sleep 0.1
	done
	[ "$code" = 5 ]
	[ -z "$output" ]
	[ -n "$first" ]
	[[ "$second" != *"$first"* ]]
}
