#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backends bwrap, chroot and nsjail: what native's tests ask, and what only these can do wrong.  Whether they hold
# the policy is the conformance table's business.  KIN_OF names the backends that the tests of all are for, instead of
# bwrap and chroot: few machines have nsjail, and what they skip is to be seen.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
}

# Does it work here?  One that is there and does not work is a failure, not a skip.
works() { # BACKEND
	reason=$("$CORDON" backends --json | jq -r --arg b "$1" '.backends[] | select(.name == $b) |
		if (.guarantees | index("kill-tree")) then "" else .reason end')
	case $reason in
	'') return 0 ;;
	'only root can chroot'* | *'needs Landlock ABI'* | 'there is no bwrap in'*) return 1 ;;
	'there is no nsjail in'*) skip "nsjail is not installed" ;;
	*'user namespaces'* | *'make namespaces: '*) return 1 ;;
	esac
	echo "backend $1 is there and does not hold: $reason" >&2
	exit 1
}

# Those of them that work here, or a skip.
kin() {
	KIN=()
	for name in ${KIN_OF:-bwrap chroot}; do
		works "$name" && KIN+=("$name")
	done
	[ "${#KIN[@]}" -gt 0 ] || skip "none is available here: ${KIN_OF:-bwrap chroot}"
}

needs() { # BACKEND
	works "$1" || skip "backend $1 is not available here: $reason"
}

# In a pid and mount namespace of its own: what gets through must not hit the machine.
apart() { # SCRIPT ARG...
	timeout 60 unshare -m -p -f --kill-child --mount-proc --propagation private sh -c "$@" 3>&-
}

report() { # FILTER
	jq -r "$1" report.json
}

@test "kin: exit codes and what ended the command" {
	kin
	for b in "${KIN[@]}"; do
		run -0 "$CORDON" run -q -b "$b" -- true
		run -7 "$CORDON" run -q -b "$b" -- sh -c 'exit 7'
		run -137 "$CORDON" run -q -b "$b" --report report.json -- sh -c 'exit 137'
		[ "$(report .result.signal)" = null ]
		run -137 "$CORDON" run -q -b "$b" --report report.json -- sh -c 'kill -9 $$'
		[ "$(report .result.signal)" = 9 ]
		run -143 "$CORDON" run -q -b "$b" --report report.json -- sh -c 'kill -TERM $$'
		[ "$(report .result.signal)" = 15 ]
		run -127 "$CORDON" run -q -b "$b" -- no-such-command
		touch plain
		run -126 "$CORDON" run -q -b "$b" -- ./plain
		run -125 "$CORDON" run -q -b "$b" -C / -w "$PWD" -- true # the workspace cannot be /
	done
}

@test "kin: descriptors, directory, environment, mask and capabilities are the planned ones" {
	kin
	for b in "${KIN[@]}"; do
		exec 9<"$BATS_TEST_TMPDIR"
		run -0 "$CORDON" run -q -b "$b" -- ls /proc/self/fd
		[ "$output" = $'0\n1\n2\n3' ] # 3 is what ls reads
		run -0 "$CORDON" run -q -b "$b" -e ONE=1 -- sh -c '
			pwd; env | grep -c .; echo "$ONE"; umask
			grep -E "^(Cap|NoNew|Seccomp:)" /proc/self/status | tr -d "\n\t "; echo
			cat /proc/sys/kernel/hostname; nice'
		exec 9<&-
		[ "${lines[0]}" = "$PWD" ]
		[ "${lines[2]}" = 1 ]
		[ "${lines[3]}" = "$(umask)" ]
		[ "${lines[4]}" = CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2 ]
		[ "${lines[5]}" = cordon ]
		[ "${lines[6]}" = "$(nice)" ]
		run --separate-stderr -125 "$CORDON" run -q -b "$b" -- touch ran <"$BATS_TEST_TMPDIR"
		[[ $stderr == *'descriptor 0 is a directory'* ]]
		[ ! -e ran ]
		[ "$(echo through | "$CORDON" run -q -b "$b" -- cat)" = through ]
	done
}

@test "kin: a daemon in a session of its own ends with the call, with its timeout and with cordon" {
	kin
	for b in "${KIN[@]}"; do
		mark=7$RANDOM.$RANDOM
		run -0 "$CORDON" run -q -b "$b" -- sh -c "setsid -f sleep 3$mark; trap '' TERM; setsid -f sleep 3$mark; sleep 0.1"
		sleep 0.1
		run -1 pgrep -f "sleep 3$mark"
		run -124 "$CORDON" run -q -b "$b" -t 300ms --grace 100ms -- \
			sh -c "trap '' TERM; setsid -f sleep 4$mark; sleep 4$mark"
		run -1 pgrep -f "sleep 4$mark"
		"$CORDON" run -q -b "$b" -- sh -c "setsid -f sleep 5$mark; sleep 5$mark" 3>&- &
		pid=$!
		for _ in $(seq 50); do
			[ "$(pgrep -fc "^sleep 5$mark")" -eq 2 ] && break
			sleep 0.1
		done
		[ "$(pgrep -fc "^sleep 5$mark")" -eq 2 ] # the control: they live while the call does
		kill -9 "$pid"
		wait "$pid" || true
		for _ in $(seq 20); do
			pgrep -f "sleep 5$mark" >/dev/null || break
			sleep 0.05
		done
		run -1 pgrep -f "sleep 5$mark"
	done
}

@test "kin: SIGTERM reaches the command, which may end as it likes" {
	kin
	for b in "${KIN[@]}"; do
		"$CORDON" run -q -b "$b" -- sh -c 'trap "exit 33" TERM; touch ready; while :; do sleep 0.05; done' 3>&- &
		pid=$!
		for _ in $(seq 100); do
			[ -e ready ] && break
			sleep 0.05
		done
		kill "$pid"
		code=0
		wait "$pid" || code=$?
		[ "$code" -eq 33 ]
		rm ready
	done
}

@test "kin: on a terminal Ctrl-C and SIGTERM reach the command" {
	kin
	cat >terminal.py <<-'END'
		import os, pty, signal, sys, time
		def call(backend, act):
		    pid, fd = pty.fork()
		    if pid == 0:
		        os.execv(sys.argv[1], ['cordon', 'run', '-q', '-b', backend, '--', 'sh', '-c',
		                 'trap "exit 41" INT; trap "exit 42" TERM; echo ready; while :; do sleep 0.05; done'])
		    said = b''
		    while b'ready' not in said:
		        said += os.read(fd, 1000)
		    act(pid, fd)
		    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		for backend in sys.argv[2:]:
		    print(call(backend, lambda pid, fd: os.write(fd, b'\x03')),
		          call(backend, lambda pid, fd: os.kill(pid, signal.SIGTERM)))
	END
	run -0 timeout 60 python3 terminal.py "$CORDON" "${KIN[@]}"
	for line in "${lines[@]}"; do
		[ "$line" = '41 42' ]
	done
	[ "${#lines[@]}" -eq "${#KIN[@]}" ]
}

@test "kin: killed at any moment, cordon leaves no process" {
	kin
	for b in "${KIN[@]}"; do
		mark=6$RANDOM.$RANDOM
		for i in $(seq 20); do
			"$CORDON" run -q -b "$b" -- sh -c "setsid -f sleep 9$mark; sleep 9$mark" 3>&- &
			pid=$!
			sleep "0.0$((i % 10))"
			kill -9 "$pid"
			wait "$pid" || true
		done
		for _ in $(seq 40); do
			pgrep -f "9$mark" >/dev/null || break
			sleep 0.05
		done
		run -1 pgrep -f "9$mark"
	done
}

@test "kin: write-xor-execute, further refused calls and debuggers" {
	kin
	cat >memory.py <<-'END'
		import os
		os.memfd_create('x')
	END
	for b in "${KIN[@]}"; do
		cp /bin/true mine
		run -0 "$CORDON" run -q -b "$b" -- ./mine # the controls
		run -0 "$CORDON" run -q -b "$b" -- python3 memory.py
		run -0 "$CORDON" run -q -b "$b" -- sync
		run -126 "$CORDON" run -q -b "$b" --write-xor-execute -- ./mine
		run -126 "$CORDON" run -q -b "$b" --write-xor-execute -- sh -c 'cp /bin/true /tmp/mine && /tmp/mine'
		run -126 "$CORDON" run -q -b "$b" --write-xor-execute -- sh -c 'cp /bin/true /dev/shm/mine && /dev/shm/mine'
		run -1 "$CORDON" run -q -b "$b" --write-xor-execute -- python3 memory.py
		run -1 "$CORDON" run -q -b "$b" --deny-syscall memfd_create -- python3 memory.py
		try='import ctypes; raise SystemExit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)'
		run -1 "$CORDON" run -q -b "$b" -- python3 -c "$try"
		run -0 "$CORDON" run -q -b "$b" --allow-debug -- python3 -c "$try"
	done
}

@test "kin: limits are held" {
	kin
	"$CORDON" run -q -b noop -l none --max-processes 50 -- true || skip "no control groups here"
	for b in "${KIN[@]}"; do
		run -137 "$CORDON" run -q -b "$b" -m 64M -- python3 -c 'x = bytearray(200 << 20); x[::4096] = b"x" * len(x[::4096])'
		run -0 "$CORDON" run -q -b "$b" --max-open-files 33 -- sh -c 'ulimit -n'
		[ "$output" = 33 ]
	done
}

@test "chroot: the classic ways out" {
	needs chroot
	mkdir -p "$BATS_TEST_TMPDIR/secret" && echo hush >"$BATS_TEST_TMPDIR/secret/file"
	cat >out.py <<-'END'
		import ctypes, os, stat, sys
		libc = ctypes.CDLL(None, use_errno=True)
		secret, parent, outside = sys.argv[1], os.getppid(), int(sys.argv[2])
		got = []
		def attempt(name, f): # in a process of its own: what one does the next shall not see
		    child = os.fork()
		    if child == 0:
		        try:
		            os._exit(0 if f() else 1)
		        except BaseException:
		            os._exit(1)
		    if os.waitpid(child, 0)[1] == 0:
		        got.append(name)
		def climb():
		    for _ in range(64):
		        os.chdir('..')
		    return os.path.exists('.' + secret)
		def double():
		    os.mkdir('jail')
		    try:
		        os.chroot('jail')
		    finally:
		        os.rmdir('jail')
		    return climb()
		def double_raw():
		    os.makedirs('jail2', exist_ok=True)
		    return libc.chroot(b'jail2') == 0 and climb()
		def kept():
		    for fd in range(3, 256):
		        try:
		            os.fchdir(fd)
		        except OSError:
		            continue
		        return True
		    return False
		attempt('double chroot', double)
		attempt('double chroot, raw', double_raw)
		attempt('pivot_root', lambda: libc.syscall(155, b'.', b'.') == 0)
		attempt('climb', climb)
		attempt('fchdir of a kept descriptor', kept)
		attempt('mknod', lambda: os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0)) is None)
		attempt('mknod of memory', lambda: os.mknod('mem', 0o600 | stat.S_IFCHR, os.makedev(1, 1)) is None)
		attempt('mount', lambda: libc.mount(b'proc', b'.', b'proc', 0, None) == 0)
		attempt('unshare', lambda: libc.unshare(0x00020000) == 0)
		attempt('setns', lambda: libc.setns(os.open('/proc/self/ns/mnt', os.O_RDONLY), 0) == 0)
		for pid in (1, parent, outside):
		    attempt('root of %d' % pid, lambda: bool(os.listdir('/proc/%d/root/' % pid)))
		    attempt('memory of %d' % pid, lambda: open('/proc/%d/mem' % pid, 'rb') is not None)
		    attempt('environment of %d' % pid, lambda: open('/proc/%d/environ' % pid, 'rb').read() is not None)
		    attempt('ptrace of %d' % pid, lambda: libc.ptrace(0x4206, pid, 0, 0) == 0)
		    attempt('signal to %d' % pid, lambda: os.kill(pid, 0) is None)
		    attempt('limit of %d' % pid, lambda: libc.prlimit(pid, 7, None, ctypes.create_string_buffer(16)) == 0)
		    attempt('processors of %d' % pid, lambda: libc.sched_setaffinity(pid, 8, b'\1' + b'\0' * 7) == 0)
		attempt('priority of all', lambda: libc.setpriority(2, 0, os.nice(0)) == 0)
		attempt('processes of others', lambda: '1' in os.listdir('/proc'))
		print('; '.join(got))
	END
	run -0 apart 'sleep 60 & "$0" run -q -b chroot -- python3 out.py "$1" $!' "$CORDON" \
		"$BATS_TEST_TMPDIR/secret/file"
	inside=$output
	# The control: without the sandbox it works.
	run -0 apart 'sleep 60 & python3 out.py "$1" $!' "$CORDON" "$BATS_TEST_TMPDIR/secret/file"
	[[ $output == *'double chroot'*'root of'*'signal to'*'limit of'*'processors of'*'priority of all'* ]]
	[ "$inside" = "" ]
}

@test "chroot: the command cannot end its watcher, and kill -1 stays inside" {
	needs chroot
	cat >kill.sh <<-'END'
		kill -9 $PPID 2>/dev/null && echo killed
		kill -STOP $PPID 2>/dev/null && echo stopped
		setsid -f sleep 60
		trap "" TERM
		kill -TERM -1
		echo alive
	END
	run -0 apart 'sleep 60 & "$0" run -q -b chroot -- sh kill.sh; kill -0 $! && echo outside' "$CORDON"
	[ "$output" = $'alive\noutside' ]
}

@test "chroot: who kills the watcher, or the one that watches over it, ends the call" {
	needs chroot
	for victim in watcher guard; do
		mark=7$RANDOM.$RANDOM
		SECONDS=0
		timeout -s KILL 20 "$CORDON" run -q -b chroot -- sh -c "trap '' HUP TERM; setsid -f sh -c 'trap \"\" HUP; sleep 6$mark; :'; sleep 6$mark & sleep 6$mark; :" 3>&- &
		pid=$!
		for _ in $(seq 50); do
			[ "$(pgrep -fc "^sleep 6$mark")" -eq 3 ] && break
			sleep 0.1
		done
		[ "$(pgrep -fc "^sleep 6$mark")" -eq 3 ]
		command=$(pgrep -of "^sh -c trap.*6$mark")
		watcher=$(($(ps -o ppid= -p "$command")))
		[ "$watcher" -ne "$(pgrep -P "$pid")" ]
		guard=$(pgrep -P "$watcher" -f "^$CORDON run")
		kill -9 "${!victim}"
		code=0
		wait "$pid" || code=$?
		[ "$code" -eq 137 ]
		[ "$SECONDS" -lt 15 ] # by itself
		for _ in $(seq 20); do
			pgrep -f "sleep 6$mark" >/dev/null || break
			sleep 0.05
		done
		run -1 pgrep -f "sleep 6$mark"
		[ ! -e "/proc/$guard/exe" ] # whoever inherits it may not have looked yet
	done
}

@test "bwrap: a program that others could have written is not used" {
	needs bwrap
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	for act in 'chmod u+s' 'chmod g+w' 'chmod o+w' 'chown 65534'; do
		run --separate-stderr -125 unshare -m --propagation private sh -ec '
			cp /usr/bin/bwrap copy
			'"$act"' copy
			mount --bind copy /usr/bin/bwrap
			"$0" run -b bwrap -- true' "$CORDON"
		[[ $stderr == *'/usr/bin/bwrap '* ]]
		rm copy
	done
	# The control: a copy as it should be.
	run -0 unshare -m --propagation private sh -ec '
		cp /usr/bin/bwrap copy
		mount --bind copy /usr/bin/bwrap
		"$0" run -q -b bwrap -- true' "$CORDON"
}

@test "bwrap: what it says when it fails is what we say" {
	needs bwrap
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	# The answer of an earlier trial is asked for again: the program is another one.
	run --separate-stderr -125 unshare -m --propagation private sh -ec '
		mount --bind /usr/bin/false /usr/bin/bwrap
		"$0" run -b bwrap -- true' "$CORDON"
	[ "$(wc -l <<<"$stderr")" -le 2 ]
	[[ $stderr == *'backend bwrap: not available: bwrap: it ended before the command started'* ]]
	run --separate-stderr -125 unshare -m --propagation private sh -ec '
		mount --bind /usr/bin/ls /usr/bin/bwrap
		"$0" run -b bwrap -- true' "$CORDON"
	[[ $stderr == *"unrecognized option '--unshare-ipc'"* ]]
}

@test "nsjail: absent is one line with the fix" {
	[ ! -e /usr/bin/nsjail ] && [ ! -e /bin/nsjail ] && [ ! -e /usr/local/bin/nsjail ] || skip "nsjail is here"
	run --separate-stderr -125 "$CORDON" run -b nsjail -- true
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == *'there is no nsjail in /usr/bin, /bin or /usr/local/bin; install nsjail'* ]]
}

# instead PROGRAM STATEMENTS COMMAND...: with one of these C statements, or of this file, in the program's place.
instead() {
	local program=$1
	shift
	printf '#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n
		int main(int argc, char **argv) { (void)argc; (void)argv; %s }\n' "$1" >double.c
	[ ! -e "$1" ] || cp "$1" double.c
	shift
	cc -o double double.c
	# Not over the file: there may be none.
	unshare -m --propagation private sh -ec '
		mount -t tmpfs -o mode=755 double /usr/local/bin
		cp double "/usr/local/bin/$0"
		for other in /usr/bin /bin; do
			[ ! -e "$other/$0" ] || mount --bind "/usr/local/bin/$0" "$other/$0"
		done
		exec "$@"' "$program" "$@" 3>&-
}

@test "nsjail: a program in its place that fails, however it fails, is one line and nothing runs" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/local/bin, not even for itself"
	help='for (int i = 0; i < 9000; i++) fprintf(stderr, " --option%d VALUE\n", i);'
	log='[2026-01-02T03:04:05+0000][1] '
	while IFS='|' read -r statements said; do
		echo "$statements"
		run --separate-stderr -125 instead nsjail "$statements" "$CORDON" run -b nsjail -- touch ran
		echo "$stderr"
		[ "$(grep -vc '^cordon: hint: ' <<<"$stderr")" -eq 1 ]
		[[ $stderr == *"backend nsjail: not available: $said; "* ]]
		[ ! -e ran ]
	done <<-END
		return 0;|nsjail: it ended before the command started
		raise(SIGSEGV); return 0;|nsjail: it ended before the command started
		close(2); close(5); sleep(1); return 0;|nsjail: it ended before the command started
		fputs("\\033[31m\\a\\377garbage\\n", stderr); return 1;|nsjail: \x1b[31m\x07\xffgarbage
		fputs("nsjail: unrecognized option '--pass_fd'\\n", stderr); $help fputs("[F]${log}main():1 no\\n", stderr); return 255;|nsjail: unrecognized option '--pass_fd'
		fputs("[W]${log}a():1 not this\\n[I]${log}b\\n[W]${log}mountPt():2 mount: No\\n[E]${log}c():3 Couldn't mount\\n[F]${log}d():4 over\\n", stderr); return 255;|nsjail: mount: No: Couldn't mount
		write(5, "x", 1); return 0;|the sandbox died while it started
	END
}

@test "nsjail: one that makes nothing is not believed" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/local/bin, not even for itself"
	# It executes the launcher where it stands: no pid namespace, and the host's tree in reach.
	run --separate-stderr -125 instead nsjail 'execl("/proc/self/fd/3", "/proc/self/fd/3", (char *)0); return 1;' \
		"$CORDON" run -b nsjail -- touch ran
	[[ $stderr == *'backend nsjail: not available: start the sandbox program: Operation not permitted'* ]]
	[ ! -e ran ]
}

@test "nsjail: a stand-in takes the line strictly, and the launcher closes /proc and gives all up" {
	needs bwrap
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/local/bin, not even for itself"
	strict=$BATS_TEST_DIRNAME/../nsjail/program.c
	look='awk "\$5 ~ /^.proc./ { print \$5 }" /proc/self/mountinfo | sort -u'
	run -7 instead nsjail "$strict" "$CORDON" run -q -b nsjail -- sh -c 'exit 7'
	run -0 "$CORDON" run -q -b bwrap -- sh -c "$look"
	covered=$output
	[ "$(wc -l <<<"$covered")" -ge 4 ]
	run -0 instead nsjail "$strict" "$CORDON" run -q -b nsjail -- sh -c "$look"
	[ "$output" = "$covered" ]
	run -0 instead nsjail "$strict" "$CORDON" run -q -b nsjail -- sh -c 'grep -E "^(Cap|NoNew|Seccomp:)" /proc/self/status | tr -d "\n\t "'
	[ "$output" = CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2 ]
	# The host's network, and one with a list of hosts, which is ours.
	run -0 instead nsjail "$strict" "$CORDON" run -q -b nsjail --net allow-all -- true
	run -0 instead nsjail "$strict" "$CORDON" run -q -b nsjail --allow-host example.org -- true
	# The control: it can refuse.
	sed 's/"skip_setsid"/"no_setsid"/' "$strict" >other.c
	run --separate-stderr -125 instead nsjail "$PWD/other.c" "$CORDON" run -b nsjail -- true
	echo "$stderr"
	[[ $stderr == *"nsjail: unrecognized option '--skip_setsid'"* ]]
}

@test "bwrap: what it was to mount in /proc and did not, the launcher misses" {
	needs bwrap
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	cp /usr/bin/bwrap real
	pass="execv(\"/host$PWD/real\", argv); return 1;"
	is_cover='!strcmp(argv[i], "--ro-bind") && !strncmp(argv[i + 2], "/proc/", 6)'
	run -0 instead bwrap "$pass" "$CORDON" run -q -b bwrap -- true # the control
	for change in "if ($is_cover) i += 2; else argv[n++] = argv[i];" \
		"{ if ($is_cover) argv[i] = \"--bind\"; argv[n++] = argv[i]; }"; do
		run --separate-stderr -125 instead bwrap "int n = 0; for (int i = 0; i < argc; i++) $change argv[n] = 0; $pass" \
			"$CORDON" run -b bwrap -- touch ran
		echo "$stderr"
		[[ $stderr == *'close parts of /proc: Operation not permitted'* ]]
		[ ! -e ran ]
	done
}

@test "native: a call that it holds tries nobody else" {
	"$CORDON" run -q -b native -- true || skip "backend native is not available here"
	rm -f "$CORDON_STATE_DIR"/probe-*
	run -0 "$CORDON" run -q -- true
	[ "$(cd "$CORDON_STATE_DIR" && echo probe-*)" = probe-native ]
	"$CORDON" run -q -b bwrap -- true || skip "backend bwrap is not available here"
	[ "$(cd "$CORDON_STATE_DIR" && echo probe-*)" = 'probe-bwrap probe-native' ]
}
