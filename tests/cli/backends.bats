#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cordon backends` and `cordon select`.

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR" || return
}

@test "backends --json has the shape of the contract, strongest first" {
	"$CORDON" backends --json >b.json
	python3 - <<-'END'
		import json
		j = json.load(open('b.json'))
		assert set(j) == {'backends', 'auto'}
		want = [('firecracker', 'vm', 100), ('qemu', 'vm', 95), ('gvisor', 'container', 80),
		        ('apple-container', 'container', 75), ('docker', 'container', 70), ('podman', 'container', 69),
		        ('wasm', 'wasm', 60), ('native', 'process', 50), ('bwrap', 'process', 45), ('nsjail', 'process', 44),
		        ('landlock', 'process', 40), ('seatbelt', 'process', 30), ('chroot', 'process', 20), ('noop', 'none', 0)]
		assert [(b['name'], b['level'], b['strength']) for b in j['backends']] == want
		for b in j['backends']:
		    assert isinstance(b['available'], bool) and isinstance(b['guarantees'], list)
		    assert isinstance(b['reason'], str) and b['reason'], b['name']
		    assert b['available'] or not b['guarantees'], b['name']
		assert j['backends'][-1]['available']
		assert set(j['auto']) == {'backend', 'reason'} and j['auto']['reason']
		assert j['auto']['backend'] in [None] + [b['name'] for b in j['backends'] if b['available']]
		assert j['auto']['backend'] != 'noop' # the default's floor is process
	END
}

@test "auto follows the policy of the place" {
	echo 'sandbox: {level: none}' >"$CORDON_CONFIG_DIR/policy.yaml"
	"$CORDON" backends --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["auto"]["backend"] == "noop"'
	echo 'sandbox: {level: nonw}' >"$CORDON_CONFIG_DIR/policy.yaml"
	run --separate-stderr "$CORDON" backends --json
	[ "$status" -eq 125 ]
	[ -z "$output" ]
}

@test "the table has a line for each and says what auto picks" {
	run "$CORDON" backends
	[ "$status" -eq 0 ]
	[ "$(grep -cE '^[a-z-]+ +(vm|container|wasm|process|none) +[0-9]+ +(yes|no) +[^ ]' <<<"$output")" -eq 14 ]
	[[ ${lines[-1]} == auto:* ]]
}

@test "select answers all five words, in text and JSON alike" {
	for word in default enhanced container maximum off; do
		run "$CORDON" select --isolation "$word"
		[ "$status" -eq 0 ]
		[[ $output =~ ^(none|docker|native|landlock|nsjail|bwrap):\ [^\ ] ]]
		"$CORDON" select --isolation "$word" --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
assert j["backend"] + ": " + j["reason"] == sys.argv[1], j' "$output"
	done
	run "$CORDON" select --isolation off
	[ "$output" = "none: sandbox disabled by user" ]
	run "$CORDON" select --isolation sideways
	[ "$status" -eq 125 ]
	run "$CORDON" select
	[ "$status" -eq 125 ]
}
