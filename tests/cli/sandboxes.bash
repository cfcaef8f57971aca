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

# box USER VERB...: cordon sandbox as that user; with STAY, made under that backend.
box() {
	local who=$1
	shift
	[ "$1" != create ] || [ -z "${STAY-}" ] || set -- "$@" --backend "$STAY"
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

# mounts_of cgroup2|freezer: where such a hierarchy is mounted.
mounts_of() {
	awk -v kind="$1" '{ for (i = 7; $i != "-"; i++); if (kind == "cgroup2" ? $(i + 1) == kind : $(i + 1) == "cgroup" && $(i + 3) ~ kind) print $5 }' /proc/self/mountinfo
}

# create_without KIND... [-- OPTION...]: a sandbox whose keeper does not see these hierarchies, which we unmount in a
# mount namespace of its own.
create_without() {
	local points=''
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		points+=" $(mounts_of "$1")"
		shift
	done
	[ $# -eq 0 ] || shift
	[ "$(id -u)" -eq 0 ] || {
		box self create "$@" # nobody gave us a group
		return
	}
	# shellcheck disable=SC2016 # a script for the shell inside
	as self env XDG_RUNTIME_DIR="$PLACE/self/run" unshare -m --propagation private sh -ec '
		[ "$(readlink /proc/self/ns/mnt)" != "$1" ]
		for point in $2; do umount -l "$point"; done
		where=$3
		shift 3
		exec "$where" sandbox create "$@"' sh "$(readlink /proc/self/ns/mnt)" "$points" "$PLACE/cordon" "$@"
}
