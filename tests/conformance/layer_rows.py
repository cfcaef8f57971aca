# SPDX-License-Identifier: Apache-2.0
"""The layers one by one: each row runs with all others left out (src/base/shield.h) and must be refused, and
once more without its own, where it must get through: that is its control.  @T@ and @W@ as in rows.py."""

import collections

import rows

Row = collections.namedtuple('Row', 'layer name command options before after cleanup keep root_only before_as_root without')
ROWS = []

# What a layer cannot stand without.
REQUIRES = {
    'view': ('pidns',),  # a new /proc shows a new pid namespace
    'covers': ('view', 'pidns', 'read-only'),
    'placeholders': ('view', 'pidns', 'read-only', 'disowned', 'covers'),
    'disowned': ('view', 'pidns', 'read-only', 'placeholders'),
    'read-only': ('view', 'pidns'),
    'no-suid': ('view', 'pidns'),
    'no-dev': ('view', 'pidns'),
    'proc': ('view', 'pidns', 'read-only'),
    'public': ('view', 'pidns', 'capabilities'),  # who may override rights needs no owner
    'landlock': ('no-new-privs',),  # the kernel demands it
    'seccomp': ('no-new-privs',),
    'dumpable': ('view', 'pidns', 'capabilities'),
    'tie': ('pidns',),  # the first process dies, the namespace ends the rest
}
ALL = ('view', 'covers', 'placeholders', 'disowned', 'read-only', 'no-suid', 'no-dev', 'proc', 'public', 'landlock', 'seccomp',
       'capabilities', 'no-new-privs', 'dumpable', 'netns', 'pidns', 'ipcns', 'scrub', 'close', 'tie')


def others(row):
    """What is left out while the row's layer stands alone."""
    keep = {row.layer, *REQUIRES.get(row.layer, ()), *row.keep}
    for layer in list(keep):
        keep.update(REQUIRES.get(layer, ()))
    return [layer for layer in ALL if layer not in keep] + list(row.without)


def only(layer, name, command, *options, before=None, after=None, cleanup=None, keep=(), root_only=False,
         before_as_root=None, without=()):
    ROWS.append(Row(layer, name, command, options, before, after, cleanup, keep, root_only or bool(before_as_root),
                    before_as_root, without))


# mounts
for name, command, after in (
        ('reading beside the workspace', 'cat @T@/out/secret', None),
        ('listing beside the workspace', 'ls @T@/out', None),
        ('that something is there', 'test -e @T@/out', None),
        ('through a link', 'cat link-out', None),
        ("through the root's parent", 'cat /..@T@/out/secret', None),
        ('through /proc/self/root', 'cat /proc/self/root@T@/out/secret', None),
        ('through /proc/self/cwd', 'cat /proc/self/cwd/../out/secret', None),
        ('home', 'cat ~/.ssh/id', None),
        ('/sys', 'ls /sys/kernel', None),
        ('/run', 'ls /run/', None),
        ('writing beside the workspace', 'echo x >@T@/out/new', '! test -e @T@/out/new'),
        ('a hard link', 'ln @T@/out/secret n', '! test -e n'),
        ('removing', 'rm @T@/out/secret', 'test -e @T@/out/secret'),
        ('shared memory', 'echo x >/dev/shm/@ABSTRACT@ && test -e /dev/null', '! test -e /dev/shm/@ABSTRACT@')):
    only('view', name, command, after=after)
DENY = ('--deny', '@W@/denied.txt')
only('covers', 'reading a denied file', 'grep -q denied denied.txt', *DENY)
only('covers', 'a denied file under another name', 'ln denied.txt n && grep -q denied n', *DENY)
only('covers', 'a denied directory', 'cat sub/file', '--deny', '@W@/sub')
only('covers', 'credentials', 'cat ~/.ssh/id', '--read', '@T@/home')
only('covers', 'changing a protected file', 'echo x >>.mcp.json', before='echo a >.mcp.json',
     after='test $(wc -l <.mcp.json) = 1')
only('covers', 'filling a protected directory', 'echo x >.claude/x', before='mkdir .claude', after='! test -e .claude/x')
only('covers', 'a hook', 'echo x >.git/hooks/pre-commit', before='git init -q .', after='! test -e .git/hooks/pre-commit')
only('placeholders', 'making a protected file', 'echo x >.mcp.json', after='! test -e .mcp.json')
only('placeholders', 'making a protected directory', 'mkdir .claude', after='! test -e .claude')
only('placeholders', 'moving something there', 'echo x >n && mv n .mcp.json', after='! test -e .mcp.json')
only('placeholders', 'a denied name that is missing', 'echo x >later.env', '--deny', '@W@/later.env',
     after='! test -e later.env')
only('placeholders', 'moving what holds one', 'mv .config c', before='mkdir .config', after='test -e .config')
# A name that is missing is held twice: nobody owns its placeholder, or something is mounted on it.  No row for directories:
# to change one needs the overlay's work directory as well, which goes when the command starts.
only('disowned', 'moving something there', 'echo x >n && mv n .mcp.json', after='! test -e .mcp.json', without=('covers',))
only('covers', 'moving something to a missing name', 'echo x >n && mv n .mcp.json', after='! test -e .mcp.json',
     keep=('placeholders',), without=('disowned',))
ENABLE = 'echo x >n && mv -f n .git/config.worktree'
NO_ENABLE = '! test -s .git/config.worktree'
only('disowned', 'a missing file that needs content', ENABLE, before='git init -q .', after=NO_ENABLE, without=('covers',))
only('covers', 'a missing file that needs content', ENABLE, before='git init -q .', after=NO_ENABLE, keep=('placeholders',),
     without=('disowned',))
only('read-only', 'a read grant', 'echo x >@T@/out/new', '--read', '@T@/out', after='! test -e @T@/out/new')
only('read-only', 'rights in a read grant', 'chmod 777 @T@/out/secret', '--read', '@T@/out',
     after='test $(stat -c %a @T@/out/secret) != 777')
# What stands in it depends on who has keys here: it is enough that it is the kernel's.
only('proc', 'keys', 'cat /proc/key-users && test "$(stat -f -c %T /proc/key-users)" = proc')
only('proc', 'settings of the machine', ': >>/proc/sys/vm/overcommit_memory', root_only=True)
only('proc', 'timers', 'head -c 1 /proc/timer_list | grep -q .', root_only=True)
only('public', '/etc/shadow', 'cat /etc/shadow', root_only=True)
SUID = 'cp attempt suid && chown 1 suid && chmod 4755 suid && cp attempt @T@/out/suid && chown 1 @T@/out/suid && ' \
       'chmod 4755 @T@/out/suid && chmod 755 @T@/out'
only('no-suid', 'a set-uid file', '@T@/out/suid euid 1', '--read', '@T@/out', before_as_root=SUID)
only('no-suid', 'a set-uid file in the workspace', './suid euid 1', before_as_root=SUID, keep=('placeholders',))
only('no-new-privs', 'a set-uid file', './suid euid 1', before_as_root=SUID)
only('no-dev', 'a device node', 'head -c 1 @T@/out/zero >n && test -s n', '--read', '@T@/out',
     before_as_root='mknod -m 666 @T@/out/zero c 1 5')

# Landlock
for name, command, after in (
        ('writing to a file', 'echo x >>@T@/out/secret', 'test $(wc -l <@T@/out/secret) = 1'),
        ('truncate()', './attempt truncate @T@/out/secret', 'test -s @T@/out/secret'),
        ('making a file', 'echo x >@T@/out/new', '! test -e @T@/out/new'),
        ('making a directory', 'mkdir @T@/out/new', '! test -e @T@/out/new'),
        ('making a link', 'ln -s x @T@/out/new', '! test -L @T@/out/new'),
        ('making a FIFO', 'mkfifo @T@/out/new', '! test -e @T@/out/new'),
        ('making a socket', "/usr/bin/python3 -c \"import socket as s; s.socket(s.AF_UNIX).bind('@T@/out/new')\"",
         '! test -e @T@/out/new'),
        ('removing a file', 'rm @T@/out/secret', 'test -e @T@/out/secret'),
        ('removing a directory', 'rmdir @T@/out/d', 'test -e @T@/out/d'),
        ('moving a file in', 'mv -n @T@/out/secret n', 'test -e @T@/out/secret'),
        ('moving a file out', 'mv -n file @T@/out/n', '! test -e @T@/out/n'),
        ('linking a file in', 'ln @T@/out/secret n', '! test -e n'),
        ('linking a file out', 'ln file @T@/out/n', '! test -e @T@/out/n')):
    only('landlock', name, command, before='mkdir @T@/out/d', after=after)
only('landlock', 'ioctl() on a device', './attempt ioctl @T@/out/zero', before_as_root='mknod -m 666 @T@/out/zero c 1 5')
only('landlock', 'an abstract socket', './attempt abstract @ABSTRACT@')
only('landlock', 'a signal', 'kill -0 @PID@')
only('landlock', 'a mount', './attempt mount sub')

# the filter
for name, command in (
        ('mount', './attempt mount sub'), ('fsopen', './attempt fsopen'), ('open_tree', './attempt open-tree'),
        ('chroot', './attempt chroot'), ('setns', './attempt setns'), ('sethostname', './attempt sethostname'),
        ('ptrace', './attempt ptrace-child'), ('process_vm_readv', './attempt vm-read'), ('kcmp', './attempt kcmp'),
        ('pidfd_getfd', './attempt pidfd-getfd'), ('move_pages', './attempt move-pages'),
        ('io_uring', './attempt io-uring'), ('userfaultfd', './attempt userfaultfd'),
        ('perf_event_open', './attempt perf'), ('keyctl', './attempt keyctl'), ('add_key', './attempt add-key'),
        ('request_key', './attempt request-key'), ('modify_ldt', './attempt modify-ldt'),
        ('personality', './attempt personality'), ('TIOCSTI', './attempt tiocsti'), ('TIOCLINUX', './attempt tioclinux'),
        ('TIOCSETD', './attempt tiocsetd'), ('clone3', './attempt clone3'), ('x32 numbers', './attempt x32'),
        ('32-bit calls', './attempt int80'), ('netlink of other sockets', './attempt netlink 4'),
        ('netlink of kernel events', './attempt netlink 15'), ('AF_ALG', './attempt alg'), ('AF_VSOCK', './attempt vsock')):
    only('seccomp', name, command)
# As in a sandbox that has a listener already.
for name, command in (('mount', './attempt mount sub'), ('keyctl', './attempt keyctl'), ('clone with newuser', './attempt clone newuser')):
    only('seccomp', name + ' where nobody listens', command, without=('listener',))
only('seccomp', 'umount2', './attempt umount /dev/shm', keep=('view',))
only('seccomp', 'mount_setattr', './attempt remount /', keep=('view',))
only('seccomp', 'AF_PACKET', './attempt packet', keep=('netns',))
only('seccomp', 'raw sockets', './attempt raw', keep=('netns',))
for flag in ('newns', 'newuts', 'newipc', 'newuser', 'newpid', 'newnet', 'newcgroup'):
    only('seccomp', 'clone with ' + flag, './attempt clone ' + flag)
    only('seccomp', 'unshare with ' + flag, './attempt unshare ' + flag)
only('seccomp', 'unshare with newtime', './attempt unshare newtime')
for name, command in (
        ('chmod', 'cp /bin/true n; chmod 4755 n'),
        ('open', '/usr/bin/python3 -c "import os; os.umask(0); os.open(\'n\', os.O_CREAT | os.O_WRONLY, 0o6755)"'),
        ('mknod', '/usr/bin/python3 -c "import os; os.umask(0); os.mknod(\'n\', 0o104755)"'),
        ('openat2', './attempt openat2-suid n')):
    only('seccomp', 'a set-id file by ' + name, command + '; true', after='! test -u n')
SEALED = ('--read', '@T@/out')
only('seccomp', 'Unix sockets where one could be reached', './attempt unix host.sock', *SEALED)
only('seccomp', 'datagram pairs where a socket could be reached', './attempt dgram-pair', *SEALED)

# capabilities
for name, command in (('mount', './attempt mount sub'), ('chroot', './attempt chroot'),
                      ('sethostname', './attempt sethostname'), ('a capability in the bounding set', './attempt capabilities')):
    only('capabilities', name, command)
only('capabilities', 'raw sockets', './attempt raw', keep=('netns',))
only('capabilities', "another user's file", 'cat private', before_as_root='echo x >private && chown 1 private && chmod 0 private')

# namespaces
only('netns', 'TCP', './attempt tcp @PORT@')
only('netns', 'UDP', './attempt udp @UDP@')
only('netns', 'an abstract socket', './attempt abstract @ABSTRACT@')
only('pidns', 'a signal', 'kill -0 @PID@')
only('pidns', 'a daemon outlives the call', rows.DAEMON, after='sleep 2; ! test -e late')
only('ipcns', 'System V memory', './attempt shm-find @PORT@', before='./attempt shm-make @PORT@',
     cleanup='./attempt shm-remove @PORT@')
only('dumpable', 'descriptors of the first process', 'readlink /proc/1/fd/0')
only('dumpable', 'its environment', 'cat /proc/1/environ >/dev/null')

# the rest
only('scrub', 'a variable of the caller', 'test -n "$SECRET_TOKEN"')
only('close', 'an inherited descriptor', './attempt leaked-fd 77')
