#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Sandboxes that are paused, by the freezer of either version or by signals, and a keeper that waits for nobody.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load scene
load sandboxes

@test "sandbox: the freezer holds what a timer would continue, and every way is told" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	cd "$PLACE/self/w"
	cat >timer.py <<'END'
import signal, time
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while True:
    with open("ticks", "a") as f:
        f.write("x")
    time.sleep(0.002)
END
	for way in cgroup2 cgroup1 signals; do
		case $way in
		cgroup2) [ -n "$(mounts_of cgroup2)" ] || continue ;;
		cgroup1) [ -n "$(mounts_of freezer)" ] || continue ;;
		esac
		case $way in
		cgroup2) id=$(box self create) ;;
		cgroup1) id=$(create_without cgroup2) ;;
		signals) id=$(create_without cgroup2 freezer) ;;
		esac
		[ "$(field self "$id" pauses_by)" = "$way" ]
		box self exec -c 'python3 timer.py >/dev/null 2>&1 & for i in $(seq 20); do while :; do :; done & done' "$id" 2>/dev/null
		until_true box self exec "$id" test -s ticks
		ticks=$PLACE/self/state/sandboxes/$id/upper/ticks
		box self pause "$id"
		[ "$(field self "$id" state)" = paused ]
		before=$(stat -c %s "$ticks")
		sleep 0.3
		[ "$(stat -c %s "$ticks")" = "$before" ]
		[ "$(box self diff "$id")" = "added: ticks" ]
		[ "$(field self "$id" state)" = paused ] # diff left it so
		box self resume "$id"
		until_true eval '[ "$(stat -c %s "$ticks")" -gt "$before" ]'
		box self pause "$id"
		keeper=$(field self "$id" keeper)
		first=$(pgrep -P "$keeper")
		kill -9 "$keeper"
		[ "$(field self "$id" state)" = stopped ] # and whoever asks ends what version 1 keeps frozen
		until_true gone "$first"
		box self rm --force "$id"
		[ -z "$(find /sys/fs/cgroup -name "cordon-$id*" 2>/dev/null)" ]
		id=$(box self create)
		box self pause "$id"
		box self rm --force "$id"
		[ -z "$(find /sys/fs/cgroup -name "cordon-$id*" 2>/dev/null)" ]
	done
}

@test "sandbox: who connects and says nothing, or is still being judged, holds up nobody" {
	cd "$PLACE/self/w"
	id=$(box self create)
	sock=$PLACE/self/run/cordon/$id.sock
	# More than there is room for; they stay until we end them.
	python3 -c '
import socket, sys, time
held = []
for _ in range(80):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    held.append(s)
print("there", flush=True)
time.sleep(60)' "$sock" >"$PLACE/there" 3>&- &
	idlers=$!
	until_true grep -q there "$PLACE/there"
	from=$(date +%s%N)
	[ "$(box self exec "$id" echo yes)" = yes ]
	[ "$(field self "$id" state)" = running ]
	box self pause "$id"
	box self resume "$id"
	took=$((($(date +%s%N) - from) / 1000000))
	kill "$idlers"
	echo "# with idle connections: $took ms" >&3
	[ "$took" -lt 10000 ] # to wait two seconds for each of them would take minutes
	# A judgement that takes longer than a connection may be silent: the question is not answered.
	echo 'policy: {rules: [{id: ask, action: require-approval, scope: all, approval: {timeout_seconds: 3, default_if_timeout: allow}}]}' >"$PLACE/ask.yaml"
	slow=$(box self create -p "$PLACE/ask.yaml")
	as self env XDG_RUNTIME_DIR="$PLACE/self/run" python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while got := os.read(fd, 4096):
        text += got
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(text.decode(), code)
sys.exit(code)' "$PLACE/cordon" sandbox exec "$slow" touch judged >"$PLACE/judged" 3>&- &
	caller=$!
	sleep 0.5
	from=$(date +%s%N)
	[ "$(field self "$slow" state)" = running ]
	box self pause "$slow"
	box self resume "$slow"
	took=$((($(date +%s%N) - from) / 1000000))
	wait "$caller" || {
		cat "$PLACE/judged"
		false
	}
	[ "$took" -lt 10000 ]
	[ "$(box self diff "$slow")" = "added: judged" ]
}

@test "sandbox: a call that was let through waits a moment for one that is being saved" {
	cd "$PLACE/self/w"
	echo 'policy: {rules: [{id: ask, action: require-approval, scope: all, approval: {timeout_seconds: 2, default_if_timeout: allow}}]}' >"$PLACE/ask.yaml"
	id=$(box self create -p "$PLACE/ask.yaml")
	for resumes in yes no; do
		as self env XDG_RUNTIME_DIR="$PLACE/self/run" python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
try:
    while got := os.read(fd, 4096):
        os.write(1, got)
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$PLACE/cordon" sandbox exec "$id" touch "$resumes" >"$PLACE/judged" 3>&- &
		caller=$!
		sleep 0.5
		box self pause "$id"
		sleep 2.2 # it has asked by now
		[ "$resumes" = no ] || box self resume "$id"
		code=0
		wait "$caller" || code=$?
		[ "$code" -eq "$([ "$resumes" = yes ] && echo 0 || echo 125)" ]
	done
	grep -q "is paused" "$PLACE/judged"
	box self resume "$id"
	[ "$(box self diff "$id")" = "added: yes" ]
}

@test "sandbox: paused means stopped, and survives" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		id=$(box "$who" create)
		box "$who" exec -c 'for i in $(seq 50); do while :; do :; done & done; echo $! >last' "$id" 2>/dev/null
		box "$who" pause "$id"
		[ "$(field "$who" "$id" state)" = paused ]
		first=$(pgrep -P "$(field "$who" "$id" keeper)")
		by=$(field "$who" "$id" pauses_by)
		used() {
			local pid sum=0
			for pid in $(pgrep -P "$first"); do
				[ "$by" != signals ] || grep -q '^[0-9]* (.*) T' "/proc/$pid/stat" || echo running
				sum=$((sum + $(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }')))
			done
			echo "$sum"
		}
		before=$(used)
		[[ $before != *running* ]]
		sleep 0.3
		[ "$(used)" = "$before" ]
		run box "$who" exec "$id" true
		[ "$status" -eq 125 ]
		[[ $output == *"is paused"*"resume"* ]]
		box "$who" pause "$id" # again: nothing
		box "$who" resume "$id"
		[ "$(field "$who" "$id" state)" = running ]
		until_true eval '[ "$(used)" != "$before" ]'
		box "$who" rm --force "$id"
	done
}

@test "sandbox: what a timer continues is not called paused" {
	cd "$PLACE/self/w"
	# SIGCONT after so many seconds, again and again; a file that grows says that it runs.
	cat >timer.py <<'END'
import ctypes, signal, sys, time
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
event = (ctypes.c_int * 16)(0, 0, 18, 0)  # sigev_signo: SIGCONT, sigev_notify: SIGEV_SIGNAL
for i in range(200):  # each stop throws away what is pending
    timer = ctypes.c_void_p()
    ns = int(float(sys.argv[1]) * 1e9) + i * 1370000
    spec = (ctypes.c_long * 4)(ns // 10**9, ns % 10**9, ns // 10**9, ns % 10**9)
    assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
    assert libc.timer_settime(timer, 0, spec, None) == 0
while True:
    with open("ticks", "a") as f:
        f.write("x")
    time.sleep(0.002)
END
	grown() {
		local before
		before=$(stat -c %s ticks)
		sleep 0.3
		[ "$(stat -c %s ticks)" -gt "$before" ]
	}
	python3 timer.py 0.001 &
	pid=$!
	until_true test -s ticks
	kill -STOP "$pid"
	run grown # the stop alone does not hold it
	kill -9 "$pid"
	[ "$status" -eq 0 ]
	rm ticks
	id=$(create_without cgroup2 freezer)
	box self exec -c 'python3 timer.py 0.001 >/dev/null 2>&1 &' "$id"
	until_true box self exec "$id" test -s ticks
	cd "$PLACE/self/state/sandboxes/$id/upper"
	for verb in pause diff snapshot; do
		# Refused, or it holds.
		run box self "$verb" "$id"
		echo "$verb: $status $output"
		[ "$status" -eq 0 ] || [[ $status -eq 125 && $output == *"go on running"* ]]
		[ "$(field self "$id" state)" = running ] || ! grown || return 1
		box self resume "$id"
	done
	cd "$PLACE/self/w"
	box self rm --force "$id"
	# A slow one is found by whoever asks next.
	id=$(create_without cgroup2 freezer)
	box self exec -c 'python3 timer.py 2 >/dev/null 2>&1 &' "$id"
	until_true box self exec "$id" test -s ticks
	until_true box self pause "$id"
	until_true eval '[ "$(field self "$id" state)" = running ]'
	box self logs "$id" | grep -q "is not paused"
}

# How long pausing and resuming 50 busy processes takes, at best of some tries: the machine may be busy, too.
@test "sandbox: fifty processes are paused in no time" {
	cd "$PLACE/self/w"
	id=$(box self create)
	box self exec -c 'for i in $(seq 50); do while :; do sleep 0.01; done & done' "$id" >/dev/null 2>&1
	best=1000000
	for _ in $(seq 8); do
		from=$(date +%s%N)
		box self pause "$id"
		took=$((($(date +%s%N) - from) / 1000))
		box self resume "$id"
		[ "$took" -ge "$best" ] || best=$took
	done
	echo "# pause of 50 processes, the whole command: $best us" >&3
	[ "$best" -lt 500000 ] # 50 ms are meant; this is a test and no measurement
}
