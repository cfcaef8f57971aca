#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory, processes and processor time of a call, live, and that nothing of its control group stays behind.
# Every denial has a control that shows the same act within the limit.  No bomb here is unbounded: each
# stops by itself at a size that the machine can bear.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	[ "$(id -u)" = 0 ] || skip 'not root'
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	if [ "$(id -u)" = 0 ]; then
		no_groups
	fi
	[ -z "${N-}" ] || rm -rf "$N"
}

# Every test ends so.  Other calls of this machine may have groups: only those of this test's calls count,
# which are the ones that carry an id of a report here.
no_groups() {
	local report id
	for report in "$BATS_TEST_TMPDIR"/*.json; do
		[ -s "$report" ] || continue
		id=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["id"])' "$report")
		[ "${id#c-}" != "$id" ] || return 1
		[ -z "$(find /sys/fs/cgroup -name "*$id*")" ] || {
			echo "the group of $id is still there"
			return 1
		}
	done
}

limited() { # OPTION... -- CMD...
	run "$CORDON" run --level none --report r.json "$@"
}

# report KEY... prints a value of the report
report() {
	python3 - r.json "$@" <<-'PY'
		import json, sys
		value = json.load(open(sys.argv[1]))
		for key in sys.argv[2:]:
		    value = value[int(key)] if isinstance(value, list) else value[key]
		print(json.dumps(value))
	PY
}

# Touches N MiB in each of P processes and holds them for a moment.
eater() { # MIB PROCESSES
	printf '%s\n' 'import os, sys, time' 'mib, n = int(sys.argv[1]), int(sys.argv[2])' \
		'for i in range(n - 1):' '    if os.fork() == 0: break' \
		'x = bytearray(mib << 20)' 'for i in range(0, len(x), 4096): x[i] = 1' 'time.sleep(1)' >eater.py
	echo "python3 eater.py $1 $2"
}

@test 'memory: one process over the limit is stopped, within it passes' {
	eater 1 1
	limited -m 64M -- python3 eater.py 30 1
	[ "$status" = 0 ]
	[ "$(report result oom)" = false ]
	[ "$(report denied)" = '[]' ]
	[ "$(report result usage memory_peak_kb)" -gt 30000 ]
	limited -m 64M -- python3 eater.py 200 1
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[ "$(report result exit_code)" = 137 ]
	[ "$(report denied 0 kind)" = '"limit"' ]
	[ "$(report denied 0 target)" = '"memory_mb"' ]
	[[ "$(report denied 0 rule)" == *resource_limits.memory_mb* ]]
	[ "$(report denied 0 remedy)" = '"--memory SIZE"' ]
	[ "$(report result usage memory_peak_kb)" -le 65536 ]
}

@test 'memory: spread over 50 processes is stopped as a whole, within it passes' {
	eater 1 1
	limited -m 500M -- python3 eater.py 2 50
	[ "$status" = 0 ]
	limited -m 150M -- python3 eater.py 20 50
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	# not after the second that the survivors would sleep for
	[ "$(pgrep -fc 'eater.py 20 50')" = 0 ]
}

@test 'memory: a victim that the command would survive ends the call all the same' {
	eater 1 1
	limited -m 64M -- sh -c 'python3 eater.py 200 1; echo survived; sleep 20; exit 0'
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[ "$(report result duration_ms | cut -d. -f1)" -lt 15000 ]
}

@test 'memory: another reason for signal 9 is no memory trouble' {
	limited -m 64M -- sh -c 'kill -9 $$'
	[ "$status" = 137 ]
	[ "$(report result oom)" = false ]
	[ "$(report denied)" = '[]' ]
}

@test 'processes: 200 sleepers are cut at 30, within the limit all run' {
	printf '%s\n' 'import os, time' 'n = 0' 'for i in range(int(os.sys.argv[1])):' '    try:' \
		'        if os.fork() == 0:' '            os.setsid()' '            time.sleep(30)' \
		'            os._exit(0)' '        n += 1' '    except OSError: pass' 'print(n)' >forker.py
	limited --max-processes 30 -- python3 forker.py 20
	[ "$status" = 0 ]
	[ "$output" = 20 ]
	[ "$(report denied)" = '[]' ]
	[ "$(report result usage processes)" = 21 ]
	limited --max-processes 30 -- python3 forker.py 200
	[ "$status" = 0 ]
	[ "${lines[0]}" = 29 ]
	[ "$(report denied 0 kind)" = '"limit"' ]
	[ "$(report denied 0 target)" = '"max_processes"' ]
	[ "$(report denied 0 remedy)" = '"--max-processes N"' ]
	[ "$(report result usage processes)" = 30 ]
	# the sleepers have left the process group, and are gone all the same
	[ "$(pgrep -fc 'forker.py 200')" = 0 ]
}

# Spins for 2 s, then prints how often the kernel held the group back.
spin() { # PERCENT
	printf '%s\n' 'sandbox:' '  level: none' '  resource_limits:' "    max_cpu_pct: $1" >p.yaml
	cat >spin.sh <<-'SH'
		v1=$(sed -n 's/^[0-9]*:[a-z,]*cpu[a-z,]*:/\/sys\/fs\/cgroup\/cpu/p' /proc/self/cgroup | grep cordon- | head -n 1)
		v2=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)
		timeout 2 sh -c 'while :; do :; done'
		sed -n 's/^nr_throttled //p' "$([ -e "$v1/cpu.stat" ] && echo "$v1" || echo "$v2")/cpu.stat"
	SH
	run "$CORDON" run -p p.yaml --report r.json -- sh spin.sh
}

@test 'processes: a limit in which not even the sandbox starts is said, with what to do' {
	"$CORDON" run -q -b native -- true || skip "no sandbox here"
	run -125 --separate-stderr "$CORDON" run -b native --max-processes 1 -- true
	[[ $stderr == *'start a process'*hint:*--max-processes* ]]
	run -0 "$CORDON" run -b native --max-processes 3 -- true # the control
}

@test 'processor: 5 percent is what a spinner gets' {
	spin 5 # less than its share of a busy machine
	[ "$status" = 0 ]
	[ "$(report result usage user_ms | cut -d. -f1)" -lt 400 ]
	# it was the limit that held it, not a busy machine
	[ "$output" -gt 0 ]
	# more than one spinner can use
	spin 400
	[ "$status" = 0 ]
	[ "$output" = 0 ]
}

@test 'processor: shares are set' {
	limited --cpu-shares 512 -- sh -c 'd=$(sed -n "s/^[0-9]*:[a-z,]*cpu[a-z,]*:/\/sys\/fs\/cgroup\/cpu/p" /proc/self/cgroup |
		grep cordon- | head -n 1); cat "$d/cpu.shares" 2>/dev/null || cat /sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/cpu.weight'
	[ "$status" = 0 ]
	[ "$output" = 512 ] || [ "$output" = 50 ]
}

@test 'a CKP manifest of level none with resource limits' {
	cat >m.yaml <<-'YAML'
		claw: "0.3.0"
		kind: Sandbox
		metadata:
		  name: limits
		spec:
		  level: none
		  capabilities:
		    network: {mode: allow-all}
		    filesystem: {mode: full}
		    shell: {mode: full}
		  resource_limits:
		    memory_mb: 64
		    cpu_shares: 512
		    timeout_ms: 20000
	YAML
	eater 1 1
	run "$CORDON" run -p m.yaml --report r.json -- python3 eater.py 200 1
	echo "$output"
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[[ "$(report denied 0 rule)" == *m.yaml* ]]
	run "$CORDON" run -p m.yaml --report r.json -- true
	[ "$status" = 0 ]
}

@test 'a timeout ends daemons too' {
	limited -m 64M -t 1s --grace 200ms -- sh -c 'setsid sleep 47.11 & sleep 60'
	[ "$status" = 124 ]
	[ "$(report result timed_out)" = true ]
	[ "$(pgrep -fc 'sleep 47\.11')" = 0 ]
	# control: with neither limit nor timeout the daemon is what it is called
	limited -- sh -c 'setsid sleep 47.12 >/dev/null 2>&1 & sleep 0.2'
	[ "$status" = 0 ]
	run pgrep -f 'sleep 47\.12'
	[ "$status" = 0 ]
	kill "$output"
}

@test 'cordon killed at once: the next call removes what it left' {
	"$CORDON" run --level none -m 64M -- sh -c 'echo $CORDON_ID >id; setsid sleep 48.11 & sleep 60' 3>&- &
	cordon=$!
	for _ in $(seq 100); do
		[ -s id ] && pgrep -f 'sleep 48\.11' >/dev/null && break
		sleep 0.05
	done
	id=$(cat id)
	[ -n "$(find /sys/fs/cgroup -name "cordon-$id")" ]
	# another call leaves it alone as long as its cordon lives
	limited -m 64M -- true
	[ "$status" = 0 ]
	[ -n "$(find /sys/fs/cgroup -name "cordon-$id")" ]
	kill -9 "$cordon"
	wait "$cordon" || true
	limited -m 64M -- true
	[ "$status" = 0 ]
	[ -z "$(find /sys/fs/cgroup -name "cordon-$id")" ]
	[ "$(pgrep -fc 'sleep 48\.11')" = 0 ]
}

@test 'a call in a call has its own limit' {
	eater 1 1
	limited -m 256M -- "$CORDON" run --level none -m 64M -- python3 eater.py 30 1
	[ "$status" = 0 ]
	[ "$(report result oom)" = false ]
	limited -m 256M -- "$CORDON" run --level none -m 64M -- python3 eater.py 150 1
	[ "$status" = 137 ]
	[ "$(report result oom)" = false ] # that was the inner one's
}

@test 'a command that is not there leaves no group' {
	run -127 "$CORDON" run --level none --report r.json -m 64M -- /nonexistent/command
	limited -m 64M -- /etc/passwd
	[ "$status" = 126 ]
}

@test 'a limit that nothing can live in is memory trouble, not a failure of ours' {
	limited -m 4K -- true
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
}

# Somebody who may not make control groups.
as_nobody() { # CMD...
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$N" CORDON_CONFIG_DIR=/nonexistent \
		CORDON_STATE_DIR="$N/state" "$@"
}

# A directory of nobody's with a policy: 100 MiB by process.
nobody_place() {
	N=$(mktemp -d /tmp/cordon-limits-XXXXXX)
	mkdir "$N/work"
	printf '%s\n' 'sandbox:' '  resource_limits: {memory_mb: 100, memory_scope: process}' >"$N/process.yaml"
	cat >"$N/work/eater.py" <<-'PY'
		import mmap, os, sys, time
		mib, n, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
		for i in range(n - 1):
		    if os.fork() == 0: break
		try:
		    x = mmap.mmap(-1, mib << 20) if kind == 'shared' else bytearray(mib << 20)
		    for i in range(0, len(x), 4096): x[i] = 1
		except MemoryError:
		    sys.exit(3)
		time.sleep(1.5)
	PY
	cp "$CORDON" "$N/cordon"
	chmod 755 "$N" "$N/work" "$N/cordon"
	chown -R 65534:65534 "$N"
	as_nobody "$N/cordon" run -q --backend native -C "$N/work" -- true || skip 'backend native is not available to nobody'
}

nobody_run() { # OPTION... -- CMD...
	run as_nobody "$N/cordon" run -q -C "$N/work" --report "$N/r.json" "$@"
	cp "$N/r.json" r.json 2>/dev/null || true
}

@test 'memory without control groups: by process only if the policy says so, and then it is degraded' {
	nobody_place
	printf '%s\n' 'sandbox:' '  resource_limits: {memory_mb: 100}' >"$N/tree.yaml"
	nobody_run -p "$N/tree.yaml" -- true
	[ "$status" = 125 ]
	[[ "$output" == *memory-tree* ]]
	[[ "$output" == *'memory_scope: process'* ]]
	nobody_run -p "$N/process.yaml" -- python3 eater.py 30 1 private
	[ "$status" = 0 ]
	[ "$(report isolation achieved degraded)" = '["memory-tree"]' ]
	[ "$(report result usage memory_peak_kb)" -gt 30000 ]
	# a project file may not permit it
	cp "$N/process.yaml" "$N/work/.cordon.yaml"
	nobody_run -- true
	[ "$status" = 125 ]
	[[ "$output" == *memory_scope* ]]
}

@test 'memory without control groups: one process, shared memory, and a sum over 50 processes are stopped' {
	nobody_place
	# its own allocations fail, which it may handle
	nobody_run -p "$N/process.yaml" -- python3 eater.py 200 1 private
	[ "$status" = 3 ]
	[ "$(report result oom)" = false ]
	nobody_run -p "$N/process.yaml" -- python3 eater.py 300 1 shared
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[ "$(report denied 0 target)" = '"memory_mb"' ]
	nobody_run -p "$N/process.yaml" -- python3 eater.py 40 50 private
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[ "$(pgrep -fc 'eater.py 40 50 private')" = 0 ]
	# 20 processes that share most of their pages are not 20 times their pages
	nobody_run -p "$N/process.yaml" -- python3 eater.py 1 20 private
	[ "$status" = 0 ]
	# controls: without the limit each of them passes
	nobody_run -- python3 eater.py 300 1 shared
	[ "$status" = 0 ]
	nobody_run -- python3 eater.py 10 50 private
	[ "$status" = 0 ]
}

@test 'memory without control groups: what no limit of a process counts is closed or sized' {
	nobody_place
	local memfd='import os; os.memfd_create("x")' shm='import ctypes, os
l = ctypes.CDLL(None, use_errno=True)
os._exit(0 if l.shmget(0, 4096, 0o1600) >= 0 else ctypes.get_errno())'
	nobody_run -- python3 -c "$memfd"
	[ "$status" = 0 ]
	nobody_run -p "$N/process.yaml" -- python3 -c "$memfd"
	[ "$status" = 1 ]
	[[ "$output" == *'not permitted'* ]]
	nobody_run -- python3 -c "$shm"
	[ "$status" = 0 ]
	nobody_run -p "$N/process.yaml" -- python3 -c "$shm"
	[ "$status" != 0 ]
	for dir in /tmp /dev/shm; do
		nobody_run -- dd if=/dev/zero of=$dir/x bs=1M count=40 status=none
		[ "$status" = 0 ]
		nobody_run -p "$N/process.yaml" -- dd if=/dev/zero of=$dir/x bs=1M count=40 status=none
		[ "$status" = 1 ]
		[[ "$output" == *'No space left'* ]]
	done
}

@test 'processes without control groups: the limit counts this call alone' {
	nobody_place
	local forks='for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 & done; wait'
	# others of the same user do not count
	setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; wait' 3>&- &
	local others=$!
	nobody_run --max-processes 14 -- sh -c "$forks"
	[ "$status" = 0 ]
	[ -z "$output" ]
	nobody_run --max-processes 10 -- sh -c "$forks"
	[[ "$output" == *'fork'* ]]
	kill "$others"
	[ "$(report isolation achieved degraded)" = '[]' ]
}

@test 'without control groups a limit is refused with what to do' {
	run unshare -m --propagation private sh -c 'mount -t tmpfs none /sys/fs/cgroup &&
		exec "$0" run --level none -m 64M -- true' "$CORDON"
	[ "$status" = 125 ]
	[[ "$output" == *'memory-tree'* ]]
	[[ "$output" == *'control group'* ]]
	# as somebody else: the fix is named
	cd /
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ CORDON_CONFIG_DIR=/nonexistent \
		CORDON_STATE_DIR=/tmp/cordon-nobody-$$ "$CORDON" run --level none -m 64M -- true
	rm -rf "/tmp/cordon-nobody-$$"
	[ "$status" = 125 ]
	[[ "$output" == *'systemd-run --user --scope -p Delegate=yes'* ]]
}
