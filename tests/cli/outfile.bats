#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Between two calls: what a call leaves in the workspace must not lead cordon itself anywhere, and the files that decide
# about the next call are not the call's to write.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	mkdir "$BATS_TEST_TMPDIR/w" "$BATS_TEST_TMPDIR/out"
	cd "$BATS_TEST_TMPDIR/w" || return
	echo '# mine' >../out/rc
}

@test "a report, or a manifest, is not written through a link that a call made" {
	"$CORDON" run -q -- ln -s "$BATS_TEST_TMPDIR/out/rc" r.json
	echo through >r.json # control: everybody else is led there
	[ "$(cat ../out/rc)" = through ]
	echo '# mine' >../out/rc
	for verb in 'run --report' 'learn -o m.yaml --report' 'learn -o'; do
		# shellcheck disable=SC2086 # a verb and its options
		run --separate-stderr "$CORDON" $verb r.json -- true
		[ "$status" -eq 125 ]
		[[ $stderr == *"'r.json' is a link, and a call may have made it"* ]]
	done
	[ "$(cat ../out/rc)" = '# mine' ]
	"$CORDON" run -q -- ln -s "$BATS_TEST_TMPDIR/out" d
	run --separate-stderr "$CORDON" run --report d/new.json -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *'a link leads out of the workspace'* ]]
	[ ! -e ../out/new.json ]
}

@test "a FIFO as a report is an error, and nobody waits" {
	mkfifo r.json
	run --separate-stderr timeout 20 "$CORDON" run --report r.json -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *'not a regular file'* ]]
	[ ! -e ran ]
}

@test "a report and a manifest are cordon's, whatever the call put in their place" {
	echo 'a file that is much longer than what is written there' >r.json
	run "$CORDON" run -q --report r.json -- sh -c 'rm -f r.json; echo FORGED >r.json; ln -s r.json l; exit 7'
	[ "$status" -eq 7 ]
	[ "$(cat ./*.json | grep -c FORGED)" -le 1 ] # in the words of the call itself
	python3 -c 'import json; d = json.load(open("r.json")); assert d["result"]["exit_code"] == 7, d'
	run "$CORDON" run -q --report r.json -- sh -c 'rm -f r.json; ln -s ../out/rc r.json'
	[ "$status" -eq 0 ]
	[ ! -L r.json ]
	[ "$(cat ../out/rc)" = '# mine' ]
	"$CORDON" learn -q -o m.yaml -- sh -c 'rm -f m.yaml; printf "cordon: 1\nsandbox: {level: none}\n" >m.yaml'
	run ! grep -q '^ *level: none' m.yaml
	run ! grep -q '^sandbox: {' m.yaml
	"$CORDON" policy validate m.yaml
}

@test "a report of before is not there when a call could not run" {
	echo old >r.json
	run "$CORDON" run -q --backend firecracker --report r.json -- true
	[ "$status" -eq 125 ]
	[ ! -s r.json ]
}

@test "descriptors and devices of the system are written as they are" {
	"$CORDON" run -q --report fd:3 -- true 3>r.json
	python3 -c 'import json; json.load(open("r.json"))'
	"$CORDON" run -q --report /dev/fd/4 -- true 4>r2.json
	python3 -c 'import json; json.load(open("r2.json"))'
	"$CORDON" run -q --report /dev/null -- true
}

@test "a report into a directory that is not ours: the file that is there" {
	[ "$(id -u)" -eq 0 ] || skip 'not root'
	place=$(mktemp -d /tmp/cordon-outfile-XXXXXX) # where everybody may come
	chmod 755 "$place"
	mkdir "$place/out" && install -d -m 777 "$place/own"
	: >"$place/out/r.json"
	chmod 666 "$place/out/r.json"
	cp "$CORDON" "$place/cordon" # the tree may be closed to others
	cd "$place/own"
	nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$place/own" CORDON_STATE_DIR="$place/own/s" CORDON_CONFIG_DIR=/nonexistent "$@"; }
	run nobody touch "$place/out/new"
	refused=$status
	run nobody "$place/cordon" run -q --level none --report ../out/r.json -- true
	done=$status
	cp "$place/out/r.json" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	rm -rf "$place"
	[ "$refused" -ne 0 ] && [ "$done" -eq 0 ] || false
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$BATS_TEST_TMPDIR/r.json"
}

@test "a socket is not granted through a link that a call made" {
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("../out/s")'
	"$CORDON" run -q -- ln -s "$BATS_TEST_TMPDIR/out/s" s
	run --separate-stderr "$CORDON" run --allow-socket ./s -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *"a link leads out of the workspace"* ]]
	"$CORDON" run -q --allow-socket "$BATS_TEST_TMPDIR/out/s" -- true
}

@test "the policy of a call is not the call's to write, and the next call is held by it" {
	printf 'cordon: 1\nsandbox: {level: process}\n' >agent.yaml
	printf 'cordon: 1\nsandbox: {resource_limits: {timeout_ms: 60000}}\n' >.cordon.yaml
	ln -s agent.yaml link.yaml
	mkdir sub
	cp agent.yaml sub/deep.yaml
	for file in agent.yaml link.yaml sub/deep.yaml; do
		run "$CORDON" run -q -p $file -- sh -c 'for f in agent.yaml link.yaml sub/deep.yaml .cordon.yaml; do [ "$f" != "$1" ] && [ "$f" != .cordon.yaml ] && continue
			echo "sandbox: {level: none}" >$f; rm -f $f; mv $f x; echo "sandbox: {level: none}" >n; mv -f n $f; done; [ "$1" != sub/deep.yaml ] || mv sub sub2; echo x >ran' - $file
		[ -e ran ] # it did begin, and got to the end
		rm ran
	done
	for file in agent.yaml link.yaml sub/deep.yaml; do
		[ "$(cat $file)" = "$(printf 'cordon: 1\nsandbox: {level: process}\n')" ]
	done
	[ -L link.yaml ]
	grep -q 60000 .cordon.yaml
	run "$CORDON" run -q -p agent.yaml -- cat ../out/rc
	[ "$status" -ne 0 ]
	cat ../out/rc # control
	run "$CORDON" why -p agent.yaml --path agent.yaml --write
	[[ $output == *'deny: write agent.yaml'*'the policy in force is read from it'* ]]
	# Another file of the same kind is ordinary work.
	"$CORDON" run -q -p agent.yaml -- sh -c 'echo x >other.yaml'
	[ "$(cat other.yaml)" = x ]
}

@test "a change set does not bring another policy" {
	printf 'cordon: 1\nsandbox: {level: process}\n' >agent.yaml
	run "$CORDON" run -q -p agent.yaml --workspace cow -- sh -c 'rm -f agent.yaml; echo "sandbox: {level: none}" >agent.yaml; echo x >.cordon.yaml; echo x >other'
	id=$("$CORDON" sandbox list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["sandboxes"][0]["id"])')
	"$CORDON" sandbox commit "$id"
	[ "$(cat other)" = x ]
	[ "$(tail -n 1 agent.yaml)" = 'sandbox: {level: process}' ]
	[ ! -e .cordon.yaml ]
}

@test "the user's policy of another program is not a call's to write either" {
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir "$HOME"
	run "$CORDON" run -q -C "$HOME" -- sh -c 'mkdir -p .cloneguard; printf "cordon: 1\nsandbox: {level: none}\n" >.cloneguard/policy.yaml; echo x >ran'
	[ -e "$HOME/ran" ]
	[ ! -e "$HOME/.cloneguard/policy.yaml" ]
	mkdir "$HOME/.cloneguard" && printf 'cordon: 1\nsandbox: {level: none}\n' >"$HOME/.cloneguard/policy.yaml"
	CORDON_CONFIG_DIR=$HOME/none "$CORDON" run -q -- cat ../out/rc # control: what it would have done
}
