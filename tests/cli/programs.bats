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

@test "programs that do harm are not SAFE, but for those that are known to be" {
	"$lists/judge" "$CORDON" dangerous >out
	run ! grep -P '^SAFE\t\w+\t(?!\?)' out
	run ! grep -P '^(SUSPICIOUS|MALICIOUS)\t\w+\t\?' out
	[ "$(grep -c -v '^SAFE' out)" -ge 340 ]
}

@test "weaknesses that reviewers' tools name are found, but for those that are known to be missed" {
	"$lists/judge" "$CORDON" weak >out
	run ! grep -P '^\w+\t\w+\t[^?\t]+$' out
	run ! grep -P '^\w+\t\w+\t\?[^\t]+\t' out
	[ "$(wc -l <out)" -ge 155 ]
}

@test "programs as agents write them are SAFE, but for what is known to be taken for something else" {
	"$lists/judge" "$CORDON" ordinary >out
	run ! grep -P '^(SUSPICIOUS|MALICIOUS)\t\w+\t(?!\?)' out
	run ! grep -P '^SAFE\t\w+\t\?' out
	run ! grep '^MALICIOUS' out
	[ "$(grep -c '^SAFE' out)" -ge 285 ]
}
