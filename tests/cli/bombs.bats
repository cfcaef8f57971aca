#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Calls that do not want to end or to be small, in the default sandbox: each is stopped, said in the report,
# and nothing of it is left.  Every bomb stops by itself at a size that the machine can bear, and has a
# control that shows the same act within the limit.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	TAG=bomb-$$-$RANDOM # in the arguments of every process of a bomb
	"$CORDON" run -q --backend native -- true || skip 'backend native is not available here'
}

teardown() {
	[ -z "${TAG-}" ] || [ "$(pgrep -fc -- "$TAG")" = 0 ] || {
		pgrep -fa -- "$TAG"
		return 1
	}
}

bomb() { # OPTION... -- CMD...
	run "$CORDON" run -q --backend native --report ../r.json "$@"
}

needs_groups() {
	"$CORDON" run -q --backend native -m 64M --max-processes 8 -- true ||
		skip 'no control group can be made here'
}

# report KEY... prints a value of the report
report() {
	python3 - ../r.json "$@" <<-'PY'
		import json, sys
		value = json.load(open(sys.argv[1]))
		for key in sys.argv[2:]:
		    value = value[int(key)] if isinstance(value, list) else value[key]
		print(json.dumps(value))
	PY
}

@test 'a fork bomb is held at its limit and ends with the call' {
	needs_groups
	cat >fork.py <<-'PY'
		import os, sys, time
		end = time.monotonic() + float(sys.argv[2])
		while time.monotonic() < end:   # every process goes on forking
		    try: os.fork()
		    except OSError: time.sleep(0.01)
		    if sys.argv[3] == 'once': break
	PY
	bomb --max-processes 40 -t 20s -- python3 fork.py "$TAG" 1.5 forever
	[ "$status" = 0 ]
	[ "$(report denied 0 kind)" = '"limit"' ]
	[ "$(report denied 0 target)" = '"max_processes"' ]
	[ "$(report result usage processes)" = 40 ]
	bomb --max-processes 40 -- python3 fork.py "$TAG" 1 once
	[ "$status" = 0 ]
	[ "$(report denied)" = '[]' ]
}

@test 'memory spread over 50 processes: 137, oom, all dead' {
	needs_groups
	cat >eat.py <<-'PY'
		import os, sys, time
		for i in range(49):
		    if os.fork() == 0: break
		x = bytearray(int(sys.argv[2]) << 20)
		for i in range(0, len(x), 4096): x[i] = 1
		time.sleep(1)
	PY
	bomb -m 150M -- python3 eat.py "$TAG" 10
	[ "$status" = 137 ]
	[ "$(report result oom)" = true ]
	[ "$(report result exit_code)" = 137 ]
	[ "$(report denied 0 target)" = '"memory_mb"' ]
	[ "$(report denied 0 remedy)" = '"--memory SIZE"' ]
	[ "$(report result usage memory_peak_kb)" -le 153600 ]
	bomb -m 900M -- python3 eat.py "$TAG" 10
	[ "$status" = 0 ]
	[ "$(report result oom)" = false ]
}

@test 'an output flood is cut and ends the call' {
	bomb --max-output 1M -- sh -c 'yes "$0"' "$TAG"
	[ "$status" = 143 ]
	[ "${#output}" -le 1048576 ]
	[ "$(report result output_truncated)" = true ]
	[ "$(report denied 0 target)" = '"max_output_bytes"' ]
	bomb --max-output 1M -- sh -c 'yes "$0" | head -n 100' "$TAG"
	[ "$status" = 0 ]
	[ "$(report result output_truncated)" = false ]
	[ "${#lines[@]}" = 100 ]
}

@test 'daemons do not outlive their call, however they hid' {
	bomb -- sh -c 'setsid sh -c "exec sleep 61 $0" </dev/null >/dev/null 2>&1 &
		(setsid sh -c "sleep 62 & sleep 63" "$0" >/dev/null 2>&1 &)
		nohup setsid python3 -c "import os, time
		if os.fork() == 0:
		    os.setsid()
		    if os.fork() == 0: time.sleep(64)" "$0" >/dev/null 2>&1 &
		sleep 0.3; echo over' "$TAG"
	[ "$status" = 0 ]
	[ "$output" = over ]
	[ "$(report result duration_ms | cut -d. -f1)" -lt 20000 ]
	# control: without the sandbox one of them is still there
	setsid sh -c 'sleep 65; true' "$TAG" </dev/null >/dev/null 2>&1 3>&- &
	sleep 0.2
	[ "$(pgrep -fc -- "$TAG")" -gt 0 ]
	kill -- -"$(pgrep -of -- "$TAG")"
	sleep 0.1
}

@test 'at the timeout SIGTERM comes first, SIGKILL after the grace' {
	# one that handles it may finish
	bomb -t 300ms --grace 5s -- sh -c 'trap "echo bye; exit 3" TERM; sleep 30 & wait' "$TAG"
	[ "$status" = 124 ]
	[ "$output" = bye ]
	[ "$(report result timed_out)" = true ]
	[ "$(report denied 0 target)" = '"timeout_ms"' ]
	[ "$(report result duration_ms | cut -d. -f1)" -lt 4000 ]
	# one that does not is killed
	bomb -t 1s --grace 500ms -- sh -c 'trap "" TERM; sleep 30' "$TAG"
	[ "$status" = 124 ]
	ms=$(report result duration_ms | cut -d. -f1)
	[ "$ms" -ge 1500 ]
	[ "$ms" -lt 9000 ]
	bomb -t 20s -- sleep 0.1
	[ "$status" = 0 ]
	[ "$(report result timed_out)" = false ]
}

@test 'signals sent to cordon reach the command' {
	for signal in INT TERM HUP; do
		rm -f ready
		# a shell starts what it does not wait for with SIGINT ignored, nohup everything with SIGHUP
		env --default-signal=INT,HUP "$CORDON" run -q --backend native -t 60s -- sh -c 'trap "echo got '$signal' >heard; exit 9" '$signal'
			: >ready; while :; do sleep 0.1; done' "$TAG" 3>&- &
		cordon=$!
		for _ in $(seq 600); do [ -e ready ] && break; sleep 0.05; done
		kill -s "$signal" "$cordon"
		wait "$cordon" && status=0 || status=$?
		[ "$status" = 9 ]
		[ "$(cat heard)" = "got $signal" ]
	done
}

@test 'nothing wakes up while the command sleeps' {
	"$CORDON" run -q --backend native -t 1h -- sleep 30 3>&- &
	cordon=$!
	sleep 0.7
	init=$(pgrep -P "$cordon")
	counts() {
		for pid in "$cordon" "$init"; do
			sed -n 's/.*ctxt_switches:\t//p' "/proc/$pid/status"
		done | tr '\n' ' '
	}
	before=$(counts)
	sleep 2
	after=$(counts)
	kill -9 "$cordon"
	wait "$cordon" || true
	echo "$before; $after"
	[ -n "$before" ]
	[ "$before" = "$after" ]
}

@test 'orphans of the command are reaped' {
	bomb -- sh -c 'for i in $(seq 50); do (sleep 0.01 &) ; done; sleep 1
		n=0; for f in /proc/[0-9]*/stat; do read -r line <"$f"; case $line in *") Z "*) n=$((n+1)) ;; esac; done; echo $n'
	[ "$status" = 0 ]
	[ "$output" = 0 ]
}

@test 'killed with SIGKILL, cordon takes everything along within 100 ms' {
	"$CORDON" run -q --backend native -- sh -c 'setsid sleep 71 & (setsid sh -c "sleep 72; : $0" &) ; : >ready; sleep 73' "$TAG" 3>&- &
	cordon=$!
	for _ in $(seq 600); do [ -e ready ] && break; sleep 0.05; done
	[ "$(pgrep -fc -- "$TAG")" -gt 0 ]
	kill -9 "$cordon"
	python3 - "$TAG" <<-'PY'
		import glob, sys, time
		def alive():
		    n = 0
		    for name in glob.glob('/proc/[0-9]*/cmdline'):
		        try: n += sys.argv[1].encode() in open(name, 'rb').read() and 'python3' not in open(name).read()
		        except OSError: pass
		    return n
		start = time.monotonic()
		while alive() and time.monotonic() - start < 5: time.sleep(0.002)
		took = time.monotonic() - start
		print(took)
		sys.exit(took > 1)   # the bound is 0.1; a busy machine gets more
	PY
	wait "$cordon" || true
}
