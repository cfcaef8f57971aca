#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The three completion scripts: complete against the tables, and working in the real shells.
# shellcheck disable=SC2016 # single quotes hold scripts for the other shells

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	GEN_DOCS=$BUILDDIR/gen-docs
	[ -x "$CORDON" ]
	[ -x "$GEN_DOCS" ] # or empty would equal empty
	cd "$BATS_TEST_TMPDIR" || return 1
}

needs() {
	command -v "$1" >/dev/null || skip "$1 not there"
}

# Declared in this build?  The tests of a verb need the verb.
has_verb() {
	"$GEN_DOCS" pages | grep -qx "cordon-$1"
}

options_of_tables() {
	"$GEN_DOCS" options | sort
}

# What bash offers for the last of the words.  Words are split as bash does: = and : by themselves.
bash_offers() { # WORD...
	"$BASH" --norc -c '
		source "$1"; shift
		COMP_WORDS=(cordon "$@") COMP_CWORD=$#
		_cordon
		printf "%s\n" "${COMPREPLY[@]}"' - "$BUILDDIR/completions/cordon.bash" "$@" | sort
}

# What fish offers for a line, without the descriptions.
fish_offers() { # LINE
	HOME=$BATS_TEST_TMPDIR fish --no-config -c '
		source $argv[1]
		complete -C $argv[2]' "$BUILDDIR/completions/cordon.fish" "$1" | cut -f1 | sort
}

@test "the installed scripts are what 'cordon completion' prints" {
	"$CORDON" completion bash | cmp - "$BUILDDIR/completions/cordon.bash"
	"$CORDON" completion zsh | cmp - "$BUILDDIR/completions/_cordon"
	"$CORDON" completion fish | cmp - "$BUILDDIR/completions/cordon.fish"
}

@test "the shells accept their scripts" {
	bash -n "$BUILDDIR/completions/cordon.bash"
	needs zsh
	zsh -n "$BUILDDIR/completions/_cordon"
	needs fish
	fish -n "$BUILDDIR/completions/cordon.fish"
}

@test "bash: shellcheck has nothing to say" {
	needs shellcheck
	shellcheck -s bash "$BUILDDIR/completions/cordon.bash"
}

@test "bash: the options are those of the tables, no more and no fewer" {
	"$GEN_DOCS" options | cut -f1 | sort -u | while read -r _ path; do
		# shellcheck disable=SC2086
		bash_offers $path - | sed "s/^/cordon${path:+ $path}\t/"
	done | sort | diff <(options_of_tables) -
}

@test "fish: the options are those of the tables, no more and no fewer" {
	needs fish
	"$GEN_DOCS" options | cut -f1 | sort -u | while read -r _ path; do
		{
			fish_offers "cordon ${path:+$path }-"
			fish_offers "cordon ${path:+$path }--"
		} | sort -u | sed "s/^/cordon${path:+ $path}\t/"
	done | sort | diff <(options_of_tables) -
}

@test "zsh: the options are those of the tables, no more and no fewer" {
	needs zsh
	# _arguments stands in for zsh's own and prints the options that it is given; braces are
	# expanded by zsh itself.
	"$GEN_DOCS" options | cut -f1 | sort -u | while read -r _ path; do
		zsh -f -c '
			compdef() { }
			_arguments() {
				local spec
				for spec; do
					[[ $spec == (|\([^\)]#\)|\*)(#b)(-[a-zA-Z]|--[a-z-]##)(\+|=|)\[* ]] &&
						print -r -- $match[1]
				done
				return 0
			}
			setopt extendedglob
			source $1
			_cordon${2:+_${2// /_}}' - "$BUILDDIR/completions/_cordon" "$path" |
			sed "s/^/cordon${path:+ $path}\t/"
	done | sort | diff <(options_of_tables) -
}

@test "bash: verbs" {
	diff <(bash_offers '') <("$GEN_DOCS" pages | sed -n 's/^cordon-//p' | sort)
	[ "$(bash_offers vers)" = version ]
	[ "$(bash_offers -V '')" = "$(bash_offers '')" ]
	diff <(bash_offers help '') <(bash_offers '')
}

@test "fish: verbs" {
	needs fish
	diff <(fish_offers 'cordon ') <("$GEN_DOCS" pages | sed -n 's/^cordon-//p' | sort)
	[ "$(fish_offers 'cordon vers')" = version ]
	diff <(fish_offers 'cordon help ') <(fish_offers 'cordon ')
}

@test "names of a word: completion" {
	[ "$(bash_offers completion '')" = "$(printf 'bash\nfish\nzsh')" ]
	[ "$(bash_offers completion z)" = zsh ]
	needs fish
	[ "$(fish_offers 'cordon completion f')" = fish ]
}

@test "bash: run completes options, values and commands" {
	has_verb run || skip "no verb 'run' in this build"
	mkdir dir
	touch dir/file 'a b.yaml'
	[ "$(bash_offers run --l)" = --level ]
	[ "$(bash_offers run --level '')" = "$(printf 'container\nnone\nprocess\nvm\nwasm')" ]
	[ "$(bash_offers run -l v)" = vm ]
	[ "$(bash_offers run -vl v)" = vm ]
	[ "$(bash_offers run --level = c)" = container ]
	[ "$(bash_offers run --level =)" = "$(bash_offers run --level '')" ]
	[ "$(bash_offers run -p a)" = 'a b.yaml' ]
	[ "$(bash_offers run -C '')" = dir ]
	[ "$(bash_offers run --net deny --workspace d)" = "$(printf 'direct\ndiscard')" ]
	[ "$(bash_offers run --allow-host example.org : 443 --workspace c)" = cow ]
	bash_offers run tru | grep -qx true
	bash_offers run -- tru | grep -qx true
	bash_offers run -l vm tru | grep -qx true
	# After the command word its own files are offered, and no option of ours.
	[ "$(bash_offers run cat di)" = dir ]
	[ -z "$(bash_offers run cat --l)" ]
	[ -z "$(bash_offers run -- cat --l)" ]
	[ "$(HOMEPAGE=x bash_offers run -e HOMEPA)" = HOMEPAGE ]
}

@test "bash: subverbs" {
	has_verb policy || skip "no verb 'policy' in this build"
	[ "$(bash_offers policy '')" = "$(printf 'explain\nschema\nshow\nvalidate')" ]
	[ "$(bash_offers help policy s)" = "$(printf 'schema\nshow')" ]
	: >file.yaml
	[ "$(bash_offers policy validate f)" = file.yaml ]
	[ -z "$(bash_offers policy schema '')" ]
}

@test "bash: the real completion of an interactive shell" {
	has_verb run || skip "no verb 'run' in this build"
	# The line editor splits the words itself here.
	needs script
	printf 'PS1=\nbind "set bell-style none"\nsource %q\ncordon() { printf "<%%s>" "$@" >%q; }\n' \
		"$BUILDDIR/completions/cordon.bash" "$PWD/got" >rc
	printf 'cordon run --level=cont\t --net al\t-a\t\nexit\n' |
		TERM=dumb script -qec "bash --noprofile --rcfile rc -i" /dev/null >/dev/null
	[ "$(cat got)" = '<run><--level=container><--net><allow-all>' ]
}

@test "fish: run completes options, values and commands" {
	needs fish
	has_verb run || skip "no verb 'run' in this build"
	mkdir dir
	touch dir/file file.yaml
	[ "$(fish_offers 'cordon run --l')" = --level ]
	[ "$(fish_offers 'cordon run --level ')" = "$(printf 'container\nnone\nprocess\nvm\nwasm')" ]
	[ "$(fish_offers 'cordon run -l v')" = vm ]
	[ "$(fish_offers 'cordon run --level=c')" = --level=container ]
	fish_offers 'cordon run -p f' | grep -qx file.yaml
	[ "$(fish_offers 'cordon run -C d')" = dir/ ]
	fish_offers 'cordon run tru' | grep -qx true
	fish_offers 'cordon run -- tru' | grep -qx true
	fish_offers 'cordon run cat di' | grep -qx dir/
	[ "$(fish_offers 'cordon run cat --l' | grep -cx -- --level)" -eq 0 ]
	[ "$(fish_offers 'cordon policy s')" = "$(printf 'schema\nshow')" ]
	[ "$(fish_offers 'cordon help policy s')" = "$(printf 'schema\nshow')" ]
}
