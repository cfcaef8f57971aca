#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Stored secrets: set, list and remove them; how they get into a call; and that they are nowhere else.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell

bats_require_minimum_version 1.5.0
load scene

VALUE=hunter2-4f9c1d77aa-Zq
# What a call prints is searched for its secrets: it tells what it has by a sum.
SUM=$(printf %s "$VALUE" | sha256sum)

setup() {
	scene_make
	for who in $WHO; do
		for how in environment file-mount; do
			printf 'sandbox: {capabilities: {secrets: {injection: %s}}}\n' $how >"$PLACE/$who/$how.yaml"
		done
		scene_give "$who"
	done
}

teardown() {
	scene_remove
}

# secret USER ARG...: standard input is ours.
secret() {
	local who=$1
	shift
	as "$who" "$PLACE/cordon" secret "$@"
}

# with USER METHOD [OPTION...] -- COMMAND: from the workspace.
with() {
	local who=$1 how=$2
	shift 2
	(cd "$PLACE/$who/w" && inside "$who" -p "$PLACE/$who/$how.yaml" "$@")
}

# Nothing below these places holds the value.
nowhere() {
	! grep -rlaF -- "$VALUE" "$@"
}

@test "secret: set, list, replace and remove" {
	for who in $WHO; do
		run -0 secret "$who" list
		[ "${#lines[@]}" -eq 1 ]
		printf '%s\n' "$VALUE" | secret "$who" set TOKEN --host API.Example.org,x.org:8443 --method get --path '/v1/*'
		printf '%s' "$VALUE" | secret "$who" set other.one
		[ "$(stat -c %a "$PLACE/$who/state/secrets.db")" = 600 ]
		[ "$(stat -c %a "$PLACE/$who/state/secrets.key")" = 400 ]
		run -0 secret "$who" list
		[[ $output == *TOKEN*api.example.org,x.org:8443*GET*'/v1/*'* ]]
		[[ $output == *other.one* ]]
		[[ $output != *"$VALUE"* ]]
		run -0 secret "$who" list --json
		[ "$(jq -c '[.key, .secrets[0].name, .secrets[0].hosts, .secrets[1].name]' <<<"$output")" = \
			'["file","TOKEN",["api.example.org","x.org:8443"],"other.one"]' ]
		[[ $output != *"$VALUE"* ]]
		echo new | secret "$who" set TOKEN
		run -0 secret "$who" list --json
		[ "$(jq -c '.secrets[0].hosts' <<<"$output")" = '[]' ]
		run -125 secret "$who" rm TOKEN nothing
		[[ $output == *"no secret 'nothing'"* ]]
		secret "$who" rm TOKEN other.one
		run -0 secret "$who" list --json
		[ "$(jq '.secrets|length' <<<"$output")" = 0 ]
		nowhere "$PLACE/$who/state"
	done
}

@test "secret: values from a file and a descriptor, never from the command line" {
	printf '%s\r\n' "$VALUE" >file
	secret self set A --file file
	secret self set B --fd 7 7<file
	secret self set C --raw --file file
	for name in A B; do
		run -0 with self environment --secret $name -- sh -c "printf %s \"\$$name\" | sha256sum"
		[ "$output" = "$SUM" ]
	done
	run -0 with self environment --secret C -- sh -c 'printf %s "$C" | wc -c'
	[ "$output" -eq $((${#VALUE} + 2)) ]
	run -125 secret self set D value
	[[ $output == *'never taken from the command line'* ]]
	for bad in '' 9a ../a a/b 'a b' "$(printf 'a%.0s' {1..129})"; do
		run -125 secret self set "$bad" --file file
	done
	run -125 secret self set D --file /dev/null
	[[ $output == *'is empty'* ]]
	head -c 65537 /dev/zero >large
	run -125 secret self set D --file large
	[[ $output == *'longer than 65536'* ]]
	run -125 secret self set D --file file --host 'a b'
	run -125 secret self set D --file file --path 'v1'
	run -125 secret self set D --file file --method GET
	[[ $output == *'together with --host'* ]]
	run -0 secret self list --json
	[ "$(jq -c '[.secrets[].name]' <<<"$output")" = '["A","B","C"]' ]
}

@test "secret: as a variable, in the call and nowhere else" {
	for who in $WHO; do
		printf '%s' "$VALUE" | secret "$who" set TOKEN
		run -0 with "$who" environment --secret TOKEN -- sh -c 'printf %s "$TOKEN" | sha256sum'
		[ "$output" = "$SUM" ]
		# the control: without a grant it is not there
		run -0 with "$who" environment -- sh -c 'printf %s "${TOKEN-none}"'
		[ "$output" = none ]
		run -125 with "$who" environment --secret TOKEN -e TOKEN=x -- true
		[[ $output == *'have one name'* ]]
		run -125 with "$who" environment --secret NOPE -- true
		[[ $output == *"no secret 'NOPE'"* ]]
		run -0 with "$who" environment --secret TOKEN --report "$PLACE/$who/out/report" -- true
		[ "$(jq -c '.secrets|[.injection,.names]' "$PLACE/$who/out/report")" = '["environment",["TOKEN"]]' ]
		nowhere "$PLACE/$who"
		# nor can a call read the store
		run -1 with "$who" environment -- sh -c "cat $PLACE/$who/state/secrets.key || exit 1"
		run -0 as "$who" cat "$PLACE/$who/state/secrets.key"
	done
}

@test "secret: as a file in memory that only the sandbox sees" {
	for who in $WHO; do
		printf '%s' "$VALUE" | secret "$who" set TOKEN
		head -c 3000 /dev/urandom | tee "$PLACE/$who/out/binary" | secret "$who" set --raw BINARY
		run -0 with "$who" file-mount --secret TOKEN --secret BINARY -- sh -ec '
			[ "$(stat -c %a /run/cordon/secrets/TOKEN)" = 400 ]
			[ "$(stat -f -c %T /run/cordon/secrets)" = tmpfs ]
			[ "$(ls /run/cordon/secrets | wc -l)" = 2 ]
			cp /run/cordon/secrets/BINARY .
			sha256sum </run/cordon/secrets/TOKEN'
		[ "$output" = "$SUM" ]
		cmp "$PLACE/$who/w/BINARY" "$PLACE/$who/out/binary"
		[ ! -e /run/cordon/secrets/TOKEN ]
		run -0 with "$who" file-mount -- sh -c '[ ! -e /run/cordon/secrets ]'
		nowhere "$PLACE/$who"
	done
}

@test "secret: while a call runs, cordon's own words and environment do not have it" {
	printf '%s' "$VALUE" | secret self set TOKEN
	for how in environment file-mount; do
		rm -f self/w/started self/w/go
		with self $how --secret TOKEN -- sh -c ': >started
			i=0; while [ ! -e go ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done' 3>&- &
		for ((i = 0; i < 600; i++)); do
			[ ! -e self/w/started ] || break
			sleep 0.1
		done
		[ -e self/w/started ]
		seen=0
		for p in /proc/[0-9]*; do
			[ "$(readlink "$p/exe")" = "$PLACE/cordon" ] || continue
			seen=$((seen + 1))
			run ! grep -qaF -- "$VALUE" "$p/cmdline"
			run ! grep -qaF -- "$VALUE" "$p/environ"
		done
		[ $seen -gt 0 ]
		: >self/w/go
		wait $!
	done
	nowhere self
}

@test "secret: a bound one goes in only where the network holds the binding" {
	printf '%s' "$VALUE" | secret self set TOKEN --host api.example.org
	printf '%s' "$VALUE" | secret self set NARROW --host api.example.org --path '/v1/*'
	for how in environment file-mount; do
		run -0 with self $how --secret TOKEN -- true
		run -0 with self $how --secret TOKEN --allow-host api.example.org -- true
		run -126 with self $how --secret TOKEN --net allow-all -- true
		[[ $output == *'could send it to any host'* ]]
		run -126 with self $how --secret TOKEN --allow-host api.example.org --allow-host b.org -- true
		[[ $output == *'could send it to b.org'* ]]
		run -126 with self $how --secret TOKEN --allow-host api.example.org --ask-hosts -- true
		[[ $output == *'somebody allows'* ]]
		run -126 with self $how --secret TOKEN --allow-port 8080 -- true
		[[ $output == *'a port of this machine'* ]]
		run -126 with self $how --secret TOKEN --publish 8080 -- true
		[[ $output == *'a published port'* ]]
		run -126 with self $how --secret TOKEN --allow-socket /run/x.sock -- true
		[[ $output == *'a socket of this machine'* ]]
		run -126 with self $how --secret TOKEN@b.org -- true
		[[ $output == *"may not go to 'b.org'"* ]]
		run -0 with self $how --secret NARROW -- true
		run -126 with self $how --secret NARROW --allow-host api.example.org -- true
		[[ $output == *'methods or paths'* ]]
	done
}

@test "secret: a damaged store, a wrong key, a foreign file: one line, nothing lost" {
	printf '%s' "$VALUE" | secret self set TOKEN
	db=self/state/secrets.db
	cp -p $db kept
	for how in 'truncate -s -1' 'truncate -s 40' 'truncate -s 0' 'sed -i s/TOKEN/TOKEM/' 'chmod 644'; do
		cp -p kept $db
		$how $db
		cp $db damaged
		run -125 with self environment --secret TOKEN -- true
		[ "$(grep -c '^cordon: run' <<<"$output")" -eq 1 ]
		run -125 secret self list
		run -125 secret self set MORE --file kept
		cmp $db damaged
	done
	cp -p kept $db
	mv self/state/secrets.key key
	run -125 with self environment --secret TOKEN -- true
	[[ $output == *'is not there'* ]]
	tr 0-9a-f 1-9a-f0 <key >self/state/secrets.key
	chmod 400 self/state/secrets.key
	run -125 with self environment --secret TOKEN -- true
	[[ $output == *'not its key'* ]]
	mv -f key self/state/secrets.key
	run -0 with self environment --secret TOKEN -- sh -c 'printf %s "$TOKEN" | sha256sum'
	[ "$output" = "$SUM" ]
}

@test "secret: a passphrase, from a descriptor and from a terminal that does not show it" {
	secret_p() {
		local words=$1
		shift
		as self env CORDON_PASSPHRASE_FD=9 "$PLACE/cordon" "$@" 9<<<"$words"
	}
	printf '%s' "$VALUE" | secret_p 'correct horse' secret set TOKEN --key passphrase
	[ ! -e self/state/secrets.key ]
	run -125 secret_p 'correct horses' secret rm TOKEN
	[[ $output == *'passphrase is wrong'* ]]
	run -125 setsid -w "$BASH" -c "$(declare -f as secret); PLACE=$PLACE SCENE_PATH=$SCENE_PATH; secret self rm TOKEN" </dev/null
	[[ $output == *'nobody to ask'* ]]
	cd self/w
	run -0 secret_p 'correct horse' run -q -p ../environment.yaml --secret TOKEN -- sh -c '[ ! -e /proc/self/fd/9 ] && printf %s "$TOKEN" | sha256sum'
	[ "$output" = "$SUM" ]
	cd "$PLACE"
	run -0 as self python3 - "$PLACE/cordon" "$VALUE" <<-'END'
		import os, pty, sys, select
		cordon, value = sys.argv[1:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(cordon, [cordon, 'secret', 'set', 'TYPED'])
		seen = b''
		def expect(word):
		    global seen
		    at = len(seen)
		    while word not in seen[at:]:
		        assert select.select([fd], [], [], 60)[0], seen
		        seen += os.read(fd, 1000)
		expect(b'Value of TYPED: ')
		os.write(fd, value.encode() + b'xy\x7f\x7f\n')
		expect(b'Passphrase of the secrets: ')
		os.write(fd, b'correct horse\n')
		try:
		    while True:
		        seen += os.read(fd, 1000)
		except OSError:
		    pass
		assert value.encode() not in seen and b'horse' not in seen, seen
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	cd self/w
	run -0 secret_p 'correct horse' run -q -p ../environment.yaml --secret TYPED -- sh -c 'printf %s "$TYPED" | sha256sum'
	[ "$output" = "$SUM" ]
}

@test "secret: nothing is held while a passphrase is said, and a key that was changed meanwhile counts" {
	run -0 as self python3 - "$PLACE/cordon" "$VALUE" <<-'END'
		import array, fcntl, json, os, shutil, subprocess, sys, termios, time
		cordon, value = sys.argv[1:]
		state = os.environ['CORDON_STATE_DIR']

		def pipe_with(text):
		    r, w = os.pipe()
		    os.write(w, text)
		    os.close(w)
		    return r

		def start(*words, phrase=None, new=None):
		    fds = [fd for fd in (phrase, new) if fd is not None]
		    env = dict(os.environ)
		    if phrase is not None:
		        env['CORDON_PASSPHRASE_FD'] = str(phrase)
		    if new is not None:
		        env['CORDON_NEW_PASSPHRASE_FD'] = str(new)
		    return subprocess.Popen([cordon, 'secret', *words], stdin=pipe_with(value.encode()), stdout=subprocess.PIPE,
		                            stderr=subprocess.STDOUT, text=True, pass_fds=fds, env=env)

		def end(p):
		    out = p.stdout.read()
		    return p.wait(), out

		def do(*words, **more):
		    return end(start(*words, **more))

		class Late:
		    """A writer that has read the store and hears its passphrase; it waits for the rest of it."""
		    def __init__(self, *words):
		        self.r, self.w = os.pipe()
		        os.write(self.w, b'fir')
		        self.p = start(*words, phrase=self.r)
		        left = array.array('i', [1])
		        until = time.monotonic() + 120
		        while left[0]:
		            assert time.monotonic() < until and self.p.poll() is None, self.p.stdout.read()
		            time.sleep(0.01)
		            fcntl.ioctl(self.r, termios.FIONREAD, left)
		    def end(self):
		        os.write(self.w, b'st')
		        os.close(self.w)
		        os.close(self.r)
		        return end(self.p)

		def names():
		    code, out = do('list', '--json')
		    assert code == 0, out
		    store = json.loads(out)
		    return store['key'], [row['name'] for row in store['secrets']]

		# Two begin a store with different keys: the first one is there, and the other one is told.
		late = Late('set', 'NEVER', '--key', 'passphrase')
		assert do('set', 'A') == (0, '')
		code, out = late.end()
		assert code == 125 and 'the key of this store comes from: file' in out, out
		assert names() == ('file', ['A'])
		shutil.rmtree(state)
		os.mkdir(state, 0o700)

		assert do('set', 'A', '--key', 'passphrase', phrase=pipe_with(b'first')) == (0, '')
		late = Late('set', 'B')
		assert do('set', 'C', phrase=pipe_with(b'first')) == (0, '')    # another writer does not wait
		assert late.end() == (0, '')
		assert names() == ('passphrase', ['A', 'B', 'C'])

		late = Late('set', 'D')
		code, out = do('rekey', '--key', 'file', phrase=pipe_with(b'first'))
		assert code == 0 and '3 encrypted anew' in out, out
		assert late.end() == (0, '')
		assert names() == ('file', ['A', 'B', 'C', 'D'])

		code, out = do('rekey', '--key', 'passphrase', new=pipe_with(b'first'))
		assert code == 0, out
		assert not os.path.exists(os.path.join(state, 'secrets.key'))
		late = Late('set', 'E')
		code, out = do('rekey', phrase=pipe_with(b'first'), new=pipe_with(b'second'))
		assert code == 0, out
		code, out = late.end()
		assert code == 125 and 'the passphrase is wrong' in out, out
		assert names() == ('passphrase', ['A', 'B', 'C', 'D'])
		assert do('rm', 'B', phrase=pipe_with(b'first'))[0] == 125
		assert do('rm', 'B', phrase=pipe_with(b'second')) == (0, '')
		assert sorted(os.listdir(state)) == ['secrets.db', 'secrets.lock'], os.listdir(state)
	END
	cd self/w
	run -0 as self env CORDON_PASSPHRASE_FD=9 "$PLACE/cordon" run -q -p ../environment.yaml --secret D -- sh -c 'printf %s "$D" | sha256sum' 9<<<second
	[ "$output" = "$SUM" ]
}

@test "secret: other backends hold it too, or say that they cannot" {
	printf '%s' "$VALUE" | secret self set TOKEN
	for BACKEND in bwrap nsjail chroot landlock; do
		(cd self/w && inside self -- true) || continue
		run -0 with self environment --secret TOKEN -- sh -c 'printf %s "$TOKEN" | sha256sum'
		[ "$output" = "$SUM" ]
		if [ $BACKEND = landlock ]; then
			run -125 with self file-mount --secret TOKEN -- true
			[[ $output == *'cannot give secret-file'* ]]
		else
			run -0 with self file-mount --secret TOKEN -- sha256sum /run/cordon/secrets/TOKEN
			[[ $output == "${SUM% *}"* ]]
		fi
	done
	nowhere self
}

# The value in the forms in which it leaves by accident, from a script that has it in $TOKEN.
LEAKS='printf "%s\n" "a $TOKEN b"; printf %s "x$TOKEN" | base64; printf %s "$TOKEN" | od -An -tx1 | tr -d " \n"; echo
	printf "%s\n" "$TOKEN" | rev >&2; for i in 1 2 3; do printf %s "$TOKEN" | head -c 9; sleep 0.2; printf "%s\n" "$TOKEN" | tail -c +10; done'

@test "secret: a value in the output is hidden, in whatever form and however it comes" {
	for who in $WHO; do
		printf '%s' "$VALUE" | secret "$who" set TOKEN
		TOKEN=$VALUE sh -c "$LEAKS" >control 2>&1
		[ "$(grep -cF -- "$VALUE" control)" -eq 4 ]
		for BACKEND in native noop; do
			level=process
			[ $BACKEND = native ] || level=none
			with "$who" environment --level $level --secret TOKEN --report "$PLACE/$who/out/report" -- sh -c "$LEAKS" >log 2>errors
			cat log errors
			nowhere log errors "$PLACE/$who"
			run ! grep -qF -- "$(rev <<<"$VALUE")" errors
			run ! grep -qF -- 4f9c1d log
			run ! grep -qF -- "$(printf %s hunter | od -An -tx1 | tr -d ' \n')" log
			[ "$(grep -cF '[hidden: TOKEN]' log)" -eq 6 ]
			grep -qxF '[hidden: TOKEN]' errors
			grep -qxF 'a [hidden: TOKEN] b' log
			[ "$(jq '[.verdict.findings[]|select(.rule == "stored-secret")]|length' "$PLACE/$who/out/report")" -eq 2 ]
			[ "$(jq .result.output_hidden "$PLACE/$who/out/report")" -eq 7 ]
		done
		# captured and recorded output is what was passed on
		BACKEND=native
		with "$who" environment --secret TOKEN --json -- sh -c "$LEAKS" >log
		nowhere log
		[ "$(jq -r .result.stdout log | grep -cF '[hidden: TOKEN]')" -eq 6 ]
	done
}

@test "secret: or passed on with a finding, or withheld with the rest, as the policy says" {
	printf '%s' "$VALUE" | secret self set TOKEN
	for action in warn block; do
		printf '%s\npolicy: {secret_scanning: {enabled: true, scope: output, action: %s}}\n' \
			"$(cat self/environment.yaml)" $action >self/scan-$action.yaml
	done
	with self scan-warn --secret TOKEN --report "$PLACE/report" -- sh -c 'echo "a $TOKEN b"' >log
	[ "$(cat log)" = "a $VALUE b" ]
	jq -e '.verdict.findings[]|select(.rule == "stored-secret")' report
	with self scan-block --secret TOKEN -- sh -c 'echo before; echo "a $TOKEN b"; echo after' >log
	run ! grep -e after -e "$VALUE" log
	grep -q withheld log
}

@test "secret: a person at a terminal does not wait for what is no secret" {
	printf 'name-of-the-rose' | secret self set TOKEN
	cd self/w
	run -0 as self python3 - "$PLACE/cordon" ../environment.yaml <<-'END'
		import os, pty, sys, select, time
		cordon, policy = sys.argv[1:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(cordon, [cordon, 'run', '-q', '-p', policy, '--secret', 'TOKEN', '--', 'sh', '-c',
		        'printf "your na"; read x; echo "got $x"; printf %s "$TOKEN"; read x; echo; echo "bye $x"'])
		seen = b''
		def expect(word):
		    global seen
		    while word not in seen:
		        assert select.select([fd], [], [], 60)[0], seen
		        seen += os.read(fd, 1000)
		expect(b'your na')
		os.write(fd, b'one\n')
		expect(b'got one')
		expect(b'[hidden: TOKEN]')
		os.write(fd, b'two\n')
		expect(b'bye two')
		assert b'rose' not in seen, seen
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

@test "secret: output in a file and words on the terminal are searched each for itself" {
	printf 'name-of-the-rose' | secret self set TOKEN
	cd self/w
	run -0 as self python3 - "$PLACE/cordon" ../environment.yaml <<-'END'
		import os, pty, sys
		cordon, policy = sys.argv[1:]
		pid, fd = pty.fork()
		if pid == 0:
		    out = os.open('out.txt', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
		    os.dup2(out, 1)
		    os.execv(cordon, [cordon, 'run', '-q', '-p', policy, '--secret', 'TOKEN', '--', 'sh', '-c',
		        'printf "%.9s" "$TOKEN"; sleep 0.3; echo shown >&2; sleep 0.3; printf "%s\n" "${TOKEN#?????????}"'])
		seen = b''
		while True:
		    try:
		        data = os.read(fd, 1000)
		    except OSError:
		        break
		    if not data:
		        break
		    seen += data
		code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		out = open('out.txt', 'rb').read()
		assert seen.split() == [b'shown'], (seen, out)
		assert out.endswith(b'[hidden: TOKEN]\n') and b'name-' not in out and b'rose' not in out, (seen, out)
		sys.exit(code)
	END
}
