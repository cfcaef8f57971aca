#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is remembered of a session between calls, and the network that a tainted one loses.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$HOME" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	echo 'KEY=1' >.env
	echo v >v # .en$(cat v) is a name that no words tell, but only the kernel
	"$CORDON" run -- true 2>/dev/null || skip "no sandbox works here"
}

# A value of the last report: report EXPRESSION
report() {
	python3 -c 'import json, sys; d = json.load(open("report")); print(eval(sys.argv[1]))' "$1"
}

@test "session: a call without one leaves no database" {
	"$CORDON" run -- cat .env
	[ ! -e "$CORDON_STATE_DIR/state.db" ]
}

@test "session: a file with secrets that is opened through a link taints, seen by the kernel" {
	ln -s .env harmless
	"$CORDON" run --session s -- python3 -c 'open("harm" + "less").read()'
	run "$CORDON" session show s
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "tainted by "*/.env ]]
	[[ $output == *" seen "*"sensitive-read"* ]]
	[ "$(stat -c %a "$CORDON_STATE_DIR/state.db")" = 600 ]
	"$CORDON" run --session other -- true # the control
	run "$CORDON" session show other
	[[ $output != *tainted* ]]
}

@test "session: a pattern of a command is what it stands for in the tree" {
	"$CORDON" run --session s -c 'ls .en[v]; cat .x[v] || true' # the control
	run "$CORDON" session show s
	[[ $output != *tainted* ]]
	"$CORDON" run --session s -c 'cat .en[v]'
	run "$CORDON" session show s
	[[ ${lines[0]} == "tainted by "* ]]
	[[ $output == *" claimed "*"sensitive-read"*".en[v]"* ]]
}

@test "session: a tainted one loses the open network, another keeps it" {
	"$CORDON" run --session s -- cat .env
	ours=$(readlink /proc/self/ns/net)
	run "$CORDON" run --session other --net allow-all --report report -- readlink /proc/self/ns/net
	[ "$output" = "$ours" ] # the control
	[ "$(report 'd["denied"]')" = "[]" ]
	run --separate-stderr "$CORDON" run --session s --net allow-all --report report -- readlink /proc/self/ns/net
	[ "$status" -eq 0 ]
	[ "$output" != "$ours" ]
	[ "$(report 'd["denied"][0]["kind"], d["denied"][0]["rule"]')" = "('network', 'policy.taint: the session is tainted')" ]
	[[ $stderr == *"denied: network: allow-all"* ]]
}

# decoys N: as many files with names of secrets as a call would make
decoys() {
	mkdir -p a && (cd a && seq -f '%g.key' "$1" | xargs touch)
}

@test "session: many names of secrets do not hide the one that is opened" {
	mkdir z && mv .env z/.env
	decoys 300
	"$CORDON" run --session quiet --report report -- true # the control
	[ "$(report '"opened" in d["isolation"]["achieved"]["untracked"]')" = False ]
	run "$CORDON" session show quiet
	[[ $output != *tainted* ]]
	"$CORDON" run --session s -c 'cat z/.en$(cat v)'
	run "$CORDON" session show s
	[[ ${lines[0]} == "tainted by "*/z/.env ]]
}

@test "session: more names of secrets than can be watched count as one that was opened" {
	mkdir z && mv .env z/.env
	decoys 4200
	run --separate-stderr "$CORDON" run --session s --report report -c 'cat z/.en$(cat v)'
	[ "$status" -eq 0 ]
	[[ $stderr == *"could be watched"*"session lift"*"policy.taint.action"* ]]
	[ "$(report '"opened" in d["isolation"]["achieved"]["untracked"]')" = True ]
	ours=$(readlink /proc/self/ns/net)
	run "$CORDON" run --session s --net allow-all -- readlink /proc/self/ns/net
	[ "${lines[0]}" != "$ours" ]
	# Who says that it does not matter is not bothered, and without a session there is nothing to lose.
	printf 'policy: {taint: {action: ignore}}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	run --separate-stderr "$CORDON" run --session t --net allow-all -- readlink /proc/self/ns/net
	[ "$output" = "$ours" ]
	run --separate-stderr "$CORDON" run --session t --net allow-all -- readlink /proc/self/ns/net
	[ "$output$stderr" = "$ours" ]
	rm "$CORDON_CONFIG_DIR/policy.yaml"
	run --separate-stderr "$CORDON" run -- true
	[ -z "$stderr" ]
}

# after NAME SCRIPT: is the session that ran the script, with names that only the kernel sees, tainted?
after() {
	"$CORDON" run -q --session "$1" -c "$2" || return 9
	run "$CORDON" session show "$1"
	[[ ${lines[0]} == "tainted by "* ]]
}

@test "session: a file with secrets that gets another name taints" {
	n=0
	for script in 'mv z/.en$(cat v) z/notes' 'ln z/.en$(cat v) z/notes' 'ln z/.en$(cat v) z/notes; rm z/.en$(cat v)' \
		'ln z/.en$(cat v) z/notes; rm z/.en$(cat v); mv z y' 'chmod 640 z/.en$(cat v); mv z/.en$(cat v) z/notes'; do
		n=$((n + 1))
		rm -rf y z && mkdir z && echo KEY=1 >z/.env
		after "s$n" "$script" || {
			echo "not tainted: $script"
			return 1
		}
		[[ ${lines[0]} == "tainted by "*/z/.env ]]
	done
	# A pattern of the policy that does not fit any more.
	printf 'policy: {taint: {sensitive_paths: ["**/hidden/*"]}}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	mkdir hidden && echo x >hidden/f
	after pattern 'mv hidde[n] open'
	[[ ${lines[0]} == "tainted by "*/hidden/f ]]
}

@test "session: what is done to a file with secrets without opening it does not taint" {
	n=0
	echo x >.env.linked && ln .env.linked "$BATS_TEST_TMPDIR/linked"
	for script in 'chmod 640 z/.en$(cat v)' 'mv z y' 'rm z/.en$(cat v)' 'rm -r z' 'stat z/.en$(cat v)' 'rm .env.linke[d]' 'echo x >z/new; mv z/new z/.en$(cat v)'; do
		n=$((n + 1))
		rm -rf y z && mkdir z && echo KEY=1 >z/.env
		code=0
		after "s$n" "$script" || code=$?
		[ "$code" -eq 1 ] || { # 9: the script itself failed, and shows nothing
			echo "$code: $script: $output"
			return 1
		}
	done
}

@test "session: a file that was closed before and opened again is no secret less" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	# Nothing is closed to root: somebody else has to run it, and the files are his.
	chmod 755 "$BATS_TEST_TMPDIR" && place=$(mktemp -d /tmp/cordon-session.XXXXXX) && chmod 755 "$place"
	cp -p "$CORDON" "$place/cordon"
	mkdir "$place/w" "$place/h" && echo v >"$place/w/v" && echo KEY=1 >"$place/w/.env" && echo x >"$place/w/theirs.pem" && chmod 600 "$place/w/theirs.pem"
	chown -R nobody "$place/w/.env" "$place/w" "$place/h" && chown root "$place/w/theirs.pem"
	cd "$place/w"
	them() {
		setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$place/h" CORDON_STATE_DIR="$place/h/state" CORDON_CONFIG_DIR="$place/h/config" "$place/cordon" "$@"
	}
	them run --session s -c 'chmod 000 .en$(cat v)'
	run them session show s
	[[ $output != *tainted* ]] # the control, and what nobody can read here is nothing that is missed
	them run --session s -c 'chmod 600 .en$(cat v); cat .en$(cat v)'
	run them session show s
	rm -rf "$place"
	[[ ${lines[0]} == "tainted by "* ]]
}

@test "session: the taint is only what the policy says it is" {
	printf 'policy: {taint: {action: ignore}}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	"$CORDON" run --session s -- cat .env
	run --separate-stderr "$CORDON" run --session s --net allow-all --report report -- true
	[ "$(report 'd["denied"]')" = "[]" ]
	printf 'policy: {taint: {sensitive_paths: ["**/plain.txt"]}}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	echo x >plain.txt
	"$CORDON" run --session t -- cat plain.txt
	run "$CORDON" session show t
	[[ ${lines[0]} == "tainted by "*/plain.txt ]]
}

@test "session: what was read before makes a network command MALICIOUS, across processes" {
	"$CORDON" run --session s -- cat .env
	run --separate-stderr "$CORDON" run --session s --report report -c 'curl -s https://example.org/ || true'
	[ "$(report '[f["level"] for f in d["verdict"]["findings"] if f["rule"] == "SEQ-002"]')" = "['HIGH']" ]
	[ "$(report 'd["verdict"]["verdict"]')" = MALICIOUS ]
	run "$CORDON" run --enforce --session s -c 'curl -s https://example.org/'
	[ "$status" -eq 126 ]
	run --separate-stderr "$CORDON" run --session clean --report report -c 'curl -s https://example.org/ || true'
	[ "$(report '[f["rule"] for f in d["verdict"]["findings"] if f["rule"].startswith("SEQ")]')" = "[]" ]
}

@test "session: the policy turns a rule off" {
	printf 'enforcement: {sequences: {SEQ-002: {mode: "off"}}}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	"$CORDON" run --session s -- cat .env
	run --separate-stderr "$CORDON" run --session s --report report -c 'curl -s https://example.org/ || true'
	[ "$(report '[f["rule"] for f in d["verdict"]["findings"] if f["rule"] == "SEQ-002"]')" = "[]" ]
}

@test "session: findings of sequences are in the audit trail" {
	"$CORDON" run --session s -- cat .env
	"$CORDON" run --session s -c 'curl -s https://example.org/ || true' || true
	grep -q '"rule":"SEQ-002"' "$CORDON_STATE_DIR/audit.ndjson"
	run "$CORDON" audit verify
	[ "$status" -eq 0 ]
}

@test "session lift: a person at a terminal, nobody else" {
	"$CORDON" run --session s -- cat .env
	run setsid "$CORDON" session lift s </dev/null
	[ "$status" -eq 125 ]
	[[ $output == *"nobody to ask"* ]]
	run "$CORDON" session list
	[[ $output == *".env"* ]]
	for answer in n y; do
		run python3 - "$CORDON" "$answer" <<-'END'
			import os, pty, sys
			pid, fd = pty.fork()
			if pid == 0:
			    os.execv(sys.argv[1], [sys.argv[1], "session", "lift", "s"])
			seen = b""
			while b"[y/N]" not in seen:
			    seen += os.read(fd, 1000)
			os.write(fd, sys.argv[2].encode() + b"\n")
			try:
			    while os.read(fd, 1000):
			        pass
			except OSError:
			    pass
			sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
		END
		[ "$status" -eq "$([ $answer = y ] && echo 0 || echo 125)" ]
	done
	run "$CORDON" session list --json
	[[ $output == *'"tainted":false'* ]]
	grep -q '"state":"lifted"' "$CORDON_STATE_DIR/audit.ndjson"
}

@test "session: a database that is damaged stops the call" {
	"$CORDON" run --session s -- true
	printf 'this is no database at all, and never was one' >"$CORDON_STATE_DIR/state.db"
	rm -f "$CORDON_STATE_DIR"/state.db-*
	run "$CORDON" run --session s -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
	"$CORDON" run -- touch ran # without a session nobody looks
	[ -e ran ]
}

@test "session: bad names" {
	run "$CORDON" session show nothere
	[ "$status" -eq 125 ]
	run "$CORDON" session lift nothere
	[ "$status" -eq 125 ]
	run "$CORDON" run --session "$(head -c 300 /dev/zero | tr '\0' a)" -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

# Lines of the file of approvals: approval SCOPE OWNER HOST
approval() {
	printf '%s %s %s %s =%s uid 7\n' 99999999999999 "$1" "$(printf %s "$2" | sha256sum | cut -d" " -f1)" "$3" "$2"
}

@test "session: approvals of hosts are listed and taken back" {
	mkdir -p "$CORDON_STATE_DIR"
	{
		approval session s api.example.org
		approval session t api.example.org:8443
		approval project "$PWD" api.example.org
	} >"$CORDON_STATE_DIR/approvals"
	chmod 600 "$CORDON_STATE_DIR/approvals"
	run "$CORDON" session approvals
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[[ ${lines[1]} == "api.example.org "*" session "*" s "*"uid 7" ]]
	[[ ${lines[3]} == *" project "*" $PWD "* ]]
	"$CORDON" session approvals --json |
		jq -e '.approvals | length == 3 and .[1].host == "api.example.org:8443" and .[1].owner == "t" and .[1].scope == "session" and (.[1].until | startswith("5138-"))'
	run "$CORDON" session revoke nobody.example.org
	[ "$status" -eq 125 ]
	[[ $output == *"was not allowed"* ]]
	run "$CORDON" session revoke
	[ "$status" -eq 125 ]
	run "$CORDON" session revoke --all api.example.org
	[ "$status" -eq 125 ]
	[ "$("$CORDON" session approvals --json | jq '.approvals | length')" -eq 3 ]
	run "$CORDON" session revoke --project . api.example.org
	[ "$status" -eq 0 ]
	[ "$output" = "revoked api.example.org for project $PWD" ]
	run "$CORDON" session revoke --session t --all
	[ "$output" = "revoked api.example.org:8443 for session t" ]
	run "$CORDON" session approvals
	[ "${#lines[@]}" -eq 2 ]
	run "$CORDON" session revoke --all
	[ "$status" -eq 0 ]
	[ ! -s "$CORDON_STATE_DIR/approvals" ]
	[ "$(grep -c '"state":"revoked"' "$CORDON_STATE_DIR/audit.ndjson")" -eq 3 ]
	"$CORDON" audit verify
}

@test "session: what cannot be written down is not taken back" {
	mkdir -p "$CORDON_STATE_DIR"
	approval session s api.example.org >"$CORDON_STATE_DIR/approvals"
	rm -f "$CORDON_STATE_DIR/audit.ndjson"
	mkdir "$CORDON_STATE_DIR/audit.ndjson"
	run "$CORDON" session revoke --all
	[ "$status" -eq 125 ]
	[ -s "$CORDON_STATE_DIR/approvals" ]
}
