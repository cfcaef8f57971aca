#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that do harm are not SAFE, what reviewers warn of is found, and what agents write all day is left alone.  The
# lists were written before the rules were looked at; they are in no collection.

bats_require_minimum_version 1.5.0

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return 1
	lists=$BATS_TEST_DIRNAME/../data/programs
}

# share PATTERN: lines of out that have it, in thousandths of all
share() {
	echo $(($(grep -c -P "$1" out) * 1000 / $(wc -l <out)))
}

@test "programs that do harm are not SAFE" {
	"$lists/judge" "$CORDON" dangerous >out
	[ "$(wc -l <out)" -ge 190 ]
	grep '^SAFE' out || true
	[ "$(share '^(SUSPICIOUS|MALICIOUS)')" -ge 970 ]
}

@test "weaknesses that reviewers' tools name are found" {
	"$lists/judge" "$CORDON" weak >out
	[ "$(wc -l <out)" -ge 155 ]
	grep -v -P '\t(PY|GO|CODE|SECRET)-' out || true
	[ "$(share '\t(PY|GO|CODE|SECRET)-')" -ge 980 ]
}

@test "programs as agents write them are SAFE" {
	"$lists/judge" "$CORDON" ordinary >out
	[ "$(wc -l <out)" -ge 185 ]
	grep -v '^SAFE' out || true
	[ "$(share '^SAFE')" -ge 975 ]
	run ! grep '^MALICIOUS' out
}
