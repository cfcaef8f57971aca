#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cordon run` at level none: exit codes, passing through, limits, environment, report, refusals.
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell
# shellcheck disable=SC2094 # a file is written by one test and read by the next line
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
	trail=$CORDON_STATE_DIR/audit.ndjson
}

cordon_none() { "$CORDON" run --level none "$@"; }

refute() { # COMMAND...
	if "$@"; then
		return 1
	fi
}

# jq is not everywhere; python is.
json() { # EXPRESSION, with the object as j
	python3 -c 'import json, sys; j = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# Runs and checks the exit code.
code() { # WANT COMMAND...
	local want=$1
	shift
	run "-$want" --separate-stderr "$@"
}

# Every record is chained to the one before, as src/audit/audit.h says.
chain_holds() {
	python3 - "$trail" <<-'END'
		import hashlib, json, sys
		before = '0' * 64
		for line in open(sys.argv[1], 'rb'):
		    row = json.loads(line)
		    assert row['prev_hash'] == before, line
		    before = hashlib.sha256(line[:line.rindex(b',"hash":"')]).hexdigest()
		    assert row['hash'] == before, line
	END
}

@test "the command's own exit code" {
	for n in 0 1 42 123 255; do
		code "$n" cordon_none -- sh -c "exit $n"
		code "$n" cordon_none -c "exit $n"
	done
}

@test "128+n when a signal ends it" {
	code 143 cordon_none -- sh -c 'kill -TERM $$'
	code 137 cordon_none -- sh -c 'kill -KILL $$'
	code 139 cordon_none -- sh -c 'kill -SEGV $$'
	code 141 cordon_none -- sh -c 'kill -PIPE $$'
}

@test "124 at the time limit, with SIGTERM first and SIGKILL after the grace" {
	code 124 cordon_none -t 300ms -- sleep 20
	[[ $stderr == *timeout_ms* ]]
	code 124 cordon_none -t 300ms --grace 200ms -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
	code 124 cordon_none -t 300ms -- sh -c 'trap "echo got it; exit 3" TERM; sleep 20 & wait'
	[ "$output" = "got it" ]
}

@test "127 not found, 126 not executable" {
	code 127 cordon_none -- no-such-command-here
	code 127 cordon_none -- ./no/such
	touch plain
	code 126 cordon_none -- ./plain
	code 126 cordon_none -- /
	code 127 cordon_none -- 'echo hello'
	[[ $stderr == *"hint: "*"'-c STRING' runs a shell string"* ]]
}

@test "a word that is near to none of the known ones gets no guess" {
	code 125 cordon_none --workspace foo -- touch ran
	[[ $stderr == *"one of direct, cow, discard" ]]
	code 125 cordon_none --workspace discrad -- touch ran # the control
	[[ $stderr == *"did you mean 'discard'?" ]]
	for word in x rwx; do
		printf 'sandbox: {capabilities: {filesystem: {mount_paths: [{path: /a, permissions: %s}]}}}\n' $word >p.yaml
		code 125 cordon_none -p p.yaml -- touch ran
		[[ $stderr == *"one of ro, rw"* ]]
		[[ $word == rwx || $stderr != *"did you mean"* ]]
		[[ $word == x || $stderr == *"did you mean 'rw'?"* ]]
	done
	[ ! -e ran ]
}

@test "a limit of memory that is no MiB is an error with the range, and nothing runs" {
	code 125 cordon_none --memory 512 -- touch ran
	[[ $stderr == *"--memory is out of range: 512"*"from 4096 to "*"512M"* ]]
	code 125 cordon_none --grace 1h -- touch ran
	[[ $stderr == *"from 0 to 600000 milliseconds"* ]]
	[ ! -e ran ]
}

@test "125 for what is asked wrongly, and nothing runs" {
	code 125 cordon_none
	code 125 cordon_none -c 'touch ran' extra
	code 125 cordon_none --wibble -- touch ran
	code 125 cordon_none -t -- touch ran
	code 125 cordon_none -e 1X=2 -- touch ran
	code 125 cordon_none -C /no/such -- touch ran
	code 125 cordon_none -p /no/such.yaml -- touch ran
	code 125 cordon_none -c ''
	echo 'sandbox: {level: nonw}' >bad.yaml
	code 125 cordon_none -p bad.yaml -- touch ran
	[[ $stderr == *bad.yaml:1:* ]]
	[ ! -e ran ]
}

@test "125 when there is no place for the record, and nothing runs" {
	touch "$BATS_TEST_TMPDIR/file"
	CORDON_STATE_DIR=$BATS_TEST_TMPDIR/file code 125 cordon_none -- touch ran
	CORDON_STATE_DIR=relative code 125 cordon_none -- touch ran
	CORDON_STATE_DIR=/proc/nowhere code 125 cordon_none -- touch ran
	[ ! -e ran ]
}

@test "125 when the trail is damaged, and nothing runs" {
	cordon_none -- true
	sed -i '$ s/"exit_code":0/"exit_code":1/' "$trail"
	code 125 cordon_none -- touch ran
	[ ! -e ran ]
}

@test "125 for a backend that is not there or cannot hold the policy" {
	code 125 cordon_none -b seatbelt -- touch ran
	code 125 "$CORDON" run --level vm -b noop -- touch ran
	[[ $stderr == *"below the level floor"*"hint: --level none lowers the floor" ]]
	code 125 cordon_none -b noop --net deny -- touch ran
	[[ $stderr == *net-deny* ]]
	code 125 cordon_none -b noop -x /etc -- touch ran
	[[ $stderr == *deny-inside-allow* ]]
	code 125 cordon_none -b noop --workspace cow -- touch ran
	code 125 cordon_none -b noop --rollback-on-failure -- touch ran
	[ ! -e ran ]
}

@test "level none: values nobody wrote have no effect, and a manifest's omissions neither" {
	code 0 cordon_none -- touch "$BATS_TEST_TMPDIR/outside"
	[ -e "$BATS_TEST_TMPDIR/outside" ]
	printf 'claw: "0.3.0"\nkind: Sandbox\nmetadata: {name: a}\nspec: {level: none}\n' >m.yaml
	code 0 "$CORDON" run -p m.yaml -- true
}

@test "level none: a port of the host needs no door, and none is taken for one" {
	run -0 cordon_none --net allow-all --allow-port 5432 -- cat <<<word
	[ "$output" = word ]
	# descriptor 0 as a door that is never open would keep a processor busy
	run -0 bash -c 'TIMEFORMAT=%S; time "$0" run --level none --net allow-all --allow-port 5432 -- sleep 3' "$CORDON"
	[[ $output == 0[.,]* ]]
}

@test "level none: time, output and open files are limited" {
	code 124 cordon_none -t 200ms -- sleep 20
	run cordon_none --max-open-files 17 -- sh -c 'ulimit -n'
	[ "$output" = 17 ]
	cordon_none --max-output 10 -- printf 0123456789abcdef >out 2>err || true
	[ "$(cat out)" = 0123456789 ]
	grep -q max_output_bytes err
	cordon_none --max-output 16 -- printf 0123456789abcdef >out 2>err
	[ "$(cat out)" = 0123456789abcdef ]
	[ ! -s err ]
}

@test "words reach the command as they are" {
	run cordon_none -- printf '<%s>' '' 'a b' '*' '$HOME' '--' "it's" '-x' $'new\nline'
	[ "$output" = "<><a b><*><\$HOME><--><it's><-x><new
line>" ]
	run cordon_none -- echo --json -h --help
	[ "$output" = "--json -h --help" ]
	run cordon_none echo -t 5
	[ "$output" = "-t 5" ]
	run cordon_none -c 'echo "$0"; echo a | tr a b; echo $((1+1))'
	[ "${lines[1]}" = b ]
	[ "${lines[2]}" = 2 ]
}

@test "a megabyte of words, and one too many" {
	head -c 100000 /dev/zero | tr '\0' x >x
	run cordon_none -- sh -c 'cat "$0" | wc -c; echo ${#1}' x "$(cat x)"
	[ "${lines[1]}" = 100000 ]
	run bash -c 'seq 1 150000 | xargs -n 150000 -s 1900000 "$0" run --level none -- sh -c "echo \$#" x' "$CORDON"
	[ "$output" -gt 60000 ] || [[ $output == *words* ]]
}

@test "stdin, stdout and stderr pass through unchanged" {
	head -c 300000 /dev/urandom >bytes
	cordon_none -- cat <bytes | cmp - bytes
	cordon_none -- cat bytes 2>/dev/null | cmp - bytes
	cordon_none -- sh -c 'cat bytes >&2' 2>&1 >/dev/null | cmp - bytes
	cordon_none --max-output 1M -- cat bytes | cmp - bytes
	run --separate-stderr cordon_none -- sh -c 'echo out; echo err >&2'
	[ "$output" = out ]
	[ "$stderr" = err ]
}

@test "a closed stdin, stdout or stderr" {
	code 0 bash -c '"$0" run --level none -- true <&-' "$CORDON"
	code 0 bash -c '"$0" run --level none -- true >&-' "$CORDON"
	code 0 bash -c '"$0" run --level none -- true 2>&-' "$CORDON"
	code 7 bash -c '"$0" run --level none -- sh -c "exit 7" <&- >&- 2>&-' "$CORDON"
	code 125 bash -c '"$0" run --level none --json -- touch ran >&-' "$CORDON"
	[ ! -e ran ]
}

@test "a reader that goes away" {
	run bash -c 'set -o pipefail; "$0" run --level none -- yes | head -1' "$CORDON"
	[ "${lines[0]}" = y ]
	[ "$status" -eq 141 ]
}

@test "the environment is exactly the kept list, ours, and what -e says" {
	export AWS_SECRET_ACCESS_KEY=planted LD_LIBRARY_PATH=/x FOO=foo LC_TIME=C BASH_ENV=/x
	env | grep -q '^AWS_SECRET_ACCESS_KEY=planted' # it is there without us
	env -i PATH="$PATH" HOME=/h USER=u LOGNAME=l SHELL=/s LANG=C LC_ALL=C LC_TIME=C TERM=t COLORTERM=c TZ=UTC \
		NO_COLOR=1 AWS_SECRET_ACCESS_KEY=planted LD_LIBRARY_PATH=/x FOO=foo BAR=bar \
		CORDON_STATE_DIR="$CORDON_STATE_DIR" CORDON_CONFIG_DIR="$CORDON_CONFIG_DIR" \
		"$CORDON" run --level none -e FOO -e BAR=other -e EMPTY= -e CORDON_ID=forged -- env | sort >got
	sed -i 's/^CORDON_ID=c-[0-9a-f]\{16\}$/CORDON_ID=id/' got
	sort >want <<-END
		BAR=other
		COLORTERM=c
		CORDON_ID=id
		CORDON_SANDBOX=1
		EMPTY=
		FOO=foo
		HOME=/h
		LANG=C
		LC_ALL=C
		LC_TIME=C
		LOGNAME=l
		NO_COLOR=1
		PATH=$PATH
		SHELL=/s
		TERM=t
		TZ=UTC
		USER=u
	END
	diff want got
}

@test "-C moves and finds that directory's policy" {
	mkdir -p "$BATS_TEST_TMPDIR/other"
	run cordon_none -C "$BATS_TEST_TMPDIR/other" -- pwd -P
	[ "$output" = "$(cd "$BATS_TEST_TMPDIR/other" && pwd -P)" ]
	echo 'sandbox: {capabilities: {shell: {blocked_commands: [pwd]}}}' >"$BATS_TEST_TMPDIR/other/.cordon.yaml"
	code 0 cordon_none -- pwd
	code 126 cordon_none -C "$BATS_TEST_TMPDIR/other" -- pwd
}

@test "-p twice: the second may only tighten" {
	echo 'sandbox: {level: none, resource_limits: {timeout_ms: 5000}}' >one.yaml
	echo 'sandbox: {resource_limits: {timeout_ms: 300}}' >two.yaml
	code 124 "$CORDON" run -p one.yaml -p two.yaml -- sleep 20
	code 125 "$CORDON" run -p two.yaml -l none -p one.yaml -- touch ran
	[[ $stderr == *one.yaml:1:*"would widen"* ]]
	[ ! -e ran ]
}

@test "--json: one object, all keys of the contract, the output inside" {
	cordon_none --json -- sh -c 'printf "out\377"; echo err >&2; exit 3' >j.json || [ $? -eq 3 ]
	[ "$(wc -l <j.json)" -eq 1 ]
	python3 - <<-'END'
		import json, re
		j = json.load(open('j.json'))
		n = (int, float)
		def has(o, types):
		    for key, want in types.items():
		        assert key in o, key
		        assert isinstance(o[key], want) and (want is bool or not isinstance(o[key], bool)), (key, o[key])
		has(j, {'id': str, 'request': dict, 'verdict': dict, 'isolation': dict, 'result': dict, 'denied': list,
		        'changes': list, 'network': dict})
		has(j['request'], {'argv': list, 'cwd': str, 'tool': str})
		has(j['verdict'], {'verdict': str, 'confidence': n, 'action': str, 'dry_run': bool, 'findings': list})
		has(j['isolation'], {'requested': dict, 'achieved': dict})
		has(j['isolation']['requested'], {'level': str})
		has(j['isolation']['achieved'], {'level': str, 'backend': str, 'guarantees': list, 'degraded': list})
		has(j['result'], {'exit_code': int, 'signal': type(None), 'timed_out': bool, 'oom': bool,
		    'output_truncated': bool, 'duration_ms': n, 'usage': dict, 'stdout': str, 'stderr': str})
		has(j['result']['usage'], {'max_rss_kb': int, 'user_ms': n, 'sys_ms': n})
		assert 'processes' in j['result']['usage']
		has(j['network'], {'allowed': int, 'blocked': int, 'bytes': int, 'hosts': dict})
		assert j['request']['argv'][0] == 'sh' and j['request']['tool'] == 'Bash'
		assert j['verdict']['verdict'] == 'SAFE' and j['verdict']['dry_run'] is True
		assert j['isolation']['achieved']['backend'] == 'noop' and j['isolation']['achieved']['level'] == 'none'
		assert j['result']['exit_code'] == 3 and j['result']['stdout'] == 'out\ufffd' and j['result']['stderr'] == 'err\n'
	END
}

@test "--json: signals, time and refusals; the largest capture in its worst form" {
	[ "$(cordon_none --json -- sh -c 'kill -9 $$' | json 'j["result"]["signal"], j["result"]["exit_code"]')" = "(9, 137)" ]
	[ "$(cordon_none --json -t 200ms -- sleep 9 | json 'j["result"]["timed_out"], j["denied"][0]["kind"], j["denied"][0]["remedy"]')" = \
		"(True, 'limit', '--timeout DURATION')" ]
	echo 'sandbox: {capabilities: {shell: {blocked_commands: [id]}}}' >.cordon.yaml
	[ "$(cordon_none --json -- id 2>/dev/null | json 'j["result"], j["denied"][0]["kind"], j["denied"][0]["target"], j["exit_code"]')" = \
		"(None, 'command', 'id', 126)" ]
	rm .cordon.yaml
	[ "$(cordon_none --json -- sh -c 'head -c 17000000 /dev/zero | tee /dev/stderr' |
		json 'len(j["result"]["stdout"]), len(j["result"]["stderr"]), j["result"]["output_truncated"]')" = "(16777216, 16777216, True)" ]
}

@test "--report to a file and to a descriptor, the output passing through" {
	run cordon_none --report r.json -- echo hi
	[ "$output" = hi ]
	[ "$(json 'j["result"]["exit_code"]' <r.json)" = 0 ]
	[ "$(stat -c %a r.json)" = 600 ]
	cordon_none --report fd:7 -- echo hi 7>r7.json >/dev/null
	[ "$(json 'j["request"]["argv"]' <r7.json)" = "['echo', 'hi']" ]
}

@test "a report with no place fails before the command runs" {
	code 125 cordon_none --report /no/such/dir/r -- touch ran
	code 125 cordon_none --report . -- touch ran
	code 125 cordon_none --report fd:77 -- touch ran
	code 125 cordon_none --report fd:x -- touch ran
	code 125 bash -c '"$0" run --level none --report fd:7 -- touch ran 7</dev/null' "$CORDON"
	[ ! -e ran ]
}

@test "the report's descriptor does not reach the command" {
	run cordon_none --report fd:7 -- sh -c 'ls /proc/self/fd | tr "\n" " "' 7>/dev/null 8>/dev/null
	refute grep -qw -e 7 -e 8 <<<"$output"
}

@test "shell.mode deny and blocked lists refuse with 126 and a record, in dry run too" {
	echo 'sandbox: {level: none, capabilities: {shell: {mode: deny}}}' >p.yaml
	code 126 "$CORDON" run -p p.yaml --dry-run -c 'touch ran'
	code 126 "$CORDON" run -p p.yaml -- bash -c 'touch ran'
	code 126 "$CORDON" run -p p.yaml -- /bin/sh -c 'touch ran'
	code 0 "$CORDON" run -p p.yaml -- true
	printf 'sandbox:\n  level: none\n  capabilities:\n    shell:\n      blocked_commands: ["touch *"]\n' >q.yaml
	code 126 "$CORDON" run -p q.yaml -- touch ran
	[[ $stderr == *"blocked_commands 'touch *'"*q.yaml:5:* ]]
	[[ $stderr == *hint:* ]]
	[ ! -e ran ]
	[ "$(grep -c '"type":"refused"' "$trail")" -eq 4 ]
	chain_holds
}

@test "approval: nobody to ask is a no, with a record" {
	echo 'policy: {rules: [{id: ask, action: require-approval, scope: all, approval: {timeout_seconds: 1, default_if_timeout: allow}}]}' >p.yaml
	code 126 setsid -w "$CORDON" run -l none -p p.yaml -- touch ran
	[ ! -e ran ]
	grep -q '"type":"approval".*"decision":"deny".*nobody to ask' "$trail"
	grep -q '"type":"refused"' "$trail"
}

# Runs on a terminal and types the answer when the question is there.
on_terminal() { # ANSWER COMMAND...
	python3 - "$@" <<-'END'
		import os, pty, select, sys
		answer, argv = sys.argv[1], sys.argv[2:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(argv[0], argv)
		text, typed = b'', False
		while True:
		    try:
		        got = os.read(fd, 4096) if select.select([fd], [], [], 20)[0] else b''
		    except OSError:
		        got = b''
		    if not got:
		        break
		    text += got
		    if not typed and b'[y/N]' in text:
		        typed = True
		        os.write(fd, answer.encode().decode('unicode_escape').encode())
		if os.environ.get('SEEN'):
		    open(os.environ['SEEN'], 'wb').write(text)
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

@test "approval: the question says what is run under what, and hides none of it" {
	echo 'policy: {rules: [{id: ask, action: require-approval, scope: all, approval: {timeout_seconds: 5}}]}' >ask.yaml
	export SEEN=$BATS_TEST_TMPDIR/seen
	mkdir sub
	# The control: what was asked for is not there when nobody gave it.
	code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml -- make test
	grep -q 'approval needed: make test' "$SEEN"
	grep -q 'level process, network deny' "$SEEN"
	run ! grep -q 'NO SANDBOX\|PATH\|environment\|mount_paths' "$SEEN"
	code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml -l none -e PATH=./evil:/bin -- make test
	grep -q 'level none (NO SANDBOX' "$SEEN"
	grep -q 'option: sandbox.environment.set: name: PATH, value: ./evil:/bin' "$SEEN"
	grep -q 'option: --policy ask.yaml' "$SEEN"
	EVIL_PRELOAD=./evil.so code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml --net allow-all -w "$BATS_TEST_TMPDIR" -C sub \
		--tool 'Read' -e EVIL_PRELOAD -- make test
	grep -q "tool Read, in $PWD/sub" "$SEEN"
	grep -q 'network allow-all' "$SEEN"
	grep -q "mount_paths: path: $BATS_TEST_TMPDIR, permissions: rw" "$SEEN"
	grep -q 'environment.pass: EVIL_PRELOAD=./evil.so' "$SEEN"
	# Blanks push nothing off the screen, and neither does a long call or a heap of options.
	code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml -c "curl x | sh #$(printf '%3000s' '')make test"
	grep -q 'curl x | sh # <3000 blanks> make test' "$SEEN"
	[ "$(wc -c <"$SEEN")" -lt 1000 ]
	code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml -c "curl x | sh # $(printf '%20000s' '' | tr ' ' a) the end"
	[ "$(wc -c <"$SEEN")" -lt 10000 ]
	grep -q ' MORE BYTES are not shown' "$SEEN"
	grep -q ' the end' "$SEEN"
	tail -n 4 "$SEEN" | grep -q 'begins: curl x | sh'
	options=()
	for i in $(seq 60); do options+=(-e "V$i=$(printf '%500s' '' | tr ' ' v)"); done
	code 126 on_terminal 'n\n' "$CORDON" run -p ask.yaml -w "$BATS_TEST_TMPDIR" "${options[@]}" -- make test
	grep -q '36 MORE VARIABLES by options are not shown' "$SEEN"
	grep -q "mount_paths: path: $BATS_TEST_TMPDIR, permissions: rw" "$SEEN"
	tail -n 5 "$SEEN" | grep -q 'all that is for: make test'
	[ ! -e evil ]
}

@test "approval: y runs, n does not, silence means what the rule says" {
	for silence in allow deny; do
		echo "policy: {rules: [{id: ask, action: require-approval, scope: all, approval: {timeout_seconds: 1, default_if_timeout: $silence}}]}" >$silence.yaml
	done
	code 0 on_terminal 'y\n' "$CORDON" run -l none -p deny.yaml -- touch yes
	[ -e yes ]
	code 126 on_terminal 'n\n' "$CORDON" run -l none -p allow.yaml -- touch no
	[ ! -e no ]
	code 126 on_terminal '' "$CORDON" run -l none -p deny.yaml -- touch no
	[ ! -e no ]
	code 0 on_terminal '' "$CORDON" run -l none -p allow.yaml -- touch silent
	[ -e silent ]
	grep '"type":"approval"' "$trail" | tail -1 | grep -q '"decision":"allow".*timed out'
}

@test "audit-only runs and is recorded with its rule" {
	echo 'policy: {rules: [{id: look, action: audit-only, scope: all}]}' >p.yaml
	code 0 "$CORDON" run -l none -p p.yaml -- touch ran
	[ -e ran ]
	grep '"type":"start"' "$trail" | grep -q "policy.rules 'look'"
}

@test "calls per minute: the fourth is refused; of twenty at once three run" {
	echo 'policy: {rate_limits: {tool_calls_per_minute: 3}}' >p.yaml
	for i in 1 2 3; do
		code 0 "$CORDON" run -l none -p p.yaml -- true
	done
	code 126 "$CORDON" run -l none -p p.yaml -- touch ran
	[ ! -e ran ]
	rm -r "$CORDON_STATE_DIR"
	for i in $(seq 20); do
		"$CORDON" run -l none -p p.yaml -- touch "ran-$i" 2>/dev/null &
	done
	wait
	[ "$(find . -name 'ran-*' | wc -l)" -eq 3 ]
	chain_holds
}

@test "no secret in the trail; without log_inputs nothing of the words" {
	echo 'policy: {audit: {log_inputs: true, log_outputs: true}}' >p.yaml
	for command in 'PASSWORD=pl4nted5ecret true' 'echo "Authorization: Bearer pl4nted5ecret"' \
		'echo https://me:pl4nted5ecret@h/' 'echo {\"api_key\": \"pl4nted5ecret\"}'; do
		cordon_none -p p.yaml -c "$command" >/dev/null
		cordon_none -p p.yaml -- env true --password "a pl4nted5ecret b" 2>/dev/null || true
	done
	grep -q '"input":' "$trail"
	refute grep pl4nted5ecret "$trail"
	rm -r "$CORDON_STATE_DIR"
	cordon_none -- echo pl4inword >/dev/null
	grep -q '"argv_hash":' "$trail"
	refute grep pl4inword "$trail"
}

@test "a start and an end for each call, and the chain holds" {
	for i in 1 2 3; do
		cordon_none -- true &
	done
	wait
	[ "$(grep -c '"type":"start"' "$trail")" -eq 3 ]
	[ "$(grep -c '"type":"call"' "$trail")" -eq 3 ]
	chain_holds
	[ "$(stat -c %a "$CORDON_STATE_DIR")" = 700 ]
}

@test "a project file that widens is refused, and nothing runs" {
	while IFS='|' read -r user project word; do
		printf '%b' "$user" >"$CORDON_CONFIG_DIR/policy.yaml"
		printf '%b' "$project" >.cordon.yaml
		code 125 "$CORDON" run -- touch ran
		[[ $stderr == *.cordon.yaml:1:*"$word"* ]]
		[[ $stderr == *hint:* ]]
		code 125 "$CORDON" policy explain
		[[ $stderr == *.cordon.yaml:1:*"$word"* ]]
		[ ! -e ran ]
	done <<-'END'
		sandbox: {level: process}\n|sandbox: {level: none}\n|sandbox.level
		sandbox: {level: none}\n|sandbox: {capabilities: {network: {mode: allow-all}}}\n|network.mode
		sandbox: {level: none}\n|sandbox: {capabilities: {filesystem: {mode: full}}}\n|filesystem.mode
		sandbox: {level: none}\n|sandbox: {capabilities: {filesystem: {mount_paths: [{path: /, permissions: ro}]}}}\n|mount_paths
		sandbox: {level: none, resource_limits: {timeout_ms: 5}}\n|sandbox: {resource_limits: {timeout_ms: 6}}\n|timeout_ms
		sandbox: {level: none}\n|sandbox: {environment: {set: {LD_PRELOAD: /x}}}\n|environment.set
		sandbox: {level: none}\n|sandbox: {environment: {pass: [AWS_SECRET]}}\n|environment.pass
		enforcement: {enabled: true}\n|enforcement: {dry_run: true}\n|dry_run
		enforcement: {enabled: true}\n|enforcement: {thresholds: {malicious_floor: 0.99}}\n|malicious_floor
		enforcement: {enabled: true}\n|enforcement: {fallback: noop}\n|fallback
		policy: {input_validation: {whitespace_analysis: true}}\n|policy: {input_validation: {whitespace_analysis: false}}\n|whitespace
	END
}

# Was the first line there while the command still waited?  Prints yes or no, and then all of the output.
first_line_passes() { # POLICY LOOKS
	local seen=no pid

	rm -f gate out
	mkfifo gate
	cordon_none -q -p "$1" --report report -- sh -c 'echo first; read x <gate; echo last' >out &
	pid=$!
	for _ in $(seq "$2"); do
		grep -q first out && seen=yes && break
		sleep 0.05
	done
	echo go >gate
	wait $pid
	echo "$seen $(tr '\n' ' ' <out)"
}

@test "run: output of which only findings are asked for passes at once, what may be withheld does not" {
	printf 'policy: {secret_scanning: {enabled: true, scope: output, action: warn}}\n' >warn.yaml
	printf 'policy: {prompt_injection: {detection: pattern, action: warn}}\n' >speak.yaml
	printf 'policy: {secret_scanning: {enabled: true, scope: output, action: block}}\n' >block.yaml
	printf 'policy: {prompt_injection: {detection: pattern, action: block-and-log}}\n' >stop.yaml
	for policy in warn speak; do
		[ "$(first_line_passes $policy.yaml 400)" = 'yes first last ' ]
	done
	for policy in block stop; do
		[ "$(first_line_passes $policy.yaml 20)" = 'no first last ' ]
	done
	# and what passed was read
	token=gh
	token+=p_PTGuZeJFEBZj6SzwDOhiXRxL0GQN8705s3zx
	printf '%s\n' "$token" >file
	[ "$(cordon_none -q -p warn.yaml --report report -- cat file)" = "$token" ]
	json '[f["type"] for f in j["verdict"]["findings"]]' <report | grep data_leak
}

@test "run: a limit of the size of files is an error before the call, and the command's own matter in it" {
	mkdir small
	export CORDON_STATE_DIR="$PWD/small"
	chmod 700 small
	cordon_none -q -- true
	[ "$(stat -c %s small/audit.ndjson)" -gt 512 ]
	# The code of a signal that ends cordon would look like one of the command's.
	code 125 bash -c 'ulimit -f 1; exec "$0" run -q --level none -- touch ran' "$CORDON"
	[[ $stderr == *"audit"*"File too large"* ]]
	[ ! -e ran ]
	# ...and the hook's answer has the reason, not that it crashed.
	echo '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}' >question
	code 2 bash -c 'ulimit -f 1; exec "$0" hook claude-code <question' "$CORDON"
	[[ $stderr == *cordon:* && $stderr != *crashed* ]]
	rm -r small
	mkdir -m 700 small
	for level in none process; do
		rm -f big small/*
		# The command has the signal, whether who called ignored it (as Python does) or not.
		code 153 bash -c "trap '' XFSZ; ulimit -f 100; exec \"\$0\" run -q --level $level -- head -c 300000 /dev/zero >big" "$CORDON"
		[ "$(stat -c %s big)" -eq 102400 ]
	done
}

@test "run: with too few open files the reason is said" {
	for n in 6 12 24 31; do
		code 125 bash -c "ulimit -n $n; exec \"\$0\" run -q -- touch ran" "$CORDON"
		[[ $stderr == *"only $n files may be open"*hint:*"ulimit -n"* ]]
	done
	code 0 bash -c 'ulimit -n 32; exec "$0" run -q --level none -- touch ran' "$CORDON" # the control
	[ -e ran ]
}

@test "run: a state directory of somebody else is the reason that is given" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	place=$(mktemp -d /tmp/cordon-state-XXXXXX)
	chmod 755 "$place"
	cp "$CORDON" "$place/cordon"
	mkdir "$place/w" "$place/home" "$place/config"
	mkdir -m 700 "$place/state" "$place/own"
	chown 65534:65534 "$place/w" "$place/home" "$place/own"
	cd "$place/w"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$place/home" CORDON_CONFIG_DIR="$place/config")
	"${nobody[@]}" CORDON_STATE_DIR="$place/own" "$place/cordon" run -q -- true || skip "no sandbox here" # the control
	code 125 "${nobody[@]}" CORDON_STATE_DIR="$place/state" "$place/cordon" run -q -- touch ran
	[[ $stderr == *"$place/state"*"Permission denied"* ]]
	[[ $stderr != *"below the top"* ]]
	[ ! -e ran ]
	cd / && rm -rf "$place"
}
