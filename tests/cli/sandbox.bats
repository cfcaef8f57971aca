#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Sandboxes that stay: made, entered, paused, killed in every way, and gone without a trace.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load scene
load sandboxes

@test "sandbox: made, listed, entered, removed" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		id=$(box "$who" create)
		[[ $id =~ ^sb-[0-9a-f]{12}$ ]]
		[ "$(field "$who" "$id" state)" = running ]
		[ "$(field "$who" "$id" workspace)" = "$PWD" ]
		run box "$who" exec "$id" -- sh -c 'echo "out $PWD"; echo err >&2; exit 7'
		[ "$status" -eq 7 ]
		[[ $output == *"out $PWD"* && $output == *err* ]]
		[ "$(echo text | box "$who" exec "$id" cat)" = text ]
		pid=$(field "$who" "$id" keeper)
		run box "$who" list
		[[ ${lines[1]} == "$id "*running* ]]
		box "$who" rm "$id"
		gone "$pid"
		[ -z "$(ls -A "$PLACE/$who/run/cordon")" ]
		[ -z "$(ls -A "$PLACE/$who/state/keepers")" ]
		run box "$who" status "$id"
		[ "$status" -eq 125 ]
		[[ $output == *"no sandbox '$id'"* ]]
	done
}

@test "sandbox: names, prefixes and what is wrong with them" {
	cd "$PLACE/self/w"
	one=$(box self create --name web)
	two=$(box self create)
	[ "$(box self exec web echo yes)" = yes ]
	[ "$(box self exec "${two:0:12}" echo yes)" = yes ]
	for word in nosuch sb-zz sb- sb-000000000000 'a%' ''; do
		run --separate-stderr box self exec "$word" true
		[ "$status" -eq 125 ]
		[ "${#stderr_lines[@]}" -le 2 ]
	done
	while :; do # two ids with one beginning
		three=$(box self create)
		[ "${three:3:1}" = "${two:3:1}" ] && break
		box self rm "$three"
	done
	run box self exec "${two:0:4}" true
	[ "$status" -eq 125 ]
	[[ $output == *"more than one id"* ]]
	run box self create --name web
	[ "$status" -eq 125 ]
	[[ $output == *"'web' already"* ]]
	run box self create --name ../x
	[ "$status" -eq 125 ]
	run box self create --max-sandboxes 3
	[ "$status" -eq 125 ]
	[[ $output == *"3 sandboxes already"* ]]
	box self rm "$one" "$two" "$three"
}

@test "sandbox: the newest comes first" {
	cd "$PLACE/self/w"
	a=$(box self create)
	b=$(box self create)
	ids=$(box self list --json | python3 -c 'import json, sys; print(*[s["id"] for s in json.load(sys.stdin)["sandboxes"]])')
	[ "$ids" = "$b $a" ]
}

@test "sandbox: processes go on between calls, and what they print is kept" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		id=$(box "$who" create)
		# Returns although the pipe is held inside.
		[[ $(box "$who" exec -c 'echo first; (while :; do echo tick; sleep 0.05; done) & echo $! >pid' "$id") == first* ]]
		until_true eval 'box "$who" logs "$id" | grep -q tick'
		box "$who" logs -f "$id" >"$PLACE/followed" & # ends with the sandbox
		until_true grep -q tick "$PLACE/followed"
		box "$who" exec -c 'kill $(cat pid)' "$id"
		box "$who" rm --force "$id"
		wait "$!"
	done
}

@test "sandbox: every process is in the same namespaces and under the same filter" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		id=$(box "$who" create)
		script='for n in mnt pid net ipc uts user cgroup; do readlink /proc/self/ns/$n; done; grep -E "^(Cap|Seccomp|NoNew)" /proc/self/status'
		box "$who" exec "$id" sh -c "$script" >"$PLACE/one"
		box "$who" exec "$id" sh -c "$script" >"$PLACE/two"
		diff "$PLACE/one" "$PLACE/two"
		grep -q '^CapBnd:.*0000000000000000' "$PLACE/one"
		# As in a run.
		inside "$who" -- sh -c 'grep -E "^(Cap|Seccomp:|NoNew)" /proc/self/status' >"$PLACE/run"
		grep -E '^(Cap|Seccomp:|NoNew)' "$PLACE/one" | diff - "$PLACE/run"
	done
}

@test "sandbox: what run refuses is refused, and works outside" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		mkdir -p "$PLACE/$who/home/.ssh"
		echo secret >"$PLACE/$who/home/.ssh/id_rsa"
		scene_give "$who"
		id=$(box "$who" create)
		sleep 1000 >/dev/null 2>&1 3>&- &
		victim=$!
		for script in \
			"echo x >$PLACE/$who/out/f" \
			"cat $PLACE/$who/home/.ssh/id_rsa" \
			"echo x >.bashrc" \
			"ls $PLACE/$who/state/keepers" \
			"python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); c = socket.create_connection(s.getsockname()); s.close(); open(\"/etc/hostname\").close(); open(\"/proc/$$/status\").close()'" \
			"unshare -U true"; do
			as "$who" sh -ec "cd ../h; $script" >/dev/null 2>&1 || [ "$who $script" = "nobody unshare -U true" ]
			rm -f "$PLACE/$who/out/f" "$PLACE/$who/h/.bashrc"
			run box "$who" exec "$id" sh -ec "$script"
			[ "$status" -ne 0 ]
			[ "$status" -ne 125 ]
			[ ! -e "$PLACE/$who/out/f" ]
		done
		kill "$victim"
		box "$who" rm --force "$id"
	done
}

@test "sandbox: the keeper is out of reach from inside" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		# The socket's directory is granted, so that only the keeper itself says no.
		id=$(box "$who" create -r "$PLACE/$who/run" --fs scoped)
		sock=$PLACE/$who/run/cordon/$id.sock
		cat >ask.py <<'END'
import os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.settimeout(10)
s.send(struct.pack("I", 2) + bytes(int(sys.argv[2]) - 4))
sys.exit(0 if s.recv(100) else 1)
END
		size=$(request_size "$who" "$sock")
		[ "$size" -gt 0 ] # the control: it answers outside
		run box "$who" exec "$id" python3 ask.py "$sock" "$size"
		[ "$status" -ne 0 ]
		# By itself, too, the keeper answers nobody of another pid namespace.
		if as "$who" unshare -Upf true; then
			run as "$who" unshare -Upf python3 ask.py "$sock" "$size"
			[ "$status" -ne 0 ]
		fi
		[ "$(field "$who" "$id" state)" = running ]
		# Neither it nor the sandbox's first process can be traced or read.
		pid=$(field "$who" "$id" keeper)
		run box "$who" exec "$id" sh -c "cat /proc/$pid/status"
		[ "$status" -ne 0 ]
		run box "$who" exec "$id" sh -c 'head -c1 /proc/1/mem || cat /proc/1/environ'
		[ "$status" -ne 0 ]
		run box "$who" exec "$id" sh -c 'kill -9 1; kill -9 -1; true'
		[ "$(field "$who" "$id" state)" = running ]
		box "$who" rm --force "$id"
	done
}

# The size of a request that the keeper answers, found by asking.
request_size() {
	local n
	for n in $(seq 80 8 400); do
		as "$1" python3 ask.py "$2" "$n" 2>/dev/null && {
			echo "$n"
			return
		}
	done
	echo 0
}

@test "sandbox: a call ends with its caller, by time and by signal" {
	cd "$PLACE/self/w"
	id=$(box self create)
	run box self exec -t 300ms "$id" sleep 100
	[ "$status" -eq 124 ]
	run box self exec -t 300ms --grace 100ms "$id" sh -c 'trap "" TERM; while :; do sleep 1; done'
	[ "$status" -eq 124 ]
	run box self exec "$id" sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	box self exec "$id" sleep 1234 &
	caller=$!
	until_true eval 'box self exec "$id" ps ax | grep -q "[s]leep 1234"'
	pkill_tree "$caller" TERM
	wait "$caller" || [ $? -eq 143 ]
	box self exec "$id" sleep 1234 &
	caller=$!
	until_true eval 'box self exec "$id" ps ax | grep -q "[s]leep 1234"'
	pkill_tree "$caller" KILL
	until_true eval '! box self exec "$id" ps ax | grep -q "[s]leep 1234"'
	run -127 box self exec "$id" nosuch
	run box self exec "$id" /etc
	[ "$status" -eq 126 ]
}

# The cordon below a shell function that runs in the background.
pkill_tree() {
	local pid=$1 child
	child=$(cat "/proc/$pid/task/$pid/children")
	for c in $child; do
		pkill_tree "$c" "$2"
	done
	[ -n "$child" ] || kill "-$2" "$pid"
}

@test "sandbox: with the keeper everything goes, also what is paused" {
	for who in $WHO; do
		for state in running paused; do
			cd "$PLACE/$who/w"
			id=$(box "$who" create)
			box "$who" exec -c 'echo kept >file; sleep 4321 >/dev/null 2>&1 &' "$id"
			keeper=$(field "$who" "$id" keeper)
			first=$(pgrep -P "$keeper")
			child=$(pgrep -P "$first")
			[ "$state" = running ] || box "$who" pause "$id"
			kill -9 "$keeper"
			until_true gone "$first"
			for pid in $child; do until_true gone "$pid"; done
			[ "$(field "$who" "$id" state)" = stopped ]
			run box "$who" exec "$id" true
			[ "$status" -eq 125 ]
			[[ $output == *"is stopped"*"resume"* ]]
			run box "$who" resume "$id"
			[ "$status" -eq 0 ]
			[[ $output == *"processes are gone"* ]]
			[ "$(box "$who" exec "$id" cat file)" = kept ]
			box "$who" rm --force "$id"
		done
	done
}

@test "sandbox: ended when nobody uses it, not while somebody does or it is paused" {
	cd "$PLACE/self/w"
	id=$(box self create --idle-timeout 4s)
	box self exec "$id" sleep 5
	[ "$(field self "$id" state)" = running ]
	box self pause "$id"
	sleep 5
	[ "$(field self "$id" state)" = paused ]
	box self resume "$id"
	until_true eval '[ "$(field self "$id" state)" = stopped ]'
	run box self logs "$id"
	[[ $output == *"nobody used the sandbox"* ]]
}

@test "sandbox: the environment and the policy are those of its making" {
	cd "$PLACE/self/w"
	id=$(as self env XDG_RUNTIME_DIR="$PLACE/self/run" OUTER=o PASSED=p "$PLACE/cordon" sandbox create -e SET=1 -e PASSED -x hidden --timeout 400ms)
	run box self exec "$id" sh -c 'printf "%s %s %s %s %.2s" "$SET" "$PASSED" "${OUTER-none}" "$CORDON_SANDBOX" "$CORDON_ID"'
	[ "$output" = "1 p none 1 c-" ]
	[ "$(box self exec -e MORE=2 "$id" sh -c 'echo $SET$MORE')" = 12 ]
	run box self exec "$id" sleep 100
	[ "$status" -eq 124 ]
	printf 'sandbox: {resource_limits: {timeout_ms: 60000}}\n' >.cordon.yaml
	run box self exec "$id" sleep 100
	[ "$status" -eq 124 ]
}

@test "sandbox: calls are judged and recorded" {
	cd "$PLACE/self/w"
	id=$(box self create --enforce)
	run box self exec "$id" sh -c 'rm -rf / --no-preserve-root'
	[ "$status" -eq 126 ]
	box self exec --json "$id" echo hello >report
	python3 -c 'import json; d = json.load(open("report")); assert d["result"]["stdout"] == "hello\n" and d["isolation"]["achieved"]["backend"] == "native", d'
	as self "$PLACE/cordon" audit verify
	[ "$(as self "$PLACE/cordon" audit show --json | grep -c '"refused"')" -ge 1 ]
}

@test "sandbox: what cannot be kept between calls is refused" {
	cd "$PLACE/self/w"
	for options in '--secret X' '--publish 80 --net allow-all' '--json' '-c true' '--backend nsjail' '--workspace direct' '--level vm'; do
		# shellcheck disable=SC2086 # words
		run box self create $options
		[ "$status" -eq 125 ]
	done
	[ -z "$(keepers self)" ]
	[ "$(box self list | wc -l)" -eq 1 ]
}

@test "sandbox: changes are kept apart, shown, committed and discarded" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		as "$who" sh -c 'echo old >changed; echo old >removed; echo old >same'
		id=$(box "$who" create)
		box "$who" exec -c 'echo new >added; echo more >>changed; rm removed; mkdir sub; echo x >sub/f' "$id"
		[ "$(cat changed)" = old ]
		[ ! -e added ]
		[ "$(box "$who" diff "$id")" = "$(printf 'added: added\nadded: sub/f\ndeleted: removed\nmodified: changed')" ]
		box "$who" diff -u "$id" | grep -q '^+more$'
		run box "$who" rm "$id"
		[ "$status" -eq 125 ]
		[[ $output == *"4 changes"*"--force"* ]]
		box "$who" commit "$id" sub
		[ "$(cat sub/f)" = x ]
		[ ! -e added ]
		for path in nosuch ../x /etc/passwd .; do
			run box "$who" commit "$id" "$path"
			[ "$status" -eq 125 ]
		done
		box "$who" commit "$id"
		[ "$(cat added)" = new ]
		[ ! -e removed ]
		[ -z "$(box "$who" diff "$id")" ]
		box "$who" exec -c 'echo bad >added' "$id"
		box "$who" discard "$id"
		[ -z "$(box "$who" diff "$id")" ]
		[ "$(box "$who" exec "$id" cat added)" = new ]
		box "$who" rm "$id"
		[ -z "$(ls -A "$PLACE/$who/state/sandboxes")" ]
	done
}

@test "sandbox: a conflict stops a commit, unless told" {
	cd "$PLACE/self/w"
	echo old >file
	id=$(box self create)
	box self exec -c 'echo inside >file; echo other >other' "$id"
	sleep 0.05
	echo outside >file
	run box self commit "$id"
	[ "$status" -eq 125 ]
	[[ $output == *"'file'"* ]]
	[ "$(cat file)" = outside ]
	[ ! -e other ]
	box self commit --force "$id"
	[ "$(cat file)" = inside ]
}

@test "sandbox: snapshots, and the way back" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		as "$who" sh -c 'echo old >file'
		id=$(box "$who" create)
		run box "$who" rollback "$id"
		[ "$status" -eq 125 ]
		[[ $output == *"no snapshot"* ]]
		box "$who" exec -c 'echo one >file; echo one >one' "$id"
		first=$(box "$who" snapshot "$id")
		box "$who" exec -c 'echo two >file; rm one; echo two >two' "$id"
		[ "$(box "$who" snapshot --name second "$id")" = second ]
		box "$who" exec -c 'echo three >file' "$id"
		keeper=$(field "$who" "$id" keeper)
		[ "$(box "$who" rollback --dry-run "$id")" = "modify: file" ]
		[ "$(field "$who" "$id" keeper)" = "$keeper" ]
		box "$who" rollback "$id"
		[ "$(box "$who" exec "$id" cat file two)" = "$(printf 'two\ntwo')" ]
		box "$who" restore "$id" "$first"
		[ "$(box "$who" exec -c 'cat file one; ls two' "$id" 2>/dev/null)" = "$(printf 'one\none')" ]
		[ "$(cat file)" = old ]
		run box "$who" restore "$id" nosuch
		[ "$status" -eq 125 ]
		[ "$(field "$who" "$id" snapshots)" = "['second', '$first']" ]
		box "$who" rm --force "$id"
		[ -z "$(ls -A "$PLACE/$who/state/snapshots/names")" ]
	done
}

@test "sandbox: what was changed outside stays a conflict over snapshot, discard and restore" {
	cd "$PLACE/self/w"
	echo old >f
	echo old >g
	id=$(box self create)
	box self exec -c 'echo once >g' "$id"
	box self commit "$id"
	box self exec -c 'echo inside >f; echo twice >g' "$id"
	first=$(box self snapshot "$id")
	echo outside >f
	box self discard "$id"
	box self exec -c 'echo late >g' "$id"
	box self restore "$id" "$first"
	run box self commit "$id"
	[ "$status" -ne 0 ]
	[[ $output == *f* ]]
	[ "$(cat f)" = outside ]
	# What it committed itself before is none.
	box self commit "$id" g
	[ "$(cat g)" = twice ]
}

@test "sandbox: what run kept is listed, committed and removed like the others" {
	cd "$PLACE/self/w"
	older=$(box self create)
	as self "$PLACE/cordon" run --workspace cow --report report -- sh -c 'echo x >kept'
	id=$(box self list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["sandboxes"][0]["id"])')
	[ "$(box self diff "$id")" = "added: kept" ]
	run box self exec "$id" true
	[ "$status" -eq 125 ]
	[[ $output == *"'cordon run' kept"* ]]
	run box self rm "$id"
	[ "$status" -eq 125 ]
	box self commit "$id"
	[ "$(cat kept)" = x ]
	box self rm "$older"
	[ "$(box self list | wc -l)" -eq 1 ]
	[ -z "$(ls -A "$PLACE/self/state/keepers")" ]
}

# Kills the command at its n-th system call of a kind that changes something, for every n until it gets through.
killed_everywhere() {
	local n status
	command -v strace >/dev/null || skip "strace is not there"
	for n in $(seq 1 7 400); do
		status=0
		box self "$1" "$id" 2>/dev/null & # a rival, so that locks are contended
		as self env XDG_RUNTIME_DIR="$PLACE/self/run" strace -qqf -o /dev/null \
			-e inject=pwrite64,write,sendmsg,sendto,flock,fcntl,openat,connect:signal=KILL:when="$n" \
			"$PLACE/cordon" sandbox "$1" "$id" >/dev/null 2>&1 || status=$?
		wait
		case $(field self "$id" state) in running | paused | stopped) ;; *) return 1 ;; esac
		[ "$status" -ne 0 ] || return 0
		[ "$status" -eq 137 ] || [ "$status" -eq 125 ]
		"$2"
	done
	return 1 # it never got through
}

usable() {
	box self resume "$id" 2>/dev/null
	[ "$(box self exec "$id" cat inside)" = kept ]
}

@test "sandbox: pause, resume, diff and snapshot can be killed anywhere" {
	cd "$PLACE/self/w"
	id=$(box self create)
	box self exec -c 'echo kept >inside' "$id"
	for verb in pause resume diff snapshot; do
		killed_everywhere "$verb" usable
	done
	usable
	as self "$PLACE/cordon" audit verify
}

# half_restored N: a sandbox whose restore was killed at the Nth name that it moves.  Sets id and status.
half_restored() {
	id=$(box self create)
	box self exec -c 'for i in 1 2 3 4 5 6; do echo old >f$i; done' "$id"
	snap=$(box self snapshot "$id")
	box self exec -c 'for i in 1 2 3 4 5 6; do echo new >f$i; done' "$id"
	status=0
	as self env XDG_RUNTIME_DIR="$PLACE/self/run" strace -qq -o /dev/null \
		-e inject=rename,renameat,renameat2:signal=KILL:when="$1" \
		"$PLACE/cordon" sandbox restore "$id" "$snap" >"$PLACE/said" 2>&1 || status=$?
	echo "restore, killed at $1: $status $(cat "$PLACE/said")"
	[ "$status" -eq 0 ] || [ "$status" -eq 137 ]
}

@test "sandbox: a killed restore is finished or undone before anything reads the set" {
	command -v strace >/dev/null || skip "strace is not there"
	cd "$PLACE/self/w"
	for n in $(seq 1 40); do
		half_restored "$n"
		killed=$status
		if [ $((n % 2)) -eq 0 ]; then
			box self commit "$id"
			[ -z "$(find . -name ".cordon-restore-*")" ]
			seen=$(cat f[1-6] | sort -u)
		else
			[ "$killed" -eq 0 ] || box self resume "$id"
			seen=$(box self exec -c 'cat f[1-6] | sort -u; ls -A | grep -c cordon-restore' "$id" | paste -sd' ')
			seen=${seen% 0}
		fi
		echo "at $n ($killed): $seen"
		[ "$seen" = old ] || [ "$seen" = new ]
		box self rm --force "$id"
		rm -f f[1-6]
		[ "$killed" -ne 0 ] || break
	done
	[ "$killed" -eq 0 ] # it got through, in the end
	[ "$n" -gt 6 ]
}

@test "sandbox: what is left of a killed restore goes with its sandbox, and stands in nobody's way" {
	command -v strace >/dev/null || skip "strace is not there"
	cd "$PLACE/self/w"
	other=$(box self create)
	chmod 700 "$PLACE/self/state" # doctor has nothing else to say of it
	half_restored 4
	[ "$status" -eq 137 ]
	run as self "$PLACE/cordon" doctor
	[[ $output == *"a restore was interrupted"*snapshots/journal/* ]]
	box self rm --force "$id"
	[ -z "$(find "$PLACE/self/state/snapshots/journal" -type f ! -name '*.lock')" ]
	box self snapshot "$other"
	# The same where the set went without a word.
	half_restored 4
	[ "$status" -eq 137 ]
	rm -rf "$PLACE/self/state/sandboxes/$id"
	box self snapshot "$other"
	run as self "$PLACE/cordon" doctor
	[[ $output == *"set aside"*snapshots/journal/gone-* ]]
	# To discard is to discard: nothing comes back.
	half_restored 4
	[ "$status" -eq 137 ]
	box self discard "$id"
	box self snapshot "$other"
	[ -z "$(box self diff "$id")" ]
}

@test "sandbox: create and rm can be killed anywhere" {
	command -v strace >/dev/null || skip "strace is not there"
	cd "$PLACE/self/w"
	for n in $(seq 1 9 500); do
		status=0
		id=$(as self env XDG_RUNTIME_DIR="$PLACE/self/run" strace -qq -o /dev/null \
			-e inject=pwrite64,write,sendmsg,sendto,flock,fcntl,mkdir,mkdirat,openat,clone,rename:signal=KILL:when="$n" \
			"$PLACE/cordon" sandbox create 2>/dev/null) || status=$?
		[ "$status" -ne 0 ] || break
		[ "$status" -eq 137 ] || [ "$status" -eq 125 ]
	done
	[ "$status" -eq 0 ]
	[ "$(box self exec "$id" echo yes)" = yes ]
	for n in $(seq 1 9 500); do
		status=0
		as self env XDG_RUNTIME_DIR="$PLACE/self/run" strace -qq -o /dev/null \
			-e inject=pwrite64,write,sendmsg,sendto,flock,fcntl,unlink,unlinkat,rename,openat:signal=KILL:when="$n" \
			"$PLACE/cordon" sandbox rm "$id" 2>/dev/null || status=$?
		[ "$status" -eq 137 ] || break
	done
	run box self status "$id"
	[ "$status" -eq 125 ]
	# Whatever killed ones left can be listed, and removed.
	for id in $(box self list --json | grep -o 'sb-[0-9a-f]*' | sort -u); do
		box self rm --force "$id"
	done
	until_true eval '[ -z "$(keepers self)" ]'
	[ "$(box self list | wc -l)" -eq 1 ]
	find "$PLACE/self/state/sandboxes" "$PLACE/self/run/cordon" "$PLACE/self/state/keepers" -mindepth 1 >"$PLACE/left"
	cat "$PLACE/left"
	[ ! -s "$PLACE/left" ]
}

@test "sandbox: its network is the policy's, and goes with it" {
	cd "$PLACE/self/w"
	python3 -u -c 'import http.server
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler); print(s.server_address[1]); s.serve_forever()' \
		>"$PLACE/port" 2>/dev/null 3>&- &
	server=$!
	until_true test -s "$PLACE/port"
	port=$(cat "$PLACE/port")
	id=$(box self create --allow-host "127.0.0.1:$port" --allow-private 127.0.0.0/8)
	for _ in 1 2; do # one proxy for all calls
		[ "$(box self exec "$id" curl -sS --noproxy '' -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/")" = 200 ]
		[ "$(box self exec "$id" curl -sS --noproxy '' -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:1/")" = 403 ]
	done
	keeper=$(field self "$id" keeper)
	children=$(pgrep -P "$keeper")
	[ "$(wc -w <<<"$children")" -eq 2 ] # the first process and the proxy
	kill -9 "$keeper"
	for pid in $children; do until_true gone "$pid"; done
	box self rm --force "$id"
	id=$(box self create) # denied
	run box self exec "$id" curl -sS --noproxy '*' -m 20 "http://127.0.0.1:$port/"
	[ "$status" -ne 0 ]
	kill "$server"
}

@test "sandbox: limits hold for all calls together" {
	cd "$PLACE/self/w"
	id=$(box self create -m 100M --max-processes 30) || skip "no control groups here"
	run box self exec "$id" python3 -c 'x = bytearray(300 << 20)'
	[ "$status" -eq 137 ]
	run box self exec "$id" sh -c 'for i in $(seq 60); do sleep 60 & done'
	[[ $output == *ork* ]] # cannot
	box self rm --force "$id"
	[ -z "$(find /sys/fs/cgroup -name "cordon-$id" 2>/dev/null)" ]
}

@test "sandbox: a hundred made and removed leave nothing" {
	rounds=${CORDON_SANDBOX_ROUNDS:-100}
	for who in ${CORDON_SANDBOX_WHO:-$WHO}; do
		cd "$PLACE/$who/w"
		for backend in native bwrap landlock; do # whatever is made once
			id=$(box "$who" create --backend "$backend")
			box "$who" exec "$id" true
			box "$who" rm "$id"
		done
		# What is in /tmp for one has a note in the state directory, as long as it is there.
		files=$(find "$PLACE/$who/state" "$PLACE/$who/run" | sort)
		for i in $(seq "$rounds"); do
			backend=native # most of them; every tenth under another one
			case $((i % 20)) in 10) backend=bwrap ;; 0) backend=landlock ;; esac
			id=$(box "$who" create --backend "$backend")
			[ "$(box "$who" exec "$id" echo yes)" = yes ]
			box "$who" rm "$id"
		done
		find "$PLACE/$who/state" "$PLACE/$who/run" | sort | diff <(echo "$files") -
		[ -z "$(keepers "$who")" ]
		run ! grep -q "$PLACE/$who" /proc/self/mountinfo
	done
}

@test "sandbox: many at once" {
	cd "$PLACE/self/w"
	for i in $(seq 64); do
		echo "$i"
	done | xargs -P 8 -I{} env -i PATH="$PATH" HOME="$PLACE/self/home" CORDON_STATE_DIR="$PLACE/self/state" \
		CORDON_CONFIG_DIR="$PLACE/self/config" XDG_RUNTIME_DIR="$PLACE/self/run" "$PLACE/cordon" sandbox create --name n{} >ids
	[ "$(sort -u ids | wc -l)" -eq 64 ]
	[ "$(box self list --json | grep -o '"state":"running"' | wc -l)" -eq 64 ]
	[ "$(box self exec n64 echo yes)" = yes ]
	[ "$(box self cleanup --max-age 0 | wc -l)" -eq 64 ]
	[ -z "$(keepers self)" ]
	[ -z "$(find "$PLACE/self/state/keepers" "$PLACE/self/run/cordon" -mindepth 1)" ]
	[ -z "$(find "$PLACE/self/state" -name '.cordon-*')" ]
}
