#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Which backend a call gets where several could run it: never one that lacks what the call or the policy needs, never one below
# the floor, and never a weaker one in silence.  Modules are wasm.bats, machines qemu.bats, answers on paper test_select.c.

# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr; each test is its own
bats_require_minimum_version 1.5.0
load engines

setup_file() {
	engines_start docker
}

teardown_file() {
	engines_stop
}

setup() {
	WORK=$(mktemp -d /var/tmp/cordon-selection-XXXXXX)
	mkdir -p "$WORK/w" "$WORK/tools"
	cd "$WORK/w" || return
	export CONTAINER_HOST=unix:///nonexistent CORDON_WASM_ENGINE=/nonexistent CORDON_VM_KERNEL=/nonexistent
}

teardown() {
	cd / && rm -rf "$WORK"
}

# on WORD...: runs them; what it ran on is in BACKEND, "none" when nothing ran.
on() {
	rm -f "$WORK/r"
	run --separate-stderr timeout 100 "$CORDON" run -q --report "$WORK/r" "$@"
	BACKEND=$(jq -r '.isolation.achieved.backend // "none"' "$WORK/r" 2>/dev/null || echo none)
	echo "$*: $status on $BACKEND: $stderr"
}

has_gvisor() {
	"$CORDON" backends --json | jq -e '.backends[] | select(.name == "gvisor") | .available' >/dev/null
}

# In a mount namespace where runsc is none and no engine answers: what is left is native and what is like it.
alone() {
	local bind=
	[ ! -e /usr/bin/runsc ] || bind='mount --bind /dev/null /usr/bin/runsc;'
	run --separate-stderr env DOCKER_HOST=unix:///nonexistent timeout 100 unshare -m --propagation private sh -ec "$bind"' exec "$@"' sh \
		"$CORDON" run -q --report "$WORK/r" "$@"
}

@test "the strongest is one that has the user's own tools" {
	has docker
	cat >"$WORK/tool.c" <<-'END'
		#include <stdio.h>
		int main(void)
		{
			return puts("the user's own") < 0;
		}
	END
	cc -o "$WORK/tools/own-tool" "$WORK/tool.c"
	for backend in native docker gvisor strongest; do
		[ "$backend" != gvisor ] || has_gvisor || continue
		# one that the policy grants, one of the project, and one of the machine's
		PATH=$WORK/tools:$PATH on -b "$backend" -r "$WORK/tools" -- own-tool
		[ "$output" = "the user's own" ]
		cp "$WORK/tools/own-tool" .
		on -b "$backend" -- ./own-tool
		[ "$output" = "the user's own" ]
		on -b "$backend" -- python3 -c 'print(7)'
		[ "$output" = 7 ]
	done
	[ "$BACKEND" = gvisor ] || [ "$BACKEND" = docker ]
	# the control: an image of somebody's has none of them, and is only taken when a policy names it
	printf 'int main(void) { return 0; }' | cc -static -o "$WORK/tools/empty" -xc -
	tar -C "$WORK/tools" -c empty | engine_api docker POST '/images/create?fromSrc=-&repo=cordon-bare&tag=1' --data-binary @- \
		-H 'Content-Type: application/x-tar'
	run -127 --separate-stderr "$CORDON" run -q --report "$WORK/r" -b strongest --image cordon-bare:1 -- python3 -c 'print(7)'
	[ "$(jq -r .isolation.achieved.backend "$WORK/r")" = docker ]
}

@test "auto and strongest take none that cannot hold the policy" {
	has docker
	# gVisor has no devices of the host; docker has; an emulated machine is for who permits it
	on -b strongest --device /dev/null -- true
	[ "$status" = 0 ]
	[ "$BACKEND" = docker ]
	on -l container --device /dev/null -- true
	[ "$BACKEND" = docker ]
	on --device /dev/null -- true
	[ "$BACKEND" = native ]
	# an engine of modules is at a level of its own; above it is something for other commands
	on -l wasm -- true
	[ "$status" = 0 ]
	[[ " gvisor docker " == *" $BACKEND "* ]]
	# without any of it the same call is on something stronger
	on -b strongest -- true
	if has_gvisor; then
		[ "$BACKEND" = gvisor ]
	fi
}

@test "a floor is kept: by name, by auto and by strongest, with the reason of each that was looked at" {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot take the engines away'
	for backend in native bwrap landlock noop; do
		on -b "$backend" -l container -- touch ran
		[ "$status" = 125 ]
		[[ "$stderr" == *"$backend"*container* ]]
	done
	for words in '-l container' '-l vm' '-b strongest -l container' '-b docker' '-b gvisor' '-b podman' '-b qemu -l vm'; do
		# shellcheck disable=SC2086 # words
		alone $words -- touch ran
		echo "$words: $status: $stderr"
		[ "$status" = 125 ]
		[ -n "$stderr" ]
		[ ! -e ran ]
	done
	alone -l container -- touch ran
	for name in docker podman gvisor; do
		[[ "$stderr" == *"$name"* ]]
	done
	# the control: without a floor, or with one that is there, it runs
	alone -- touch ran
	[ "$status" = 0 ]
	[ -e ran ]
	rm ran
	alone -b strongest -l process -- touch ran
	[ "$status" = 0 ]
	[ "$(jq -r .isolation.achieved.backend "$WORK/r")" = native ]
}
