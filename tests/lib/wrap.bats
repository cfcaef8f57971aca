#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon_wrap_command(): words that a program of somebody else's executes itself.  They have to hold the policy on every
# backend, because from there on nobody but them knows of it.

# shellcheck disable=SC2154,SC2016 # stderr is set by bats; scripts for shells inside
bats_require_minimum_version 1.5.0

setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree WRAP=$BATS_FILE_TMPDIR/wrap WS=$BATS_FILE_TMPDIR/ws
	DESTDIR=$TREE meson install -C "$BUILDDIR" --no-rebuild --quiet
	PREFIX=$(meson introspect --buildoptions "$BUILDDIR" |
		python3 -c 'import json, sys; print({o["name"]: o["value"] for o in json.load(sys.stdin)}["prefix"])')
	export PKG_CONFIG_PATH=$TREE$PREFIX/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TREE
	export LD_LIBRARY_PATH=$TREE$PREFIX/lib
	# wrap PROGRAM COMMAND [OPTION VALUE]...: executes the words with that program, or prints them for "-".
	cat >"$WRAP.c" <<-'EOF'
	#include <cordon/cordon.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		struct cordon_policy_options *o = NULL;
		struct cordon_error err;
		char **words = NULL;

		if (cordon_policy_options_new(NULL, &o, &err) < 0)
			return 1;
		for (int i = 3; i + 1 < argc; i += 2)
			if (cordon_policy_options_set(o, argv[i], argv[i + 1][0] ? argv[i + 1] : NULL, &err) < 0)
				return fprintf(stderr, "%s\n", err.message), 2;
		if (cordon_wrap_command(argv[2], o, &words, &err) < 0)
			return 3;
		for (char **w = words; argv[1][0] == '-' && *w; w++)
			puts(*w);
		if (argv[1][0] == '-')
			return 0;
		execv(argv[1], words);
		return 4;
	}
	EOF
	# shellcheck disable=SC2046
	cc "$WRAP.c" $(pkg-config --cflags --libs cordon) -o "$WRAP"
	mkdir "$WS" "$WS/denied" "$BATS_FILE_TMPDIR/out"
	printf 'cordon: 1\nsandbox:\n  level: none\n' >"$BATS_FILE_TMPDIR/policy.yaml"
	echo secret | tee "$BATS_FILE_TMPDIR/out/secret" >"$WS/denied/secret"
	# Each attempt that works says so; the last one is what a call is for.
	cat >"$WS/attempts" <<-'EOF'
	cat ../out/secret >/dev/null 2>&1 && echo read-outside
	touch ../out/made 2>/dev/null && echo wrote-outside
	cat denied/secret >/dev/null 2>&1 && echo read-denied
	mkdir .vscode 2>/dev/null && echo made-protected
	python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 5)" 2>/dev/null && echo connected
	[ -z "$LEAK" ] || echo environment
	(cat <&7) >/dev/null 2>&1 && echo descriptor
	echo made >inside && echo wrote-inside
	exit 7
	EOF
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64)
print(s.getsockname()[1], flush=True); time.sleep(600)' >"$BATS_FILE_TMPDIR/port" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/server"
	until [ -s "$BATS_FILE_TMPDIR/port" ]; do sleep 0.1; done
	ENGINE=$(mktemp -d /var/tmp/cordon-engines-XXXXXX)
	export ENGINE
	chmod 755 "$ENGINE"
	if said=$("$SRCDIR/tests/engines/engine" start docker "$ENGINE/docker"); then
		export DOCKER_HOST=$said
	else
		export ABSENT=$said
	fi
}

teardown_file() {
	"$SRCDIR/tests/engines/engine" stop "$ENGINE/docker"
	rm -rf "$ENGINE"
	kill "$(cat "$BATS_FILE_TMPDIR/server")"
}

setup() {
	cd "$WS" || return
	rm -rf inside ../out/made .vscode
}

# attempts WORD...: the script under these options, with a descriptor and a variable of the caller's.
attempts() {
	LEAK=1 timeout 120 "$WRAP" "$CORDON" "sh attempts $(cat ../port)" "$@" 7<../out/secret
}

# The words are executed by "wrap" itself; nothing of cordon stands before them.
holds() { # BACKEND
	"$CORDON" backends --json | jq -e --arg name "$1" '.backends[] | select(.name == $name) | .available' ||
		skip "no $1: $("$CORDON" backends --json | jq -r --arg name "$1" '.backends[] | select(.name == $name) | .reason')"
	# the control: every attempt works where nothing is held
	run env LEAK=1 sh attempts "$(cat ../port)" 7<../out/secret
	[ "$status" -eq 7 ]
	[ "$output" = "$(sed -n 's/.* echo \([a-z-]*\)$/\1/p' attempts)" ]
	[ "${#lines[@]}" -eq 8 ]
	rm -rf inside ../out/made .vscode
	run attempts backend "$1" deny "$WS/denied"
	echo "$1: $output"
	[ "$status" -eq 7 ]
	[ "$output" = wrote-inside ]
	[ "$(cat inside)" = made ]
	[ ! -e ../out/made ]
	[ ! -e .vscode ]
}

@test "native: the words hold the policy" {
	holds native
}

@test "bwrap: the words hold the policy" {
	holds bwrap
}

@test "gvisor: the words hold the policy" {
	holds gvisor
}

@test "docker: the words hold the policy" {
	[ -z "${ABSENT-}" ] || skip "$ABSENT"
	holds docker
}

@test "seatbelt: the words, the profile behind them, and nothing weaker where it is not" {
	run -0 "$WRAP" - 'echo hello' backend seatbelt deny "$WS/denied" read /opt
	[ "$output" = "$(printf '%s\n' cordon run "--cwd=$WS" --backend=seatbelt "--deny=$WS/denied" --read=/opt -c 'echo hello')" ]
	# the same options make the profile that sandbox-exec is given; test_seatbelt.c compares those words
	printf 'sandbox: {capabilities: {filesystem: {mode: scoped, denied_paths: ["%s"], mount_paths: [{path: "%s", permissions: rw}, {path: /opt, permissions: ro}]}}}\n' \
		"$WS/denied" "$WS" >../profile.yaml
	"$CORDON" profile seatbelt -C "$WS" -p ../profile.yaml >../profile
	grep -F '(deny default)' ../profile
	# of /tmp and /var macOS knows another name
	sed -i 's|"/private/|"/|' ../profile
	grep -Fx "(allow file-read* file-write* (subpath \"$WS\"))" ../profile
	grep -Fx '(allow file-read* (subpath "/opt"))' ../profile
	# the last rule decides
	[[ $(grep -F "$WS/denied\"" ../profile | tail -n 1) == "(deny file-read* file-write* "* ]]
	[ "$(uname -s)" = Linux ] || return 0
	run attempts backend seatbelt deny "$WS/denied"
	[ "$status" -eq 125 ]
	[[ $output == *'only macOS has it'* ]]
	[ ! -e inside ]
}

@test "the words do the same in the program, for every option of the library" {
	cd "$WS"
	# shellcheck disable=SC2016
	run "$WRAP" "$CORDON" 'echo "$SPACED"; pwd; exit 5' level none env 'SPACED=-x $HOME "y"' timeout 20s
	[ "$status" -eq 5 ]
	# shellcheck disable=SC2016
	[ "${lines[0]}" = '-x $HOME "y"' ]
	[ "${lines[1]}" = "$WS" ]
	# What this machine cannot hold is refused there as well.
	run "$WRAP" "$CORDON" 'true' level none backend noop fs read-only
	[ "$status" -eq 125 ]
	# Every option of the library is one of the program.
	for option in 'policy ../policy.yaml' 'level none' 'backend noop' 'image x' 'read /usr' 'write /var' 'deny /x' 'fs deny' \
		'workspace cow' 'cache npm' 'net deny' 'allow-host x.example' 'allow-private 10.0.0.0/8' 'publish 80' \
		'allow-socket /s' 'memory 64M' 'cpu-shares 10' 'cpu-percent 10' 'max-processes 5' 'max-open-files 50' \
		'allow-debug' 'write-xor-execute' 'exec /usr' 'deny-syscall @ipc' 'timeout 1s' 'grace 1s' 'max-output 1K' 'env A=b' 'secret T' 'device /dev/null' 'gpu' 'enforce' 'dry-run'; do
		run "$WRAP" "$CORDON" true "${option%% *}" "$([ "${option#* }" = "$option" ] || echo "${option#* }")"
		[[ "$output" != *"option"*"--${option%% *}"* ]] || {
			echo "$option: $output"
			return 1
		}
	done
}
