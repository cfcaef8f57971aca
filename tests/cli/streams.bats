#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A person's terminal when some of a command's streams are redirected, and what cordon itself shows there of what came
# from inside.

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON TERM=xterm LC_ALL=C.UTF-8
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR" "$HOME" "$XDG_RUNTIME_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
}

# on_terminal CASE: a case of streams.py
on_terminal() {
	echo "${BACKEND-} $1"
	run python3 "$BATS_TEST_DIRNAME/streams.py" "$1"
	[ "$status" -eq 0 ] || printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# on_backend NAME CASE...
on_backend() {
	local name=$1
	shift
	[ "$name" != chroot ] || [ "$(id -u)" -eq 0 ] || skip "not root: no other can use chroot"
	"$CORDON" run -q --backend "$name" -- true || skip "backend $name is not available here"
	for case; do
		BACKEND=$name on_terminal "$case"
	done
}

# What holds wherever a command without a foreground has no terminal.
PLAIN='every_combination keys_of_others job_in_background order signals no_questions held'

@test "streams: the control: without a sandbox a terminal is reached however streams are redirected" {
	on_terminal every_combination_control
	on_terminal keys_of_others_control
}

@test "streams on native: whatever is redirected, the caller's terminal stays outside" {
	on_backend native every_combination keys_of_others held exec
}

@test "streams on landlock: whatever is redirected, the caller's terminal stays outside" {
	# shellcheck disable=SC2086 # words
	on_backend landlock $PLAIN exec
}

@test "streams on bwrap: whatever is redirected, the caller's terminal stays outside" {
	# shellcheck disable=SC2086 # words
	on_backend bwrap $PLAIN exec
}

@test "streams on chroot: whatever is redirected, the caller's terminal stays outside" {
	# shellcheck disable=SC2086 # words
	on_backend chroot $PLAIN
}

@test "streams on gvisor: whatever is redirected, the caller's terminal stays outside" {
	command -v runsc >/dev/null || skip "runsc is not installed (ENGINES=all tools/setup check)"
	# shellcheck disable=SC2086 # words
	on_backend gvisor $PLAIN typed typed_background
}

@test "streams at level none: output is filtered, and a command in a pipeline may ask" {
	on_terminal none_keyboard
}

@test "shown: what a file has in it (sandbox diff -u)" {
	on_backend native shown_diff
}

@test "shown: what a background process printed (sandbox logs)" {
	on_backend native shown_logs
}

@test "shown: what a command prints that is learned from" {
	on_backend native shown_learn
}

@test "shown: words of a call and of files in records, findings and answers" {
	on_backend native shown_records
}
