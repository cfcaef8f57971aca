#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Texts with orders to a model that reads them are never SAFE, and harmless ones in the same clothes are, but for those
# that are known to be judged wrongly.  The lists were written before the cues were looked at; they are in no collection.

bats_require_minimum_version 1.5.0

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return 1
	lists=$BATS_TEST_DIRNAME/../data/text
}

# judged NAME: for each line of a list whether it is flagged, whether it is marked, its kind and its number
judged() {
	python3 - "$lists/$1" >questions <<-'PY'
		import json, sys
		for n, line in enumerate(l for l in open(sys.argv[1], encoding='utf-8') if not l.startswith('#')):
		    text = line.rstrip('\n').split('\t')[-1].removeprefix('? ')
		    print(json.dumps({'id': n, 'kind': 'output', 'text': json.loads('"' + text + '"')}))
	PY
	"$CORDON" check --jsonl <questions >answers || [ $? -le 4 ]
	python3 - "$lists/$1" <<-'PY'
		import json, sys
		lines = [l.rstrip('\n') for l in open(sys.argv[1], encoding='utf-8') if not l.startswith('#')]
		answers = [json.loads(l) for l in open('answers')]
		assert len(lines) == len(answers), (len(lines), len(answers))
		for n, (line, a) in enumerate(zip(lines, answers)):
		    kind, text = line.split('\t')
		    found = any(f['type'] != 'data_leak' for f in a['findings'])
		    print('FLAGGED' if a['verdict'] != 'SAFE' and found else 'QUIET', '?' if text.startswith('? ') else '-', kind, n,
		          *sorted({f['rule'] for f in a['findings']}))
	PY
}

@test "injections are flagged, but for those that are known not to be" {
	for list in injections-1 injections-2 injections-3 injections-4 injections-5 injections-6 injections-7 injections-8; do
		judged $list >out
		run ! grep '^QUIET -' out
		run ! grep '^FLAGGED ?' out
	done
	judged injections-1 >out
	[ "$(grep -c '^FLAGGED' out)" -ge 285 ]
	judged injections-2 >out
	[ "$(grep -c '^FLAGGED' out)" -ge 49 ]
}

@test "ordinary texts are not flagged, but for those that are known to be" {
	for list in ordinary-1 ordinary-2 ordinary-3 ordinary-4 ordinary-5 ordinary-6 ordinary-7 ordinary-8; do
		judged $list >out
		run ! grep '^FLAGGED -' out
		run ! grep '^QUIET ?' out
	done
	judged ordinary-1 >out
	[ "$(grep -c '^QUIET' out)" -ge 380 ]
	judged ordinary-2 >out
	[ "$(grep -c '^QUIET' out)" -ge 140 ]
}
