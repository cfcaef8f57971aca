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

@test "a processor that once ran machines is not claimed when /dev/kvm cannot be opened" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot take /dev/kvm away'
	cp -r "$CORDON_STATE_DIR" state
	chmod 700 state
	kept=0
	for store in state/vm/*/; do
		printf '%s+\n' "$(cat /proc/sys/kernel/random/boot_id)" >"$store/kvm"
		kept=$((kept + 1))
	done
	[ "$kept" -gt 0 ]
	mkdir strict
	# without the device, with a policy that permits no emulation
	run env CORDON_STATE_DIR="$PWD/state" CORDON_CONFIG_DIR="$PWD/strict" timeout 120 unshare -m --propagation private sh -c '
		if [ -e /dev/kvm ]; then
			mount --bind /dev/kvm /dev/kvm && mount -o remount,bind,nodev /dev/kvm || exit 99
		fi
		exec "$0" run -b qemu -- touch ran' "$CORDON"
	[ "$status" -eq 125 ]
	[[ $output == *unemulated* ]]
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

@test "what is granted beside the workspace can be written wherever it stands, also after nobody looked at it" {
	place=$(mktemp -d /var/tmp/cordon-qemu-XXXXXX)
	mkdir "$place/w" "$place/rw" "$place/ro"
	echo old >"$place/file"
	cd "$place/w"
	echo ro >"$place/rofile"
	run vm -w "$place/rw" -w "$place/file" -r "$place/ro" -r "$place/rofile" -- sh -c 'cd /; sleep 1; echo x >"$1/rw/new" && cat "$1/rofile" && mkdir "$1/rw/d" && mv "$1/rw/d" "$1/rw/e" &&
		echo new >"$1/file" && echo x >"$1/w/mine" && echo written; echo x >"$1/ro/new" || echo x >"$1/new" || echo x >"$1/rofile" || echo refused' sh "$place"
	found=$(cd "$place" && find . | sort | tr '\n' ' ')
	content=$(cat "$place/file")
	cd / && rm -rf "$place"
	[ "$status" = 0 ]
	[[ $output == ro*written*refused ]]
	[ "$found" = '. ./file ./ro ./rofile ./rw ./rw/e ./rw/new ./w ./w/mine ' ]
	[ "$content" = new ]
}

@test "what is granted can be executed, and a cache written, wherever they stand" {
	place=$(mktemp -d /var/tmp/cordon-qemu-XXXXXX)
	mkdir -p "$place/w/bin" "$place/ro"
	for at in w/bin ro w; do
		cp /bin/true "$place/$at/t"
	done
	cd "$place/w"
	run vm --write-xor-execute --exec "$place/w/bin" -r "$place/ro" --cache npm -- sh -c 'cd /; sleep 1; "$1/w/bin/t" && "$1/ro/t" && echo executed
		"$1/w/t" || echo refused; echo x >"$npm_config_cache/f" && echo cached' sh "$place"
	again=$(vm --cache npm -- sh -c 'cat "$npm_config_cache/f"')
	cd / && rm -rf "$place"
	echo "$output"
	[[ $output == executed*refused*cached ]]
	[ "$again" = x ]
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

@test "limits of a tree: memory of all its processes together, and their share of the processor" {
	# Each of four holds little.
	hold='
import os, time
children = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        held = bytearray(40 << 20)
        time.sleep(4)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("held")'
	run vm --report r.json -m 100M -- /usr/bin/python3 -c "$hold"
	[ "$status" -eq 137 ]
	[[ $output != *held* ]]
	jq -e '.result.oom' r.json
	[ "$(vm -m 512M -- /usr/bin/python3 -c "$hold")" = held ]
	# Two that only count: of the processor time that passes they get what the limit says, in the guest's own clock,
	# so that a busy host changes nothing.  Periods are 100 ms: some of one at both ends are no news.
	spin='
import os, time
began, before = time.monotonic(), time.process_time()
pid = os.fork()
while time.monotonic() - began < 5:
    pass
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
used = time.process_time() - before + sum(os.times()[2:4])
print(round(100 * used / (time.monotonic() - began)))'
	free=$(vm -- /usr/bin/python3 -c "$spin")
	held=$(vm --cpu-percent 25 -- /usr/bin/python3 -c "$spin")
	echo "without a limit $free %, with 25 % $held %"
	[ "$free" -ge 80 ]
	[ "$held" -ge 15 ]
	[ "$held" -le 35 ]
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

@test "output that does not arrive is an error, a reader that goes is none, and a directory is no stream" {
	# the machine has taken it from the command before anybody can know
	for to in out err; do
		code=0
		if [ $to = out ]; then
			vm -- echo lost >/dev/full 2>said || code=$?
		else
			vm --report report.json -- sh -c 'echo lost >&2; echo kept' 2>/dev/full >said || code=$?
			grep -q kept said
			! jq -e '.result.exit_code == 0' report.json || return 1
			continue
		fi
		[ "$code" = 125 ]
		grep -q "pass the command's output on: No space left on device" said
	done
	[ "$code" = 125 ]
	vm -- echo kept >said # the control
	[ "$(cat said)" = kept ]
	ended=$(
		vm -- yes | head -1 >said
		echo "${PIPESTATUS[*]}"
	)
	[ "$ended" = '141 0' ]
	run -125 --separate-stderr vm -- touch ran </
	[[ "$stderr" == *'descriptor 0 is a directory'* ]]
	[ ! -e ran ]
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
	# who breaks out of it cannot set the host's kernel: its /proc is read-only, and this one is not
	[[ $(awk '$5 == "/proc" { print $6 }' "/proc/$machine/mountinfo") == ro,* ]]
	[[ $(awk '$5 == "/proc" { print $6 }' /proc/self/mountinfo | head -n 1) == rw,* ]]
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
	grep -q 'what the command ran in was lost' err
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

@test "copy-on-write: the set is kept, shown and committed" {
	echo old >file
	vm --workspace cow --report r.json -- sh -c 'echo new >file; echo more >added; cat file'
	[ "$(cat file)" = old ]
	[ ! -e added ]
	id=$(jq -r .sandbox r.json)
	run "$CORDON" sandbox diff "$id"
	[ "$output" = $'added: added\nmodified: file' ]
	"$CORDON" sandbox commit "$id"
	[ "$(cat file added)" = $'new\nmore' ]
	run vm --rollback-on-failure -- sh -c 'echo worse >file; rm added; exit 3'
	[ "$status" -eq 3 ]
	[ "$(cat file added)" = $'new\nmore' ]
}

@test "a checkpoint before a SUSPICIOUS call, and what the machine did is undone" {
	echo one >file
	printf 'sandbox:\n  vm: {emulation: true}\nenforcement:\n  enabled: true\n  adapter: qemu\n  suspicious:\n    Bash: {filesystem_writable: ["%s"]}\n' \
		"$PWD" >../policy.yaml
	timeout 120 "$CORDON" run -q -p ../policy.yaml --report ../r.json -c 'echo two >file; mkdir d; echo x >d/y; rm -rf ~/nothing'
	jq -e '.verdict.verdict == "SUSPICIOUS" and .isolation.achieved.backend == "qemu"' ../r.json
	[ "$(cat file)" = two ]
	"$CORDON" snapshot restore "$(jq -r .checkpoint ../r.json)"
	[ "$(cat file)" = one ]
}

@test "secrets: by the environment and by a file, and not in the output" {
	printf %s 'hunter2-4f9c1d-long-enough' | "$CORDON" secret set TOKEN
	sum=$(printf %s 'hunter2-4f9c1d-long-enough' | sha256sum)
	for method in environment file-mount; do
		printf 'sandbox:\n  vm: {emulation: true}\n  capabilities:\n    secrets: {injection: %s}\n' $method >$method.yaml
	done
	run vm -p environment.yaml --write "$PWD" --secret TOKEN -- sh -c 'printf %s "$TOKEN" | sha256sum; echo "$TOKEN"'
	echo "$output"
	[ "${lines[0]}" = "$sum" ]
	[[ $output == *'[hidden: TOKEN]'* ]]
	run vm -p file-mount.yaml --write "$PWD" --secret TOKEN -- sha256sum /run/cordon/secrets/TOKEN
	echo "$output"
	[[ $output == "${sum% *}"* ]]
	run ! grep -rlF hunter2-4f9c1d "$CORDON_STATE_DIR/vm" "$PWD" # neither in a template nor in the workspace
}

@test "a terminal inside: its name, size, keys and end" {
	export TERM=xterm LC_ALL=C.UTF-8 BACKEND=qemu TERM_WAIT=100
	for case in tty size interrupt control_d colours; do
		python3 "$BATS_TEST_DIRNAME/term.py" $case
	done
}

@test "a network only through the proxy: allowed, refused and written down" {
	mkdir web
	echo served >web/index.html
	(cd web && exec python3 -u -m http.server 0 --bind 127.0.0.1) >port 2>/dev/null &
	server=$!
	until_true 10 grep -q 'port [0-9]' port
	port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' port)
	[ "$(curl -sS "http://127.0.0.1:$port/")" = served ]
	run vm --allow-host "127.0.0.1:$port" --allow-private 127.0.0.0/8 --report yes.json -- curl -sS -m 30 --noproxy '' "http://127.0.0.1:$port/"
	allowed=$output
	run vm --allow-host other.example --allow-private 127.0.0.0/8 --report no.json -- curl -sS -m 30 --noproxy '' "http://127.0.0.1:$port/"
	kill $server
	[ "$allowed" = served ]
	jq -e '.network.allowed == 1 and .isolation.achieved.backend == "qemu"' yes.json
	[[ $output != served ]]
	jq -e '.network.blocked >= 1 and .denied[0].kind == "host"' no.json
	run "$CORDON" run -b qemu --net allow-all -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *'no network but that of an allowlist'* ]]
	[ ! -e ran ]
}

@test "an emulator that hangs ends at the time limit, and nothing is left" {
	"$CORDON" run -q -b qemu -t 20s --grace 1s -- sh -c 'echo up; sleep 100' >out 2>err &
	call=$!
	until_true 60 grep -q up out
	machine=$(machines $call)
	kill -STOP "$machine"
	code=0
	wait $call || code=$?
	[ "$code" -eq 124 ]
	until_true 10 test ! -d "/proc/$machine"
}

@test "a kernel that is damaged is named, and a machine that is killed while it boots leaves nothing" {
	mkdir k
	cp -r "$CORDON_VM_KERNEL/boot" k/
	ln -s "$CORDON_VM_KERNEL/lib" k/lib
	truncate -s 2M k/boot/vmlinuz-*
	run env CORDON_VM_KERNEL="$PWD/k" "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *'is damaged'*'install its package again'* ]]
	[ ! -e ran ]
	cp -r "$CORDON_STATE_DIR" state
	rm state/vm/*/*.ram state/vm/*/*.state
	CORDON_STATE_DIR=$PWD/state "$CORDON" run -b qemu -- touch ran >out 2>&1 &
	call=$!
	until_true 30 eval '[ -n "$(machines $call)" ]'
	kill -9 "$(machines $call)"
	code=0
	wait $call || code=$?
	[ "$code" -eq 125 ]
	[ ! -e ran ]
	run ! ls state/vm/*/draft.ram state/vm/*/*.ram
}

@test "what was made of a kernel and is damaged is told, thrown away and made anew" {
	for file in ram initrd kernel; do
		rm -rf state
		cp -r --sparse=always "$CORDON_STATE_DIR" state
		chmod 700 state
		truncate -s 1M state/vm/*/*"$file"
		if [ $file != ram ]; then
			rm state/vm/*/*.ram state/vm/*/*.state
			run env CORDON_STATE_DIR="$PWD/state" timeout 120 "$CORDON" run -b qemu -- touch ran
			echo "$file: $status: $output"
			[ "$status" -eq 125 ]
			[[ $output == *'what was made of the kernel was thrown away; try again'* ]]
			[ ! -e ran ]
		fi
		run env CORDON_STATE_DIR="$PWD/state" timeout 120 "$CORDON" run -q -b qemu -- touch ran
		echo "$file: $status: $output"
		[ "$status" -eq 0 ]
		rm ran
	done
	# somebody else's is no template
	chmod 644 state/vm/*/*.state
	run env CORDON_STATE_DIR="$PWD/state" timeout 120 "$CORDON" run -b qemu -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *"remove 'vm' there"* ]]
	[ ! -e ran ]
}

@test "a state directory without room: one line with what to do" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot make a small file system'
	mkdir small
	for size in 30m 120m; do # not enough for the kernel, and for what is saved
		run timeout 120 unshare -m --propagation private sh -c '
			mount -t tmpfs -o mode=700,size=$2 small small && exec env CORDON_STATE_DIR="$PWD/small" "$1" run -b qemu -- touch ran' \
			sh "$CORDON" $size
		echo "$size: $output"
		[ "$status" -eq 125 ]
		[[ $output == *'No space left'*'CORDON_STATE_DIR'* ]]
		[ ! -e ran ]
	done
}

@test "an emulator that does not start, and /dev/kvm that hangs: told, and nothing weaker runs" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot stand in for the emulator'
	cat >stand.c <<-'END'
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			if (access("/usr/bin/yes.broken", F_OK) == 0)
				return 3;
			for (int i = 0; i < argc; i++)
				while (strstr(argv[i], "accel=kvm"))
					pause();
			return execv("/usr/bin/yes", argv); /* where the emulator stands here */
		}
	END
	cc -o stand stand.c
	cp stand broken
	printf 'int main(void) { return 3; }' | cc -o broken -xc -
	for fault in broken stand; do
		cp -r "$CORDON_STATE_DIR" state-$fault
		rm state-$fault/vm/*/kvm state-$fault/probe-qemu
		code=0
		timeout 200 unshare -m --propagation private sh -c '
			mount --bind /usr/bin/qemu-system-x86_64 /usr/bin/yes && mount --bind "$2" /usr/bin/qemu-system-x86_64 &&
			exec env CORDON_STATE_DIR="$PWD/state-$2" "$1" run --report $2.json -b qemu -- touch ran-$2' sh "$CORDON" $fault >$fault.out 2>&1 || code=$?
		echo "$fault: $code: $(cat $fault.out)"
		if [ $fault = broken ]; then
			[ "$code" -eq 125 ]
			[[ $(cat broken.out) == *qemu-system-x86_64* ]]
			[ ! -e ran-broken ]
		else
			[ "$code" -eq 0 ]
			[ -e ran-stand ]
			[ ! -c /dev/kvm ] || jq -e '.isolation.achieved.degraded == ["unemulated"]' stand.json
		fi
	done
	run ! pgrep -f "$PWD/stand"
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
