#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Git, shells, terminals, debuggers, archives, databases and tools of one's own in the default sandbox: each script runs on the host first (its
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

@test "git: clone, commit, branch, merge, rebase, stash, tag, bundle" {
	needs git
	works 'git init -q r; cd r; echo a >a; git add a; git commit -qm 1
		git checkout -qb side; echo b >b; git add b; git commit -qm 2
		git checkout -q main; echo c >c; git add c; git commit -qm 3; git merge -q --no-edit side
		git tag -a v1 -m v1; echo d >>a; git stash -q; git stash pop -q; git commit -qam 4
		git checkout -qb top HEAD~1; echo e >e; git add e; git commit -qm 5; git rebase -q main
		git gc -q; git fsck; git bundle create -q ../b.bundle --all; cd ..
		git clone -q r c; cd c; echo f >f; git add f; git commit -qm 6; git push -q origin HEAD:refs/heads/pushed; git fetch -q
		cd ..; git clone -q b.bundle d; git -C d log --oneline'
}

@test "git: worktrees and submodules" {
	needs git
	works 'git init -q lib; (cd lib; echo l >l; git add l; git commit -qm 1)
		git init -q app; cd app; echo a >a; git add a; git commit -qm 1
		git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib" sub; git commit -qm sub
		git worktree add -q ../tree -b side; cd ../tree; echo b >b; git add b; git commit -qm 2
		cd ../app; git merge -q side; git worktree remove ../tree; git submodule status; git log --oneline'
}

@test "git: a repository that was there: commit, branch, worktree inside it" {
	needs git
	for who in $WHO; do
		for d in w h; do
			cd "$PLACE/$who/$d" || return
			as "$who" sh -ec 'git init -q .; echo a >a; git add a; git commit -qm 1'
		done
	done
	works 'echo b >>a; git commit -qam 2; git checkout -qb x; echo c >c; git add c; git commit -qm 3; git checkout -q main
		git merge -q x; git worktree add -q wt -b y; cd wt; echo d >d; git add d; git commit -qm 4; cd ..
		git worktree remove wt; git status --porcelain; git gc -q; git fsck'
}

@test "perl: modules, fork, sockets" {
	needs perl
	works 'perl -MPOSIX -MFile::Temp -MIO::Socket::INET -e "
		my \$p = fork; if (!\$p) { exit 0 } waitpid \$p, 0;
		my \$s = IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) or die; my \$t = File::Temp->new; print \$t 1"'
}

@test "bash: job control, process substitution, coprocesses, traps" {
	works 'bash -mc "sleep 0.2 & jobs; wait %1; kill -0 \$\$"
		bash -c "diff <(echo a) <(echo a); coproc cat; echo x >&\${COPROC[1]}; read -r l <&\${COPROC[0]}; [ \$l = x ]"
		bash -c "trap \"exit 0\" USR1; kill -USR1 \$\$; sleep 5; exit 1"'
}

@test "tmux: a server, a session, keys, output" {
	needs tmux
	works 'tmux -L t-$$ -f /dev/null new-session -d -s s "echo made >made; sleep 30"
		n=0; until test -e made; do n=$((n+1)); test $n -lt 100; sleep 0.05; done
		tmux -L t-$$ send-keys -t s x; tmux -L t-$$ list-sessions; tmux -L t-$$ capture-pane -p -t s; tmux -L t-$$ kill-server'
}

@test "gdb where it is granted: breakpoint, backtrace, values" {
	needs gdb gcc
	works 'printf "int f(int x) { return x + 1; }\nint main(void) { return f(41) - 42; }\n" >a.c; gcc -g -o a a.c
		gdb -nx -batch -ex "break f" -ex run -ex bt -ex "print x" -ex continue ./a 2>&1 | grep -q "= 41"' --allow-debug
}

@test "ssh-keygen and openssl: keys and signatures" {
	needs ssh-keygen
	works 'ssh-keygen -q -t ed25519 -N "" -f key; echo x >m; ssh-keygen -q -Y sign -f key -n file m; test -s m.sig
		! command -v openssl >/dev/null || openssl genrsa -out k.pem 2048'
}

@test "archives: tar with its compressors, zip, dpkg-deb" {
	needs tar gzip
	works 'mkdir d; echo x >d/x; ln -s x d/l; tar czf d.tgz d; rm -r d; tar xzf d.tgz; test "$(cat d/l)" = x
		! command -v xz >/dev/null || { tar cJf d.txz d; tar tJf d.txz; }
		! command -v zip >/dev/null || { zip -qr d.zip d; }
		! command -v unzip >/dev/null || { ! test -e d.zip || unzip -qo d.zip -d u; }
		! command -v dpkg-deb >/dev/null || { mkdir -p p/DEBIAN; printf "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: n\nDescription: x\n" >p/DEBIAN/control; dpkg-deb --root-owner-group -b p x.deb; dpkg-deb -c x.deb; }'
}

@test "sqlite3: a database with a journal and locks" {
	needs sqlite3
	works 'sqlite3 x.db "create table t (a); insert into t values (1), (2); pragma journal_mode=wal; select sum(a) from t" | grep -qx 3; sqlite3 x.db "pragma integrity_check" | grep -qx ok'
}

@test "file locks, FIFOs, hard links, sparse files, mappings, extended attributes" {
	works 'exec 9>lock; flock -n 9; mkfifo p; (echo x >p) & read -r l <p; test "$l" = x; wait
		echo x >a; ln a b; test "$(stat -c %h a)" = 2; truncate -s 100M big; test "$(stat -c %s big)" = 104857600
		chmod 600 a; touch -d 2001-01-01 a; test "$(stat -c %Y a)" -lt 1000000000; mv a c; mkdir -p x/y/z; mv x w2; rm -r w2
		python3 -c "
import os, mmap
with open(\"m\", \"w+b\") as f:
    f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); m[0] = 65; m.flush()
assert open(\"m\", \"rb\").read(1) == b\"A\"
os.setxattr(\"m\", \"user.x\", b\"1\")
assert os.getxattr(\"m\", \"user.x\") == b\"1\""'
}

@test "tools in PATH entries below home: known roots whole, unknown ones alone, credentials never" {
	for who in $WHO; do
		home=$PLACE/$who/home
		mkdir -p "$home"/{.cargo/bin,.cargo/lib,.pyenv/shims,bin,bin2}
		printf '#!/bin/sh\ncat "$HOME/.cargo/lib/data"\n' | tee "$home/.cargo/bin/tool" >"$home/.pyenv/shims/shim"
		printf '#!/bin/sh\necho mine\n' | tee "$home/bin/mine" >"$home/bin2/other"
		echo data >"$home/.cargo/lib/data"
		echo secret >"$home/.cargo/credentials.toml"
		chmod 755 "$home"/{.cargo/bin/tool,.pyenv/shims/shim,bin/mine,bin2/other}
		scene_give "$who"
		cd "$PLACE/$who/w" || return
		# shellcheck disable=SC2034 # needs() in scene.bash reads it
		TOOL_PATH=$home/.cargo/bin:$home/bin:$SCENE_PATH
		[ "$(as "$who" sh -c 'tool; mine; cat ~/.cargo/credentials.toml; ~/bin2/other')" = $'data\nmine\nsecret\nmine' ]
		[ "$(inside "$who" -- sh -c 'tool; mine')" = $'data\nmine' ]
		run inside "$who" -- sh -c 'cat ~/.cargo/credentials.toml'
		[ "$status" -ne 0 ]
		[[ $output != *secret* ]]
		run -127 inside "$who" -- sh -c '"$HOME/bin2/other"'
		run inside "$who" -- sh -c 'echo x >~/.cargo/bin/tool'
		[ "$status" -ne 0 ]
		unset TOOL_PATH
	done
}
