#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend qemu: a real virtual machine per call.  A machine boots once for the whole file; with CI=true or ENGINES=all
# what is missing is a failure.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell
# shellcheck disable=SC2154 # stderr is set by bats

bats_require_minimum_version 1.5.0

missing() {
	[ "${CI-}" != true ] && [ "${ENGINES-}" != all ] && return 0
	echo "not there: $1"
	return 1
}

setup_file() {
	export CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	export CORDON_VM_KERNEL=${CORDON_VM_KERNEL:-$BATS_TEST_DIRNAME/../../build-engines/kernel}
	export CORDON_STATE_DIR=$BATS_FILE_TMPDIR/state CORDON_CONFIG_DIR=$BATS_FILE_TMPDIR/config
	mkdir -p "$CORDON_STATE_DIR" "$CORDON_CONFIG_DIR" "$BATS_FILE_TMPDIR/first"
	chmod 700 "$CORDON_STATE_DIR"
	printf 'sandbox:\n  vm:\n    emulation: true\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	if ! command -v qemu-system-x86_64 >/dev/null; then
		missing qemu-system-x86 || return 1
	elif [ ! -d "$CORDON_VM_KERNEL/boot" ]; then
		missing 'a kernel in build-engines/kernel' || return 1
	else
		(cd "$BATS_FILE_TMPDIR/first" && timeout 300 "$CORDON" run -q -b qemu -- true) || return 1
	fi
}

setup() {
	command -v qemu-system-x86_64 >/dev/null || skip 'qemu-system-x86 is not installed (ENGINES=all tools/setup check)'
	[ -d "$CORDON_VM_KERNEL/boot" ] || skip 'no kernel in build-engines/kernel (ENGINES=all tools/setup check)'
	mkdir "$BATS_TEST_TMPDIR/w"
	cd "$BATS_TEST_TMPDIR/w" || return
}

vm() {
	timeout 120 "$CORDON" run -q -b qemu "$@"
}

# The emulators of the cordon $1, which is our child.
machines() {
	for monitor in $(pgrep -P "$1"); do
		pgrep -P "$monitor" -x qemu-system-x86
	done
}

# $1 seconds at most until the command is true
until_true() {
	end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

@test "another kernel runs the command: words, directory, environment, streams, exit code" {
	run --separate-stderr vm -e COLOUR=blue -- sh -c 'uname -rn; pwd; id -u; echo "$COLOUR-$SECRET"; cat; echo err >&2; exit 7' <<<'in'
	[ "$status" -eq 7 ]
	[ "${lines[0]}" != "$(uname -n) $(uname -r)" ]
	[[ ${lines[0]} == cordon\ * ]]
	[ "${lines[1]}" = "$PWD" ]
	[ "${lines[2]}" = "$(id -u)" ]
	[ "${lines[3]}" = blue- ]
	[ "${lines[4]}" = in ]
	[ "$stderr" = err ]
	run vm -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 139 ]
	run -127 vm -- no-such-command
}

@test "emulation is only for a policy that permits it, and is told" {
	vm --report r.json -- true
	if jq -e '.isolation.achieved.guarantees | index("unemulated")' r.json; then
		skip 'the processor runs machines here: nothing is emulated'
	fi
	jq -e '.isolation.achieved | .level == "vm" and .degraded == ["unemulated"]' r.json
	run env CORDON_CONFIG_DIR="$PWD/none" "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *unemulated*sandbox.vm.emulation* ]]
	[ ! -e ran ]
	run env CORDON_CONFIG_DIR="$PWD/none" "$CORDON" run -l vm -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "the workspace is the host's, /tmp and what nothing grants are not" {
	echo secret >../outside
	echo old >old
	vm -- sh -c 'cat old; echo new >new; mkdir d; mv old d/moved; ln -s new link; echo x >/tmp/cordon-vm-test; ls /tmp'
	[ "$(cat new)" = new ]
	[ "$(cat d/moved)" = old ]
	[ "$(readlink link)" = new ]
	[ ! -e /tmp/cordon-vm-test ]
	cat ../outside
	run vm -- cat ../outside
	[ "$status" -ne 0 ]
	run vm -x "$PWD/d" -- cat d/moved
	[ "$status" -ne 0 ]
	run vm -- sh -c 'echo x >.mcp.json'
	[ "$status" -ne 0 ]
	[ ! -e .mcp.json ]
}

@test "copy-on-write keeps changes apart" {
	echo old >file
	vm --workspace discard -- sh -c 'echo new >file; cat file' >out
	[ "$(cat out)" = new ]
	[ "$(cat file)" = old ]
}

@test "no network, not even the host's loopback" {
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(600)' >port &
	server=$!
	until_true 10 test -s port
	connect="import socket, sys; socket.create_connection(('127.0.0.1', $(cat port)), 5); print('through')"
	[ "$(python3 -c "$connect")" = through ]
	run vm -- /usr/bin/python3 -c "$connect"
	kill $server
	[ "$status" -ne 0 ]
	[[ $output != *through* ]]
	[ "$(vm -- sh -c 'ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "')" = lo ]
}

@test "limits, with evidence" {
	run vm --report r.json -m 64M -- /usr/bin/python3 -c 'x = bytearray(200 << 20)'
	[ "$status" -eq 137 ]
	jq -e '.result.oom and .denied[0].target == "memory_mb"' r.json
	vm -m 512M -- /usr/bin/python3 -c 'x = bytearray(200 << 20)'
	run vm --report r.json --max-processes 8 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 3 & done; sleep 1'
	jq -e '.denied[0].target == "max_processes"' r.json
	run vm --max-open-files 32 -- sh -c 'ulimit -n'
	[ "$output" = 32 ]
	run vm -t 2s --report r.json -- sleep 60
	[ "$status" -eq 124 ]
	run vm --max-output 1K --report r.json -- sh -c 'while :; do echo 0123456789; done'
	jq -e '.result.output_truncated' r.json
	run vm --cpu-shares 512 -- true
	[ "$status" -eq 125 ]
	[[ $output == *cpu-shares* ]]
}

@test "streams of any size, both ways at once, and a reader that goes" {
	head -c 6000000 /dev/urandom >data
	vm -- sh -c 'cat; echo over >&2' <data >copy 2>err
	cmp data copy
	[ "$(cat err)" = over ]
	[ "$(vm -- yes 2>/dev/null | head -n 1)" = y ]
	vm -- sh -c 'for i in 1 2 3; do echo out$i; echo err$i >&2; done' >both 2>&1
	[ "$(tr '\n' ' ' <both)" = 'out1 err1 out2 err2 out3 err3 ' ]
}

@test "machines of one template: their own random numbers and the time of day" {
	vm -- sh -c 'head -c 16 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/boot_id 2>/dev/null; date +%s' >a
	vm -- sh -c 'head -c 16 /dev/urandom | od -An -tx1; date +%s' >b
	[ "$(head -n 1 a)" != "$(head -n 1 b)" ]
	now=$(date +%s)
	[ $((now - $(tail -n 1 b))) -le 20 ]
	[ "$(tail -n 1 b)" -le $((now + 2)) ]
}

@test "signals reach the command" {
	timeout 120 "$CORDON" run -q -b qemu -- sh -c 'trap "echo caught; exit 3" TERM; echo ready; while :; do sleep 0.1; done' >out &
	call=$!
	until_true 60 grep -q ready out
	kill -TERM "$(pgrep -P $call -x cordon)"
	wait $call && return 1
	grep -q caught out
}

@test "cordon is killed: no machine is left" {
	"$CORDON" run -q -b qemu -- sh -c 'echo up; sleep 100' >out &
	call=$!
	until_true 60 grep -q up out
	machine=$(machines $call)
	[ -d "/proc/$machine" ]
	kill -9 $call
	until_true 10 test ! -d "/proc/$machine"
}

@test "the emulator dies in the middle: 125, one line with what to do, nothing left" {
	"$CORDON" run -b qemu -- sh -c 'echo up; sleep 100' >out 2>err &
	call=$!
	until_true 60 grep -q up out
	kill -9 "$(machines $call)"
	code=0
	wait $call || code=$?
	[ "$code" -eq 125 ]
	grep -q 'ended before the command did' err
}

@test "faults before the start: no kernel, a kernel that is none, a template that is none" {
	run env CORDON_VM_KERNEL="$PWD" "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *CORDON_VM_KERNEL* ]]
	mkdir -p k/boot k/lib/modules/1
	echo garbage >k/boot/vmlinuz-1
	run env CORDON_VM_KERNEL="$PWD/k" "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *'is not a Linux kernel'* ]]
	cp -r "$CORDON_STATE_DIR" state
	for template in state/vm/*/*.state; do
		echo garbage >"$template"
	done
	run env CORDON_STATE_DIR="$PWD/state" "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *'template of the machine was thrown away'* ]]
	[ ! -e ran ]
	run env CORDON_STATE_DIR="$PWD/state" timeout 300 "$CORDON" run -q -b qemu -- touch ran
	[ "$status" -eq 0 ]
	[ -e ran ]
}

@test "an ordinary user has machines too" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: the other tests are that'
	mkdir -p "$BATS_TEST_TMPDIR/n/state" "$BATS_TEST_TMPDIR/n/w"
	chown -R 65534:65534 "$BATS_TEST_TMPDIR/n"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/n/w"
	run env HOME="$BATS_TEST_TMPDIR/n" CORDON_STATE_DIR="$BATS_TEST_TMPDIR/n/state" timeout 300 setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$CORDON" run -q -b qemu -- sh -c 'id -u; touch mine; touch /usr/mine'
	[[ ${lines[0]} == 65534 ]]
	[ "$(stat -c %u mine)" = 65534 ]
	[ "$status" -ne 0 ]
}
