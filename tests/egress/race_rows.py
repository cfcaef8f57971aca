# SPDX-License-Identifier: Apache-2.0
"""Programs that race whoever makes or redirects their connections (race.c).

What they reach is told by the servers themselves: on the side of the client nothing of it can be believed.
"""

import os
import re
import shutil
import socket
import socketserver
import subprocess

PORT = 2225
GOOD, BAD = '203.0.113.5', '203.0.113.6'
ALLOW = ['--allow-host', '%s:%d' % (GOOD, PORT), '--allow-private', GOOD + '/32']


class Where(socketserver.BaseRequestHandler):
    """Says which address was reached, and with what."""

    told = []

    def handle(self):
        self.request.settimeout(10)
        data = self.request.recv(4096)
        address = self.request.getsockname()[0]
        self.told.append((address, data))
        self.request.sendall(b'at %s got %d\n' % (address.encode(), len(data)))


def command(name):
    return ['./race', name, GOOD, BAD, str(PORT)]


def judge(text):
    """What is wrong with what a call said, and with what the servers saw meanwhile."""
    if re.search(r'at 203\.0\.113\.6|^open: ', text, re.M):
        return 'it got through: %r' % text[:400]
    if any(address != GOOD for address, _ in Where.told):
        return 'a server that is not listed was reached: %r' % Where.told[:5]
    strange = [data for _, data in Where.told if data.strip(b'xy')]
    return 'somebody else\'s words: %r' % strange[:5] if strange else ''


def row(r, name, control, want):
    full = 'race: ' + name
    if not r.wanted(full):
        return
    word = name.split(':')[0]
    problem = ''
    try:
        Where.told.clear()
        bare = r.bare(command(word))
        if not re.search(control, bare):
            problem = 'control: wanted %r, got %r' % (control, bare[:400])
        Where.told.clear()
        text, _ = r.run(ALLOW, command(word))
        problem = problem or judge(text)
        if not problem and not re.search(want, text):
            problem = 'wanted %r, got %r' % (want, text[:400])
    except Exception as e:  # pylint: disable=broad-except
        problem = repr(e)
    r.result(full, problem)


def strangers(r):
    """Whoever else on the machine finds the port that connections are made to gets nothing from it."""
    name = 'race: a stranger at the door'
    if not r.wanted(name):
        return
    Where.told.clear()
    call = subprocess.Popen([*r.prefix, r.cordon, 'run', '--cwd', r.workspace, '-q', *r.backend, *ALLOW, '--', *command('hold')],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    problem, held = '', []
    try:
        line = call.stdout.readline().decode()
        port = int(line.split()[1])
        for _ in range(20):  # they wait there before the call's next connection does
            s = socket.create_connection(('127.0.0.1', port), 5)
            s.sendall(b'CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n' % (GOOD.encode(), PORT))
            held.append(s)
        text = call.communicate(timeout=30)[0].decode()
        for s in held:
            s.settimeout(5)
            try:
                if s.recv(100):
                    problem = 'it was answered'
            except ConnectionError:
                pass
        problem = problem or judge(text) or ('' if text.count('at ' + GOOD) == 2 else 'wanted two answers, got %r' % text)
    except Exception as e:  # pylint: disable=broad-except
        problem = repr(e)
    finally:
        call.kill()
        call.wait()
    r.result(name, problem)


def run(r):
    source = os.path.join(os.environ.get('BUILDDIR') or os.path.join(os.path.dirname(r.cordon)), 'tests/egress-race')
    shutil.copy(source, os.path.join(r.workspace, 'race'))
    bad, good = r'at 203\.0\.113\.6', r'at 203\.0\.113\.5'
    one = good if r.name == 'landlock' else r''  # where they wait for one who does it, both have their turn
    row(r, 'address: it changes in memory', bad, good)
    row(r, 'first-word: another thread speaks first', good, good)
    row(r, 'dup2: another socket in its place', bad, one)
    row(r, 'reuse: the number is another socket\'s', bad, r'')
    row(r, 'twice: two threads, two ways', bad, one)
    row(r, 'unspec: it is let go, and led elsewhere', bad, one)
    row(r, 'table: a thread with files of its own', bad, good)
    row(r, 'rights: from process to process', bad, good)
    row(r, 'nonblock: as event loops do it', good, good)
    if r.name == 'landlock':  # elsewhere these lead nowhere
        row(r, 'fastopen: a peer without connect()', bad, r'')
        row(r, 'shut: what there is of a network', r'(?s)open: UDP.*open: devices.*open: listening.*open: binding', r'usual options work')
        strangers(r)
