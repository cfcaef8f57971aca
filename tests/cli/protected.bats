#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Protected directories: what is denied in them stays closed, what is excepted stays open, and repositories that a
# call makes are said.
# shellcheck disable=SC2016 # single quotes hold a script for an inner shell
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0
load scene

setup() {
	scene_make
}

teardown() {
	scene_remove
}

@test "a denied file in a protected directory stays closed, there or not" {
	for who in $WHO; do
		home=$PLACE/$who/home
		mkdir -p "$home"/{.claude,.cargo,.codex,.gemini,.config/git,.vscode/deep}
		for file in .claude/.credentials.json .cargo/credentials.toml .codex/auth.json .gemini/oauth_creds.json \
			.config/git/credentials .vscode/deep/token; do
			echo secret >"$home/$file"
		done
		echo plain >"$home/.vscode/settings.json"
		scene_give "$who"
		cd "$home" || return
		for file in .claude/.credentials.json .cargo/credentials.toml .codex/auth.json .gemini/oauth_creds.json \
			.config/git/credentials .vscode/deep/token; do
			[ "$(as "$who" cat $file)" = secret ]
			run inside "$who" --deny .vscode/deep/token -- cat $file
			[ "$status" -eq 1 ]
			[[ $output != *secret* ]]
		done
		[ "$(inside "$who" -- cat .vscode/settings.json)" = plain ]
		run inside "$who" --deny .vscode/missing -- sh -c 'echo x >.vscode/missing'
		[ "$status" -ne 0 ]
		run inside "$who" -- sh -c 'echo x >.vscode/settings.json || echo x >.vscode/new || mkdir .claude/hooks || mv .vscode v'
		[ "$status" -ne 0 ]
		[ "$(cat "$home/.vscode/settings.json")" = plain ]
		[ ! -e "$home/.claude/hooks" ]
	done
}

@test ".claude/worktrees can be written, the rest of .claude cannot" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		as "$who" sh -ec 'git init -q .; echo a >a; git add a; git commit -qm 1; mkdir -p .claude/agents
			echo "{}" >.claude/settings.json; git worktree add -q .claude/worktrees/side -b side'
		inside "$who" -- sh -ec 'cd .claude/worktrees/side; echo b >>a; git commit -qam 2; mkdir ../other; echo x >../other/x'
		[ "$(as "$who" git -C .claude/worktrees/side log --oneline | wc -l)" -eq 2 ]
		[ -e .claude/worktrees/other/x ]
		for act in 'echo x >.claude/settings.json' 'echo x >.claude/new' 'mkdir .claude/hooks' 'echo x >.claude/agents/a' \
			'mv .claude c' 'rmdir .claude/agents' 'mv .claude/worktrees .claude/w2' 'rm -rf .claude/worktrees/side/.git' \
			'echo gitdir: /tmp >.claude/worktrees/side/.git'; do
			run inside "$who" -- sh -c "$act"
			[ "$status" -ne 0 ] || {
				echo "$act got through"
				return 1
			}
		done
		[ "$(cat .claude/settings.json)" = '{}' ]
		[ -s .claude/worktrees/side/.git ]
		as "$who" sh -ec 'echo y >.claude/new; rm .claude/new' # the control
	done
}

@test "a repository that a call makes is reported, and one that makes git run commands is warned of" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		as "$who" sh -ec 'git init -q .; echo a >a; git add a; git commit -qm 1; mkdir -p deep/er plain'
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- \
			sh -ec 'echo b >>a; git commit -qam 2'
		[ "$status" -eq 0 ]
		[[ $stderr != *warning* ]]
		jq -e '.verdict.findings == []' "$PLACE/$who/report"

		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- \
			sh -ec 'git init -q deep/er/quiet; git clone -q . copy'
		[ "$status" -eq 0 ]
		[[ $stderr != *warning* ]]
		jq -e '[.verdict.findings[] | select(.rule == "new-git-directory" and .level == "LOW") | .message] | length == 2' \
			"$PLACE/$who/report"

		# What a host would run: a nested repository with a monitor, added to the outer one.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- sh -ec '
			git init -q deep/n; cd deep/n; echo x >x; git add x; git commit -qm 1
			printf "#!/bin/sh\ntouch \"%s\"\n" "$1" >m; chmod 755 m; git config core.fsmonitor "$PWD/m"; cd ../..; git add deep/n 2>/dev/null' \
			sh "$PLACE/$who/out/owned"
		[ "$status" -eq 0 ]
		[[ $stderr == *"warning: run: new git directory '$PLACE/$who/w/deep/n/.git'"*core.fsmonitor=* ]]
		jq -e '.verdict.findings[] | select(.rule == "new-git-directory" and .level == "MEDIUM") |
			.snippet | startswith("core.fsmonitor=")' "$PLACE/$who/report"
		as "$who" git status --porcelain >/dev/null 2>&1
		[ -e "$PLACE/$who/out/owned" ] # that is why

		# A directory that was there becomes one; a hook; a module of the outer repository.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -ec '
			git init -q --bare plain; printf "#!/bin/sh\n" >plain/hooks/post-update; chmod 755 plain/hooks/post-update
			mkdir -p .git/modules/m/objects .git/modules/m/refs; echo "ref: refs/heads/x" >.git/modules/m/HEAD
			printf "[core]\n\tsshCommand = evil\n" >.git/modules/m/config'
		[ "$status" -eq 0 ]
		[[ $stderr == *"/w/plain'"*hooks/post-update* ]]
		[[ $stderr == *"/.git/modules/m'"*core.sshcommand=evil* ]]
		# Said once: now they are there, and protected.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -c 'echo x >deep/n/y; echo x >plain/z'
		[[ $stderr != *warning* ]]
		run inside "$who" -- sh -c 'echo x >>deep/n/.git/config'
		[ "$status" -ne 0 ]
	done
}

@test "a link that a call makes in a git directory is warned of: git writes where it leads" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		as "$who" sh -ec 'git init -q .; echo a >a; git add a; git commit -qm 1; git init -q --bare b.git; ln -s ORIG_HEAD .git/mine'
		as "$who" sh -c 'echo mine >"$1/startup"' sh "$PLACE/$who/out"
		sleep 3 # what was there before is not the call's
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- \
			sh -ec 'git commit -q --allow-empty -m 2; git branch x; ln -s a l; ln -s FETCH_HEAD .git/inside'
		[ "$status" -eq 0 ]
		[[ $stderr != *warning* ]]
		while IFS='|' read -r link target shown; do
			run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- \
				sh -ec 'rm -rf "$1"; ln -s "$2" "$1"' sh "$link" "${target/OUT/$PLACE/$who/out}"
			[ "$status" -eq 0 ]
			[[ $stderr == *"warning: run: git will write through a link"*"${shown:-$link -> $PLACE/$who/out/startup}"* ]]
			jq -e '[.verdict.findings[] | select(.rule == "link-in-git-directory" and .level == "MEDIUM")] | length == 1' \
				"$PLACE/$who/report"
			[ "$link" = .git/COMMIT_EDITMSG ] || as "$who" rm "$link"
		done <<-'EOT'
			.git/FETCH_HEAD|OUT/startup|FETCH_HEAD -> 
			.git/ORIG_HEAD|config|ORIG_HEAD -> 
			.git/MERGE_MSG|../.bashrc|MERGE_MSG -> 
			.git/logs/HEAD|OUT/startup|logs/HEAD -> 
			.git/refs/tags|OUT|refs/tags -> 
			.git/SQUASH_MSG|branches/x|SQUASH_MSG -> 
			b.git/refs/heads|OUT|refs/heads -> 
			.git/COMMIT_EDITMSG|OUT/startup|COMMIT_EDITMSG -> 
		EOT
		[ "$(cat "$PLACE/$who/out/startup")" = mine ]
		as "$who" git commit -q --allow-empty -m 'touch owned'
		[ "$(cat "$PLACE/$who/out/startup")" = 'touch owned' ] # that is why
		# Two calls make one of them.
		as "$who" rm .git/COMMIT_EDITMSG
		for step in 'mkdir .git/d; ln -s d/x .git/COMMIT_EDITMSG' 'ln -s "$1/startup" .git/d/x'; do
			run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -ec "$step" sh "$PLACE/$who/out"
			[ "$status" -eq 0 ]
			seen+=$stderr
		done
		[[ $seen == *"COMMIT_EDITMSG -> "* ]]
	done
}

@test "a repository that a call hides, and a tree that it gives another one, are warned of" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		as "$who" sh -ec 'git init -q .; echo a >a; git add a; git commit -qm 1; mkdir known; git init -q own; git -C own commit -q --allow-empty -m 1'
		sleep 3 # what was there before is not the call's
		# What git itself makes so is known by both ends.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- \
			sh -ec 'git worktree add -q side; git -C own worktree add -q "$PWD/wide"'
		[ "$status" -eq 0 ]
		[[ $stderr != *warning* ]]

		make='mkdir -p .git/out; git init -q t; git -C t commit -q --allow-empty -m 1; git -C t config core.fsmonitor "touch $2; false"
			git -C t config core.worktree "$PWD/$1"; mkdir -p "$1"; mv t/.git ".git/out/$1"; rm -r t'
		# Inside of the repository that is there nobody looks for one.
		while IFS='|' read -r tree point shown; do
			run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" --report "$PLACE/$who/report" -- \
				sh -ec "$make; $point" sh "$tree" "$PLACE/$who/out/owned"
			[ "$status" -eq 0 ]
			[[ $stderr == *"warning: run: new '$PLACE/$who/w/$tree/.git' has git use another place: $PLACE/$who/w/"*core.fsmonitor=* ]]
			jq -e '.verdict.findings[] | select(.rule == "new-git-directory" and .level == "MEDIUM")' "$PLACE/$who/report"
			rm -f "$PLACE/$who/out/owned"
			as "$who" git -C "$tree" status >/dev/null 2>&1 || true
			[ -e "$PLACE/$who/out/owned" ] # that is why
		done <<-'EOT'
			new|echo "gitdir: ../.git/out/$1" >new/.git
			link|ln -s ../.git/out/link link/.git
			known|printf 'gitdir: %s\n' "$PWD/.git/out/known" >known/.git
		EOT
		# One that is somebody's already runs from there what a name in its configuration means here.
		as "$who" git -C own config core.hooksPath .hooks
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- \
			sh -ec 'mkdir -p other/.hooks; echo "gitdir: ../own/.git" >other/.git; echo "#!/bin/sh" >other/.hooks/pre-commit; chmod 755 other/.hooks/pre-commit'
		[[ $stderr == *"/w/other/.git' has git use another place: $PLACE/$who/w/own/.git, which runs commands: core.hookspath=.hooks"* ]]
		# Said once, and a pointer that is there is protected.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -c 'echo x >other/x; echo >new/.git'
		[ "$status" -ne 0 ]
		[[ $stderr != *"another place"* ]]
	done
}

@test "a repository that a call makes is told of by what it shares and where its files are" {
	for who in $WHO; do
		cd "$PLACE/$who/w" || return
		# Its configuration lies beside it, in a directory that is no repository by itself.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -ec '
			mkdir -p n/.git store/objects store/refs; echo "ref: refs/heads/x" >n/.git/HEAD; echo ../../store >n/.git/commondir
			printf "[core]\n\tfsmonitor = %s\n" "touch $1; false" >store/config' sh "$PLACE/$who/out/shared"
		[ "$status" -eq 0 ]
		[[ $stderr == *"/w/n/.git'"*core.fsmonitor=* ]]
		as "$who" git -C n status >/dev/null 2>&1 || true
		[ -e "$PLACE/$who/out/shared" ] # that is why

		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -ec '
			git init -q t; git -C t config core.worktree "$1"; git init -q u; git -C u config rebase.instructionFormat "%s%nexec id"' \
			sh "$PLACE/$who/out"
		[[ $stderr == *"/w/t/.git'"*core.worktree=* ]]
		[[ $stderr == *"/w/u/.git'"*rebase.instructionformat=* ]]

		# As submodules have it.
		run --separate-stderr as "$who" "$PLACE/cordon" run --backend "$BACKEND" -- sh -ec '
			git init -q --separate-git-dir=elsewhere v; git -C v config core.worktree ../v'
		[ "$status" -eq 0 ]
		[[ $stderr != *warning* ]]
	done
}

@test "a repository that comes into a large workspace which was seen before is noticed" {
	for who in $WHO; do
		work=$PLACE/$who/w
		mkdir -p "$work"/d{1..200}/sub
		scene_give "$who"
	done
	sleep 2.1 # what is younger is not remembered
	for who in $WHO; do
		work=$PLACE/$who/w
		cd "$work" || return
		inside "$who" -- true
		[ -n "$(ls "$PLACE/$who/state/walks")" ] || skip "the times of this file system are not believed"
		as "$who" git init -q d7/sub/repo
		# A directory that has been there all the time, under another name.
		as "$who" mv d8 d9/sub/moved
		as "$who" git init -q d9/sub/moved/sub
		for git in d7/sub/repo d9/sub/moved/sub; do
			as "$who" touch "$git/.git/hooks/control"
			run inside "$who" -- sh -c "echo x >$git/.git/hooks/post-commit"
			[ "$status" -ne 0 ]
			[ ! -e "$git/.git/hooks/post-commit" ]
			inside "$who" -- sh -c "echo x >$git/file"
		done
	done
}

@test "what is protected in a workspace that lies in a larger one which was seen before" {
	for who in $WHO; do
		work=$PLACE/$who/w
		mkdir -p "$work"/d{1..200} "$work"/sub/{rc,.claude}
		ln -s rc/zshrc "$work/sub/.zshrc"
		echo mine >"$work/sub/rc/zshrc"
		echo mine >"$work/sub/.bashrc"
		scene_give "$who"
	done
	sleep 2.1 # what is younger is not remembered
	for who in $WHO; do
		work=$PLACE/$who/w
		cd "$work" || return
		inside "$who" -- true
		[ -n "$(ls "$PLACE/$who/state/walks")" ] || skip "the times of this file system are not believed"
		cd sub || return
		inside "$who" -w "$work" -- sh -c 'echo x >rc/other'
		for name in rc/zshrc .bashrc; do
			as "$who" test -w "$name"
			run inside "$who" -w "$work" -- sh -c "echo hacked >$name"
			[ "$status" -ne 0 ]
			[ "$(cat "$name")" = mine ]
		done
	done
}

@test "names that do not exist are kept from a call, whether its namespaces were made ahead or not" {
	for who in $WHO; do
		mkdir -p "$PLACE/$who/empty"
		scene_give "$who"
		cd "$PLACE/$who/empty" || return
		for net in deny allow-all; do # with the host's network nothing is made ahead
			for act in 'mkdir .claude' 'echo x >.bashrc' 'echo x >.mcp.json'; do
				run inside "$who" --net "$net" -- sh -c "$act"
				[ "$status" -ne 0 ]
				[ -z "$(ls -A)" ]
				as "$who" sh -c "$act" # the control
				rm -rf .claude .bashrc .mcp.json
			done
		done
	done
}

@test "programs of the workspace that git's configuration names cannot be written" {
	for who in $WHO; do
		home=$PLACE/$who/home
		cd "$PLACE/$who/w" || return
		as "$who" sh -ec 'git init -q .; mkdir -p tools lib sub deep/repo; for f in watch clean ssh merge al cred; do printf "#!/bin/sh\n" >tools/$f; chmod 755 tools/$f; done
			git config core.fsmonitor ./tools/watch; git config filter.x.clean "tools/clean %f"; git config core.sshCommand "sh tools/ssh -v"
			git config merge.m.driver "\"\$PWD/tools/merge\" %O %A"; git config alias.st "!sh -c \"exec tools/al\""
			git config credential.helper "!\$(git rev-parse --show-toplevel)/tools/cred"
			git config diff.external "$PWD/lib/later"; git config include.path ../.gitconfig-project; git config core.hooksPath .githooks
			printf "[core]\n\tx = a\\\\\n[user]\n\tpager = tools/pager\n" >>.git/config; printf x >tools/pager
			printf "[gpg]\n\tprogram = ../deep/gpg\n" >.gitconfig-project; printf x >deep/gpg; printf x >top.py
			git config diff.t.textconv "python3 top.py"; git init -q deep/repo; git -C deep/repo config core.editor bin/ed'
		printf '[core]\n\teditor = tools/ed\n[alias]\n\tz = !./zz\n' >"$home/.gitconfig"
		printf 'x' >tools/ed
		scene_give "$who"
		mkdir deep/repo/bin
		printf x >deep/repo/bin/ed
		scene_give "$who"
		for act in 'echo x >tools/watch' 'echo x >>tools/clean' 'echo x >tools/ssh' 'echo x >tools/merge' 'echo x >tools/al' 'echo x >tools/cred' \
			'rm tools/watch' 'mv tools/clean tools/c' 'mv tools t' 'ln -f /bin/true tools/ssh' 'echo x >lib/later' 'mkdir .githooks' \
			'echo x >>.gitconfig-project' 'echo x >tools/pager' 'echo x >top.py' 'echo x >deep/repo/bin/ed' 'echo x >tools/ed' 'echo x >zz' 'echo x >deep/repo/zz'; do
			run inside "$who" -- sh -c "$act"
			[ "$status" -ne 0 ] || {
				echo "$act got through"
				return 1
			}
		done
		[ "$(cat tools/watch)" = '#!/bin/sh' ]
		# Beside them all is as ever, and they can be run.
		inside "$who" -- sh -ec 'tools/watch; echo x >tools/other; echo x >lib/other; echo y >deep/other; git -c core.fsmonitor=false -c core.hooksPath=/dev/null status >/dev/null'
		as "$who" sh -ec 'echo x >tools/watch; echo x >lib/later; mkdir .githooks' # the control
		rm -rf lib/later .githooks
		# In a part of a repository what the whole one names counts.
		as "$who" sh -ec 'mkdir -p sub/hooks; git config core.hooksPath sub/hooks; git config core.fsmonitor sub/watch; echo x >sub/watch'
		cd sub || return
		for act in 'echo x >hooks/pre-commit' 'echo x >watch'; do
			run inside "$who" -- sh -c "$act"
			[ "$status" -ne 0 ]
		done
		inside "$who" -- sh -c 'echo x >file'
		as "$who" sh -ec 'echo x >hooks/pre-commit; echo x >watch'
		# A policy that lets the configuration be written lets them be written too.
		cd .. || return
		printf 'cordon: 1\nsandbox: {capabilities: {git: {write_config: true}}}\n' >"$PLACE/$who/git.yaml"
		inside "$who" -p "$PLACE/$who/git.yaml" -- sh -c 'echo x >tools/clean'
	done
}

# Groups stay inside: nobody may give them up.  What they open of the machine's credentials is closed by name.
@test "credentials of the machine that a group of the caller opens stay closed" {
	group=$(stat -c %g /etc/shadow)
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot join a group"
	setpriv --reuid 65534 --regid 65534 --groups "$group" cat /etc/shadow >/dev/null || skip "no group may read /etc/shadow"
	cd "$PLACE/nobody/w" || return
	for name in native landlock; do
		member=(as self setpriv --reuid 65534 --regid 65534 --groups "$group" env HOME="$PLACE/nobody/home"
			CORDON_STATE_DIR="$PLACE/nobody/state" CORDON_CONFIG_DIR="$PLACE/nobody/config" "$PLACE/cordon" run -q -b "$name")
		run -1 "${member[@]}" -- cat /etc/shadow
		run -1 "${member[@]}" --read /etc -- cat /etc/shadow
		run -0 "${member[@]}" -- cat /etc/passwd /etc/hosts
	done
}
