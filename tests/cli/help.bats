#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The front of the command: help, version, wrong words, and standard output.
# Everything here is made from the tables, so the tests walk over all verbs that there are.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	GEN_DOCS=$BUILDDIR/gen-docs
	[ -x "$CORDON" ]
	[ -x "$GEN_DOCS" ] # or empty would equal empty
}

# `! command` does not fail a test; this does.
refute() { # COMMAND...
	if "$@"; then
		return 1
	fi
}

# "VERB", "VERB SUBVERB", … one per line, without the program's name.
verb_paths() {
	"$GEN_DOCS" options | cut -f1 | sort -u | sed -n 's/^cordon //p'
}

# What the tables say: "cordon VERB<TAB>--option", one per line.
options_of_tables() {
	"$GEN_DOCS" options | sort
}

# From help: the names at the start of option lines.
options_of_help() { # WORD...
	"$CORDON" "$@" --help | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\).*/\1 \2/p' | tr -d ',' |
		tr ' ' '\n' | sed '/^$/d' | sed "s/^/cordon${*:+ $*}\t/"
}

# From the source of one man page: names at the start of option lines, under the verb's heading.
options_of_man() { # PAGE
	local page=$1 path
	path=$(printf '%s' "$page" | tr - ' ')
	awk -v path="$path" -v verbs=0 '
		/^# /  { verbs = ($2 == "VERBS"); sub_name = "" ; next }
		/^## / { if (verbs) sub_name = " " $2; next }
		/^\*-/ {
			line = $0
			while (match(line, /\*--?[a-zA-Z][a-z-]*\*/)) {
				name = substr(line, RSTART + 1, RLENGTH - 2)
				printf "%s%s\t%s\n", path, sub_name, name
				line = substr(line, RSTART + RLENGTH)
			}
		}' "$BUILDDIR/man/$page.1.scd"
}

@test "cordon help: exit 0, on stdout, every verb in it" {
	run --separate-stderr "$CORDON" help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for verb in $("$GEN_DOCS" pages | sed -n 's/^cordon-//p'); do
		grep -q "^  $verb " <<<"$output"
	done
}

@test "no words: short usage on stderr, exit 125" {
	run --separate-stderr "$CORDON"
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[[ $stderr == "usage: cordon VERB"* ]]
	[ "$(wc -l <<<"$stderr")" -le 3 ]
}

@test "help in all its spellings is the same text" {
	"$CORDON" help >"$BATS_TEST_TMPDIR/a"
	for words in --help -h '--help wibble'; do
		# shellcheck disable=SC2086
		"$CORDON" $words | cmp - "$BATS_TEST_TMPDIR/a"
	done
	while read -r path; do
		# shellcheck disable=SC2086
		"$CORDON" help $path >"$BATS_TEST_TMPDIR/b"
		# shellcheck disable=SC2086
		"$CORDON" $path --help | cmp - "$BATS_TEST_TMPDIR/b"
		# shellcheck disable=SC2086
		"$CORDON" $path -h | cmp - "$BATS_TEST_TMPDIR/b"
		refute cmp -s "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	done < <(verb_paths)
}

@test "help fits 80 columns, has no trailing blanks and no control characters" {
	while read -r path; do
		# shellcheck disable=SC2086
		"$CORDON" $path --help >"$BATS_TEST_TMPDIR/help"
		[ "$(wc -L <"$BATS_TEST_TMPDIR/help")" -le 79 ]
		refute grep -n ' $' "$BATS_TEST_TMPDIR/help"
		refute grep -n -P '[\x00-\x08\x0b-\x1f]' "$BATS_TEST_TMPDIR/help"
	done < <(echo; verb_paths)
}

@test "the options in the help are those of the tables, no more and no fewer" {
	{
		options_of_help
		while read -r path; do
			# shellcheck disable=SC2086
			options_of_help $path
		done < <(verb_paths)
	} | sort >"$BATS_TEST_TMPDIR/help"
	options_of_tables | diff - "$BATS_TEST_TMPDIR/help"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/help")" -gt 8 ]
}

@test "the options in the man pages are those of the tables, no more and no fewer" {
	for page in $("$GEN_DOCS" pages); do
		options_of_man "$page"
	done | sort >"$BATS_TEST_TMPDIR/man"
	options_of_tables | diff - "$BATS_TEST_TMPDIR/man"
}

@test "every verb has a man page that man renders without a warning" {
	command -v man >/dev/null || skip "man not there"
	for page in $("$GEN_DOCS" pages); do
		[ -s "$BUILDDIR/man/$page.1" ]
		MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$BUILDDIR/man/$page.1" \
			>"$BATS_TEST_TMPDIR/page" 2>"$BATS_TEST_TMPDIR/warnings"
		[ ! -s "$BATS_TEST_TMPDIR/warnings" ]
		grep -q '^NAME' "$BATS_TEST_TMPDIR/page"
		grep -q '^SYNOPSIS' "$BATS_TEST_TMPDIR/page"
	done
}

@test "there is no man page without a verb" {
	"$GEN_DOCS" pages | sort >"$BATS_TEST_TMPDIR/want"
	(cd "$BUILDDIR/man" && ls -- *.1) | sed 's/\.1$//' | sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "prose fragments reach the page" {
	grep -q '^# FILES' "$BUILDDIR/man/cordon.1.scd"
	grep -q 'NO_COLOR' "$BUILDDIR/man/cordon.1"
}

@test "version: the same three ways" {
	want=$("$CORDON" version)
	[[ $want =~ ^cordon\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ "$("$CORDON" --version)" = "$want" ]
	[ "$("$CORDON" -V)" = "$want" ]
}

@test "wrong words: one line on stderr, exit 125, nothing on stdout" {
	while IFS='|' read -r words message; do
		# shellcheck disable=SC2086
		run --separate-stderr "$CORDON" $words
		echo "$words: $status $stderr"
		[ "$status" -eq 125 ]
		[ -z "$output" ]
		[ "$stderr" = "cordon: $message" ]
	done <<-'END'
		wibble|unknown verb 'wibble'; 'cordon help' lists them
		sandbox wibble|sandbox: unknown verb 'wibble'; 'cordon help sandbox' lists them
		versoin|unknown verb 'versoin'; did you mean 'version'?
		--wibble|unknown option '--wibble'
		--vers|unknown option '--vers'; did you mean '--version'?
		version --hlep|version: unknown option '--hlep'; did you mean '--help'?
		version x|version: takes no words, but got 'x'
		version --help=1|version: option '--help': takes no value
		help help help|help: 'help' has no verbs of its own
		help wibble|help: unknown verb 'wibble'; 'cordon help' lists them
		help a b c|help: one word too many: 'c'
		completion|completion: needs SHELL
		completion bsah|completion: 'bsah' is not one of bash, zsh, fish; did you mean 'bash'?
	END
}

@test "what was typed cannot steer the terminal through an error" {
	run --separate-stderr "$CORDON" "$(printf 'x\033[2J\nnext')"
	[ "$status" -eq 125 ]
	[[ $stderr == *'x\x1b[2J\nnext'* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "a full disk under stdout is an error" {
	[ -c /dev/full ] || skip "/dev/full not there"
	run bash -c '"$1" help >/dev/full' - "$CORDON"
	[ "$status" -eq 125 ]
	[[ $output == *'write standard output: No space left on device'* ]]
}

@test "a closed stdout is an error" {
	run bash -c '"$1" help >&-' - "$CORDON"
	[ "$status" -eq 125 ]
	[[ $output == *'write standard output: Bad file descriptor'* ]]
}

@test "a reader that goes away is silent, with and without SIGPIPE" {
	# The reader is gone before the first byte is written.
	gone='{ sleep 0.2; "$1" help; echo "$?" >"$2"; } 2>"$2.err" | true'
	bash -c "$gone" - "$CORDON" "$BATS_TEST_TMPDIR/code"
	[ "$(cat "$BATS_TEST_TMPDIR/code")" -eq 141 ]
	[ ! -s "$BATS_TEST_TMPDIR/code.err" ]
	bash -c "trap '' PIPE; $gone" - "$CORDON" "$BATS_TEST_TMPDIR/code"
	[ "$(cat "$BATS_TEST_TMPDIR/code")" -eq 141 ]
	[ ! -s "$BATS_TEST_TMPDIR/code.err" ]
}

# With a terminal as stdout.
on_terminal() { # COMMAND
	# shellcheck disable=SC2094 # it is /dev/null
	script -qec "$1" /dev/null </dev/null
}

@test "colour on a terminal, not in a pipe, not with NO_COLOR or TERM=dumb" {
	command -v script >/dev/null || skip "script not there"
	esc=$(printf '\033')
	cd "$BATS_TEST_TMPDIR"
	unset NO_COLOR
	export TERM=xterm
	on_terminal "'$CORDON' help" >colour
	grep -qF "${esc}[1m" colour
	"$CORDON" help >piped
	NO_COLOR=1 on_terminal "'$CORDON' help" >without
	TERM=dumb on_terminal "'$CORDON' help" >plain
	on_terminal "env -u TERM '$CORDON' help" >no_term
	for file in piped without plain no_term; do
		grep -q Usage "$file"
		refute grep -F "$esc" "$file"
	done
	# set but empty is not set
	NO_COLOR='' on_terminal "'$CORDON' help" >empty
	grep -qF "${esc}[1m" empty
}
