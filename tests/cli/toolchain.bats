#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The user's own tools do in the default sandbox what they do outside: each script runs on the host first (its
# control), then inside, as the caller and, from root, as nobody.  Nothing here needs a network.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell

bats_require_minimum_version 1.5.0
load scene

setup() {
	scene_make
}

teardown() {
	scene_remove
}

@test "gcc: compile, link, run; a static library; debug symbols" {
	needs gcc ar
	works 'printf "#include <math.h>\n#include <stdio.h>\nint main(int c, char **v) { (void)v; printf(\"%%g\", cos(c)); return 0; }\n" >a.c
		gcc -g -O2 -Wall -o a a.c -lm; ./a
		printf "int f(void) { return 7; }\n" >f.c; gcc -c f.c; ar rcs libf.a f.o
		printf "int f(void); int main(void) { return f() - 7; }\n" >m.c; gcc -o m m.c -L. -lf; ./m
		gcc -shared -fPIC -o libg.so f.c; gcc -o n m.c -L. -lg -Wl,-rpath,"$PWD"; ./n'
}

@test "g++: templates, exceptions, threads, address sanitizer" {
	needs g++
	works 'cat >a.cc <<-X
	#include <stdexcept>
	#include <thread>
	#include <vector>
	int main() {
		std::vector<int> v(1000, 1);
		std::thread t([&] { v[0] = 2; });
		t.join();
		try { throw std::runtime_error("x"); } catch (const std::exception &) { return v[0] - 2; }
	}
	X
		g++ -std=c++17 -pthread -o a a.cc; ./a
		g++ -std=c++17 -pthread -fsanitize=address,undefined -o b a.cc; ASAN_OPTIONS=detect_leaks=0 ./b'
}

@test "make: parallel jobs with a jobserver" {
	needs make gcc
	works 'for i in 1 2 3 4 5 6; do echo "int f$i(void) { return $i; }" >$i.c; done
		printf "all: \$(patsubst %%.c,%%.o,\$(wildcard *.c))\n%%.o: %%.c\n\tgcc -c -o \$@ \$<\nsub:\n\t+\$(MAKE) -f Makefile all\n" >Makefile
		make -j4; make clean 2>/dev/null || rm -f ./*.o; make -j3 sub; test -e 6.o'
}

@test "cmake: configure, build, test" {
	needs cmake gcc make
	works 'printf "int main(void) { return 0; }\n" >a.c
		printf "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nenable_testing()\nadd_executable(a a.c)\nadd_test(NAME t COMMAND a)\n" >CMakeLists.txt
		cmake -S . -B b; cmake --build b -j2; cd b; ctest'
}

@test "meson and ninja" {
	needs meson ninja gcc
	works 'printf "int main(void) { return 0; }\n" >a.c
		printf "project(%sx%s, %sc%s)\ntest(%st%s, executable(%sa%s, %sa.c%s))\n" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" "'"'"'" >meson.build
		meson setup b; ninja -C b; meson test -C b'
}

@test "python3: venv and pip from a local package, multiprocessing, sqlite, ssl" {
	needs python3
	python3 -c 'import ensurepip' 2>/dev/null || skip "python3-venv is not installed"
	works 'PATH=/usr/bin:/bin; python3 -m venv v
		mkdir -p p/pkg; echo "def f(): return 42" >p/pkg/__init__.py
		printf "from setuptools import setup\nsetup(name=\"pkg\", version=\"1\", packages=[\"pkg\"])\n" >p/setup.py
		v/bin/pip --version
		. v/bin/activate
		if python -c "import setuptools" 2>/dev/null; then
			pip install -q --no-index --no-build-isolation ./p
			python -c "import pkg; assert pkg.f() == 42"
		fi
		python - <<X
import multiprocessing, sqlite3, ssl, subprocess, tempfile, threading, asyncio
if __name__ == "__main__":
    assert multiprocessing.get_context("fork").Pool(2).map(abs, [-1, -2]) == [1, 2]
    sqlite3.connect("x.db").execute("create table t (a)")
    assert subprocess.run(["true"]).returncode == 0
    with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").write("x")
    asyncio.run(asyncio.sleep(0))
    q = multiprocessing.Queue(); q.put(1); assert q.get() == 1
X'
}

@test "node: modules, workers, child processes, loopback" {
	needs node
	works 'cat >a.mjs <<-X
	import { execFileSync } from "node:child_process";
	import { Worker, isMainThread } from "node:worker_threads";
	import http from "node:http";
	import fs from "node:fs";
	if (isMainThread) {
		execFileSync("true");
		fs.writeFileSync("out", "x");
		const s = http.createServer((q, r) => r.end("hello"));
		s.listen(0, "127.0.0.1", () => {
			http.get({ port: s.address().port, host: "127.0.0.1" }, (r) => {
				r.on("data", (d) => { if (String(d) !== "hello") process.exit(3); });
				r.on("end", () => new Worker(new URL(import.meta.url)).on("exit", () => process.exit(0)));
			});
		});
	}
	X
		node a.mjs'
}

@test "npm: pack, install of a tarball, scripts, offline" {
	needs node npm
	works 'mkdir dep app
		printf "{\"name\":\"dep\",\"version\":\"1.0.0\",\"main\":\"i.js\",\"bin\":{\"dep\":\"i.js\"}}\n" >dep/package.json
		printf "#!/usr/bin/env node\nmodule.exports = 42;\n" >dep/i.js
		(cd dep && npm pack --offline --loglevel=error)
		printf "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node t.js\"}}\n" >app/package.json
		printf "process.exit(require(\"dep\") - 42)\n" >app/t.js
		cd app; npm install --offline --no-audit --no-fund --loglevel=error ../dep/dep-1.0.0.tgz
		npm test --offline --loglevel=error; node_modules/.bin/dep; npm ls --offline'
}

# cargo may come from the distribution or from a toolchain directory in a home; then that is found by PATH.
cargo_path() {
	if PATH=$SCENE_PATH command -v cargo >/dev/null; then
		return
	fi
	command -v cargo >/dev/null || skip "cargo is not installed"
	local bin
	bin=$(dirname "$(command -v cargo)")
	[ "${bin#*/.cargo/}" = bin ] || skip "cargo is not installed"
	CARGO_ROOT=${bin%/.cargo/bin}
}

@test "cargo: build, test and run a crate without dependencies" {
	cargo_path
	if [ -n "${CARGO_ROOT-}" ]; then
		# The caller's own home is where the toolchain lives.
		script='mkdir src; printf "fn main() { println!(\"{}\", (1..5).sum::<i32>()); }\n#[test]\nfn t() { assert_eq!(1 + 1, 2); }\n" >src/main.rs
			printf "[package]\nname = \"x\"\nversion = \"1.0.0\"\nedition = \"2021\"\n" >Cargo.toml
			cargo build --offline -q; ./target/debug/x; cargo test --offline -q; rustc --version'
		cd "$PLACE/self/h"
		env -i HOME="$CARGO_ROOT" CARGO_HOME="$PLACE/self/out" PATH="$CARGO_ROOT/.cargo/bin:$SCENE_PATH" sh -ec "$script"
		cd "$PLACE/self/w"
		env -i HOME="$CARGO_ROOT" PATH="$CARGO_ROOT/.cargo/bin:$SCENE_PATH" CORDON_STATE_DIR="$PLACE/self/state" \
			CORDON_CONFIG_DIR="$PLACE/self/config" "$PLACE/cordon" run -q --backend "$BACKEND" \
			-e CARGO_HOME="$PLACE/self/w/cargo-home" -- sh -ec "$script"
		return
	fi
	works 'mkdir src; printf "fn main() { println!(\"{}\", (1..5).sum::<i32>()); }\n#[test]\nfn t() { assert_eq!(1 + 1, 2); }\n" >src/main.rs
		printf "[package]\nname = \"x\"\nversion = \"1.0.0\"\nedition = \"2021\"\n" >Cargo.toml
		cargo build --offline -q; ./target/debug/x; cargo test --offline -q; rustc --version'
}

@test "go: build and run a module without dependencies" {
	needs go
	works 'printf "module x\n\ngo 1.18\n" >go.mod; printf "package main\n\nfunc main() { println(42) }\n" >main.go
		GOFLAGS=-mod=mod GOTOOLCHAIN=local go build -o x .; ./x; go vet ./...'
}
