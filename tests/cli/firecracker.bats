#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend firecracker.  It cannot run on every machine that runs tests, so its place is taken by tests/firecracker:
# a server that holds our requests to the published description of its interface, and plays the machine's side over
# the sockets of a vsock device.  View, shares, confinement, monitor and supervisor are the real ones.
# shellcheck disable=SC2154 # stderr is set by bats

bats_require_minimum_version 1.5.0

setup_file() {
	export CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	export CORDON_VM_KERNEL=${CORDON_VM_KERNEL:-$BATS_TEST_DIRNAME/../../build-engines/kernel}
	export CORDON_STATE_DIR=$BATS_FILE_TMPDIR/state CORDON_CONFIG_DIR=$BATS_FILE_TMPDIR/config
	export PLACE=$BATS_FILE_TMPDIR/local
	export DOUBLE=$PLACE/lib/double SCHEMA=${SHARED-}/spec/firecracker/firecracker.yaml
	mkdir -p "$CORDON_STATE_DIR" "$CORDON_CONFIG_DIR" "$PLACE/bin" "$DOUBLE"
	chmod 700 "$CORDON_STATE_DIR"
	chmod 755 "$PLACE" "$PLACE/bin"
	[ -e "$SCHEMA" ] || return 0
	cp "$BATS_TEST_DIRNAME"/../firecracker/*.py "$DOUBLE"
	cc -o "$PLACE/bin/firecracker" "$BATS_TEST_DIRNAME/../firecracker/program.c"
	chmod 755 "$PLACE/bin/firecracker"
	python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)' "$SCHEMA" >"$DOUBLE/schema.json"
}

setup() {
	mkdir "$BATS_TEST_TMPDIR/w"
	cd "$BATS_TEST_TMPDIR/w" || return
}

needs_double() {
	[ -e "$SCHEMA" ] || skip '../shared not there'
	[ "$(id -u)" -eq 0 ] || skip 'not root: the double has to stand in /usr/local/bin'
	[ -c /dev/kvm ] || skip 'no /dev/kvm'
	[ -d "$CORDON_VM_KERNEL/boot" ] || skip 'no kernel in build-engines/kernel (ENGINES=all tools/setup check)'
	rm -f "$DOUBLE/mode" "$PLACE/no-kvm"
}

inside() {
	timeout 120 unshare -m --propagation private "$BATS_TEST_DIRNAME/../firecracker/inside" "$PLACE" "$@"
}

# A call whose command is played: the words up to a dot.
fc() {
	inside "$CORDON" run -q -b firecracker "$@" .
}

# $1 seconds at most until the command is true
until_true() {
	end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# No process of a machine is there.
nothing_runs() {
	# Not grep's status: it is an error too that a process went while it looked.
	found=$(grep -lsz '^/usr/local/lib/double/server.py$\|^cordon-share$' /proc/[0-9]*/cmdline || true)
	[ -z "$found" ]
}

@test "without the program the probe says why and how to get it, and nothing runs" {
	[ ! -e /usr/bin/firecracker ] && [ ! -e /usr/local/bin/firecracker ] || skip 'Firecracker is installed'
	run "$CORDON" run -b firecracker -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *'no firecracker in /usr/bin'*'install Firecracker'* ]]
	[ ! -e ran ]
}

@test "requests are those of the published interface, in its order" {
	needs_double
	fc -- fc-play requests >out
	jq -e '[.boot[] | .[0] + " " + .[1]] == ["PUT /logger", "PUT /machine-config", "PUT /boot-source", "PUT /vsock",
		"PUT /actions", "PATCH /vm", "PUT /snapshot/create"]' out
	jq -e '[.call[] | .[0] + " " + .[1]] == ["PUT /logger", "PUT /snapshot/load"]' out
	jq -e '.boot[1][2] == {vcpu_count: 1, mem_size_mib: 1024}' out
	jq -e '.call[1][2].resume_vm and .call[1][2].mem_backend.backend_type == "File"' out
	fc -m 300M -- fc-play requests >out # another size is another template
	jq -e '.boot[1][2].mem_size_mib == 512' out
}

@test "the server is strict: what the description does not have is refused" {
	needs_double
	python3 -B - "$DOUBLE" <<-'END'
		import os, sys, types
		d = sys.argv[1]
		sys.modules['play'] = types.SimpleNamespace(guest=lambda *a: None)
		source = open(d + '/server.py').read().replace('\nmain()\n', '\n')
		s = {'__file__': d + '/server.py', '__name__': 'server'}
		exec(source, s)
		good = b'{"vcpu_count":1,"mem_size_mib":512}'
		s['Server']().request('PUT', '/machine-config', good)
		for method, path, body in [
		        ('PUT', '/machine-confi', good), ('POST', '/machine-config', good), ('PUT', '/machine-config', b''),
		        ('PUT', '/machine-config', b'{"vcpu_count":1}'), ('PUT', '/machine-config', b'[]'),
		        ('PUT', '/machine-config', b'{"vcpu_count":"1","mem_size_mib":512}'),
		        ('PUT', '/machine-config', b'{"vcpu_count":33,"mem_size_mib":512}'),
		        ('PUT', '/machine-config', b'{"vcpu_count":true,"mem_size_mib":512}'),
		        ('PUT', '/machine-config', b'{"vcpu_count":1,"mem_size_mib":512,"ht_enabled":false}'),
		        ('PUT', '/vsock', b'{"guest_cid":2,"uds_path":"/run/x"}'),
		        ('PUT', '/actions', b'{"action_type":"InstanceStart"}'),
		        ('PUT', '/actions', b'{"action_type":"Start"}'),
		        ('PATCH', '/vm', b'{"state":"Paused"}'),
		        ('PUT', '/snapshot/create', b'{"mem_file_path":"a","snapshot_path":"b"}')]:
		    try:
		        s['Server']().request(method, path, body)
		    except s['Bad']:
		        continue
		    sys.exit(f'{method} {path} {body} was taken')
	END
}

@test "the workspace and the system reach the machine, and its changes the host" {
	needs_double
	echo before >old
	run fc -- fc-play cat "$PWD/old"
	[ "$status" -eq 0 ]
	[ "$output" = before ]
	fc -- fc-play write "$PWD/new" text
	[ "$(cat new)" = text ]
	[[ $(fc -- fc-play cat /usr/lib/os-release) == *NAME=* ]]
	run fc --workspace discard -- fc-play overwrite "$PWD/old" after
	[[ $output == after* ]]
	[ "$(cat old)" = before ]
}

@test "the share does what a kernel asks of it" {
	needs_double
	fc -- fc-play files "$PWD" >../out
	diff - ../out <<-'END'
		ls b c f l
		link b
		nlink 2
		mode 100600 size 3
		held 3
		open 123
		statfs 60
		twice EEXIST
		big True
		many 300
		full ENOTEMPTY
	END
	[ "$(cat e/c)" = 123 ]
	[ "$(readlink e/l)" = b ]
	[ -p e/f ]
}

@test "nothing leads out of the view" {
	needs_double
	echo in >inside
	echo secret >../outside
	fc -- fc-play escape "$PWD" "${PWD%/w}/outside" >../out
	cat ../out
	diff ../out - <<-'END'
		control done
		dotdot ENOENT
		slash EINVAL
		dot EINVAL
		empty EINVAL
		outside ENOENT
		through-link ENOENT
		through-proc ENOENT
		open-link ENOTSUP
		chmod-link ENOTSUP
		create-slash EINVAL
		fifo ENOTSUP
		device EPERM
		protected EEXIST
		hard-link EXDEV
		usr EROFS
		system EROFS
		system-trunc EROFS
		no-fid EBADF
		huge-fid ENFILE
		busy-fid EBUSY
		unknown ENOTSUP
		again-1024 ECONNREFUSED
		again-1025 ECONNREFUSED
		again-1026 ECONNREFUSED
		again-1027 ENOENT
		short gone
		after EPIPE
	END
	[ ! -e ../made ]
	[ ! -e /usr/cordon-escape ]
	[ ! -e .mcp.json ]
}

@test "exit codes, signals, memory, standard input" {
	needs_double
	run fc -- fc-play exit 7
	[ "$status" -eq 7 ]
	run fc -- fc-play signal 11
	[ "$status" -eq 139 ]
	run fc --report r.json -- fc-play oom
	[ "$status" -eq 137 ]
	jq -e '.result.oom' r.json
	[ "$(echo words | fc -- fc-play stdin)" = words ]
	run fc -t 2s -- fc-play wait
	[ "$status" -eq 124 ]
	# What the guest is told it holds with its kernel; qemu.bats shows that, with the same guest.
	fc -m 300M --max-processes 33 --cpu-percent 25 -- fc-play head >out
	jq -e '.memory == 314572800 and .processes == 33 and .cpu == 25 and .uid == 0' out
	fc -- fc-play head >out
	jq -e '.memory == 0 and .processes == 0 and .cpu == 0' out
}

@test "what it cannot hold is refused by name" {
	needs_double
	run fc --publish 18080:80 -- fc-play exit 0
	[ "$status" -eq 125 ]
	[[ $output == *port-publish* ]]
	run fc --cpu-shares 100 -- fc-play exit 0
	[ "$status" -eq 125 ]
	[[ $output == *cpu-shares* ]]
}

@test "an allowlist: connections arrive at the proxy over one stream, and nothing else does" {
	needs_double
	mkdir web
	echo served >web/index.html
	(cd web && exec python3 -u -m http.server 0 --bind 127.0.0.1) >port 2>/dev/null &
	server=$!
	until_true 10 grep -q 'port [0-9]' port
	port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' port)
	run fc --allow-host "127.0.0.1:$port" --allow-private 127.0.0.0/8 --report r.json -- fc-play fetch "127.0.0.1:$port"
	allowed=$output
	run fc --allow-host other.example --allow-private 127.0.0.0/8 --report no.json -- fc-play fetch "127.0.0.1:$port"
	kill $server
	[[ $allowed == *' 200 '*served* ]]
	jq -e '.network.allowed == 1' r.json
	[[ $output == *' 403 '* ]]
	[[ $output != *served* ]]
	jq -e '.network.blocked == 1 and .denied[0].kind == "host"' no.json
	run fc --allow-host other.example -- fc-play bad-frame # ends the call's network, and is not opened again
	[ "$output" = $'gone\nECONNREFUSED' ]
}

@test "a program that fails, lies or hangs: one error, and nothing left" {
	needs_double
	fc -- fc-play exit 0 # the template is there
	for fault in 'garbage|not one of Firecracker' 'refuse|made by another version' 'crash|cannot open /dev/kvm as wished'; do
		echo "${fault%|*}" >"$DOUBLE/mode"
		run fc -- fc-play write "$PWD/ran" x
		echo "$fault: $output"
		[ "$status" -eq 125 ]
		[[ $output == *"${fault#*|}"* ]]
		[ ! -e ran ]
		until_true 5 nothing_runs
	done
	echo hang >"$DOUBLE/mode"
	run fc -- fc-play write "$PWD/ran" x
	[ "$status" -eq 125 ]
	[[ $output == *'did not boot in time'* ]]
	until_true 5 nothing_runs
	rm "$DOUBLE/mode"
	for fault in die nonsense; do
		run fc -- fc-play "$fault"
		[ "$status" -eq 125 ]
		until_true 5 nothing_runs
	done
	fc -- fc-play exit 0 # and a template that was thrown away is made again
}

@test "without /dev/kvm the probe says so" {
	needs_double
	touch "$PLACE/no-kvm"
	run fc -- fc-play exit 0
	rm "$PLACE/no-kvm"
	[ "$status" -eq 125 ]
	[[ $output == */dev/kvm*kvm_intel* ]]
}

@test "kill -9 of cordon leaves nothing" {
	needs_double
	fc -- fc-play wait >out &
	until_true 20 grep -q waiting out
	pid=$(pgrep -o -f -x "$CORDON run -q -b firecracker -- fc-play wait .")
	run nothing_runs
	[ "$status" -ne 0 ] # the control: it runs
	kill -9 "$pid"
	until_true 5 nothing_runs
}

@test "a real kernel mounts what the share serves, as the guest does" {
	needs_double
	command -v qemu-system-x86_64 >/dev/null || skip 'qemu-system-x86 is not installed (ENGINES=all tools/setup check)'
	fc -- fc-play exit 0 # makes kernel and initrd
	cc -static -o mount "$BATS_TEST_DIRNAME/../firecracker/mount.c"
	store=$(dirname "$CORDON_STATE_DIR"/vm/*/initrd)
	python3 "$BATS_TEST_DIRNAME/../firecracker/initrd.py" "$store/initrd" initrd \
		init=mount share="${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}/src/backend/cordon-share"
	timeout 120 qemu-system-x86_64 -nodefaults -display none -machine q35,accel=tcg -cpu max -m 512M -no-reboot \
		-kernel "$store/kernel" -initrd initrd -append 'quiet panic=-1 console=ttyS0' -serial stdio </dev/null >console
	cat console
	tr -d '\r' <console | sed -n 's/^> //p' >said
	diff said - <<-'END'
		bind(listener, (const struct sockaddr *)&address, sizeof(address)): 0
		listen(listener, 1): 0
		connect(fd, (const struct sockaddr *)&address, sizeof(address)): 0
		mount("view", "/mnt", "9p", MS_NOSUID | MS_NODEV, text): 0
		mkdir("/mnt/d", 0755): 0
		fd = open("/mnt/d/a", O_CREAT | O_EXCL | O_RDWR, 0640): 0
		write(fd, "hello", 5): 0
		ftruncate(fd, 5000): 0
		msync(map, 4096, MS_SYNC): 0
		fsync(fd): 0
		read(fd, text, 5): 0
		host: Jello
		write(fd, data, sizeof(data)) == (ssize_t)sizeof(data) ? 0 : -1: 0
		memcmp(data, back, sizeof(data)) == 0 ? 0 : -1: 0
		rename("/mnt/d", "/mnt/e"): 0
		access("/mnt/e/a", R_OK): 0
		link("/mnt/e/a", "/mnt/e/b"): 0
		symlink("a", "/mnt/e/l"): 0
		mkfifo("/mnt/e/f", 0600): 0
		mknod("/mnt/e/null", S_IFCHR | 0600, 0x103): EPERM
		chmod("/mnt/e/l", 0600): 0
		truncate("/mnt/e/a", 3): 0
		stat("/mnt/e/b", &st): 0
		size 3 mode 100600 links 2
		open("/mnt/e/a", O_CREAT | O_EXCL | O_WRONLY, 0600): EEXIST
		rmdir("/mnt/e"): ENOTEMPTY
		entries 502
		unlink("/mnt/e/b"): 0
		access("/host/e/b", F_OK): ENOENT
		done
	END
}
