#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Small hostile repositories are not SAFE, and ordinary ones are.  The lists were written before the rules were looked at.

bats_require_minimum_version 1.5.0

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config HOME=$BATS_TEST_TMPDIR/home
	mkdir "$HOME" "$BATS_TEST_TMPDIR/trees"
	cd "$BATS_TEST_TMPDIR/trees" || return 1
}

# scanned LIST: the verdict's code and the name, with its mark, of each repository of a list
scanned() {
	python3 "$BATS_TEST_DIRNAME/scan_trees.py" "$BATS_TEST_DIRNAME/../data/scan/$1" . >../names
	while IFS= read -r name; do
		code=0
		"$CORDON" scan --json "${name#'? '}" >answer || code=$?
		[ "$code" -le 2 ] || return 1
		printf '%s\t%s\t%s\n' "$code" "$name" "$(grep -o '"rule":"[A-Z-]*"' answer | sort -u | tr '\n' ' ')"
	done <../names
}

# hostile LIST LEAST: none is SAFE but those that are marked, and none is merely told for being unreadable
hostile() {
	scanned "$1" >../out
	run ! grep -P '^0\t(?!\? )' ../out
	run ! grep -P '^[12]\t\? ' ../out
	run ! grep -P '\t"rule":"SCAN-(MALFORMED|UNREADABLE|LIMIT)" $' ../out
	[ "$(grep -c '^[12]' ../out)" -ge "$2" ]
}

# harmless LIST LEAST: all are SAFE but those that are marked
harmless() {
	scanned "$1" >../out
	run ! grep -P '^[12]\t(?!\? )' ../out
	run ! grep -P '^0\t\? ' ../out
	[ "$(grep -c '^0' ../out)" -ge "$2" ]
}

@test "hostile repositories are not SAFE, but for those that are known to be" {
	hostile hostile 150
}

@test "hostile repositories of the second list are not SAFE, but for those that are known to be" {
	hostile hostile-2 69
}

@test "ordinary repositories are SAFE, but for those that are known to be told of" {
	harmless harmless 94
}

@test "ordinary repositories of the second list are SAFE, but for those that are known to be told of" {
	harmless harmless-2 48
}

@test "hostile repositories of the third list are not SAFE, but for those that are known to be" {
	hostile hostile-3 79
}

@test "ordinary repositories of the third list are SAFE, but for one that is no YAML" {
	harmless harmless-3 72
}
