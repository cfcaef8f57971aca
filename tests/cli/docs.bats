#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The documentation says what the command does.  docs_check.py holds the checks; the last tests here
# show that each of them can turn red.
# shellcheck disable=SC2016,SC1003 # single quotes hold Markdown and scripts

bats_require_minimum_version 1.5.0

setup() {
	export CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	export BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	export SRCDIR=${SRCDIR:-$BATS_TEST_DIRNAME/../..}
	CHECK=$BATS_TEST_DIRNAME/docs_check.py
	[ -x "$CORDON" ]
	[ -x "$BUILDDIR/gen-docs" ]
}

# Every page of prose in the tree.
pages() {
	ls "$SRCDIR"/*.md "$SRCDIR"/docs/*.md
}

# A check must find something wrong with this text.
finds() { # CHECK TEXT WANTED
	printf '%s\n' "$2" >"$BATS_TEST_TMPDIR/page.md"
	run python3 "$CHECK" "$1" "$BATS_TEST_TMPDIR/page.md"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$3"* ]]
}

@test "README.md: every example does what it shows" {
	python3 "$CHECK" examples "$SRCDIR/README.md"
	[ "$(grep -c '^```console' "$SRCDIR/README.md")" -ge 5 ]
}

@test "docs/POLICY.md: every example does what it shows" {
	python3 "$CHECK" examples "$SRCDIR/docs/POLICY.md"
}

@test "every verb and option in the documentation exists" {
	pages | xargs -d '\n' python3 "$CHECK" words
}

@test "every YAML block in the documentation is valid, or says that it is not" {
	pages | xargs -d '\n' python3 "$CHECK" yaml
}

@test "docs/LIBRARY.md has a row for every public header" {
	for header in "$SRCDIR"/include/cordon/*.h; do
		name=${header##*/}
		[ "$name" != cordon.h ] || continue # all of them
		grep -qE "^\| (.*, )?\`${name//./\\.}\`" "$SRCDIR/docs/LIBRARY.md" || {
			echo "no row for $name"
			return 1
		}
	done
}

@test "every file in examples/policies is valid, without warnings" {
	python3 "$CHECK" yaml "$SRCDIR"/examples/policies/*.yaml
}

@test "examples/policies/limits-only.yaml runs a call in this build" {
	run --separate-stderr "$CORDON" run -p "$SRCDIR/examples/policies/limits-only.yaml" -- echo ran
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
}

@test "what this build lacks fails closed, with exit code 125 and nothing run" {
	cd "$BATS_TEST_TMPDIR"
	while read -r options; do
		# shellcheck disable=SC2086 # one line is several words
		run "$CORDON" run $options -- touch ran
		echo "$options: $output"
		[ "$status" -eq 125 ]
		[[ "$output" == *backend* ]]
		[ ! -e ran ]
	done <<-'END'
		--backend firecracker
		--level process --backend landlock --publish 8000
		--level vm
		--level none --backend noop --net deny
		--level none --backend noop --workspace cow
		--level none --backend noop --rollback-on-failure
		--level none --backend noop --deny /etc/shadow
		--level none --backend docker
	END
	"$CORDON" run --level none -- touch ran # the same without such an option
	[ -e ran ]
}

@test "a policy in ~/.cloneguard/policy.yaml is read where ours is absent" {
	export HOME=$BATS_TEST_TMPDIR CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$HOME/.cloneguard" "$CORDON_CONFIG_DIR"
	cp "$SRCDIR/examples/policies/cloneguard.yaml" "$HOME/.cloneguard/policy.yaml"
	chmod go-w "$HOME/.cloneguard/policy.yaml"
	"$CORDON" policy explain | grep 'dry_run.*true.*user .*cloneguard/policy.yaml:'
	echo 'cordon: 1' >"$CORDON_CONFIG_DIR/policy.yaml"
	run "$CORDON" policy explain
	[ "$status" -eq 0 ]
	[[ "$output" != *cloneguard* ]]
}

@test "every link and every path of the tree in the documentation leads somewhere" {
	pages | xargs -d '\n' python3 "$CHECK" links
}

@test "docs/COVERAGE.md: every test that it names is there" {
	python3 "$CHECK" coverage "$SRCDIR/docs/COVERAGE.md"
}

@test "docs/COVERAGE.md: no promise of the specification was dropped" {
	[ -n "${SHARED:-}" ] || skip "../shared not there"
	python3 - "$SHARED/spec/COVERAGE.md" "$SRCDIR/docs/COVERAGE.md" <<-'END'
		import re, sys

		def rows(path):
		    text = open(path, encoding='utf-8').read()
		    return [l.strip('|\n ').split('|')[0].strip() for l in text.split('\n') if l.startswith('|')]

		ours = rows(sys.argv[2])
		lost = [p for p in rows(sys.argv[1]) if p not in ours and not re.match(r'-+$', p)]
		print('\n'.join(lost))
		sys.exit(1 if lost else 0)
	END
}

@test "README.md: the levels table is that of the command" {
	"$CORDON" backends --json | jq -r '.backends[] | .name + " " + .level + " " + (.available|tostring)' |
		while read -r name level available; do
			row=$(grep "^| \`$level\`" "$SRCDIR/README.md")
			[[ "$row" == *"$name"* ]]
			if [ "$level" = none ]; then
				[ "$available" = true ]
				[[ "$row" == *"| yes |" ]]
			elif [[ "$row" == *"| no |" ]]; then
				# The day a backend arrives this line reminds us of the table.
				[ "$available" = false ]
			fi
		done
}

@test "cordon policy show: what it prints is a valid policy" {
	"$CORDON" policy show >"$BATS_TEST_TMPDIR/shown.yaml"
	"$CORDON" policy validate "$BATS_TEST_TMPDIR/shown.yaml"
}

@test "cordon.yaml(5): every field of the schema, none twice" {
	page=$BUILDDIR/man/cordon.yaml.5.scd
	[ "$(grep -c '^\*sandbox\.level\*' "$page")" -eq 1 ]
	"$BUILDDIR/gen-docs" fragment cordon.yaml.5 | sed -n 's/^\*\([^ ]*\)\* (.*/\1/p' | tr -d '\\' >"$BATS_TEST_TMPDIR/fields"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/fields")" -gt 50 ]
	[ -z "$(sort "$BATS_TEST_TMPDIR/fields" | uniq -d)" ]
	while read -r field; do
		grep -q "^\\*$(printf '%s' "$field" | sed 's/_/\\\\_/g; s/\./\\./g')\\* (" "$page"
	done <"$BATS_TEST_TMPDIR/fields"
}

@test "cordon.yaml(5): the example in it is valid" {
	sed -n '/^```$/,/^```$/p' "$SRCDIR/man/cordon.yaml.5.scd" | sed '/^```$/d; s/\\\*/*/g' >"$BATS_TEST_TMPDIR/example.yaml"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/example.yaml")" -gt 10 ]
	"$CORDON" policy validate "$BATS_TEST_TMPDIR/example.yaml"
}

@test "cordon.yaml(5): the limits are those of the code" {
	grep -q 'at most 1 MiB, 32 levels of nesting, 50000 nodes and 256 uses of anchors' "$SRCDIR/man/cordon.yaml.5.scd"
	grep -q 'LIMIT_MANIFEST_BYTES (1024 \* 1024)' "$SRCDIR/src/base/limits.h"
	grep -q 'LIMIT_YAML_DEPTH 32 ' "$SRCDIR/src/base/limits.h"
	grep -q 'LIMIT_YAML_NODES 50000 ' "$SRCDIR/src/base/limits.h"
	grep -q 'LIMIT_YAML_ALIASES 256 ' "$SRCDIR/src/base/limits.h"
	grep -q 'LIMIT_POLICY_ITEMS 5000 ' "$SRCDIR/src/base/limits.h"
}

@test "man pages: all are made and render without warnings" {
	command -v scdoc >/dev/null || skip "scdoc not there"
	for source in "$BUILDDIR"/man/*.scd; do
		[ -s "${source%.scd}" ]
	done
	[ -s "$BUILDDIR/man/cordon.yaml.5" ]
	for page in "$BUILDDIR"/man/*.[0-9]; do
		warnings=$(MANWIDTH=100 man --warnings -E UTF-8 -l "$page" 2>&1 >"$BATS_TEST_TMPDIR/rendered")
		echo "$page: $warnings"
		[ -z "$warnings" ]
		grep -q '^NAME' "$BATS_TEST_TMPDIR/rendered"
	done
}

@test "tools/demo: every step does what it says" {
	run env BUILDDIR="$BUILDDIR" "$SRCDIR/tools/demo"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"beside it is not there"* ]]
}

@test "tools/demo: fails when a step does not do what it says" {
	mkdir "$BATS_TEST_TMPDIR/fake"
	printf '#!/bin/sh\nexit 0\n' >"$BATS_TEST_TMPDIR/fake/cordon"
	chmod +x "$BATS_TEST_TMPDIR/fake/cordon"
	run env BUILDDIR="$BATS_TEST_TMPDIR/fake" "$SRCDIR/tools/demo"
	[ "$status" -ne 0 ]
}

@test "the documentation names no path of one machine" {
	run grep -nE '/(home/[a-z]+|tmp/tmp)' "$SRCDIR"/*.md "$SRCDIR"/docs/*.md
	[ "$status" -eq 1 ]
}

@test "docs_check.py turns red: an example with other output" {
	finds examples $'```console\n$ echo one\ntwo\n```' 'wanted:'
	finds examples $'```console\n$ echo one; echo two\none\n```' 'wanted:'
	finds examples $'```console\n$ true\nout\n```' 'wanted:'
	finds examples 'no block' 'no examples'
}

@test "docs_check.py turns red: a verb or option that is not there" {
	finds words 'use `cordon fly`' 'no verb'
	finds words 'use `cordon policy fly`' 'no verb'
	finds words 'use `cordon run --fly -- x`' 'no option --fly'
	finds words 'use `--fly`' 'no option --fly'
	finds words $'```console\n$ cordon run --fly\n```' 'no option --fly'
	printf 'use `cordon run --level none -- x --fly` and `git --fly`\n' >"$BATS_TEST_TMPDIR/good.md"
	python3 "$CHECK" words "$BATS_TEST_TMPDIR/good.md"
}

@test "docs_check.py turns red: YAML that is not valid, or is and should not be" {
	finds yaml $'```yaml\ncordon: 2\n```' 'exit 125'
	finds yaml $'```yaml malformed\ncordon: 1\n```' 'exit 0'
	finds yaml $'```yaml\nsandbox:\n  capabilities:\n    network: {mode: deny, allowed_hosts: [x.org]}\n```' 'no effect'
}

@test "docs_check.py turns red: a link or a test that is not there" {
	finds links '[x](nowhere.md)' 'no file nowhere.md'
	finds links '[x](page.md#nowhere)' 'no heading'
	finds links 'see `src/nowhere.c`' 'no file src/nowhere.c'
	finds coverage $'| promise | state | where | test |\n|---|---|---|---|\n| x | done | y | `tests/unit/nowhere.c` |' 'no file'
	finds coverage $'| promise | state | where | test |\n|---|---|---|---|\n| x | done | y | `tests/cli/docs.bats` (no such '$'name) |' 'nothing named'
	finds coverage $'| promise | state | where | test |\n|---|---|---|---|\n| x | done | y | later |' 'neither'
	finds coverage $'| promise | state | where | test |\n|---|---|---|---|\n| x | open | open | `tests/cli/docs.bats` |' 'some columns'
}

@test "the table of attempts: a run changes its own columns and no other" {
	table=$SRCDIR/tests/conformance/table
	out=$BATS_TEST_TMPDIR/c.md
	mkdir "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
	python3 - "$SRCDIR" "$BATS_TEST_TMPDIR" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1] + '/tests/conformance')
import rows
for place, column, word in ('one', 'a-self', 'held'), ('one', 'b-self', 'refused: x | y'), ('two', 'b-self', 'RED'):
    with open('%s/%s/%s.json' % (sys.argv[2], place, column), 'w') as file:
        json.dump({r.name: word for r in rows.ROWS}, file)
END
	python3 "$table" "$BATS_TEST_TMPDIR/one" "$out" a-self b-self
	n=$(grep -c '| held | refused: x \\| y |$' "$out")
	[ "$n" -gt 400 ]
	python3 "$table" "$BATS_TEST_TMPDIR/two" "$out" b-self c-self
	[ "$(grep -c '| RED | held |$' "$out")" = "$n" ]
	[[ "$(grep '^| attempt' "$out")" == '| attempt | b-self | a-self |' ]]
	# nothing ran: nothing is written
	cp "$out" "$out.was"
	python3 "$table" "$BATS_TEST_TMPDIR" "$out" a-self
	cmp "$out" "$out.was"
}
