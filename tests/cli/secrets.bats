#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Credentials in the surroundings in which they lie about are found, and what looks like them is left alone.  The lists were
# written before the rules were looked at; their texts are made on the spot, so that none is a credential.

bats_require_minimum_version 1.5.0

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return 1
	lists=$BATS_TEST_DIRNAME/../data/secrets
}

# found LIST: how many texts of a list hold a credential, how many there are, and how many hold more than a notice
found() {
	python3 "$lists/expand" "$1" >questions
	"$CORDON" check --jsonl <questions >answers || [ $? -le 4 ]
	python3 - <<-'PY'
		import json
		answers = [json.loads(l) for l in open('answers')]
		assert len(answers) == len(open('questions').readlines())
		def sure(a, least):
		    return any(f['type'] == 'data_leak' and f['confidence'] > least for f in a['findings'])
		print(sum(sure(a, 0) for a in answers), len(answers), sum(sure(a, 0.1) for a in answers))
	PY
}

@test "credentials by their form are found" {
	read -r n all _ < <(found true)
	echo "$n of $all"
	[ "$all" -ge 510 ] && [ $((n * 1000)) -ge $((all * 980)) ]
}

@test "values that only the name beside them tells are found in every dress" {
	read -r n all _ < <(found keyed)
	echo "$n of $all"
	[ "$all" -ge 560 ] && [ $((n * 1000)) -ge $((all * 955)) ]
}

@test "what looks like a credential is none" {
	read -r n all sure < <(found false)
	echo "$n of $all, $sure of them more than a notice"
	[ "$all" -ge 420 ] && [ $((n * 1000)) -le $((all * 24)) ] && [ "$sure" -le 2 ]
}

@test "what other providers and programs have is found too" {
	read -r n all _ < <(found true-2)
	echo "$n of $all"
	[ "$all" -ge 180 ] && [ $((n * 1000)) -ge $((all * 930)) ]
}

@test "and what only looks like it is not" {
	read -r n all sure < <(found false-2)
	echo "$n of $all, $sure of them more than a notice"
	[ "$all" -ge 260 ] && [ $((n * 1000)) -le $((all * 24)) ] && [ "$sure" -le 2 ]
}

@test "a last list of credentials, and of what only looks like them" {
	read -r n all _ < <(found true-3)
	echo "$n of $all"
	[ "$all" -ge 73 ]
	[ "$n" -ge 71 ]
	read -r n all _ < <(found false-3)
	echo "$n of $all"
	[ "$all" -ge 81 ]
	[ "$n" -eq 0 ]
}
