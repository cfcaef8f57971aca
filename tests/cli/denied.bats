#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a call was refused: what is seen, how it is told, and that the remedy that is told helps.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	# Not below /tmp, of which a call has its own.
	place=$(mktemp -d /var/tmp/cordon-denied-XXXXXX)
	export HOME=$place/home
	mkdir -p "$place/work" "$place/home" "$place/out/dir" "$CORDON_CONFIG_DIR"
	echo outside >"$place/out/data"
	cd "$place/work" || return
	"$CORDON" run -q --backend native -- true || skip "backend native is not available here"
}

teardown() {
	cd / && rm -rf "$place"
}

# Runs with options, keeps the report in ./report.json, the text in $stderr.
seen() {
	run --separate-stderr "$CORDON" run --backend native --report "$place/report.json" "$@"
}

denied() { # JQ FILTER over one entry; prints how many match
	jq "[.denied[] | select($1)] | length" "$place/report.json"
}

CALLS='
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    ctypes.set_errno(0)
    libc.syscall(number, *args)
    print(name, ctypes.get_errno())
call("ptrace", 101, 16, 999999, 0, 0)
call("keyctl", 250, 0, 0, 0)
call("unshare", 272, 0x10000000)
call("bpf", 321, 99, 0, 0)
call("personality", 135, 0x400000)
call("clone3", 435, 0, 0)
for family in (socket.AF_ALG, 16, 40):
    try: socket.socket(family, socket.SOCK_RAW, 12); print(family, 0)
    except OSError as e: print(family, e.errno)
'

@test "denied: a refused system call is told with its rule, in text, report and audit trail" {
	[ "$(uname -m)" = x86_64 ] || skip "the numbers are those of x86_64"
	seen -- python3 -c "$CALLS"
	[ "$status" -eq 0 ]
	[[ $output == *'ptrace 1'* && $output == *'bpf 1'* && $output == *'clone3 38'* ]]
	[[ $stderr == *'denied: syscall: keyctl: built-in system call filter: '* ]]
	[[ $stderr == *'syscall: unshare CLONE_NEWUSER'* && $stderr == *'socket AF_ALG'* ]]
	[ "$(denied '.kind == "syscall" and .target == "keyctl" and .count == 1 and .process == "python3" and
		(.rule | startswith("built-in system call filter")) and (.remedy | startswith("none"))')" -eq 1 ]
	[ "$(denied '.target | startswith("clone3")')" -eq 0 ]
	"$CORDON" audit show --json --type call | tail -n 1 | jq -e '[.denied[].target] | index("ptrace")'
}

@test "denied: the command gets the same error with a listener as without" {
	[ "$(uname -m)" = x86_64 ] || skip "the numbers are those of x86_64"
	"$CORDON" run -q --backend native -- python3 -c "$CALLS" >"$place/told"
	# A filter has one listener at most above it: with one already there, ours is quiet.
	run -0 --separate-stderr python3 - "$CORDON" run -q --backend native --report "$place/report.json" -- \
		python3 -c "$CALLS" <<-'END'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
		program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 1, ctypes.addressof(code)))
		assert libc.prctl(38, 1, 0, 0, 0) == 0
		fd = libc.syscall(317, 1, 8, program)
		assert fd >= 0
		os.set_inheritable(fd, True)
		os.execv(sys.argv[1], sys.argv[1:])
	END
	[ "$output" = "$(cat "$place/told")" ]
	grep -qx 'ptrace 1' "$place/told"
	[ "$(denied '.kind == "syscall"')" -eq 0 ]
	jq -e '.isolation.achieved.untracked | index("syscalls")' "$place/report.json"
	# the control: without a sandbox the answers are others
	python3 -c "$CALLS" >"$place/free"
	run ! cmp -s "$place/free" "$place/told"
}

@test "denied: an address that was tried, but not the loopback" {
	seen -- python3 -c '
import socket
for to in ("192.0.2.7", 443), ("127.0.0.1", 9):
    s = socket.socket()
    try: s.connect(to)
    except OSError as e: print(e.errno)
s = socket.socket(socket.AF_INET6)
try: s.connect(("2001:db8::7", 80))
except OSError as e: print(e.errno)'
	[ "$output" = "$(printf '101\n111\n101')" ]
	[ "$(denied '.kind == "host"')" -eq 2 ]
	[ "$(denied '.kind == "host" and .target == "192.0.2.7:443" and
		(.remedy | startswith("--allow-host 192.0.2.7:443")) and (.inferred | not)')" -eq 1 ]
	[ "$(denied '.target == "[2001:db8::7]:80"')" -eq 1 ]
	[[ $stderr == *"denied: host 192.0.2.7:443: sandbox.capabilities.network.mode 'deny' (built-in)"* ]]
}

@test "denied: the rule is the layer and place of the value" {
	printf 'sandbox:\n  capabilities:\n    network:\n      mode: deny\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	seen -- bash -c 'echo >/dev/udp/192.0.2.7/9'
	[ "$(denied '.kind == "host" and (.rule | test("network.mode .deny. \\(user .*policy.yaml:4:13\\)"))')" -eq 1 ]
}

@test "denied: nothing is said with -q, ten lines and a number otherwise" {
	[ "$(uname -m)" = x86_64 ] || skip "the numbers are those of x86_64"
	many='import socket
for i in range(25):
    s = socket.socket()
    try: s.connect(("192.0.2.%d" % (i + 1), 80))
    except OSError: pass'
	seen -q -- python3 -c "$many"
	[ -z "$stderr" ]
	[ "$(denied '.kind == "host"')" -eq 25 ]
	seen -- python3 -c "$many"
	[ "$(grep -c 'denied: host' <<<"$stderr")" -eq 10 ]
	[[ $stderr == *'denied: 15 more; --report FILE has them'* ]]
}

@test "denied: a flood is counted, kept once, and ends" {
	seen -- python3 -c '
import socket
for i in range(20000):
    try: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    except OSError: pass
for i in range(6000):
    s = socket.socket()
    try: s.connect(("192.0.%d.%d" % (2 + i // 250, i % 250 + 1), 80))
    except OSError: pass
    s.close()'
	[ "$status" -eq 0 ]
	[ "$(denied '.target == "socket AF_ALG" and .count == 20000')" -eq 1 ]
	jq -e '(.denied | length) == 1024 and .denied_dropped == 6001 - 1024' "$place/report.json"
	"$CORDON" audit verify
}

@test "denied: paths are seen with -v only" {
	quiet='cat /etc/hostname >&2; cat '"$place"'/out/data; echo x >'"$place"'/out/dir/new; cat '"$place"'/out/nothing'
	seen -- sh -c "exec 2>/dev/null; $quiet"
	[ "$(denied 'true')" -eq 0 ]
	jq -e '.isolation.achieved.untracked | index("reads")' "$place/report.json"
	seen -v -- sh -c "exec 2>/dev/null; $quiet"
	jq -e '.isolation.achieved.untracked | index("reads") | not' "$place/report.json"
	[ "$(denied '.kind == "path" and .access == "read" and (.inferred | not)')" -eq 1 ]
	[ "$(denied ".target == \"$place/out/data\" and .remedy == \"--read $place/out/data\" and
		.under == \"sandbox.capabilities.filesystem.mount_paths\" and
		.yaml == \"- {path: \\\"$place/out/data\\\", permissions: ro}\"")" -eq 1 ]
	[ "$(denied ".target == \"$place/out/dir/new\" and .access == \"write\" and .remedy == \"--write $place/out/dir\"")" -eq 1 ]
	[ "$(denied ".target == \"$place/out/nothing\"")" -eq 0 ]
	[ "$(denied '.target == "/etc/hostname"')" -eq 0 ]
	[ ! -e "$place/out/dir/new" ]
}

@test "denied: links are followed as the command would follow them" {
	ln -s "$place/out/data" leads-out
	ln -s /etc/hostname leads-in
	echo here >file
	seen -v -- sh -c 'cat leads-out leads-in file ../work/file 2>/dev/null'
	[ "$(denied 'true')" -eq 1 ]
	[ "$(denied ".target == \"$place/out/data\"")" -eq 1 ]
}

@test "denied: a path that leads nowhere does not spoil the report" {
	ln -s loop "$place/out/loop"
	ln -s "$place/out/loop" inner
	long=$(printf 'x%.0s' {1..5000})
	seen -v -- sh -c "cat inner '$place/out/loop/x' '$place/out/$long' /$long 2>/dev/null; cat '$place/out/data'; exit 5"
	[ "$status" -eq 5 ]
	[ "$(denied ".target == \"$place/out/data\"")" -eq 1 ]
}

@test "denied: what the messages of a captured command say is told as inferred" {
	"$CORDON" run --json --backend native -- sh -c "cat '$place/out/data'; touch /usr/x; cat '$place/nothing'
		python3 -c 'open(\"$place/out/data\")'; ls no-such-file
		echo 'curl: (6) Could not resolve host: example.org' >&2; echo 'cat: /etc/passwd: Permission denied'" \
		2>"$place/text" >"$place/report.json" || true
	[ "$(denied '.inferred')" -eq 3 ]
	[ "$(denied ".target == \"$place/out/data\" and .access == \"read\"")" -eq 1 ]
	[ "$(denied '.target == "/usr/x" and .access == "write" and (.remedy | startswith("none"))')" -eq 1 ]
	[ "$(denied '.kind == "host" and .target == "example.org" and .remedy == "--allow-host example.org"')" -eq 1 ]
	grep -q "denied: read $place/out/data (inferred): " "$place/text"
	# the output itself is untouched
	jq -e '.result.stderr | contains("Could not resolve host: example.org\n")' "$place/report.json"
}

@test "denied: the question for a name is told by the name, where a message has it" {
	look='import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.53", 53))'
	"$CORDON" run --json --backend native -- /usr/bin/python3 -c "$look" >"$place/report.json" 2>"$place/text" || true
	grep -q 'denied: host 192.0.2.53:53: .*--allow-host NAME' "$place/text"
	"$CORDON" run --json --backend native -- sh -c "/usr/bin/python3 -c '$look' 2>/dev/null
		echo 'curl: (6) Could not resolve host: example.org' >&2" >"$place/report.json" 2>"$place/text"
	[ "$(denied '.target == "192.0.2.53:53"')" -eq 1 ]
	[ "$(grep -c 'denied: ' "$place/text")" -eq 1 ]
	grep -q 'denied: host example.org (inferred): .*allow it with --allow-host example.org$' "$place/text"
}

@test "denied: messages hide nothing that the kernel tells" {
	git init -q .
	lie="open $place/work/.git/config: File exists"
	for first in true "echo '$lie' >&2" "seq -f 'cat: $place/out/no-%g: No such file or directory' 5000 >&2"; do
		"$CORDON" run -v --json --backend native -- sh -c "$first; sleep 0.2; exec 2>/dev/null; echo x >>'$place/work/.git/config'" \
			>"$place/report.json" 2>"$place/text" || true
		[ "$(denied ".target == \"$place/work/.git/config\" and .access == \"write\" and (.inferred | not)")" -eq 1 ]
		grep -q "denied: write $place/work/.git/config: " "$place/text"
	done
}

@test "denied: a name that is there only inside, and a limit that only messages tell of" {
	"$CORDON" run --json --backend native --max-open-files 20 -- sh -c "mkdir .claude; mkdir sub sub
		mkdir '$place/work'; echo x >.mcp.json; echo x >'$place/home/sub/new'; echo x >'$place/nowhere/new'
		/usr/bin/python3 -c 'f = [open(\"/dev/null\") for i in range(30)]'" 2>"$place/text" >"$place/report.json" || true
	jq -c '.denied[]' "$place/report.json"
	[ "$(denied '.inferred')" -eq 3 ]
	[ "$(denied '.rule == "built-in table of protected names '\''.claude'\''"')" -eq 1 ]
	[ "$(denied '.rule == "built-in table of protected names '\''.mcp.json'\''"')" -eq 1 ]
	[ "$(denied '.kind == "limit" and .target == "max_open_files" and .remedy == "--max-open-files N"')" -eq 1 ]
	grep -q 'reached sandbox.resource_limits.max_open_files (option) (inferred); raise it with --max-open-files N' "$place/text"
	"$CORDON" run --json --backend native --max-processes 100 -- sh -c 'echo "sh: 0: Cannot fork" >&2' >"$place/report.json"
	[ "$(denied '.kind == "limit" and .target == "max_processes" and .inferred')" -eq 1 ]
	# without a limit of the policy it is the machine's
	"$CORDON" run --json --backend native -- sh -c 'echo "Too many open files" >&2; exit 1' >"$place/report.json" || true
	[ "$(denied true)" -eq 0 ]
}

@test "denied: a directory of the host's in /tmp or home that a call has not" {
	tmp=$(mktemp -d /tmp/cordon-denied-XXXXXX)
	mkdir "$HOME/sub"
	for dir in "$tmp" "$HOME/sub"; do
		seen -v -- sh -c "echo x >'$dir/new'"
		[ "$status" -ne 0 ]
		[ "$(denied ".target == \"$dir/new\" and .access == \"write\" and .remedy == \"--write $dir\"")" -eq 1 ]
		"$CORDON" run -q --backend native --write "$dir" -- sh -c "echo x >'$dir/new'"
		[ -s "$dir/new" ]
		# who makes the directory means the call's own
		seen -v -- sh -c "mkdir -p '$dir' && echo x >'$dir/other'"
		[ "$status" -eq 0 ]
		[ "$(denied true)" -eq 0 ]
		[ ! -e "$dir/other" ]
	done
	rm -rf "$tmp"
}

@test "denied: a program in what can be written, where it may not be executed" {
	printf '#!/bin/sh\necho ran\n' >tool
	chmod +x tool
	seen -v -- ./tool
	[ "$output" = ran ]
	for verbose in -v -q; do # -q: from the message, since it is captured
		"$CORDON" run $verbose --json --write-xor-execute --backend native -- sh -c 'cp tool /tmp/mine; ./tool; /tmp/mine' \
			>"$place/report.json" || true
		[ "$(denied ".access == \"execute\" and .target == \"$PWD/tool\" and .remedy == \"--exec $PWD/tool\" and
			.under == \"sandbox.capabilities.filesystem.executable_paths\"")" -eq 1 ]
	done
	seen -v --write-xor-execute -- sh -c 'cp tool /tmp/mine; /tmp/mine'
	[ "$(denied '.target == "/tmp/mine" and (.remedy | startswith("none"))')" -eq 1 ]
	run -0 "$CORDON" run -q --write-xor-execute --exec "$PWD/tool" --backend native -- ./tool
	[ "$output" = ran ]
}

@test "denied: credentials and protected names have no option that would not help" {
	mkdir -p "$HOME/.ssh" .claude
	echo key >"$HOME/.ssh/id_ed25519"
	seen -v -- sh -c 'cat ~/.ssh/id_ed25519; echo x >.bashrc; echo x >.claude/settings.json' 2>/dev/null
	[ "$(denied '.target | endswith("/.ssh/id_ed25519")')" -eq 1 ]
	[ "$(denied '(.remedy | startswith("none")) and (.yaml | not)')" -eq 3 ]
	[ "$(denied '.rule == "built-in table of protected names '\''.bashrc'\''"')" -eq 1 ]
	# and so says the question without a run
	run "$CORDON" why --path "$HOME/.ssh/id_ed25519"
	[[ $output == deny* && $output == *'change: none: '* ]]
	run "$CORDON" why --write --path .bashrc
	[[ $output == deny* ]]
}

@test "denied: opening a file that looks like a secret is written down" {
	echo A=1 >.env
	echo x >other
	mkdir sub && echo key >sub/server.pem
	seen -- cat .env other
	jq -e --arg w "$PWD" '.opened == [$w + "/.env"]' "$place/report.json"
	"$CORDON" audit show --json --type call | tail -n 1 | jq -e '.opened | length == 1'
	seen -- cat sub/server.pem
	jq -e --arg w "$PWD" '.opened == [$w + "/sub/server.pem"]' "$place/report.json"
	seen -- ls -la . sub
	jq -e '.opened == []' "$place/report.json"
	printf 'policy:\n  taint:\n    sensitive_paths: ["**/other"]\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	seen -- cat other
	jq -e --arg w "$PWD" '.opened == [$w + "/other"]' "$place/report.json"
}

# The remedy of each denial, applied as it is printed, makes the command pass; without it it fails.
remedy_helps() { # COMMAND
	local remedy words
	rm -rf "${reset[@]}"
	if "$CORDON" run -q --backend native -- sh -ec "$1"; then
		echo "passes as it is: $1"
		return 1
	fi
	"$CORDON" run -v --backend native --report "$place/report.json" -- sh -ec "$1" || true
	remedy=$(jq -r '[.denied[] | select(.kind != "syscall") | .remedy] | unique | join(" ")' "$place/report.json")
	[[ $remedy == --* ]] || {
		echo "no remedy: $remedy for $1"
		return 1
	}
	eval "words=($remedy)"
	"$CORDON" run -q --backend native "${words[@]}" -- sh -ec "$1" || {
		echo "does not help: $remedy for $1"
		return 1
	}
}

@test "denied: every remedy that is an option helps" {
	mkdir "$place/out/it's a dir"
	echo x >"$place/out/it's a dir/a b"
	printf '#!/bin/sh\n' >"$place/out/tool"
	chmod +x "$place/out/tool"
	echo conf >"$HOME/conf"
	echo x >"$place/out/victim"
	tmp=$(mktemp /tmp/cordon-denied-XXXXXX)
	reset=("$place/out/made" "$place/out/made-dir")
	status_of=0
	for command in "cat '$place/out/data'" "ls '$place/out/dir'" "test -e '$place/out/data'" \
		"cat \"$place/out/it's a dir/a b\"" "'$place/out/tool'" 'cat ~/conf' "cat $tmp" \
		"echo x >>'$place/out/data'" "echo x >'$place/out/made'" "mkdir '$place/out/made-dir'" \
		"mv '$place/out/victim' '$place/out/moved' && mv '$place/out/moved' '$place/out/victim'"; do
		remedy_helps "$command" || status_of=1
	done
	rm -f "$tmp"
	[ "$status_of" -eq 0 ]
}

@test "denied: a line of YAML helps where there is no option" {
	mkdir -p .git/hooks
	seen -v -- sh -c 'echo x >.git/hooks/pre-commit'
	[ "$status" -ne 0 ]
	[ "$(denied '.under == "sandbox.capabilities.git" and .yaml == "write_hooks: true"')" -eq 1 ]
	jq -r '.denied[] | select(.yaml) | .under + "." + .yaml' "$place/report.json" |
		awk -F. '{ for (i = 1; i <= NF; i++) printf "%*s%s%s\n", 2 * (i - 1), "", $i, i < NF ? ":" : "" }' \
			>"$place/line.yaml"
	"$CORDON" run -q --backend native -p "$place/line.yaml" -- sh -c 'echo x >.git/hooks/pre-commit'
	[ -s .git/hooks/pre-commit ]
	# a debugger
	[ "$(uname -m)" = x86_64 ] || return 0
	trace='import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)'
	seen -- python3 -c "$trace"
	[ "$status" -ne 0 ]
	[ "$(denied '.target == "ptrace" and .remedy == "--allow-debug" and .under == "sandbox.capabilities" and .yaml == "debug: true"')" -eq 1 ]
	printf 'sandbox:\n  capabilities:\n    debug: true\n' >"$place/debug.yaml"
	"$CORDON" run -q --backend native -p "$place/debug.yaml" -- python3 -c "$trace"
	"$CORDON" run -q --backend native --allow-debug -- python3 -c "$trace"
	# of a list: below the key, with the workspace
	seen -v -- cat "$place/out/data"
	printf 'sandbox:\n  capabilities:\n    filesystem:\n      mount_paths:\n        - {path: ".", permissions: rw}\n        %s\n' \
		"$(jq -r '.denied[0].yaml' "$place/report.json")" >"$place/list.yaml"
	run -0 "$CORDON" run -q --backend native -p "$place/list.yaml" -- cat "$place/out/data"
	[ "$output" = outside ]
}

@test "denied: a system call of the policy's own list is told with its entry, and refused with or without a listener" {
	printf 'sandbox:\n  capabilities:\n    denied_syscalls: ["@ipc", getcwd]\n' >"$place/list.yaml"
	look='import os; os.getcwd()'
	seen -- /usr/bin/python3 -c "$look"
	[ "$status" -eq 0 ]
	[ "$(denied '.kind == "syscall"')" -eq 0 ]
	seen -p "$place/list.yaml" -- /usr/bin/python3 -c "$look"
	[ "$status" -eq 1 ]
	[[ $stderr == *'denied: syscall: getcwd: sandbox.capabilities.denied_syscalls '*'list.yaml:3:'* ]]
	[ "$(denied '.kind == "syscall" and .target == "getcwd" and .process == "python3" and .count >= 1 and
		(.rule | startswith("sandbox.capabilities.denied_syscalls \u0027getcwd\u0027")) and
		(.remedy | contains("take \u0027getcwd\u0027 out of"))')" -eq 1 ]
	# By a set, which is what is named.
	seen -p "$place/list.yaml" -- perl -e 'msgget(1, 0)'
	[ "$(denied '.target == "msgget" and (.rule | contains("@ipc"))')" -eq 1 ]
	# What the listener is handed over with can be in it, too.
	seen --deny-syscall @network -- perl -MSocket -e 'exit !socket(S, AF_UNIX, SOCK_STREAM, 0)'
	[ "$status" -ne 0 ]
	[ "$(denied '.target == "socket" and (.rule | contains("@network"))')" -eq 1 ]
	# In a sandbox with a listener of its own nobody hears ours; it holds all the same.
	mkdir -p "$place/work/state"
	run "$CORDON" run -q --backend native --read "${CORDON%/*}" --read "$place/list.yaml" --report "$place/outer.json" -- \
		env CORDON_STATE_DIR="$place/work/state" "$CORDON" run -q --backend native -p "$place/list.yaml" -- /usr/bin/python3 -c "$look"
	echo "$output"
	[ "$status" -eq 1 ] || [ "$status" -eq 125 ]
}
