#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Disks without room, for each way to run a call: the state directory and the workspace.  Those of engines are in
# container_faults.bats, a machine's in qemu.bats.  All of it on small file systems that only the test sees.

# shellcheck disable=SC2154,SC2016 # bats sets stderr; scripts for shells inside
bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot make a small file system'
	cd "$BATS_TEST_TMPDIR" || return
	mkdir state w
	if [ -z "${CORDON_WASM_ENGINE-}" ] && [ -d "$SRCDIR/build-engines/wasmedge" ]; then
		CORDON_WASM_ENGINE=$(realpath "$SRCDIR/build-engines/wasmedge")
		export CORDON_WASM_ENGINE
	fi
}

# small SCRIPT ARG...: in a mount namespace with a state directory and a workspace of 256 KiB each.
small() {
	timeout 300 unshare -m --propagation private bash -c '
		mount -t tmpfs -o size=256k,mode=700 small state && mount -t tmpfs -o size=256k small w && mkdir w/w && cd w/w || exit 99
		export CORDON_STATE_DIR=$OLDPWD/state
		script=$1
		shift
		fill() { head -c 1M /dev/zero >"$1/fill" 2>/dev/null; df "$1" | grep -q 100% || exit 96; }
		eval "$script"' small "$@"
}

is_here() {
	[ "$("$CORDON" backends --json | jq --arg name "$1" '.backends[] | select(.name == $name) | .available')" = true ]
}

@test "a state directory without room: nothing runs, and one line says what to do" {
	printf '\0asm\1\0\0\0\1\4\1\140\0\0\3\2\1\0\7\12\1\6_start\0\0\12\4\1\2\0\13' >empty.wasm
	for backend in native bwrap nsjail gvisor wasm; do
		is_here "$backend" || continue
		run small '
			command=(touch ran)
			[ "$1" != wasm ] || { cp "$2" . && command=(./empty.wasm); }
			"$CORDON" run -q -b "$1" -- "${command[@]}" || { echo "the control: $?"; exit 98; }
			rm -f ran
			fill "$CORDON_STATE_DIR"
			"$CORDON" run -b "$1" -- "${command[@]}"
			status=$?
			[ ! -e ran ] || echo "it ran"
			rm "$CORDON_STATE_DIR/fill"
			"$CORDON" run -q -b "$1" -- "${command[@]}" || { echo "afterwards: $?"; exit 97; }
			exit "$status"' "$backend" "$PWD/empty.wasm"
		echo "$backend: $status: $output"
		[ "$status" -eq 125 ]
		[[ $output == *'No space left on device'* ]]
		[[ $output == *'make room'* || $output == *CORDON_STATE_DIR* ]]
		[[ $output != *'it ran'* ]]
	done
}

@test "a workspace without room is the command's own error, and the call is a call like others" {
	for backend in native bwrap nsjail gvisor; do
		is_here "$backend" || continue
		run small '
			write="head -c 100000 /dev/zero >\$1; echo inside \$?; exit 5"
			"$CORDON" run -q -b "$1" -- sh -c "$write" sh first
			fill . # "first" stays: its room would come back when the kernel has let go of that sandbox
			"$CORDON" run -q -b "$1" -- sh -c "$write" sh more
			exit $?' "$backend"
		echo "$backend: $status: $output"
		[ "$status" -eq 5 ]
		[ "${lines[0]}" = 'inside 0' ] # the control
		[[ $output == *'No space left on device'*'inside 1' ]]
	done
}
