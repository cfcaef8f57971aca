#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for another shell; each test is its own; variables of scene.bash
# What a sandbox that stays is given of the host: secrets in files, ports, sockets.

load scene
load sandboxes

# Beside what sandboxes.bash removes: the server of a test that failed.
eval "sandboxes_$(declare -f teardown)"
teardown() {
	[ -z "${server-}" ] || kill "$server" 2>/dev/null || true
	sandboxes_teardown
}

# A server of the host's loopback that says "host"; its port in $port.
serve() {
	python3 -u -c 'import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"host")
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H); print(s.server_address[1]); s.serve_forever()' >"$PLACE/port" 2>/dev/null 3>&- &
	server=$!
	until_true test -s "$PLACE/port"
	port=$(cat "$PLACE/port")
}

@test "sandbox: stored secrets in files are there for every call, and go with it" {
	value=hunter2-4f9c1d77aa-Zq
	for who in $WHO; do
		cd "$PLACE/$who/w"
		printf 'sandbox: {capabilities: {secrets: {injection: file-mount}}}\n' >"$PLACE/$who/files.yaml"
		printf %s "$value" | as "$who" "$PLACE/cordon" secret set TOKEN
		id=$(box "$who" create)
		box "$who" exec "$id" sh -c '! test -e /run/cordon/secrets' # the control
		box "$who" rm "$id"
		id=$(box "$who" create -p "$PLACE/$who/files.yaml" --secret TOKEN)
		for _ in 1 2; do
			[ "$(box "$who" exec "$id" sha256sum /run/cordon/secrets/TOKEN | cut -d ' ' -f 1)" = "$(printf %s "$value" | sha256sum | cut -d ' ' -f 1)" ]
		done
		run box "$who" exec "$id" cat /run/cordon/secrets/TOKEN
		[[ $output != *"$value"* ]]
		# It was ended and started again: they are there as before.
		box "$who" discard "$id"
		box "$who" exec "$id" test -s /run/cordon/secrets/TOKEN
		keeper=$(field "$who" "$id" keeper)
		run grep -qaF "$value" "/proc/$keeper/environ"
		[ "$status" -eq 1 ]
		run grep -rlaF "$value" "$PLACE/$who"
		[ "$status" -eq 1 ]
		box "$who" rm --force "$id"
	done
}

@test "sandbox: a call that is held tighter has neither secrets in files nor sockets of the host" {
	who=self
	cd "$PLACE/$who/w"
	printf 'import socket\nsocket.socket().connect_ex(("192.0.2.1", 80))\n' >odd.py
	printf 'sandbox: {capabilities: {secrets: {injection: file-mount}}}\n' >"$PLACE/$who/files.yaml"
	printf 'a value of some length 1' | as "$who" "$PLACE/cordon" secret set TOKEN
	python3 "$BATS_TEST_DIRNAME/sockets.py" serve "$PLACE/$who/out/s" >/dev/null 2>&1 3>&- &
	server=$!
	until_true test -S "$PLACE/$who/out/s"
	for grant in "-p $PLACE/$who/files.yaml --secret TOKEN" "--allow-socket $PLACE/$who/out/s"; do
		# shellcheck disable=SC2086 # words
		id=$(box "$who" create --enforce $grant)
		box "$who" exec "$id" true # the control: one that is SAFE
		run box "$who" exec "$id" python3 odd.py
		echo "$output"
		[ "$status" -eq 126 ]
		[[ $output == *"neither its secrets nor a socket"* ]]
		box "$who" rm --force "$id"
	done
	id=$(box "$who" create --enforce)
	run box "$who" exec "$id" python3 odd.py
	[ "$status" -ne 126 ]
	box "$who" rm --force "$id"
	kill "$server"
}

@test "sandbox: a published port reaches what a call left behind, and a granted one the host" {
	serve
	for who in $WHO; do
		cd "$PLACE/$who/w"
		free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
		id=$(box "$who" create --publish "$free:8000" --allow-port "$port")
		box "$who" exec -c 'echo inside >page; setsid python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &' "$id"
		until_true eval '[ "$(curl -sS -m 5 "http://127.0.0.1:$free/page" 2>/dev/null)" = inside ]'
		[ "$(box "$who" exec "$id" curl -sS -m 10 --noproxy "*" "http://127.0.0.1:$port/")" = host ]
		# Paused it does not answer; afterwards it does.
		box "$who" pause "$id"
		run curl -sS -m 1 "http://127.0.0.1:$free/page"
		[ "$status" -ne 0 ]
		box "$who" resume "$id"
		[ "$(curl -sS -m 10 "http://127.0.0.1:$free/page")" = inside ]
		box "$who" rm --force "$id"
		run curl -sS -m 5 "http://127.0.0.1:$free/page"
		[ "$status" -ne 0 ]
		# Without the grants neither is there.
		id=$(box "$who" create)
		run box "$who" exec "$id" curl -sS -m 5 --noproxy "*" "http://127.0.0.1:$port/"
		[ "$status" -ne 0 ]
		box "$who" rm --force "$id"
	done
	kill "$server"
}

@test "sandbox: a port that is taken is told when it is made, and nothing is left" {
	serve
	cd "$PLACE/self/w"
	run box self create --publish "$port:8000"
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"$port"* ]]
	[ -z "$(keepers self)" ]
	[ "$(box self list | wc -l)" -eq 1 ]
	kill "$server"
}

@test "sandbox: a granted socket of the host, and no other" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		cp "$BATS_TEST_DIRNAME/sockets.py" .
		as "$who" python3 sockets.py serve "$PLACE/$who/out/a" "$PLACE/$who/out/b" >/dev/null 2>&1 3>&- &
		server=$!
		until_true test -S "$PLACE/$who/out/b"
		id=$(box "$who" create --allow-socket "$PLACE/$who/out/a")
		for _ in 1 2; do
			[ "$(box "$who" exec "$id" python3 sockets.py ask "$PLACE/$who/out/a")" = a:hello ]
			run box "$who" exec "$id" python3 sockets.py ask "$PLACE/$who/out/b"
			[ "$status" -ne 0 ]
		done
		[ "$(as "$who" python3 sockets.py ask "$PLACE/$who/out/b")" = b:hello ] # the control
		box "$who" rm --force "$id"
		kill "$server"
	done
}
