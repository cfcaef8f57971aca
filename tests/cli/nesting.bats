#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon inside cordon, in user namespaces and in a container: it works, or says why and what to do.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell
# shellcheck disable=SC2030,SC2031 # bats runs each test in a subshell

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	cp "$CORDON" ./cordon
	"$CORDON" run -q --backend native -- true || skip 'backend native is not available here'
}

teardown() {
	if [ -n "${DOCKERD-}" ]; then
		kill "$DOCKERD"
		for _ in $(seq 100); do
			kill -0 "$DOCKERD" 2>/dev/null || break
			sleep 0.1
		done
		rm -rf "$ENGINE"
	fi
}

# Where the inner one keeps its records.
inner='export CORDON_STATE_DIR=$PWD/state CORDON_CONFIG_DIR=$PWD/config; exec ./cordon'

@test 'a sandbox in a supervised call works' {
	run "$CORDON" run -q --level none -- sh -c "$inner run -q -- echo inside"
	[ "$status" = 0 ]
	[ "$output" = inside ]
}

@test 'a supervised call in a sandbox works' {
	run "$CORDON" run -q --backend native -- sh -c "$inner run -q --level none -- echo inside"
	[ "$status" = 0 ]
	[ "$output" = inside ]
}

@test 'a sandbox in a sandbox works by other means, or says why' {
	run "$CORDON" run -q --backend native -- sh -c "$inner run -q --report r.json -- echo inside"
	echo "$output"
	if [ "$status" = 0 ]; then
		[ "$output" = inside ]
		[ "$(jq -r .isolation.achieved.backend r.json)" != native ]
		[ "$(jq -r .isolation.achieved.level r.json)" = process ]
	else
		[ "$status" = 125 ]
		[[ "$output" == *"in a sandbox of cordon's no namespaces can be made"* ]]
	fi
	# by name it says why in any case
	run "$CORDON" run -q --backend native -- sh -c "$inner run -q --backend native -- echo inside"
	[ "$status" = 125 ]
	[[ "$output" == *"in a sandbox of cordon's no namespaces can be made"* ]]
	run "$CORDON" run -q --backend native -- sh -c "$inner run -q --backend landlock -- echo inside"
	[ "$status" = 125 ]
	[[ "$output" == *"there is a listener for system calls already"* ]]
	# and the doctor tells what can be had in there
	run "$CORDON" run -q --backend native -- sh -c "$inner doctor --json"
	[ "$status" = 0 ]
	jq -e '.mechanisms[] | select(.name == "user-namespaces") | .works == false and .fix != null' <<<"$output"
	jq -e '.mechanisms[] | select(.name == "landlock") | .works' <<<"$output"
}

@test 'a sandbox in a user namespace of an ordinary user' {
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot become another user'
	place=$(mktemp -d /tmp/cordon-nesting-XXXXXX)
	cp "$CORDON" "$place/cordon"
	mkdir "$place/work"
	chown -R 65534:65534 "$place"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$place" CORDON_STATE_DIR="$place/state" \
		CORDON_CONFIG_DIR=/nonexistent unshare -U sh -c 'cd "$0/work" && ../cordon run -q -- echo inside' "$place"
	rm -rf "$place"
	echo "$output"
	# there our ids are not mapped: it may not work, but it has to say so
	[ "$status" = 0 ] || [ "$status" = 125 ]
	[ "$status" = 125 ] || [ "$output" = inside ]
	[ "$status" = 0 ] || [[ "$output" == cordon:* ]]
}

# A private engine, and an image that is empty but for what a system needs beside /usr.
start_docker() {
	command -v dockerd >/dev/null || skip 'dockerd is not installed (ENGINES=all tools/setup check)'
	[ "$(id -u)" -eq 0 ] || skip 'not root: cannot start an engine'
	ENGINE=$(mktemp -d /tmp/cordon-engine-XXXXXX)
	export DOCKER_HOST=unix://$ENGINE/socket DOCKER_CONFIG=$ENGINE/config
	dockerd -H "$DOCKER_HOST" --data-root "$ENGINE/data" --exec-root "$ENGINE/exec" -p "$ENGINE/pid" --bridge=none \
		--iptables=false --ip6tables=false >"$ENGINE/log" 2>&1 3>&- &
	DOCKERD=$!
	for _ in $(seq 300); do
		docker version >/dev/null 2>&1 && break
		sleep 0.1
	done
	docker version >/dev/null || skip "the engine does not start here: $(tail -n 1 "$ENGINE/log")"
	mkdir -p "$ENGINE"/image/{usr,tmp,root,home,var/tmp,proc,sys,dev,run,etc,opt}
	chmod 1777 "$ENGINE"/image/tmp "$ENGINE"/image/var/tmp
	for dir in bin sbin lib lib64; do
		[ ! -L "/$dir" ] || ln -s "usr/$dir" "$ENGINE/image/$dir"
	done
	cp -a /etc/passwd /etc/group /etc/ld.so.* /etc/nsswitch.conf /etc/alternatives "$ENGINE/image/etc/"
	echo root:x:1 >"$ENGINE/image/etc/shadow"
	chmod 600 "$ENGINE/image/etc/shadow"
	tar -C "$ENGINE/image" -c . | docker import - cordon-test >/dev/null
	mkdir -m 1777 "$ENGINE/volume"
	cp "$CORDON" "$ENGINE/volume/cordon"
}

in_docker() { # USER OPTION... -- SCRIPT
	local user=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	run docker run --rm --network none -u "$user" -e HOME=/tmp -v /usr:/usr:ro -v "$ENGINE/volume:/volume" -w /volume \
		"${options[@]}" cordon-test sh -c "mkdir -p w-$user && cd w-$user && $2"
	echo "$output"
}

@test 'in a container: it says what is missing, and works with that' {
	start_docker
	local open=(--security-opt seccomp=unconfined --security-opt systempaths=unconfined)
	# with the engine's own profile there are no namespaces
	in_docker 1000 -- '../cordon run -q --backend native -- echo inside'
	[ "$status" = 125 ]
	[[ "$output" == *'--security-opt seccomp=unconfined --security-opt systempaths=unconfined'* ]]
	# what it says is what helps
	in_docker 1000 "${open[@]}" -- '../cordon run -q --backend native -- sh -c "echo inside; test ! -e ../cordon"'
	[ "$status" = 0 ]
	[ "$output" = inside ]
	# without a volume the workspace is on the container's own file system
	in_docker 1000 "${open[@]}" -- 'mkdir /tmp/w && cd /tmp/w && /volume/cordon run -q --backend native -- echo inside'
	[ "$status" = 125 ]
	[[ "$output" == *"overlayfs does not take 'overlay' file systems"*'a volume or a tmpfs'* ]]
	# root of a container works or says why
	in_docker 0 "${open[@]}" -- '../cordon run -q --backend native -- echo inside'
	[ "$status" = 125 ] || [ "$output" = inside ]
	[ "$status" = 0 ] || [[ "$output" == *'run cordon as an ordinary user'* ]]
}
