#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon learn: the manifest is valid, lets the command pass, and grants no more than that needs.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	# Not below /tmp, of which a call has its own.
	place=$(mktemp -d /var/tmp/cordon-learn-XXXXXX)
	export HOME=$place/home
	mkdir -p "$place/work" "$HOME/.ssh" "$place/out/many" "$place/out/dir" "$CORDON_CONFIG_DIR"
	echo outside >"$place/out/data"
	echo key >"$HOME/.ssh/id_rsa"
	cd "$place/work" || return
	"$CORDON" run -q --backend native -- true || skip "backend native is not available here"
}

teardown() {
	cd / && rm -rf "$place"
}

learn() {
	"$CORDON" learn -q --backend native -o "$place/m.yaml" "$@"
	"$CORDON" policy validate "$place/m.yaml"
}

@test "learn: the manifest lets the command pass that failed without it" {
	script="cat '$place/out/data' && ls '$place/out/dir' && echo x >'$place/out/made' && echo y >inside"
	run "$CORDON" run -q --backend native -- sh -c "$script"
	[ "$status" -ne 0 ]
	learn --rounds 8 -- sh -c "$script"
	rm -f "$place/out/made" inside
	run "$CORDON" run -q --backend native -p "$place/m.yaml" -- sh -c "$script"
	[ "$status" -eq 0 ]
	[ "$output" = outside ]
	[ -e "$place/out/made" ]
	[ -e inside ]
}

@test "learn: one round gives no more rights than run would" {
	run --separate-stderr "$CORDON" learn -q --backend native -- sh -c "cat '$place/out/data' >&2; echo x >'$place/out/made'; true"
	[ "$status" -eq 0 ]
	[[ $stderr != *outside* && $output != *outside* ]]
	[ ! -e "$place/out/made" ]
	[[ $output == *"- {path: \"$place/out\", permissions: rw}"* ]]
}

@test "learn: what is not used is not in it" {
	learn -r "$place/out" -w "$place/out/dir" -- true
	grep -q '{path: ".", permissions: ro}' "$place/m.yaml"
	run ! grep -q "{path: \"$place/out" "$place/m.yaml"
	grep -q 'mode: deny' "$place/m.yaml"
	learn -r "$place/out" -w "$place/out/dir" -- cat "$place/out/data"
	[ "$(grep -c 'path: ' "$place/m.yaml")" -eq 2 ]
	grep -q "{path: \"$place/out\", permissions: ro}" "$place/m.yaml"
	learn -- touch made
	grep -q '{path: ".", permissions: rw}' "$place/m.yaml"
	run -0 "$CORDON" run -q --backend native -p "$place/m.yaml" -- touch again
}

@test "learn: credentials and protected names are remarks, never grants" {
	mkdir -p .git/hooks
	learn --rounds 3 -- sh -c 'cat ~/.ssh/id_rsa; ls ~/.ssh; echo x >.git/hooks/pre-commit; echo x >.bashrc'
	grep -v '^#' "$place/m.yaml" >"$place/grants"
	run ! grep -E 'ssh|hooks|bashrc' "$place/grants"
	grep -q "^#.*read $HOME/.ssh/id_rsa: built-in table of credentials" "$place/m.yaml"
	grep -q '^#.*hooks' "$place/m.yaml"
	[ ! -e .git/hooks/pre-commit ]
	[ ! -e .bashrc ]
	run "$CORDON" run -q --backend native -p "$place/m.yaml" -- sh -c 'cat ~/.ssh/id_rsa'
	[ "$status" -ne 0 ]
	[[ $output != *key* ]]
}

@test "learn: many files of one directory become the directory, a few do not" {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "$i" >"$place/out/many/$i"
		echo "$i" >"$HOME/$i"
	done
	learn -- bash -c "cat '$place/out/many/'{1,2,3}; true"
	[ "$(grep -c "{path: \"$place/out/many/" "$place/m.yaml")" -eq 3 ]
	learn -- bash -c "cat '$place/out/many/'{1,2,3,4,5,6,7,8,9}; true"
	[ "$(grep -c "{path: \"$place/out/many\", permissions: ro}" "$place/m.yaml")" -eq 1 ]
	run ! grep -q "{path: \"$place/out/many/" "$place/m.yaml"
	# a home never is
	learn -- bash -c 'cat ~/{1,2,3,4,5,6,7,8,9,10}; true'
	run ! grep -q "path: \"$HOME\"" "$place/m.yaml"
	[ "$(grep -c "path: \"$HOME/" "$place/m.yaml")" -eq 10 ]
}

@test "learn: hosts are listed; refused system calls are remarks" {
	learn -- python3 -c '
import ctypes, socket
ctypes.CDLL(None).ptrace(16, 999999, 0, 0)
s = socket.socket()
try: s.connect(("192.0.2.9", 443))
except OSError: pass'
	grep -q '"192.0.2.9:443"' "$place/m.yaml"
	grep -q 'mode: allowlist' "$place/m.yaml"
	grep -q '^#.*ptrace: sandbox.capabilities.debug.*; you can with --allow-debug$' "$place/m.yaml"
	learn -- ls /srv
	grep -q '^#.*read /srv: .*; you can with --read /srv$' "$place/m.yaml"
	run -0 "$CORDON" run -q --backend native --read /srv -- ls /srv
}

@test "learn: what only a message says is a remark, on a terminal, too" {
	cat >log <<-EOT
		touch: cannot touch '$place/out/dir/x': Read-only file system
		cat: $place/out/data: Permission denied
		curl: (6) Could not resolve host: evil.example
	EOT
	cat >typed.py <<-'END'
		import os, pty, sys
		sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
	END
	/usr/bin/python3 typed.py "$CORDON" learn --rounds 3 --backend native -o "$place/m.yaml" -- sh -c 'cat log; exit 1' \
		</dev/null >"$place/text" || true
	grep -q 'denied: host evil.example (inferred)' "$place/text"
	"$CORDON" policy validate "$place/m.yaml"
	cat "$place/m.yaml"
	grep -q "^#   read $place/out/data (inferred): " "$place/m.yaml"
	grep -q '^#   host evil.example (inferred): .*you can with --allow-host evil.example' "$place/m.yaml"
	run ! grep -q "^ .*$place/out\|^ .*evil.example" "$place/m.yaml"
	# what it really asked for is granted, whatever was said of it before
	/usr/bin/python3 typed.py "$CORDON" learn --rounds 3 --backend native -o "$place/m.yaml" -- \
		sh -c "cat log; sleep 0.3; cat '$place/out/data'" </dev/null >"$place/text" || true
	grep -q "path: \"$place/out/data\", permissions: ro" "$place/m.yaml"
	run ! grep -q 'permissions: rw' "$place/m.yaml"
}

@test "learn: strange names survive" {
	name=$'we"ird \x27n\\ame: #x'
	mkdir "$place/out/$name"
	echo odd >"$place/out/$name/f"
	learn -- cat "$place/out/$name/f"
	run -0 "$CORDON" run -q --backend native -p "$place/m.yaml" -- cat "$place/out/$name/f"
	[ "$output" = odd ]
}

@test "learn: standard output is the manifest's, unless it has a file" {
	run --separate-stderr "$CORDON" learn -q --backend native -- sh -c 'echo hello; exit 3'
	[ "$status" -eq 0 ]
	[[ $output == '# What this command needed'* && $output == *'exit code 3'* && $output != *$'\nhello'* ]]
	[ "$stderr" = hello ]
	run --separate-stderr "$CORDON" learn -q --backend native -o "$place/m.yaml" -- echo hello
	[ "$output" = hello ]
	run --separate-stderr "$CORDON" learn -q --backend native -o "$place/none/m.yaml" -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "learn: variables of the command line are in it" {
	FOO='a "b"' learn -e FOO -e BAR=$'x: y\n' -- true
	run -0 env FOO='a "b"' "$CORDON" run -q --backend native -p "$place/m.yaml" -- sh -c 'printf "%s|%s" "$FOO" "$BAR"'
	[ "$output" = $'a "b"|x: y' ]
}

@test "learn: where nothing can be learned it fails, and nothing runs in vain" {
	run --separate-stderr "$CORDON" learn --level none -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *'level none'* ]]
	run --separate-stderr "$CORDON" learn --json -- touch ran
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" learn --
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" learn --backend native -- no-such-command
	[ "$status" -ne 0 ]
	for backend in landlock bwrap nsjail chroot noop; do
		run --separate-stderr "$CORDON" learn --backend $backend -- touch ran
		[ "$status" -eq 125 ]
		[[ $stderr == *"backend '$backend' cannot tell what a command asks for"*'hint: --backend native'* ]]
	done
	# Where native does not work, none does.
	unshare -Ur true || skip "no user namespace to be without one in"
	run --separate-stderr unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" learn -- touch ran' "$CORDON"
	[ "$status" -eq 125 ]
	[[ $stderr == *'backend native: not available'* ]]
	[ ! -e ran ]
	"$CORDON" learn -q -o "$place/m.yaml" -- touch ran
	[ -e ran ]
}
