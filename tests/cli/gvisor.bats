#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend gvisor: a call on gVisor's own kernel is the same call, ends as a whole, keeps its limits, and when runsc
# fails nothing runs.  Whether it holds the policy is the conformance table's business.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	if ! command -v runsc >/dev/null; then
		case "${CI-}${ENGINES-}" in true* | all) echo "runsc is not installed" >&2; return 1 ;; esac
		skip "runsc is not installed (ENGINES=all tools/setup check)"
	fi
	# One trial for the whole file.
	export CORDON_STATE_DIR=$BATS_FILE_TMPDIR/state CORDON_CONFIG_DIR=$BATS_FILE_TMPDIR/config
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
}

in_gvisor() { # ARG...
	timeout 60 "$CORDON" run -q -b gvisor "$@"
}

report() { # FILTER
	jq -r "$1" report.json
}

@test "gvisor: it is available here, and the kernel is another one" {
	run -0 "$CORDON" backends --json
	[ "$(jq -r '.backends[] | select(.name == "gvisor") | .available' <<<"$output")" = true ]
	run -0 in_gvisor -- sh -c 'cat /proc/version; test -e /proc/sentry-meminfo'
	[[ $output == *gVisor* || $output == *'Linux version 4.4.0'* ]]
	[ "$output" != "$(cat /proc/version)" ]
	run -1 test -e /proc/sentry-meminfo # the control
}

@test "gvisor: exit codes and what ended the command" {
	run -0 in_gvisor -- true
	run -7 in_gvisor -- sh -c 'exit 7'
	run -137 in_gvisor --report report.json -- sh -c 'exit 137'
	[ "$(report .result.signal)" = null ]
	run -137 in_gvisor --report report.json -- sh -c 'kill -9 $$'
	[ "$(report .result.signal)" = 9 ]
	[ "$(report .isolation.achieved.backend)" = gvisor ]
	[ "$(report .isolation.achieved.level)" = container ]
	run -143 in_gvisor -- sh -c 'kill -TERM $$'
	run -127 in_gvisor -- no-such-command
	touch plain
	run -126 in_gvisor -- ./plain
}

@test "gvisor: descriptors, directory, environment, mask and capabilities are the planned ones" {
	exec 9<"$BATS_TEST_TMPDIR"
	run -0 in_gvisor -- ls /proc/self/fd
	[ "$output" = $'0\n1\n2\n3' ] # 3 is what ls reads
	run -0 in_gvisor -e ONE=1 -- sh -c '
		pwd; echo "$ONE"; umask; echo "$CORDON_SANDBOX"; uname -n
		grep -E "^(Cap|NoNew|Seccomp:)" /proc/self/status | tr -d "\n\t "'
	exec 9<&-
	[ "${lines[0]}" = "$PWD" ]
	[ "${lines[1]}" = 1 ]
	[ "${lines[2]}" = "$(umask)" ]
	[ "${lines[3]}" = 1 ]
	[ "${lines[4]}" = cordon ]
	[[ ${lines[5]} == *CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000*Seccomp:2* ]]
	run --separate-stderr -125 in_gvisor -- touch ran <"$BATS_TEST_TMPDIR"
	[[ $stderr == *'descriptor 0 is a directory'* ]]
	[ ! -e ran ]
}

@test "gvisor: streams are the caller's, also files and their offsets" {
	[ "$(echo through | in_gvisor -- cat)" = through ]
	printf 'one\ntwo\n' >in
	{
		read -r _
		in_gvisor -- cat
	} <in >out
	[ "$(cat out)" = two ]
	echo first >out
	in_gvisor -- sh -c 'echo a; echo b >&2; echo c' >>out 2>&1
	run -0 sort out
	[ "$output" = $'a\nb\nc\nfirst' ]
	[ "$(head -c 3000000 /dev/zero | in_gvisor -- sh -c 'cat; cat' | wc -c)" -eq 3000000 ]
}

@test "gvisor: who writes when nobody reads any more is ended by SIGPIPE, as by native" {
	# what a shell makes of it, what the command does after that, and how the call ends
	cat >pipes.sh <<-'END'
		call() { timeout 60 "$CORDON" run -q -b "$BACKEND" -t 20s -- sh -c "$1"; }
		call 'while :; do echo x; done' 2>&1 | head -n 1; echo "${PIPESTATUS[*]}"
		call 'while :; do echo x >&2; done' 2>&1 >/dev/null | head -n 1; echo "${PIPESTATUS[*]}"
		call 'yes; echo $? >said; exit 5' | head -n 1; echo "${PIPESTATUS[*]} $(cat said)"
		call 'sleep 1; echo x; exit 4' | true; echo "${PIPESTATUS[*]}"
		# one that does not write is not ended, nor is one that does not mind
		call 'echo x; sleep 1; exit 6' | head -n 1; echo "${PIPESTATUS[*]}"
		call 'trap "" PIPE; echo x; sleep 1; echo y 2>/dev/null; exit 7' | head -n 1; echo "${PIPESTATUS[*]}"
		# order, whatever is left when it ends, a slow reader, and what is ended with it
		call 'echo a; echo b >&2; echo c; echo d >&2' 2>&1 | cat
		call 'head -c 200000 /dev/zero' | { sleep 1; wc -c; }
		call '{ sleep 2; echo late; } & echo early' | cat
	END
	export CORDON
	BACKEND=native bash pipes.sh >wanted
	BACKEND=gvisor bash pipes.sh >got
	cat got
	[ "$(head -n 4 got | tr '\n' ' ')" = 'x 141 0 x 141 0 ' ]
	cmp wanted got
}

@test "gvisor: the caller's pipes and sockets stay as they are, for all who share them" {
	cat >shared.py <<-'END'
		import os, socket, subprocess, sys
		def call(ends, script):
		    # the first of each is ours, the second the command's, and shared with whoever comes after
		    streams = dict(zip(("stdin", "stdout", "stderr"), (e[1] for e in ends)))
		    p = subprocess.Popen([sys.argv[1], "run", "-q", "-b", "gvisor", "--", "sh", "-c", script], **streams)
		    said = os.read(ends[1][0], 2)
		    flags = [os.get_blocking(e[1]) for e in ends]
		    for e in ends[1:]:
		        os.close(e[0])
		    return said, flags, p.wait(), [os.get_blocking(e[1]) for e in ends]
		print(call([os.pipe()[::-1], os.pipe(), os.pipe()], "echo x; sleep 1; echo y >&2; exit 3"))
		pairs = [[s.detach() for s in socket.socketpair()] for _ in range(3)]
		print(call([os.pipe()[::-1]] + pairs[1:], "echo x; while :; do echo y; done"))
	END
	run -0 timeout 60 python3 shared.py "$CORDON"
	[ "${lines[0]}" = "(b'x\\n', [True, True, True], 141, [True, True, True])" ]
	[ "${lines[1]}" = "(b'x\\n', [True, True, True], 141, [True, True, True])" ]
	# a pipe that is somebody else's cannot be opened anew
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become another user"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR" "$CORDON_CONFIG_DIR"
	mkdir -m 777 ../theirs
	mkdir -m 700 ../theirs/state
	chown 65534 ../theirs/state
	cd ../theirs
	run -0 bash -c '{
		env HOME=/nonexistent-home CORDON_STATE_DIR="$PWD/state" timeout 60 setpriv --reuid 65534 --regid 65534 \
			--clear-groups "$0" run -q -b gvisor -- sh -c "echo begun; while :; do echo x; done"
		echo "$?" >code
		python3 -c "import os; open(\"blocks\", \"w\").write(str(os.get_blocking(1)))"
	} | head -n 1' "$CORDON"
	echo "$output"
	[ "$output" = begun ]
	[ "$(cat code blocks)" = $'141\nTrue' ]
}

@test "gvisor: a daemon ends with the call, with its timeout and with cordon" {
	in_gvisor -- true # nothing but the call is timed
	run -0 in_gvisor -- sh -c 'setsid -f sleep 300; trap "" TERM; setsid -f sleep 300; sleep 0.1'
	run -124 in_gvisor -t 2s --grace 100ms -- sh -c 'trap "" TERM; setsid -f sleep 300; sleep 300'
	# Killed at any moment: while runsc starts, and while the command runs.
	for wait in 0.05 0.1 0.2 0.3 0.5 0.8 1.2; do
		"$CORDON" run -q -b gvisor -- sh -c 'touch here; sleep 300' 3>&- &
		pid=$!
		sleep "$wait"
		kill -9 "$pid"
		wait "$pid" || true
	done
	"$CORDON" run -q -b gvisor -- sh -c 'touch ready; sleep 300' 3>&- &
	pid=$!
	for _ in $(seq 200); do
		[ -e ready ] && break
		sleep 0.05
	done
	tree=$(children "$pid")
	[ "$(wc -w <<<"$tree")" -ge 3 ] # the control: runsc, its gofer and its kernel
	kill -9 "$pid"
	wait "$pid" || true
	for _ in $(seq 40); do
		alive "$tree" || break
		sleep 0.05
	done
	run -1 alive "$tree"
}

# All processes below one.
children() { # PID
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		children "$child"
	done
}

alive() { # PIDS
	local pid
	for pid in $1; do
		kill -0 "$pid" 2>/dev/null && return 0
	done
	return 1
}

@test "gvisor: SIGTERM reaches the command, which may end as it likes" {
	"$CORDON" run -q -b gvisor -- sh -c 'trap "exit 33" TERM; touch ready; while :; do sleep 0.05; done' 3>&- &
	pid=$!
	for _ in $(seq 200); do
		[ -e ready ] && break
		sleep 0.05
	done
	kill "$pid"
	code=0
	wait "$pid" || code=$?
	[ "$code" -eq 33 ]
}

@test "gvisor: on a terminal Ctrl-C and SIGTERM reach the command, and its output passes the filter" {
	cat >terminal.py <<-'END'
		import os, pty, signal, sys
		def call(script, act=None):
		    pid, fd = pty.fork()
		    if pid == 0:
		        os.execv(sys.argv[1], ['cordon', 'run', '-q', '-b', 'gvisor', '--', 'sh', '-c', script])
		    said = b''
		    try:
		        while True:
		            said += os.read(fd, 1000)
		            if act and b'ready' in said:
		                act(pid, fd)
		                act = None
		    except OSError:
		        pass
		    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
		loop = 'trap "exit 41" INT; trap "exit 42" TERM; echo ready; while :; do sleep 0.05; done'
		print(call(loop, lambda pid, fd: os.write(fd, b'\x03'))[0], call(loop, lambda pid, fd: os.kill(pid, signal.SIGTERM))[0],
		      *sorted(call(r'printf "a\033]52;c;ZXZpbA==\007b\n"; printf "\033]52;c;eA==\007c\n" >&2')[1].split()))
	END
	run -0 timeout 60 python3 terminal.py "$CORDON"
	[ "$output" = "41 42 b'ab' b'c'" ]
}

@test "gvisor: no network, not even of the machine's own" {
	python3 -u -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64); print(s.getsockname()[1])
while True: s.accept()' >port 3>&- &
	server=$!
	for _ in $(seq 50); do
		[ ! -s port ] || break
		sleep 0.1
	done
	try="import socket; socket.create_connection(('127.0.0.1', $(cat port)), 3)" # the control is next
	run -0 python3 -c "$try"
	run -1 in_gvisor -- python3 -c "$try"
	kill "$server"
	wait "$server" || true
}

@test "gvisor: processes, open files, output and time are limited" {
	fork='import os, time
	n = 1
	try:
	    for _ in range(40):
	        if os.fork() == 0:
	            time.sleep(5)
	            os._exit(0)
	        n += 1
	except OSError:
	    pass
	print(n, flush=True)
	os.kill(0, 9)'
	fork=${fork//$'\n\t'/$'\n'}
	run -137 in_gvisor --max-processes 9 -- python3 -c "$fork"
	[ "$output" -lt 9 ]
	run -137 in_gvisor -- python3 -c "$fork"
	[ "$output" -eq 41 ] # the control
	run -0 in_gvisor --max-open-files 33 -- sh -c 'ulimit -n'
	[ "$output" = 33 ]
	run -0 bash -c '"$0" run -q -b gvisor --max-output 100K --report report.json -- yes | wc -c' "$CORDON"
	[ "$output" -le 102400 ]
	[ "$(report .result.output_truncated)" = true ]
}

@test "gvisor: memory is limited, and what went over it is told" {
	"$CORDON" run -q -b noop -l none -m 500M -- true || skip "no control groups here"
	fill='x = bytearray(400 << 20); x[::4096] = b"x" * len(x[::4096]); print("held")'
	run -0 in_gvisor -m 1G -- python3 -c "$fill"
	[ "$output" = held ]
	run -137 in_gvisor -m 200M --report report.json -- python3 -c "$fill"
	[ "$(report .result.oom)" = true ]
}

@test "gvisor: the workspace is a change set that can be thrown away" {
	echo a >file
	run -0 in_gvisor --workspace discard -- sh -c 'echo b >file; echo c >new; cat file'
	[ "$output" = b ]
	[ "$(cat file)" = a ]
	[ ! -e new ]
}

@test "gvisor: a policy that asks for what it does not have is refused by name" {
	run --separate-stderr -125 in_gvisor --device /dev/null -- touch ran
	[[ $stderr == *device-grant* ]]
	[ ! -e ran ]
}

# In a mount namespace of its own, with PROGRAM in the place of runsc.
with_runsc() { # PROGRAM
	chmod 755 "$1" 2>/dev/null || true
	run --separate-stderr -125 timeout 120 unshare -m --propagation private sh -ec '
		mount --bind "$1" /usr/bin/runsc
		"$0" run -b gvisor -- touch ran' "$CORDON" "$1"
	[ ! -e ran ]
	[ "$(wc -l <<<"$stderr")" -le 2 ]
}

@test "gvisor: a runsc that fails, crashes or talks nonsense stops the call" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	with_runsc /usr/bin/false
	[[ $stderr == *'backend gvisor: not available: runsc: it ended before the command started'* ]]
	for act in 'raise(SIGSEGV)' 'write(2, "nonsense\n", 9); write(5, "1234", 4)' 'write(2, "nonsense\n", 9)'; do
		printf '#include <signal.h>\n#include <unistd.h>\nint main(void) { %s; return 0; }\n' "$act" >act.c
		cc -w -o act act.c
		with_runsc act
		[[ $stderr == *'backend gvisor: not available: '* ]]
		said+=$stderr
	done
	[[ $said == *'runsc: it ended before the command started'*'the sandbox died while it started'*'runsc: nonsense'* ]]
	# and one that does nothing at all, on each platform
	printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >act.c
	cc -w -static -o act act.c
	with_runsc act
	[[ $stderr == *'backend gvisor: not available: runsc: wait for the sandbox: '* ]]
	run -1 pgrep -f "$BATS_TEST_TMPDIR/work/act"
	# The control: the same bind of the real one.
	cp /usr/bin/runsc copy
	run -0 unshare -m --propagation private sh -ec '
		mount --bind copy /usr/bin/runsc
		"$0" run -q -b gvisor -- true' "$CORDON"
}

@test "gvisor: an engine that is killed in the middle of a call is an error, and nothing stays" {
	# runsc itself; and the processes that are its kernel and its way to files
	for victim in runsc runsc-sandbox runsc-gofer; do
		rm -f ready
		timeout 60 "$CORDON" run -b gvisor -- sh -c 'touch ready; while cat /usr/bin/env >/dev/null; do sleep 0.1; done; exit 77' 2>said 3>&- &
		pid=$!
		for _ in $(seq 200); do
			[ -e ready ] && break
			sleep 0.05
		done
		tree=$(children "$pid")
		killed=
		for process in $tree; do
			name=$(tr '\0' '\n' <"/proc/$process/cmdline" | head -n 1)
			[ "${name##*/}" != "$victim" ] || { kill -9 "$process" && killed=$process && break; }
		done
		[ -n "$killed" ]
		code=0
		wait "$pid" || code=$?
		echo "$victim: $code: $(cat said)"
		[ "$code" -eq 125 ]
		grep 'what the command ran in was lost while it ran' said
		grep 'hint: nothing of the call is left running' said
		run -1 alive "$tree"
	done
	# the controls: what the command itself does is no loss
	run -137 in_gvisor -- sh -c 'kill -9 $$'
	run -137 in_gvisor -- python3 -c 'import os; os.kill(0, 9)'
	run -143 in_gvisor -- sh -c 'kill 0; sleep 9'
	# nor can it end who would tell of it, in any way that names that one; a child of its own it can
	cat >first.py <<-'END'
		import ctypes, os, signal, sys
		libc, child = ctypes.CDLL(None, use_errno=True), os.fork()
		if child == 0:
		    signal.pause()
		said = []
		for pid in 1, child:
		    for call in (62, pid, 9), (200, pid, 9), (234, pid, pid, 9), (129, pid, 9, 0), (297, pid, pid, 9, 0):
		        r = libc.syscall(*call)
		        said.append(ctypes.get_errno() if r < 0 else 0)
		print(*said[:5], said[5], os.waitpid(child, 0)[1])
		try:
		    os.kill(-1, 9)
		except ProcessLookupError:
		    pass # nobody but the first
		sys.exit(8)
	END
	if [ "$(uname -m)" = x86_64 ]; then
		run -8 in_gvisor -- python3 first.py
		[ "$output" = '1 1 1 1 1 0 9' ]
		# nor by a descriptor that is its own, or by its limits
		cat >owned.py <<-'END'
			import fcntl, os, resource, socket, sys, time
			for limit in resource.RLIMIT_CPU, resource.RLIMIT_NOFILE:
			    try:
			        resource.prlimit(1, limit, (0, 0))
			        print("limited")
			    except PermissionError:
			        pass
			ours, theirs = socket.socketpair()
			fcntl.fcntl(ours, fcntl.F_SETOWN, 1)
			fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC)
			try:
			    fcntl.fcntl(ours, 10, 9) # F_SETSIG
			except PermissionError:
			    print("refused")
			theirs.send(b"x")
			time.sleep(0.5)
			print(len(resource.prlimit(0, resource.RLIMIT_CPU)))
			sys.exit(8)
		END
		run -8 in_gvisor -- python3 owned.py
		[ "$output" = $'refused\n2' ]
	fi
	run -1 in_gvisor -- python3 -c 'import os; os.kill(1, 9)'
	run -3 in_gvisor -- sh -c 'exit 3'
	run -124 in_gvisor -t 1s --grace 100ms -- sleep 300
}

@test "gvisor: a runsc that is killed while it starts is an error, and nothing runs or stays" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >slow.c
	cc -static -o slow slow.c
	unshare -m --propagation private sh -ec '
		mount --bind slow /usr/bin/runsc
		exec "$0" run -b gvisor -- touch ran' "$CORDON" 2>said 3>&- &
	pid=$!
	for _ in $(seq 200); do
		victim=$(pgrep -P "$pid" | head -n 1) || true
		[ -z "$victim" ] || [ "$(tr '\0' '\n' <"/proc/$victim/cmdline" | head -n 1)" != runsc ] || break
		sleep 0.05
	done
	tree=$(children "$pid")
	# one for each way to use it that is tried
	code=0
	for _ in $(seq 200); do
		kill -9 "$victim" 2>/dev/null || true
		kill -0 "$pid" 2>/dev/null || break
		victim=$(pgrep -P "$pid" | head -n 1) || true
		sleep 0.05
	done
	wait "$pid" || code=$?
	cat said
	[ "$code" -eq 125 ]
	grep 'backend gvisor: not available: runsc: it ended before the command started' said
	[ ! -e ran ]
	run -1 alive "$tree"
}

@test "gvisor: pid 1 tells nothing of the caller's, and neither does the mount table" {
	export SECRET_TOKEN=hush
	run -0 in_gvisor -e OWN=1 -- sh -c 'tr "\0" "\n" </proc/1/environ; cat /proc/mounts; strings -a /.cordon-launch | grep -c "$PWD"; true'
	[[ $output != *hush* ]]
	[[ $output != *OWN=1* ]]
	[[ $output != *"$HOME"/* ]]
}

@test "gvisor: a denied name in /proc and /dev is closed, although both are gVisor's" {
	for path in /proc/cpuinfo /proc/version /dev/zero /dev/shm; do
		run -0 in_gvisor -- sh -c 'ls "$0"/. >/dev/null 2>&1 || head -c 1 "$0" >/dev/null' "$path" # the control
		run in_gvisor --deny "$path" -- sh -c 'ls "$0"/. >/dev/null 2>&1 || head -c 1 "$0" >/dev/null' "$path"
		[ "$status" -ne 0 ]
		[ "$status" -ne 125 ]
	done
	run --separate-stderr -125 in_gvisor --deny /proc/self -- touch ran
	run --separate-stderr -125 in_gvisor --write-xor-execute -- touch ran
	[[ $stderr == *write-xor-execute* ]]
	[ ! -e ran ]
}

@test "gvisor: a missing directory is told" {
	run --separate-stderr -125 in_gvisor -C "$PWD/not-there" -- true
	[[ $stderr == *not-there* ]]
}

@test "gvisor: what is denied or protected can be neither replaced nor removed" {
	echo a >shut
	run in_gvisor --deny "$PWD/shut" -- sh -c 'echo x >n; mv -f n shut; rm -f shut; mv -f n .mcp.json; ls -l >/dev/null; echo x >ran'
	[ -e ran ]
	[ "$(cat shut)" = a ]
	[ ! -e .mcp.json ]
	run -0 in_gvisor -- sh -c 'echo x >n; mv -f n shut; ls -l' # the control
	[ "$(cat shut)" = x ]
}

@test "gvisor: level container and the strongest backend are this one, and a floor is never gone below" {
	run -0 timeout 60 "$CORDON" run -q -l container --report report.json -- true
	[ "$(report .isolation.achieved.level)" = container ]
	run -0 timeout 60 "$CORDON" run -q -b strongest --report report.json -- true
	[ "$(report .isolation.achieved.level)" != process ]
	# What it does not give, it is not chosen for: not for a device, which native has.
	run -0 timeout 60 "$CORDON" run -q --device /dev/null --report report.json -- true
	[ "$(report .isolation.achieved.backend)" = native ]
	run --separate-stderr -125 timeout 60 "$CORDON" run -q -b gvisor -l vm -- touch ran
	[ ! -e ran ]
	printf 'cordon: 1\nenforcement:\n  gvisor:\n    platform: ptrace\n' >p.yaml
	run -0 timeout 60 "$CORDON" run -q -b gvisor -p p.yaml -- true
	printf 'cordon: 1\nenforcement:\n  gvisor:\n    platform: other\n' >p.yaml
	run --separate-stderr -125 timeout 60 "$CORDON" run -q -b gvisor -p p.yaml -- touch ran
	[[ $stderr == *"no platform 'other'"* ]]
	[ ! -e ran ]
}
