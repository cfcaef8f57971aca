#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory, processes and processor time of a call, live, and that nothing of its control group stays behind.
# Every denial has a control that shows the same act within the limit.  No bomb here is unbounded: each
# stops by itself at a size that the machine can bear.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

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

@test 'processor: 20 percent is what a spinner gets' {
	spin 20
	[ "$status" = 0 ]
	[ "$(report result usage user_ms | cut -d. -f1)" -lt 700 ]
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
