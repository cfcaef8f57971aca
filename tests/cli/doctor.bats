#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon doctor: what it says, that it is quick, and that it leaves nothing behind.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$HOME" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return 1
}

teardown() {
	if [ -n "${PLACE:-}" ]; then
		rm -rf -- "$PLACE"
	fi
}

# Rows that do not work have a fix, rows that do have none, and all rows are there.
check_rows() { # FILE
	jq -e '(.mechanisms | map(.name)) == ["user-namespaces", "mount-tmpfs", "mount-proc", "overlay",
		"nftables", "egress-capture", "egress-dns", "egress-ipv6", "egress-proxy", "cordon-proxy", "egress-broker", "landlock", "seccomp-filter", "seccomp-notify", "cgroup", "freezer", "rlimits", "kvm", "bwrap", "nsjail", "clone3",
		"pidfd", "openat2", "close_range"]' "$1"
	jq -e '[.mechanisms[], .state, .state.audit, .policy, .policy.files[]] |
		all((.works | type) == "boolean" and .detail != "" and
		    if .works then .fix == null else (.fix | type == "string" and length > 5) end)' "$1"
	jq -e '.backends | length == 14 and all(.name and .level and .reason != "")' "$1"
}

works() { # FILE NAME
	jq -r --arg name "$2" '.mechanisms[] | select(.name == $name) | .works' "$1"
}

# Groups of doctors that have ended; one that runs elsewhere at this moment may have its own.
stale_groups() {
	find /sys/fs/cgroup -name 'cordon-probe-*' 2>/dev/null | while read -r dir; do
		pid=${dir##*/cordon-probe-}
		[ -e "/proc/${pid%%-*}" ] || echo "$dir"
	done
}

@test "doctor: quick, exit 0, text and JSON agree" {
	SECONDS=0
	run --separate-stderr "$CORDON" doctor
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	text=$output
	"$CORDON" doctor --json >j
	[ "$SECONDS" -lt 20 ] # engines are tried too
	check_rows j
	while IFS=$'\t' read -r name works; do
		grep -qE "^$name +$works " <<<"$text"
	done < <(jq -r '.mechanisms[] | [.name, if .works then "yes" else "no" end] | @tsv' j)
	grep -q '^noop ' <<<"$text"
	jq -e '.state.dir == env.CORDON_STATE_DIR and .state.works and .state.audit.works' j
	jq -e '.policy.works and (.policy.files | length == 5)' j
	[ ! -e "$CORDON_STATE_DIR" ] # looking makes nothing
}

@test "doctor: nothing is left behind: no mount, no group, no process" {
	cat /proc/self/mountinfo >before
	setsid --wait bash -c 'echo $$ >sid; "$0" doctor >out; exit $?' "$CORDON"
	cmp before /proc/self/mountinfo
	[ -z "$(stale_groups)" ]
	[ -z "$(ps -o pid= --sid "$(cat sid)")" ]
}

@test "doctor: nothing is left behind when it is killed" {
	cat /proc/self/mountinfo >before
	for delay in 0 0.002 0.005 0.01 0.015 0.02 0.025 0.03 0.04; do
		timeout -s KILL "$delay" "$CORDON" doctor >out 2>&1 || true
	done
	sleep 0.2 # the kernel ends children of a killed parent in its own time
	cmp before /proc/self/mountinfo
	[ -z "$(stale_groups)" ]
	[ -z "$(pgrep -fx "$CORDON doctor")" ]
}

@test "doctor: as an unprivileged user" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	PLACE=$(mktemp -d /var/tmp/cordon-doctor.XXXXXX)
	chmod 755 "$PLACE"
	install -m 755 "$CORDON" "$PLACE/cordon"
	install -d -o 65534 -g 65534 -m 700 "$PLACE/home"
	cd "$PLACE/home" || return 1
	SECONDS=0
	env -u CORDON_STATE_DIR -u CORDON_CONFIG_DIR HOME="$PLACE/home" \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$PLACE/cordon" doctor --json \
		>"$BATS_TEST_TMPDIR/j"
	[ "$SECONDS" -lt 20 ] # engines are tried too
	check_rows "$BATS_TEST_TMPDIR/j"
	jq -e '.state.works' "$BATS_TEST_TMPDIR/j"
	# what needs no privilege works for this user exactly when it works for root
	"$CORDON" doctor --json >"$BATS_TEST_TMPDIR/root"
	for name in landlock seccomp-filter seccomp-notify clone3 pidfd openat2 close_range; do
		[ "$(works "$BATS_TEST_TMPDIR/j" $name)" = "$(works "$BATS_TEST_TMPDIR/root" $name)" ]
	done
	[ "$(works "$BATS_TEST_TMPDIR/j" pidfd)" = true ]
}

@test "doctor: where user namespaces are forbidden it says which sysctl allows them" {
	unshare -Ur true || skip "no user namespaces here"
	# the limit belongs to the new namespace, so the machine's stays as it is
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" doctor --json' \
		"$CORDON" >j
	check_rows j
	for name in user-namespaces mount-tmpfs mount-proc overlay nftables egress-capture egress-dns egress-ipv6; do
		[ "$(works j $name)" = false ]
	done
	jq -e '.mechanisms[0].fix == "sysctl -w user.max_user_namespaces=15000"' j
	[ "$(works j seccomp-filter)" = true ]
	[ "$(works j egress-broker)" = true ] # needs none of them
	unshare -Ur "$CORDON" doctor --json >control
	[ "$(works control user-namespaces)" = true ]
}

# refusing MOUNTS|NAMESPACES COMMAND...: as a security module or a container's filter refuses them.
refusing() {
	python3 - "$@" <<-'PY'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		load, equal, any_bit, answer, let = 0x20, 0x15, 0x45, 0x06, (0x06, 0, 0, 0x7fff0000)
		if sys.argv[1] == 'mounts':  # mount, open_tree to fsmount, mount_setattr: EACCES
		    calls = (165, 428, 429, 430, 431, 432, 442)
		    rows = [(load, 0, 0, 0)] + [(equal, len(calls) - i, 0, n) for i, n in enumerate(calls)]
		    rows += [let, (answer, 0, 0, 0x50000 | 13)]
		else:  # clone3: ENOSYS; clone and unshare with CLONE_NEWUSER: EPERM
		    rows = [(load, 0, 0, 0), (equal, 0, 1, 435), (answer, 0, 0, 0x50000 | 38), (equal, 1, 0, 56),
		            (equal, 0, 3, 272), (load, 0, 0, 16), (any_bit, 0, 1, 0x10000000), (answer, 0, 0, 0x50000 | 1), let]
		code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *r) for r in rows))
		class Program(ctypes.Structure):
		    _fields_ = [('n', ctypes.c_ushort), ('rows', ctypes.c_void_p)]
		assert libc.prctl(38, 1, 0, 0, 0) == 0
		assert libc.prctl(22, 2, ctypes.byref(Program(len(rows), ctypes.addressof(code)))) == 0
		os.execvp(sys.argv[2], sys.argv[2:])
	PY
}

@test "doctor: namespaces whose mounts are refused, and no namespaces at all" {
	[ "$(uname -m)" = x86_64 ] || skip "the filter of this test has the numbers of x86_64"
	unshare -Ur true || skip "no user namespaces here"
	# not as root: for others more is asked before the fix is known, and the reason must outlast that
	refusing mounts unshare -U --map-user=1000 --map-group=1000 "$CORDON" doctor --json >j
	check_rows j
	[ "$(works j user-namespaces)" = true ]
	for name in mount-tmpfs mount-proc overlay; do
		[ "$(works j $name)" = false ]
		jq -e --arg name "$name" '.mechanisms[] | select(.name == $name) |
			(.detail | endswith("Permission denied")) and (.fix | contains("mounts in them"))' j
	done
	[ "$(works j landlock)" = true ]
	refusing namespaces "$CORDON" doctor --json >j
	check_rows j
	for name in user-namespaces mount-tmpfs overlay; do
		jq -e --arg name "$name" '.mechanisms[] | select(.name == $name) |
			.works == false and (.detail | endswith("Operation not permitted"))' j
	done
	# and a call still runs: landlock needs neither
	for what in mounts namespaces; do
		refusing $what "$CORDON" run -q --report r -- sh -c 'echo x >made'
		[ -e made ]
		jq -e '.isolation.achieved.backend == "landlock"' r
		rm made r
	done
	"$CORDON" doctor --json >j
	[ "$(works j mount-tmpfs)" = true ]
}

@test "doctor: the network is tried, and what is missing is named" {
	unshare -Urn true || skip "no user namespaces here"
	"$CORDON" doctor --json >control
	for name in egress-capture egress-dns egress-proxy cordon-proxy egress-broker; do
		[ "$(works control $name)" = true ]
	done
	mkdir bin
	cp "$CORDON" bin/cordon
	installed=$(grep -aoE '/[[:alnum:]/._-]+/libexec/cordon' bin/cordon | head -n 1)
	[ -n "$installed" ]
	[ ! -e "$installed/cordon-proxy" ] || skip "the one that is installed would be run"
	bin/cordon doctor --json >j
	check_rows j
	[ "$(works j cordon-proxy)" = false ]
	[ "$(works j egress-proxy)" = true ]
	jq -e '.mechanisms[] | select(.name == "cordon-proxy") | .fix | contains("beside the command")' j
	# One that others can write is not run.
	cp "$(dirname "$CORDON")/cordon-proxy" bin/
	bin/cordon doctor --json >j
	[ "$(works j cordon-proxy)" = true ]
	chmod o+w bin/cordon-proxy
	bin/cordon doctor --json >j
	[ "$(works j cordon-proxy)" = false ]
	# One that does not confine itself is seen.
	printf '#!/bin/sh\nsleep 5\n' >bin/cordon-proxy
	chmod 755 bin/cordon-proxy
	bin/cordon doctor --json >j
	[ "$(works j cordon-proxy)" = false ]
}

@test "doctor: a state directory that others can read, or that is none" {
	mkdir "$CORDON_STATE_DIR"
	chmod 755 "$CORDON_STATE_DIR"
	"$CORDON" doctor --json >j
	jq -e '.state.works == false and (.state.fix | startswith("chmod 700 "))' j
	chmod 700 "$CORDON_STATE_DIR"
	"$CORDON" doctor --json | jq -e .state.works
	[ -z "$(ls -A "$CORDON_STATE_DIR")" ]
	rmdir "$CORDON_STATE_DIR"
	touch "$CORDON_STATE_DIR"
	"$CORDON" doctor --json >j
	check_rows j
	jq -e '.state.works == false' j
	"$CORDON" doctor | grep -q '^fix state: '
}

@test "doctor: a damaged end of the audit log" {
	"$CORDON" run --level none -- true
	"$CORDON" doctor --json | jq -e '.state.audit.works'
	sed -i '$s/"exit_code":0/"exit_code":1/' "$CORDON_STATE_DIR/audit.ndjson"
	"$CORDON" doctor --json >j
	check_rows j
	jq -e '.state.audit.works == false' j
}

@test "doctor: policy files, found and valid or not" {
	printf 'sandbox:\n  level: process\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	"$CORDON" doctor --json >j
	jq -e '.policy.works and (.policy.files[] | select(.layer == "user") | .found and .works)' j
	printf 'sandbox:\n  levle: process\n' >.cordon.yaml
	run --separate-stderr "$CORDON" doctor --json
	[ "$status" -eq 0 ]
	echo "$output" >j
	check_rows j
	jq -e '.policy.works == false' j
	jq -e '.policy.files[] | select(.layer == "project") | .found and .works == false and
		(.detail | contains(".cordon.yaml:2:3"))' j
	# each file alone is valid, but the project's may only tighten
	printf 'sandbox:\n  level: none\n' >.cordon.yaml
	"$CORDON" doctor --json >j
	jq -e '(.policy.files | all(.works)) and .policy.works == false' j
}
