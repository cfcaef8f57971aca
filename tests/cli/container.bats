#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Calls in containers, with engines of the test's own: what a call is given, and its limits.  Faults of the engines are in
# container_faults.bats.

# shellcheck disable=SC2153,SC2154,SC2016,SC2030,SC2031 # engines.bash sets SERVER; bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load engines

setup_file() {
	engines_start docker
	engines_start podman
}

teardown_file() {
	engines_stop
}

setup() {
	WORK=$(mktemp -d /var/tmp/cordon-container-XXXXXX)
	mkdir "$WORK/w"
	cd "$WORK/w" || return
}

teardown() {
	cd / && rm -rf "$WORK"
}

in_docker() {
	run --separate-stderr "$CORDON" run -q -b docker "$@"
}

# api METHOD PATH: of the private docker.
api() {
	engine_api docker "$@"
}

# Nothing of ours is left in the engine, nor anything in the places of calls.  What the engine is removing is not ours any more:
# on a busy machine Docker takes half a minute for that.
nothing_left() {
	local left=1
	for _ in $(seq 100); do
		left=$(api GET '/containers/json?all=1' | jq '[.[] | select(.State != "removing")] | length')
		[ "$left" != 0 ] || break
		sleep 0.1
	done
	[ "$left" = 0 ]
}

@test 'streams, exit codes, signals, words and variables' {
	has docker
	run --separate-stderr "$CORDON" run -q -b docker -e A='b c' -- sh -c 'cat; echo "$A" "$1" >&2; exit 7' sh "x
y" <<<'in'
	[ "$status" = 7 ]
	[ "$output" = in ]
	[ "$stderr" = $'b c x\ny' ]
	in_docker -- sh -c 'kill -15 $$'
	[ "$status" = 143 ]
	run -127 --separate-stderr "$CORDON" run -q -b docker -- nonexistent-command
	in_docker -- /etc/passwd
	[ "$status" = 126 ]
	# megabytes that no engine sees
	in_docker -- sh -c 'head -c 20000000 /dev/zero | tr "\0" x'
	[ "${#output}" = 20000000 ]
	nothing_left
}

@test 'the report says container, and what it used' {
	has docker
	in_docker --report "$WORK/r" -- true
	[ "$status" = 0 ]
	jq -e '.isolation.achieved | .backend == "docker" and .level == "container" and .degraded == []' "$WORK/r"
	jq -e '.result.usage.max_rss_kb > 0' "$WORK/r"
}

@test 'level container, auto and the list of backends' {
	has docker
	run --separate-stderr "$CORDON" run -q -l container --report "$WORK/r" -- true
	[ "$status" = 0 ]
	jq -e '.isolation.achieved.level == "container"' "$WORK/r"
	"$CORDON" backends --json | jq -e '.backends[] | select(.name == "docker") | .available and (.guarantees | index("net-allowlist") != null)'
}

@test 'the workspace stays as it was but for what the command wrote' {
	has docker
	echo a >a
	before=$(find . | sort)
	in_docker -- sh -c 'echo b >b; echo x >.mcp.json; mkdir .claude/x; true'
	[ "$(find . | sort)" = "$(printf '%s\n./b' "$before")" ]
	[ "$(stat -c %u:%g b)" = "$(id -u):$(id -g)" ]
	in_docker --workspace discard -- sh -c 'echo c >c && cat a c'
	[ "$output" = $'a\nc' ]
	[ ! -e c ]
	in_docker -x "$WORK/w/a" -- cat a
	[ "$status" = 1 ] # cat's own
	run cat a # it works outside
	[ "$output" = a ]
}

@test 'network: none, or only what is allowed' {
	has docker
	python3 -m http.server --bind 127.0.0.1 0 >"$WORK/log" 2>&1 &
	server=$!
	for _ in $(seq 50); do
		port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$WORK/log")
		[ -z "$port" ] || break
		sleep 0.1
	done
	get="import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/', timeout=5).status)"
	run python3 -c "$get"
	control=$output
	in_docker -- python3 -c "$get"
	none=$status
	in_docker --allow-host example.com -- python3 -c "$get"
	listed=$status
	in_docker --allow-port "$port" -- python3 -c "$get"
	granted=$output
	kill "$server"
	[ "$control" = 200 ]
	[ "$none" = 1 ] # of python, which did begin
	[ "$listed" = 1 ]
	[ "$granted" = 200 ]
	in_docker -- sh -c 'ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev'
	[ "$output" = 1 ]
}

@test 'limits: memory, processes, processor, files, output, time' {
	has docker
	eat='x = bytearray(300 << 20); print(len(x))'
	run python3 -c "$eat"
	[ "$status" = 0 ]
	in_docker -m 64M --report "$WORK/r" -- python3 -c "$eat"
	[ "$status" = 137 ]
	jq -e '.result.oom' "$WORK/r"
	# a child of the command that is killed ends the call, too
	in_docker -m 64M --report "$WORK/r" -- sh -c "python3 -c '$eat'; sleep 30"
	[ "$status" = 137 ]
	jq -e '.result.oom' "$WORK/r"
	in_docker -m 64M --report "$WORK/r" -- true
	[ "$status" = 0 ]
	jq -e '.result.oom | not' "$WORK/r"
	many='for i in $(seq 30); do sleep 2 & done; echo started; wait'
	run sh -c "$many"
	[ "$output" = started ]
	in_docker --max-processes 10 -- sh -c "$many"
	[[ "$output" != *started* ]]
	in_docker --max-open-files 20 -- sh -c 'ulimit -n'
	[ "$output" = 20 ]
	in_docker --max-output 1000 -- sh -c 'yes | head -c 100000'
	[ "${#output}" -le 1000 ]
	in_docker -t 1s -- sleep 60
	[ "$status" = 124 ]
	nothing_left
}

@test 'another image: its system, the same policy' {
	has docker
	mkdir -p "$WORK/image/usr/bin" "$WORK/image/opt/of-the-image"
	cat >"$WORK/try.c" <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	FILE *out = fopen("out", "w");
	return !out + 2 * access("/opt/of-the-image", F_OK) + 4 * (access("/usr/bin/env", F_OK) == 0) +
	       8 * (fopen("/usr/x", "w") != NULL) + 16 * (fopen(".mcp.json", "w") != NULL) + 32 * (access("/.cordon/aside", F_OK) == 0);
}
END
	cc -static -o "$WORK/image/usr/bin/try" "$WORK/try.c"
	tar -C "$WORK/image" -c . | api POST '/images/create?fromSrc=-&repo=cordon-test&tag=1' --data-binary @- -H 'Content-Type: application/x-tar'
	[ -e /usr/bin/env ]
	in_docker --image cordon-test:1 -- try
	[ "$status" = 0 ]
	[ -e out ]
	[ ! -e .mcp.json ]
	run --separate-stderr "$CORDON" run -b native --image cordon-test:1 -- try
	[ "$status" = 125 ]
	[[ "$stderr" == *image-root* ]]
}

@test 'another runtime of the engine: used, unknown, or with a name that misleads' {
	has docker
	echo 'sandbox: {container: {runtime: second}}' >"$WORK/p.yaml"
	"$CORDON" run -q -b docker -p "$WORK/p.yaml" -- sh -c 'echo ready; sleep 60' >"$WORK/out" &
	pid=$!
	for _ in $(seq 200); do
		! grep -q ready "$WORK/out" || break
		sleep 0.1
	done
	runtime=$(api GET "/containers/$(api GET /containers/json | jq -r '.[0].Id')/json" | jq -r .HostConfig.Runtime)
	kill "$pid"
	wait "$pid" || true
	[ "$runtime" = second ]
	grep -q ' second ' "$CORDON_STATE_DIR/probe-docker-runtime" # tried by itself
	echo 'sandbox: {container: {runtime: third}}' >"$WORK/p.yaml"
	run --separate-stderr "$CORDON" run -b docker -p "$WORK/p.yaml" -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *[Uu]'nknown'*runtime*third* ]]
	[ ! -e ran ]
	# none is judged by its name: this one is runc
	echo 'sandbox: {container: {runtime: runsc-by-name}}' >"$WORK/p.yaml"
	run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" -- sh -c 'echo x >.mcp.json || echo works'
	[ "$output" = works ]
	[ ! -e .mcp.json ]
	nothing_left
}

@test 'a runtime of the engine that leaves limits out: no call with one of them' {
	has docker
	echo 'sandbox: {container: {runtime: boundless}}' >"$WORK/p.yaml"
	for limit in '-m 64M' '--max-processes 10' '--cpu-percent 50' '--cpu-shares 512'; do
		# shellcheck disable=SC2086 # two words
		run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" $limit -- touch ran
		echo "$limit: $stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *'limit of '*' was asked for, and is not in force'* ]]
		[ ! -e ran ]
		# shellcheck disable=SC2086
		in_docker $limit -- touch ran
		[ -e ran ]
		rm ran
	done
	run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" -- touch ran
	[ -e ran ]
	nothing_left
}

@test 'an engine that shows a container no control group: no call with a limit, also when it is the default runtime' {
	has docker
	local limit server words=()
	echo 'sandbox: {container: {runtime: groupless}}' >"$WORK/p.yaml"
	between "$WORK/s" "${DOCKER_HOST#unix://}" runtime groupless
	server=$SERVER
	for limit in '-m 64M' '--max-processes 10' '--cpu-percent 50' '--cpu-shares 512' ''; do
		read -ra words <<<"$limit"
		for way in named default; do
			rm -f ran
			if [ "$way" = named ]; then
				run --separate-stderr "$CORDON" run -q -b docker -p "$WORK/p.yaml" "${words[@]}" -- touch ran
			else
				run --separate-stderr env DOCKER_HOST="unix://$WORK/s" "$CORDON" run -q -b docker "${words[@]}" -- touch ran
			fi
			echo "$way $limit: $status: $stderr"
			[ -n "$limit" ] || { [ "$status" = 0 ] && [ -e ran ] && continue; } # the control
			[ "$status" = 125 ]
			[[ "$stderr" == *'limit of '*' was asked for, and is not shown in the container'*hint:*'another backend'* ]]
			[ ! -e ran ]
		done
		in_docker "${words[@]}" -- touch ran # the control
		[ -e ran ]
	done
	kill "$server"
	# what was refused is on its way out
	[ "$(api GET /containers/json | jq '[.[] | select(.State == "running")] | length')" = 0 ]
}

@test 'gVisor as a runtime of the engine: what it lacks is tried, and told' {
	has docker
	api GET /info | jq -e '.Runtimes | has("runsc")' || skip 'runsc is not installed'
	for name in runsc plain runsc-sockets; do
		echo "sandbox: {container: {runtime: $name}}" >"$WORK/p.yaml"
		run --separate-stderr "$CORDON" run -b docker -p "$WORK/p.yaml" -- touch ran
		echo "$stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *"runtime '$name' was tried, and its containers have no open_tree, "*mount_setattr*"--backend gvisor"* ]]
		# with an option of its own it reaches sockets of the host
		[[ "$stderr" == *'sockets of the host (Connection refused)'* ]] || [ "$name" = runsc-sockets ]
		[[ "$stderr" != *'sockets of the host'* ]] || [ "$name" != runsc-sockets ]
		[ ! -e ran ]
		nothing_left
	done
	# the way that the hint names
	run --separate-stderr "$CORDON" run -q -b gvisor -- cat /proc/version
	[[ "$output" == *'Linux version 4.4.0'* ]]
	# what libcordon gives for one's own 'docker run' is a gVisor container
	mkdir -p "$WORK/image/usr/bin"
	printf '#include <stdio.h>\nint main(void)\n{\n\tchar s[256] = "";\n\tFILE *f = fopen("/proc/version", "r");\n\treturn !f || !fgets(s, 256, f) || puts(s) < 0;\n}\n' >"$WORK/v.c"
	cc -static -o "$WORK/image/usr/bin/version" "$WORK/v.c"
	tar -C "$WORK/image" -c . | api POST '/images/create?fromSrc=-&repo=cordon-version&tag=1' --data-binary @- -H 'Content-Type: application/x-tar'
	run env DOCKER_CONFIG="$WORK/config" docker run --rm --network none cordon-version:1 /usr/bin/version
	[[ "$output" != *'4.4.0'* ]]
	run env DOCKER_CONFIG="$WORK/config" docker run --rm --network none --runtime=runsc cordon-version:1 /usr/bin/version
	[[ "$output" == *'Linux version 4.4.0'* ]]
}

@test 'a granted path that is replaced before the container starts' {
	has docker
	mkdir "$WORK/granted" "$WORK/other"
	echo granted >"$WORK/granted/f"
	echo other >"$WORK/other/f"
	for kind in nothing link directory; do
		between "$WORK/s" "${DOCKER_HOST#unix://}" swap "$WORK/granted" "$kind"
		run --separate-stderr env DOCKER_HOST="unix://$WORK/s" "$CORDON" run -q -b docker -r "$WORK/granted" -- cat "$WORK/granted/f"
		kill "$SERVER"
		if [ "$kind" = nothing ]; then
			[ "$output" = granted ]
			continue
		fi
		[ "$(cat "$WORK/granted/f")" = other ] # it was replaced
		[ "$status" = 125 ]
		[ -z "$output" ]
		[[ "$stderr" == *"'$WORK/granted' was replaced while the container was made"* ]]
		[ "$kind" != link ] || { rm "$WORK/granted" && mv "$WORK/granted.was" "$WORK/granted"; }
	done
	nothing_left
}

@test 'a path that no engine can be told' {
	has docker
	odd=$WORK/$'\xff'
	mkdir "$odd"
	in_docker -C "$odd" -- touch ran
	[ "$status" = 125 ]
	[[ "$stderr" == *'not UTF-8'* ]]
	[ ! -e "$odd/ran" ]
	run --separate-stderr "$CORDON" run -q -b native -C "$odd" -- touch ran
	[ -e "$odd/ran" ]
}

# looks_like_root DIR: a system with one program, which says of each PATH whether it is there (y), of each +PATH whether it can be
# written, of each @PATH where the link leads.
looks_like_root() {
	mkdir -p "$1/usr/bin" "$1/etc" "$1/var/lib/of-the-root" "$1/opt"
	ln -s usr/bin "$1/bin"
	ln -s lib/of-the-root "$1/var/link"
	echo root >"$1/etc/of-the-root"
	cat >"$WORK/look.c" <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++) {
				char to[4096] = "-";
				if (argv[i][0] == '@') {
					if (readlink(argv[i] + 1, to, sizeof(to) - 1) < 0) perror(argv[i]);
					printf("%s", to);
				} else if (argv[i][0] == '+') {
					FILE *f = fopen(argv[i] + 1, "a");
					printf("%c", f ? 'y' : 'n');
				} else
					printf("%c", access(argv[i], F_OK) == 0 ? 'y' : 'n');
			}
			return 0;
		}
	END
	cc -static -o "$1/usr/bin/look" "$WORK/look.c"
}

@test 'a directory stands for the system' {
	local backends=() grant
	for backend in docker podman; do
		absent=${backend}_ABSENT
		[ -n "${!absent-}" ] || backends+=("$backend")
	done
	[ "${#backends[@]}" -gt 0 ] || skip "no engine here"
	looks_like_root "$WORK/root"
	grant=$(mktemp -d /var/tmp/cordon-grant-XXXXXX)
	touch "$grant/file"
	[ -e /usr/bin/env ]
	for backend in "${backends[@]}"; do
		for image in "$WORK/root" ../root; do
			mkdir -p "$WORK/ws"
			run --separate-stderr "$CORDON" run -q -b "$backend" -C "$WORK/ws" --image "$image" -r "$grant" -w "$WORK/ws" -- \
				look /usr/bin/look /bin/look /etc/of-the-root /var/lib/of-the-root @/var/link "$grant/file" \
				/usr/bin/env /root /.cordon/root /ws +/etc/of-the-root +/usr/new +"$WORK/root/etc/of-the-root" +"$WORK/ws/$backend"
			echo "$backend $image: $output $stderr"
			[ "$status" = 0 ]
			[ "$output" = "yyyylib/of-the-rooty""nnnn""nnny" ]
			[ -e "$WORK/ws/$backend" ]
		done
	done
	[ "$(cat "$WORK/root/etc/of-the-root")" = root ]
	[ "$(find "$WORK/root" | sort)" = "$(printf '%s\n' "$WORK/root" "$WORK/root/"{bin,etc,etc/of-the-root,opt,usr,usr/bin,usr/bin/look,var,var/lib,var/lib/of-the-root,var/link} | sort)" ]
	rm -r "$grant"
	nothing_left
}

@test 'a directory that does not stand for the system' {
	has docker
	looks_like_root "$WORK/root"
	refused() { # HINT WORD...
		run --separate-stderr "$CORDON" run -b docker "${@:2}" -- look +"$WORK/ran"
		echo "$stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *"$1"*hint:* ]]
		[ ! -e "$WORK/ran" ]
	}
	refused "no directory '$WORK/none'" --image "$WORK/none"
	refused "no directory '$WORK/root/etc/of-the-root'" --image "$WORK/root/etc/of-the-root"
	refused 'home directory' --image /
	HOME=$WORK/root/home refused 'home directory' --image "$WORK/root"
	CORDON_STATE_DIR=$WORK/root/state refused 'cordon keeps' --image "$WORK/root"
	rm -rf "$WORK/root/state"
	mkdir -p "$WORK/root/ws"
	refused 'granted' -C "$WORK/root/ws" --image "$WORK/root"
	refused 'denied' --image "$WORK/root" --deny "$WORK/root" -r "$WORK"
	refused 'denied' --image "$WORK/root" --deny "$WORK/root/etc" -r "$WORK"
	nothing_left
}

# Podman reads options in a path: ",U" has it give what it mounts to another user.
@test 'a path in which podman would read an option' {
	has podman
	local odd
	mkdir "$WORK/d"
	for odd in "$WORK/d,U" "$WORK/d,consistency=x" "$WORK/d\"" "$WORK/d
e"; do
		mkdir "$odd"
		echo content >"$odd/f"
		run --separate-stderr "$CORDON" run -b podman -C "$odd" -- touch ran
		echo "$stderr"
		[ "$status" = 125 ]
		[[ "$stderr" == *'podman takes no path with a comma, a quotation mark or a line break'*hint:*rename* ]]
		[ ! -e "$odd/ran" ]
		[ ! -e "$WORK/d/ran" ]
		run --separate-stderr "$CORDON" run -q -b podman -r "$odd" -- touch ran
		[ "$status" = 125 ]
		[ ! -e ran ]
		[ -n "${docker_ABSENT-}" ] || [ "$("$CORDON" run -q -b docker -C "$odd" -- cat f)" = content ] # the control
	done
	mkdir "$WORK/d:e \\x'"
	run "$CORDON" run -q -b podman -C "$WORK/d:e \\x'" -- touch ran
	[ -e "$WORK/d:e \\x'/ran" ]
}

@test 'a terminal of its own' {
	has docker
	run script -qec "'$CORDON' run -q -b docker -- sh -c 'tty; stty size'" /dev/null </dev/null
	[ "$status" = 0 ]
	[[ "$output" == */dev/pts/* ]]
}

@test 'cordon killed at any moment leaves nothing' {
	has docker
	for wait in 0.05 0.3 0.8 2; do
		"$CORDON" run -q -b docker -- sh -c 'echo ready; sleep 300' >"$WORK/out" &
		pid=$!
		sleep "$wait"
		kill -9 "$pid"
		wait "$pid" || true
		nothing_left
	done
	# its helper, too
	"$CORDON" run -q -b docker -- sleep 300 &
	pid=$!
	for _ in $(seq 100); do
		[ "$(api GET /containers/json | jq length)" != 1 ] || break
		sleep 0.1
	done
	helper=$(pgrep -P "$pid" -f cordon-engine)
	kill -9 "$pid" "$helper"
	wait "$pid" || true
	nothing_left
}

@test 'podman: the same' {
	has podman
	run --separate-stderr "$CORDON" run -q -b podman -- sh -c 'echo out; echo err >&2; exit 3'
	[ "$status" = 3 ]
	[ "$output" = out ]
	[ "$stderr" = err ]
	run --separate-stderr "$CORDON" run -q -b podman -m 64M --report "$WORK/r" -- python3 -c 'bytearray(300 << 20)'
	[ "$status" = 137 ]
	jq -e '.result.oom' "$WORK/r"
	run --separate-stderr "$CORDON" run -q -b podman --max-processes 10 -- sh -c 'for i in $(seq 30); do sleep 1 & done; echo started'
	[[ "$output" != *started* ]]
	run --separate-stderr "$CORDON" run -q -b podman -t 1s -- sleep 60
	[ "$status" = 124 ]
	"$CORDON" run -q -b podman -- sleep 300 &
	pid=$!
	sleep 2
	kill -9 "$pid"
	wait "$pid" || true
	for _ in $(seq 100); do
		left=$(engine_api podman GET '/containers/json?all=1' | jq length)
		[ "$left" != 0 ] || break
		sleep 0.1
	done
	[ "$left" = 0 ] || { api GET "/containers/json?all=1" | jq -c ".[] | [.State, .Status, .Labels, .Created]"; date +%s; return 1; }
}
