#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Odd paths, places and arguments: they work, or one line says what is wrong, nothing runs and nothing is left.
# BACKEND chooses the backend; native otherwise.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0
load scene

setup() {
	scene_make
	cd "$PLACE/self/w" || return
	before=$(left)
}

teardown() {
	cd "$PLACE" || return
	after=$(left)
	scene_remove
	[ -z "${before-}" ] || [ "$before" = "$after" ] || {
		printf 'left behind:\n%s\nbefore:\n%s\n' "$after" "$before"
		return 1
	}
}

# What a call could leave: mounts, work directories, processes of ours.
left() {
	grep -c cordon /proc/self/mountinfo || true
	find "$PLACE" -maxdepth 4 -name '.cordon*' 2>/dev/null | sort
}

# fails PATTERN [OPTION...] -- COMMAND: exit code 125, one line and at most one hint, and nothing ran.
fails() {
	local pattern=$1
	shift
	rm -f "$PLACE/self/w/ran"
	run --separate-stderr inside self "$@"
	if [ "$status" -ne 125 ] || [[ $stderr != *$pattern* ]] || [ -e "$PLACE/self/w/ran" ] || [ -n "$output" ] ||
		[ "$(grep -vc '^cordon: hint: ' <<<"$stderr")" -ne 1 ]; then
		printf 'status %d, stderr: %s\n' "$status" "$stderr"
		return 1
	fi
}

@test "paths with every odd byte: as workspace, grant and denial, and what is protected in them stays so" {
	long=$(printf '%0255d' 0)
	for name in 'a b' $'new\nline' 'com,ma' 'co:lon' 'a::b' 'per%cent%s%n' 'back\slash' 'a\,b' 'quo"te' "apo'strophe" \
		$'\xff\xfe' $'\x01\x1b]31m' $'tab\t' ' lead' 'trail ' '-dash' 'eq=ual' '{brace}' '#hash' '~' 'ü' \
		'lowerdir=x,upperdir=y' "$long"; do
		for who in $WHO; do
			dir=$PLACE/$who/out/$name
			mkdir "$dir"
			echo text >"$dir/file"
			scene_give "$who"
			cd "$dir" || return
			inside "$who" -- sh -ec 'echo x >new; test "$(cat file)" = text; if echo x >.mcp.json; then exit 1; fi; ! mkdir .claude' 2>/dev/null
			[ "$(cat new)" = x ]
			[ "$(ls -A)" = $'file\nnew' ]
			# Where a path comes from does not depend on the user.
			if [ "$who" = nobody ]; then
				cd "$PLACE" && rm -rf "$dir"
				continue
			fi
			cd "$PLACE/$who/w" || return
			[ "$(inside "$who" --read "$dir" -- cat "$dir/file")" = text ]
			run inside "$who" --read "$dir" -- touch "$dir/made"
			[ "$status" -eq 1 ]
			[ ! -e "$dir/made" ]
			inside "$who" --write "$dir" -- touch "$dir/made"
			[ -e "$dir/made" ]
			cd "$dir" || return
			run inside "$who" --deny "$dir/file" -- cat "$dir/file"
			[ "$status" -eq 1 ]
			[[ $output != text ]]
			cd "$PLACE" || return
			rm -rf "$dir"
		done
	done
}

@test "names that options would read otherwise are errors" {
	mkdir "$PLACE/self/out/"'$dollar' "$PLACE/self/out/[glob]*?"
	fails 'without braces' --read "$PLACE/self/out/"'$dollar' -- touch ran
	fails 'a glob where one path is meant' --read "$PLACE/self/out/[glob]*?" -- touch ran
	cd "$PLACE/self/out/[glob]*?"
	inside self -- touch ran
	[ -e ran ]
	cd "$PLACE/self/out/"'$dollar'
	inside self -- touch ran
	[ -e ran ]
}

@test "paths as long as the kernel takes them, and longer" {
	deep=$PLACE/self/out
	while [ ${#deep} -lt 3800 ]; do
		deep=$deep/$(printf '%0100d' 0)
	done
	mkdir -p "$deep"
	inside self --read "$deep" -- ls "$deep"
	inside self -C "$deep" -- touch made
	[ -e "$deep/made" ]
	fails 'more than 4096 bytes' --read "/$(printf '%05000d' 0)" -- touch ran
	fails '' -C "/$(printf '%05000d' 0)" -- touch ran
	inside self --deny "$deep/made" -- true
	rm -rf "$PLACE/self/out"/0*
}

@test "unknown paths, links that lead nowhere or in circles" {
	ln -s two one && ln -s one two && ln -s /nonexistent dangling && mkfifo fifo
	fails "'/no/such'" --read /no/such -- touch ran
	fails "'/no/such'" --write /no/such -- touch ran
	fails "'/no/such'" -C /no/such -- touch ran
	fails 'symbolic links' --read one -- touch ran
	fails 'symbolic links' --deny one -- touch ran
	fails 'symbolic links' -C one -- touch ran
	fails "dangling'" --read dangling -- touch ran
	fails "dangling'" -C dangling -- touch ran
	fails 'not a directory' -C fifo -- touch ran
	touch file
	fails 'not a directory' -C file -- touch ran
	inside self --deny /no/such --deny dangling -- touch ran
	[ -e ran ]
	# A loop in the workspace is the workspace's business.
	run inside self -- cat one
	[ "$status" -eq 1 ]
}

@test "a file, a FIFO and a socket can be granted" {
	echo text >"$PLACE/self/out/file"
	mkfifo "$PLACE/self/out/fifo"
	[ "$(inside self --read "$PLACE/self/out/file" -- cat "$PLACE/self/out/file")" = text ]
	inside self --write "$PLACE/self/out/file" -- sh -c 'echo more >>"$0"' "$PLACE/self/out/file"
	[ "$(wc -l <"$PLACE/self/out/file")" -eq 2 ]
	inside self --read "$PLACE/self/out/fifo" -- test -p "$PLACE/self/out/fifo"
	[ "$BACKEND" != gvisor ] || return 0 # which opens no FIFO of the host's
	look=(dd iflag=nonblock count=0 status=none "if=$PLACE/self/out/fifo")
	inside self --read "$PLACE/self/out/fifo" -- "${look[@]}"
	run inside self --read "$PLACE/self/out/file" -- "${look[@]}"
	[ "$status" -ne 0 ]
}

@test "places that are no workspace" {
	for place in / /proc /proc/self /sys /dev /dev/shm /run /usr /etc /bin; do
		fails 'cannot be granted' -C $place -- touch ran
	done
	for place in / /proc /sys /dev /run; do
		fails 'cannot be granted' --read $place -- touch ran
		fails 'cannot be granted' --write $place -- touch ran
	done
	fails 'cannot be granted' --write "$PLACE/self/state" -- touch ran
	fails 'cannot be granted' --read "$PLACE/self/state/../state" -- touch ran
	# What holds the home is not given away with it, home itself can be.
	fails 'holds your home' -C "$PLACE/self" -- touch ran
	cd "$PLACE/self/home" && inside self -- touch "$PLACE/self/home/made"
	[ -e "$PLACE/self/home/made" ]
}

@test "a working directory that was removed" {
	mkdir gone && cd gone && rmdir ../gone
	fails 'working directory' -- touch ran
}

@test "a directory that the user cannot enter or write" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become another user"
	[ "$BACKEND" != chroot ] || skip "not root: no other can use chroot"
	mkdir "$PLACE/self/closed" && chmod 700 "$PLACE/self/closed"
	cd "$PLACE/nobody/w"
	run --separate-stderr inside nobody -C "$PLACE/self/closed" -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *'Permission denied'* ]]
	run --separate-stderr inside nobody --read "$PLACE/self/closed" -- touch ran
	[ "$status" -eq 125 ] || { [ "$status" -eq 0 ] && ! inside nobody --read "$PLACE/self/closed" -- ls "$PLACE/self/closed"; }
	# One that can be entered but not written is a workspace that cannot be written.
	chmod 755 "$PLACE/self/closed"
	run --separate-stderr inside nobody -C "$PLACE/self/closed" -- touch made
	[ "$status" -ne 0 ]
	[ ! -e "$PLACE/self/closed/made" ]
}

@test "file systems: read-only, no-exec, the top of one, one inside the workspace" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot mount"
	mkdir ro noexec top sub
	export PLACE BACKEND SCENE_PATH
	run unshare -m --propagation private bash -c '
		cd "$PLACE/self/w"
		mount -t tmpfs none ro && mkdir ro/w && touch ro/w/f && mount -o remount,ro ro
		mount -t tmpfs -o noexec none noexec && mkdir noexec/w && cp /bin/true noexec/w/t
		mount -t tmpfs none top && touch top/f
		mount -t tmpfs none sub && touch sub/f
		say() { echo "$1 $2"; }
		in_sandbox() { env -i HOME="$PLACE/self/home" PATH="$SCENE_PATH" CORDON_STATE_DIR="$PLACE/self/state" \
			CORDON_CONFIG_DIR="$PLACE/self/config" "$PLACE/cordon" run -q --backend "$BACKEND" "$@" 2>>"$PLACE/errors"; }
		in_sandbox -C ro/w -- ls >/dev/null; say ro-ls $?
		in_sandbox -C ro/w -- touch x; say ro-touch $?
		in_sandbox -C noexec/w -- ./t; say noexec $?
		in_sandbox -C top -- ls >/dev/null; say top $?
		in_sandbox -- ls sub/f >/dev/null; say sub $?
		cat "$PLACE/errors"'
	echo "$output"
	[[ $output == *'noexec 126'* ]] || [[ $BACKEND == gvisor && $output == *'noexec 139'* ]] # it starts, and dies
	[[ $output == *'ro-ls 0'* && $output == *'ro-touch 1'* ]]
	# The others work, or an error says what to do.
	[[ $output == *'sub 0'* ]] || [[ $output == *'sub 125'*'mounted inside it'* ]] || [[ $output == *'sub 125'*'is mounted at '*'hint: run in a directory'* ]]
	[[ $output == *'top 0'* ]] || [[ $output == *'top 125'*'below the top of that file system'* ]] ||
		[[ $output == *'top 125'*'the top of a mount'*'hint: run in a directory'* ]]
}

@test "grants twice, inside one another, against one another" {
	out=$PLACE/self/out
	mkdir -p "$out/a/b/c"
	inside self --write "$out" --write "$out" -- touch "$out/x"
	fails 'granted twice' --read "$out" --write "$out" -- touch ran
	# ro in rw in ro
	inside self --read "$out" --write "$out/a" --read "$out/a/b" -- sh -ec '
		if touch "$0/no" 2>/dev/null; then exit 1; fi; touch "$0/a/yes"; if touch "$0/a/b/no" 2>/dev/null; then exit 1; fi; ls "$0/a/b/c"' "$out"
	[ -e "$out/a/yes" ]
	# rw in ro in rw
	inside self --write "$out" --read "$out/a" --write "$out/a/b" -- sh -ec '
		touch "$0/yes"; if touch "$0/a/no" 2>/dev/null; then exit 1; fi; touch "$0/a/b/yes"; if rmdir "$0/a/b/c/../../b" 2>/dev/null; then exit 1; fi' "$out"
	[ -e "$out/a/b/yes" ]
	# the workspace, read-only
	run inside self --read . -- touch no
	[ "$status" -ne 0 ]
	[ ! -e no ]
}

@test "denials: of the workspace, above a grant, of the system, of what is made anew" {
	out=$PLACE/self/out
	mkdir -p "$out/a/b"
	echo text >"$out/a/b/f"
	fails 'is denied' --deny . -- touch ran
	fails 'is denied' --deny "$PLACE" -- touch ran
	fails 'is denied' --deny / -- touch ran
	[ "$(inside self --read "$out/a/b" -- cat "$out/a/b/f")" = text ]
	run inside self --read "$out/a/b" --deny "$out/a" -- cat "$out/a/b/f"
	[ "$status" -ne 0 ]
	run inside self --read "$out/a/b" --deny "$out/*" -- cat "$out/a/b/f"
	[ "$status" -ne 0 ]
	ln -s "$out/a" "$PLACE/self/link"
	run inside self --read "$out/a/b" --deny "$PLACE/self/link" -- cat "$out/a/b/f"
	[ "$status" -ne 0 ]
	run -127 inside self --deny /usr -- ls
	inside self -- ls /usr >/dev/null
	run inside self --deny /bin/ls -- ls /usr
	[ "$status" -eq 126 ]
	for path in /etc /etc/passwd /proc/cpuinfo /proc/meminfo /dev/zero; do
		inside self -- head -c 1 $path >/dev/null 2>&1 || inside self -- ls $path >/dev/null
		run inside self --deny $path -- head -c 1 $path
		[ "$status" -ne 0 ]
	done
	inside self -- touch /dev/shm/x
	run inside self --deny /dev/shm -- touch /dev/shm/x
	[ "$status" -ne 0 ]
	inside self --deny /dev/shm/x -- touch /dev/shm/y
	run inside self --deny /dev/shm/x -- touch /dev/shm/./x
	[ "$status" -ne 0 ] || [ "$BACKEND" != landlock ] # elsewhere /dev/shm is new and has nothing to deny
	inside self --deny "/proc/$$" -- true
	# A denied directory with protected names in it, there or not.
	inside self --deny .config -- true
	mkdir .config
	run inside self --deny .config -- ls .config
	[ "$status" -ne 0 ]
	rmdir .config
}

@test "thousands: mount paths, denied names, denied globs, options; in seconds" {
	mkdir "$PLACE/self/out/many"
	(cd "$PLACE/self/out/many" && seq -f 'd%.0f' 0 4999 | xargs mkdir)
	many() {
		printf 'cordon: 1\nsandbox:\n  capabilities:\n    filesystem:\n      mount_paths:\n'
		printf '        - {path: %s, permissions: rw}\n' "$PLACE/self/w"
		seq -f "        - {path: $PLACE/self/out/many/d%.0f, permissions: $2}" 0 $(($1 - 1))
	}
	for permissions in ro rw; do
		many 4999 $permissions >"$PLACE/self/p.yaml"
		SECONDS=0
		inside self -p "$PLACE/self/p.yaml" -- ls "$PLACE/self/out/many/d4998"
		[ $SECONDS -le 40 ]
	done
	many 5000 ro >"$PLACE/self/p.yaml"
	fails 'too many entries' -p "$PLACE/self/p.yaml" -- touch ran
	for what in '*.x%.0f' "$PLACE/self/w/n%.0f" '**/d%.0f/*.pem'; do
		{
			printf 'cordon: 1\nsandbox:\n  capabilities:\n    filesystem:\n      denied_paths:\n'
			seq -f "        - \"$what\"" 0 3999
		} >"$PLACE/self/p.yaml"
		touch a.x3999
		SECONDS=0
		inside self -p "$PLACE/self/p.yaml" -- true
		[ $SECONDS -le 40 ]
	done
	mkdir d3999 && echo key >d3999/k.pem
	inside self -- cat d3999/k.pem
	run inside self -p "$PLACE/self/p.yaml" -- cat d3999/k.pem
	[ "$status" -ne 0 ]
	mapfile -t options < <(seq -f "--read=$PLACE/self/out/many/d%.0f" 0 1999)
	inside self "${options[@]}" -- ls "$PLACE/self/out/many/d1999"
}

@test "more repositories than can be protected" {
	# An earlier call can have made them: it is said what is too much, and where.
	inside self -q -- sh -c 'seq -f r%.0f/.git/objects 2500 | xargs mkdir -p; seq -f r%.0f/.git/refs 2500 | xargs mkdir; seq -f r%.0f/.git/HEAD 2500 | xargs touch'
	if [ "$BACKEND" = landlock ]; then # no view is made there, and it holds them all
		inside self -- touch ran
		run inside self -- touch r2499/.git/config
		[ "$status" -ne 0 ]
		[ ! -e r2499/.git/config ]
		touch r2499/.git/config
		return 0
	fi
	fails 'paths to grant, deny or protect' -- touch ran
	[[ $stderr == *'remove git directories'* ]]
}

@test "arguments: very long, very many, empty, with any byte" {
	long=$(printf '%0120000d' 0)
	[ "$(inside self -- sh -c 'echo ${#1}' sh "$long")" = 120000 ]
	mapfile -t words < <(seq -f 'w%.0f' 10000)
	[ "$(inside self -- sh -c 'echo $#' sh "${words[@]}")" = 10000 ]
	for ((i = 0; i < 16; i++)); do words+=("$long"); done
	run --separate-stderr inside self -- sh -c 'echo $#' sh "${words[@]}"
	[ "$output" = 10016 ] || { [ "$status" -eq 125 ] && [[ $stderr == *cordon:* ]] && [ "$(wc -l <<<"$stderr")" -le 2 ]; } ||
		[[ $stderr == *'Argument list too long'* ]]
	[ "$(inside self -- printf '%s|' '' $'a\nb' $'\xff' '%s')" = $'|a\nb|\xff|%s|' ]
	fails 'no command given' -- ''
	fails 'command' --
	fails 'no command given' -c ''
	run -127 inside self -- /no/such/command
	run -126 inside self -- /etc/passwd
	run -126 inside self -- "$PLACE/self/w"
}

@test "variables: newlines, other bytes, many, not a name" {
	[ "$(inside self -e $'A=x\ny' -- sh -c 'echo "$A"')" = $'x\ny' ]
	[ "$(inside self -e $'A=\xff=%s' -- sh -c 'printf %s "$A"')" = $'\xff=%s' ]
	[ "$(inside self -e A= -- sh -c 'echo "${A-unset}"')" = '' ]
	fails 'not a variable name' -e '=x' -- touch ran
	fails 'not a variable name' -e 'A B=x' -- touch ran
	fails 'not a variable name' -e $'A\n=x' -- touch ran
	mapfile -t options < <(seq 0 2999 | sed 's/.*/--env=V&=&/')
	[ "$(inside self "${options[@]}" -- sh -c 'echo $V2999')" = 2999 ]
	mapfile -t options < <(seq 0 5999 | sed 's/.*/--env=V&=&/')
	run --separate-stderr inside self "${options[@]}" -- sh -c 'echo $V5999'
	[ "$output" = 5999 ] || { [ "$status" -eq 125 ] && [ "$(grep -vc hint: <<<"$stderr")" -eq 1 ]; }
}

@test "a home that is missing, a file, relative, the root, or full of odd bytes" {
	for home in /nonexistent relative / "$PLACE/self/out/file" "$PLACE/self/out/a, b:c"; do
		mkdir -p "$PLACE/self/out/a, b:c"
		touch "$PLACE/self/out/file"
		env -i PATH="$SCENE_PATH" HOME="$home" CORDON_STATE_DIR="$PLACE/self/state" CORDON_CONFIG_DIR="$PLACE/self/config" \
			"$PLACE/cordon" run -q --backend "$BACKEND" -- touch ran || {
			echo "home '$home': $?"
			return 1
		}
		rm ran
	done
	env -i PATH="$SCENE_PATH" CORDON_STATE_DIR="$PLACE/self/state" CORDON_CONFIG_DIR="$PLACE/self/config" \
		"$PLACE/cordon" run -q --backend "$BACKEND" -- touch ran
	env -i HOME="$PLACE/self/home" CORDON_STATE_DIR="$PLACE/self/state" CORDON_CONFIG_DIR="$PLACE/self/config" \
		"$PLACE/cordon" run -q --backend "$BACKEND" -- /usr/bin/touch ran
}
