#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Layers can be left out in a test program only.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

TEST="$BUILDDIR/tests/conformance/cordon-layers"

@test "the program and the library know nothing of layers that can be left out" {
	for file in "$CORDON" "$(realpath "$BUILDDIR/src/libcordon.so")"; do
		[ -f "$file" ]
		run -1 grep -aq CORDON_TEST_ "$file"
		run -1 bash -c 'nm "$1" | grep shield_' _ "$file"
	done
}

@test "the test program does: the same search finds it there" {
	grep -aq CORDON_TEST_LAYERS_OFF "$TEST"
	nm "$TEST" | grep shield_
}

@test "the variable does nothing to the program" {
	cd "$HOME"
	run env CORDON_TEST_LAYERS_OFF=scrub A_TOKEN=hush "$CORDON" run -q -- env
	[ "$status" -eq 0 ]
	[[ "$output" != *hush* ]]
	run env CORDON_TEST_LAYERS_OFF=scrub A_TOKEN=hush "$TEST" run -q -- env
	[[ "$output" == *hush* ]]
}

@test "an unknown layer ends the test program" {
	CORDON_TEST_LAYERS_OFF=view,nonsense run -125 "$TEST" version
	[[ "$output" == *nonsense* ]]
}

@test "it is not installed" {
	run -1 grep -r cordon-layers "$SRCDIR/tools/install-docs" "$SRCDIR/meson.build"
	run -0 meson introspect --installed "$BUILDDIR"
	[[ $output == *cordon-proxy* ]] # the control
	[[ $output != *cordon-layers* ]]
}

@test "every file that asks about a layer is compiled into it (else: reconfigure)" {
	cd "$SRCDIR"
	n=0
	while read -r file; do
		grep -q "cordon-layers.p/.*$(echo "$file" | tr / _).o" "$BUILDDIR/build.ninja"
		n=$((n + 1))
	done < <(grep -rl base/shield.h src)
	[ "$n" -gt 5 ]
}
