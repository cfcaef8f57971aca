#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Engines that are slow, full or gone: a clear error with its remedy, nothing left, and never something weaker instead.
# What is not there, refuses or talks nonsense is in container.bats; gVisor's faults are in gvisor.bats.

# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr; each test is its own
bats_require_minimum_version 1.5.0

setup_file() {
	ENGINES=$(mktemp -d /var/tmp/cordon-engines-XXXXXX)
	export ENGINES
	chmod 755 "$ENGINES"
	# passes everything on; when it is switched on, nobody answers requests with the word
	cat >"$ENGINES/slow.py" <<'END'
import os, socket, sys, threading, time
listener, engine, word = sys.argv[1:]
def copy(source, sink, is_request):
    try:
        while data := source.recv(65536):
            if is_request and word.encode() in data and os.path.exists(listener + '.on'):
                time.sleep(1000)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
s = socket.socket(socket.AF_UNIX)
s.bind(listener)
s.listen(8)
while True:
    c = s.accept()[0]
    e = socket.socket(socket.AF_UNIX)
    e.connect(engine)
    for pair in (c, e, True), (e, c, False):
        threading.Thread(target=copy, args=pair, daemon=True).start()
END
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

slow() {
	rm -f "$ENGINES/slow" "$ENGINES/slow.on"
	python3 "$ENGINES/slow.py" "$ENGINES/slow" "$ENGINES/docker/s" "$1" &
	SERVER=$!
	for _ in $(seq 50); do
		[ ! -S "$ENGINES/slow" ] || return 0
		sleep 0.1
	done
	return 1
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
	for _ in $(seq 50); do
		[ "$(left)" != 0 ] || break
		sleep 0.1
	done
	[ "$(left)" = 0 ]
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
