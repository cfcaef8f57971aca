#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Workspaces that overlayfs cannot take: the call is held by a backend that makes no overlays, if the policy permits that,
# and is refused by name where it does not.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell

bats_require_minimum_version 1.5.0
load scene

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a file system"
	scene_make
	declare -f as inside >"$PLACE/scene"
	export PLACE SCENE_NOBODY SCENE_PATH
}

teardown() {
	[ "$(id -u)" -ne 0 ] || scene_remove
}

# at BACKEND WHO DIR: a call that writes, and tries a protected name, in w/DIR.  w/plain is an ordinary directory, w/top the top of a mount,
# w/around has one in it, and w/over/d is on an overlay.
at() {
	cat >"$PLACE/mounts" <<-'END'
		set -e
		w=$PLACE/$1/w
		mkdir -p "$w"/{plain,top,around/sub,over,layers}
		mount -t tmpfs none "$w/top"
		mount -t tmpfs none "$w/around/sub"
		mount -t tmpfs none "$w/layers"
		mkdir "$w"/layers/{lower,upper,work}
		mount -t overlay none -o "lowerdir=$w/layers/lower,upperdir=$w/layers/upper,workdir=$w/layers/work" "$w/over"
		mkdir "$w/over/d"
		chmod -R 777 "$w"
		cd "$w/$2"
		. "$PLACE/body"
	END
	cat >"$PLACE/body"
	BACKEND=$1 run unshare -m --propagation private bash -c '. "$PLACE/scene"; . "$PLACE/mounts"' at "$2" "$3"
	echo "$output"
}

held() {
	for who in $WHO; do
		for where in plain top around over/d; do
			at auto "$who" "$where" <<-'END'
				code=0
				inside "$1" --report report -- sh -c 'echo new >file; mkdir .claude' 2>err || code=$?
				echo "$code $(cat file) $(jq -r '.isolation.achieved.backend, (.isolation.achieved.degraded | join(","))' report | tr '\n' ' ')"
				[ ! -e .claude ] && mkdir .claude # nothing is there, and outside it can be made
			END
			[ "$status" -eq 0 ]
			if [ "$where" = plain ]; then
				[[ $output = *"1 new native "* ]]
			else
				[[ $output = *"1 new landlock private-tmp,hide-metadata "* ]]
			fi
		done
	done
}

@test "the default policy is held without an overlay" {
	held
}

@test "a backend that was named, and a policy that somebody wrote, are refused by name" {
	for who in $WHO; do
		at native "$who" plain <<-'END'
			inside "$1" -- true
		END
		[ "$status" -eq 0 ]
		at native "$who" top <<-'END'
			inside "$1" -- touch ran
		END
		[ "$status" -eq 125 ]
		[[ $output = *"native: cannot give protect-missing"*"it is the top of a mount"* ]]
		[[ $output = *"--workspace cow"* ]]
		at native "$who" around <<-'END'
			inside "$1" -- touch ran
		END
		[ "$status" -eq 125 ]
		[[ $output = *"a file system is mounted at '"*"/around/sub' in it"* ]]
		at native "$who" over/d <<-'END'
			inside "$1" -- touch ran
		END
		[ "$status" -eq 125 ]
		[[ $output = *"overlayfs does not take 'overlay' file systems"* ]]
		at auto "$who" top <<-'END'
			printf 'cordon: 1\nsandbox: {capabilities: {filesystem: {mode: scoped, mount_paths: [{path: "%s", permissions: rw}]}}}\n' "$PWD" >../p.yaml
			code=0
			inside "$1" -p ../p.yaml -- touch ran || code=$?
			[ ! -e ran ]
			exit "$code"
		END
		[ "$status" -eq 125 ]
		[[ $output = *"native: cannot give protect-missing"*"landlock: cannot give private-tmp"* ]]
	done
}

@test "changes that are kept apart need no place in the workspace" {
	for who in $WHO; do
		at native "$who" top <<-'END'
			inside "$1" --workspace discard -- sh -c 'echo new >file; cat file'
			[ ! -e file ]
		END
		[ "$status" -eq 0 ]
		[[ $output = *new* ]]
	done
}
