# SPDX-License-Identifier: Apache-2.0
"""Where an attempt is made: a workspace w, things beside it, and a host around it."""

import glob
import os
import shutil
import socket
import subprocess

import rows

NOBODY = 65534
TIMEOUT = 60
NOT_IN_KERNEL = 3  # exit status of attempt.c


def what_runs(top):
    """For a call that does not end: its processes, and what each of them waits for."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid, encoding='utf-8', errors='replace') as file:
                parents[int(pid)] = int(file.read().rsplit(')', 1)[1].split()[1])
        except OSError:
            continue
    lines, queue = [], [top]
    while queue:
        pid = queue.pop(0)
        words = []
        for name in ('cmdline', 'wchan', 'syscall'):
            try:
                with open('/proc/%d/%s' % (pid, name), encoding='utf-8', errors='replace') as file:
                    words.append(file.read(200).replace('\0', ' ').strip())
            except OSError as why:
                words.append(why.strerror)
        lines.append('%d of %d: %s' % (pid, parents.get(pid, 0), ' | '.join(words)))
        queue += [child for child, parent in parents.items() if parent == pid]
    return '\n'.join(lines)


class Scene:
    """A directory with everything in it, listeners and a process."""

    def __init__(self, top, name, user):
        self.top = os.path.join(top, name)
        self.user = user
        self.sockets = []
        for folder in ('w', 'w/sub', 'w2', 'out', 'home', 'state', 'config', 'home/.ssh', 'home/.aws',
                       'home/.cargo/bin'):
            os.makedirs(os.path.join(self.top, folder), 0o700)
        for path, text in rows.FILES.items():
            with open(os.path.join(self.top, path), 'w', encoding='utf-8') as file:
                file.write(text)
        os.symlink('../out/secret', os.path.join(self.top, 'w/link-out'))
        os.symlink('../out', os.path.join(self.top, 'w/dir-out'))
        shutil.copy(os.path.join(os.environ['BUILDDIR'], 'tests/conformance/attempt'),
                    os.path.join(self.top, 'w/attempt'))
        self.listen(socket.AF_UNIX, os.path.join(self.top, 'w/host.sock'))
        self.listen(socket.AF_UNIX, os.path.join(self.top, 'home/.cargo/bin/host.sock'))
        self.listen(socket.AF_UNIX, '\0' + self.abstract())
        self.port = self.listen(socket.AF_INET, ('127.0.0.1', 0)).getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(('127.0.0.1', 0))
        self.sockets.append(udp)
        self.udp_port = udp.getsockname()[1]
        for answer in glob.glob(os.path.join(top, 'answers', 'probe-*')):
            shutil.copy(answer, os.path.join(self.top, 'state'))
        self.keep_machines(top)
        self.give()
        self.process = subprocess.Popen(['sleep', '600'], cwd=self.top, user=self.uid(), group=self.uid(),
                                        extra_groups=[] if self.uid() is not None else None)

    def keep_answers(self):
        """What the probes of this scene found, for all that follow."""
        folder = os.path.join(os.path.dirname(self.top), 'answers')
        os.makedirs(folder, exist_ok=True)
        for answer in glob.glob(os.path.join(self.top, 'state', 'probe-*')):
            shutil.copy(answer, folder)

    def keep_machines(self, top):
        """For qemu: all scenes of a user share what a machine is made from."""
        if 'CORDON_VM_KERNEL' not in os.environ:
            return
        self.machines = os.path.join(top, 'machines-' + self.user)
        os.makedirs(self.machines, 0o700, exist_ok=True)
        if self.uid() is not None:
            os.chown(self.machines, self.uid(), self.uid())
        os.symlink(self.machines, self.top + '/state/vm')
        if os.path.exists(self.machines + '/probe-qemu'):
            shutil.copy(self.machines + '/probe-qemu', self.top + '/state/probe-qemu')

    def uid(self):
        return NOBODY if self.user == 'nobody' and os.geteuid() == 0 else None

    def abstract(self):
        return 'cordon-' + self.top.replace('/', '-')[-40:]

    def listen(self, family, address):
        sock = socket.socket(family)
        sock.bind(address)
        sock.listen(8)
        self.sockets.append(sock)
        return sock

    def give(self):
        if self.uid() is None:
            return
        for folder, _, files in os.walk(self.top):
            for path in [folder] + [os.path.join(folder, f) for f in files]:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def expand(self, text):
        for key, value in (('@T@', self.top), ('@W@', self.top + '/w'), ('@PORT@', str(self.port)),
                           ('@UDP@', str(self.udp_port)), ('@PID@', str(self.process.pid)),
                           ('@SID@', str(os.getsid(0))), ('@HOST@', os.uname().nodename),
                           ('@ABSTRACT@', self.abstract())):
            text = text.replace(key, value)
        return text

    def environment(self):
        own = {k: v for k, v in os.environ.items()
               if k in ('CORDON_TEST_LANDLOCK_ABI', 'CORDON_WASM_ENGINE', 'CORDON_VM_KERNEL', 'DOCKER_HOST', 'CONTAINER_HOST')}
        return {**own, 'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': self.top + '/home',
                'CORDON_STATE_DIR': self.top + '/state', 'CORDON_CONFIG_DIR': self.top + '/config',
                'LANG': 'C.UTF-8', 'SECRET_TOKEN': 'hush', 'GIT_CONFIG_NOSYSTEM': '1'}

    def run(self, argv, as_root=False, env=None):
        uid = None if as_root else self.uid()
        fd = os.open(os.path.join(self.top, 'w2/file'), os.O_RDONLY)
        try:
            with subprocess.Popen(argv, cwd=os.path.join(self.top, 'w'), env=dict(self.environment(), **(env or {})),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  pass_fds=[os.dup2(fd, 77)], umask=0o022, user=uid, group=uid,
                                  extra_groups=[] if uid is not None else None) as process:
                try:
                    output, _ = process.communicate(timeout=TIMEOUT)
                except subprocess.TimeoutExpired as why:
                    why.stderr = what_runs(process.pid)  # before it is gone
                    process.kill()
                    raise
                return subprocess.CompletedProcess(argv, process.returncode, output)
        finally:
            os.close(fd)
            os.close(77)

    def close(self):
        if 'CORDON_VM_KERNEL' in os.environ and os.path.exists(self.top + '/state/probe-qemu'):
            shutil.copy(self.top + '/state/probe-qemu', self.machines + '/probe-qemu')
        self.process.kill()
        self.process.wait()
        for sock in self.sockets:
            sock.close()
        for folder in ('/tmp', '/dev/shm'):  # what a control wrote there
            try:
                os.unlink(os.path.join(folder, self.abstract()))
            except FileNotFoundError:
                pass
        shutil.rmtree(self.top, ignore_errors=True)
