# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For tests of sandboxes that stay, on top of scene.bash: a scene for each test, and nothing left of it.

setup() {
	scene_make
	for who in $WHO; do
		mkdir -p "$PLACE/$who/run"
		scene_give "$who"
	done
}

teardown() {
	for who in $WHO; do
		cd "$PLACE/$who/w" || continue
		box "$who" cleanup --max-age 0 >/dev/null 2>&1 || true
		for pid in $(keepers "$who"); do
			kill -9 "$pid" || true
		done
	done
	scene_remove
}

# box USER VERB...: cordon sandbox as that user.
box() {
	local who=$1
	shift
	as "$who" env XDG_RUNTIME_DIR="$PLACE/$who/run" "$PLACE/cordon" sandbox "$@"
}

# field USER ID NAME: of its status.
field() {
	box "$1" status --json "$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$3"
}

# The keepers that hold the lock of a sandbox of this user.
keepers() {
	python3 - "$PLACE/$1/state/keepers" <<'END'
import fcntl, glob, struct, sys
for path in glob.glob(sys.argv[1] + "/*/keeper"):
    with open(path, "r+") as f:
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(f, fcntl.F_GETLK, lock))
        if kind != fcntl.F_UNLCK:
            print(pid)
END
}

# until_true COMMAND...: waits for it, at most 20 seconds.
until_true() {
	for _ in $(seq 400); do
		"$@" && return 0
		sleep 0.05
	done
	echo "never true: $*"
	return 1
}

# Has the process ended?  Who is to collect it is not our business.
gone() {
	[ ! -e "/proc/$1" ] || grep -qs '^State:.Z' "/proc/$1/status"
}
