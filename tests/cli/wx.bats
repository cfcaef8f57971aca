#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Write-xor-execute, refused system calls and debugging: what they stop, what they do not, and that the act
# works without them.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell

bats_require_minimum_version 1.5.0
load scene

WX=--write-xor-execute
LOADER=
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib/ld-linux-riscv64-lp64d.so.1; do
	[ ! -e $loader ] || LOADER=$loader
done

setup() {
	scene_make
}

teardown() {
	scene_remove
}

# The row is refused under write-xor-execute and works in the same sandbox without it.
only_wx() {
	works "$1"
	refused "$1" $WX
}

@test "wx: a program that was written is not executed, wherever it is" {
	only_wx 'cp /bin/true t; ./t'
	only_wx 'cp /bin/true /tmp/t-$$; trap "rm -f /tmp/t-$$" EXIT; /tmp/t-$$'
	only_wx 'cp /bin/true ~/t; ~/t'
	only_wx 'cp /bin/true /dev/shm/t-$$; trap "rm -f /dev/shm/t-$$" EXIT; /dev/shm/t-$$'
	only_wx 'd=$(mktemp -d); trap "rm -rf $d" EXIT; cp /bin/true $d/t; $d/t'
}

@test "wx: nor one that was there before" {
	for who in $WHO; do
		for d in w h; do
			cp /bin/true "$PLACE/$who/$d/old"
		done
		scene_give "$who"
	done
	only_wx './old'
}

@test "wx: scripts are not executed; an interpreter still reads them" {
	only_wx 'printf "#!/bin/sh\nexit 0\n" >s; chmod 755 s; exec ./s'
	works 'printf "exit 0\n" >s; sh s; . ./s' $WX
	works 'echo 0 >s.py; python3 s.py' $WX
}

@test "wx: the loader does not map it either" {
	[ -n "$LOADER" ] || skip "no known loader"
	only_wx "cp /bin/true t; $LOADER ./t"
}

@test "wx: no executable mapping of a file, no library, no memory file" {
	only_wx 'head -c 4096 /dev/zero >m; python3 -c "
import mmap
f = open(\"m\", \"rb\")
mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)"'
	only_wx 'cp "$(ls /lib/*/libm.so.6 /usr/lib/*/libm.so.6 2>/dev/null | head -1)" ./m.so; python3 -c "
import ctypes
ctypes.CDLL(\"./m.so\")"'
	only_wx 'python3 -c "
import os
fd = os.memfd_create(\"x\")
os.write(fd, open(\"/bin/true\", \"rb\").read())
os.execve(fd, [\"true\"], {})"'
}

@test "wx: memory of one's own stays as it is: compilers that run what they make keep working" {
	works 'python3 -c "
import mmap
mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)"' $WX
	works 'perl -e "print 1" && node -e "1" 2>/dev/null || ! command -v node' $WX
}

@test "wx: a file that came in as a descriptor is not executed from there" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		cp /bin/true t
		scene_give "$who"
		inside "$who" -- sh -c 'cp /bin/true t; ./t' <t
		as "$who" /proc/self/fd/0 <t
		run inside "$who" $WX -- sh -c 'cp /bin/true t && /proc/self/fd/0' <t
		[ "$status" -ne 0 ]
		[ "$status" -ne 125 ]
		run inside "$who" $WX -- python3 -c 'import os; os.execve(0, ["true"], {})' <t
		[ "$status" -ne 0 ]
		[ "$status" -ne 125 ]
	done
}

@test "wx: exempt paths: a grant, a part of the workspace; the rest stays closed" {
	works 'mkdir out'
	works 'cp /bin/true out/t; out/t; cp /bin/true t; test -z "$CORDON_SANDBOX" || ! ./t' $WX --exec out
	works 'cp /bin/true t && ./t' $WX --exec .
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		inside "$who" $WX --write "$PLACE/$who/out" --exec "$PLACE/$who/out" -- \
			sh -ec 'cp /bin/true "$0/t" && "$0/t" && cp /bin/true t && ! ./t' "$PLACE/$who/out"
		run inside "$who" $WX --write "$PLACE/$who/out" -- sh -c 'cp /bin/true "$0/t" && "$0/t"' "$PLACE/$who/out"
		[ "$status" -eq 126 ]
	done
}

@test "wx: an exempt path that nothing lets be written, or that is missing, is an error" {
	cd self/w || return
	run inside self $WX --exec /usr -- true
	[ "$status" -eq 125 ]
	[[ $output == *"executable path '/usr' is not writable"*'--write /usr'* ]]
	run inside self $WX --exec none -- true
	[ "$status" -eq 125 ]
	[[ $output == *"none'"* ]]
}

@test "wx: mode full: the system is read-only, the rest is not executed" {
	cd self/w || return
	cp /bin/true t
	run inside self --fs full -- ./t
	# Our state directory is in /tmp here, which then must have no mounts in it; a test beside this one may.
	[[ $output != *'mounted inside it'* ]] || return 0
	[ "$status" -eq 0 ]
	inside self --fs full $WX -- true
	run inside self --fs full $WX -- ./t
	[ "$status" -eq 126 ]
}

@test "wx: a project file can ask for it and not take it back" {
	cd self/w || return
	cp /bin/true t
	printf 'cordon: 1\nsandbox:\n  capabilities:\n    filesystem:\n      write_xor_execute: true\n' >.cordon.yaml
	run inside self -- ./t
	[ "$status" -eq 126 ]
	sed -i s/true/false/ .cordon.yaml
	run inside self $WX -- ./t
	[ "$status" -ne 0 ]
	printf 'cordon: 1\nsandbox:\n  capabilities:\n    filesystem:\n      executable_paths: [.]\n' >.cordon.yaml
	run inside self $WX -- ./t
	[ "$status" -eq 125 ]
	rm .cordon.yaml
	inside self -- ./t
}

@test "wx: it is a guarantee, and level none does not give it" {
	cd self/w || return
	as self "$PLACE/cordon" backends --json | jq -e '.backends[] | select(.name == "native") |
		.guarantees | index("write-xor-execute") and index("syscall-list") and index("debug-grant")'
	run as self "$PLACE/cordon" run --level none --backend noop $WX -- true
	[ "$status" -eq 125 ]
	[[ $output == *write-xor-execute* ]]
}

@test "calls: a refused call answers EPERM; others and the same without the option work" {
	works 'mkdir d1; touch f'
	refused 'mkdir d2' --deny-syscall mkdir --deny-syscall mkdirat
	works 'touch g' --deny-syscall mkdir --deny-syscall mkdirat
	refused 'python3 -c "import socket; socket.socket()"' --deny-syscall @network
	works 'python3 -c "print(1)"' --deny-syscall @network --deny-syscall @ipc
}

@test "calls: the list reaches what the command starts" {
	refused 'sh -c "sh -c \"mkdir d3\""' --deny-syscall mkdir --deny-syscall mkdirat
}

@test "calls: unknown names and needed calls are errors; a set without its needed calls still runs one" {
	cd self/w || return
	for name in foo @foo MKDIR '@'; do
		run inside self --deny-syscall "$name" -- true
		[ "$status" -eq 125 ]
		[[ $output == *"'$name' is not a system call"* ]]
	done
	run inside self --deny-syscall execve -- true
	[ "$status" -eq 125 ]
	[[ $output == *'cannot be refused'* ]]
	inside self --deny-syscall @process --deny-syscall @system -- true
}

@test "debug: tracing works where it is granted, and only there" {
	command -v gdb >/dev/null || skip "gdb is not installed"
	works 'gdb -nx -batch -ex run -ex "print 6*7" /bin/true 2>&1 | grep "exited normally"' --allow-debug
	refused 'gdb -nx -batch -ex run -ex "print 6*7" /bin/true 2>&1 | grep "exited normally"'
	# The sandbox's own first process cannot be traced.
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		run inside "$who" --allow-debug -- gdb -nx -batch -p 1
		[[ $output == *'Operation not permitted'* ]] || [[ $output == *'ptrace:'* ]]
	done
}
