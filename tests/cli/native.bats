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
