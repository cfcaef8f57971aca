#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend wasm: selection, grants, limits and faults.  Whether programs run as under the engine alone is the business of
# tests/wasm/run.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr; each test is its own

bats_require_minimum_version 1.5.0

setup_file() {
	SRCDIR=${SRCDIR:-$BATS_TEST_DIRNAME/../..}
	export CORDON=${CORDON:-$SRCDIR/build/cordon} MODULES=$BATS_FILE_TMPDIR
	if [ -z "${CORDON_WASM_ENGINE-}" ] && [ -d "$SRCDIR/build-engines/wasmedge" ]; then
		CORDON_WASM_ENGINE=$(realpath "$SRCDIR/build-engines/wasmedge")
		export CORDON_WASM_ENGINE
	fi
	MISSING=
	# One that is there and does not work is a failure, not a skip.
	reason=$("$CORDON" backends --json | jq -r '.backends[] | select(.name == "wasm") | if .available then "" else .reason end')
	case $reason in
	'') ;;
	'no engine is installed'*) MISSING='no WebAssembly engine is installed' ;;
	*)
		echo "wasm is there and does not hold: $reason" >&2
		return 1
		;;
	esac
	[ -e /usr/lib/wasm32-wasi/libc.a ] || MISSING='wasi-libc is not installed'
	export MISSING
	[ -z "$MISSING" ] || return 0
	cat >"$MODULES/act.c" <<-'EOF'
		#include <dirent.h>
		#include <errno.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <unistd.h>

		static int act(const char *what, const char *arg)
		{
			if (strcmp(what, "read") == 0 || strcmp(what, "write") == 0) {
				FILE *f = fopen(arg, what[0] == 'r' ? "r" : "w");
				int c;

				if (!f)
					return -1;
				while (what[0] == 'r' && (c = getc(f)) != EOF)
					putchar(c);
				if (what[0] == 'w')
					fputs("written\n", f);
				return fclose(f);
			}
			if (strcmp(what, "list") == 0) {
				DIR *d = opendir(arg);

				for (struct dirent *e; d && (e = readdir(d));)
					puts(e->d_name);
				return d ? 0 : -1;
			}
			if (strcmp(what, "env") == 0)
				return getenv(arg) ? puts(getenv(arg)) < 0 : -1;
			if (strcmp(what, "loop") == 0)
				for (volatile unsigned i = 0;; i++)
					;
			if (strcmp(what, "begin") == 0) {
				act("write", arg);
				return act("loop", arg);
			}
			if (strcmp(what, "trap") == 0)
				__builtin_trap();
			if (strcmp(what, "memory") == 0) {
				size_t n = strtoul(arg, NULL, 10) << 20;
				char *p = malloc(n);

				return p ? (memset(p, 1, n), p[n / 2] - 1) : -1;
			}
			if (strcmp(what, "flood") == 0)
				for (;;)
					puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
			if (strcmp(what, "link") == 0)
				return symlink(arg, "made");
			return -1;
		}

		int main(int argc, char **argv)
		{
			if (act(argv[1], argc > 2 ? argv[2] : "") == 0)
				return 0;
			printf("%s: %s\n", argv[1], strerror(errno));
			return 1;
		}
	EOF
	clang --target=wasm32-wasi -O1 "$MODULES/act.c" -o "$MODULES/act.wasm"
	# Sockets as WasmEdge has them, beside preview 1.
	cat >"$MODULES/dial.c" <<-'EOF'
		#include <stdint.h>
		#include <stdio.h>
		#include <stdlib.h>

		#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
		int32_t sock_open(int32_t family, int32_t type, int32_t *fd) WASI("sock_open");
		int32_t sock_connect(int32_t fd, const void *address, int32_t port) WASI("sock_connect");

		int main(int argc, char **argv)
		{
			uint8_t ip[128] = {127, 0, 0, 1};
			const struct {
				uint8_t *data;
				uint32_t len;
			} address = {ip, 4};
			int32_t fd = -1;
			int32_t r = sock_open(1, 2, &fd);

			if (r == 0)
				r = sock_connect(fd, &address, argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 0);
			printf("%s\n", r == 0 ? "connected" : "refused");
			return r != 0;
		}
	EOF
	clang --target=wasm32-wasi -O1 "$MODULES/dial.c" -o "$MODULES/dial.wasm"
	printf '(module (import "env" "secret_of_the_host" (func)) (memory (export "memory") 1) (func (export "_start") call 0))' \
		>"$MODULES/import.wat"
	printf '(module (func (export "hello")))' >"$MODULES/library.wat"
	if command -v wat2wasm >/dev/null; then
		wat2wasm "$MODULES/import.wat" -o "$MODULES/import.wasm"
		wat2wasm "$MODULES/library.wat" -o "$MODULES/library.wasm"
	fi
}

setup() {
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$BATS_TEST_TMPDIR"/{w/sub,out,config}
	cd "$BATS_TEST_TMPDIR/w" || return
	echo secret >../out/secret
	[ -n "$MISSING" ] || cp "$MODULES/act.wasm" .
}

needs_engine() {
	[ -z "$MISSING" ] && return
	[ "${CI-}" = true ] || [ "${ENGINES-}" = all ] || skip "$MISSING"
	echo "$MISSING" >&2
	return 1
}

# The engine's own words, with the whole machine for the module, by absolute names: the control of what is refused below.
unconfined() {
	engine run --dir /:/ "$@"
}

engine() {
	local lib=$CORDON_WASM_ENGINE/usr/lib/x86_64-linux-gnu
	if [ -d "${CORDON_WASM_ENGINE-}" ]; then
		"$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$CORDON_WASM_ENGINE/usr/bin/wasmedge" "$@"
	else
		wasmedge "$@"
	fi
}

wasm() {
	run --separate-stderr "$CORDON" run -q -b wasm "$@"
}

@test "without an engine it says what to install, and nothing weaker runs" {
	cd "$BATS_TEST_TMPDIR/out"
	printf '\0asm\1\0\0\0' >m.wasm
	CORDON_WASM_ENGINE=/nonexistent run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"CORDON_WASM_ENGINE names no engine that can be used"* ]]
	CORDON_WASM_ENGINE=relative run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"not an absolute path"* ]]
	CORDON_WASM_ENGINE=/bin/sh run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"its name is none of"* ]]
}

@test "an engine that others can write, or that is none, is not used" {
	cd "$BATS_TEST_TMPDIR/out"
	printf '\0asm\1\0\0\0' >m.wasm
	cp /bin/true wasmedge
	chmod 777 wasmedge
	CORDON_WASM_ENGINE=$PWD/wasmedge run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"can be written by others"* ]]
	chmod 755 wasmedge
	cd ../w
	cp ../out/m.wasm .
	CORDON_WASM_ENGINE=$BATS_TEST_TMPDIR/out/wasmedge run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"a trial module does not run"* ]]
	printf '#!/bin/sh\nkill -SEGV $$\n' >../out/wasmedge
	CORDON_WASM_ENGINE=$BATS_TEST_TMPDIR/out/wasmedge run --separate-stderr "$CORDON" run -l wasm m.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"a trial module does not run"* ]]
}

@test "an engine in a directory that the call can write is not used" {
	needs_engine
	[ -d "$CORDON_WASM_ENGINE" ] || skip "running as root: the engine is the machine's own"
	wasm -w "$CORDON_WASM_ENGINE" act.wasm read act.wasm
	[ "$status" -eq 125 ]
	[[ $stderr == *"which the call can write"* ]]
	wasm act.wasm read act.wasm
	[ "$status" -eq 0 ]
}

@test "it is for modules, and modules are for it" {
	needs_engine
	run --separate-stderr "$CORDON" run -b wasm true
	[ "$status" -eq 125 ]
	[[ $stderr == *"runs WebAssembly modules only"* ]]
	wasm -c 'echo x'
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" run -b native act.wasm read f
	[ "$status" -eq 125 ]
	[[ $stderr == *"cannot give wasm-code"* ]]
	echo text >f
	for options in '' '-l none' '-l process' '-l wasm' '-b strongest' '-b wasm'; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$CORDON" run -q --report report $options act.wasm read f
		[ "$status" -eq 0 ]
		[ "$output" = text ]
		jq -e '.isolation.achieved | .level == "wasm" and .backend == "wasm" and (.guarantees | index("wasm-code")) and
			(.guarantees | index("native-code") | not)' report
	done
	# Without its ending it is known by its first bytes, for who asks for this level.
	cp act.wasm act
	run --separate-stderr "$CORDON" run -q -l wasm ./act read f
	[ "$output" = text ]
	run --separate-stderr "$CORDON" run -q --report report -b strongest true
	[ "$status" -eq 0 ]
	jq -e '.isolation.achieved.backend != "wasm"' report
}

@test "a module sees what was granted, and nothing through dot-dot, links or absolute names" {
	needs_engine
	out=$(realpath ../out)
	ln -s "$out/secret" link
	ln -s ../out dir
	for path in "$out/secret" ../out/secret dir/secret sub/../../out/secret /etc/passwd /proc/self/maps /proc/self/mem \
		/proc/self/environ /usr/bin/env /.cordon-wasm/call /dev/null /root/.profile "$PWD/../out/secret"; do
		wasm act.wasm read "$path"
		[ "$status" -eq 1 ] || { echo "$path: $output"; false; }
	done
	for path in "$out/secret" "$PWD/../out/secret" /etc/passwd /proc/self/maps; do
		unconfined act.wasm read "$path" >/dev/null || { echo "control: $path"; false; }
	done
	# A link that the module itself makes leads nowhere either.
	wasm act.wasm link "$out/secret"
	wasm act.wasm read made
	[ "$status" -eq 1 ]
	# Programs of wasi-libc look for a name of the root in their working directory.
	wasm act.wasm list /
	[[ $output != *usr* && $output != *proc* && $output != *cordon-wasm* ]]
	wasm -r "$out" act.wasm read "$out/secret"
	[ "$status" -eq 0 ]
	[ "$output" = secret ]
}

@test "read-only is read-only, and what is protected or denied stays so" {
	needs_engine
	out=$(realpath ../out)
	wasm -r "$out" act.wasm write "$out/new"
	[ "$status" -eq 1 ]
	[ ! -e "$out/new" ]
	wasm -w "$out" act.wasm write "$out/new"
	[ "$status" -eq 0 ]
	[ "$(cat "$out/new")" = written ]
	wasm act.wasm write .mcp.json
	[ "$status" -eq 1 ]
	[ ! -e .mcp.json ]
	unconfined act.wasm write "$PWD/.mcp.json"
	[ -s .mcp.json ]
	echo hidden >denied
	wasm -x "$PWD/denied" act.wasm read denied
	[ "$status" -eq 1 ]
	wasm act.wasm read denied
	[ "$output" = hidden ]
	wasm act.wasm write /tmp/cordon-wasm-test
	[ "$status" -eq 0 ]
	[ ! -e /tmp/cordon-wasm-test ]
}

@test "a change set and a discarded workspace" {
	needs_engine
	run --separate-stderr "$CORDON" run -q -b wasm --workspace discard --report report act.wasm write new
	[ "$status" -eq 0 ]
	[ ! -e new ]
	jq -e '.changes[] | select(.path | endswith("new")) | .op == "added"' report
}

@test "arguments, variables and standard input" {
	needs_engine
	wasm -e A='one two' act.wasm env A
	[ "$output" = 'one two' ]
	SECRET_TOKEN=hush wasm act.wasm env SECRET_TOKEN
	[ "$status" -eq 1 ]
	# Variables of a loader are the module's, not the engine's.
	wasm -e LD_PRELOAD=/nonexistent.so act.wasm env LD_PRELOAD
	[ "$status" -eq 0 ]
	[ "$output" = /nonexistent.so ]
	[ -z "$stderr" ]
}

@test "an endless loop ends when its fuel is used up, and the report says so" {
	needs_engine
	printf 'enforcement: {adapter: wasm, wasm: {fuel_limit: 1000000}}\n' >../p.yaml
	run --separate-stderr timeout 60 "$CORDON" run -q -p ../p.yaml --report report act.wasm loop
	[ "$status" -eq 152 ]
	[[ $stderr == *"the fuel of this call is used up"* ]]
	jq -e '.denied[] | select(.kind == "limit") | .target == "fuel_limit" and (.rule | contains("p.yaml")) and
		(.remedy | contains("fuel_limit"))' report
	# With enough of it a call is not stopped, and without a limit only time is.
	run --separate-stderr "$CORDON" run -q -p ../p.yaml --report report act.wasm env PATH
	[ "$status" -eq 0 ]
	jq -e '.denied == []' report
	run --separate-stderr "$CORDON" run -q -t 1s --report report act.wasm loop
	[ "$status" -eq 124 ]
	jq -e '.result.timed_out' report
}

# The engine's process below a cordon: the one that has the words.
engine_of() { # PID
	local child words
	for child in $(pgrep -P "$1"); do
		words=$(tr '\0' ' ' <"/proc/$child/cmdline" 2>/dev/null) || continue
		[[ $words != *.cordon-wasm/* ]] || { echo "$child" && return; }
		engine_of "$child"
	done
}

# WasmEdge's own program without the library where it would be taken instead: where only the loader looks.
only_program() { # DIR
	local lib=usr/lib/x86_64-linux-gnu
	mkdir -p "$1/usr/bin" "$1/$lib"
	cp -a "$CORDON_WASM_ENGINE/$lib/." "$1/$lib"
	cp -a "$CORDON_WASM_ENGINE/usr/bin/wasmedge" "$1/usr/bin"
	mkdir -p "$1/$lib/glibc-hwcaps/x86-64-v2"
	mv "$1/$lib"/libwasmedge.so* "$1/$lib/glibc-hwcaps/x86-64-v2"
}

# A program that knows the two modules of the trial, and of a call only that it begins.
stand_in() { # FILE
	cat >"$1.c" <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++) {
				char data[512] = "";
				int fd = strstr(argv[i], ".wasm") ? open(argv[i], O_RDONLY) : -1;
				ssize_t n = fd < 0 ? 0 : read(fd, data, sizeof(data));
				if (fd >= 0 && strstr(argv[i], "/cordon-trial/"))
					return memmem(data, n, "proc_exit", 9) ? 42 : 134;
			}
			if (write(open(argv[argc - 1], O_WRONLY | O_CREAT, 0600), "x", 1) != 1)
				return 1;
			for (;;)
				pause();
		}
	END
	cc -D_GNU_SOURCE -w -static -o "$1" "$1.c"
}

@test "an engine's own program that is killed, or crashes, in the middle of a call is as well an error" {
	needs_engine
	[ "$(uname -m)" = x86_64 ] || skip 'needs another architecture'
	place=$BATS_TEST_TMPDIR/engines
	mkdir "$place"
	programs=("$place/wasmtime")
	stand_in "$place/wasmtime"
	if [ -d "${CORDON_WASM_ENGINE-}" ]; then
		only_program "$place/root"
		programs+=("$place/root")
		# where a library that others can write would be taken, no program that loads it is
		cp -al "$place/root" "$place/open"
		cp "$place/open/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libwasmedge.so.0" "$place/open/usr/lib/x86_64-linux-gnu"
		chmod 666 "$place/open/usr/lib/x86_64-linux-gnu/libwasmedge.so.0"
		run -125 --separate-stderr timeout 20 env CORDON_WASM_ENGINE="$place/open" "$CORDON" run -b wasm act.wasm begin begun
		[[ $stderr == *'can be written by others'* ]]
		[ ! -e begun ]
	fi
	for CORDON_WASM_ENGINE in "${programs[@]}"; do
		"$CORDON" backends --json | jq -e '.backends[] | select(.name == "wasm") | .reason | test("[(]program[)] ran trial modules")'
		for signal in KILL SEGV; do
			rm -f begun
			"$CORDON" run -b wasm act.wasm begin begun 2>said 3>&- &
			call=$!
			for _ in $(seq 200); do
				[ ! -s begun ] || break
				sleep 0.05
			done
			tree=$(pgrep -P "$call" | while read -r p; do echo "$p"; pgrep -P "$p"; done)
			victim=$(for p in $tree; do tr '\0' '\n' <"/proc/$p/cmdline" | grep -qx begin && echo "$p"; done | tail -n 1)
			[ -n "$victim" ]
			kill "-$signal" "$victim"
			code=0
			wait "$call" || code=$?
			echo "$CORDON_WASM_ENGINE: $signal: $code: $(cat said)"
			[ "$code" -eq 125 ]
			grep 'what the command ran in was lost while it ran' said
			grep 'hint: nothing of the call is left running' said
			[ ! -e "/proc/$victim" ]
		done
	done
}

@test "an engine that is killed, or crashes, in the middle of a call is an error, and nothing stays" {
	needs_engine
	for signal in KILL SEGV ABRT; do
		rm -f begun
		"$CORDON" run -b wasm act.wasm begin begun 2>said 3>&- &
		call=$!
		for _ in $(seq 200); do
			[ ! -s begun ] || break
			sleep 0.05
		done
		victim=$(engine_of "$call" | tail -n 1)
		[ -n "$victim" ]
		kill "-$signal" "$victim"
		code=0
		wait "$call" || code=$?
		echo "$signal: $code: $(cat said)"
		[ "$code" -eq 125 ]
		grep 'what the command ran in was lost while it ran' said
		grep 'hint: nothing of the call is left running' said
		[ ! -e "/proc/$victim" ]
	done
	# the controls: what a module does itself, and what was sent to it, is no loss
	wasm act.wasm trap
	[ "$status" -eq 134 ]
	rm -f begun
	"$CORDON" run -q -b wasm act.wasm begin begun 3>&- &
	call=$!
	for _ in $(seq 200); do
		[ ! -s begun ] || break
		sleep 0.05
	done
	kill -TERM "$call"
	code=0
	wait "$call" || code=$?
	[ "$code" -eq 143 ]
}

@test "an engine that works in the trial and then answers nonsense or crashes: an error, and never a result" {
	# It knows the two modules of the trial, and what it shall do from the words of the call.
	cat >"$BATS_TEST_TMPDIR/out/liar.c" <<-'END'
		#include <signal.h>
		#include <stdbool.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <string.h>
		struct result { uint32_t code; };
		struct string { uint32_t len; const char *data; };
		static const char *word = "";
		static char thing;
		static bool exits;
		#define NOTHING(name) void name(void) {}
		NOTHING(WasmEdge_LogOff)
		NOTHING(WasmEdge_ConfigureAddHostRegistration)
		NOTHING(WasmEdge_ConfigureSetMaxMemoryPage)
		NOTHING(WasmEdge_ConfigureStatisticsSetCostMeasuring)
		NOTHING(WasmEdge_ConfigureSetForceInterpreter)
		NOTHING(WasmEdge_StatisticsSetCostLimit)
		NOTHING(WasmEdge_ConfigureCompilerSetOptimizationLevel)
		#define THING(name) void *name(void) { return &thing; }
		THING(WasmEdge_ConfigureCreate)
		THING(WasmEdge_VMCreate)
		THING(WasmEdge_VMGetStatisticsContext)
		THING(WasmEdge_CompilerCreate)
		void *WasmEdge_VMGetImportModuleContext(void *vm, int kind) { return vm && !kind ? &thing : NULL; }
		#define RESULT(name) struct result name(void) { return (struct result){0}; }
		RESULT(WasmEdge_VMValidate)
		RESULT(WasmEdge_CompilerCompile)
		void WasmEdge_ModuleInstanceInitWASI(void *host, const char *const *args, uint32_t n) { (void)host; word = n > 1 ? args[1] : ""; }
		uint32_t WasmEdge_ModuleInstanceWASIGetExitCode(void *host) { (void)host; return strcmp(word, "works") ? 42 : 7; }
		struct result WasmEdge_VMLoadWasmFromBuffer(void *vm, const uint8_t *data, uint32_t len) {
			(void)vm;
			exits = memmem(data, len, "proc_exit", 9) != NULL;
			return (struct result){!strcmp(word, "load") ? 0xdeadbeef : 0};
		}
		struct result WasmEdge_VMInstantiate(void *vm) { (void)vm; return (struct result){!strcmp(word, "instantiate") ? 0xffffffff : 0}; }
		struct result WasmEdge_VMExecute(void *vm, struct string name) {
			(void)vm, (void)name;
			if (*word) {
				puts("begun");
				fflush(stdout);
			}
			if (!strcmp(word, "crash"))
				raise(SIGSEGV);
			if (!strcmp(word, "killed"))
				raise(SIGKILL);
			return (struct result){!*word ? exits ? 0 : 3 : strcmp(word, "works") ? 0xdeadbeef : 0};
		}
		bool WasmEdge_ResultOK(struct result r) { return r.code == 0; }
		const char *WasmEdge_ResultGetMessage(struct result r) { (void)r; return !strcmp(word, "wild") ? (const char *)1 : "nonsense"; }
	END
	cc -D_GNU_SOURCE -w -shared -fPIC -o "$BATS_TEST_TMPDIR/out/libwasmedge.so.0" "$BATS_TEST_TMPDIR/out/liar.c"
	export CORDON_WASM_ENGINE=$BATS_TEST_TMPDIR/out/libwasmedge.so.0
	printf '\0asm\1\0\0\0' >m.wasm
	run --separate-stderr "$CORDON" run -q -b wasm m.wasm works # the control
	echo "$stderr"
	[ "$status" -eq 7 ]
	[ "$output" = begun ]
	# word, exit code, what is told, is there output of the module's?
	while read -r word code output_is told; do
		run --separate-stderr "$CORDON" run -b wasm m.wasm "$word"
		echo "$word: $status: $output: $stderr"
		[ "$status" -eq "$code" ]
		[[ $stderr == *"$told"* ]]
		[ "$output" = "${output_is/-/}" ]
	done <<-'END'
		crash 125 begun what the command ran in was lost while it ran
		killed 125 begun what the command ran in was lost while it ran
		wild 125 begun what the command ran in was lost while it ran
		execute 134 begun trap: nonsense
		load 126 - is not a module that can run
		instantiate 126 - is not a module that can run
	END
}

@test "limits: memory, output, open files and processes" {
	needs_engine
	wasm act.wasm memory 300
	[ "$status" -eq 0 ]
	run --separate-stderr "$CORDON" run -q -b wasm -m 256M --report report act.wasm memory 300
	if [[ $stderr == *'memory-tree'* ]]; then
		[ "$status" -eq 125 ]
	else
		[ "$status" -eq 1 ] || [ "$status" -eq 137 ]
	fi
	run --separate-stderr timeout 60 "$CORDON" run -q -b wasm --max-output 10K --report report act.wasm flood
	[ "${#output}" -le 10240 ]
	jq -e '.denied[] | select(.kind == "limit") | .target == "max_output_bytes"' report
	wasm --max-open-files 64 act.wasm read act.wasm
	[ "$status" -eq 0 ]
}

@test "what is no module is refused with one line" {
	needs_engine
	echo text >garbage.wasm
	: >empty.wasm
	head -c 3000 act.wasm >cut.wasm
	{ head -c 8 act.wasm && head -c 100000 /dev/urandom; } >noise.wasm
	for module in garbage empty cut noise; do
		wasm "$module.wasm"
		[ "$status" -eq 126 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[[ $stderr == *"$module.wasm"* ]]
	done
	truncate -s 600M huge.wasm
	printf '\0asm\1\0\0\0' | dd of=huge.wasm conv=notrunc status=none
	wasm huge.wasm
	[ "$status" -eq 126 ]
	[[ $stderr == *"File too large"* ]]
	rm huge.wasm
	run -127 --separate-stderr "$CORDON" run -q -b wasm nothing.wasm
	mkdir d.wasm
	wasm d.wasm
	[ "$status" -eq 126 ]
}

@test "a module that needs other imports, or is a library, is refused by name" {
	needs_engine
	command -v wat2wasm >/dev/null || skip 'wabt is not installed'
	cp "$MODULES"/{import,library}.wasm .
	wasm import.wasm
	[ "$status" -eq 126 ]
	[[ $stderr == *"imports 'env' 'secret_of_the_host'"* ]]
	wasm library.wasm
	[ "$status" -eq 126 ]
	[[ $stderr == *"no function _start"* ]]
}

@test "no network but the one that is allowed" {
	needs_engine
	cp "$MODULES/dial.wasm" .
	python3 -uc 'import socket, time; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1]); time.sleep(60)' >../port &
	server=$!
	for _ in $(seq 100); do
		[ ! -s ../port ] || break
		sleep 0.1
	done
	port=$(cat ../port)
	run unconfined dial.wasm "$port"
	[ "$output" = connected ]
	wasm dial.wasm "$port"
	[ "$output" = refused ]
	wasm --net allow-all dial.wasm "$port"
	[ "$output" = connected ]
	wasm --allow-port "$port" dial.wasm "$port"
	[ "$output" = connected ]
	kill "$server"
}

@test "a module in text form is converted, and one that is wrong is refused" {
	needs_engine
	command -v wat2wasm >/dev/null || skip 'wabt is not installed'
	printf '(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))) (memory (export "memory") 1)
		(func (export "_start") (call 0 (i32.const 9))))' >nine.wat
	for _ in 1 2; do
		wasm nine.wat
		[ "$status" -eq 9 ]
	done
	[ "$(find "$CORDON_STATE_DIR/wasm" -type f | wc -l)" -eq 1 ]
	echo '(module (func' >wrong.wat
	wasm wrong.wat
	[ "$status" -eq 126 ]
	[[ $stderr == *"wrong.wat' cannot be made ready to run"* ]]
}

@test "a compiled module is kept, metered, made anew when it changes, and refused when somebody changed it" {
	needs_engine
	printf 'enforcement: {wasm: {aot: true}}\n' >../aot.yaml
	printf 'enforcement: {wasm: {aot: true, fuel_limit: 1000000}}\n' >../fuel.yaml
	echo text >f
	for _ in 1 2; do
		wasm -p ../aot.yaml act.wasm read f
		[ "$status" -eq 0 ]
		[ "$output" = text ]
	done
	kept=$(echo "$CORDON_STATE_DIR"/wasm/*)
	[ -f "$kept" ]
	[ "$(stat -c %a "$kept")" = 600 ]
	run --separate-stderr timeout 60 "$CORDON" run -q -p ../fuel.yaml --report report act.wasm loop
	[ "$status" -eq 152 ]
	jq -e '.denied[] | select(.kind == "limit") | .target == "fuel_limit"' report
	[ "$(find "$CORDON_STATE_DIR/wasm" -type f | wc -l)" -eq 2 ]
	cp "$kept" ../saved
	printf 'x' | dd of="$kept" bs=1 seek=500 conv=notrunc status=none
	wasm -p ../aot.yaml act.wasm read f
	[ "$status" -eq 126 ]
	[ -z "$output" ]
	[[ $stderr == *"was changed"* ]]
	cp ../saved "$kept"
	chmod 666 "$kept"
	wasm -p ../aot.yaml act.wasm read f
	[ "$status" -eq 126 ]
	[[ $stderr == *"can be written by others"* ]]
	chmod 600 "$kept"
	wasm -p ../aot.yaml act.wasm read f
	[ "$status" -eq 0 ]
	echo junk >bad.wasm
	wasm -p ../aot.yaml bad.wasm
	[ "$status" -eq 126 ]
}

@test "a module that brings machine code is refused, whether or not it is to be compiled" {
	needs_engine
	printf 'enforcement: {wasm: {fuel_limit: 1000000}}\n' >../fuel.yaml
	printf 'enforcement: {wasm: {aot: true, fuel_limit: 1000000}}\n' >../aot.yaml
	engine compile act.wasm coded.wasm
	echo text >f
	[ "$(unconfined coded.wasm read "$PWD/f")" = text ] # it is one that runs
	for policy in fuel aot; do
		wasm -p "../$policy.yaml" coded.wasm read f
		[ "$status" -eq 126 ]
		[ -z "$output" ]
		[[ $stderr == *"brings machine code"* ]]
		wasm -p "../$policy.yaml" act.wasm read f
		[ "$output" = text ]
	done
	wasm coded.wasm read f
	[ "$status" -eq 126 ]
}

@test "a directory with a colon is an error, not a wrong directory" {
	needs_engine
	mkdir 'a:b'
	cp act.wasm 'a:b'
	cd 'a:b'
	wasm act.wasm list .
	[ "$status" -eq 125 ]
	[[ $stderr == *"colon"* ]]
}

@test "nothing is left when cordon is killed" {
	needs_engine
	"$CORDON" run -q -b wasm act.wasm loop "mark-$$" &
	pid=$!
	for _ in $(seq 100); do
		engine=$(pgrep -P "$pid" | head -n 1) || true
		[ -z "$engine" ] || break
		sleep 0.1
	done
	[ -n "$engine" ]
	sleep 0.5
	kill -9 "$pid"
	for _ in $(seq 100); do
		[ -d "/proc/$engine" ] || break
		sleep 0.1
	done
	[ ! -d "/proc/$engine" ]
}
