#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Sandboxes that stay under the other backends that can hold them: the same commands, and the same answers.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load scene
load sandboxes

# each FUNCTION: for every user and backend, in the user's workspace, which is empty.  Sets STAY and who.
each() {
	for STAY in bwrap landlock; do
		for who in $WHO; do
			cd "$PLACE/$who/w" || return
			find . -mindepth 1 -delete
			"$1" || {
				echo "$1 under $STAY as $who"
				return 1
			}
			box "$who" cleanup --max-age 0 >/dev/null
			[ -z "$(keepers "$who")" ]
			[ -z "$(find "$PLACE/$who/run/cordon" "$PLACE/$who/state/keepers" "$PLACE/$who/state/sandboxes" -mindepth 1)" ]
		done
	done
}

# Each line is one that must hold: `set -e` is off where a function is asked.
made() {
	id=$(box "$who" create) && [[ $id =~ ^sb-[0-9a-f]{12}$ ]] || return 1
	[ "$(field "$who" "$id" backend)" = "$STAY" ] || return 1
	[ "$(field "$who" "$id" state)" = running ] || return 1
	status=0
	box "$who" exec "$id" -- sh -c 'echo out; echo err >&2; exit 7' >"$PLACE/out" 2>"$PLACE/err" || status=$?
	[ "$status" -eq 7 ] && [ "$(cat "$PLACE/out")" = out ] && grep -q '^err$' "$PLACE/err" || return 1
	[ "$(echo text | box "$who" exec "$id" cat)" = text ] || return 1
	box "$who" exec -C . --json "$id" echo hello >"$PLACE/report" || return 1
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["result"]["stdout"] == "hello\n" and d["isolation"]["achieved"]["backend"] == sys.argv[2], d' "$PLACE/report" "$STAY" || return 1
	status=0
	box "$who" exec "$id" nosuch 2>/dev/null || status=$?
	[ "$status" -eq 127 ] || return 1
	box "$who" rm "$id"
}

@test "sandbox of another backend: made, entered, removed" {
	each made
}

background() {
	id=$(box "$who" create -e SET=1) || return 1
	box "$who" exec -c 'echo first; (while :; do echo tick; sleep 0.05; done) & echo $! >pid' "$id" | grep -q first || return 1
	until_true eval 'box "$who" logs "$id" | grep -q tick' || return 1
	# The calls see and signal what the others left, and have one environment.
	[ "$(box "$who" exec -c 'kill $(cat pid) && echo "$SET"' "$id")" = 1 ] || return 1
	box "$who" exec -c 'sleep 4321 >/dev/null 2>&1 & echo $! >pid' "$id" || return 1
	box "$who" exec -c 'kill -0 $(cat pid)' "$id" || return 1
	# A home and a place for files that are its own, whatever a call says.
	box "$who" exec -e HOME="$PLACE/$who/out" -c 'echo x >"$HOME/f" && echo x >"${TMPDIR:-/tmp}/f" && ls "$HOME/f"' "$id" >/dev/null 2>&1 || [ "$STAY" = bwrap ] || return 1
	[ ! -e "$PLACE/$who/out/f" ] && [ ! -e /tmp/f ] || return 1
	box "$who" rm --force "$id"
}

@test "sandbox of another backend: processes go on between calls, and what they print is kept" {
	each background
}

same() {
	local script='grep -E "^(Cap|Seccomp|NoNew)" /proc/self/status; for n in mnt pid net ipc user; do readlink /proc/self/ns/$n; done'
	id=$(box "$who" create) || return 1
	box "$who" exec "$id" sh -c "$script" >"$PLACE/one" || return 1
	box "$who" exec "$id" sh -c "$script" >"$PLACE/two" || return 1
	diff "$PLACE/one" "$PLACE/two" || return 1
	# As in a run under the same backend: held as tight, not tighter.
	as "$who" "$PLACE/cordon" run -q --backend "$STAY" -- sh -c 'grep -E "^(Cap|Seccomp:|NoNew)" /proc/self/status' >"$PLACE/run" || return 1
	grep -E '^(Cap|Seccomp:|NoNew)' "$PLACE/one" | diff - "$PLACE/run" || return 1
	mkdir -p "$PLACE/$who/home/.ssh"
	echo secret >"$PLACE/$who/home/.ssh/id_rsa"
	scene_give "$who"
	for script in \
		"echo x >$PLACE/$who/out/f" \
		"cat $PLACE/$who/home/.ssh/id_rsa" \
		"echo x >.bashrc" \
		"kill -0 $$" \
		"echo x >$PLACE/$who/state/keepers/f" \
		"python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(\"$PLACE/$who/run/cordon/$id.sock\")'" \
		"python3 -c 'import socket; s = socket.create_connection((\"127.0.0.1\", $(cat "$PLACE/port")))'"; do
		as "$who" sh -ec "cd ../h; $script" >/dev/null 2>&1 || [ "$who $script" = "nobody kill -0 $$" ] || return 1
		rm -f "$PLACE/$who/out/f" "$PLACE/$who/h/.bashrc" "$PLACE/$who/state/keepers/f"
		status=0
		box "$who" exec "$id" sh -ec "$script" >/dev/null 2>&1 || status=$?
		case $status in
		0 | 125)
			echo "not refused: $script ($status)"
			return 1
			;;
		esac
		[ ! -e "$PLACE/$who/out/f" ] || return 1
	done
	# Who serves in there cannot be read.
	keeper=$(field "$who" "$id" keeper)
	for pid in $(pgrep -P "$keeper") $(pgrep -P "$(pgrep -P "$keeper")"); do
		[ "$STAY" = landlock ] || pid=1
		box "$who" exec "$id" sh -c "head -c1 /proc/$pid/mem || cat /proc/$pid/environ || readlink /proc/$pid/fd/0" >/dev/null 2>&1 && return 1
	done
	[ "$(field "$who" "$id" state)" = running ] || return 1
	box "$who" rm --force "$id"
}

@test "sandbox of another backend: every call is held as a run is" {
	python3 -u -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64); print(s.getsockname()[1])
while True: s.accept()' >"$PLACE/port" 3>&- &
	server=$!
	until_true test -s "$PLACE/port"
	each same
	kill "$server"
}

ended() {
	local state child
	id=$(box "$who" create) || return 1
	status=0
	box "$who" exec -t 300ms --grace 100ms "$id" sh -c 'trap "" TERM; while :; do sleep 1; done' 2>/dev/null || status=$?
	[ "$status" -eq 124 ] || return 1
	status=0
	box "$who" exec "$id" sh -c 'kill -9 $$' 2>/dev/null || status=$?
	[ "$status" -eq 137 ] || return 1
	box "$who" exec -t 20s --grace 100ms "$id" sh -c 'trap "echo heard >said; exit 3" TERM; echo ready >said; while :; do sleep 0.05; done' &
	until_true eval '[ "$(box "$who" exec "$id" cat said 2>/dev/null)" = ready ]' || return 1
	pkill_tree "$!" TERM
	wait "$!"
	[ "$(box "$who" exec "$id" cat said)" = heard ] || return 1
	for state in running paused; do
		box "$who" exec -c 'echo kept >file; setsid sleep 4321 >/dev/null 2>&1 &' "$id" || return 1
		keeper=$(field "$who" "$id" keeper)
		child=$(below "$keeper")
		[ "$(wc -w <<<"$child")" -ge 3 ] || return 1
		[ "$state" = running ] || box "$who" pause "$id" || return 1
		kill -9 "$keeper"
		[ "$state" = running ] || [ "$(field "$who" "$id" state)" = stopped ] || return 1 # who asks ends what is frozen
		for pid in $child; do until_true gone "$pid" || return 1; done
		[ "$(field "$who" "$id" state)" = stopped ] || return 1
		box "$who" resume "$id" 2>/dev/null || return 1
		[ "$(field "$who" "$id" backend)" = "$STAY" ] || return 1
		[ "$(box "$who" exec "$id" cat file)" = kept ] || return 1
	done
	box "$who" rm --force "$id"
}

# All processes below one.
below() {
	local c
	for c in $(pgrep -P "$1"); do
		echo "$c"
		below "$c"
	done
}

pkill_tree() {
	local pid=$1 child
	child=$(cat "/proc/$pid/task/$pid/children")
	for c in $child; do
		pkill_tree "$c" "$2"
	done
	[ -n "$child" ] || kill "-$2" "$pid"
}

@test "sandbox of another backend: a call ends with its caller, and everything with the keeper" {
	each ended
}

changes() {
	as "$who" sh -c 'echo old >changed; echo old >removed; echo old >same'
	id=$(box "$who" create) || return 1
	box "$who" exec --json -c 'echo new >added; echo more >>changed; rm removed; mkdir sub; echo x >sub/f' "$id" >"$PLACE/report" || return 1
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); got = sorted((c["op"], c["path"]) for c in d["changes"]); assert got == [("added", "added"), ("added", "sub/f"), ("deleted", "removed"), ("modified", "changed")], got' "$PLACE/report" || return 1
	box "$who" exec --json "$id" rm sub/f >"$PLACE/report" || return 1
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); got = [(c["op"], c["path"]) for c in d["changes"]]; assert got == [("deleted", "sub/f")], got' "$PLACE/report" || return 1
	[ "$(cat changed)" = old ] && [ ! -e added ] || return 1
	[ "$(box "$who" diff "$id")" = "$(printf 'added: added\nadded: sub\ndeleted: removed\nmodified: changed')" ] || return 1
	first=$(box "$who" snapshot "$id") || return 1
	box "$who" exec -c 'echo two >added; echo two >two' "$id" || return 1
	box "$who" rollback "$id" 2>/dev/null || return 1
	[ "$(box "$who" exec -c 'cat added; ls two' "$id" 2>/dev/null)" = new ] || return 1
	box "$who" commit "$id" 2>/dev/null || return 1
	[ "$(cat added changed)" = "$(printf 'new\nold\nmore')" ] && [ ! -e removed ] || return 1
	[ -z "$(box "$who" diff "$id")" ] || return 1
	box "$who" exec -c 'echo bad >added' "$id" || return 1
	box "$who" discard "$id" 2>/dev/null || return 1
	[ "$(box "$who" exec "$id" cat added)" = new ] || return 1
	box "$who" exec -c 'echo inside >changed' "$id" || return 1
	sleep 0.05
	as "$who" sh -c 'echo outside >changed'
	box "$who" commit "$id" 2>/dev/null && return 1
	[ "$(cat changed)" = outside ] || return 1
	# What others do meanwhile is theirs, also when the set was made anew and a snapshot of before is restored.
	second=$(box "$who" snapshot "$id") || return 1
	as "$who" sh -c 'echo theirs >same; echo theirs >theirs'
	box "$who" discard "$id" 2>/dev/null || return 1
	box "$who" exec -c 'echo later >later' "$id" || return 1
	box "$who" restore --dry-run "$id" "$second" | grep -q theirs && return 1
	box "$who" restore "$id" "$second" 2>/dev/null || return 1
	[ "$(box "$who" diff "$id")" = 'modified: changed' ] || return 1
	box "$who" commit --force "$id" 2>/dev/null || return 1
	[ "$(cat changed same theirs)" = "$(printf 'inside\ntheirs\ntheirs')" ] || return 1
	box "$who" restore "$id" "$first" 2>/dev/null || return 1
	box "$who" rm --force "$id"
}

@test "sandbox of another backend: changes are shown, taken back, kept and committed" {
	each changes
}

paused() {
	[ "$(id -u)" -ne 0 ] || [ "$who" = self ] || return 0 # nobody unmounts nothing
	for way in group signals; do
		if [ "$way" = group ]; then
			id=$(box "$who" create) || return 1
		else
			id=$(create_without cgroup2 freezer -- --backend "$STAY") || return 1
			[ "$(field "$who" "$id" pauses_by)" = signals ] || return 1
		fi
		box "$who" exec -c 'for i in 1 2 3 4 5; do (while :; do echo x >>"ticks$i"; sleep 0.01; done) & done >/dev/null 2>&1' "$id" || return 1
		until_true box "$who" exec "$id" test -s ticks5 || return 1
		box "$who" pause "$id" || return 1
		[ "$(field "$who" "$id" state)" = paused ] || return 1
		ticks() { find "$PLACE/$who/state/sandboxes/$id" -name 'ticks*' -printf '%s ' | sort; }
		before=$(ticks)
		sleep 0.3
		[ "$(ticks)" = "$before" ] || return 1
		[ "$(box "$who" diff "$id" | wc -l)" -eq 5 ] || return 1
		[ "$(field "$who" "$id" state)" = paused ] || return 1
		box "$who" resume "$id" || return 1
		until_true eval '[ "$(ticks)" != "$before" ]' || return 1
		box "$who" rm --force "$id" || return 1
	done
}

@test "sandbox of another backend: paused by the freezer and by signals, and nobody else is" {
	sleep 1000 >/dev/null 2>&1 3>&- &
	other=$!
	each paused
	grep -q '^State:.S' "/proc/$other/status"
	kill "$other"
}

@test "sandbox of another backend: who goes on by a timer while all are stopped looks into nobody" {
	[ "$(id -u)" -eq 0 ] || skip 'not root'
	STAY=landlock who=self
	cd "$PLACE/self/w"
	cat >look.py <<'END'
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
signal.signal(signal.SIGCONT, lambda *a: None)
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
every = (ctypes.c_long * 4)(0, 1000000, 0, 1000000)
timer = ctypes.c_void_p()
if libc.timer_create(1, event, ctypes.byref(timer)) or libc.timer_settime(timer, 0, every, None):
    sys.exit('no timer')
above, pid = [], os.getppid()
while pid > 1:
    above.append(pid)
    pid = int(open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[1])
print('own' if os.read(os.open('/proc/self/environ', os.O_RDONLY), 9) else 'none', len(above), flush=True)
found, tries, end = 0, 0, time.monotonic() + 60
while not os.path.exists('enough') and time.monotonic() < end:
    for pid in above:
        for name in ('environ', 'mem', 'maps'):
            tries += 1
            try:
                os.close(os.open('/proc/%d/%s' % (pid, name), os.O_RDONLY))
                found += 1
            except OSError:
                pass
print('tries' if tries > 100 else 'too few', 'found', found, flush=True)
END
	id=$(create_without cgroup2 freezer -- --backend landlock)
	box self exec -c '(python3 look.py >out 2>&1 &); until [ -s out ]; do sleep 0.05; done' "$id"
	for _ in $(seq 12); do
		box self pause "$id" 2>/dev/null || true # it may be told that one goes on
		sleep 0.1                                # for it to look, on a busy machine too
		box self resume "$id" 2>/dev/null || true
	done
	box self exec "$id" touch enough
	until_true box self exec "$id" grep -q tries out
	run box self exec "$id" cat out
	box self rm --force "$id"
	echo "$output"
	[[ ${lines[0]} == own\ [1-9]* ]]
	[ "${lines[1]}" = 'tries found 0' ]
}

# The same without luck: in the test program who serves can be looked into all the time, and only the domain below is left.
@test "sandbox of another backend: a call looks into nobody even where who serves is open" {
	STAY=landlock who=self
	cp "$BUILDDIR/tests/conformance/cordon-layers" "$PLACE/layers"
	printf '#!/bin/sh\nCORDON_TEST_LAYERS_OFF=dumpable exec %s "$@"\n' "$PLACE/layers" >"$PLACE/cordon"
	cd "$PLACE/self/w"
	id=$(box self create)
	run box self exec -c 'cat /proc/$$/environ | wc -c; cat /proc/$PPID/environ' "$id"
	box self rm --force "$id"
	echo "$output"
	[[ ${lines[0]} == [1-9]* ]]
	[[ ${lines[1]} == *'Permission denied'* ]]
}

limited() {
	id=$(box "$who" create -m 100M --max-processes 30 --idle-timeout 60s 2>/dev/null) || return 0 # no control groups for us
	status=0
	box "$who" exec "$id" python3 -c 'x = bytearray(300 << 20)' >/dev/null 2>&1 || status=$?
	[ "$status" -eq 137 ] || return 1
	box "$who" exec "$id" sh -c 'for i in $(seq 60); do sleep 60 & done' 2>&1 | grep -q ork || return 1
	box "$who" rm --force "$id"
}

@test "sandbox of another backend: limits hold for all calls together" {
	each limited
}

terminal() {
	id=$(box "$who" create) || return 1
	as "$who" env XDG_RUNTIME_DIR="$PLACE/$who/run" TERM=xterm python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.write(fd, b"typed\n")
text = b""
try:
    while got := os.read(fd, 4096):
        text += got
except OSError:
    pass
print(text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' \
		"$PLACE/cordon" sandbox exec "$id" sh -c 'test -t 0 && test -t 1 && read line && echo "got $line" && exit 5' >"$PLACE/said" || return 1
	grep -q 'got typed' "$PLACE/said" && grep -q ' 5$' "$PLACE/said" || return 1
	box "$who" rm "$id"
}

@test "sandbox of another backend: a call has a terminal" {
	each terminal
}

@test "sandbox of another backend: what one of them cannot hold is refused by name" {
	cd "$PLACE/self/w"
	for backend in nsjail chroot noop; do
		run box self create --backend "$backend"
		[ "$status" -eq 125 ]
		[[ $output == *"backend '$backend' cannot hold a sandbox that stays: "*native* ]]
	done
	run box self create --backend landlock --allow-host example.org
	[ "$status" -eq 125 ]
	[[ $output == *"list of hosts under backend 'landlock'"*bwrap* ]]
	id=$(box self create --backend bwrap --allow-host example.org) # the control
	box self rm "$id"
	run box self create --backend nosuch
	[ "$status" -eq 125 ]
	[ -z "$(keepers self)" ]
	[ "$(box self list | wc -l)" -eq 1 ]
}

@test "sandbox of another backend: without a pid namespace it can be ended from inside, and is then stopped" {
	cd "$PLACE/self/w"
	STAY=landlock
	sleep 1000 >/dev/null 2>&1 3>&- &
	other=$!
	id=$(box self create)
	first=$(pgrep -P "$(field self "$id" keeper)")
	box self exec -c 'sleep 4321 >/dev/null 2>&1 &' "$id"
	run box self exec "$id" sh -c 'kill -9 -1'
	until_true eval '[ "$(field self "$id" state)" = stopped ]'
	until_true gone "$first"
	kill -0 "$other" # nobody else heard of it
	kill "$other"
	box self resume "$id"
	[ "$(box self exec "$id" echo yes)" = yes ]
}
