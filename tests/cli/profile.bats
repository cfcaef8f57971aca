#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cordon profile`: the filter as bytes and as a listing, the rules of a policy.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	PROJECT=$BATS_TEST_TMPDIR/project
	mkdir -p "$PROJECT"
}

@test "seccomp: whole instructions, the same every time, ending in a return" {
	"$CORDON" profile seccomp >"$BATS_TEST_TMPDIR/a"
	"$CORDON" profile seccomp >"$BATS_TEST_TMPDIR/b"
	cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	size=$(stat -c %s "$BATS_TEST_TMPDIR/a")
	[ "$size" -gt 800 ]
	[ $((size % 8)) -eq 0 ]
	# code 0x06: BPF_RET | BPF_K
	[ "$(tail -c 8 "$BATS_TEST_TMPDIR/a" | head -c 2 | od -An -tx1 | tr -d ' ')" = 0600 ]
}

@test "seccomp: other architectures and grants give other programs" {
	"$CORDON" profile seccomp --arch x86_64 >"$BATS_TEST_TMPDIR/a"
	for option in --arch=aarch64 --arch=riscv64 --host --allow=inet --allow=unix --allow=netlink --allow=ptrace \
		--allow=userns; do
		"$CORDON" profile seccomp --arch x86_64 "$option" >"$BATS_TEST_TMPDIR/b" ||
			"$CORDON" profile seccomp "$option" >"$BATS_TEST_TMPDIR/b"
		! cmp -s "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" || {
			echo "$option changes nothing"
			return 1
		}
	done
}

@test "seccomp: bubblewrap takes the program, and it holds" {
	command -v bwrap >/dev/null || skip "no bwrap"
	bwrap --ro-bind / / true 2>/dev/null || skip "bwrap does not work here"
	"$CORDON" profile seccomp >"$BATS_TEST_TMPDIR/filter"
	# READ_IMPLIES_EXEC
	try='import ctypes, sys; sys.exit(0 if ctypes.CDLL(None).personality(0x400000) >= 0 else 3)'
	run bwrap --ro-bind / / python3 -c "$try"
	[ "$status" -eq 0 ]
	run bwrap --ro-bind / / --seccomp 5 python3 -c "$try" 5<"$BATS_TEST_TMPDIR/filter"
	[ "$status" -eq 3 ]
}

@test "seccomp --text: calls with their reasons, and the instructions" {
	run --separate-stderr "$CORDON" profile seccomp --text --arch x86_64
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *"# ptrace"*"101"*"EPERM"* ]]
	[[ $output == *"left out on purpose"* ]]
	[[ $output == *"load arch"* ]]
	[[ $output != *"code 0x"* ]]
}

@test "seccomp: a terminal is refused" {
	run script -qec "'$CORDON' profile seccomp" /dev/null
	[ "$status" -eq 125 ]
	[[ $output == *"--text"* ]]
	run script -qec "'$CORDON' profile seccomp --text" /dev/null
	[ "$status" -eq 0 ]
}

@test "landlock: the workspace is writable, the system is not" {
	run --separate-stderr "$CORDON" profile landlock -C "$PROJECT" --json
	[ "$status" -eq 0 ]
	python3 - "$PROJECT" <<<"$output" 3<&0 <<-'END'
		import json, os, sys
		d = json.load(os.fdopen(3))
		rules = {r['path']: r for r in d['rules']}
		assert rules[os.path.realpath(sys.argv[1])]['access'] == 'write'
		assert rules['/usr']['access'] == 'read'
		assert rules['/dev/null']['access'] == 'write-noexec'
		assert d['not_held']
		if d['abi'] >= 1:
		    assert 'write_file' in rules[os.path.realpath(sys.argv[1])]['rights']
		    assert 'write_file' not in rules['/usr']['rights']
		    assert 'read_dir' not in rules['/dev/null']['rights']  # no directory
		    assert 'make_char' in d['handled']
		    assert not any('make_char' in r['rights'] for r in d['rules'])
	END
}

@test "landlock: the modes of a manifest" {
	manifest() { # MODE
		printf 'sandbox:\n  capabilities:\n    filesystem:\n      mode: %s\n' "$1" >"$BATS_TEST_TMPDIR/p.yaml"
		"$CORDON" profile landlock -C "$PROJECT" -p "$BATS_TEST_TMPDIR/p.yaml"
	}
	run manifest deny
	[ "$status" -eq 0 ]
	[[ $output != *"$PROJECT"* ]]
	run manifest read-only
	[[ $output =~ project\ +read\ +workspace ]]
	[[ $output != *" write "* ]]
	run manifest scoped
	[[ $output =~ project\ +write\ +policy ]]
}

@test "landlock: a policy that is not valid is an error" {
	echo 'sandbox: {level: nowhere}' >"$BATS_TEST_TMPDIR/bad.yaml"
	run "$CORDON" profile landlock -p "$BATS_TEST_TMPDIR/bad.yaml"
	[ "$status" -eq 125 ]
}

@test "profile seatbelt: the policy's paths, the last rule decides" {
	mkdir -p "$PROJECT/sub dir"
	echo key >"$PROJECT/sub dir/k.pem"
	printf 'cordon: 1\nsandbox:\n  capabilities:\n    filesystem:\n      denied_paths: ["*.pem"]\n' >"$BATS_TEST_TMPDIR/s.yaml"
	run -0 "$CORDON" profile seatbelt -C "$PROJECT" -p "$BATS_TEST_TMPDIR/s.yaml"
	[ "${lines[0]}" = '(version 1)' ]
	[ "${lines[1]}" = '(deny default)' ]
	project=$(realpath "$PROJECT")
	case $project in /tmp/* | /var/* | /etc/*) project=/private$project ;; esac
	[[ $output == *"(allow file-read* file-write* (subpath \"$project\"))"*"(deny file-read* file-write* process-exec* (subpath \"$project/sub dir/k.pem\"))"* ]]
	[[ $output == *"(deny file-write* file-link (subpath \"$project/.vscode\"))"* ]]
	[[ $output != *network* ]]
	printf 'cordon: 1\nenforcement:\n  seatbelt:\n    profile: moderate\n' >"$BATS_TEST_TMPDIR/s.yaml"
	run -0 "$CORDON" profile seatbelt -C "$PROJECT" -p "$BATS_TEST_TMPDIR/s.yaml"
	[[ $output == *'(allow file-read* (subpath "/"))'* ]]
	echo '(version 1)(allow default)' >"$BATS_TEST_TMPDIR/own.sb"
	printf 'cordon: 1\nenforcement:\n  seatbelt:\n    profile: %s\n' "$BATS_TEST_TMPDIR/own.sb" >"$BATS_TEST_TMPDIR/s.yaml"
	run -0 "$CORDON" profile seatbelt -C "$PROJECT" -p "$BATS_TEST_TMPDIR/s.yaml"
	[ "$output" = '(version 1)(allow default)' ]
}

@test "seatbelt: a sandbox-exec that does not confine is not used" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot change /usr/bin, not even for itself"
	[ ! -e /usr/bin/sandbox-exec ] || skip "there is one here"
	run --separate-stderr -125 "$CORDON" run -b seatbelt -C "$PROJECT" -- touch ran
	[[ $stderr == *'there is no sandbox-exec in'*'only macOS has it'* ]]
	printf '#include <unistd.h>\nint main(int n, char **v) { (void)n; execvp(v[4], v + 4); return 71; }\n' >"$BATS_TEST_TMPDIR/open.c"
	cc -o "$BATS_TEST_TMPDIR/open" "$BATS_TEST_TMPDIR/open.c"
	run --separate-stderr -125 unshare -m --propagation private sh -ec '
		mkdir "$1/bin" "$1/bin.work"
		mount -t overlay overlay -o "lowerdir=/usr/bin,upperdir=$1/bin,workdir=$1/bin.work" /usr/bin
		cp "$1/open" /usr/bin/sandbox-exec
		"$0" run -b seatbelt -C "$2" -- touch ran' "$CORDON" "$BATS_TEST_TMPDIR" "$PROJECT"
	[[ $stderr == *'backend seatbelt: not available'* ]]
	[ ! -e "$PROJECT/ran" ]
}
