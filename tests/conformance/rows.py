# SPDX-License-Identifier: Apache-2.0
"""The attempts.  @T@ is the scene, @W@ its workspace (also the working directory).

A row names the guarantees on which it rests (on=, or those of its section).  control: True, the command itself
works on the host; a command, another one that shows the same act on something of one's own; ROOT, root shows
it, because nobody else may.
"""

import collections

Row = collections.namedtuple('Row', 'name expect command options before after control on but swap shown')
ROWS = []
ROOT = 'root'

FILES = {
    'out/secret': 'secret\n',
    'w2/file': 'other\n',
    'w/file': 'mine\n',
    'w/sub/file': 'mine too\n',
    'w/denied.txt': 'denied\n',
    'w/sub/deep.pem': 'key\n',
    'home/.ssh/id': 'key\n',
    'home/.aws/credentials': 'key\n',
    'home/.gitconfig': '[user]\n\tname = N\n\temail = n@example.org\n[alias]\n\tx = !id\n',
    'home/.profile': '# mine\n',
}

# For each guarantee a policy that asks for it in writing, so that nothing may give it up.
SCOPED = ('sandbox:\n  capabilities:\n    filesystem:\n      mode: scoped\n      mount_paths:\n'
          '        - {path: @W@, permissions: rw}\n')
ASKING = {
    'read-scope': SCOPED,
    'write-scope': SCOPED,
    'private-tmp': SCOPED,
    'hide-metadata': SCOPED,
    'kill-tree': SCOPED,  # every policy does
    'env-scrub': SCOPED,  # every policy does
    'deny-inside-allow': SCOPED + '      denied_paths: [@W@/denied.txt]\n',
    'protect-missing': SCOPED + '      protected_paths: [ci.yml]\n',
    'net-deny': SCOPED + '    network:\n      mode: deny\n',
    'net-allowlist': SCOPED + '    network:\n      mode: allowlist\n      allowed_hosts: [allowed.example.org]\n',
}

# What a file system mode that somebody wrote asks for.
WRITTEN = ('read-scope', 'write-scope', 'private-tmp', 'hide-metadata')


def policy(text, path='@T@/p.yaml'):
    return "cat >%s <<'EOF'\n%sEOF" % (path, text)


def mode(name, more='', mounts=''):
    return policy('sandbox:\n  capabilities:\n    filesystem:\n      mode: %s\n%s%s' % (name, mounts, more))


FULL = ('-p', '@T@/p.yaml')
HOST = ('--allow-host', 'allowed.example.org')
SECTION = ()  # what the rows that follow rest on


def section(*guarantees):
    global SECTION
    SECTION = guarantees


def add(name, expect, command, options, before=None, after=None, control=True, on=None, but=(), swap=None, shown=()):
    ROWS.append(Row(name, expect, command, options, before, after, control, SECTION if on is None else on, but, swap,
                    shown))


def refused(name, command, *options, **more):
    """shown: backends in which it works, but what it finds is without worth."""
    add(name, 'refused', command, options, **more)


def harmless(name, command, after, *options, **more):
    """It may seem to work inside, but nothing of it reaches the host."""
    add(name, 'either', command, options, after=after, **more)


def closed(name, command, *options, **more):
    """The call may also fail before anything runs (125)."""
    add(name, 'closed', command, options, **more)


def race(name, command, swap, *options, **more):
    """On the host swap and swap.other change places all the time while many calls start.  What the command prints
    of the secret counts as a way out; so does what the check after it finds."""
    add('race: ' + name, 'race', command, options, swap=swap, **more)


def works(name, command, *options, **more):
    """but: backends inside which it cannot work; there it has to be refused."""
    add('works: ' + name, 'works', command, options, **{'on': (), **more})


# what must work
works('the workspace can be written', 'echo x >new && cat new file && mkdir d && mv new d/ && rm -r d')
works('the system can be read', 'ls /usr/bin /etc >/dev/null && cat /etc/passwd >/dev/null')
works('/tmp can be used', 'echo x >/tmp/x-$$ && cat /tmp/x-$$ && rm /tmp/x-$$', on=('private-tmp',))
works('temporary files can be made', 'f=$(mktemp) && echo x >$f && cat $f && rm $f')
works('/dev is there', 'echo x >/dev/null && head -c 9 /dev/urandom >/dev/null && head -c 9 /dev/zero >/dev/null')
works('/dev/shm can be used', 'echo x >/dev/shm/cf-$$ && rm /dev/shm/cf-$$')
works('new files have the rights that the caller gives them', 'umask 027; echo x >a; mkdir b; test $(stat -c %a a) = 640 && '
      'test $(stat -c %a b) = 750')
works('the mask of the caller', 'test $(umask) = 0022')
works('pipes and background processes', 'sleep 0.01 & wait; seq 9 | sort -n | tail -1 >/dev/null')
# Without a network namespace there is no loopback that would be the call's alone.
works('loopback of its own', './attempt loopback', but=('landlock',))
works('python', '/usr/bin/python3 -c "import ssl, sqlite3, multiprocessing; multiprocessing.Pool(2).map(abs, [1])"')
works('compiler and make', 'printf "int main(void){return 0;}" >t.c && printf "t: t.c\\n\\tcc -o t t.c\\n" >Makefile && '
      'make -s && ./t')
works('perl', 'perl -e "print 1"')
works('git makes a repository, commits and branches',
      'git init -q r && cd r && echo a >a && git add a && git commit -qm 1 && git branch b && git log --oneline')
works('git commits in a repository that was there', 'echo b >>a && git commit -qam 2 && git gc -q && git fsck',
      before='git init -q . && echo a >a && git add a && git commit -qm 1')
works('git status sees no placeholder', 'test -z "$(git status --porcelain --untracked-files=all | grep -v "?? a")"',
      before='git init -q . && git add . && git commit -qm 1')
works('git commits in a worktree', 'cd @W@ && echo b >>a && git commit -qam 2',
      before='mkdir ../main && cd ../main && git init -q . && echo a >a && git add a && git commit -qm 1 && '
             'rm -rf @W@ && git worktree add -q @W@ -b side')
works('watching the workspace and the system', './attempt watch . && ./attempt watch attempt && ./attempt watch /usr/bin')
works('a lock', 'flock attempt true')
works('a read grant can be read', 'cat @T@/out/secret', '--read', '@T@/out')
works('a write grant can be written', 'echo x >@T@/out/new && rm @T@/out/new', '--write', '@T@/out')

# reading
section('read-scope')
HIDDEN = ('hide-metadata',)
for name, command, *on in (
        ('a file beside the workspace', 'cat @T@/out/secret'),
        ('its directory', 'ls @T@/out'),
        ('its metadata', 'stat @T@/out/secret', *HIDDEN),
        ('its directory, by watching what comes and goes in it', './attempt watch @T@/out'),
        ('the file, by watching who opens it', './attempt watch @T@/out/secret'),
        ('a sibling with the same prefix', 'cat @T@/w2/file'),
        ('through dot-dot', 'cat ../out/secret'),
        ('through a link', 'cat link-out'),
        ('through a link to a directory', 'cat dir-out/secret'),
        ('through /proc/self/root', 'cat /proc/self/root@T@/out/secret'),
        ('through /proc/self/cwd', 'cat /proc/self/cwd/../out/secret'),
        ('through a new link', 'ln -s @T@/out n && cat n/secret'),
        ("through the root's parent", 'cat /..@T@/out/secret'),
        ('the home directory', 'cat ~/.ssh/id'),
        ("the user's own configuration of git", 'git config --global --get alias.x'),
        ('credentials', 'cat ~/.aws/credentials'),
        ('the environment of a host process', 'cat /proc/@PID@/environ'),
        ('that a host process exists', 'test -d /proc/@PID@', *HIDDEN),
        ('an inherited descriptor', './attempt leaked-fd 77'),
        ('the file behind it', 'cat /proc/self/fd/77'),
        ('any descriptor but the standard ones', './attempt fds'),
        ('the environment of the caller', 'test -n "$SECRET_TOKEN"', 'env-scrub'),
        ('block devices and memory', 'ls /dev/mem || ls /dev/kmsg', *HIDDEN),
        ('/sys', 'ls /sys/kernel'),
        ('cgroups', 'ls /sys/fs/cgroup'),
        ('/run', 'ls /run/'),
        ('the name of the machine', 'test "$(uname -n)" = "@HOST@"', *HIDDEN),
        ('kernel log', 'test -e /dev/kmsg', *HIDDEN)):
    refused('read: ' + name, command, on=tuple(on) or None)
section('deny-inside-allow')
CREDENTIALS = '''
.anthropic .aws .azure .bash_history .boto .cargo/credentials .cargo/credentials.toml
.claude/.credentials.json .codex/auth.json .composer/auth.json .config/BraveSoftware .config/chromium
.config/composer/auth.json .config/doctl .config/gcloud .config/gh .config/git/credentials .config/glab-cli
.config/google-chrome .config/heroku .config/hub .config/op .config/rclone .config/sops .databrickscfg
.docker/config.json .gem/credentials .gemini/oauth_creds.json .git-credentials .gnupg
.gradle/gradle.properties .huggingface .kube .local/share/keyrings .m2/settings-security.xml
.m2/settings.xml .mozilla .my.cnf .mysql_history .netrc .node_repl_history .npmrc .oci .password-store
.pgpass .psql_history .pypirc .python_history .s3cfg .ssh .terraform.d/credentials.tfrc.json .thunderbird
.vault-token .zsh_history
'''.split()
refused('read: credentials by every known name', 'for i in %s; do cat ~/$i && exit; done; exit 1' % ' '.join(CREDENTIALS),
        '--read', '@T@/home', before='rm -rf ~/.ssh ~/.aws; for i in %s; do case $i in */*) mkdir -p ~/${i%%/*};; esac; '
        'echo key >~/$i || exit; done' % ' '.join(CREDENTIALS))
# Its words can hold keys: an agent's that uses the library, too.
refused('read: the command line of whoever started the call', 'grep -aqs "[-]-backend" /proc/[0-9]*/cmdline', on=HIDDEN,
        control='sh -c "sleep 9; :" --backend & sleep 0.1; grep -aqs "[-]-backend" /proc/$!/cmdline; r=$?; kill $!; exit $r')
refused('read: password hashes', 'cat /etc/shadow', control=ROOT)
refused('read: password hashes in a grant', 'cat /etc/shadow', '--read', '/etc', control=ROOT)
refused('read: a denied file', 'cat denied.txt', '--deny', '@W@/denied.txt')
refused('read: a denied file below a denied directory', 'cat sub/file', '--deny', '@W@/sub')
refused('read: a denied file by glob', 'cat sub/deep.pem', '--deny', '*.pem')
refused('read: a denied file under another name', 'ln denied.txt n && cat n', '--deny', '@W@/denied.txt')
refused('read: a denied file after a rename', 'mv denied.txt n && cat n', '--deny', '@W@/denied.txt')
refused('read: a denied file after its directory moved', 'mv sub s2 && cat s2/deep.pem', '--deny', '@W@/sub/deep.pem')
refused('read: a denied directory can be opened with other rights', 'chmod 700 sub && ls sub', '--deny', '@W@/sub')
refused('read: a denied directory, written with a slash', 'cat sub/file', '--deny', '@W@/sub/')
refused('read: what stands beside a grant written with a slash', 'cat @T@/w2/file', '--read', '@T@/w/', on=('read-scope',))
DEEP = 'mkdir -p @T@/n/a/b/c/d && for i in n n/a n/a/b n/a/b/c n/a/b/c/d; do echo text >@T@/$i/f; done'
NESTED_GRANTS = ('--write', '@T@/n', '--deny', '@T@/n/a/b', '--read', '@T@/n/a/b/c', '--deny', '@T@/n/a/b/c/d')
works('a grant around a denied directory', 'cat @T@/n/f @T@/n/a/f && echo x >@T@/n/a/new', *NESTED_GRANTS, before=DEEP)
works('a writable grant below a denied directory', 'cat file', '--write', '@T@/n', '--deny', '@T@/n/a/b', '--write', '@T@/n/a/b/c',
      before=DEEP)
for depth, path in enumerate(('n/a/b', 'n/a/b/c', 'n/a/b/c/d')):
    refused('read: grants and denials in turn, %d deep' % (depth + 3), 'grep -q text @T@/%s/f' % path, *NESTED_GRANTS,
            before=DEEP)
    refused('write: grants and denials in turn, %d deep' % (depth + 3), 'echo x >@T@/%s/new' % path, *NESTED_GRANTS,
            before=DEEP, after='! test -e @T@/%s/new' % path)
for name, options, before in (('in a grant', ('--write', '@T@/n', '--deny', '@T@/n/a/b/f'), DEEP),
                              ('in mode full', FULL, DEEP + '\n' + mode('full', '      denied_paths: [@T@/n/a/b/f]\n'))):
    refused('write: moving what stands above a denied file ' + name, 'mv @T@/n/a @T@/n/z && mkdir -p @T@/n/a/b && echo x >@T@/n/a/b/f',
            *options, before=before, after='grep -q text @T@/n/a/b/f')
refused('read: credentials inside the scope', 'cat ~/.ssh/id', '--read', '@T@/home')
section('read-scope')
refused('read: our own state', 'ls @T@/state', '--read', '@T@/w2', before='touch ../state/x')

# writing
section('write-scope')
for name, command, after in (
        ('beside the workspace', 'echo x >@T@/out/new', '! test -e @T@/out/new'),
        ('over a file beside it', 'echo x >>@T@/out/secret', 'grep -qx secret @T@/out/secret && test $(wc -l <@T@/out/secret) = 1'),
        ('through a link', 'echo x >>link-out', 'test $(wc -l <@T@/out/secret) = 1'),
        ('through a link to a directory', 'echo x >dir-out/new', '! test -e @T@/out/new'),
        ('through /proc/self/root', 'echo x >/proc/self/root@T@/out/new', '! test -e @T@/out/new'),
        ('a hard link to the outside', 'ln @T@/out/secret n', '! test -e n'),
        ('moving something in', 'mv @T@/out/secret n', 'test -e @T@/out/secret'),
        ('removing something', 'rm @T@/out/secret', 'test -e @T@/out/secret'),
        ('changing rights', 'chmod 777 @T@/out', 'test $(stat -c %a @T@/out) = 700'),
        ('the home directory', 'echo x >>~/.profile', 'test $(wc -l <~/.profile) = 1'),
        ('a new file in home', 'echo x >~/.bashrc', '! test -e ~/.bashrc'),
        ('keys', 'echo x >>~/.ssh/authorized_keys', '! test -e ~/.ssh/authorized_keys'),
        ('our own state', 'echo x >>@T@/state/audit.ndjson', '! grep -qx x @T@/state/audit.ndjson'),
        ('our own configuration', 'echo x >@T@/config/policy.yaml', '! test -e @T@/config/policy.yaml'),
        ('shared /tmp', 'echo x >/tmp/@ABSTRACT@', '! test -e /tmp/@ABSTRACT@'),
        ('shared memory', 'echo x >/dev/shm/@ABSTRACT@', '! test -e /dev/shm/@ABSTRACT@')):
    harmless('write: ' + name, command, after, on=('private-tmp',) if 'shared' in name else None)
refused('write: flags of a file in a read grant', './attempt flags @T@/out/secret', '-r', '@T@/out')
refused('write: a read grant', 'echo x >@T@/out/new', '--read', '@T@/out', after='! test -e @T@/out/new')
section('deny-inside-allow')
refused('write: a denied file', 'echo x >>denied.txt', '--deny', '@W@/denied.txt',
        after='test $(wc -l <denied.txt) = 1')
refused('write: into a denied directory', 'echo x >sub/new', '--deny', '@W@/sub', after='! test -e sub/new')
refused('write: replacing a denied file', 'echo x >n && mv -f n denied.txt', '--deny', '@W@/denied.txt',
        after='grep -q denied denied.txt')
refused('write: removing a denied file', 'rm -f denied.txt', '--deny', '@W@/denied.txt', after='test -e denied.txt')
refused('write: a denied name that is missing', 'echo x >later.env', '--deny', '@W@/later.env',
        after='! test -e later.env', on=('protect-missing',))

section('syscall-filter')
# A file of root's that runs as root for everybody outside; as a user, the same with that user.
for name, command in (
        ('chmod', 'cp /bin/true n; chmod 4755 n'),
        ('chmod of the group', 'cp /bin/true n; chmod 2755 n'),
        ('open', '/usr/bin/python3 -c "import os; os.umask(0); os.open(\'n\', os.O_CREAT | os.O_WRONLY, 0o6755)"'),
        ('mknod', '/usr/bin/python3 -c "import os; os.umask(0); os.mknod(\'n\', 0o104755)"'),
        ('openat2', './attempt openat2-suid n')):
    harmless('write: a set-id file by ' + name, command, '! test -u n && ! test -g n')
harmless('write: capabilities of a file', './attempt file-capability',
         '! /usr/bin/python3 -c "import os; os.getxattr(\'powers\', \'security.capability\')"', control=ROOT)
works('other modes', 'touch n && chmod 1777 n && chmod 0640 n && install -m 755 file n2 && mkdir -m 700 n3')

# protected names: missing, and there
section('protect-missing')
# Written down a second time on purpose: a name that gets lost in the program's table turns rows red here.
PROTECTED_DIRS = '''
.agents .cargo .claude .cloneguard .codex .config/autostart .config/git .config/systemd .cursor .devcontainer .gemini
.github/workflows .husky .idea .mvn .ssh .vscode .yarn
'''.split()
PROTECTED_FILES = '''
.bash_aliases .bash_login .bash_logout .bash_profile .bashrc .bazeliskrc .bazelrc .bazelversion .bunfig.toml
.claude.json .devcontainer.json .envrc .gitconfig .gitmodules .lefthook.json .lefthook.toml .lefthook.yaml
.lefthook.yml .mcp.json .npmrc .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pre-commit-config.yaml .profile
.ripgreprc .yarnrc .yarnrc.yml .zlogin .zlogout .zprofile .zshenv .zshrc bunfig.toml
gradle-wrapper.properties lefthook.yaml lefthook.yml maven-wrapper.properties pyrightconfig.json
'''.split()
# Ours decides about the next call, whichever file it is.
for name, words in (('.cordon.yaml', ()), ('agent.yaml', ('--policy', '@W@/agent.yaml'))):
    for act, command in (('changed', 'echo "sandbox: {level: none}" >%s'), ('removed', 'rm -f %s'),
                         ('replaced', 'echo "sandbox: {level: none}" >n && mv -f n %s')):
        refused('protected: %s in force cannot be %s' % (name, act), command % name, *words,
                before='echo "cordon: 1" >%s' % name, after='test "$(cat %s)" = "cordon: 1"' % name)
refused('protected: .cordon.yaml cannot be made', 'echo x >.cordon.yaml', after='! test -e .cordon.yaml')
for name in PROTECTED_DIRS + PROTECTED_FILES:
    if name in PROTECTED_DIRS:
        # Without mounts the directory above it can be made.
        refused('protected: %s cannot be made' % name, 'mkdir -p %s && echo x >%s/x' % (name, name),
                after='! test -e %s' % name)
        refused('protected: %s cannot be filled' % name, 'echo x >%s/evil' % name, before='mkdir -p %s' % name,
                after='! test -e %s/evil' % name)
    else:
        refused('protected: %s cannot be made' % name, 'echo x >%s' % name, after='! test -e %s' % name)
        refused('protected: %s cannot be moved there' % name, 'echo x >n && mv -f n %s' % name,
                after='! test -e %s' % name)
        refused('protected: %s cannot be changed' % name, 'echo x >>%s' % name, before='echo a >%s' % name,
                after='test $(wc -l <%s) = 1' % name)
# What stands for a name that is missing is nobody's.
for name, command in (
        ('removed', 'rm -r {}'), ('moved away', 'mv {} x'),
        # The effect counts: gVisor says yes to both and changes nothing.
        ('made executable', 'chmod 755 {0} && test $(stat -c %a {0}) = 755'),
        ('given another time', 'touch -h -d 2001-01-01 {0} && test $(stat -c %Y {0}) -lt 1000000000'),
        ('exchanged', './attempt exchange {}')):
    for target, make in (('.bashrc', 'touch'), ('.npmrc', 'touch'), ('.vscode', 'mkdir')):
        refused('protected: the placeholder of %s cannot be %s' % (target, name), command.format(target),
                control='%s %s && %s' % (make, target, command.format(target)))
refused('protected: the placeholder of .bashrc cannot be linked from', 'ln .bashrc x', control='touch .bashrc && ln .bashrc x')
refused('protected: a name cannot be linked', 'ln -s sub .claude', after='! test -L .claude')
refused('protected: a name cannot be a hard link', 'ln file .mcp.json', after='! test -e .mcp.json')
refused('protected: a name cannot be removed', 'rm -rf .claude', before='mkdir .claude && echo a >.claude/s',
        after='test -e .claude/s')
refused('protected: a name cannot be moved away', 'mv .claude c', before='mkdir .claude && echo a >.claude/s',
        after='test -e .claude/s')
refused('protected: a link cannot be replaced', 'rm .claude && mkdir .claude', before='ln -s sub .claude',
        after='test -L .claude')
refused('protected: where a link leads cannot be written', 'echo x >.claude/x', before='ln -s sub .claude',
        after='! test -e sub/x')
refused('protected: a path that changes while it is looked at', './attempt race-path .mcp.json', after='! test -e .mcp.json')
refused('protected: a name of the policy', 'echo x >ci.yml', '-p', '@T@/p.yaml',
        before=policy(SCOPED + '      protected_paths: [ci.yml]\n'), after='! test -e ci.yml',
        on=WRITTEN + ('protect-missing',))

# git
REPO = 'git init -q . && echo a >a && git add a && git commit -qm 1'
for name, command, after in (
        ('a hook', 'echo x >.git/hooks/pre-commit', '! test -e .git/hooks/pre-commit'),
        ('configuration', 'echo x >>.git/config', '! grep -qx x .git/config'),
        ('configuration by git', 'git config core.hooksPath /x', '! grep -q /x .git/config'),
        ('a monitor program', 'git config core.fsmonitor /x', '! grep -q /x .git/config'),
        ('a filter program', 'git config filter.x.clean /x', '! grep -q /x .git/config'),
        ('an excludes file', 'echo x >.git/info/exclude', '! grep -qx x .git/info/exclude'),
        ('commondir', 'echo x >.git/commondir', '! test -e .git/commondir'),
        ('config.worktree', 'echo x >.git/config.worktree', '! test -e .git/config.worktree'),
        ('attributes', 'echo x >.git/info/attributes', '! test -e .git/info/attributes'),
        ('its whole directory', 'mv .git g && git init -q . && echo x >.git/hooks/pre-commit',
         '! test -e .git/hooks/pre-commit'),
        ('hooks that were removed', 'rm -rf .git/hooks && mkdir .git/hooks && echo x >.git/hooks/pre-commit',
         '! test -e .git/hooks/pre-commit')):
    refused('git: ' + name, command, before=REPO, after=after)
refused('git: a nested repository', 'echo x >n/.git/hooks/pre-commit', before='git init -q n',
        after='! test -e n/.git/hooks/pre-commit')
refused('git: a bare repository', 'echo x >n.git/hooks/post-update', before='git init -q --bare n.git',
        after='! test -e n.git/hooks/post-update')
refused('git: hooks missing from a repository', 'mkdir -p .git/hooks && echo x >.git/hooks/pre-commit',
        before=REPO + ' && rm -rf .git/hooks', after='! test -e .git/hooks')
refused('git: a hooks directory of its own', 'echo x >.myhooks/pre-commit',
        before=REPO + ' && mkdir .myhooks && git config core.hooksPath .myhooks', after='! test -e .myhooks/pre-commit')
for name, folder in (('', '.git'), (' of a submodule', '.git/modules/s'), (' of a bare one', 'n.git')):
    refused('git: a repository that an earlier call has taken apart' + name, 'echo x >%s/hooks/pre-commit' % folder,
            before='git init -q . && mkdir -p .git/modules && git init -q --bare n.git && '
                   'cp -r .git @T@/s && mv @T@/s .git/modules/s && '
                   'cd %s && rm -rf HEAD objects refs description branches' % folder,
            after='! test -e %s/hooks/pre-commit' % folder)
NESTED = 'git init -q n && mkdir n/hk && '
for name, line in (('a nested repository', 'hooksPath = hk'), ('one line', '[core] hooksPath = hk')):
    refused('git: a hooks directory of its own: ' + name, 'echo x >n/hk/pre-commit',
            before=NESTED + "printf '%s\\n' >>n/.git/config" % ('[core]\\n' + line if line[0] != '[' else line),
            after='! test -e n/hk/pre-commit')
refused('git: included configuration', 'echo x >>n/more', after='! grep -qx x n/more',
        before=NESTED + 'echo >n/more; git -C n config include.path ../more')
refused('git: included configuration that is missing', 'echo x >n/more', after='! test -e n/more',
        before=NESTED + 'git -C n config include.path ../more')
refused('git: the pointer of a submodule or worktree', 'rm -f n/.git; echo "gitdir: @W@/evil" >n/.git',
        before='git init -q m && git -C m commit -q --allow-empty -m 1 && git -C m worktree add -q ../n',
        after='! grep -q evil n/.git')
refused('git: moving a worktree aside', 'mv -T n o && mkdir n && echo "gitdir: @W@/evil" >n/.git',
        before='git init -q m && git -C m commit -q --allow-empty -m 1 && git -C m worktree add -q ../n',
        after='! grep -q evil n/.git')
works('git commits in a nested worktree', 'cd n && git commit -q --allow-empty -m 2 && git status',
      before='git init -q m && git -C m commit -q --allow-empty -m 1 && git -C m worktree add -q ../n')
WORKTREE = ('mkdir ../main && cd ../main && git init -q . && echo a >a && git add a && git commit -qm 1 && '
            'rm -rf @W@/* && git worktree add -q -f @W@/../x -b side && rm -rf @W@ && git worktree move ../x @W@')
refused('git: hooks of a worktree', 'cd @W@ && echo x >@T@/main/.git/hooks/pre-commit', before=WORKTREE,
        after='! test -e @T@/main/.git/hooks/pre-commit')
refused('git: configuration of a worktree', 'cd @W@ && echo x >>@T@/main/.git/config', before=WORKTREE,
        after='! grep -qx x @T@/main/.git/config')
# What overlays take for marks; an earlier call may have left them where there was none.
refused('protected: a file without a name cannot become one', './attempt tmpfile .bashrc', after='! test -e .bashrc')
refused('protected: a name cannot be moved away for a mark', './attempt whiteout .bashrc', before='echo x >.bashrc',
        after='grep -qx x .bashrc')
refused('protected: a directory cannot be marked as one without anything below', after='! test -e .github/workflows',
        command='./attempt overlay-mark .github; mkdir .github/workflows', before='mkdir .github')
for name, prepare, command, kept in (
        ('directory', 'mkdir .github && ./attempt overlay-mark .github', 'mkdir .github/workflows', '! test -e .github/workflows'),
        ('repository', 'git init -q . && rm -rf .git/hooks && ./attempt overlay-mark .git',
         'mkdir .git/hooks && echo x >.git/hooks/pre-commit', '! test -e .git/hooks/pre-commit'),
        ('name', 'echo x >.bashrc && ./attempt whiteout .bashrc', 'rm -f .bashrc && echo x >.bashrc', '! test -s .bashrc')):
    closed('protected: a %s that an earlier call has marked' % name, command, before=prepare, after=kept)
section('read-scope')
refused('git: a hostile pointer to another repository', 'ls @T@/main/.git',
        before='mkdir ../main && cd ../main && ' + REPO + ' && printf "gitdir: %s/.git\\n" "$PWD" >@W@/.git')

refused("git: a pointer to somebody else's worktree", 'ls @T@/main/.git/',
        before='mkdir ../main && cd ../main && ' + REPO + ' && git worktree add -q @T@/x && cp @T@/x/.git @W@/.git')
refused('git: a pointer that an earlier call has made up', 'cat @T@/out/secret',
        before='mkdir g && echo "gitdir: @W@/g" >.git && echo @W@/.git >g/gitdir && echo @T@ >g/commondir')
refused('git: a pointer to a made-up worktree of the directory above', 'cat @T@/out/secret',
        before='mkdir -p worktrees/g && echo "gitdir: @W@/worktrees/g" >.git && echo @W@/.git >worktrees/g/gitdir && '
               'echo @T@ >worktrees/g/commondir')

# the other modes
section('deny-inside-allow')
works('mode full: what the user sees', 'cat @T@/out/secret && echo x >@T@/out/new && cat @T@/out/new', *FULL,
      before=mode('full'))
refused('mode full: a denied file', 'cat @T@/out/secret', *FULL, before=mode('full', '      denied_paths: [@T@/out]\n'))
refused('mode full: credentials', 'cat ~/.ssh/id ~/.aws/credentials', *FULL, before=mode('full'))
refused('mode full: password hashes', 'cat /etc/shadow', *FULL, before=mode('full'), control=ROOT)
refused('mode full: changing password hashes', ': >>/etc/shadow', *FULL, before=mode('full'), control=ROOT)
refused('mode full: our own state', 'cat @T@/state/audit.ndjson', *FULL, before=mode('full') + '\n: >>../state/audit.ndjson')
refused('mode full: a start-up file that is there', 'echo x >>~/.profile', *FULL, before=mode('full'),
        after='test $(wc -l <~/.profile) = 1')
refused('mode full: a start-up file that is missing', 'echo x >~/.bashrc', *FULL, before=mode('full'),
        after='! test -e ~/.bashrc', on=('protect-missing',))
refused('mode full: agent configuration', 'mkdir .claude', *FULL, before=mode('full'), after='! test -e .claude',
        on=('protect-missing',))
refused('mode full: a socket by path', './attempt unix @T@/home/.cargo/bin/host.sock', *FULL, before=mode('full'),
        on=('net-deny',))
refused('mode full: TCP on the host', './attempt tcp @PORT@', *FULL, before=mode('full'), on=('net-deny',))
refused('mode full: a system call of the deny set', './attempt keyctl', *FULL, before=mode('full'), on=('syscall-filter',))
section(*WRITTEN)
works('mode read-only: the workspace', 'cat file sub/file', *FULL, before=mode('read-only'), on=WRITTEN)
works('mode read-only: /tmp', 'echo x >/tmp/x && cat /tmp/x && rm /tmp/x', *FULL, before=mode('read-only'), on=WRITTEN)
refused('mode read-only: writing', 'echo x >new', *FULL, before=mode('read-only'), after='! test -e new')
refused('mode read-only: changing', 'echo x >>file', *FULL, before=mode('read-only'), after='test $(wc -l <file) = 1')
refused('mode read-only: a grant that says more', 'echo x >@T@/out/new', *FULL, after='! test -e @T@/out/new',
        before=mode('read-only', mounts='      mount_paths:\n        - {path: @T@/out, permissions: rw}\n'))
refused('mode read-only: beside the workspace', 'cat @T@/out/secret', *FULL, before=mode('read-only'))
closed('mode deny: the workspace', 'cat @W@/file', *FULL, before=mode('deny'))
closed('mode deny: the workspace, from elsewhere', 'cat @W@/file', '-C', '/usr', *FULL, before=mode('deny'))
works('mode deny: the system', 'ls /usr/bin >/dev/null && echo x >/tmp/x && cat /tmp/x && rm /tmp/x', '-C', '/usr', *FULL,
      before=mode('deny'), on=WRITTEN)

# What a call or a project says about its own sandbox.
section('read-scope')
closed('policy: a project that grants more', 'cat @T@/out/secret',
       before=policy(SCOPED.replace('@W@', '@T@/out'), '.cordon.yaml'))
closed('policy: a grant that an earlier call has made a link out', 'cat dir-out/secret', '--read', '@W@/dir-out')
closed('policy: the root as working directory', 'cat @T@/out/secret', '-C', '/')
closed('policy: a working directory above home', 'cat @T@/out/secret', '-C', '@T@')
section('net-deny')
for name, text in (('no hosts', 'allowed_hosts: []'), ('no list', 'ssrf_protection: {enabled: true}'),
                   ('nothing for a list', 'allowed_hosts:')):
    closed('policy: an allowlist with ' + name, './attempt tcp @PORT@', *FULL,
           before=policy(SCOPED + '    network:\n      mode: allowlist\n      %s\n' % text))
closed('policy: a manifest that says nothing about the network', './attempt tcp @PORT@', *FULL, before=policy(SCOPED),
       on=WRITTEN + ('net-deny',))

section('protect-missing')
LEFT = '/usr/bin/python3 -c "import os; exit(any(os.listxattr(p) for p, _, _ in os.walk(\'.\')))"'
harmless('host: attributes are left on a repository', 'cat .git/config .config/x; test -n "$CORDON_SANDBOX" || '
         '/usr/bin/python3 -c "import os; os.setxattr(\'.git\', \'user.x\', b\'1\')"', LEFT,
         before='git init -q . && mkdir .config && echo x >.config/x')
harmless('host: a call that changes nothing changes the workspace', 'cat file; test -n "$CORDON_SANDBOX" || chmod 750 .',
         'test "$(stat -c %z .)" = "$(cat @T@/changed)"', before='stat -c %z . >@T@/changed')

# Something on the host changes while calls start.
section('read-scope', 'protect-missing')
for name, path in (('a protected directory', '.claude'), ('a repository', '.git'), ('where a protected name stands', '.config')):
    race(name + ' and a link out', 'cat %s/secret; echo x >%s/new' % (path, path), path,
         before='mkdir %s && ln -s ../out %s.other' % (path, path), after='! test -e @T@/out/new')
# What is mounted stays where it is.  Where names are looked at instead, who renames on the host decides what has one.
race('a protected directory keeps its cover', 'echo x >.claude/new', '.claude', before='mkdir .claude && ln -s ../out .claude.other',
     after='! test -e .claude/new && ! test -e .claude.other/new', on=('protect-missing', 'private-tmp'))
race('a granted directory and a link out', 'cat sub/secret; echo x >sub/new', 'sub', '--write', '@W@/sub',
     before='ln -s ../out sub.other', after='! test -e @T@/out/new')
race('a denied file and another one', 'grep -h denied denied.txt | sed s/denied/secret/', 'denied.txt', '--deny', '@W@/denied.txt',
     before='echo fine >denied.txt.other', on=('deny-inside-allow',))

# processes
section('syscall-filter')
for name, command in (
        ('tracing a host process', './attempt ptrace @PID@'),
        ('tracing a process of its own', './attempt ptrace-child'),
        ('reading the memory of processes', './attempt vm-read'),
        ('a user namespace', './attempt userns'),
        ('a user namespace by clone3', './attempt clone3'),
        ('a mount', 'unshare -Urm mount -t tmpfs none /mnt'),
        ('io_uring', './attempt io-uring'),
        ('key rings', './attempt keyctl'),
        ('userfaultfd', './attempt userfaultfd'),
        ('personality', './attempt personality'),
        ('adding a key', './attempt add-key'),
        ('requesting a key', './attempt request-key'),
        ('performance counters', './attempt perf'),
        ('descriptors of other processes', './attempt pidfd-getfd'),
        ('x32 numbers', './attempt x32'),
        ('32-bit calls', './attempt int80'),
        ('TIOCLINUX', './attempt tioclinux'),
        ('a lease, for which others wait', './attempt lease attempt'),
        ('signals for what comes and goes', './attempt dnotify .'),
        ('fanotify', './attempt fanotify'),
        ('a capability is left', './attempt gains'),
        # Which the kernel starts as root, outside, with what the call has made of its memory and name.
        ("the machine's handler of crashes", './attempt core'),
        ('what is refused, through a filter of its own', './attempt own-filter'),
        ('the priority of a host process', './attempt priority @PID@'),
        ('the processors of a host process', './attempt affinity @PID@'),
        ('TIOCSTI', './attempt tiocsti')):
    refused('process: ' + name, command)
refused('process: the file behind a socket', './attempt socket-file s', control=ROOT)
refused('process: a device node', 'mknod n c 1 3 && cat n', control=ROOT)
# The control in a namespace of its own: the machine keeps its name.
refused('process: the host name', 'hostname other', control='unshare -Uru hostname other')

section('kill-tree')
add('process: the session of the caller', 'session', 'sleep 5; true', (), control='./attempt session @SID@')
refused('process: a signal to a host process', 'kill -0 @PID@')
harmless('process: a signal to a host process by a descriptor', './attempt owner @PID@', 'grep -q "^State:.S" /proc/@PID@/status',
         control='./attempt owner @PID@ && grep -q "^State:.Z" /proc/@PID@/status')
harmless('process: a queued signal to a host process', './attempt queue @PID@', 'grep -q "^State:.S" /proc/@PID@/status',
         control='./attempt queue @PID@ && sleep 0.2 && grep -q "^State:.Z" /proc/@PID@/status')
# The command waits until the daemon has left the session, so that no signal to its group reaches it.
DAEMON = ('setsid sh -c "echo x >up; sleep 1; echo x >late" </dev/null >/dev/null 2>&1 & '
          'while ! test -e up; do sleep 0.01; done')
harmless('process: a daemon outlives the call', DAEMON, 'sleep 2; ! test -e late')

# Pid 1 is the sandbox's own or the machine's; for the control a process of the caller's stands in for it.
section('read-scope')
for name, command in (('tracing', 'cat /proc/%s/environ /proc/%s/maps'), ('the root of', 'ls /proc/%s/root/ /proc/%s/cwd/'),
                      ('the descriptors of', 'readlink /proc/%s/fd/0 /proc/%s/fd/1')):
    # In gVisor that is our launcher, with nothing but its own name in its environment (tests/cli/gvisor.bats).
    refused('process: %s pid 1' % name, 'test $$ != 1 && ' + command % (1, 1), control=command % ('@PID@', '@PID@'),
            shown=() if 'root' in name else ('gvisor',))

# Opened, never written: the control runs on the host, as root, who owns these.
section('write-scope')
for name, path in (('the core dump handler', 'sys/kernel/core_pattern'), ('the module loader', 'sys/kernel/modprobe'),
                   ('memory settings', 'sys/vm/overcommit_memory'), ('interrupts', 'irq/default_smp_affinity'),
                   ('the system request key', 'sysrq-trigger')):
    refused('process: settings of the machine: ' + name, 'test -e /proc/%s || exit 3; : >>/proc/%s' % (path, path),
            control=ROOT)
# All that root alone may write there, whatever this machine has: the first that opens is enough.
refused('process: settings of the machine: any', 'find /proc -path "/proc/[0-9]*" -prune -o -path "/proc/*self" -prune -o '
        '-type f -perm -u+w ! -perm -o+w -print 2>/dev/null | { while read -r f; do '
        '{ true >>"$f"; } 2>/dev/null && echo "$f" && exit 0; done; exit 1; }', control=ROOT,
        shown=('gvisor', 'qemu'))  # a kernel of its own
# What tells about the machine rather than about the call; the kernel's own rights are all that a rule on /proc has.
section('hide-metadata')
for name in ('keys', 'key-users', 'kpagecount', 'kcore', 'timer_list', 'slabinfo'):
    refused('process: reading about the machine: ' + name,
            'test -e /proc/%s || exit 3; test $(head -c 8 /proc/%s | wc -c) = 8' % (name, name), control=ROOT)
works('settings of the machine can be read', 'cat /proc/sys/kernel/hostname /proc/meminfo /proc/cpuinfo >/dev/null')
SIZES = """cat >sizes <<'EOF'
test $(df -k --output=size /tmp ~ /dev/shm | awk 'NR > 1 {n += $1} END {printf "%d", n}') -ge \\
	$(awk '/^MemTotal/ {print $2}' /proc/meminfo)
EOF
"""
refused('process: private directories can hold all of the memory', 'sh sizes', before=SIZES, on=('private-tmp',),
        control="unshare -Urm sh -c 'for i in /tmp ~ /dev/shm; do mkdir -p $i && mount -t tmpfs none $i || exit; done; "
                "sh sizes'")

refused('process: a flood of output', 'head -c 2000000 /dev/zero | tr "\\0" y; sleep 1', '--max-output', '1K',
        on=('output-limit',))
refused('process: a call that does not end', 'sleep 4', '--timeout', '1s', on=('wall-clock',))

# network
section('net-deny')
for name, command in (
        ('TCP on the host', './attempt tcp @PORT@'),
        ('UDP on the host', './attempt udp @UDP@'),
        ('TCP with data in the first packet', './attempt fastopen @PORT@'),
        ('TCP over several paths', './attempt mptcp @PORT@'),
        ('TCP from a port of its own choice', './attempt bound @PORT@'),
        ('an abstract socket', './attempt abstract @ABSTRACT@'),
        ('a socket by path', './attempt unix host.sock'),
        ('AF_ALG', './attempt alg'),
        ('vsock', './attempt vsock'),
        ('netlink audit', './attempt audit'),
        ('netlink of other sockets', './attempt netlink 4'),
        ('netlink of the packet filter', './attempt netlink 12'),
        ('netlink of kernel events', './attempt netlink 15')):
    refused('network: ' + name, command)
refused('network: an address more', 'ip addr add 10.9.9.9/32 dev lo', control='unshare -Urn ip addr add 10.9.9.9/32 dev lo')
refused('network: a way more', 'ip link set lo up; ip route add 10.9.0.0/16 dev lo', control='unshare -Urn sh -c "ip link set lo up; ip route add 10.9.0.0/16 dev lo"')

# With a network: the proxy, its sockets and the way to it.
section('net-allowlist')
for name, bind in (('TCP', '(s.SOCK_STREAM, \'127.0.0.1\', 61080)'), ('TCP on all addresses', '(s.SOCK_STREAM, \'0.0.0.0\', 61080)'),
                   ('names', '(s.SOCK_DGRAM, \'127.0.0.1\', 61053)'), ('names on all addresses', '(s.SOCK_DGRAM, \'0.0.0.0\', 61053)'),
                   ('names over TCP', '(s.SOCK_STREAM, \'127.0.0.1\', 61053)')):
    refused('egress: the port of the proxy is taken: ' + name, '/usr/bin/python3 -c "import socket as s; t, a, p = %s; f = s.socket(s.AF_INET, t); '
            'f.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 1); f.setsockopt(s.SOL_SOCKET, s.SO_REUSEPORT, 1); f.bind((a, p))"' % bind, *HOST,
            control=True)
SEEN = 'grep -lxs cordon-proxy /proc/[0-9]*/comm | grep -q .'  # a process may go while it is looked at
refused('egress: the process of the proxy is seen', SEEN, *HOST, on=('net-allowlist', 'hide-metadata'),
        control='cp /bin/sleep ./cordon-proxy; ./cordon-proxy 20 & n=0; while ! (%s) && test $n -lt 100; do n=$((n+1)); sleep 0.1; done; '
                'kill $!; test $n -lt 100' % SEEN)
refused('egress: a descriptor of the proxy is inherited', 'test $(ls /proc/self/fd | wc -l) -gt 4', *HOST, control='test $(ls /proc/self/fd | wc -l) -gt 4')
for name, command in (('TCP on the host', './attempt tcp @PORT@'), ('UDP on the host', './attempt udp @UDP@'),
                      ('an abstract socket of the host', './attempt abstract @ABSTRACT@'), ('the packet filter', './attempt netlink 12')):
    refused('egress: ' + name, command, *HOST)
refused('egress: the host by the proxy', 'curl -sS -m 5 -f -x socks5h://127.0.0.1:61080 telnet://127.0.0.1:@PORT@ </dev/null', *HOST,
        control='./attempt tcp @PORT@')
section('net-deny')
refused('network: interfaces', 'test $(ls /sys/class/net | wc -l) -gt 0', on=('read-scope',))
refused('network: a socket by path in a toolchain', './attempt unix @T@/home/.cargo/bin/host.sock',
        '-e', 'PATH=@T@/home/.cargo/bin:/usr/bin:/bin')
refused('network: a socket by path in a read grant', './attempt unix @T@/home/.cargo/bin/host.sock',
        '--read', '@T@/home/.cargo/bin')
works('a socket of its own', '/usr/bin/python3 -c "import socket as s; a = s.socket(s.AF_UNIX); a.bind(\'/tmp/cf-@PORT@\'); '
      'a.listen(); s.socket(s.AF_UNIX).connect(\'/tmp/cf-@PORT@\')"; r=$?; rm -f /tmp/cf-@PORT@; exit $r',
      but=('landlock',))
works('a pair of sockets', '/usr/bin/python3 -c "import socket as s; a, b = s.socketpair(); a.send(b\'x\'); b.recv(1)"')
for name, command in (('raw sockets', './attempt raw'), ('packet sockets', './attempt packet')):
    refused('network: ' + name, command, control=ROOT)
