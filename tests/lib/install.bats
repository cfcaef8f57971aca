#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A program that knows libcordon only as it is installed: headers, pkg-config file, shared library.

setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree
	DESTDIR=$TREE meson install -C "$BUILDDIR" --no-rebuild --quiet
	PREFIX=$(meson introspect --buildoptions "$BUILDDIR" |
		python3 -c 'import json, sys; print({o["name"]: o["value"] for o in json.load(sys.stdin)}["prefix"])')
	export PREFIX
	export PKG_CONFIG_PATH=$TREE$PREFIX/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TREE
	export LD_LIBRARY_PATH=$TREE$PREFIX/lib
	mkdir "$BATS_FILE_TMPDIR/ws"
	printf 'cordon: 1\nsandbox:\n  level: none\n  capabilities:\n    shell:\n      mode: restricted\n      blocked_commands: ["rm -rf *"]\n' \
		>"$BATS_FILE_TMPDIR/policy.yaml"
}

# build COMPILER STANDARD SOURCE PROGRAM
build() {
	# shellcheck disable=SC2046
	"$1" "-std=$2" -Wall -Wextra -Werror "$SRCDIR/examples/$3" $(pkg-config --cflags --libs cordon) -o "$4"
}

@test "pkg-config knows the version and the installed places" {
	[ "$(pkg-config --modversion cordon)" = "$("$CORDON" version | grep -o '[0-9.]*' | head -1)" ]
	[ "$(pkg-config --cflags --libs cordon)" = "-I$TREE$PREFIX/include -L$TREE$PREFIX/lib -lcordon " ] ||
		[ "$(pkg-config --cflags --libs cordon)" = "-I$TREE$PREFIX/include -L$TREE$PREFIX/lib -lcordon" ]
}

@test "the installed files are all there, and libcordon.so.0 leads to the library" {
	for file in "$SRCDIR"/include/cordon/*.h; do
		cmp "$file" "$TREE$PREFIX/include/cordon/${file##*/}"
	done
	[ -e "$TREE$PREFIX/lib/libcordon.so.0" ]
	[ -e "$TREE$PREFIX/lib/libcordon.so" ]
}

@test "the command looks for its programs where they are installed" {
	[ -x "$TREE$PREFIX/libexec/cordon/cordon-proxy" ]
	grep -aqF "$PREFIX/libexec/cordon" "$TREE$PREFIX/bin/cordon"
	for other in /usr /usr/local /opt; do
		[ "$other" = "$PREFIX" ] || run -1 grep -aqF "$other/libexec/cordon" "$TREE$PREFIX/bin/cordon"
	done
}

@test "make uninstall takes away what make install put there, and nothing else" {
	local tree=$BATS_TEST_TMPDIR/tree
	DESTDIR=$tree meson install -C "$BUILDDIR" --no-rebuild --quiet
	[ -e "$tree$PREFIX/include/cordon/cordon.h" ]
	[ -e "$tree$PREFIX/share/man/man1/cordon.1" ]
	touch "$tree$PREFIX/bin/other"
	run -2 make -C "$SRCDIR" uninstall BUILD="$BUILDDIR" PREFIX="$PREFIX/not" DESTDIR="$tree"
	[[ $output == *"is not made for '$PREFIX/not'"* ]]
	[ -e "$tree$PREFIX/bin/cordon" ]
	make -C "$SRCDIR" uninstall BUILD="$BUILDDIR" PREFIX="$PREFIX" DESTDIR="$tree"
	[ "$(find "$tree" ! -type d)" = "$tree$PREFIX/bin/other" ]
	[ -z "$(find "$tree" -name cordon)" ]
}

@test "examples/run_command.c: runs, shows output and passes the exit code on" {
	build cc c99 run_command.c "$BATS_TEST_TMPDIR/run_command"
	cd "$BATS_FILE_TMPDIR/ws"
	run "$BATS_TEST_TMPDIR/run_command" -p ../policy.yaml 'echo hello; exit 3'
	[ "$status" -eq 3 ]
	[ "${lines[0]}" = 'verdict: SAFE' ]
	[ "${lines[1]}" = 'backend: noop' ]
	[ "${lines[2]}" = 'exit:    3' ]
	[ "${lines[3]}" = 'hello' ]
}

@test "examples/run_command.c: a refusal says what refused and what to change" {
	build cc c99 run_command.c "$BATS_TEST_TMPDIR/run_command"
	cd "$BATS_FILE_TMPDIR/ws"
	touch kept
	run "$BATS_TEST_TMPDIR/run_command" -p ../policy.yaml 'rm -rf kept'
	[ "$status" -eq 126 ]
	[ -e kept ]
	[[ "$output" == *"denied:  command 'rm -rf kept' by "*"policy.yaml:7:"* ]]
	run "$BATS_TEST_TMPDIR/run_command" -p ../missing.yaml true
	[ "$status" -eq 125 ]
	[[ "$output" == *"missing.yaml"* ]]
}

@test "examples/judge.c: findings become verdicts" {
	build cc c11 judge.c "$BATS_TEST_TMPDIR/judge"
	run "$BATS_TEST_TMPDIR/judge" 'password, password'
	[ "$status" -eq 2 ]
	[ "$output" = 'MALICIOUS: malicious(confidence=0.80)' ]
	run "$BATS_TEST_TMPDIR/judge" 'my password'
	[ "$status" -eq 1 ]
	[ "$output" = 'SUSPICIOUS: suspicious(tool=Bash, confidence=0.40)' ]
	run "$BATS_TEST_TMPDIR/judge" 'nothing'
	[ "$status" -eq 0 ]
	[ "$output" = 'SAFE: safe' ]
}

@test "examples/adapter.c: a command, and the process itself, write where they may and execute nothing of it" {
	build cc c99 adapter.c "$BATS_TEST_TMPDIR/adapter"
	dir=$BATS_TEST_TMPDIR/dir
	mkdir "$dir"
	(cd "$dir" && cp /bin/true t && ./t) # the control
	/usr/bin/python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(60)' \
		>"$BATS_TEST_TMPDIR/port" 3>&- &
	listener=$!
	until [ -s "$BATS_TEST_TMPDIR/port" ]; do sleep 0.05; done
	port=$(cat "$BATS_TEST_TMPDIR/port")
	/usr/bin/python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 5)" # and of the network
	for how in run self; do
		run "$BATS_TEST_TMPDIR/adapter" $how "$dir" 'echo hello >made; cat made'
		if [[ $output == *'Landlock ABI'* ]]; then
			skip 'kernel without Landlock'
		fi
		[ "$status" -eq 0 ]
		[[ $output == *hello* ]]
		[ "$(cat "$dir/made")" = hello ]
		rm "$dir/made"
		run "$BATS_TEST_TMPDIR/adapter" $how "$dir" 'cp /bin/true t; ./t'
		[ "$status" -eq 126 ]
		# In a sandbox it may seem to work: what stands around the directory is private there.
		run "$BATS_TEST_TMPDIR/adapter" $how "$dir" "echo x >'$BATS_TEST_TMPDIR/outside'"
		[ "$how" = run ] || [ "$status" -ne 0 ]
		[ ! -e "$BATS_TEST_TMPDIR/outside" ]
		run "$BATS_TEST_TMPDIR/adapter" $how "$dir" "/usr/bin/python3 -c 'import socket
s = socket.create_connection((\"127.0.0.1\", $port), 5)'"
		[ "$status" -ne 0 ]
	done
	kill "$listener"
	run "$BATS_TEST_TMPDIR/adapter" run "$dir" 'true'
	[[ $output == *'"event":"restrict_filesystem","result":"ok"'*'"event":"restrict_network"'*'"event":"run"'* ]]
	echo "$output" | tail -1 | jq -e 'map(.event) == ["restrict_filesystem", "restrict_network", "run"]'
	run "$BATS_TEST_TMPDIR/adapter" run "$dir/none" 'true'
	[ "$status" -eq 125 ]
}

@test "examples/proxy.c: a command behind a proxy, and what it asked for" {
	build cc c99 proxy.c "$BATS_TEST_TMPDIR/proxy"
	run "$BATS_TEST_TMPDIR/proxy" listed.example.org -- \
		sh -c 'curl -sS -m 30 --noproxy "" -o /dev/null -o /dev/null -w "%{http_code} " http://169.254.169.254/ http://other.example.org/; exit 4'
	[ "$status" -eq 4 ]
	[ "${lines[0]}" = '403 403 GET 169.254.169.254:80 refused, try --allow 169.254.169.254' ]
	[ "${lines[1]}" = 'GET other.example.org:80 refused, try --allow other.example.org' ]
	[ "${lines[2]}" = '0 allowed, 2 refused' ]
	run "$BATS_TEST_TMPDIR/proxy" 'http://x/' -- true
	[ "$status" -eq 125 ]
	[[ $output == *'only the host'* ]]
}

@test "each installed header compiles alone as C99, C11 and C++11, by gcc and clang" {
	local flags="-fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
	local everything="-Weverything -Wno-padded -Wno-pragma-once-outside-header -Wno-unused-macros"
	for header in "$TREE$PREFIX"/include/cordon/*.h; do
		name=cordon/${header##*/}
		for standard in c99 c11; do
			# shellcheck disable=SC2046,SC2086
			gcc $flags -std=$standard $(pkg-config --cflags cordon) -x c - <<<"#include <$name>"
			# shellcheck disable=SC2046,SC2086
			clang $flags $everything -std=$standard $(pkg-config --cflags cordon) -x c - <<<"#include <$name>"
		done
		# shellcheck disable=SC2046,SC2086
		g++ $flags -std=c++11 $(pkg-config --cflags cordon) -x c++ - <<<"#include <$name>"
		# shellcheck disable=SC2046,SC2086
		clang++ $flags $everything -Wno-c++98-compat-pedantic -std=c++11 $(pkg-config --cflags cordon) -x c++ - \
			<<<"#include <$name>"
	done
}

@test "a C++ program links and runs" {
	cat >"$BATS_TEST_TMPDIR/x.cc" <<-'EOF'
	#include <cordon/cordon.h>
	#include <cstdio>
	int main() { std::puts(cordon_version()); return cordon_available() < 0; }
	EOF
	# shellcheck disable=SC2046
	g++ -std=c++11 "$BATS_TEST_TMPDIR/x.cc" $(pkg-config --cflags --libs cordon) -o "$BATS_TEST_TMPDIR/x"
	run "$BATS_TEST_TMPDIR/x"
	[ "$status" -eq 0 ]
	[ "$output" = "$(pkg-config --modversion cordon)" ]
}
