#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon snapshot: what was saved before a call is looked at, given back, taken elsewhere; and what is damaged is told.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	load scene
	scene_make
	cd "$PLACE/self/w" || return
	echo text >a
	mkdir sub
	echo two >sub/b
	ln -s a link
	cat >"$PLACE/policy.yaml" <<-END
		enforcement:
		  enabled: true
		  adapter: native
		  suspicious:
		    Bash: {filesystem_writable: ["$PLACE/self/w"]}
	END
	export CORDON CORDON_STATE_DIR=$PLACE/self/state CORDON_CONFIG_DIR=$PLACE/self/config HOME=$PLACE/self/home
	"$CORDON" run -q -p "$PLACE/policy.yaml" --report "$PLACE/report" -c 'echo changed >a; rm sub/b; echo n >new; rm -rf ~/nothing'
	name=$(jq -r .checkpoint "$PLACE/report")
	store=$CORDON_STATE_DIR/snapshots
}

teardown() {
	scene_remove
}

fails() { # TEXT WORD...: one line, a hint, 125
	local text=$1
	shift
	run -125 --separate-stderr "$CORDON" snapshot "$@"
	echo "$stderr"
	[[ $stderr == *"$text"* ]]
	[ "$(grep -vc hint: <<<"$stderr")" -eq 1 ]
}

@test "a checkpoint is listed and given back; what it does not have stays unless it is named" {
	[ "$(cat a)" = changed ] # the control
	run -0 "$CORDON" snapshot list
	[[ $output == *"$name"*checkpoint*"$PLACE/self/w"* ]]
	"$CORDON" snapshot list --json | jq -e --arg n "$name" '.snapshots | length == 1 and .[0].name == $n'
	run -0 "$CORDON" snapshot restore --dry-run "$name"
	[[ $output == *"modify: $PWD/a"* && $output == *"add: $PWD/sub/b"* ]]
	[ "$(cat a)" = changed ]
	run -0 "$CORDON" snapshot restore "$name"
	[ "$(cat a sub/b)" = $'text\ntwo' ]
	[ -e new ]
	run -0 "$CORDON" snapshot restore --remove new "$name"
	[ ! -e new ]
	run -0 "$CORDON" snapshot restore "$name"
	[ -z "$output" ]
}

@test "export and import: one file, to a directory that is named" {
	"$CORDON" snapshot export "$name" "$PLACE/self/x"
	[ "$(stat -c %a "$PLACE/self/x")" = 600 ]
	fails 'File exists' export "$name" "$PLACE/self/x"
	"$CORDON" snapshot export "$name" - | cmp - "$PLACE/self/x"
	"$CORDON" snapshot rm "$name"
	run -0 "$CORDON" snapshot list --json
	[ "$output" = '{"snapshots":[]}' ]
	[ "$("$CORDON" snapshot import --name back "$PLACE/self/x")" = back ]
	[ "$("$CORDON" snapshot import --name pipe - <"$PLACE/self/x")" = pipe ]
	fails 'back' restore back
	mkdir "$PLACE/self/to"
	"$CORDON" snapshot restore --to "$PLACE/self/to" back
	[ "$(cat "$PLACE/self/to/a" "$PLACE/self/to/sub/b")" = $'text\ntwo' ]
	[ "$(readlink "$PLACE/self/to/link")" = a ]
	[ "$(cat a)" = changed ]
}

@test "damage: verify tells it and sets it aside, a restore changes nothing, the next snapshot mends it" {
	"$CORDON" snapshot verify "$name"
	object=$(find "$store/objects" -type f | head -n 1)
	printf x | dd of="$object" bs=1 conv=notrunc status=none
	fails damaged restore "$name"
	[ "$(cat a)" = changed ]
	run -125 --separate-stderr "$CORDON" snapshot verify
	[[ $output == *"$name"*damaged* && $stderr == *"set aside"* ]]
	[ ! -e "$object" ]
	[ "$(find "$store/damaged" -type f | wc -l)" -eq 1 ]
	# The files as they were, and saved once more.
	echo text >a
	echo two >sub/b
	"$CORDON" run -q -p "$PLACE/policy.yaml" -c 'echo again >a; rm -rf ~/nothing'
	"$CORDON" snapshot verify
	"$CORDON" snapshot restore "$name"
	[ "$(cat a)" = text ]
}

@test "a truncated, changed or empty export is refused, and nothing of it is kept" {
	"$CORDON" snapshot export "$name" "$PLACE/self/x"
	size=$(stat -c %s "$PLACE/self/x")
	for cut in 0 1 7 $((size / 2)) $((size - 1)); do
		head -c "$cut" "$PLACE/self/x" >"$PLACE/self/cut"
		fails '' import --name cut "$PLACE/self/cut"
	done
	for at in 3 $((size / 3)) $((size - 5)); do
		cp "$PLACE/self/x" "$PLACE/self/cut"
		byte=$(od -An -tu1 -j "$at" -N 1 "$PLACE/self/x") # another one, whatever it was
		printf '%b' "\\0$(printf %o $((255 - byte)))" | dd of="$PLACE/self/cut" bs=1 seek="$at" conv=notrunc status=none
		fails '' import --name cut "$PLACE/self/cut"
	done
	fails 'no-such-file' import no-such-file
	"$CORDON" snapshot list --json | jq -e '.snapshots | length == 1'
	"$CORDON" snapshot import --name whole "$PLACE/self/x" # the control
}

@test "bad names and words" {
	fails "no snapshot 'nothing'" restore nothing
	fails "no snapshot 'nothing'" rm "$name" nothing
	"$CORDON" snapshot list --json | jq -e '.snapshots | length == 1'
	fails '' verify ../../etc/passwd
	fails '' export "$name" "$PLACE/self/missing/x"
}

@test "a full disk: an export leaves no file, an import and a restore nothing at all" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
	mkdir "$PLACE/self/small"
	head -c 3000000 /dev/urandom >a
	"$CORDON" run -q -p "$PLACE/policy.yaml" --report "$PLACE/report" -c 'echo small >a; rm -rf ~/nothing'
	large=$(jq -r .checkpoint "$PLACE/report")
	"$CORDON" snapshot export "$large" "$PLACE/self/x"
	cat >"$PLACE/script" <<-'END'
		mount -t tmpfs -o size=1m none "$1/small" || exit 99
		"$CORDON" snapshot export "$2" "$1/small/x"
		echo "export $? $(ls "$1/small")"
		mkdir -m 700 "$1/small/state"
		CORDON_STATE_DIR=$1/small/state "$CORDON" snapshot import "$1/x"
		echo "import $?"
		CORDON_STATE_DIR=$1/small/state "$CORDON" snapshot list --json
		mkdir "$1/small/to"
		"$CORDON" snapshot restore --to "$1/small/to" "$2"
		echo "restore $? $(ls "$1/small/to")"
	END
	run -0 unshare -m --propagation private sh "$PLACE/script" "$PLACE/self" "$large"
	echo "$output"
	[[ $output == *"No space left"*"export 125 "$'\n'* ]]
	[[ $output == *"import 125"$'\n''{"snapshots":[]}'* ]]
	[[ $output == *"restore 125 " ]]
	"$CORDON" snapshot restore "$large" # the control
	[ "$(stat -c %s a)" -eq 3000000 ]
}

@test "a store that cannot be written can be read" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount it read-only"
	cat >"$PLACE/script" <<-'END'
		mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
		"$CORDON" snapshot list && "$CORDON" snapshot verify && "$CORDON" snapshot export "$2" - | wc -c
		"$CORDON" snapshot rm "$2"
		echo "rm $?"
		"$CORDON" snapshot restore "$2"
		echo "restore $?"
	END
	run unshare -m --propagation private sh "$PLACE/script" "$store" "$name"
	echo "$output"
	[[ $output == *"$name"*"all as they were saved"* ]]
	[[ $output == *"rm 125"* && $output == *"restore 125"* ]]
	[[ $output == *[Rr]ead-only* ]]
	[ "$(cat a)" = changed ]
	"$CORDON" snapshot verify "$name"
}
