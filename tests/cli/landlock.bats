#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Backend landlock: no namespaces, a broker for what Landlock cannot hold.  Every refusal has its control.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR" "$HOME"
	cd "$BATS_TEST_TMPDIR/work" || return
	"$CORDON" run -q --backend landlock -- true || skip "backend landlock is not available here"
}

inside() {
	"$CORDON" run -q --backend landlock "$@"
}

# Runs a command in a user namespace in which no further one can be made.
without_namespaces() {
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces || exit 77; exec "$@"' sh "$@"
}

# refused SCRIPT [CHECK]: works on the host, not inside, and leaves no trace there.  $OPTIONS: of run; $BEFORE.
refused() {
	rm -rf "$BATS_TEST_TMPDIR/host" "$BATS_TEST_TMPDIR/inside"
	mkdir -p "$BATS_TEST_TMPDIR/host" "$BATS_TEST_TMPDIR/inside"
	for place in host inside; do
		(cd "$BATS_TEST_TMPDIR/$place" && eval "${BEFORE:-true}") || return
	done
	(cd "$BATS_TEST_TMPDIR/host" && sh -c "$1") || { echo "control: $1"; return 1; }
	if [ -n "${2:-}" ]; then
		(cd "$BATS_TEST_TMPDIR/host" && ! sh -c "$2") || { echo "control of the check: $2"; return 1; }
	fi
	cd "$BATS_TEST_TMPDIR/inside" || return
	eval "set -- \"\$1\" \"\${2:-true}\" ${OPTIONS:-}"
	script=$1 check=$2
	shift 2
	if inside "$@" -- sh -c "$script"; then
		echo "it got through: $script"
		return 1
	fi
	sh -c "$check" || { echo "it had an effect: $script"; return 1; }
}

@test "landlock: says what it gives and what it does not" {
	run "$CORDON" backends --json
	[ "$status" -eq 0 ]
	echo "$output" | python3 -c '
import json, sys
b = [x for x in json.load(sys.stdin)["backends"] if x["name"] == "landlock"][0]
assert b["available"] and b["strength"] == 40, b
have = set(b["guarantees"])
assert {"read-scope", "write-scope", "deny-inside-allow", "protect-missing", "net-deny", "kill-tree",
        "syscall-filter", "env-scrub", "net-allowlist", "net-ssrf", "secret-boundary"} <= have, have
assert not {"private-tmp", "hide-metadata", "port-publish", "port-grant", "secret-file"} & have, have'
}

# A server on loopback, which only a test may reach; its port is in the file.
serve() {
	python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], file=open("port.new", "w"))
import os; os.rename("port.new", "port")
s.settimeout(60)
for _ in range(9):
    c = s.accept()[0]
    c.sendall(b"here\n")
    c.close()' 3>&- &
	SERVER=$!
	for _ in $(seq 100); do [ ! -e port ] || break; sleep 0.1; done
}

@test "landlock: an allowlist of hosts is held, and what it refuses is told" {
	ask='import socket; print(socket.create_connection(("127.0.0.1", int(open("port").read())), 5).recv(9))'
	serve
	[ "$(python3 -c "$ask")" = "b'here\\n'" ] # the control
	run --separate-stderr "$CORDON" run -q --backend landlock --allow-host example.org --report report -- /usr/bin/python3 -c "$ask"
	kill "$SERVER"
	[[ $output != *here* && $stderr == *reset* ]]
	python3 - report "$(cat port)" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		a = r["isolation"]["achieved"]
		assert a["backend"] == "landlock" and "net-allowlist" in a["guarantees"], a
		assert [d for d in r["denied"] if d["kind"] == "host" and d["target"] == "127.0.0.1:" + sys.argv[2]], r["denied"]
		assert r["network"]["blocked"] == 1, r["network"]
	END
	# without a list there is no socket at all
	run "$CORDON" run -q --backend landlock -- /usr/bin/python3 -c 'import socket; socket.socket()'
	[ "$status" -ne 0 ]
	[[ $output == *"not supported"* ]]
}

@test "landlock: ports of its own are refused, with the reason" {
	run --separate-stderr "$CORDON" run -q --backend landlock --publish 8000 -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *port-publish*"no network of its own"* ]]
	[ ! -e ran ]
	"$CORDON" run -q --backend landlock --allow-host example.org -- touch ran # the control
	[ -e ran ]
}

@test "landlock: a policy that somebody wrote does not give up a private /tmp" {
	cat >p.yaml <<-END
		sandbox:
		  capabilities:
		    filesystem:
		      mode: scoped
		      mount_paths:
		        - {path: $PWD, permissions: rw}
	END
	run --separate-stderr "$CORDON" run -q --backend landlock -p p.yaml -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *private-tmp* ]]
	[ ! -e ran ]
}

@test "landlock: is what auto picks where there are no user namespaces" {
	run without_namespaces "$CORDON" run --report report -- sh -c 'echo x >made; id -u'
	[ "$status" -ne 77 ] || skip "user namespaces cannot be limited here"
	[ "$status" -eq 0 ]
	[ -e made ]
	python3 - report <<-'END'
		import json, sys
		a = json.load(open(sys.argv[1]))["isolation"]["achieved"]
		assert a["backend"] == "landlock", a
		assert sorted(a["degraded"]) == ["hide-metadata", "private-tmp"], a
	END
	without_namespaces "$CORDON" run --allow-host example.org --report report -- true # with an allowlist, too
	grep -q '"backend": *"landlock"' report
	# control: with them it is another one
	"$CORDON" run --report report -- true
	run ! grep -q '"backend": *"landlock"' report
}

@test "landlock: protected names, missing and there" {
	refused 'mkdir .claude' '! test -e .claude'
	refused 'echo x >.mcp.json' '! test -e .mcp.json'
	refused 'echo x >n && mv n .mcp.json' '! test -e .mcp.json'
	refused 'ln -s n .claude' '! test -L .claude'
	refused 'echo x >n && ln n .envrc' '! test -e .envrc'
	refused 'mkdir d && echo x >d/x && mv d .vscode' '! test -e .vscode'
	refused 'mkfifo .npmrc' '! test -e .npmrc'
	refused 'ln -s .yarnrc l && echo x >l' '! test -e .yarnrc'
	BEFORE='mkdir -p .git/hooks; git init -q .' \
		refused 'echo x >.git/hooks/pre-commit' '! test -e .git/hooks/pre-commit'
	BEFORE='git init -q .' refused 'mv .git g && mkdir -p g/hooks && echo x >g/hooks/post-commit' \
		'! test -e g && ! test -e .git/hooks/post-commit'
	BEFORE='echo a >.profile' refused 'exec 3<.profile; echo x >/proc/self/fd/3' 'grep -qx a .profile'
	BEFORE='echo a >.profile' refused 'truncate -s 0 .profile' 'grep -qx a .profile'
	BEFORE='echo a >.profile; ln .profile other' refused 'echo x >>other' 'test $(wc -l <.profile) = 1'
	BEFORE='mkdir .vscode; echo a >.vscode/f; ln .vscode/f other' refused 'echo x >>other' \
		'test $(wc -l <.vscode/f) = 1'
	BEFORE='echo a >.profile' refused 'chmod 777 .profile' '! test $(stat -c %a .profile) = 777'
	BEFORE='echo a >.profile' refused 'touch -d 2001-01-01 .profile' '! test $(stat -c %Y .profile) = 978307200'
}

@test "landlock: a denied path inside what can be written" {
	export OPTIONS='--deny "$PWD/d"'
	BEFORE='echo denied >d' refused 'cat d'
	BEFORE='echo denied >d' refused 'cat /proc/self/cwd/d'
	BEFORE='echo denied >d; ln -s d l' refused 'cat l'
	BEFORE='echo denied >d' refused 'ln d n && cat n' '! test -e n'
	BEFORE='echo denied >d' refused 'mv d n && cat n' '! test -e n'
	BEFORE='echo denied >d; ln d n' refused 'cat n'
	BEFORE='mkdir d; echo denied >d/f' refused 'cat d/f'
	BEFORE='mkdir d; echo denied >d/f' refused 'cd d && cat f'
	BEFORE='mkdir -p d/e; echo denied >d/e/f; ln d/e/f n' refused 'cat n'
	BEFORE='mkdir d; echo denied >d/f' refused 'ls d | grep f'
	BEFORE='mkdir d' refused 'mkdir d/x' '! test -e d/x'
	BEFORE='mkdir -p d/x' refused 'rmdir d/x' 'test -d d/x'
}

@test "landlock: what works, works, also where every open is asked for" {
	echo x >denied
	for more in '' "--deny $PWD/denied"; do
		# shellcheck disable=SC2086 # options
		run inside $more -- bash -exc '
			rm -rf x && mkdir -p x/y && cd x
			umask 027; echo a >f; test "$(stat -c %a f)" = 640
			umask 022; mkdir m; test "$(stat -c %a m)" = 755
			ln f g; ln -s f h; cat h; test "$(stat -c %h f)" = 2
			chmod 600 h; test "$(stat -c %a f)" = 600
			touch -d 2001-01-01 f; test "$(stat -c %Y f)" = 978307200
			mv f y/z; mv y w; cat w/z; rm -r w; rm g h
			echo b >t; truncate -s 10 t; test "$(stat -c %s t)" = 10
			mkfifo p; (echo first >p &); test "$(cat p)" = first
			(sleep 0.1; cat p >got) & echo second >p; wait; test "$(cat got)" = second
			cat <(echo c); echo d > >(cat); echo e | tee /dev/fd/1
			set -C; echo n >new; if echo n >new 2>/dev/null; then exit 1; fi; set +C
			cd .. && rm -r x
			printf "int main(void){return 3;}" >t.c; cc -o t t.c; ./t || test $? = 3; rm t t.c
			mktemp; test -w "$TMPDIR"; test -w "$HOME"; echo h >~/h; cat ~/h
			/usr/bin/python3 -c "import multiprocessing; multiprocessing.Pool(2).map(abs, [1])"
			rm -rf r; git init -q r; cd r; git config user.name n; git config user.email e
			echo a >a; git add a; git commit -qm 1; git gc -q; git fsck; cd ..; rm -rf r'
		echo "$output"
		[ "$status" -eq 0 ]
	done
	[ -z "$(ls -A "$HOME")" ]
	run inside -- sh -c 'mkdir -p "$TMPDIR/a/b"; chmod 0 "$TMPDIR/a/b"; echo "${TMPDIR%/tmp}"'
	[[ $output == /tmp/.cordon-work-* ]]
	[ ! -e "$output" ]
}

@test "landlock: what was refused is in the report" {
	run "$CORDON" run -q --backend landlock --report report -- sh -c 'mkdir .claude; mkdir /usr/none; unshare -U true; echo x >fine'
	python3 - report "$PWD" <<-'END'
		import json, sys
		denied = json.load(open(sys.argv[1]))["denied"]
		paths = sorted(d["target"] for d in denied if d["kind"] == "path")
		assert paths == sorted([sys.argv[2] + "/.claude", "/usr/none"]), denied
		calls = [d["target"] for d in denied if d["kind"] == "syscall"]
		assert calls == ["unshare CLONE_NEWUSER"], denied
		assert all(d["rule"] and d["remedy"] for d in denied), denied
	END
}

# The caller changes the path, or what it names, while its call waits.
cat_race() {
	cat <<-'END'
		import ctypes, errno, os, sys, threading, time
		libc = ctypes.CDLL(None, use_errno=True)
		good, bad, flags = b'good', sys.argv[1].encode(), int(sys.argv[2])
		buf, stop = ctypes.create_string_buffer(256), False
		def flip():
		    while not stop:
		        ctypes.memmove(buf, bad + b'\0', len(bad) + 1)
		        ctypes.memmove(buf, good + b'\0', len(good) + 1)
		threads = [threading.Thread(target=flip) for _ in range(2)]
		for t in threads: t.start()
		end, got, tried, refused = time.time() + 1.5, 0, 0, 0
		while time.time() < end and not got:
		    fd = libc.open(buf, flags, 0o600)
		    tried += 1
		    refused += fd < 0 and ctypes.get_errno() == errno.EACCES
		    if fd >= 0:
		        got += os.readlink('/proc/self/fd/%d' % fd).endswith('/' + bad.decode())
		        os.close(fd)
		stop = True
		print(tried, refused, got)
		sys.exit(0 if got else 3 if refused > 100 else 4)
	END
}

@test "landlock: a path that changes while the call waits" {
	cat_race >race.py
	echo x >denied
	echo x >good
	# 0101: O_WRONLY | O_CREAT
	run /usr/bin/python3 race.py .mcp.json 65
	[ "$status" -eq 0 ]
	rm .mcp.json
	run inside -- /usr/bin/python3 race.py .mcp.json 65
	echo "$output"
	[ "$status" -eq 3 ]
	[ ! -e .mcp.json ]
	run /usr/bin/python3 race.py denied 0
	[ "$status" -eq 0 ]
	run inside --deny "$PWD/denied" -- /usr/bin/python3 race.py denied 0
	echo "$output"
	[ "$status" -eq 3 ]
}

@test "landlock: directories and links that move while calls wait" {
	mkdir -p a/b
	echo secret >denied
	# Two processes swap a link and a directory, others write through them.
	cat >race.sh <<-'END'
		end=$(($(date +%s) + 2))
		( while [ "$(date +%s)" -lt $end ]; do ln -sfn . l; ln -sfn a l; done ) &
		( while [ "$(date +%s)" -lt $end ]; do mv a c; mv c a; done ) &
		while [ "$(date +%s)" -lt $end ]; do
			echo x >l/.mcp.json; mkdir l/.claude; cat l/denied; echo x >a/b/.mcp.json; rm -f a/b/.mcp.json
		done
		wait
	END
	# control: sooner or later it gets through
	said=
	for _ in 1 2 3 4 5 6; do
		run sh race.sh
		said+=$output
		[[ -e .mcp.json && $said == *secret* ]] && break
	done
	[ -e .mcp.json ]
	[[ $said == *secret* ]]
	rm -rf .mcp.json .claude c
	mkdir -p a/b
	run inside --deny "$PWD/denied" -- sh race.sh
	[[ $output != *secret* ]]
	[ ! -e .mcp.json ]
	[ ! -e .claude ]
}

@test "landlock: what Landlock does not look at is held to the scope" {
	mkdir -p "$BATS_TEST_TMPDIR/out"
	echo x >"$BATS_TEST_TMPDIR/out/f"
	chmod 644 "$BATS_TEST_TMPDIR/out/f"
	before=$(stat -c '%a %Y' "$BATS_TEST_TMPDIR/out/f")
	for act in 'chmod 777 "$F"' 'touch -d 2001-01-01 "$F"' 'chown "$(id -u)" "$F"' \
		'python3 -c "import os; os.fchmod(0, 0o777)" <"$F"' \
		'python3 -c "import os; os.utime(0, (1, 1))" <"$F"'; do
		act=${act//python3//usr/bin/python3}
		run inside --read "$BATS_TEST_TMPDIR/out" -e "F=$BATS_TEST_TMPDIR/out/f" -- sh -c "$act"
		[ "$status" -ne 0 ]
		[ "$(stat -c '%a %Y' "$BATS_TEST_TMPDIR/out/f")" = "$before" ]
	done
	F=$BATS_TEST_TMPDIR/out/f sh -c 'chmod 777 "$F" && touch -d 2001-01-01 "$F"' # control
	[ "$(stat -c '%a %Y' "$BATS_TEST_TMPDIR/out/f")" = "777 978307200" ]
}

@test "landlock: a denied path beside what may only be read" {
	mkdir -p "$BATS_TEST_TMPDIR/out/a/b"
	echo open >"$BATS_TEST_TMPDIR/out/a/open"
	echo shut >"$BATS_TEST_TMPDIR/out/a/b/shut"
	echo deep >"$BATS_TEST_TMPDIR/out/a/b/deep"
	run inside --read "$BATS_TEST_TMPDIR/out" --deny "$BATS_TEST_TMPDIR/out/a/b/shut" -- \
		sh -c "cd '$BATS_TEST_TMPDIR/out/a' && cat open b/deep && ls b"
	[ "$status" -eq 0 ]
	[[ $output == *open*deep*shut* ]]
	run inside --read "$BATS_TEST_TMPDIR/out" --deny "$BATS_TEST_TMPDIR/out/a/b/shut" -- \
		cat "$BATS_TEST_TMPDIR/out/a/b/shut"
	[ "$status" -ne 0 ]
	run inside --read "$BATS_TEST_TMPDIR/out" --deny "$BATS_TEST_TMPDIR/out/a/b" -- \
		ls "$BATS_TEST_TMPDIR/out/a/b"
	[ "$status" -ne 0 ]
}

@test "landlock: a denied file that can be executed is refused with the plan" {
	cp /bin/true tool
	run --separate-stderr inside --deny "$PWD/tool" -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *'which can be executed'* ]]
	chmod 644 tool
	inside --deny "$PWD/tool" -- true
}

@test "landlock: nothing outlives the call" {
	inside -- sh -c 'setsid sh -c "echo \$\$ >daemon; exec sleep 61" & sleep 0.2'
	[ -s daemon ]
	run ! kill -0 "$(cat daemon)"
	# control
	setsid sh -c 'echo $$ >daemon; exec sleep 61' &
	sleep 0.2
	kill "$(cat daemon)"
	# at the timeout
	run "$CORDON" run -q --backend landlock -t 300ms --grace 100ms -- \
		sh -c 'setsid sh -c "trap : TERM; echo \$\$ >daemon; while :; do sleep 1; done" & trap : TERM; while :; do sleep 1; done'
	[ "$status" -eq 124 ]
	run ! kill -0 "$(cat daemon)"
}

@test "landlock: kill -9 of cordon ends the tree" {
	for _ in 1 2 3; do
		rm -f daemon
		"$CORDON" run -q --backend landlock -- \
			sh -c 'setsid sh -c "echo \$\$ >daemon; exec sleep 61" & sleep 61' &
		cordon=$!
		for _ in $(seq 100); do [ -s daemon ] && break; sleep 0.02; done
		kill -9 "$cordon"
		wait "$cordon" || true
		sleep 0.1
		run ! kill -0 "$(cat daemon)"
	done
}

@test "landlock: the watchers cannot be reached from inside" {
	cat >reach.sh <<-'END'
		broker=$PPID
		watcher=$(cut -d' ' -f6 </proc/self/stat) # it leads the session
		test -d /proc/$watcher -a $watcher != $broker || exit
		for p in $broker $watcher; do
			kill -0 $p 2>/dev/null && echo signal
			for f in mem environ maps; do
				cat /proc/$p/$f >/dev/null 2>&1 && echo $f
				{ true >/proc/$p/$f; } 2>/dev/null && echo "$f for writing"
			done
			readlink /proc/$p/fd/0 && echo fd
			cat /proc/$p/cwd/file 2>/dev/null
		done
		echo tried
	END
	echo x >denied
	echo text >file
	for more in '' "--deny $PWD/denied"; do
		# shellcheck disable=SC2086 # options
		run inside $more -- sh reach.sh
		[ "$output" = "tried" ]
	done
	# control: the same of a process of one's own
	run inside -- sh -c 'sleep 5 & kill -0 $! && cat /proc/$!/maps >/dev/null && cat /proc/$!/cwd/file; kill $!'
	[ "$output" = text ]
}

@test "landlock: many threads, processes and signals at once" {
	cat >flood.py <<-'END'
		import os, signal, threading
		signal.signal(signal.SIGALRM, lambda *a: None)
		def work(n):
		    for i in range(200):
		        name = 'd%d-%d' % (n, i)
		        os.mkdir(name)
		        with open(name + '/f', 'w') as f: f.write('x')
		        os.rename(name + '/f', name + '/g')
		        os.unlink(name + '/g')
		        os.rmdir(name)
		for p in range(4):
		    if os.fork() == 0:
		        # as most programs: a call that nobody has heard yet is made again
		        signal.siginterrupt(signal.SIGALRM, False)
		        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
		        threads = [threading.Thread(target=work, args=(p * 10 + t,)) for t in range(4)]
		        for t in threads: t.start()
		        for t in threads: t.join()
		        os._exit(0)
		for p in range(4):
		    assert os.wait()[1] == 0
	END
	run inside -- /usr/bin/python3 flood.py
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(echo d*)" = 'd*' ]
	# callers that are killed while they wait
	run inside -- sh -c 'for i in $(seq 40); do (while :; do mkdir k$i; rmdir k$i; done) 2>/dev/null & sleep 0.01; kill -9 $!; done; echo fine'
	[ "$output" = fine ]
}
