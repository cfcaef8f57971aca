#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon verify: exit codes, output and lists.  What is found is in tests/unit/test_code*.c.

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$HOME"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	printf 'import json\nprint(json.dumps(1))\n' >safe.py
	printf 'import os as o\n\ngetattr(o, "sys" + "tem")(x)\n' >unsafe.py
	printf 'package main\nimport "os"\nfunc main() { os.Exit(1) }\n' >exit.go
}

@test "verify: safe code says so and exits 0" {
	run --separate-stderr "$CORDON" verify --lang python safe.py
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Code Verification: SAFE" ]
	[ "${lines[1]}" = "─────────────────────────" ]
	[ "${lines[2]}" = "No violations detected." ]
}

@test "verify: an error makes it unsafe and exits 2" {
	run --separate-stderr "$CORDON" verify --lang python unsafe.py
	[ "$status" -eq 2 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Code Verification: UNSAFE" ]
	[[ ${lines[2]} == "✗ L3: os.system: "* ]]
	[[ $output == *" — execution blocked" ]]
}

@test "verify: a warning alone is safe" {
	run "$CORDON" verify --lang go exit.go
	[ "$status" -eq 0 ]
	[[ $output == *"⚠ L3: os.Exit: "* ]]
	[[ $output == *"0 violations, 1 warning — execution allowed" ]]
}

@test "verify: standard input and JSON" {
	run "$CORDON" verify --lang bash --json - <<<'sudo true'
	[ "$status" -eq 2 ]
	python3 -c '
import json, sys
r = json.loads(sys.argv[1])
assert r["safe"] is False and r["language"] == "bash", r
v = r["violations"][0]
assert v["line"] == 1 and v["severity"] == "error" and v["type"] == "system_call", v
' "$output"
}

@test "verify: each list is asked" {
	for option in --block-module=json --block-function=json.dumps '--block-pattern=dumps'; do
		run "$CORDON" verify --lang python "$option" safe.py
		[ "$status" -eq 2 ]
	done
	printf 'import os\nos.remove("/srv/w/x")\n' >remove.py
	run "$CORDON" verify --lang python remove.py
	[ "$status" -eq 2 ]
	run "$CORDON" verify --lang python --allow-path /srv/w remove.py
	[ "$status" -eq 0 ]
}

@test "verify: what cannot be verified exits 125 with one line" {
	for words in '--lang python nothere.py' '--lang cobol safe.py' 'safe.py' '--lang python' \
		'--lang python --block-pattern [x safe.py' '--lang python --allow-path x safe.py'; do
		# shellcheck disable=SC2086
		run --separate-stderr "$CORDON" verify $words
		[ "$status" -eq 125 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "verify: a file beyond the limit is unsafe, not safe" {
	head -c 3000000 /dev/zero | tr '\0' '#' >big.py
	run "$CORDON" verify --lang python big.py
	[ "$status" -eq 2 ]
}
