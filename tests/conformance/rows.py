# SPDX-License-Identifier: Apache-2.0
"""The attempts.  @T@ is the scene, @W@ its workspace (also the working directory)."""

import collections

Row = collections.namedtuple('Row', 'name expect command options before after control')
ROWS = []

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


def refused(name, command, *options, before=None, after=None, control=True):
    ROWS.append(Row(name, 'refused', command, options, before, after, control))


def harmless(name, command, after, *options, before=None):
    """It may seem to work inside, but nothing of it reaches the host."""
    ROWS.append(Row(name, 'either', command, options, before, after, True))


def works(name, command, *options, before=None):
    ROWS.append(Row(name, 'works', command, options, before, None, True))


# what must work
works('the workspace can be written', 'echo x >new && cat new file && mkdir d && mv new d/ && rm -r d')
works('the system can be read', 'ls /usr/bin /etc >/dev/null && cat /etc/passwd >/dev/null')
works('/tmp can be used', 'echo x >/tmp/x-$$ && cat /tmp/x-$$ && rm /tmp/x-$$')
works('/dev is there', 'echo x >/dev/null && head -c 9 /dev/urandom >/dev/null && head -c 9 /dev/zero >/dev/null')
works('/dev/shm can be used', 'echo x >/dev/shm/cf-$$ && rm /dev/shm/cf-$$')
works('pipes and background processes', 'sleep 0.01 & wait; seq 9 | sort -n | tail -1 >/dev/null')
works('loopback of its own', './attempt loopback')
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
works('a read grant can be read', 'cat @T@/out/secret', '--read', '@T@/out')
works('a write grant can be written', 'echo x >@T@/out/new && rm @T@/out/new', '--write', '@T@/out')

# reading
for name, command in (
        ('a file beside the workspace', 'cat @T@/out/secret'),
        ('its directory', 'ls @T@/out'),
        ('its metadata', 'stat @T@/out/secret'),
        ('a sibling with the same prefix', 'cat @T@/w2/file'),
        ('through dot-dot', 'cat ../out/secret'),
        ('through a link', 'cat link-out'),
        ('through a link to a directory', 'cat dir-out/secret'),
        ('through /proc/self/root', 'cat /proc/self/root@T@/out/secret'),
        ('through /proc/self/cwd', 'cat /proc/self/cwd/../out/secret'),
        ('through a new link', 'ln -s @T@/out n && cat n/secret'),
        ('the home directory', 'cat ~/.ssh/id'),
        ('credentials', 'cat ~/.aws/credentials'),
        ('the environment of a host process', 'cat /proc/@PID@/environ'),
        ('that a host process exists', 'test -d /proc/@PID@'),
        ('an inherited descriptor', './attempt leaked-fd 77'),
        ('the file behind it', 'cat /proc/self/fd/77'),
        ('the environment of the caller', 'test -n "$SECRET_TOKEN"'),
        ('block devices and memory', 'ls /dev/mem || ls /dev/kmsg'),
        ('/sys', 'ls /sys/kernel'),
        ('cgroups', 'ls /sys/fs/cgroup'),
        ('/run', 'ls /run/'),
        ('kernel log', 'test -e /dev/kmsg')):
    refused('read: ' + name, command)
refused('read: a denied file', 'cat denied.txt', '--deny', '@W@/denied.txt')
refused('read: a denied file below a denied directory', 'cat sub/file', '--deny', '@W@/sub')
refused('read: a denied file by glob', 'cat sub/deep.pem', '--deny', '*.pem')
refused('read: a denied file under another name', 'ln denied.txt n && cat n', '--deny', '@W@/denied.txt')
refused('read: a denied file after a rename', 'mv denied.txt n && cat n', '--deny', '@W@/denied.txt')
refused('read: a denied file after its directory moved', 'mv sub s2 && cat s2/deep.pem', '--deny', '@W@/sub/deep.pem')
refused('read: a denied directory can be opened with other rights', 'chmod 700 sub && ls sub', '--deny', '@W@/sub')
refused('read: credentials inside the scope', 'cat ~/.ssh/id', '--read', '@T@/home')
refused('read: our own state', 'ls @T@/state', '--read', '@T@/w2', before='touch ../state/x')

# writing
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
        ('shared /tmp', 'echo x >/tmp/@ABSTRACT@', '! test -e /tmp/@ABSTRACT@'),
        ('shared memory', 'echo x >/dev/shm/@ABSTRACT@', '! test -e /dev/shm/@ABSTRACT@')):
    harmless('write: ' + name, command, after)
refused('write: a read grant', 'echo x >@T@/out/new', '--read', '@T@/out', after='! test -e @T@/out/new')
refused('write: a denied file', 'echo x >>denied.txt', '--deny', '@W@/denied.txt',
        after='test $(wc -l <denied.txt) = 1')
refused('write: replacing a denied file', 'echo x >n && mv -f n denied.txt', '--deny', '@W@/denied.txt',
        after='grep -q denied denied.txt')
refused('write: removing a denied file', 'rm -f denied.txt', '--deny', '@W@/denied.txt', after='test -e denied.txt')
refused('write: a denied name that is missing', 'echo x >later.env', '--deny', '@W@/later.env',
        after='! test -e later.env')

# A file of root's that runs as root for everybody outside; as a user, the same with that user.
for name, command in (
        ('chmod', 'cp /bin/true n; chmod 4755 n'),
        ('chmod of the group', 'cp /bin/true n; chmod 2755 n'),
        ('open', '/usr/bin/python3 -c "import os; os.umask(0); os.open(\'n\', os.O_CREAT | os.O_WRONLY, 0o6755)"'),
        ('mknod', '/usr/bin/python3 -c "import os; os.umask(0); os.mknod(\'n\', 0o104755)"'),
        ('openat2', './attempt openat2-suid n')):
    harmless('write: a set-id file by ' + name, command, '! test -u n && ! test -g n')
works('other modes', 'touch n && chmod 1777 n && chmod 0640 n && install -m 755 file n2 && mkdir -m 700 n3')

# protected names: missing, and there
import os
import re
SOURCE = os.path.join(os.environ.get('SRCDIR', '.'), 'src/workspace/protected.c')
with open(SOURCE, encoding='utf-8') as source:
    TABLE = re.search(r'protected_names\[\] = \{(.*?)\n\};', source.read(), re.S).group(1)
for name, is_dir in re.findall(r'\{"([^"]+)", (true|false)\}', TABLE):
    top = name.split('/')[0]
    if is_dir == 'true':
        refused('protected: %s cannot be made' % name, 'mkdir -p %s && echo x >%s/x' % (name, name),
                after='! test -e %s' % top)
        refused('protected: %s cannot be filled' % name, 'echo x >%s/evil' % name, before='mkdir -p %s' % name,
                after='! test -e %s/evil' % name)
    else:
        refused('protected: %s cannot be made' % name, 'echo x >%s' % name, after='! test -e %s' % name)
        refused('protected: %s cannot be moved there' % name, 'echo x >n && mv -f n %s' % name,
                after='! test -e %s' % name)
        refused('protected: %s cannot be changed' % name, 'echo x >>%s' % name, before='echo a >%s' % name,
                after='test $(wc -l <%s) = 1' % name)
for name, command in (
        ('removed', 'rm %s'), ('moved away', 'mv %s x'), ('linked from', 'ln %s x'), ('made executable', 'chmod 755 %s'),
        ('given another time', 'touch -h -d 2001-01-01 %s'), ('exchanged', './attempt exchange %s')):
    for target in ('.bashrc', '.npmrc', '.vscode'):
        refused('protected: the placeholder of %s cannot be %s' % (target, name), command % target, control=False,
                after='! test -e %s && ! test -L %s && ! test -e x && grep -q mine file' % (target, target))
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
refused('protected: a name of the policy', 'echo x >ci.yml', '-p', '@T@/p.yaml',
        before="printf 'sandbox:\\n  capabilities:\\n    filesystem:\\n      mode: scoped\\n      mount_paths:\\n"
               "        - {path: @W@, permissions: rw}\\n      protected_paths: [ci.yml]\\n' >@T@/p.yaml",
        after='! test -e ci.yml')

# git
REPO = 'git init -q . && echo a >a && git add a && git commit -qm 1'
for name, command, after in (
        ('a hook', 'echo x >.git/hooks/pre-commit', '! test -e .git/hooks/pre-commit'),
        ('configuration', 'echo x >>.git/config', '! grep -qx x .git/config'),
        ('configuration by git', 'git config core.hooksPath /x', '! grep -q /x .git/config'),
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
refused('git: a hostile pointer to another repository', 'ls @T@/main/.git',
        before='mkdir ../main && cd ../main && ' + REPO + ' && printf "gitdir: %s/.git\\n" "$PWD" >@W@/.git')

refused('git: a pointer that an earlier call has made up', 'cat @T@/out/secret',
        before='mkdir g && echo "gitdir: @W@/g" >.git && echo @W@/.git >g/gitdir && echo @T@ >g/commondir')
refused('git: a pointer to a made-up worktree of the directory above', 'cat @T@/out/secret',
        before='mkdir -p worktrees/g && echo "gitdir: @W@/worktrees/g" >.git && echo @W@/.git >worktrees/g/gitdir && '
               'echo @T@ >worktrees/g/commondir')

# processes
for name, command in (
        ('a signal to a host process', 'kill -0 @PID@'),
        ('tracing a host process', './attempt ptrace @PID@'),
        ('tracing a process of its own', './attempt ptrace-child'),
        ('reading the memory of processes', './attempt vm-read'),
        ('a user namespace', './attempt userns'),
        ('a user namespace by clone3', './attempt clone3'),
        ('a mount', 'unshare -Urm mount -t tmpfs none /mnt'),
        ('io_uring', './attempt io-uring'),
        ('key rings', './attempt keyctl'),
        ('userfaultfd', './attempt userfaultfd'),
        ('personality', './attempt personality')):
    refused('process: ' + name, command)
refused('process: tracing pid 1 of the sandbox', 'test $$ != 1 && cat /proc/1/environ /proc/1/maps', control=False)
refused('process: the root of pid 1', 'ls /proc/1/root/ /proc/1/cwd/', control=False)
refused('process: the descriptors of pid 1', 'readlink /proc/1/fd/0', control=False)
refused('process: a capability is left', './attempt capabilities')
refused('process: a device node', 'mknod n c 1 3 && cat n', control=False)
refused('process: TIOCSTI', './attempt tiocsti', control=False)
refused('process: the host name', 'hostname other', control=False)
# Opened, never written: the control runs on the host.
for name, path in (('the core dump handler', 'sys/kernel/core_pattern'), ('the module loader', 'sys/kernel/modprobe'),
                   ('memory settings', 'sys/vm/overcommit_memory'), ('interrupts', 'irq/default_smp_affinity'),
                   ('the system request key', 'sysrq-trigger')):
    refused('process: settings of the machine: ' + name, ': >>/proc/' + path, control=False)
for name in ('keys', 'key-users', 'kpagecount', 'kcore', 'timer_list', 'slabinfo'):
    refused('process: reading about the machine: ' + name, 'head -c 9 /proc/%s | grep -q .' % name, control=False)
works('settings of the machine can be read', 'cat /proc/sys/kernel/ostype /proc/meminfo /proc/cpuinfo >/dev/null')
refused('process: private directories can hold all of the memory', control=False, command=
        "test $(df -k --output=size /tmp ~ /dev/shm | awk 'NR > 1 {n += $1} END {printf \"%d\", n}') -ge "
        "$(awk '/^MemTotal/ {print $2}' /proc/meminfo)")
harmless('process: a daemon outlives the call', 'setsid sh -c "sleep 1; echo x >late" </dev/null >/dev/null 2>&1 &',
         'sleep 2; ! test -e late')

# network
for name, command in (
        ('TCP on the host', './attempt tcp @PORT@'),
        ('UDP', './attempt udp-out'),
        ('an abstract socket', './attempt abstract @ABSTRACT@'),
        ('a socket by path', './attempt unix host.sock'),
        ('AF_ALG', './attempt alg'),
        ('interfaces', 'test $(ls /sys/class/net | wc -l) -gt 0'),
        ('netlink audit', './attempt audit')):
    refused('network: ' + name, command, control=name not in ('UDP', 'AF_ALG', 'netlink audit'))
refused('network: a socket by path in a toolchain', './attempt unix @T@/home/.cargo/bin/host.sock',
        '-e', 'PATH=@T@/home/.cargo/bin:/usr/bin:/bin')
refused('network: a socket by path in a read grant', './attempt unix @T@/home/.cargo/bin/host.sock',
        '--read', '@T@/home/.cargo/bin')
works('a socket of its own', '/usr/bin/python3 -c "import socket as s; a = s.socket(s.AF_UNIX); a.bind(\'/tmp/cf-@PORT@\'); '
      'a.listen(); s.socket(s.AF_UNIX).connect(\'/tmp/cf-@PORT@\')"; r=$?; rm -f /tmp/cf-@PORT@; exit $r')
refused('network: raw sockets', './attempt raw', control=False)
refused('network: packet sockets', './attempt packet', control=False)
refused('network: vsock', './attempt vsock', control=False)
