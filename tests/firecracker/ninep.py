# SPDX-License-Identifier: Apache-2.0
# A client of 9P2000.L, as far as the tests need it: what a guest's kernel would ask of our share.
import errno
import os
import socket
import struct


def text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return struct.pack('<H', len(data)) + data


class Client:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(path)
        self.fid = 0
        body = self.call(100, struct.pack('<I', 65536) + text('9P2000.L'))
        assert body[4:] == text('9P2000.L'), body
        self.call(104, struct.pack('<II', 0, 0xffffffff) + text('') + text('') + struct.pack('<I', 0))

    def exactly(self, n):
        data = b''
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise EOFError('the share has gone')
            data += part
        return data

    def call(self, kind, body=b''):
        self.sock.sendall(struct.pack('<IBH', 7 + len(body), kind, 1) + body)
        size, answer, tag = struct.unpack('<IBH', self.exactly(7))
        data = self.exactly(size - 7)
        assert tag == 1
        if answer == 7:
            code = struct.unpack('<I', data)[0]
            raise OSError(code, os.strerror(code))
        assert answer == kind + 1, (kind, answer)
        return data

    # A new fid for the names, from the root, each a step of its own.
    def walk(self, *names, whole=True):
        self.fid += 1
        body = self.call(110, struct.pack('<IIH', 0, self.fid, len(names)) + b''.join(map(text, names)))
        if whole and struct.unpack('<H', body[:2])[0] != len(names):
            raise OSError(errno.ENOENT, 'only a part of the way')
        return self.fid

    def at(self, path):
        return self.walk(*[p for p in path.split('/') if p])

    def read(self, path):
        fid = self.at(path)
        self.call(12, struct.pack('<II', fid, os.O_RDONLY))
        data = b''
        while True:
            part = self.call(116, struct.pack('<IQI', fid, len(data), 30000))[4:]
            if not part:
                break
            data += part
        self.call(120, struct.pack('<I', fid))
        return data

    def write(self, path, data):
        fid = self.at(os.path.dirname(path))
        self.call(14, struct.pack('<I', fid) + text(os.path.basename(path)) +
                  struct.pack('<III', os.O_WRONLY, 0o644, 0))
        for at in range(0, len(data), 30000):
            part = data[at:at + 30000]
            n = struct.unpack('<I', self.call(118, struct.pack('<IQI', fid, at, len(part)) + part))[0]
            assert n == len(part)
        self.call(50, struct.pack('<II', fid, 0))
        self.call(120, struct.pack('<I', fid))

    def overwrite(self, path, data):
        fid = self.at(path)
        self.call(12, struct.pack('<II', fid, os.O_WRONLY | os.O_TRUNC))
        self.call(118, struct.pack('<IQI', fid, 0, len(data)) + data)
        self.call(120, struct.pack('<I', fid))

    def ls(self, path):
        fid = self.at(path)
        self.call(12, struct.pack('<II', fid, os.O_RDONLY | os.O_DIRECTORY))
        names, offset = [], 0
        while True:
            data = self.call(40, struct.pack('<IQI', fid, offset, 512))[4:]
            if not data:
                break
            while data:
                offset, _, n = struct.unpack('<QBH', data[13:24])
                names.append(data[24:24 + n].decode())
                data = data[24 + n:]
        self.call(120, struct.pack('<I', fid))
        return sorted(set(names) - {'.', '..'})

    def mkdir(self, path):
        self.call(72, struct.pack('<I', self.at(os.path.dirname(path))) + text(os.path.basename(path)) +
                  struct.pack('<II', 0o755, 0))

    def symlink(self, path, target):
        self.call(16, struct.pack('<I', self.at(os.path.dirname(path))) + text(os.path.basename(path)) +
                  text(target) + struct.pack('<I', 0))

    def readlink(self, path):
        return self.call(22, struct.pack('<I', self.at(path)))[2:].decode()

    def link(self, old, new):
        self.call(70, struct.pack('<II', self.at(os.path.dirname(new)), self.at(old)) + text(os.path.basename(new)))

    def fifo(self, path):
        self.call(18, struct.pack('<I', self.at(os.path.dirname(path))) + text(os.path.basename(path)) +
                  struct.pack('<IIII', 0o010644, 0, 0, 0))

    def device(self, path):
        self.call(18, struct.pack('<I', self.at(os.path.dirname(path))) + text(os.path.basename(path)) +
                  struct.pack('<IIII', 0o020666, 1, 3, 0))

    def rename(self, old, new):
        self.call(74, struct.pack('<I', self.at(os.path.dirname(old))) + text(os.path.basename(old)) +
                  struct.pack('<I', self.at(os.path.dirname(new))) + text(os.path.basename(new)))

    def remove(self, path, is_dir=False):
        self.call(76, struct.pack('<I', self.at(os.path.dirname(path))) + text(os.path.basename(path)) +
                  struct.pack('<I', 0x200 if is_dir else 0))

    def attributes(self, fid):
        data = self.call(24, struct.pack('<IQ', fid, 0x7ff))
        names = 'mode uid gid nlink rdev size'.split()
        return dict(zip(names, struct.unpack('<IIIQQQ', data[21:57])))

    def chmod(self, path, mode):
        self.call(26, struct.pack('<IIIIIQQQQQ', self.at(path), 1, mode, 0, 0, 0, 0, 0, 0, 0))

    def truncate(self, path, size):
        self.call(26, struct.pack('<IIIIIQQQQQ', self.at(path), 8, 0, 0, 0, size, 0, 0, 0, 0))

    def statfs(self, path):
        return len(self.call(8, struct.pack('<I', self.at(path))))
