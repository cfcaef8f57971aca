#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Engines that are slow, full, gone or none, and containers that somebody ends: a clear error with its remedy, nothing left, and never something weaker
# instead.  One table, for docker and for podman.  gVisor's faults are in gvisor.bats, a machine's in qemu.bats, other full
# disks in full.bats.

# shellcheck disable=SC2153,SC2154,SC2030,SC2031 # engines.bash sets SERVER; bats sets stderr; each test is its own
bats_require_minimum_version 1.5.0
load engines

setup_file() {
	engines_start docker 24m
	engines_start podman 24m
}

teardown_file() {
	engines_stop
}

setup() {
	WORK=$(mktemp -d /var/tmp/cordon-faults-XXXXXX)
	mkdir "$WORK/w" "$WORK/state"
	export CORDON_STATE_DIR=$WORK/state
	cd "$WORK/w" || return
}

teardown() {
	[ -z "${SERVER-}" ] || kill "$SERVER" || true
	[ -z "${ENGINE-}" ] || in_engine rm -f "$ENGINES/$ENGINE/data/fill" || true
	cd / && rm -rf "${WORK-/nonexistent}"
}

# of KIND FAULT: the fault, of that engine.
of() {
	has "$1"
	ENGINE=$1
	VARIABLE=$(engine_variable "$1")
	REAL=$ENGINES/$1/s
	"fault_$2"
}

# call WORD...: under cordon.
call() {
	run --separate-stderr "$CORDON" run -b "$ENGINE" "$@"
}

api() {
	engine_api "$ENGINE" "$@"
}

left() {
	api GET '/containers/json?all=1' | jq length
}

nothing_left() {
	local n
	for _ in $(seq 100); do
		n=$(left)
		[ "$n" != 0 ] || return 0
		sleep 0.1
	done
	echo "$n are left"
	return 1
}

in_engine() {
	nsenter -t "$(cat "$ENGINES/$ENGINE/engine")" -m "$@"
}

fill() {
	in_engine dd if=/dev/zero of="$ENGINES/$ENGINE/data/fill" bs=64k || true
}

make_room() {
	in_engine rm "$ENGINES/$ENGINE/data/fill"
}

# slow WORD: from now on there is an engine between that does not answer requests with WORD, once slow.on is there.
slow() {
	between "$ENGINES/slow" "$REAL" hold "$1"
	export "$VARIABLE=unix://$ENGINES/slow"
}

fault_full() {
	call -q -- echo works
	[ "$output" = works ]
	fill
	call -- touch ran
	make_room
	[ "$status" = 125 ]
	[[ "$stderr" == *'no space left on device'*'make room where the engine keeps its data'* ]]
	[ ! -e ran ]
	[ "$(left)" = 0 ]
	call -q -- echo works
	[ "$output" = works ]
}

# Each container that the engine has runs, whatever its list says (see fault_list): none of a call, so it is one that waits.
only_waiting() {
	local id n=0
	for id in $(api GET '/containers/json?all=1' | jq -r '.[].Id'); do
		[ "$(api GET "/containers/$id/json" | jq .State.Running)" = true ] || return 1
		n=$((n + 1))
	done
	[ "$n" -le 1 ]
}

fault_full_ahead() {
	echo 'sandbox: {container: {warm: 1, warm_seconds: 20}}' >"$WORK/p.yaml"
	call -q -- true
	fill
	call -p "$WORK/p.yaml" -- touch ran
	make_room
	[ "$status" = 125 ]
	[ ! -e ran ]
	call -q -p "$WORK/p.yaml" -- echo works
	[ "$output" = works ]
	for _ in $(seq 100); do
		[ -z "$(find "$WORK/state" -path '*/.cordon-work-*/s')" ] || break
		sleep 0.1
	done
	fill
	# it was made while there was room; its successor cannot be, which is not this call's trouble
	call -q -p "$WORK/p.yaml" -- echo works
	sleep 2
	make_room
	[ "$output" = works ]
	# Of the one that was taken the engine may not have been able to remove all, and its successor may have got its room;
	# the next call has the one removed, and the other waits, whole, and goes in its time.
	call -q -- true
	for _ in $(seq 100); do
		! only_waiting || break
		sleep 0.1
	done
	api GET '/containers/json?all=1'
	only_waiting
	for _ in $(seq 300); do
		[ "$(left)" != 0 ] || break
		sleep 0.1
	done
	[ "$(left)" = 0 ]
	"$CORDON" run -q -- true
	[ -z "$(find "$WORK/state" -name '.cordon-work-*')" ]
}

# Docker cannot write down that a container has started when its disk is full just then, and lists it as one that was
# never started.  It is in use: nobody may take it for a leftover.
fault_list() {
	local live id
	"$CORDON" run -q -b "$ENGINE" -- sh -c 'echo ready; sleep 5; echo more' >"$WORK/out" 2>"$WORK/err" &
	live=$!
	for _ in $(seq 200); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	grep ready "$WORK/out"
	# the control: one of ours that was never started is removed through the same list
	image=$(api GET '/images/json' | jq -r '.[0].Id')
	id=$(api POST /containers/create -H 'Content-Type: application/json' \
		-d "{\"Image\":\"$image\",\"Cmd\":[\"/x\"],\"Labels\":{\"dev.cordon.call\":\"trial\"}}" | jq -r .Id)
	[ "$(left)" = 2 ]
	call -q -- true # not yet: it is too young
	[[ "$(api GET '/containers/json?all=1')" == *"$id"* ]]
	between "$ENGINES/list" "$REAL" list
	run env "$VARIABLE=unix://$ENGINES/list" "$CORDON" run -q -b "$ENGINE" -- echo works
	echo "$output"
	[ "$output" = works ]
	for _ in $(seq 50); do
		[[ "$(api GET '/containers/json?all=1')" == *"$id"* ]] || break
		sleep 0.1
	done
	[[ "$(api GET '/containers/json?all=1')" != *"$id"* ]]
	status=0
	wait "$live" || status=$?
	cat "$WORK/err"
	[ "$status" = 0 ]
	grep more "$WORK/out"
	nothing_left
}

fault_slow() {
	slow /start
	call -q -- echo works
	[ "$output" = works ]
	touch "$ENGINES/slow.on"
	call -- touch ran
	[ "$status" = 125 ]
	echo "$stderr"
	[[ "$stderr" == *'the engine does not answer'*"see the engine's log"* ]]
	[ ! -e ran ]
	nothing_left
}

# Docker does not answer who asks for the end in the moment in which it comes.
fault_unanswered() {
	local began=$SECONDS
	slow /wait?condition
	touch "$ENGINES/slow.on"
	run --separate-stderr timeout 60 "$CORDON" run -b "$ENGINE" -- sh -c 'sleep 4; echo works; exit 3'
	echo "$status: $output: $stderr"
	[ "$status" = 3 ]
	[ "$output" = works ]
	[ $((SECONDS - began)) -ge 4 ]
	nothing_left
}

fault_scratch() {
	local left=$WORK/.cordon-work-0123456789abcdef other=$WORK/.cordon-work-fedcba9876543210 pid holder
	mkdir -m 700 "$left"
	"$CORDON" run -q -- true
	[ -d "$left" ] # nobody knows of it
	rmdir "$left"
	slow /start
	call -q -- true
	touch "$ENGINES/slow.on"
	"$CORDON" run -q -b "$ENGINE" -- true &
	pid=$!
	for _ in $(seq 100); do
		[ "$(left)" = 0 ] || break
		sleep 0.1
	done
	mkdir -m 700 "$left" "$left/work" "$other"
	# of a call that goes on, beside it: nothing that anybody else has to wait for
	flock "$other" sleep 100 3>&- &
	holder=$!
	for _ in $(seq 200); do
		flock -n "$other" true || break
		sleep 0.05
	done
	kill -9 "$pid"
	wait "$pid" || true
	"$CORDON" run -q -- true
	[ ! -e "$left" ]
	nothing_left
	for _ in $(seq 20); do # the engine's helper may just be going
		"$CORDON" run -q -- true
		[ -n "$(find "$WORK/state" -name '.cordon-note-*')" ] || break
		sleep 0.2
	done
	kill "$holder"
	[ -d "$other" ]
	[ -z "$(find "$WORK/state" -name '.cordon-note-*' -exec cat {} +)" ]
}

# Both of us are killed while the container is made: nobody is left who would start it, and the next call knows that.
fault_orphan() {
	local pid helper id
	call -q -- true
	slow /start
	call -q -- true # this way is known, too: no trial now
	touch "$ENGINES/slow.on"
	"$CORDON" run -q -b "$ENGINE" -- touch ran &
	pid=$!
	for _ in $(seq 100); do
		id=$(api GET '/containers/json?all=1' | jq -r '.[].Id')
		[ -z "$id" ] || break
		sleep 0.1
	done
	[ -n "$id" ]
	export "$VARIABLE=unix://$REAL"
	call -q -- echo works # the control: whoever lives will start it
	[ "$output" = works ]
	[[ "$(api GET '/containers/json?all=1')" == *"$id"* ]]
	helper=$(pgrep -P "$pid" -f cordon-engine)
	kill -STOP "$helper" # or it may see that the other one is gone first
	kill -9 "$pid" "$helper"
	wait "$pid" || true
	[[ "$(api GET '/containers/json?all=1')" == *"$id"* ]]
	call -q -- echo works
	[ "$output" = works ]
	nothing_left
	[ ! -e ran ]
}

fault_absent() {
	run --separate-stderr env "$VARIABLE=unix:///nonexistent" "$CORDON" run -b "$ENGINE" -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *"/nonexistent: No such file or directory; install $ENGINE"* ]]
	run --separate-stderr env "$VARIABLE=tcp://127.0.0.1:2375" "$CORDON" run -b "$ENGINE" -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *"$VARIABLE is not unix://PATH"* ]]
	# an engine that the project brings is none
	ln -s "$REAL" here
	for host in unix://here unix://./here unix://; do
		run --separate-stderr env "$VARIABLE=$host" "$CORDON" run -b "$ENGINE" -- touch ran
		[ "$status" = 125 ]
		[[ "$stderr" == *"$VARIABLE names no absolute path"* ]]
	done
	run --separate-stderr env "$VARIABLE=unix://$PWD/here" "$CORDON" run -q -b "$ENGINE" -- echo works # the control
	[ "$output" = works ]
	# it was there: its socket still is
	between "$WORK/s" - answer silent
	kill -9 "$SERVER"
	wait "$SERVER" || true
	SERVER=
	[ -S "$WORK/s" ]
	run --separate-stderr env "$VARIABLE=unix://$WORK/s" "$CORDON" run -b "$ENGINE" -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *"$WORK/s: Connection refused; install $ENGINE"*'start'* ]]
	[ ! -e ran ]
}

fault_garbage() {
	local kind
	for kind in garbage silent html; do
		between "$WORK/s" - answer "$kind"
		run --separate-stderr env "$VARIABLE=unix://$WORK/s" "$CORDON" run -b "$ENGINE" -- touch ran
		kill "$SERVER"
		[ "$status" = 125 ]
		[[ "$stderr" == *"not available: $ENGINE: "*engine* ]]
	done
	SERVER=
	[ ! -e ran ]
}

# An engine that was one until now: what it answers in the middle of a start is nonsense, or does not arrive.
fault_spoiled() {
	local way word kind
	for way in '/containers/create garbage' '/containers/create hostile' '/containers/create cut' '/start garbage' '/start cut'; do
		read -r word kind <<<"$way"
		between "$ENGINES/spoil" "$REAL" spoil "$word" "$kind"
		export "$VARIABLE=unix://$ENGINES/spoil"
		call -q -- echo works
		[ "$output" = works ]
		touch "$ENGINES/spoil.on"
		# where the container did start, the loss is noticed before the command has slept
		call -- sh -c 'sleep 5; touch ran'
		kill "$SERVER"
		echo "$way: $status: $stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *hint:*engine* ]]
		[[ "$stderr" == *"$ENGINE: "* ]] || [ "$way" = '/start cut' ]
		[ ! -e ran ]
		# what was made and nobody heard of goes with the next call
		export "$VARIABLE=unix://$REAL"
		call -q -- echo works
		[ "$output" = works ]
		nothing_left
	done
	SERVER=
}

# The same while the command runs: nobody knows how it ends, so it is ended.
fault_spoiled_end() {
	local word=/wait
	[ "$ENGINE" = docker ] || word='/json HTTP' # it looks again and again
	between "$ENGINES/spoil" "$REAL" spoil "$word" garbage
	export "$VARIABLE=unix://$ENGINES/spoil"
	call -q -- echo works
	[ "$output" = works ]
	rm -f ready
	if [ "$ENGINE" = docker ]; then
		touch "$ENGINES/spoil.on" # it is asked once, before the start
	else
		(for _ in $(seq 200); do [ ! -e ready ] || break; sleep 0.05; done; touch "$ENGINES/spoil.on") 3>&- &
	fi
	call -- sh -c 'touch ready; echo ready; sleep 62; echo more'
	echo "$status: $output: $stderr"
	[ "$status" = 125 ]
	[[ "$stderr" == *'was lost'*hint:*'nothing of the call is left running'* ]]
	[[ "$output" != *more* ]]
	export "$VARIABLE=unix://$REAL"
	nothing_left
	[ -z "$(pgrep -f 'sleep 62')" ]
}

fault_permission() {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot become another user'
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent-home CORDON_CONFIG_DIR=/nonexistent
		"CORDON_STATE_DIR=/tmp/cordon-none-$$")
	chmod 755 "$WORK"
	chmod 777 "$WORK/w"
	run "${as[@]}" "$CORDON" run -q -b "$ENGINE" -- echo works
	control=$output
	chmod 600 "$REAL"
	run --separate-stderr "${as[@]}" "$CORDON" run -b "$ENGINE" -- touch ran
	chmod 666 "$REAL"
	rm -rf "/tmp/cordon-none-$$"
	[ "$control" = works ]
	[ "$status" = 125 ]
	[[ "$stderr" == *'permission denied; join the engine'* ]]
	[ ! -e ran ]
}

fault_image() {
	call -q -- echo works
	[ "$output" = works ]
	call --image cordon-none:1 -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *"image 'cordon-none:1' is not there"*'pull or build it first'* ]]
	[ ! -e ran ]
	[ "$(left)" = 0 ]
}

fault_killed() {
	local pid second
	# of its own: it does not come back
	second=$("$SRCDIR/tests/engines/engine" start "$ENGINE" "$ENGINES/second") || {
		echo "$second"
		return 1
	}
	# so long that it cannot reach its end before anybody notices
	env "$VARIABLE=$second" "$CORDON" run -b "$ENGINE" -- sh -c 'echo ready; sleep 61; echo more' >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	for _ in $(seq 200); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	grep ready "$WORK/out"
	pgrep -f 'sh -c echo ready; sleep 61'
	kill -9 "$(cat "$ENGINES/second/engine")"
	status=0
	wait "$pid" || status=$?
	"$SRCDIR/tests/engines/engine" stop "$ENGINES/second"
	cat "$WORK/err"
	[ "$status" = 125 ]
	grep 'what the command ran in was lost' "$WORK/err"
	! grep more "$WORK/out" || return 1
	[ -z "$(pgrep -f 'sh -c echo ready; sleep 61')" ]
}

# Somebody ends the container, or a process of its own is killed from the host, while the engine itself is well.
fault_ended() {
	local how pid id first
	for how in kill stop remove process; do
		: >"$WORK/out"
		"$CORDON" run -b "$ENGINE" -- sh -c 'echo ready; sleep 63; echo more' >"$WORK/out" 2>"$WORK/err" 3>&- &
		pid=$!
		for _ in $(seq 200); do
			! grep -q ready "$WORK/out" || break
			sleep 0.1
		done
		id=$(api GET /containers/json | jq -r '.[0].Id')
		first=$(api GET "/containers/$id/json" | jq .State.Pid)
		case $how in
		kill) api POST "/containers/$id/kill" ;;
		stop) api POST "/containers/$id/stop?t=1" ;;
		remove) api DELETE "/containers/$id?force=1" ;;
		process) nsenter -t "$(cat "$ENGINES/$ENGINE/engine")" -p -m kill -9 "$first" ;;
		esac
		status=0
		wait "$pid" || status=$?
		echo "$how: $status: $(cat "$WORK/err")"
		[ "$status" = 125 ]
		grep 'what the command ran in was lost while it ran' "$WORK/err"
		grep 'hint: nothing of the call is left running' "$WORK/err"
		! grep more "$WORK/out" || return 1
		nothing_left
		for _ in $(seq 50); do
			pgrep -fx 'sleep 63' >/dev/null || break
			sleep 0.1
		done
		[ -z "$(pgrep -fx 'sleep 63')" ]
	done
	# the control: a command that is killed inside
	# shellcheck disable=SC2016 # for a shell inside
	call -q -- sh -c 'kill -9 $$'
	[ "$status" = 137 ]
}

@test 'docker: its disk is full' { of docker full; }
@test 'podman: its disk is full' { of podman full; }
@test 'docker: its disk fills up when the next container is made ahead' { of docker full_ahead; }
@test 'podman: its disk fills up when the next container is made ahead' { of podman full_ahead; }
@test 'docker: a container that runs and is listed as one that never started' { of docker list; }
@test 'podman: a container that runs and is listed as one that never started' { of podman list; }
@test 'docker: it does not answer' { of docker slow; }
@test 'podman: it does not answer' { of podman slow; }
@test 'docker: it never says that a container is gone' { of docker unanswered; }
@test 'docker: what native leaves inside a container that is killed is found by the next command' { of docker scratch; }
@test 'podman: what native leaves inside a container that is killed is found by the next command' { of podman scratch; }
@test 'docker: a container that was made and never started goes with the next call' { of docker orphan; }
@test 'podman: a container that was made and never started goes with the next call' { of podman orphan; }
@test 'docker: it is not there' { of docker absent; }
@test 'podman: it is not there' { of podman absent; }
@test 'docker: it is none' { of docker garbage; }
@test 'podman: it is none' { of podman garbage; }
@test 'docker: it talks nonsense in the middle of a start' { of docker spoiled; }
@test 'podman: it talks nonsense in the middle of a start' { of podman spoiled; }
@test 'docker: it talks nonsense while a command runs' { of docker spoiled_end; }
@test 'podman: it talks nonsense while a command runs' { of podman spoiled_end; }
@test 'docker: its socket does not let us' { of docker permission; }
@test 'podman: its socket does not let us' { of podman permission; }
@test 'docker: the image is missing' { of docker image; }
@test 'podman: the image is missing' { of podman image; }
@test 'docker: it is killed in the middle of a call' { of docker killed; }
@test 'podman: it is killed in the middle of a call' { of podman killed; }
@test 'docker: a container is ended from outside in the middle of a call' { of docker ended; }
@test 'podman: a container is ended from outside in the middle of a call' { of podman ended; }
