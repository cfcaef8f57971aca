#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon proxy: the egress proxy by itself, on loopback and on a Unix socket.  Everything that is refused is first seen
# to work without it.
# shellcheck disable=SC2030,SC2031 # each test has a process of its own
# shellcheck disable=SC2016 # single quotes hold scripts for an inner shell

bats_require_minimum_version 1.5.0

setup_file() {
	cat >"$BATS_FILE_TMPDIR/server.py" <<-'EOF2'
	import http.server, sys
	class H(http.server.BaseHTTPRequestHandler):
	    protocol_version = 'HTTP/1.1'
	    def do_GET(self):
	        text = ('%s %s' % (self.command, self.path)).encode()
	        self.send_response(200)
	        self.send_header('Content-Length', str(len(text)))
	        self.end_headers()
	        self.wfile.write(text)
	    do_POST = do_DELETE = do_GET
	    def log_message(self, *a):
	        pass
	s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
	print(s.server_address[1], flush=True)
	s.serve_forever()
	EOF2
	python3 "$BATS_FILE_TMPDIR/server.py" >"$BATS_FILE_TMPDIR/port" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/server.pid"
	wait_for test -s "$BATS_FILE_TMPDIR/port"
	PORT=$(cat "$BATS_FILE_TMPDIR/port")
	export PORT
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/server.pid")"
}

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR" || return 1
	PROXY_PID=
	unset http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
	LOCAL=(--allow "127.0.0.1:$PORT" --allow-private 127.0.0.1)
}

teardown() {
	[ -z "$PROXY_PID" ] || kill -9 "$PROXY_PID" 2>/dev/null || true
}

wait_for() { # COMMAND...
	for ((i = 0; i < 600; i++)); do
		if "$@"; then
			return 0
		fi
		sleep 0.05
	done
	echo "never: $*"
	return 1
}

# start OPTION...: the proxy in the background; ADDRESS is where.
start() {
	rm -f out # what an earlier one said
	"$CORDON" proxy "$@" >out 2>err 3>&- &
	PROXY_PID=$!
	wait_for grep -q . out
	ADDRESS=$(sed -n 's/^CORDON_PROXY=//p' out)
}

stop() { # SIGNAL
	kill "-$1" "$PROXY_PID"
	local code=0
	wait "$PROXY_PID" || code=$?
	PROXY_PID=
	return "$code"
}

# get PROXY-URL URL: the answer's code, and its first line.
get() {
	curl -sS -m 20 --noproxy '' -x "$1" -w ' %{http_code}' "${@:2}" 2>&1 || true
}

is_gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

@test "the address and the variables, one a line; SIGTERM and SIGINT end it well and nothing stays" {
	for signal in TERM INT; do
		start "${LOCAL[@]}"
		refused=$(grep -cv '^[A-Za-z_0-9]*=' out || true)
		[ "$refused" -eq 0 ]
		[[ $ADDRESS == 127.0.0.1:* ]]
		grep -qx "HTTP_PROXY=http://$ADDRESS" out
		grep -qx "https_proxy=http://$ADDRESS" out
		grep -qx "ALL_PROXY=socks5h://$ADDRESS" out
		grep -qx "NO_PROXY=localhost,127.0.0.1,::1" out
		[ "$(get "http://$ADDRESS" "http://127.0.0.1:$PORT/a")" = 'GET /a 200' ]
		workers=$(pgrep -P "$PROXY_PID")
		[ -n "$workers" ]
		stop "$signal"
		for pid in $workers; do wait_for is_gone "$pid"; done
		run curl -sS -m 5 -x "http://$ADDRESS" "http://127.0.0.1:$PORT/a" --noproxy ''
		[ "$status" -eq 7 ]
	done
}

@test "--json says the same in one object; a port of one's own; IPv6" {
	"$CORDON" proxy --json --listen '[::1]:0' >out 3>&- &
	PROXY_PID=$!
	wait_for grep -q . out
	jq -e '.address | startswith("[::1]:")' out
	jq -e '.environment.HTTP_PROXY == "http://" + .address and .processes == 1' out
	address=$(jq -r .address out)
	[ "$(get "http://$address" http://nothing.example/ | tail -c 4)" = ' 403' ]
	stop TERM
}

@test "HTTP, CONNECT and SOCKS 5: the same answer by every way" {
	start "${LOCAL[@]}" --allow host.example
	for way in "http://$ADDRESS" "http://$ADDRESS -p" "socks5h://$ADDRESS" "socks5://$ADDRESS"; do
		# shellcheck disable=SC2086
		[ "$(get $way "http://127.0.0.1:$PORT/a")" = 'GET /a 200' ]
	done
	# The control: the other port answers too.
	python3 "$BATS_FILE_TMPDIR/server.py" >port2 3>&- &
	other=$!
	wait_for test -s port2
	port2=$(cat port2)
	[ "$(curl -sS "http://127.0.0.1:$port2/b")" = 'GET /b' ]
	for way in "http://$ADDRESS" "http://$ADDRESS -p" "socks5h://$ADDRESS" "socks5://$ADDRESS"; do
		# shellcheck disable=SC2086
		run get $way "http://127.0.0.1:$port2/b"
		[[ $output != *'GET /b'* ]]
	done
	kill "$other"
	[[ $(get "http://$ADDRESS" "http://127.0.0.1:$port2/b") == *'"remedy":"--allow 127.0.0.1:'$port2'"'*' 403' ]]
	# Requests on one connection are judged one by one.
	run curl -sS -m 20 --noproxy '' -x "http://$ADDRESS" "http://127.0.0.1:$PORT/a" "http://127.0.0.1:$port2/b"
	[[ $output == 'GET /a{'*'no entry'* ]]
	stop TERM
}

@test "modes: allowlist, blocklist, open, closed; what is blocked is blocked in each, on every port" {
	url=http://127.0.0.1:$PORT/a
	for row in 'allowlist|--allow 127.0.0.1:PORT|200' 'allowlist||403' 'blocklist||200' 'open||200' 'closed||403' \
		'blocklist|--block 127.0.0.1|403' 'open|--block 127.0.0.1|403' 'open|--block 127.0.0.1:1|200' \
		'allowlist|--allow 127.0.0.1:PORT --block 127.0.0.1|403'; do
		IFS='|' read -r mode more code <<<"${row//PORT/$PORT}"
		# shellcheck disable=SC2086
		start --mode "$mode" --allow-private 127.0.0.1 $more
		answer=$(get "http://$ADDRESS" "$url")
		[ "${answer##* }" = "$code" ] || {
			echo "$row: $answer"
			return 1
		}
		stop TERM
	done
}

@test "open is not open to this machine and its networks, however the address is written" {
	[ "$(curl -sS "http://127.0.0.1:$PORT/a")" = 'GET /a' ] # the control
	start --mode open
	for host in 127.0.0.1 localhost 127.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.1. '[::1]' '[::ffff:127.0.0.1]' '[::ffff:7f00:1]' \
		0.0.0.0 '[::]' 0 169.254.169.254 10.0.0.1 192.168.1.1 172.16.0.1 100.64.0.1 '[fd00::1]' '[fe80::1]' '[64:ff9b::7f00:1]' \
		metadata.google.internal app.localhost; do
		for way in GET CONNECT; do
			target=http://$host:$PORT/a
			[ "$way" = GET ] || target=$host:$PORT
			run python3 - "$ADDRESS" "$way $target HTTP/1.1\\r\\nHost: $host:$PORT\\r\\n\\r\\n" <<-'EOF2'
			import socket, sys
			host, port = sys.argv[1].split(':')
			s = socket.create_connection((host, int(port)), 20)
			s.sendall(sys.argv[2].replace('\\r\\n', '\r\n').encode())
			print(s.recv(4096).decode('latin-1'))
			EOF2
			[[ $output == 'HTTP/1.1 40'[03]* ]] || {
				echo "$way $host: $output"
				return 1
			}
		done
	done
	stop TERM
}

@test "the log: a line for each request, with rule and remedy, in a file of this user's" {
	start "${LOCAL[@]}" --log requests.ndjson
	get "http://$ADDRESS" "http://127.0.0.1:$PORT/a" >/dev/null
	get "http://$ADDRESS" -p "http://127.0.0.1:$PORT/a" >/dev/null
	get "socks5h://$ADDRESS" "http://127.0.0.1:$PORT/a" >/dev/null
	get "http://$ADDRESS" http://evil.example/x >/dev/null
	get "socks5h://$ADDRESS" http://evil.example/x >/dev/null
	stop TERM
	[ "$(stat -c %a requests.ndjson)" = 600 ]
	[ "$(wc -l <requests.ndjson)" -eq 5 ]
	jq -se 'map(.method) == ["GET", "CONNECT", "SOCKS5", "GET", "SOCKS5"]' requests.ndjson
	jq -se 'map(.allowed) == [true, true, true, false, false]' requests.ndjson
	jq -se 'map(.status) == [200, 200, 200, 403, 403]' requests.ndjson
	jq -se '.[3] | .host == "evil.example" and .port == 80 and (.rule | test("no entry")) and .remedy == "--allow evil.example"' requests.ndjson
	jq -se 'all(.[]; .time | test("^20..-..-..T..:..:..\\....Z$"))' requests.ndjson
}

@test "a command: its variables, its code, its signal; and the proxy ends with it" {
	export HTTP_PROXY=http://192.0.2.1:1
	run --separate-stderr "$CORDON" proxy "${LOCAL[@]}" -- sh -c 'env | grep -c ^HTTP_PROXY=; curl -sS -m 20 --noproxy "" "$1"; exit 7' sh \
		"http://127.0.0.1:$PORT/a"
	[ "$status" -eq 7 ]
	[ "$output" = $'1\nGET /a' ]
	run --separate-stderr "$CORDON" proxy -- sh -c 'kill -15 $$'
	[ "$status" -eq 143 ]
	run -127 --separate-stderr "$CORDON" proxy -- ./no-such-command
	[ "$status" -eq 127 ]
	touch plain
	run --separate-stderr "$CORDON" proxy -- ./plain
	[ "$status" -eq 126 ]
	# A signal to us is one to it.
	"$CORDON" proxy -- sh -c 'trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.05; done' >said 3>&- &
	PROXY_PID=$!
	wait_for grep -q ready said
	code=0
	stop TERM || code=$?
	[ "$code" -eq 9 ]
	grep -qx told said
}

@test "--unix: for this user alone, gone at the end, a stale one is no obstacle, anything else is" {
	start "${LOCAL[@]}" --unix p.sock
	[ "$(stat -c %a p.sock)" = 600 ]
	[ "$(wc -l <out)" -eq 1 ]
	[ "$(curl -sS -m 20 --unix-socket p.sock --request-target "http://127.0.0.1:$PORT/a" "http://127.0.0.1:$PORT/")" = 'GET /a' ]
	run "$CORDON" proxy --unix p.sock
	[ "$status" -eq 125 ]
	[[ $output == *'is already there'* ]]
	stop TERM
	[ ! -e p.sock ]
	start --unix p.sock
	kill -9 "$PROXY_PID"
	wait_for test -S p.sock
	wait_for bash -c '! curl -sS -m 5 --unix-socket p.sock http://x/ 2>/dev/null'
	start "${LOCAL[@]}" --unix p.sock
	[ "$(curl -sS -m 20 --unix-socket p.sock --request-target "http://127.0.0.1:$PORT/a" "http://127.0.0.1:$PORT/")" = 'GET /a' ]
	stop TERM
	echo precious >p.sock
	run "$CORDON" proxy --unix p.sock
	[ "$status" -eq 125 ]
	[ "$(cat p.sock)" = precious ]
}

@test "-p: the network of a policy, with its methods and paths" {
	cat >policy.yaml <<-EOF2
	cordon: 1
	sandbox:
	  capabilities:
	    network:
	      mode: allowlist
	      allowed_hosts: ["127.0.0.1:$PORT"]
	      allow_private: [127.0.0.1/32]
	      egress:
	        - {host: "127.0.0.1:$PORT", methods: [GET], paths: ["/v1/**"]}
	EOF2
	start -p policy.yaml
	[ "$(get "http://$ADDRESS" "http://127.0.0.1:$PORT/v1/a")" = 'GET /v1/a 200' ]
	[[ $(get "http://$ADDRESS" "http://127.0.0.1:$PORT/v2/a") == *'network.egress'*' 403' ]]
	[[ $(get "http://$ADDRESS" -X DELETE "http://127.0.0.1:$PORT/v1/a") == *'network.egress'*' 403' ]]
	stop TERM
	printf 'cordon: 1\nsandbox:\n  capabilities:\n    network: {mode: deny}\n' >deny.yaml
	start -p deny.yaml
	[[ $(get "http://$ADDRESS" "http://127.0.0.1:$PORT/v1/a") == *' 403' ]]
	stop TERM
}

@test "a process of it that dies takes the rest along; without its owner it ends too" {
	start "${LOCAL[@]}"
	kill -9 "$(pgrep -P "$PROXY_PID")"
	code=0
	wait "$PROXY_PID" || code=$?
	PROXY_PID=
	[ "$code" -eq 125 ]
	grep -q 'ended by itself' err
	start "${LOCAL[@]}"
	worker=$(pgrep -P "$PROXY_PID")
	kill -9 "$PROXY_PID"
	PROXY_PID=
	wait_for is_gone "$worker"
	run curl -sS -m 5 -x "http://$ADDRESS" "http://127.0.0.1:$PORT/a" --noproxy ''
	[ "$status" -eq 7 ]
}

@test "as many processes as the connections need descriptors for" {
	(
		ulimit -n 1024
		start --json --connections 1000
		[ "$(jq .processes out)" -ge 2 ]
		stop TERM
	)
	run bash -c 'ulimit -n 512; "$0" proxy --connections 100000' "$CORDON"
	[ "$status" -eq 125 ]
	[[ $output == *'need more than'*'ulimit'* ]]
}

@test "wrong words: one line, and nothing is started" {
	for words in '--listen 0.0.0.0:0' '--listen 192.0.2.1:80' '--listen example.org:80' '--listen 127.0.0.1' '--listen 127.0.0.1:99999' \
		'--mode shut' '--mode open --allow x.example' '--mode closed --allow x.example' '--allow http://x.example/' '--allow *' \
		'--allow *.com' '--block 10.*' '--allow-private 10.0.0.1/8' '--unix p --listen 127.0.0.1:0' '--unix p -- true' '--json -- true' \
		'-p none.yaml' '-p none.yaml --mode open' '-p none.yaml --dev' '--connections 0' '--connections 1000000' '--log /nonexistent/x'; do
		set -f
		# shellcheck disable=SC2086
		run timeout 20 "$CORDON" proxy $words
		set +f
		[[ $status -eq 125 && $(grep -c '^cordon: proxy: ' <<<"$output") -eq 1 && $(grep -cv '^cordon: proxy: \|^cordon: hint: ' <<<"$output") -eq 0 ]] || {
			echo "$words: $status $output"
			return 1
		}
	done
	[ ! -e p ]
}

# A server that speaks TLS, with a certificate of an authority of the test; PORT in tls.port.
serve_tls() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test -addext basicConstraints=critical,CA:TRUE \
		-keyout ca.key -out ca.pem 2>/dev/null
	openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout leaf.key -out leaf.csr 2>/dev/null
	printf 'subjectAltName=IP:127.0.0.1\n' >leaf.ext
	openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile leaf.ext -out leaf.pem 2>/dev/null
	sed 's/^s.serve_forever/import ssl\nc = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\nc.load_cert_chain("leaf.pem", "leaf.key")\ns.socket = c.wrap_socket(s.socket, server_side=True)\ns.serve_forever/' \
		"$BATS_FILE_TMPDIR/server.py" >tls.py
	python3 tls.py >tls.port 3>&- &
	TLS_PID=$!
	wait_for test -s tls.port
	TLS=$(cat tls.port)
	cat >policy.yaml <<-EOF
	cordon: 1
	sandbox:
	  capabilities:
	    network:
	      mode: allowlist
	      allowed_hosts: ["127.0.0.1:$TLS"]
	      allow_private: [127.0.0.1/32]
	      egress:
	        - {host: "127.0.0.1:$TLS", methods: [GET], paths: ["/v1/**"]}
	EOF
}

@test "proxy: methods and paths hold inside of TLS with --ca-file" {
	serve_tls
	export CORDON_CA_FILE=$PWD/ca.pem
	url=https://127.0.0.1:$TLS
	[ "$(curl -sS --cacert ca.pem "$url/v2/a")" = "GET /v2/a" ]
	# Without it nobody could read the requests: refused, with a word at the start and one in the log.
	run --separate-stderr "$CORDON" proxy -p policy.yaml --log log -- sh -c 'env -u no_proxy -u NO_PROXY curl -sS --cacert ca.pem "$0/v1/a"' "$url"
	[ "$status" -ne 0 ]
	[[ $output != *"GET /v1"* ]]
	[[ $stderr == *"--ca-file"* ]]
	grep -q '"remedy":"end it in the proxy (--ca-file)"' log
	rm log
	run --separate-stderr "$CORDON" proxy -p policy.yaml --ca-file own.pem --log log -- \
		sh -c 'unset no_proxy NO_PROXY; curl -sS "$0/v1/a"; echo; curl -sS "$0/v2/a"; echo; curl -sS -X DELETE "$0/v1/a"; echo; echo "$SSL_CERT_FILE"' "$url"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "GET /v1/a" ]
	[[ ${lines[1]} == *'"error"'*egress* ]]
	[[ ${lines[2]} == *'"error"'*egress* ]]
	[ "${lines[3]}" = "$PWD/own.pem" ]
	[ -z "$stderr" ]
	[ "$(jq -s '[.[] | select(.method == "GET" and .allowed)] | length' log)" -ge 1 ]
	[ "$(jq -s '[.[] | select(.status == 403)] | length' log)" -eq 2 ]
	# What the server shows is checked against the caller's bundle, and the file holds no key.
	run -1 grep -q KEY own.pem
	run env -u CORDON_CA_FILE "$CORDON" proxy -p policy.yaml --ca-file own.pem -- sh -c 'unset no_proxy NO_PROXY; curl -sS "$0/v1/a"' "$url"
	[[ $output != *"GET /v1/a"* ]]
	[[ $output == *"TLS is not good"* ]]
	# As many processes as descriptors ask for, each with an authority of its own.
	run bash -c 'ulimit -n 1024; "$0" proxy -p policy.yaml --ca-file many.pem --connections 1000 -- sh -c "unset no_proxy NO_PROXY; for i in 1 2 3 4 5 6 7 8; do curl -sS $1/v1/\$i; echo; done"' \
		"$CORDON" "$url"
	[ "$(grep -c "GET /v1/" <<<"$output")" -eq 8 ]
	[ "$(grep -c BEGIN many.pem)" -ge 3 ] # the test's and at least two
	kill "$TLS_PID"
}

@test "proxy: what --ca-file and secrets cannot mean is an error" {
	run "$CORDON" proxy --allow example.org --ca-file own.pem -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *"means nothing here"* ]]
	printf 'cordon: 1\nsandbox:\n  capabilities:\n    network: {mode: allowlist, allowed_hosts: [example.org]}\n    secrets: {grants: [{name: TOKEN}]}\n' >grants.yaml
	run "$CORDON" proxy -p grants.yaml -- touch ran
	[ "$status" -eq 125 ]
	[[ $output == *"secrets at the boundary"* ]]
	[ ! -e ran ]
	[ ! -e own.pem ]
}
