#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A terminal inside the sandbox, `cordon shell`, and the grants of sockets, devices and caches.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON TERM=xterm LC_ALL=C.UTF-8
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR" "$HOME"
	cd "$BATS_TEST_TMPDIR/work" || return
	"$CORDON" run -q --backend native -- true || skip "backend native is not available here"
}

teardown() {
	[ -z "${SERVER:-}" ] || kill "$SERVER"
}

# on_terminal CASE: a case of term.py
on_terminal() {
	run python3 "$BATS_TEST_DIRNAME/term.py" "$1"
	[ "$status" -eq 0 ] || printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# serve PATH...: answers on Unix sockets, each with its own name
serve() {
	python3 "$BATS_TEST_DIRNAME/sockets.py" serve "$@" 3>&- &
	SERVER=$!
	for path; do
		for _ in $(seq 100); do
			[ ! -S "$path" ] || break
			sleep 0.1
		done
		[ -S "$path" ]
	done
}

@test "terminal: all three streams are a pty of the sandbox's own" {
	on_terminal tty
}

@test "terminal: at level none a pty of the host" {
	on_terminal noop_tty
}

@test "terminal: nothing inside is the caller's" {
	on_terminal no_host_terminal
}

@test "terminal: the size of the window, and its changes" {
	on_terminal size
}

@test "terminal: Ctrl-C and Ctrl-\\" {
	on_terminal interrupt
}

@test "terminal: lines, echo and Ctrl-D" {
	on_terminal control_d
}

@test "terminal: colours pass, the clipboard is out of reach" {
	on_terminal colours
	on_terminal colours_control
}

@test "terminal: what messages say was denied is told" {
	on_terminal denied
}

@test "terminal: output is filtered although input is a pipe" {
	on_terminal colours_stderr
}

@test "terminal: what a killed program left changed is put back" {
	on_terminal put_back_screen
}

@test "terminal: settings are put back whoever is killed" {
	on_terminal killed
}

@test "terminal: in a pipeline the keys are the reader's" {
	on_terminal pipe_keyboard
}

@test "terminal: in a pipeline a command that asks gets the keyboard" {
	on_terminal pipe_wants
}

@test "terminal: Ctrl-Z suspends the job of the outer shell, fg continues it" {
	on_terminal suspend
}

@test "terminal: a job in the background runs until it wants the keyboard" {
	on_terminal background
}

@test "terminal: the output limit holds" {
	on_terminal output_limit
}

@test "terminal: nothing of a flood is lost" {
	on_terminal flood
}

@test "shell: a prompt, a terminal, the shell's code" {
	on_terminal shell
}

@test "shell: job control inside" {
	on_terminal shell_jobs
}

@test "shell: suspend stops the outer job" {
	on_terminal shell_suspend
}

@test "shell: tmux works inside" {
	command -v tmux >/dev/null || skip "tmux is not here"
	on_terminal shell_tmux
}

# on_backend NAME: what a pty of the host's gives, too.  (Not: Ctrl-Z for the outer shell; the command leads its session.)
on_backend() {
	"$CORDON" run -q --backend "$1" -- true || skip "backend $1 is not available here"
	for case in host_streams size interrupt control_d colours put_back_screen killed output_limit suspend_none shell shell_jobs; do
		echo "$case"
		BACKEND=$1 on_terminal "$case"
	done
}

@test "terminal and shell on landlock" {
	on_backend landlock
}

@test "terminal and shell on bwrap" {
	on_backend bwrap
}

@test "terminal and shell on nsjail" {
	[ -e /usr/bin/nsjail ] || [ -e /bin/nsjail ] || [ -e /usr/local/bin/nsjail ] || skip "nsjail is not installed"
	on_backend nsjail
}

@test "terminal and shell on chroot" {
	[ "$(id -u)" -eq 0 ] || skip "not root: no other can use chroot"
	on_backend chroot
}

@test "shell: without a terminal it reads its input" {
	run --separate-stderr "$CORDON" shell -q --backend native <<<'echo $((40+2)); exit 5'
	[ "$status" -eq 5 ]
	[ "$output" = 42 ]
}

@test "shell: a policy that denies shells refuses it" {
	cat >p.yaml <<-'END'
		claw: "0.2.0"
		kind: Sandbox
		metadata: {name: no-shell}
		spec:
		  level: process
		  capabilities:
		    shell: {mode: deny}
		    filesystem: {mode: scoped, mount_paths: [{path: ., permissions: rw}]}
	END
	run --separate-stderr "$CORDON" run -q -p p.yaml -- true
	[ "$status" -eq 0 ]
	run --separate-stderr "$CORDON" shell -q -p p.yaml <<<'echo ran'
	[ "$status" -eq 126 ]
	[[ $output != *ran* ]]
}

@test "shell: -c and --json belong to run" {
	run "$CORDON" shell -c true
	[ "$status" -eq 125 ]
	run "$CORDON" shell --json
	[ "$status" -eq 125 ]
}

@test "socket: a granted one answers, its neighbour does not" {
	mkdir ../s
	serve "$PWD/../s/good" "$PWD/../s/bad"
	s=$(realpath ../s)
	cp "$BATS_TEST_DIRNAME/sockets.py" c.py
	# the control: on the host both do
	[ "$(python3 c.py ask "$s/bad")" = bad:hello ]
	for backend in native bwrap nsjail chroot; do
		"$CORDON" run -q --backend $backend -- true || continue
		for grant in "" -r -w; do
			# shellcheck disable=SC2086 # an empty one is no word
			run -1 "$CORDON" run -q --backend $backend ${grant:+$grant "$s"} \
				--allow-socket "$s/good" -- python3 c.py ask "$s/bad"
			# shellcheck disable=SC2086
			[ "$("$CORDON" run -q --backend $backend ${grant:+$grant "$s"} \
				--allow-socket "$s/good" -- python3 c.py ask "$s/good")" = good:hello ]
		done
	done
}

@test "socket: one that the host makes later in a granted directory stays out of reach" {
	mkdir ../s
	s=$(realpath ../s)
	cp "$BATS_TEST_DIRNAME/sockets.py" c.py
	serve "$s/good"
	for grant in -r -w; do
		rm -f go "$s/late"
		mkfifo go
		"$CORDON" run -q $grant "$s" --allow-socket "$s/good" -- \
			sh -c 'echo >ready; read -r x; [ -S "$1" ] || exit 3
			python3 c.py ask "$1"' sh "$s/late" <go >said 2>&1 3>&- &
		call=$!
		exec 7>go
		until [ -e ready ]; do sleep 0.05; done
		python3 "$BATS_TEST_DIRNAME/sockets.py" serve "$s/late" 3>&- &
		late=$!
		until [ -S "$s/late" ]; do sleep 0.05; done
		[ "$(python3 c.py ask "$s/late")" = late:hello ]
		echo >&7
		exec 7>&-
		code=0
		wait "$call" || code=$?
		kill "$late"
		rm -f ready
		[ "$code" -eq 1 ]
		grep -q 'refused' said
	done
}

@test "socket: much goes through in both directions, and its end" {
	s=$BATS_TEST_TMPDIR/s
	serve "$s"
	cp "$BATS_TEST_DIRNAME/sockets.py" c.py
	run --separate-stderr "$CORDON" run -q --allow-socket "$s" -- python3 c.py many "$s"
	[ "$output" = "20 connections, 4000000 bytes each" ]
}

@test "socket: a call that moves directories around it reaches no other" {
	mkdir d
	serve "$PWD/d/good" "$BATS_TEST_TMPDIR/secret"
	cp "$BATS_TEST_DIRNAME/sockets.py" c.py
	[ "$(python3 c.py ask "$BATS_TEST_TMPDIR/secret")" = secret:hello ]
	run --separate-stderr "$CORDON" run -q --allow-socket "$PWD/d/good" -- sh -ec '
		mv d e && mkdir d && ln -s "$1" d/good && python3 c.py ask e/good' sh "$BATS_TEST_TMPDIR/secret"
	# The control: the path on the host leads to the other one now.
	[ "$(readlink d/good)" = "$BATS_TEST_TMPDIR/secret" ]
	[ "$output" = good:hello ]
}

@test "socket: what is not one, or reached another way, is refused" {
	serve "$PWD/s"
	touch file
	run --separate-stderr "$CORDON" run -q --allow-socket "$PWD/file" -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *'is not a socket'* ]]
	run --separate-stderr "$CORDON" run -q --allow-socket "$PWD/missing" -- true
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" run -q --fs full --allow-socket "$PWD/s" -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *'mode full'* ]]
	run --separate-stderr "$CORDON" run -q -l none --backend noop --allow-socket "$PWD/s" -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *socket-grant* ]]
}

@test "socket: root's doors are said to be" {
	serve "$BATS_TEST_TMPDIR/docker.sock"
	run --separate-stderr "$CORDON" run --allow-socket "$BATS_TEST_TMPDIR/docker.sock" -- true
	[ "$status" -eq 0 ]
	[[ $stderr == *'root on this machine'* ]]
}

@test "socket: the SSH agent, when granted, keeps its variable, and git signs" {
	command -v ssh-agent >/dev/null || skip "ssh-agent is not here"
	mkdir -p "$HOME/.ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id"
	export SSH_AUTH_SOCK=$BATS_TEST_TMPDIR/agent
	ssh-agent -D -a "$SSH_AUTH_SOCK" >/dev/null 3>&- &
	SERVER=$!
	for _ in $(seq 100); do [ ! -S "$SSH_AUTH_SOCK" ] || break; sleep 0.1; done
	ssh-add -q "$HOME/.ssh/id"
	git config --global user.name n && git config --global user.email e@example.org
	git config --global gpg.format ssh && git config --global commit.gpgSign true
	git config --global user.signingKey "$HOME/.ssh/id.pub"
	git init -q .
	"$CORDON" run -q --allow-socket "$SSH_AUTH_SOCK" -- git commit -q --allow-empty -m signed
	git cat-file commit HEAD | grep -q '^gpgsig'
	run ! "$CORDON" run -q --allow-socket "$SSH_AUTH_SOCK" -- cat "$HOME/.ssh/id"
	"$CORDON" run -q -- git commit -q --allow-empty -m plain
	run ! grep -q gpgsig <(git cat-file commit HEAD)
	run ! "$CORDON" run -q -- sh -c '[ -n "$SSH_AUTH_SOCK" ]'
}

@test "device: a granted one can be opened, others are not there" {
	device=
	for d in /dev/kvm /dev/fuse /dev/hwrng /dev/net/tun; do
		[ ! -c "$d" ] || { python3 -c 'open(__import__("sys").argv[1], "rb").close()' "$d" && device=$d && break; }
	done 2>/dev/null
	[ -n "$device" ] || skip "no device that can be opened"
	[[ $device != /dev/net/tun ]] || skip "only devices that are refused"
	run ! "$CORDON" run -q -- test -e "$device"
	"$CORDON" run -q --device "$device" -- python3 -c 'open(__import__("sys").argv[1], "rb").close()' "$device"
}

@test "device: what is the machine itself is refused" {
	for d in /dev/mem /dev/kmsg /dev/port /dev/tty1 /dev/console /dev/loop-control; do
		[ -e "$d" ] || continue
		run --separate-stderr "$CORDON" run -q --device "$d" -- true
		[ "$status" -eq 125 ]
		[[ $stderr == *'cannot be granted'* ]]
	done
	run --separate-stderr "$CORDON" run -q --device /etc/passwd -- true
	[ "$status" -eq 125 ]
}

@test "device: a disk in use is refused" {
	disk=$(findmnt -no SOURCE -t ext4,xfs,btrfs | grep -o '^/dev/[^[]*' | head -n 1)
	[ -b "$disk" ] || skip "no file system on a disk"
	run --separate-stderr "$CORDON" run -q --device "$disk" -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *'in use'* ]]
}

@test "gpu: the known nodes, or a hint" {
	run --separate-stderr "$CORDON" run -q --gpu -- sh -c 'ls -R /dev'
	if [ -e /dev/dri ] || [ -e /dev/nvidia0 ] || [ -e /dev/kfd ]; then
		[ "$status" -eq 0 ]
		[[ $output =~ renderD|nvidia|kfd ]]
	else
		[ "$status" -eq 125 ]
		[[ $stderr == *'no graphics processor'* ]]
	fi
}

@test "cache: it stays for the project, and for no other" {
	"$CORDON" run -q --cache npm -- sh -c 'echo kept >"$npm_config_cache/x"'
	[ "$("$CORDON" run -q --cache npm -- sh -c 'cat "$npm_config_cache/x"')" = kept ]
	run --separate-stderr "$CORDON" run -v --cache npm -- dd if=/dev/zero of=/run/cordon/cache/npm/big bs=1M count=3
	[[ $stderr =~ 'cache npm: '.*/caches/[0-9a-f]+/npm\',\ 30..\ KiB ]]
	run ! "$CORDON" run -q --cache pip -- test -e /run/cordon/cache/npm
	run ! "$CORDON" run -q -- test -e /run/cordon
	mkdir ../other && cd ../other || return
	run ! "$CORDON" run -q --cache npm -- sh -c 'cat "$npm_config_cache/x"'
	"$CORDON" run -q --cache npm -- sh -c 'test -d "$npm_config_cache"'
}

@test "cache: every tool is told where it is" {
	run "$CORDON" run -q --cache npm --cache pip --cache cargo --cache go -- sh -c \
		'for d in "$npm_config_cache" "$PIP_CACHE_DIR" "$CARGO_HOME" "$GOMODCACHE" "$GOCACHE"; do
			mkdir -p "$d" && touch "$d/x" && echo "$d"; done'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	run --separate-stderr "$CORDON" run -q --cache maven -- true
	[ "$status" -eq 125 ]
}

@test "cache: npm uses its own" {
	command -v npm >/dev/null || skip "npm is not here"
	run "$CORDON" run -q --cache npm -- npm config get cache
	[ "${lines[-1]}" = /run/cordon/cache/npm ]
}

@test "grants on bwrap, nsjail and chroot: a cache and a device" {
	for backend in bwrap nsjail chroot; do
		"$CORDON" run -q --backend $backend -- true || continue
		"$CORDON" run -q --backend $backend --cache npm -- sh -c 'echo $0 >"$npm_config_cache/x"' $backend
		[ "$("$CORDON" run -q --backend $backend --cache npm -- sh -c 'cat "$npm_config_cache/x"')" = $backend ]
		run ! "$CORDON" run -q --backend $backend -- test -e /run/cordon
		for device in /dev/kvm /dev/fuse /dev/hwrng; do
			[ -c $device ] && head -c 0 $device 2>/dev/null || continue
			run ! "$CORDON" run -q --backend $backend -- head -c 0 $device
			"$CORDON" run -q --backend $backend --device $device -- head -c 0 $device
		done
	done
}

# Who reads the diff decides about the commit: a line must not be able to hide the one above it.
@test "terminal: a diff hides none of its lines" {
	echo old >f
	id=$("$CORDON" sandbox create --workspace cow)
	"$CORDON" sandbox exec -q "$id" sh -c 'printf "evil\n\033[1A\033[2K+good\ttab\r\n\033[2J" >f'
	run script -qec "'$CORDON' sandbox diff -u '$id'" /dev/null
	[[ $output == *'+evil'* ]]
	[[ $output == *'\x1b[1A\x1b[2K+good'$'\t''tab\x0d'* ]]
	[[ $output != *$'\033['* ]]
	# To a file it is the patch.
	"$CORDON" sandbox diff -u "$id" >changes.diff
	grep -q $'\033\\[1A' changes.diff
	"$CORDON" sandbox rm --force "$id"
}
