#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Images and containers of projects, with an engine of the test's own: builds by content, swaps, calls, and faults.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load engines

# api METHOD PATH [ARG...]: of the private engine.
api() {
	engine_api "${KIND:-docker}" "$@"
}

# An image base:1 with a shell and a few programs of this machine, and the libraries that they need.
import_base() {
	local root program file
	root=$(mktemp -d /var/tmp/cordon-base-XXXXXX)
	mkdir -p "$root/bin" "$root/tmp" "$root/proc" "$root/dev" "$root/etc"
	for program in sh cat ls sleep id touch grep mkdir head; do
		file=$(readlink -f "$(type -P "$program")")
		cp "$file" "$root/bin/$program"
		ldd "$file" | grep -o '/[^ ]*' | while read -r file; do
			mkdir -p "$root$(dirname "$file")"
			cp -L "$file" "$root$file"
		done
	done
	tar -C "$root" -c . | api POST "/images/create?fromSrc=-&repo=${1:-base&tag=1}" -H 'Content-Type: application/x-tar' --data-binary @-
	rm -rf "$root"
}

setup_file() {
	engines_start docker
	[ -n "${docker_ABSENT-}" ] || import_base >"$ENGINES/import"
	engines_start podman
	[ -n "${podman_ABSENT-}" ] || KIND=podman import_base 'localhost/base' >>"$ENGINES/import"
}

teardown_file() {
	engines_stop
}

setup() {
	WORK=$(mktemp -d /var/tmp/cordon-env-XXXXXX)
	export CORDON_STATE_DIR=$WORK/state
	mkdir "$WORK/p" "$WORK/state"
	cd "$WORK/p" || return
	printf 'FROM base:1\nCOPY a.txt /a.txt\n' >Dockerfile
	echo "$WORK" >a.txt # other tests' images are not this one
	has docker
}

teardown() {
	cd / || return
	[ -n "${podman_ABSENT-}" ] || "$CORDON" container stop -b podman -C "$WORK/p" 2>/dev/null || true
	[ -n "${docker_ABSENT-}" ] || "$CORDON" container stop -C "$WORK/p" 2>/dev/null || true
	rm -rf "$WORK"
}

containers() {
	api GET '/containers/json?all=1' | jq length
}

built() {
	"$CORDON" image build --json "$@" | jq .built
}

# Until no process of this machine has these words.
gone() {
	for _ in $(seq 50); do
		pgrep -fx "$1" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test 'an image is built once for what it is built from' {
	[ "$(built)" = true ]
	[ "$(built)" = false ]
	"$CORDON" image status | grep -q ^current:
	echo x >other # nothing copies it
	touch a.txt   # nor is a time in the hash
	"$CORDON" image status | grep -q ^current:
	echo more >>a.txt
	"$CORDON" image status | grep -q ^stale:
	[ "$(built)" = true ]
	chmod 755 a.txt
	[ "$(built)" = true ]
	"$CORDON" image status | grep -q ^current:
	"$CORDON" image invalidate
	"$CORDON" image status | grep -q ^stale:
	[ "$(built)" = true ]
	[ "$(built)" = false ]
	[ "$(built --force)" = true ]
}

@test 'only what is copied and neither ignored nor denied leaves the project' {
	mkdir d
	echo yes >d/yes
	echo no >d/no.log
	echo back >d/back.log
	echo secret >d/secret
	printf '# logs\n**/*.log\n!d/back.log\n' >.dockerignore
	printf 'sandbox:\n  level: process\n  capabilities:\n    filesystem:\n      denied_paths: [%s/d/secret]\n' "$PWD" >"$WORK/policy.yaml"
	printf 'FROM base:1\nCOPY d /d\nCOPY a.txt /\n' >Dockerfile
	"$CORDON" image build -p "$WORK/policy.yaml"
	"$CORDON" container start -p "$WORK/policy.yaml"
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- ls /d
	[ "$output" = $'back.log\nyes' ]
	# of the project itself it is hidden, too; outside it is there
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- cat d/secret
	[ "$output" != secret ]
	[ "$(cat d/secret)" = secret ]
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- cat d/yes
	[ "$output" = yes ]
	echo changed >d/no.log
	"$CORDON" image status -p "$WORK/policy.yaml" | grep -q ^current:
}

@test 'many builds of one hash at one time: one builds' {
	printf 'FROM base:1\nCOPY a.txt /a.txt\nRUN sleep 1\n' >Dockerfile
	for i in 1 2 3 4; do
		"$CORDON" image build --json >"$WORK/out$i" &
	done
	wait
	[ "$(cat "$WORK"/out? | jq -s 'map(select(.built)) | length')" = 1 ]
	[ "$(cat "$WORK"/out? | jq -r .image | sort -u | wc -l)" = 1 ]
}

@test 'calls: streams, exit codes, time-out, output limit, the audit trail' {
	"$CORDON" image build
	run --separate-stderr "$CORDON" container start
	[[ "$output" =~ ^[0-9a-f]{64}$ ]]
	[ "$("$CORDON" container status --json | jq -r .container)" = "$output" ]
	run --separate-stderr "$CORDON" container exec -q -e A=b -c 'echo "$A $PWD"; echo err >&2; exit 7'
	[ "$status" = 7 ]
	[ "$output" = "b $PWD" ]
	[ "$stderr" = err ]
	run --separate-stderr "$CORDON" container exec -q -- sh -c 'kill -15 $$'
	[ "$status" = 143 ]
	run -127 "$CORDON" container exec -q -- nonexistent-command
	run "$CORDON" container exec -q -- sh -c 'head -c 3000000 /dev/zero'
	[ "$status" = 0 ]
	run --separate-stderr "$CORDON" container exec -q --max-output 1000 -- sh -c 'while :; do echo xxxxxxxx; done'
	[ "$status" != 0 ]
	[ "${#output}" -le 1000 ]
	start=$SECONDS
	run "$CORDON" container exec -q -t 1s -- sleep 7131
	[ "$status" = 124 ]
	[ $((SECONDS - start)) -lt 8 ]
	gone 'sleep 7131'
	"$CORDON" audit verify
	"$CORDON" audit show --json --type call | jq -se 'length > 4'
}

@test 'nothing that a command started outlives it, nor a cordon that is killed' {
	"$CORDON" image build
	"$CORDON" container start
	run timeout 60 "$CORDON" container exec -q -c 'sleep 7132 & (sleep 7133 &) ; echo done'
	[ "$status" = 0 ]
	[ "$output" = 'done' ]
	gone 'sleep 7132'
	gone 'sleep 7133'
	"$CORDON" container exec -q -- sleep 7134 3>&- &
	call=$!
	for _ in $(seq 50); do
		pgrep -fx 'sleep 7134' >/dev/null && break
		sleep 0.1
	done
	pgrep -fx 'sleep 7134'
	kill -9 "$call"
	gone 'sleep 7134'
	"$CORDON" container status | grep -q ^running
}

@test 'a command that turns on who ends it: all of it ends with the call, or with the container' {
	# takes all descriptors that a process could still open
	cc -static -D_GNU_SOURCE -o starve -xc - <<<'#include <stdlib.h>
#include <sys/resource.h>
int main(int argc, char **argv) { return argc < 2 || prlimit(strtol(argv[1], 0, 10), RLIMIT_NOFILE, &(struct rlimit){0}, 0) < 0; }'
	printf 'FROM base:1\nCOPY starve /bin/starve\n' >Dockerfile
	"$CORDON" image build
	"$CORDON" container start
	start=$SECONDS
	run "$CORDON" container exec -q -t 20s -c 'kill -STOP $PPID; sleep 7151'
	[ "$status" = 137 ]
	[ $((SECONDS - start)) -lt 15 ]
	gone 'sleep 7151'
	run "$CORDON" container exec -q -c 'sleep 7152 & kill -9 $PPID; sleep 7152'
	gone 'sleep 7152'
	# the container is as good as before
	run "$CORDON" container exec -q -c 'echo works'
	[ "$output" = works ]
	# neither its memory nor its streams can be had
	run "$CORDON" container exec -q -c 'cat /proc/$$/environ >/dev/null && : >/proc/$$/mem && echo own; cat /proc/$PPID/environ || cat /proc/1/environ || : >/proc/$PPID/mem'
	[[ "$output" == own* ]]
	[ "$status" != 0 ]
	# who cannot list processes any more does not know whether one is left
	for who in '$PPID' 1; do
		[ "$("$CORDON" container status --json | jq .running)" = true ] || "$CORDON" container start
		run --separate-stderr "$CORDON" container exec -q -c "sleep 7153 & starve $who && echo starved; [ $who != 1 ] || sleep 7153"
		[ "$output" = starved ]
		echo "$who: $status: $stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *'the container ended while the command ran'*hint:*'container start'* ]]
		gone 'sleep 7153'
		"$CORDON" container status | grep -q '^not running'
	done
	# and one that somebody ends from outside
	"$CORDON" container start
	"$CORDON" container exec -q -c 'echo ready; sleep 7154' >"$WORK/out" 2>"$WORK/err" 3>&- &
	call=$!
	for _ in $(seq 100); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	api POST "/containers/$("$CORDON" container status --json | jq -r .container)/kill"
	code=0
	wait "$call" || code=$?
	cat "$WORK/err"
	[ "$code" = 125 ]
	grep 'the container ended while the command ran' "$WORK/err"
	gone 'sleep 7154'
	# the control: a command that is killed is no such loss
	"$CORDON" container start
	run "$CORDON" container exec -q -c 'kill -9 $$'
	[ "$status" = 137 ]
}

@test 'an engine without a filter of system calls of its own: ours stands there' {
	printf 'sandbox: {level: process, container: {runtime: unfiltered}}\n' >"$WORK/policy.yaml"
	# what the runtime leaves out, by its own word
	cc -static -o "$WORK/p/seccomp" -xc - <<<'#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) { printf("%d %d\n", prctl(PR_GET_SECCOMP, 0, 0, 0, 0), syscall(SYS_add_key, "user", "cordon", "x", 1, -2) >= 0); return 0; }'
	printf 'FROM base:1\nCOPY seccomp /seccomp\n' >Dockerfile
	"$CORDON" image build
	image=$("$CORDON" image status --json | jq -r .image)
	for runtime in unfiltered second; do
		DOCKER_CONFIG=$WORK/config docker run --rm --network none --runtime "$runtime" "$image" /seccomp >"$WORK/$runtime"
	done
	[ "$(cat "$WORK/unfiltered")" = '0 1' ]
	[ "$(cat "$WORK/second")" = '2 0' ]
	"$CORDON" container start -p "$WORK/policy.yaml"
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- /seccomp
	[ "$output" = '2 0' ]
	# its first process is under it, too
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- grep Seccomp: /proc/1/status
	[ "$output" = $'Seccomp:\t2' ]
	"$CORDON" container stop
	# a call in a container of its own is under native's
	run "$CORDON" run -q -b docker -p "$WORK/policy.yaml" -- "$WORK/p/seccomp"
	[ "$output" = '2 0' ]
}

@test 'the container is held: no capabilities, no network, nothing to write but what was named' {
	mkdir out .git
	"$CORDON" image build
	"$CORDON" container start -w out
	run "$CORDON" container exec -q -- grep -e CapBnd -e CapEff -e NoNewPrivs -e Seccomp: /proc/self/status
	[[ "$output" == *$'CapEff:\t0000000000000000'* ]]
	[[ "$output" == *$'CapBnd:\t0000000000000000'* ]]
	[[ "$output" == *$'NoNewPrivs:\t1'* ]]
	[[ "$output" == *$'Seccomp:\t2'* ]]
	run "$CORDON" container exec -q -- sh -c 'grep -c : /proc/net/dev'
	[ "$output" = 1 ]
	run --separate-stderr "$CORDON" container exec -q -c 'touch a.txt; touch new; touch .git/x; touch /x; mkdir .claude; touch out/ok /tmp/ok && echo both'
	[ "$output" = both ]
	[ ! -e new ]
	[ ! -e .git/x ]
	[ ! -e .claude ]
	[ -e out/ok ]
	"$CORDON" container stop
	# what holds a protected name cannot be opened
	for dir in . .git "$WORK"; do
		run -125 "$CORDON" container start -w "$dir"
	done
	[ "$(containers)" = 0 ]
}

@test 'limits of the policy: memory and processes' {
	printf 'sandbox:\n  level: process\n  resource_limits: {memory_mb: 32, max_processes: 8}\n' >"$WORK/policy.yaml"
	"$CORDON" image build
	"$CORDON" container start -p "$WORK/policy.yaml"
	eat='x=x; while :; do x=$x$x; done'
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- sh -c "$eat"
	[ "$status" = 137 ]
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 7135 & done; echo all'
	[[ "$output" != *all* ]]
	"$CORDON" container swap
	run "$CORDON" container exec -q -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 7135 & done; echo all'
	[[ "$output" == *all* ]]
}

@test 'a call under another policy than the container was started under is refused' {
	printf 'sandbox:\n  level: process\n  resource_limits: {memory_mb: 64}\n' >"$WORK/policy.yaml"
	"$CORDON" image build
	"$CORDON" container start
	"$CORDON" container exec -q -- id
	run -126 "$CORDON" container exec -q -p "$WORK/policy.yaml" -- id
	[[ "$output" == *'another policy'* ]]
	"$CORDON" container swap -p "$WORK/policy.yaml"
	"$CORDON" container exec -q -p "$WORK/policy.yaml" -- id
	# a list of hosts cannot be held
	printf 'sandbox:\n  level: process\n  capabilities:\n    network: {mode: allowlist, allowed_hosts: [example.com]}\n' >"$WORK/policy.yaml"
	run -125 "$CORDON" container swap -p "$WORK/policy.yaml"
	"$CORDON" container status | grep -q ^running
}

@test 'a runtime that the policy names: the container has it, or there is none' {
	printf 'sandbox: {level: process, container: {runtime: second}}\n' >"$WORK/policy.yaml"
	"$CORDON" image build
	id=$("$CORDON" container start -p "$WORK/policy.yaml")
	[ "$(api GET "/containers/$id/json" | jq -r .HostConfig.Runtime)" = second ]
	"$CORDON" container exec -q -p "$WORK/policy.yaml" -- id
	# one that was started with another is none of this policy's
	run -126 "$CORDON" container exec -q -- id
	[[ "$output" == *'another policy'* ]]
	"$CORDON" container stop
	printf 'sandbox: {level: process, container: {runtime: third}}\n' >"$WORK/policy.yaml"
	run -125 "$CORDON" container start -p "$WORK/policy.yaml"
	[[ "$output" == *third* ]]
	printf 'sandbox: {level: process, container: {runtime: second}}\n' >"$WORK/policy.yaml"
	run -125 "$CORDON" container start -b podman -p "$WORK/policy.yaml"
	[[ "$output" == *"takes no runtime 'second'"* ]]
	# nobody looks whether it holds limits: a call that needs one is refused
	printf 'sandbox:\n  level: process\n  container: {runtime: second}\n  resource_limits: {memory_mb: 64}\n' >"$WORK/policy.yaml"
	"$CORDON" container start -p "$WORK/policy.yaml"
	run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- id
	[[ "$status" == 12[56] ]]
	[[ "$output" == *memory* ]]
	"$CORDON" container stop
	[ "$(containers)" = 0 ]
}

@test 'a container that is not what was asked for: no command starts in it, however late that shows' {
	"$CORDON" image build
	mkdir out
	printf 'sandbox: {level: process, container: {runtime: loose}}\n' >"$WORK/policy.yaml"
	run -125 "$CORDON" container start -p "$WORK/policy.yaml" -w out
	[[ "$output" == *'it lets programs gain privileges'* ]]
	[ "$(containers)" = 0 ]
	# the first process has not looked yet when the container is said to run
	for name in late late-loose; do
		printf 'sandbox: {level: process, container: {runtime: %s}}\n' "$name" >"$WORK/policy.yaml"
		"$CORDON" container start -p "$WORK/policy.yaml" -w out
		run "$CORDON" container exec -q -p "$WORK/policy.yaml" -- touch "out/$name"
		"$CORDON" container stop
	done
	[ -e out/late ]
	[ ! -e out/late-loose ]
}

@test 'gVisor as the runtime: the same container on its kernel' {
	api GET /info | jq -e '.Runtimes | has("runsc")' || skip 'runsc is not installed'
	mkdir out d .git
	echo secret >d/secret
	echo yes >d/yes
	printf 'sandbox:\n  level: process\n  container: {runtime: runsc}\n  resource_limits: {max_open_files: 99}\n  capabilities:\n    filesystem:\n      denied_paths: [%s/d/secret]\n' "$PWD" >"$WORK/policy.yaml"
	on_gvisor() {
		run --separate-stderr "$CORDON" container exec -q -p "$WORK/policy.yaml" "$@"
	}
	"$CORDON" image build -p "$WORK/policy.yaml"
	"$CORDON" container start -p "$WORK/policy.yaml" -w out
	on_gvisor -- cat /proc/version
	[[ "$output" == *'Linux version 4.4.0'* ]]
	[ "$(cat /proc/version)" != "$output" ]
	# streams, exit codes, signals
	on_gvisor -e A=b -c 'echo "$A $PWD"; echo err >&2; exit 7'
	[ "$status" = 7 ]
	[ "$output" = "b $PWD" ]
	[ "$stderr" = err ]
	on_gvisor -- sh -c 'kill -15 $$'
	[ "$status" = 143 ]
	run -127 "$CORDON" container exec -q -p "$WORK/policy.yaml" -- nonexistent-command
	on_gvisor -- sh -c 'head -c 3000000 /dev/zero'
	[ "$status" = 0 ]
	on_gvisor --max-output 1000 -- sh -c 'while :; do echo xxxxxxxx; done'
	[ "$status" != 0 ]
	[ "${#output}" -le 1000 ]
	# what is held
	on_gvisor -- grep -e CapBnd -e CapEff -e NoNewPrivs -e Seccomp: /proc/self/status
	echo "$output"
	[[ "$output" == *$'CapEff:\t0000000000000000'* ]]
	[[ "$output" == *$'CapBnd:\t0000000000000000'* ]]
	[[ "$output" == *$'Seccomp:\t2'* ]]
	on_gvisor -c 'ulimit -n'
	[ "$output" = 99 ]
	on_gvisor -- sh -c 'grep -c : /proc/net/dev'
	[ "$output" = 1 ]
	on_gvisor -c 'touch a.txt; touch new; touch .git/x; touch /x; mkdir .claude; touch out/ok /tmp/ok && echo both'
	[ "$output" = both ]
	[ ! -e new ]
	[ ! -e .git/x ]
	[ ! -e .claude ]
	[ -e out/ok ]
	on_gvisor -c 'cat d/yes d/secret; ls /root /home'
	[ "$output" = yes ]
	[ "$(cat d/secret)" = secret ]
	# nothing is left of a call: there is a time-out, a child that stays behind, and a cordon that is killed
	on_gvisor -t 2s -- sleep 7141
	[ "$status" = 124 ]
	on_gvisor -c '(sleep 7142 &) ; sleep 7142 & echo done'
	[ "$output" = 'done' ]
	"$CORDON" container exec -q -p "$WORK/policy.yaml" -- sh -c 'echo >out/runs; sleep 7143' 3>&- &
	call=$!
	for _ in $(seq 100); do
		[ ! -e out/runs ] || break
		sleep 0.1
	done
	sleeps='n=0; for p in /proc/[0-9]*/cmdline; do grep -q "^sleep" $p && n=$((n + 1)); done; echo $n'
	on_gvisor -c "$sleeps"
	echo "$output $stderr"
	[ "$output" = 1 ] # and none of those before
	kill -9 "$call"
	for _ in $(seq 50); do
		on_gvisor -c "$sleeps"
		[ "$output" != 0 ] || break
		sleep 0.1
	done
	[ "$output" = 0 ]
	"$CORDON" container status | grep -q ^running
	"$CORDON" container stop
	[ "$(containers)" = 0 ]
}

@test 'swap: the new one runs, and a failed build or swap leaves the old one' {
	"$CORDON" image build
	"$CORDON" container start
	old=$("$CORDON" container status --json | jq -r .container)
	run -125 "$CORDON" container start
	echo new >a.txt
	"$CORDON" image swap
	new=$("$CORDON" container status --json | jq -r .container)
	[ "$old" != "$new" ]
	[ "$("$CORDON" container exec -q -- cat /a.txt)" = new ]
	[ "$(containers)" = 1 ]
	printf 'FROM base:1\nRUN exit 9\n' >Dockerfile
	run -125 "$CORDON" image swap
	[[ "$output" == *'the build failed'* ]]
	run -125 "$CORDON" container swap --image localhost/none:1
	[[ "$output" == *'is not there'* ]]
	[ "$("$CORDON" container status --json | jq -r .container)" = "$new" ]
	[ "$("$CORDON" container exec -q -- cat /a.txt)" = new ]
	[ "$(containers)" = 1 ]
	"$CORDON" container stop
	"$CORDON" container stop
	[ "$(containers)" = 0 ]
	"$CORDON" container status | grep -q '^not running'
}

@test 'nothing is fetched, and a build has no network' {
	printf 'FROM nowhere.invalid/x:1\n' >Dockerfile
	run -125 "$CORDON" image build
	[[ "$output" == *'is not there'* ]]
	printf 'ARG B=base\nFROM $B:1\n' >Dockerfile
	run -125 "$CORDON" image build
	printf 'FROM base:1\nADD http://127.0.0.1/x /x\n' >Dockerfile
	run -125 "$CORDON" image build
	printf 'FROM base:1\nRUN test "$(grep -c : /proc/net/dev)" = 1\n' >Dockerfile
	"$CORDON" image build
}

@test 'faults: no engine, no Dockerfile, damaged notes, a container that somebody removed, a killed start' {
	run -125 env DOCKER_HOST=unix:///nonexistent "$CORDON" image build
	[[ "$output" == *'No such file'* ]]
	rm Dockerfile
	run -125 "$CORDON" image build
	[[ "$output" == *Dockerfile* ]]
	# a link leads out of the project, and the engine would show a line of what it leads to
	echo 'password-of-somebody' >"$WORK/outside"
	for link in "$WORK/outside" a.txt; do
		ln -s "$link" Dockerfile
		run -125 "$CORDON" image build
		rm Dockerfile
		[[ "$output" == *"'Dockerfile' is a link"*hint:*--file* ]]
		[[ "$output" != *password* ]]
	done
	# what Docker has against a Dockerfile is told
	printf 'COPY a.txt /a.txt\n' >Dockerfile
	run -125 "$CORDON" image build
	[[ "$output" == *'docker refused (400)'*'no build stage'* ]]
	printf 'FROM base:1\n' >Dockerfile
	run -125 "$CORDON" container start
	[[ "$output" == *'image build'* ]]
	run -125 "$CORDON" container exec -- true
	[[ "$output" == *'container start'* ]]
	"$CORDON" image build
	"$CORDON" container start
	api DELETE "/containers/$("$CORDON" container status --json | jq -r .container)?force=1"
	run -125 "$CORDON" container exec -- true
	"$CORDON" container start # and a new one can be had
	"$CORDON" container stop
	for delay in 0.05 0.15 0.3; do
		timeout -s KILL "$delay" "$CORDON" container start || true
	done
	sleep 1
	"$CORDON" container stop
	[ "$(containers)" = 0 ]
	echo '{' >"$(echo "$WORK"/state/containers/*.json)"
	run -125 "$CORDON" container status
	[[ "$output" == *damaged* ]]
}

@test 'an engine that answers nonsense, or not at all' {
	python3 - "$WORK/s" <<'END' 3>&- &
import socket, sys, threading
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
for _ in range(8):
    c, _ = s.accept()
    try:
        c.sendall(b'\x00garbage\r\n\r\n')
    except OSError:
        pass
    c.close()
END
	server=$!
	for _ in $(seq 50); do
		[ ! -S "$WORK/s" ] || break
		sleep 0.1
	done
	run -125 env DOCKER_HOST="unix://$WORK/s" "$CORDON" image build
	kill "$server"
}

@test 'the library: build, start, exec, swap by the callback, stop' {
	mkdir "$WORK/bin"
	cp "$BUILDDIR/cordon-devenv" "$BUILDDIR/cordon-hold" "$WORK/bin" # beside the program, as in a build directory
	cat >"$WORK/t.c" <<'END'
#include <cordon/cordon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cordon_error err;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, err.message);
	exit(1);
}

static int swap(void *data, const char *image)
{
	return cordon_container_set_image(data, image, &err) < 0 || cordon_container_hot_swap(data, &err) < 0;
}

static int fails(void *data, const char *image)
{
	(void)data;
	(void)image;
	return 1;
}

static int runs(struct cordon_container *c, const char *command, int64_t timeout_ms)
{
	struct cordon_report *report = NULL;
	int code;

	need(cordon_container_exec(c, command, timeout_ms, &report, &err) == 0, command);
	code = cordon_report_exit_code(report);
	cordon_report_free(report);
	return code;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	need(f && fputs(text, f) >= 0 && fclose(f) == 0, name);
}

int main(void)
{
	struct cordon_policy_options *options = NULL;
	struct cordon_policy *policy = NULL;
	struct cordon_container *c = NULL;
	struct cordon_devenv *d = NULL;
	char *image = NULL;
	char *second = NULL;
	char first[80];

	need(cordon_policy_options_new(NULL, &options, &err) == 0, "options");
	need(cordon_policy_load(options, &policy, &err) == 0, "policy");
	need(cordon_container_new(policy, NULL, NULL, &c, &err) == 0, "new");
	need(cordon_devenv_new(policy, NULL, swap, c, &d, &err) == 0, "devenv");
	need(cordon_container_running(c, &err) == 0, "not running");
	need(cordon_container_start(c, &err) == CORDON_E_NOT_FOUND, "no image");
	need(cordon_devenv_is_stale(d, NULL, &err) == 1, "stale before");
	need(cordon_container_build(c, NULL, &err) == 0, "build");
	need(cordon_container_image(c)[0], "image");
	need(cordon_devenv_is_stale(d, NULL, &err) == 0, "not stale");
	need(cordon_container_start(c, &err) == 0, "start");
	need(cordon_container_start(c, &err) == CORDON_E_BUSY, "start again");
	need(cordon_container_running(c, &err) == 1, "running");
	snprintf(first, sizeof(first), "%s", cordon_container_id(c));
	need(strlen(first) == 64, "id");
	need(runs(c, "exit 4", 0) == 4, "exit code");
	need(runs(c, "sleep 7136", 500) == 124, "time-out");
	need(cordon_devenv_get_or_build(d, NULL, &image, &err) == 0 && strcmp(image, cordon_container_image(c)) == 0, "get");
	need(cordon_devenv_invalidate(d, &err) == 0 && cordon_devenv_is_stale(d, NULL, &err) == 1, "invalidate");
	write_file("a.txt", "second\n");
	need(cordon_devenv_rebuild_and_force_swap(d, NULL, &second, &err) == 0, "rebuild");
	need(strcmp(image, second) != 0 && strcmp(cordon_container_image(c), second) == 0, "another image");
	need(cordon_container_running(c, &err) == 1 && strcmp(first, cordon_container_id(c)) != 0, "swapped");
	need(runs(c, "grep -q second /a.txt", 0) == 0, "what it was built from");
	snprintf(first, sizeof(first), "%s", cordon_container_id(c));
	write_file("Dockerfile", "FROM base:1\nRUN exit 1\n");
	cordon_free(second);
	need(cordon_devenv_rebuild_and_force_swap(d, NULL, &second, &err) == CORDON_E_INVALID, "failed build");
	need(cordon_container_running(c, &err) == 1 && strcmp(first, cordon_container_id(c)) == 0, "the old one");
	cordon_devenv_free(d);
	write_file("Dockerfile", "FROM base:1\n");
	need(cordon_devenv_new(policy, NULL, fails, NULL, &d, &err) == 0, "devenv");
	need(cordon_devenv_rebuild_and_force_swap(d, NULL, &second, &err) == CORDON_E_REFUSED, "failed swap");
	need(cordon_container_stop(c, &err) == 0 && cordon_container_running(c, &err) == 0, "stop");
	need(!cordon_container_id(c)[0], "no id");
	cordon_devenv_free(d);
	cordon_container_free(c);
	cordon_policy_free(policy);
	cordon_policy_options_free(options);
	cordon_free(image);
	return 0;
}
END
	cc -Wall -Wextra -o "$WORK/bin/t" -I"$SRCDIR/include" "$WORK/t.c" -L"$BUILDDIR/src" -lcordon
	run env LD_LIBRARY_PATH="$BUILDDIR/src" "$WORK/bin/t"
	echo "$output"
	[ "$status" = 0 ]
	gone 'sleep 7136'
	[ "$(containers)" = 0 ]
}

@test 'podman: the same' {
	has podman
	local KIND=podman name
	printf 'FROM localhost/base\nCOPY a.txt /a.txt\n' >Dockerfile
	mkdir out dir
	echo secret | tee file >dir/secret
	printf 'sandbox:\n  level: process\n  capabilities:\n    filesystem:\n      denied_paths: [%s/dir, %s/file]\n' "$PWD" "$PWD" >"$WORK/policy.yaml"
	exec_in() {
		run --separate-stderr "$CORDON" container exec -q -b podman -p "$WORK/policy.yaml" "$@"
	}
	"$CORDON" image build -b podman -p "$WORK/policy.yaml"
	# the control: without the policy both can be read
	"$CORDON" container start -b podman
	run "$CORDON" container exec -q -b podman -c 'cat file dir/secret'
	[ "$output" = $'secret\nsecret' ]
	"$CORDON" container stop -b podman
	"$CORDON" container start -b podman -p "$WORK/policy.yaml" -w out
	exec_in -c 'cat /a.txt; echo err >&2; exit 7'
	[ "$status" = 7 ]
	[ "$output" = "$WORK" ]
	[ "$stderr" = err ]
	exec_in -c 'cat file dir/secret; ls dir; echo x >dir/x'
	[[ "$output$stderr" != *secret$'\n'* ]]
	[ -z "$output" ]
	[ ! -e dir/x ]
	# podman itself would make /run and /var/tmp writable
	exec_in -c 'for d in / /run /var/tmp /etc . dir; do echo x >$d/x && echo "$d"; done; echo >out/ok; echo >/tmp/ok && echo both'
	[ "$output" = both ]
	[ -e out/ok ]
	exec_in -- grep -e CapBnd -e CapEff -e NoNewPrivs -e Seccomp: /proc/self/status
	[ "$output" = $'CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2' ]
	exec_in -c 'sleep 7161 & sleep 7162 & echo ended'
	[ "$output" = ended ]
	gone 'sleep 7161'
	exec_in -t 1s -c 'sleep 7163'
	[ "$status" = 124 ]
	gone 'sleep 7163'
	"$CORDON" container swap -b podman -p "$WORK/policy.yaml"
	exec_in -c 'cat dir/secret; echo works'
	[ "$output" = works ]
	"$CORDON" container stop -b podman -p "$WORK/policy.yaml"
	for _ in $(seq 100); do
		[ "$(containers)" != 0 ] || break
		sleep 0.1
	done
	[ "$(containers)" = 0 ]
	# what it would not hide as what it is
	for name in 'file,exec' 'file,U' 'dir:x' 'dir"x'; do
		rm -rf "$name"
		if [[ $name == file* ]]; then echo secret >"$name"; else mkdir "$name"; fi
		printf "sandbox:\n  level: process\n  capabilities:\n    filesystem:\n      denied_paths: ['%s/%s']\n" "$PWD" "$name" >"$WORK/odd.yaml"
		run --separate-stderr "$CORDON" container start -b podman -p "$WORK/odd.yaml"
		echo "$stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *podman*"$name"*hint:*rename* ]] || [[ "$stderr" == *podman*'dir\"x'*hint:*rename* ]]
		[ "$(containers)" = 0 ]
		rm -rf "$name"
	done
}
