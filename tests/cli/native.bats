#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What backend native refuses to start with, because it could not hold it.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
	"$CORDON" run -q --backend native -- true || skip "backend native is not available here"
}

@test "native: a directory on a standard descriptor is refused" {
	run --separate-stderr "$CORDON" run -q --backend native -- touch ran <"$BATS_TEST_TMPDIR"
	[ "$status" -eq 125 ]
	[[ $stderr == *'descriptor 0 is a directory'* ]]
	[ ! -e ran ]
}

@test "native: nothing is left of the old root, however the call starts" {
	# The control: outside, the place of a mount is seen; and a root that has another one over it has two lines.
	[ "$(awk '$5 == "/"' /proc/self/mountinfo | wc -l)" -ge 1 ]
	look='awk "\$5 == \"/\"" /proc/self/mountinfo | wc -l; [ $(ls /proc | grep -c "^[0-9]") -gt 0 ] && ls -d /proc/[0-9]* | wc -l'
	for how in '' '--backend native' '--allow-host example.com'; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr "$CORDON" run -q $how -- sh -c "$look"
		[ "$status" -eq 0 ]
		[ "${lines[0]}" -eq 1 ]
		# The first process, the shell, and what it has just started: who left the old root has ended.
		[ "${lines[1]}" -le 4 ]
	done
}

@test "mode deny: the call starts in an empty directory in the place of its own" {
	echo host >file
	printf 'claw: "0.3.0"\nkind: Sandbox\nmetadata: {name: x}\nspec: {level: process}\n' >"$CORDON_CONFIG_DIR/claw.yaml"
	look='pwd; ls -A; echo inside >new; ls -A'
	"$CORDON" run -q -- test -e file # the control: it is the workspace otherwise
	for backend in native bwrap chroot; do
		"$CORDON" run -q --backend "$backend" -- true || continue
		for how in '--fs deny' "-p $CORDON_CONFIG_DIR/claw.yaml" --constrain; do
			# shellcheck disable=SC2086 # words on purpose
			run --separate-stderr "$CORDON" run --backend "$backend" $how -- bash -c "$look"
			echo "$backend $how: $status $output $stderr"
			[ "$status" -eq 0 ]
			[ "$output" = "$PWD"$'\n'new ]
			[ ! -e new ]
		done
	done
	# what would be of no use is not advised, and said to be of none
	run --separate-stderr "$CORDON" run --fs deny --read . -- sh -c '! test -e file'
	[ "$status" -eq 0 ]
	[[ $stderr == *"warning: --read, --write: no effect in mode 'deny'"* ]]
	run --separate-stderr "$CORDON" run -v --backend native --fs read-only -- touch new
	[ "$status" -ne 0 ]
	[[ $stderr == *"denied: write $PWD/new: "*", without --fs read-only"* ]]
}

@test "native: a directory of one's own that cannot be listed is refused" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become another user"
	place=$(mktemp -d /tmp/cordon-native-XXXXXX)
	cp "$CORDON" "$place/cordon"
	mkdir -p "$place/w/n/.git/hooks"
	chmod 311 "$place/w/n/.git"
	chown -R 65534:65534 "$place"
	cd "$place/w" || return
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$place" \
		CORDON_CONFIG_DIR=/nonexistent CORDON_STATE_DIR="$place/state" \
		"$place/cordon" run -q --backend native -- touch n/.git/hooks/pre-commit
	made=no
	[ ! -e "$place/w/n/.git/hooks/pre-commit" ] || made=yes
	cd / && rm -rf "$place"
	[ "$status" -eq 125 ]
	[[ $stderr == *'cannot be listed'* ]]
	[ "$made" = no ]
}

@test "native: sweeping work directories follows no link" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot mount"
	mkdir m
	# A file system of its own, so that the work directory has to stand beside the workspace.
	run unshare -m --propagation private sh -ec '
		mount -t tmpfs none m && cd m
		mkdir -p p/sub p/.cordon-work-old victim/incompat
		ln -s ../../victim p/.cordon-work-old/work
		chmod 755 victim
		echo "$PWD/p/.cordon-work-old" >"$CORDON_STATE_DIR/.cordon-note-old"
		cd p/sub
		"$0" run -q --backend native -- true || exit 77
		test ! -e "$CORDON_STATE_DIR/.cordon-note-old"
		test ! -e ../.cordon-work-old
		stat -c %a ../../victim
		test -d ../../victim/incompat' "$CORDON"
	[ "$status" -ne 77 ] || skip "no overlay on a tmpfs"
	[ "$status" -eq 0 ]
	[ "$output" = 755 ]
}

# What the script in $1 leaves of a workspace in which no protected name is.
probe_placeholders='
	echo x >n
	for name in .bashrc .envrc .npmrc; do
		mv -f n $name && echo "moved over $name"
		echo x >$name && echo "wrote $name"
		rm -f $name && echo "removed $name"
		mv $name away && echo "moved $name away"
		ln $name linked && echo "linked $name"
		chmod 777 $name && echo "changed $name"
	done
	rmdir .vscode && echo "removed .vscode"
	touch .vscode/x && echo "wrote into .vscode"
	mkdir -p .github/workflows && touch .github/workflows/x && echo "wrote into .github"
	true'

@test "native: placeholders can be neither changed nor replaced, and nothing of them is on the host" {
	run "$CORDON" run -q --backend native -- sh -c "exec 2>/dev/null; $probe_placeholders"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(ls -A)" = n ]
}

@test "native: the same where placeholders keep their owner" {
	# No second user namespace: nothing can take it from them, and each is mounted upon.
	run unshare -U --map-user=1000 --map-group=1000 --keep-caps sh -c '
		"$0" run -q --backend native -- true || exit 77 # tried, and noted
		sleep 1                                         # its namespaces are gone
		echo 1 >/proc/sys/user/max_user_namespaces || exit 77
		"$0" run -q --backend native -- sh -c "
			exec 2>/dev/null; grep -c . /proc/self/mountinfo; $1"' "$CORDON" "$probe_placeholders"
	[ "$status" -ne 77 ] && [ "$status" -ne 1 ] || skip "no nested user namespace with a limit"
	[ "$status" -eq 0 ]
	[ "$output" -gt 60 ]
	[ "$(ls -A)" = n ]
}

@test "native: a protected name that appears on the host while a call runs is out of reach" {
	"$CORDON" run -q --backend native -- sh -c '
		touch ready; for _ in $(seq 250); do [ ! -s ready ] || break; sleep 0.02; done
		echo evil >>.envrc; rm -f .envrc; mv -f ready .envrc; true' 2>/dev/null &
	for _ in $(seq 200); do [ ! -e ready ] || break; sleep 0.05; done
	sleep 0.2
	echo mine >.envrc
	echo go >ready
	wait $!
	[ "$(cat .envrc)" = mine ]
}

@test "native: a protected name that appears on the host while a call starts is out of reach" {
	for i in $(seq 40); do
		rm -f .envrc
		"$CORDON" run -q --backend native -- sh -c 'echo evil >>.envrc' 2>/dev/null &
		sleep "0.00$((i % 10))"
		echo mine >.envrc
		wait $! || true # refused, or told to try again
		[ "$(cat .envrc)" = mine ]
	done
	# The same without protection: the host's file is found and written.
	"$CORDON" run -q --backend native -- sh -c 'echo other >>ordinary' && [ "$(cat ordinary)" = other ]
}

@test "native: a name that programs look for seems not to be there" {
	echo '{}' >package.json
	run "$CORDON" run -q --backend native -- sh -c 'cat .npmrc; [ -e .npmrc ] || echo absent; ls -A'
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *'No such file or directory'* ]]
	[ "${lines[1]}" = absent ]
	run "$CORDON" run -q --backend native -- sh -c '[ -e .bashrc ] && [ ! -f .bashrc ] && [ ! -d .bashrc ]'
	[ "$status" -eq 0 ]
}

@test "native: nothing stays when cordon is killed while it starts" {
	marker=cordon-killed-$$-$RANDOM
	for i in $(seq 30); do
		"$CORDON" run -q --backend native -- sh -c "sleep 300; : $marker" &
		pid=$!
		sleep "0.00$((i % 10))"
		kill -KILL "$pid"
		wait "$pid" || true
	done
	sleep 0.5
	run pgrep -f "$marker"
	[ "$status" -ne 0 ]
	# Helpers have the command line too.
	run pgrep -f "run -q --backend native -- sh -c sleep 300; : $marker"
	[ "$status" -ne 0 ]
}

@test "native: mounts that the kernel ends after a call do not pile up" {
	# No more than these may be there at a time; what is over counts until it is gone.
	run unshare -U --map-user=1000 --map-group=1000 --keep-caps sh -c '
		"$0" run -q --backend native -- true || exit 77
		echo 12 >/proc/sys/user/max_mnt_namespaces || exit 77
		for i in $(seq 60); do "$0" run -q --backend native -- true || exit 1; done
		# The control: with one that is held for each call the limit is met.
		for i in $(seq 16); do unshare -m sleep 5 2>/dev/null & done
		sleep 1
		"$0" run -q --backend native -- true && exit 2
		exit 0' "$CORDON"
	[ "$status" -ne 77 ] || skip "no nested user namespace with a limit"
	[ "$status" -eq 0 ]
}

@test "native: what the trial of an allowlisted network showed is kept with the rest" {
	kept=$CORDON_STATE_DIR/probe-native
	"$CORDON" run -q --backend native -- true # the first call had no directory to keep it in
	bare=$(cat "$kept")
	"$CORDON" run -q --backend native --allow-host example.com -- true || skip "no allowlisted network here"
	more=$(cat "$kept")
	[ "${more% *}" = "${bare% *}" ] # for the same machine
	[ $((${more##* } & ${bare##* })) -eq "${bare##* }" ]
	[ "${more##* }" -gt "${bare##* }" ]
	# Other calls leave it as it is.
	"$CORDON" run -q --backend native -- true
	[ "$(cat "$kept")" = "$more" ]
}
