# SPDX-License-Identifier: Apache-2.0
"""What the tests that kill cordon share: a place for calls, and what there is to see of leftovers in it.

Where leftovers may stand (/tmp, /var/tmp) others leave theirs, too; so these are directories of the test's own, mounted
in a namespace of its own, and whatever stands there in the end is ours.
"""

import ctypes
import fcntl
import glob
import os
import shutil
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORDON = os.environ.get('CORDON') or os.path.join(ROOT, 'build', 'cordon')
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
CLONE_NEWUSER, CLONE_NEWNS, MS_BIND, MS_PRIVATE_REC = 0x10000000, 0x20000, 0x1000, 0x44000
SHARED_PLACES = ('/tmp', '/var/tmp')
SETTLE_S = 20        # for kernel objects that die late
NAMESPACES_LEFT = 4  # a sandbox needs one of each kind; a nested one is never made here
FREE_TRIES, FREE_S = 20, 0.05  # for a lock whose owner has just died
# What cordon keeps in its state directory on purpose.
KEPT = ('probe-native', 'probe-landlock', 'probe-bwrap', 'probe-nsjail', 'probe-chroot', 'calls', 'sandboxes')
# What overlayfs writes on the directories of the host.
TRACES = 'user.overlay.'

LIBC = ctypes.CDLL(None, use_errno=True)


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, good, what, note=''):
        self.n += 1
        self.failed += not good
        print('%sok %d - %s' % ('' if good else 'not ', self.n, what), flush=True)
        if note:
            print('# ' + note, flush=True)

    def done(self):
        print('1..%d' % self.n, flush=True)
        return 1 if self.failed else 0


def write(path, text):
    with open(path, 'w') as file:
        file.write(text)


def become_nobody():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # our own files in /proc are ours again


def enter_namespace():
    """A mount namespace of our own, and for an ordinary user a user namespace whose ids are mapped to themselves."""
    uid, gid = os.geteuid(), os.getegid()
    if LIBC.unshare(CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)) != 0:
        return False
    if uid:
        write('/proc/self/setgroups', 'deny')
        write('/proc/self/uid_map', '%d %d 1' % (uid, uid))
        write('/proc/self/gid_map', '%d %d 1' % (gid, gid))
    return LIBC.mount(b'none', b'/', None, MS_PRIVATE_REC, None) == 0


class Grounds:
    """/tmp and /var/tmp of our own, on their file system.  In the namespace; done() outside of it is no harm."""

    def __init__(self):
        # A program that stands in one of them would be hidden.
        self.is_own = not any(CORDON.startswith(place + '/') for place in SHARED_PLACES)
        self.dirs = []
        for place in SHARED_PLACES if self.is_own else ():
            own = tempfile.mkdtemp(prefix='cordon-grounds-', dir=place)
            os.chmod(own, 0o1777)
            self.dirs.append((place, own))
        for place, own in self.dirs:
            if LIBC.mount(own.encode(), place.encode(), None, MS_BIND, None) != 0:
                raise OSError(ctypes.get_errno(), 'mount ' + place)

    def done(self):
        for place, own in self.dirs:
            LIBC.umount2(place.encode(), 2)
            shutil.rmtree(own, ignore_errors=True)


class Place:
    """A workspace and a state directory, and what there is to see of leftovers."""

    def __init__(self, is_apart=False):
        """is_apart: with the workspace on a mount of its own, where nothing else can carry what it needs."""
        self.top = tempfile.mkdtemp(prefix='soak-', dir='/tmp')
        os.chmod(self.top, 0o755)
        self.far = tempfile.mkdtemp(prefix='soak-', dir=SHARED_PLACES[1]) if is_apart else None
        if is_apart and LIBC.mount(self.far.encode(), self.far.encode(), None, MS_BIND, None) != 0:
            raise OSError(ctypes.get_errno(), 'mount ' + self.far)
        self.parent = os.path.join(self.far or self.top, 'parent')
        self.work = os.path.join(self.parent, 'work')
        self.state = os.path.join(self.top, 'state')
        os.makedirs(self.work)
        os.mkdir(self.state, 0o700)
        os.mkdir(os.path.join(self.work, '.git'))
        self.env = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': self.top,
                    'CORDON_STATE_DIR': self.state, 'CORDON_CONFIG_DIR': os.path.join(self.top, 'config')}
        self.limits = False
        self.groups = self.cgroups()
        self.loose = self.outside()

    def done(self):
        if self.far:
            LIBC.umount2(self.far.encode(), 2)
        for path in filter(None, (self.top, self.far)):
            shutil.rmtree(path, ignore_errors=True)

    @staticmethod
    def cgroups():
        return [d for d, names, _ in os.walk('/sys/fs/cgroup') if os.path.basename(d).startswith('cordon-')]

    @staticmethod
    def outside():
        return set(path for place in SHARED_PLACES for path in glob.glob(place + '/.cordon-*'))

    def leftovers(self, has_groups=True):
        """Of ours; other users of this machine may have theirs."""
        found = [d for d in self.cgroups() if d not in self.groups and self.is_free(d)] if has_groups else []
        found += [f for f in self.outside() - self.loose if self.is_free(f)]
        found += [os.path.join(self.state, n) for n in os.listdir(self.state) if not n.startswith('audit.') and n not in KEPT]
        # Change sets that are kept are somebody's; those of a single call are not.
        found += [name for name in glob.glob(os.path.join(self.state, 'sandboxes', '*'))
                  if not (os.path.basename(name).startswith('sb-') and os.path.exists(os.path.join(name, 'note')))]
        found += [os.path.join(self.parent, n) for n in os.listdir(self.parent) if n != 'work']
        found += [os.path.join(self.work, n) for n in os.listdir(self.work) if n != '.git']
        return found

    def forget(self):
        """Removes what is left, so that it is not seen twice, and the change sets."""
        for path in self.leftovers() + glob.glob(os.path.join(self.state, 'sandboxes', '*')):
            for top, names, _ in os.walk(path):
                for name in names:
                    os.chmod(os.path.join(top, name), 0o700)
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        for path in (self.work, os.path.join(self.work, '.git')):
            for name in os.listxattr(path):
                if name.startswith(TRACES):
                    os.removexattr(path, name)

    def traces(self):
        """What overlayfs left on the host's directories."""
        return ['%s: %s' % (path, name) for path in (self.work, os.path.join(self.work, '.git'))
                for name in os.listxattr(path) if name.startswith(TRACES)]

    @staticmethod
    def is_free(path):
        """Does nobody hold its lock, and is it still there after a moment?"""
        for _ in range(FREE_TRIES):
            try:
                fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            except OSError:
                return False
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            finally:
                os.close(fd)
            time.sleep(FREE_S)
        return os.path.exists(path)

    def start(self, *words, program=CORDON, out='out'):
        return os.posix_spawn(program, [program, *words], self.env, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, '/dev/null', os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.path.join(self.top, out), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, os.path.join(self.top, 'err'), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)])

    def run(self, *words):
        return os.waitstatus_to_exitcode(os.waitpid(self.start(*words), 0)[1])

    def said(self):
        with open(os.path.join(self.top, 'err'), errors='replace') as file:
            lines = file.read().strip().split('\n')
        os.truncate(os.path.join(self.top, 'err'), 0)
        return lines


def children():
    with open('/proc/self/task/%d/children' % os.getpid()) as file:
        return file.read().split()


def is_settled(place):
    """At most a handful of each kind of namespace is alive below ours, or becomes so.  Return: is it, and a note."""
    kinds = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup']
    before = {}
    for kind in kinds:
        name = '/proc/sys/user/max_%s_namespaces' % kind
        with open(name) as file:
            before[name] = file.read().strip()
        write(name, str(NAMESPACES_LEFT))
    started = time.monotonic()
    while True:
        code = place.run('run', '-q', '-C', place.work, '--', 'true')
        took = time.monotonic() - started
        if code == 0 or took > SETTLE_S:
            break
        time.sleep(0.05)
    for name, text in before.items():
        write(name, text)
    return code == 0, 'after %.2f s; %s' % (took, place.said()[-1])


def mounts():
    with open('/proc/self/mountinfo') as file:
        return len(file.readlines())
