#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Engines that are slow, full or gone: a clear error with its remedy, nothing left, and never something weaker instead.
# gVisor's faults are in gvisor.bats, other full disks in full.bats.

# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr; each test is its own
bats_require_minimum_version 1.5.0
load engines

setup_file() {
	ENGINES=$(mktemp -d /var/tmp/cordon-engines-XXXXXX)
	export ENGINES
	chmod 755 "$ENGINES"
	if said=$("$SRCDIR/tests/engines/engine" start docker "$ENGINES/docker" 24m); then
		export DOCKER_HOST=$said
	else
		export ABSENT=$said
	fi
}

teardown_file() {
	"$SRCDIR/tests/engines/engine" stop "$ENGINES/docker"
	rm -rf "$ENGINES"
}

setup() {
	[ -z "${ABSENT-}" ] || skip "$ABSENT"
	WORK=$(mktemp -d /var/tmp/cordon-faults-XXXXXX)
	mkdir "$WORK/w" "$WORK/state"
	export CORDON_STATE_DIR=$WORK/state
	cd "$WORK/w" || return
}

teardown() {
	[ -z "${SERVER-}" ] || kill "$SERVER" || true
	cd / && rm -rf "${WORK-/nonexistent}"
}

# slow WORD: an engine that does not answer requests with WORD, once slow.on is there.
slow() {
	between "$ENGINES/slow" "$ENGINES/docker/s" hold "$1"
}

left() {
	curl -s --unix-socket "$ENGINES/docker/s" 'http://engine/containers/json?all=1' | jq length
}

in_engine() {
	nsenter -t "$(cat "$ENGINES/docker/engine")" -m "$@"
}

@test 'an engine whose disk is full' {
	run "$CORDON" run -q -b docker -- echo works
	[ "$output" = works ]
	in_engine dd if=/dev/zero of="$ENGINES/docker/data/fill" bs=1M || true
	run --separate-stderr "$CORDON" run -b docker -- touch ran
	in_engine rm "$ENGINES/docker/data/fill"
	[ "$status" = 125 ]
	[[ "$stderr" == *'no space left on device'*'make room where the engine keeps its data'* ]]
	[ ! -e ran ]
	[ "$(left)" = 0 ]
	run "$CORDON" run -q -b docker -- echo works
	[ "$output" = works ]
}

@test 'a disk that fills up when the next container is made ahead' {
	echo 'sandbox: {container: {warm: 1}}' >"$WORK/p.yaml"
	"$CORDON" run -q -b docker -- true
	in_engine dd if=/dev/zero of="$ENGINES/docker/data/fill" bs=1M || true
	run --separate-stderr "$CORDON" run -b docker -p "$WORK/p.yaml" -- touch ran
	in_engine rm "$ENGINES/docker/data/fill"
	[ "$status" = 125 ]
	[ ! -e ran ]
	run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" -- echo works
	[ "$output" = works ]
	for _ in $(seq 100); do
		[ -z "$(find "$WORK/state" -path '*/.cordon-work-*/s')" ] || break
		sleep 0.1
	done
	in_engine dd if=/dev/zero of="$ENGINES/docker/data/fill" bs=1M || true
	# it was made while there was room; its successor cannot be, which is not this call's trouble
	run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" -- echo works
	sleep 2
	in_engine rm "$ENGINES/docker/data/fill"
	[ "$output" = works ]
	# Of the one that was taken the engine may not have been able to remove all, and its successor may have got its room;
	# the next call has the one removed, and the other waits, whole.  One that never started because there was no room, and
	# could not be removed for the same reason, goes when it is old enough to be nobody's.
	"$CORDON" run -q -b docker -- true
	for _ in $(seq 50); do
		halves=$(curl -s --unix-socket "$ENGINES/docker/s" 'http://engine/containers/json?all=1' | jq '[.[] | select(.State != "running" and .State != "created") | .State] | unique[]')
		[ -n "$halves" ] || break
		sleep 0.1
	done
	echo "by half: $halves"
	[ -z "$halves" ]
	for id in $(curl -s --unix-socket "$ENGINES/docker/s" 'http://engine/containers/json?all=1' | jq -r '.[].Id'); do
		curl -s -X DELETE --unix-socket "$ENGINES/docker/s" "http://engine/containers/$id?force=1"
	done
	"$CORDON" run -q -- true
	[ -z "$(find "$WORK/state" -name '.cordon-work-*')" ]
}

@test 'an engine that does not answer' {
	slow /start
	run env DOCKER_HOST="unix://$ENGINES/slow" "$CORDON" run -q -b docker -- echo works
	[ "$output" = works ]
	touch "$ENGINES/slow.on"
	run --separate-stderr env DOCKER_HOST="unix://$ENGINES/slow" "$CORDON" run -b docker -- touch ran
	[ "$status" = 125 ]
	echo "$stderr"
	[[ "$stderr" == *'the container does not start'*"see the engine's log"* ]]
	[ ! -e ran ]
	for _ in $(seq 50); do
		[ "$(left)" != 0 ] || break
		sleep 0.1
	done
	[ "$(left)" = 0 ]
}

@test 'what native leaves inside a container that is killed is found by the next command' {
	left=$WORK/.cordon-work-0123456789abcdef
	mkdir -m 700 "$left"
	"$CORDON" run -q -- true
	[ -d "$left" ] # nobody knows of it
	rmdir "$left"
	slow /start
	env DOCKER_HOST="unix://$ENGINES/slow" "$CORDON" run -q -b docker -- true
	touch "$ENGINES/slow.on"
	env DOCKER_HOST="unix://$ENGINES/slow" "$CORDON" run -q -b docker -- true &
	pid=$!
	for _ in $(seq 100); do
		[ "$(left)" = 0 ] || break
		sleep 0.1
	done
	mkdir -m 700 "$left" "$left/work"
	kill -9 "$pid"
	wait "$pid" || true
	"$CORDON" run -q -- true
	[ ! -e "$left" ]
}

@test 'an engine that is not there, does not let us, or is none' {
	run --separate-stderr env DOCKER_HOST=unix:///nonexistent "$CORDON" run -b docker -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *'/nonexistent: No such file or directory; install docker'* ]]
	run --separate-stderr env DOCKER_HOST=tcp://127.0.0.1:2375 "$CORDON" run -b docker -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *'DOCKER_HOST is not unix://PATH'* ]]
	for kind in garbage silent html; do
		between "$WORK/s" - answer "$kind"
		run --separate-stderr env DOCKER_HOST="unix://$WORK/s" "$CORDON" run -b docker -- touch ran
		kill "$SERVER"
		[ "$status" = 125 ]
		[[ "$stderr" == *'not available: docker: '*engine* ]]
	done
	[ ! -e ran ]
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot become another user'
	chmod 600 "${DOCKER_HOST#unix://}"
	chmod 755 "$WORK"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent CORDON_CONFIG_DIR=/nonexistent \
		CORDON_STATE_DIR=/tmp/cordon-none-$$ "$CORDON" run -b docker -- touch ran
	chmod 666 "${DOCKER_HOST#unix://}"
	rm -rf "/tmp/cordon-none-$$"
	[ "$status" = 125 ]
	[[ "$stderr" == *'permission denied; join the engine'* ]]
}

@test 'an engine killed in the middle of a call' {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot start an engine'
	DOCKER_HOST=$("$SRCDIR/tests/engines/engine" start docker "$ENGINES/second")
	# so long that it cannot reach its end before anybody notices
	"$CORDON" run -b docker -- sh -c 'echo ready; sleep 60; echo more' >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	for _ in $(seq 200); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	grep ready "$WORK/out"
	kill -9 "$(cat "$ENGINES/second/engine")"
	status=0
	wait "$pid" || status=$?
	"$SRCDIR/tests/engines/engine" stop "$ENGINES/second"
	cat "$WORK/err"
	[ "$status" = 125 ]
	grep 'what the command ran in was lost' "$WORK/err"
	! grep more "$WORK/out" || return 1
	[ -z "$(pgrep -f 'sh -c echo ready; sleep 60')" ]
}
