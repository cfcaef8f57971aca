#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the report of a call in a sandbox that stays tells: what this call changed, was refused and opened.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031 # bats sets stderr; scripts for shells inside; each test is its own
bats_require_minimum_version 1.5.0
load scene
load sandboxes

# told USER SCRIPT: runs it in $id; afterwards $report has the report.
told() {
	report=$PLACE/report-$1
	as "$1" env XDG_RUNTIME_DIR="$PLACE/$1/run" "$PLACE/cordon" sandbox exec --report fd:9 -c "$2" "$id" 9>"$report" >/dev/null 2>"$PLACE/said" || true
}

# is JQ EXPECTED: of the report.
is() {
	local got
	got=$(jq -rc "$1" "$report")
	[ "$got" = "$2" ] || {
		echo "$1: got $got, want $2"
		cat "$PLACE/said"
		return 1
	}
}

CHANGES='[.changes[] | .op + " " + .path] | sort'

@test "sandbox exec: the report has what this call changed, and not what others did" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		as "$who" sh -c 'echo a >a; echo b >b; mkdir -p old/deep; echo o >old/deep/f'
		id=$(box "$who" create)
		told "$who" 'echo x >new; echo y >>a; rm b; mkdir -p d/e; echo z >d/e/f; rm -r old'
		is "$CHANGES" '["added d/e/f","added new","deleted b","deleted old/deep/f","modified a"]'
		is '.isolation.achieved.untracked | index("changes")' null
		told "$who" true
		is "$CHANGES" '[]'
		told "$who" 'echo more >>new; rm d/e/f; echo again >b'
		is "$CHANGES" '["deleted d/e/f","modified b","modified new"]'
		told "$who" 'mv new moved; chmod 600 a'
		is "$CHANGES" '["added moved","deleted new","modified a"]'
		# With all of them the diff says the same as ever.
		[ "$(box "$who" diff "$id" | grep -c .)" -eq 5 ]
		box "$who" rm --force "$id"
	done
}

@test "sandbox exec: what is more than can be told is not said to be nothing" {
	cd "$PLACE/self/w"
	id=$(box self create)
	told self 'mkdir many && cd many && seq 20001 | xargs touch'
	is '.isolation.achieved.untracked | index("changes") != null' true
	told self 'echo x >one'
	is '.isolation.achieved.untracked | index("changes") != null' true
	told self 'rm -r many'
	told self 'echo x >two'
	is "$CHANGES" '["added two"]'
	is '[.verdict.findings[].rule]' '[]'
}

@test "sandbox exec: a directory that cannot be looked at hides nothing else" {
	DEEP='i=0; while [ $i -lt 210 ]; do mkdir d && cd d || exit; i=$((i+1)); done'
	for who in $WHO; do
		for hides in 'mkdir shut && echo x >shut/f && chmod 000 shut' "$DEEP"; do
			[ "$who:${hides%% *}" != self:mkdir ] || [ "$(id -u)" -ne 0 ] || continue # nothing is closed to root
			cd "$PLACE/$who/w"
			id=$(box "$who" create)
			told "$who" "$hides"
			told "$who" 'echo x >plain; echo KEY=1 >.env.local'
			is '.isolation.achieved.untracked | index("changes") != null' true
			is '[.verdict.findings[].rule] | index("changes-not-seen") != null' true
			is '[.verdict.findings[].rule] | index("sensitive-file-changed") != null' true
			is '[.changes[] | select(.path == "plain" or .path == ".env.local") | .op]' '["added","added"]'
			told "$who" 'rm plain'
			is '[.changes[] | select(.path == "plain") | .op]' '["deleted"]'
			is '[.changes[] | select(.path == ".env.local")]' '[]'
			told "$who" 'chmod 700 shut; true'
			box "$who" rm --force "$id"
		done
	done
}

@test "sandbox exec: what is refused is told with its rule" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		mkdir -p hidden
		echo x >hidden/f
		scene_give "$who"
		id=$(box "$who" create -x hidden)
		cat hidden/f >/dev/null # the control
		told "$who" 'cat hidden/f; echo x >/etc/cordon-test; echo x >ordinary'
		is '[.denied[] | .kind + " " + .access + " " + (.target | sub(".*/w/"; ""))] | sort' '["path read hidden/f","path write /etc/cordon-test"]'
		is '[.denied[] | .rule != "" and .remedy != ""] | all' true
		told "$who" 'cat ordinary'
		is '.denied' '[]'
		box "$who" rm --force "$id"
	done
}

@test "sandbox exec: files with secrets that it opens or changes are told and remembered" {
	for who in $WHO; do
		cd "$PLACE/$who/w"
		as "$who" sh -c 'echo KEY=1 >.env; echo x >plain'
		id=$(box "$who" create)
		# By a name that the words of the call do not give away.
		told "$who" 'cat plain'
		is '.opened' '[]'
		told "$who" 'cat .e*v'
		is '.opened | map(sub(".*/w/"; ""))' '[".env"]'
		told "$who" 'true'
		is '[.verdict.findings[].rule] | index("session-tainted") != null' true
		# The copy in the change set is watched like the host's.
		told "$who" 'echo KEY=2 >>.e*v'
		is "$CHANGES" '["modified .env"]'
		is '[.verdict.findings[].rule] | index("sensitive-file-changed") != null' true
		told "$who" 'cat .e*v'
		is '.opened | map(sub(".*/w/"; ""))' '[".env"]'
		told "$who" 'mkdir sub; echo KEY=3 >sub/.env'
		told "$who" 'cat sub/.e*v'
		is '.opened | map(sub(".*/w/"; ""))' '["sub/.env"]'
		box "$who" rm --force "$id"
	done
}

@test "sandbox exec: a file with secrets that gets another name counts as opened, one that is removed does not" {
	for backend in native landlock; do
		cd "$PLACE/self/w"
		rm -rf z && mkdir z && echo KEY=1 >z/.env
		id=$(box self create -b "$backend") || { [ "$backend" = landlock ] && continue; }
		told self 'echo KEY=2 >z/.env.more; echo KEY=3 >z/.env.other'
		told self 'rm z/.env.mor[e]'
		is .opened '[]'
		told self 'mv z/.env.othe[r] z/notes'
		is '.opened | map(sub(".*/w/"; ""))' '["z/.env.other"]'
		told self 'mv z/.en[v] z/more'
		is '.opened | map(sub(".*/w/"; ""))' '["z/.env"]'
		box self rm --force "$id"
	done
}

@test "sandbox exec: more names of secrets than can be watched count as one that was opened" {
	TAINTED='[.verdict.findings[].rule] | index("session-tainted") != null'
	for where in host inside; do
		cd "$PLACE/self/w"
		rm -rf a
		mkdir -p a z && echo KEY=1 >z/.env
		[ "$where" = inside ] || (cd a && seq -f %g.key 4200 | xargs touch)
		id=$(box self create)
		[ "$where" = host ] || {
			told self 'for i in $(seq 300); do : >a/$i.key; done'
			told self true
			is "$TAINTED" false # the control
			is '.isolation.achieved.untracked | index("opened") != null' false
			told self 'for i in $(seq 301 4200); do : >a/$i.key; done'
			is '.opened' '[]'
		}
		told self 'echo v >v; cat z/.en$(cat v)' # a name that no words tell
		is '.isolation.achieved.untracked | index("opened") != null' true
		told self true
		is "$TAINTED" true
		box self rm --force "$id"
	done
}

@test "sandbox exec: a copy hides no secret where it cannot be looked at" {
	TAINTED='[.verdict.findings[].rule] | index("session-tainted") != null'
	cd "$PLACE/self/w"
	mkdir -p z && echo KEY=1 >z/.env
	id=$(box self create -b landlock) || skip "no landlock"
	told self 'i=0; while [ $i -lt 150 ]; do mkdir d && cd d || exit; i=$((i+1)); done'
	told self true
	is "$TAINTED" false # the control
	told self 'top=$PWD; i=0; while [ $i -lt 150 ]; do cd d || exit; i=$((i+1)); done; mkdir -p $(seq -s/ 70) && mv "$top/z" $(seq -s/ 70)/z'
	told self 'cat $(find . -name ".en[v]")'
	is .result.exit_code 0
	told self true
	is "$TAINTED" true
	box self rm --force "$id"
}

# plant: what makes src, which is there, a repository; FSM what it says git is to run.
plant='git init -q --bare r && rm -rf r/hooks && mv r/* src/ && rmdir r'
FSM='printf "[core]\n\tfsmonitor = touch PWNED\n" >>src/config'

@test "sandbox: a repository in a directory that was there is told of, by the call and by the commit" {
	for backend in native landlock; do
		cd "$PLACE/self/w"
		rm -rf src own && mkdir src && echo x >src/code
		# What is the person's own stays it, with its hooks.
		git init -q own && install -m 755 /dev/null own/.git/hooks/post-commit && git -C own -c user.email=a@b -c user.name=a commit -q --allow-empty -m x
		id=$(box self create -b "$backend") || { [ "$backend" = landlock ] && continue; }
		told self 'git -C own checkout -q --detach; echo y >src/code' # the control
		is '[.verdict.findings[] | select(.rule == "new-git-directory")]' '[]'
		told self "$plant"
		is '[.verdict.findings[] | select(.rule == "new-git-directory") | .level]' '["LOW"]'
		run ! grep 'git runs' "$PLACE/said"
		told self "$FSM"
		is '[.verdict.findings[] | select(.rule == "new-git-directory") | .level]' '["MEDIUM"]'
		grep "exec: git runs commands (core.fsmonitor=touch PWNED) for the new 'src'" "$PLACE/said"
		box self commit "$id" 2>"$PLACE/said"
		cat "$PLACE/said"
		[ "$(grep -c 'src: a new repository in which git runs commands: core.fsmonitor=touch PWNED' "$PLACE/said")" -eq 1 ]
		run ! grep 'own.*a new repository' "$PLACE/said"
		box self rm --force "$id"
	done
}

@test "sandbox commit: a repository that comes in parts is told of with the last" {
	cd "$PLACE/self/w"
	rm -rf src && mkdir src
	id=$(box self create)
	told self "$plant; sed -i /repositoryformatversion/d src/config; $FSM"
	box self commit "$id" src/config 2>"$PLACE/said"
	run ! grep 'git runs' "$PLACE/said" # it is no repository yet
	box self commit "$id" src/objects src/refs 2>"$PLACE/said"
	run ! grep 'git runs' "$PLACE/said"
	box self commit "$id" src/HEAD 2>"$PLACE/said" # a file, in a directory that was there
	grep 'src: a new repository in which git runs commands: core.fsmonitor' "$PLACE/said"
	box self rm --force "$id"
}

@test "sandbox exec: a SUSPICIOUS call gets no network, and can be taken back" {
	cat >"$PLACE/reach.py" <<'END'
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM).close()
        print("open", end=" ")
    except OSError:
        print("closed", end=" ")
socket.socketpair()
print("pair")
END
	for who in $WHO; do
		cd "$PLACE/$who/w"
		cp "$PLACE/reach.py" .
		as "$who" sh -c 'echo old >f'
		# The control: in dry run nothing is done about a verdict.
		id=$(box "$who" create --dry-run --net allow-all)
		told "$who" 'python3 reach.py >seen'
		is .verdict.verdict SUSPICIOUS
		is '.checkpoint' null
		[ "$(box "$who" exec "$id" cat seen)" = "open open open pair" ]
		box "$who" rm --force "$id"
		id=$(box "$who" create --enforce --net allow-all)
		box "$who" exec -c 'echo one >f' "$id"
		told "$who" 'python3 reach.py >seen; echo two >f'
		is .verdict.verdict SUSPICIOUS
		is .verdict.dry_run false
		is .result.exit_code 0
		is .verdict.constrain.network deny
		is '.verdict.constrain.backend' native
		[ "$(box "$who" exec "$id" cat seen)" = "closed closed closed pair" ]
		checkpoint=$(jq -r .checkpoint "$report")
		box "$who" exec "$id" grep -q two f
		box "$who" restore "$id" "$checkpoint"
		[ "$(box "$who" exec "$id" cat f)" = one ]
		box "$who" rm --force "$id"
		# What the policy names for such calls a sandbox cannot be held to.
		printf 'enforcement: {enabled: true, suspicious: {Bash: {filesystem_writable: ["/tmp"]}}}\n' >"$PLACE/named.yaml"
		id=$(box "$who" create -p "$PLACE/named.yaml" --enforce)
		told "$who" 'touch made; python3 reach.py'
		is '.denied[0].kind' verdict
		[ -z "$(box "$who" diff "$id")" ]
		box "$who" rm --force "$id"
	done
}

@test "sandbox exec: a tainted session loses an open network" {
	cd "$PLACE/self/w"
	echo KEY=1 >.env
	printf 'import socket\ntry:\n    socket.socket()\n    print("open")\nexcept OSError:\n    print("closed")\n' >reach.py
	id=$(box self create --net allow-all)
	[ "$(box self exec "$id" python3 reach.py)" = open ]
	told self 'cat .e*v'
	[ "$(box self exec "$id" python3 reach.py)" = closed ]
}

@test "sandbox exec: stored secrets are in the environment of each call, and nowhere else" {
	value=hunter2-4f9c1d77aa-Zq
	for who in $WHO; do
		cd "$PLACE/$who/w"
		printf 'sandbox: {capabilities: {secrets: {injection: environment}}}\n' >"$PLACE/$who/environment.yaml"
		printf %s "$value" | as "$who" "$PLACE/cordon" secret set TOKEN
		id=$(box "$who" create)
		[ "$(box "$who" exec -c 'printf %s "${TOKEN-none}"' "$id")" = none ] # the control
		box "$who" rm "$id"
		id=$(box "$who" create -p "$PLACE/$who/environment.yaml" --secret TOKEN)
		[ "$(box "$who" exec -c 'printf %s "$TOKEN" | sha256sum' "$id")" = "$(printf %s "$value" | sha256sum)" ]
		# Taken out of what is printed, now and later.
		run box "$who" exec -c 'echo "$TOKEN"; (sleep 1; echo "late $TOKEN") &' "$id"
		[[ $output != *"$value"* ]]
		until_true eval 'box "$who" logs "$id" | grep -q "not kept"'
		run grep -rlaF "$value" "$PLACE/$who"
		[ "$status" -eq 1 ]
		box "$who" rm --force "$id"
	done
}

@test "sandbox exec: a call that is held tighter has no company, and no grant beside the change set" {
	cat >"$PLACE/relay.py" <<'END'
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/relay")
s.listen()
if os.fork():
    os._exit(0)
os.setsid()
for fd in range(3):
    os.close(fd)
while True:
    c, _ = s.accept()
    socket.socket().close()
    c.send(b"reached " + os.environb.get(b"CORDON_ID", b"")[:3])
END
	cat >"$PLACE/ask.py" <<'END'
import socket
try:
    socket.socket()
except OSError:
    pass
s = socket.socket(socket.AF_UNIX)
s.connect("/tmp/relay")
open("got", "wb").write(s.recv(99))
END
	for who in $WHO; do
		cd "$PLACE/$who/w"
		cp "$PLACE"/{relay,ask}.py .
		# The control: in dry run the one hands it over to the other.
		id=$(box "$who" create --dry-run --net allow-all)
		box "$who" exec "$id" python3 relay.py
		told "$who" 'python3 ask.py'
		is .verdict.verdict SUSPICIOUS
		[[ $(box "$who" exec "$id" cat got) == reached* ]]
		box "$who" rm --force "$id"
		# Left by a call in dry run; then one that is enforced.
		id=$(box "$who" create --enforce --net allow-all)
		box "$who" exec --dry-run "$id" python3 relay.py
		told "$who" 'python3 ask.py'
		is .verdict.verdict SUSPICIOUS
		is '.denied[-1].rule | contains("runs alone")' true
		run box "$who" exec "$id" python3 ask.py
		[ "$status" -eq 126 ]
		[[ $output == *"end them"* ]]
		box "$who" exec -c '! test -e got' "$id"
		# Without them it runs.
		box "$who" exec -c 'kill $(grep -lz relay.py /proc/[2-9]*/cmdline | cut -d/ -f3) 2>/dev/null; true' "$id"
		told "$who" 'python3 ask.py; true'
		is .result.exit_code 0
		box "$who" rm --force "$id"
		# Where there is nothing to be handed over, company does no harm.
		id=$(box "$who" create --enforce --net deny)
		box "$who" exec -c 'setsid sleep 60 >/dev/null 2>&1 &' "$id"
		told "$who" 'python3 ask.py; true'
		is .result.exit_code 0
		box "$who" rm --force "$id"
		mkdir -p "$PLACE/$who/beside"
		scene_give "$who"
		id=$(box "$who" create --enforce --write "$PLACE/$who/beside")
		box "$who" exec -c "echo x >$PLACE/$who/beside/f" "$id" # the control
		told "$who" 'python3 ask.py; true'
		is '.denied[-1].target | endswith("/beside")' true
		box "$who" rm --force "$id"
	done
}
