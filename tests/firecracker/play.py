# SPDX-License-Identifier: Apache-2.0
"""The machine's first process, played: the frames of src/backend/vm/wire.h, the call of call.h, the shares."""
import errno
import json
import os
import re
import socket
import struct
import time

import ninep

READY, CALL, DATA, CREDIT, EOF, GONE, SIGNAL, STAGE, END = range(9)
STDIN, STDOUT, STDERR = range(3)
LINK, VIEW, SYSTEM, NETWORK = 1024, 1025, 1026, 1027
HEAD = 208  # bytes of struct vm_call_head


class Link:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)

    def put(self, kind, stream=0, data=b''):
        self.sock.sendall(struct.pack('<BBHI', kind, stream, 0, len(data)) + data)

    def exactly(self, n):
        data = b''
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                os._exit(0)
            data += part
        return data

    def take(self):
        kind, stream, zero, n = struct.unpack('<BBHI', self.exactly(8))
        assert zero == 0 and n <= 16384
        return kind, stream, self.exactly(n)


def attempt(what):
    """The name of the error, or 'done'."""
    try:
        what()
        return 'done'
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno))
    except EOFError:
        return 'gone'


def trial(view, system, place):
    """What the script of src/backend/trial.c tries, as far as it is the share's to hold."""
    w = place + '/w'
    view.write(w + '/new', b'x\n')
    r = 0
    if 'done' in (attempt(lambda: view.write(w + '/.mcp.json', b'x')), attempt(lambda: view.mkdir(w + '/.claude'))):
        r |= 1
    if attempt(lambda: view.read(w + '/denied')) == 'done':
        r |= 2
    if attempt(lambda: view.at(place + '/outside')) == 'done':
        r |= 4
    if 'done' in (attempt(lambda: view.write('/usr/cordon-probe', b'x')), attempt(lambda: view.write('/cordon-probe', b'x')),
                  attempt(lambda: system.write('/cordon-probe', b'x'))):
        r |= 8
    return r


def files(view, top):
    """Everything that a kernel asks of a share, on files of the workspace.  Yields lines."""
    view.mkdir(top + '/d')
    view.write(top + '/d/a', b'12345')
    view.rename(top + '/d/a', top + '/d/b')
    view.link(top + '/d/b', top + '/d/c')
    view.symlink(top + '/d/l', 'b')
    view.fifo(top + '/d/f')
    yield 'ls ' + ' '.join(view.ls(top + '/d'))
    yield 'link ' + view.readlink(top + '/d/l')
    yield 'nlink %d' % view.attributes(view.at(top + '/d/b'))['nlink']
    view.truncate(top + '/d/b', 3)
    view.chmod(top + '/d/b', 0o600)
    yield 'mode %o size %d' % (view.attributes(view.at(top + '/d/c'))['mode'], len(view.read(top + '/d/c')))
    # What is remembered follows a directory to its new name.
    held = view.at(top + '/d/b')
    view.rename(top + '/d', top + '/e')
    yield 'held %d' % view.attributes(held)['size']
    # An open file outlives its name.
    view.call(12, struct.pack('<II', held, os.O_RDONLY))
    view.remove(top + '/e/b')
    yield 'open %s' % view.call(116, struct.pack('<IQI', held, 0, 100))[4:].decode()
    yield 'statfs %d' % view.statfs(top)
    yield 'twice ' + attempt(lambda: view.write(top + '/e/c', b'x'))
    view.write(top + '/big', bytes(range(256)) * 1000)
    yield 'big %s' % (view.read(top + '/big') == bytes(range(256)) * 1000)
    for i in range(300):
        view.write(top + '/e/many-%d' % i, b'')
    yield 'many %d' % sum(n.startswith('many-') for n in view.ls(top + '/e'))
    yield 'full ' + attempt(lambda: view.remove(top + '/e', is_dir=True))


def escape(view, system, uds, top, outside):
    """Attempts to leave the view through the share.  Yields lines: what, and how it ended."""
    names = [n for n in top.split('/') if n]
    yield 'control ' + attempt(lambda: view.read(top + '/inside'))
    yield 'dotdot ' + attempt(lambda: view.walk(*names, '..', '..'))
    yield 'slash ' + attempt(lambda: view.walk('usr/bin'))
    yield 'dot ' + attempt(lambda: view.walk('.'))
    yield 'empty ' + attempt(lambda: view.walk(''))
    yield 'outside ' + attempt(lambda: view.read(outside))
    view.symlink(top + '/out', os.path.dirname(outside))
    yield 'through-link ' + attempt(lambda: view.read(top + '/out/' + os.path.basename(outside)))
    view.symlink(top + '/proc', '/proc/self/root')
    yield 'through-proc ' + attempt(lambda: view.walk(*names, 'proc', 'usr'))
    view.symlink(top + '/file', outside)
    yield 'open-link ' + attempt(lambda: view.read(top + '/file'))
    yield 'chmod-link ' + attempt(lambda: view.chmod(top + '/file', 0o777))
    yield 'create-slash ' + attempt(lambda: view.call(
        72, struct.pack('<I', view.at(top)) + ninep.text('../made') + struct.pack('<II', 0o755, 0)))
    view.fifo(top + '/pipe')
    yield 'fifo ' + attempt(lambda: view.call(12, struct.pack('<II', view.at(top + '/pipe'), os.O_RDONLY)))
    yield 'device ' + attempt(lambda: view.device(top + '/null'))
    yield 'protected ' + attempt(lambda: view.write(top + '/.mcp.json', b'x'))
    yield 'hard-link ' + attempt(lambda: view.link('/etc/passwd', top + '/passwd'))
    yield 'usr ' + attempt(lambda: view.write('/usr/cordon-escape', b'x'))
    yield 'system ' + attempt(lambda: system.write('/cordon-escape', b'x'))
    yield 'system-trunc ' + attempt(lambda: system.overwrite('/bin/env', b'x'))
    yield 'no-fid ' + attempt(lambda: view.call(120, struct.pack('<I', 9999)))
    yield 'huge-fid ' + attempt(lambda: view.call(110, struct.pack('<IIH', 0, 0xfffffff0, 0)))
    yield 'busy-fid ' + attempt(lambda: view.call(110, struct.pack('<IIH', 0, view.walk(), 0)))
    yield 'unknown ' + attempt(lambda: view.call(98))
    for port in LINK, VIEW, SYSTEM, NETWORK:
        yield 'again-%d %s' % (port, attempt(lambda: socket.socket(socket.AF_UNIX).connect('%s_%d' % (uds, port))))
    # The last: the share ends the connection.
    yield 'short ' + attempt(lambda: view.call(110, struct.pack('<I', 0)))
    yield 'after ' + attempt(lambda: view.read(top + '/inside'))


def head(block):
    names = 'magic n_places places_bytes image_bytes uid gid has_one_output is_exec_separate memory processes cpu time'
    values = dict(zip(names.split(), struct.unpack('<8I3Qq', block[:64])))
    values.update(zip(('has_network', 'has_terminal'), struct.unpack('<2I', block[128:136])))
    assert values['magic'] == 0x63766d32
    assert HEAD + values['places_bytes'] + values['image_bytes'] == len(block)
    assert abs(values['time'] / 1e9 - time.time()) < 30 and len(set(block[64:128])) > 16
    return values


class Mux:
    """One end of src/backend/relay/mux.h, with one connection."""

    OPEN, DATA, ROOM, END, GONE = range(1, 6)

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.stream = self.sock.makefile('rb')

    def put(self, kind, data=b'', number=0):
        self.sock.sendall(struct.pack('>BBHH', kind, 0, number, len(data)) + data)

    def take(self):
        head = self.stream.read(6)
        if len(head) < 6:
            raise EOFError
        kind, zero, number, n = struct.unpack('>BBHH', head)
        assert zero == 0 and number == 0
        return kind, self.stream.read(n)

    def fetch(self, host):
        """What a proxy answers."""
        self.put(self.OPEN)
        self.put(self.DATA, b'cdh\1\1\0' + bytes(18) + b'GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' %
                 (host.encode(), host.encode()))
        data = b''
        while True:
            kind, part = self.take()
            if kind in (self.END, self.GONE):
                return data.decode()
            data += part if kind == self.DATA else b''


def run(link, server, block, words):
    """What the words ask for: lines of output, and the status."""
    uds = server.uds + '_'
    view, system = ninep.Client(uds + str(VIEW)), ninep.Client(uds + str(SYSTEM))
    script = re.search(rb'exit \$r\n\0sh\0(/[^\0]*)/outside\0', block)
    if script:
        return [], trial(view, system, script[1].decode()) << 8
    if b'\0/usr/bin/true\0' in block and not words and head(block)['has_network']:
        Mux(uds + str(NETWORK))  # the trial of a network
        return [], 0
    match words:
        case ['fetch', host]:
            return [Mux(uds + str(NETWORK)).fetch(host)], 0
        case ['bad-frame']:
            mux = Mux(uds + str(NETWORK))
            mux.put(9)
            return [attempt(mux.take), attempt(lambda: Mux(uds + str(NETWORK)))], 0
        case ['requests']:
            return [json.dumps({'boot': server.saved['log'], 'call': server.log})], 0
        case ['head']:
            return [json.dumps(head(block))], 0
        case ['cat', path]:
            try:
                return [view.read(path).decode()], 0
            except OSError as e:
                return [e.strerror], 1 << 8
        case ['write', path, data]:
            error = attempt(lambda: view.write(path, data.encode()))
            return [error], (error != 'done') << 8
        case ['overwrite', path, data]:
            view.overwrite(path, data.encode())
            return [view.read(path).decode()], 0
        case ['exit', code]:
            return [], int(code) << 8
        case ['signal', number]:
            return [], int(number)
        case ['oom']:
            return [], -9
        case ['files', top]:
            return list(files(view, top)), 0
        case ['escape', top, outside]:
            return list(escape(view, system, server.uds, top, outside)), 0
        case ['die']:
            os._exit(1)
        case ['nonsense']:
            link.put(77)
            time.sleep(60)
        case ['stdin']:
            data = b''
            while True:
                kind, stream, part = link.take()
                if kind == EOF and stream == STDIN:
                    return [data.decode()], 0
                if kind == DATA:
                    data += part
                    link.put(CREDIT, STDIN, struct.pack('<I', len(part)))
        case ['wait']:
            link.put(DATA, STDOUT, b'waiting\n')
            while True:
                kind, _, data = link.take()
                if kind == SIGNAL:
                    return [], data[0]
    raise AssertionError(words)


def guest(server, mode):
    if mode == 'hang':
        return
    link = Link('%s_%d' % (server.uds, LINK))
    link.put(READY)
    block = b''
    while True:
        kind, _, part = link.take()
        assert kind == CALL
        if not part:
            break
        block += part
    head(block)
    found = re.search(rb'\0fc-play\0((?:[^\0]+\0)*)', block)
    words = found[1].decode().split('\0') if found else []
    words = words[:words.index('.')] if '.' in words else []  # the environment follows
    link.put(STAGE, 0, struct.pack('<iiq', 0, 0, -1))
    try:
        lines, status = run(link, server, block, words)
    except Exception as e:  # the test shows what went wrong
        lines, status = [repr(e), repr(words)], 99 << 8
    for line in lines:
        link.put(DATA, STDOUT, line.encode() + b'\n')
    link.put(EOF, STDOUT)
    if not head(block)['has_one_output']:
        link.put(EOF, STDERR)
    is_oom = status == -9
    link.put(END, 0, struct.pack('<iIIIqqqq', 9 if is_oom else status, is_oom, 0, 0, 1000, 2000, 3000, 4000))
    time.sleep(60)
