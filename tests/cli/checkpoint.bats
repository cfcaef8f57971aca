#!/usr/bin/env bats
# Before a SUSPICIOUS call that is enforced runs, what it may write is saved; other calls pay nothing.

bats_require_minimum_version 1.5.0

setup() {
	load scene
	scene_make
	cd "$PLACE/self/w" || return
	echo text >a
	cat >"$PLACE/policy.yaml" <<-END
		enforcement:
		  enabled: true
		  adapter: native
		  suspicious:
		    Bash: {filesystem_writable: ["$PLACE/self/w"]}
	END
	export CORDON_STATE_DIR=$PLACE/self/state CORDON_CONFIG_DIR=$PLACE/self/config HOME=$PLACE/self/home
}

teardown() {
	scene_remove
}

report() {
	"$CORDON" run -p "$PLACE/policy.yaml" --report "$PLACE/report" "$@"
	jq -r '[.verdict.verdict, .checkpoint // "none"] | join(" ")' "$PLACE/report"
}

names() {
	find "$PLACE/self/state/snapshots/names" -mindepth 1 2>/dev/null | wc -l
}

@test "checkpoint: a SUSPICIOUS call that is enforced" {
	run -0 report -c 'echo changed >a; rm -rf ~/nothing'
	[[ $output == "SUSPICIOUS snap-"* ]]
	[ "$(names)" -eq 1 ]
	[ "$(cat a)" = changed ]
	[ -e "$PLACE/self/state/snapshots/names/${output#* }" ]
}

@test "checkpoint: none before a SAFE call" {
	run -0 report -c 'echo changed >a'
	[ "$output" = 'SAFE none' ]
	[ "$(names)" -eq 0 ]
}

@test "checkpoint: none in dry run" {
	run -0 report --dry-run -c 'echo changed >a; rm -rf ~/nothing'
	[ "$output" = 'SUSPICIOUS none' ]
	[ "$(names)" -eq 0 ]
}

@test "checkpoint: what cannot be saved does not run" {
	mkdir -p "$PLACE/self/state/snapshots"
	echo in the way >"$PLACE/self/state/snapshots/objects"
	run -125 "$CORDON" run -p "$PLACE/policy.yaml" -c 'echo changed >a; rm -rf ~/nothing'
	[[ $output == *'save what a SUSPICIOUS call may write'* ]]
	[ "$(cat a)" = text ]
}
