#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon audit: records of real runs, read, followed, checked after tampering, and exported.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$HOME" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	LOG=$CORDON_STATE_DIR/audit.ndjson
}

# `! command` does not fail a test; this does.
refute() { # COMMAND...
	if "$@"; then
		return 1
	fi
}

# n calls: one audit.open record, then a start and a call record for each.
calls() { # N
	for ((i = 0; i < $1; i++)); do
		"$CORDON" run --level none -- true
	done
}

@test "no log: tail, show and export are empty, verify says so, nothing is created" {
	run --separate-stderr "$CORDON" audit tail
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ -z "$stderr" ]
	run --separate-stderr "$CORDON" audit show
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ -z "$stderr" ]
	run --separate-stderr "$CORDON" audit tail -v
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"no records"* ]]
	run --separate-stderr "$CORDON" audit verify
	[ "$status" -eq 0 ]
	[ "$output" = "no records" ]
	"$CORDON" audit export --format sarif | jq -e '.version == "2.1.0" and (.runs | length) == 1'
	[ -z "$("$CORDON" audit export --format ocsf)" ]
	[ ! -e "$CORDON_STATE_DIR" ]
}

@test "tail: the last records, human form" {
	calls 3
	run --separate-stderr "$CORDON" audit tail
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" -eq 7 ]
	[[ ${lines[0]} =~ ^[0-9-]{10}T[0-9:.]{12}Z\ audit.open ]]
	[[ ${lines[1]} =~ ^[0-9-]{10}T[0-9:.]{12}Z\ start\ +allow\ +SAFE\ +-\ +noop\ +c-[0-9a-f]{16}$ ]]
	[[ ${lines[2]} =~ ^[0-9-]{10}T[0-9:.]{12}Z\ call\ +allow\ +-\ +0\ +-\ +c-[0-9a-f]{16}$ ]]
	[ "$("$CORDON" audit tail -n 2)" = "${lines[5]}"$'\n'"${lines[6]}" ]
	[ -z "$("$CORDON" audit tail -n 0)" ]
	[ "$("$CORDON" audit tail -n 1000000 | wc -l)" -eq 7 ]
}

@test "tail: exit codes and refusals are there" {
	"$CORDON" run --level none -- sh -c 'exit 7' || [ $? -eq 7 ]
	printf 'sandbox:\n  level: none\n  capabilities:\n    shell:\n      mode: restricted\n      blocked_commands: [forbidden]\n' >p.yaml
	run "$CORDON" run -p p.yaml -- echo forbidden
	[ "$status" -eq 126 ]
	"$CORDON" audit tail -n 1 | grep -q 'refused .*deny .* 126 .*blocked_commands'
	"$CORDON" audit tail | grep -qE 'call +allow +- +7 '
}

@test "show: filters by type, call and time; --json is the file's own bytes" {
	calls 2
	cmp <("$CORDON" audit show --json) "$LOG"
	[ "$("$CORDON" audit show --type start | wc -l)" -eq 2 ]
	[ "$("$CORDON" audit show --type audit. | wc -l)" -eq 1 ]
	call=$(jq -r 'select(.type == "call") | .call_id' "$LOG" | head -n 1)
	[ "$("$CORDON" audit show --call "$call" --json | jq -r .type | paste -sd ' ')" = 'start call' ]
	[ "$("$CORDON" audit show --since 1h | wc -l)" -eq 5 ]
	[ "$("$CORDON" audit show --since 2000-01-01T00:00:00Z | wc -l)" -eq 5 ]
	[ -z "$("$CORDON" audit show --since 9999-01-01T00:00:00Z)" ]
	ts=$(tail -n 1 "$LOG" | jq -r .ts)
	[ "$("$CORDON" audit show --since "$ts" --json | tail -n 1)" = "$(tail -n 1 "$LOG")" ]
}

@test "show: a time or type that is none is an error with a hint" {
	calls 1
	for since in '' x 2h30 -1h '1 h' 2026-01-02 2026-02-30T00:00:00Z 2026-01-02T00:00:00 99999999999999d; do
		run --separate-stderr "$CORDON" audit show --since "$since"
		[ "$status" -eq 125 ]
		[ -z "$output" ]
		[[ $stderr == *--since* ]]
	done
	run --separate-stderr "$CORDON" audit show --type calls
	[ "$status" -eq 125 ]
	[[ $stderr == *"one of start, call"* ]]
}

@test "what records hold is escaped for the terminal" {
	mkdir -p "$CORDON_STATE_DIR" && chmod 700 "$CORDON_STATE_DIR"
	printf 'sandbox:\n  level: none\n  capabilities:\n    shell:\n      mode: restricted\n      blocked_commands: ["a\\e[31mb\\u202e"]\n' >p.yaml
	run "$CORDON" run -p p.yaml -- $'a\e[31mb\u202e'
	[ "$status" -eq 126 ]
	for words in 'audit tail' 'audit show'; do
		# shellcheck disable=SC2086
		"$CORDON" $words >out
		grep -q refused out
		refute grep -qP '\x1b|\xe2\x80\xae' out
	done
	"$CORDON" audit show --json | jq -e . >/dev/null # control: the record has it, as JSON
	"$CORDON" audit show --json | grep -q '\\u001b'
}

@test "verify: intact, with counts and head" {
	calls 3
	run --separate-stderr "$CORDON" audit verify
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "7 records in 1 file: intact" ]
	[ "${lines[1]}" = "head: 7 $(tail -n 1 "$LOG" | jq -r .hash)" ]
}

@test "verify: one byte edited" {
	calls 3
	sed -i '4s/"decision":"allow"/"decision":"alloW"/' "$LOG"
	run --separate-stderr "$CORDON" audit verify
	[ "$status" -eq 125 ]
	[[ $stderr == *"$LOG:4: edited"* ]]
	[[ $stderr == *hint*evidence* ]]
	[ "${lines[0]}" = "3 records in 1 file proven before the damage" ]
	# readers do not pass over it either
	run "$CORDON" audit show
	[ "$status" -eq 125 ]
	run "$CORDON" audit export --format ocsf -o x.json
	[ "$status" -eq 125 ]
	[ -z "$(ls)" ]
}

@test "verify: a line removed, a line doubled, lines swapped, the first removed, rubbish" {
	calls 3
	cp "$LOG" good
	tamper() { # SED-SCRIPT WANT
		cp good "$LOG"
		sed -i "$1" "$LOG"
		run --separate-stderr "$CORDON" audit verify
		[ "$status" -eq 125 ]
		[[ $stderr == *"$LOG:$2"* ]]
	}
	tamper 3d '3: removed'
	tamper 3p '4: reordered'
	tamper '3{h;d};4G' '3: reordered'
	tamper 1d '1: head-missing'
	tamper '5s/.*/rubbish/' '5: malformed'
	tamper '5s/.*//' '5: malformed'
	cp good "$LOG"
	"$CORDON" audit verify # control
}

@test "verify: a torn tail is told and no damage, and the next call repairs it" {
	calls 2
	truncate -s -10 "$LOG"
	run --separate-stderr "$CORDON" audit verify
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *"4 records"*intact*"unfinished write at the end"* ]]
	"$CORDON" audit tail >/dev/null
	calls 1
	run --separate-stderr "$CORDON" audit verify
	[ "$status" -eq 0 ]
	[[ $output == *intact*"repaired unfinished writes: 1"* ]]
}

@test "export: SARIF with what the schema requires" {
	calls 1
	printf 'sandbox:\n  level: none\n  capabilities:\n    shell:\n      mode: restricted\n      blocked_commands: [forbidden]\n' >p.yaml
	run "$CORDON" run -p p.yaml -- echo forbidden
	"$CORDON" audit export --format sarif -o out.sarif
	jq -e '.version == "2.1.0" and (.runs[0].tool.driver.name | type) == "string"' out.sarif
	jq -e '.runs[0].results | length == 1' out.sarif
	jq -e '.runs[0].results | all(.message.text and .ruleId)' out.sarif
	[ "$(stat -c %a out.sarif)" = 600 ]
	cmp out.sarif <("$CORDON" audit export --format sarif)
	cmp out.sarif <("$CORDON" audit export --format sarif -o -)
	[ "$(find . -type f | sort | paste -sd ' ')" = './out.sarif ./p.yaml' ]
}

@test "export: what failed has its error's name as rule in SARIF, and the reason in words as message" {
	calls 1
	run "$CORDON" run --level none --read "$PWD/not-there" -- echo never
	[ "$status" -eq 125 ]
	"$CORDON" audit export --format sarif -o out.sarif
	jq -e '.runs[0].results | length == 1' out.sarif
	jq -e '.runs[0].results[0] | .ruleId | test("^CORDON_E_[A-Z_]+$")' out.sarif
	jq -e '.runs[0].results[0].message.text | test("not-there|noop")' out.sarif
	jq -e '.runs[0].tool.driver.rules | map(.id) == [$id]' --arg id "$(jq -r '.runs[0].results[0].ruleId' out.sarif)" out.sarif
}

@test "export: OCSF, one event per record" {
	calls 2
	echo old >out.json
	"$CORDON" audit export --format ocsf -o out.json
	[ "$(wc -l <out.json)" -eq 5 ]
	jq -es 'all(.class_uid and .category_uid and .activity_id != null and .severity_id and .time
		and .type_uid and .metadata.version and .metadata.product.name)' out.json
	jq -es 'all(.type_uid == .class_uid * 100 + .activity_id)' out.json
}

@test "export: a place that cannot be written is an error and leaves nothing" {
	calls 1
	run --separate-stderr "$CORDON" audit export --format ocsf -o nowhere/x
	[ "$status" -eq 125 ]
	[[ $stderr == *nowhere/x* ]]
	mkdir d
	run --separate-stderr "$CORDON" audit export --format ocsf -o d
	[ "$status" -eq 125 ]
	[ "$(find . | sort | paste -sd ' ')" = '. ./d' ]
	run --separate-stderr "$CORDON" audit export
	[ "$status" -eq 125 ]
	[[ $stderr == *--format* ]]
}

# Waits until the file has N lines, at most 5 s.
wait_lines() { # FILE N
	for ((i = 0; i < 100; i++)); do
		[ "$(wc -l <"$1")" -ge "$2" ] && return 0
		sleep 0.05
	done
	return 1
}

@test "tail -f: new records come, rotation does not lose one, SIGINT ends it with 0" {
	calls 1
	timeout -s KILL 20 "$CORDON" audit tail -n 1 -f >out 3>&- &
	pid=$!
	wait_lines out 1
	calls 1
	wait_lines out 3
	mv "$LOG" "$CORDON_STATE_DIR/audit-000000000001.ndjson" # as a writer rotates
	calls 2
	wait_lines out 8 # audit.rotate and two calls
	kill -INT "$pid" # timeout passes it on
	wait "$pid"
	[ "$(grep -c ' start ' out)" -eq 3 ]
	[ "$(grep -c ' call ' out)" -eq 4 ]
	grep -q ' audit.rotate ' out
	"$CORDON" audit verify
}

@test "tail -f: before there is a log" {
	timeout -s KILL 20 "$CORDON" audit tail -f >out 3>&- &
	pid=$!
	sleep 0.3
	calls 1
	wait_lines out 3
	kill -INT "$pid" # timeout passes it on
	wait "$pid"
}

@test "tail -f: ends when nobody reads, also without a new record" {
	calls 1
	SECONDS=0
	timeout -s KILL 20 bash -c '"$0" audit tail -f 3>&- | head -n 1 >out' "$CORDON"
	[ "$SECONDS" -lt 10 ]
	[ -s out ]
}

# The record is written while the sandbox is built; whoever holds the log keeps the command from beginning.
@test "a command begins only when its start record is written, at every level" {
	mkdir -p w "$CORDON_STATE_DIR"
	chmod 700 "$CORDON_STATE_DIR"
	for level in none process; do
		[ "$level" = none ] || "$CORDON" run --cwd w -- true || skip 'native does not run here'
		rm -f w/ran
		"$CORDON" run --level none -- true
		mkfifo held
		flock "$CORDON_STATE_DIR/audit.ndjson" sh -c 'echo >held; sleep 2' &
		holder=$!
		read -r _ <held
		before=$(wc -l <"$CORDON_STATE_DIR/audit.ndjson")
		"$CORDON" run --level "$level" --cwd w -- touch ran &
		call=$!
		sleep 1
		[ ! -e w/ran ]
		[ "$(wc -l <"$CORDON_STATE_DIR/audit.ndjson")" -eq "$before" ]
		wait "$holder"
		wait "$call"
		[ -e w/ran ]
		run jq -r .type <(tail -n +"$((before + 1))" "$CORDON_STATE_DIR/audit.ndjson")
		[ "$output" = $'start\ncall' ]
		rm held
	done
}
