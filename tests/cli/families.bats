#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Commands of every family of danger are never SAFE, and what people type all day always is.  The lists were written
# before the rules were looked at; they are in no collection.

bats_require_minimum_version 1.5.0

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return 1
	lists=$BATS_TEST_DIRNAME/../data/commands
}

# judged NAME: the verdict and the command of each line of a list
judged() {
	python3 - "$lists/$1" >questions <<-'PY'
		import json, sys
		for n, line in enumerate(l for l in open(sys.argv[1]) if not l.startswith('#')):
		    command = line.rstrip('\n').split('\t')[-1].replace('\\nE', '\nE').replace('\\nP', '\nP')
		    command = command.replace(' ⏎ ', '\n')
		    print(json.dumps({'id': n, 'kind': 'command', 'text': command}))
	PY
	"$CORDON" check --jsonl <questions >answers || [ $? -le 4 ]
	python3 - "$lists/$1" <<-'PY'
		import json, sys
		lines = [l.rstrip('\n') for l in open(sys.argv[1]) if not l.startswith('#')]
		answers = [json.loads(l) for l in open('answers')]
		assert len(lines) == len(answers), (len(lines), len(answers))
		for line, a in zip(lines, answers):
		    print(a['verdict'], line, *sorted({f['rule'] for f in a['findings']}), sep='\t')
	PY
}

@test "dangerous commands are not SAFE, but for those that are known to be" {
	judged dangerous >out
	run ! grep -P '^SAFE\t(?!\? )' out
	run ! grep -P '^(SUSPICIOUS|MALICIOUS)\t\? ' out
	[ "$(grep -c -P '^(SUSPICIOUS|MALICIOUS)\t' out)" -ge 370 ]
	[ "$(grep -c '^MALICIOUS' out)" -ge 90 ]
}

@test "commands of families that were written down by themselves are not SAFE, but for those that are known to be" {
	judged families >out
	run ! grep -P '^SAFE\t(?!\? )' out
	run ! grep -P '^(SUSPICIOUS|MALICIOUS)\t\? ' out
	[ "$(grep -c -P '^(SUSPICIOUS|MALICIOUS)\t' out)" -ge 4050 ]
	[ "$(grep -c '^MALICIOUS' out)" -ge 600 ]
}

@test "what only looks like those is SAFE, but for what is known to be taken for them" {
	judged neighbours >out
	run ! grep -P '^(SUSPICIOUS|MALICIOUS)\t(?!\? )' out
	run ! grep -P '^SAFE\t\? ' out
	run ! grep '^MALICIOUS' out
	[ "$(grep -c '^SAFE' out)" -ge 2200 ]
}

@test "ordinary commands are SAFE" {
	judged ordinary >out
	run ! grep -v '^SAFE' out
	[ "$(wc -l <out)" -ge 330 ]
}
