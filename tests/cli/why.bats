#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon why: what is printed.  What is decided is a table in tests/unit/test_why.c.

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work/secret" "$HOME" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	cat >"$CORDON_CONFIG_DIR/policy.yaml" <<-'END'
		sandbox:
		  level: process
		  capabilities:
		    network:
		      mode: allowlist
		      allowed_hosts: [example.org, "*.example.net"]
		    shell:
		      mode: restricted
		      blocked_commands: ["git push"]
	END
	printf 'sandbox:\n  capabilities:\n    filesystem:\n      denied_paths: [secret]\n' >.cordon.yaml
}

@test "why: the answer in text: decision, rule, place, remedy" {
	run --separate-stderr "$CORDON" why --path secret/key
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "deny: read secret/key" ]
	[ "${lines[1]}" = "rule:   sandbox.capabilities.filesystem.denied_paths 'secret'" ]
	[[ ${lines[2]} == "from:   project "*/.cordon.yaml:4:22 ]]
	[[ ${lines[3]} == "change: remove 'secret' from "*.cordon.yaml:4:22* ]]
}

@test "why: built-in defaults are called so" {
	run "$CORDON" why --path /sys/kernel
	[ "$status" -eq 0 ]
	[ "${lines[2]}" = "from:   built-in default" ]
	[[ ${lines[3]} == "change: cordon run --read /sys/kernel, or "* ]]
}

@test "why: JSON has every member, from every layer" {
	"$CORDON" why --path secret --write --json >j
	jq -e 'keys == ["decision", "notes", "origin", "question", "remedy", "rule"]' j
	jq -e '.question == {path: "secret", write: true, resolved: (env.PWD + "/secret")}' j
	jq -e '.decision == "deny" and .origin.layer == "project" and .origin.line == 4 and
		.origin.column == 22 and (.origin.file | endswith("/.cordon.yaml"))' j
	"$CORDON" why --host https://API.example.net/x --json >j
	jq -e '.decision == "allow" and .question.canonical == "api.example.net:443" and
		.origin.layer == "user" and .origin.line == 6 and (.notes | length > 0)' j
	"$CORDON" why --command 'git  push origin' --json >j
	jq -e '.decision == "deny" and .origin.layer == "user" and .origin.line == 9 and
		.rule == "sandbox.capabilities.shell.blocked_commands '\''git push'\''"' j
	"$CORDON" why --path x --json >j
	jq -e '.decision == "allow" and .origin == {layer: "built-in", file: null, line: null, column: null}' j
}

@test "why: the answer is what a run does" {
	printf 'sandbox:\n  level: none\n  capabilities:\n    shell:\n      mode: restricted\n      blocked_commands: [forbidden]\n' >p.yaml
	rm .cordon.yaml
	rm "$CORDON_CONFIG_DIR/policy.yaml"
	for command in 'echo forbidden' 'echo allowed'; do
		decision=$("$CORDON" why -p p.yaml --command "$command" --json | jq -r .decision)
		run "$CORDON" run -p p.yaml -c "$command"
		case $decision in
		allow) [ "$status" -eq 0 ] ;;
		deny) [ "$status" -eq 126 ] ;;
		*) false ;;
		esac
	done
}

@test "why: the remedy works" {
	rm .cordon.yaml
	"$CORDON" why --host other.example.org --json >j
	jq -r .decision j | grep -qx deny
	remedy=$(jq -r .remedy j)
	[[ $remedy == 'cordon run --allow-host other.example.org, or '* ]]
	printf 'sandbox:\n  level: process\n  capabilities:\n    network:\n      mode: allowlist\n      allowed_hosts: %s\n' \
		"${remedy##*allowed_hosts: }" >p.yaml
	"$CORDON" why -p p.yaml --host other.example.org --json | jq -r .decision | grep -qx allow
	"$CORDON" why -p p.yaml --host another.example.org --json | jq -r .decision | grep -qx deny
}

@test "why: --cwd asks for another project" {
	mkdir ../other
	"$CORDON" why -C ../other --path secret --json | jq -r .decision | grep -qx allow
	"$CORDON" why --path secret --json | jq -r .decision | grep -qx deny
}

@test "why: wrong questions and policies are errors" {
	for words in '' '--path' '--path a --host b' '--host x --write' '--path='; do
		# shellcheck disable=SC2086
		run --separate-stderr "$CORDON" why $words
		[ "$status" -eq 125 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
	run --separate-stderr "$CORDON" why -p nowhere.yaml --path x
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" why --path "$(printf 'a%.0s' {1..5000})"
	[ "$status" -eq 125 ]
	[ -z "$output" ]
}

@test "why: text from outside cannot steer the terminal" {
	"$CORDON" why --path $'a\e[31m\u202eb' >out
	"$CORDON" why --host $'a\e[31mb' >>out
	"$CORDON" why --command $'a\e[31mb' >>out
	[ "$(grep -cP '\x1b|\xe2\x80\xae' out)" -eq 0 ]
	[ "$(grep -c '\\x1b' out)" -ge 3 ]
	"$CORDON" why --command $'a\e[31mb' --json | jq -e '.question.command == "a\u001b[31mb"'
}

@test "what git's configuration names may not be written, and the answer says why" {
	dir=$(mktemp -d)
	cd "$dir" || return
	git init -q .
	mkdir tools
	echo x >tools/watch
	git config core.fsmonitor ./tools/watch
	git config core.hooksPath .hooks
	for row in tools/watch:write_config .hooks/pre-commit:write_hooks; do
		run "$CORDON" why --path "${row%:*}" --write
		[[ $output == "deny: write ${row%:*}"*"git's configuration of '$(realpath "$dir")' names it"*"git.${row#*:}: true"* ]]
	done
	run "$CORDON" why --path tools/other --write
	[[ $output == allow:* ]]
	run "$CORDON" why --path tools/watch
	[[ $output == allow:* ]]
}
