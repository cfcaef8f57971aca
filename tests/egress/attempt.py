# SPDX-License-Identifier: Apache-2.0
"""Programs that ignore proxy variables, one function each: attempt.py NAME ARG..."""

import os
import socket
import ssl
import struct
import subprocess
import sys
import time


def connect(host, port, bytes_, six=False):
    family = socket.AF_INET6 if six else socket.AF_UNSPEC
    for info in socket.getaddrinfo(host, port, family, socket.SOCK_STREAM):
        s = socket.socket(info[0], info[1])
        s.settimeout(5)
        s.connect(info[4])
        break
    if bytes_:
        s.sendall(bytes_)
    return s


def tcp(host, port, text=''):
    s = connect(host, int(port), text.encode().decode('unicode_escape').encode('latin-1'))
    data = b''
    while True:
        more = s.recv(65536)
        data += more
        if not more or len(data) > 20:
            break
    print(data.decode('latin-1'))


def tls(host, port, name=None, request_host=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    s = context.wrap_socket(connect(host, int(port), b''), server_hostname=None if name == '-' else name or host)
    s.sendall(b'GET / HTTP/1.1\r\nHost: %s\r\n\r\n' % (request_host or host).encode())
    print(s.recv(4096).decode('latin-1'))


def h2(host, port):
    """A client that speaks HTTP/2 alone."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(['h2'])
    context.wrap_socket(connect(host, int(port), b''), server_hostname=host)
    print('h2 spoken')


def split_hello(host, port):
    """A hello whose record is cut in the middle of the name."""
    inner, outer = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    tunnel = context.wrap_bio(inner, outer, server_hostname='other.example.org')
    try:
        tunnel.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outer.read()
    body = hello[5:]
    at = body.index(b'other') + 3
    cut = b''
    for part in (body[:at], body[at:]):
        cut += hello[:3] + struct.pack('>H', len(part)) + part
    s = connect(host, int(port), cut)
    answer = s.recv(100)
    print('answered' if answer and answer[0] == 0x16 else 'nothing')


def late(host, port, text):
    """Says nothing at first, as a client of a server that speaks first."""
    s = connect(host, int(port), b'')
    time.sleep(1)
    s.sendall(text.encode().decode('unicode_escape').encode('latin-1'))
    print(s.recv(4096).decode('latin-1'))


def polite(host, port, text):
    """Lets the server speak first, then says something."""
    s = connect(host, int(port), b'')
    print(s.recv(4096).decode('latin-1'))
    s.sendall(text.encode().decode('unicode_escape').encode('latin-1'))
    print(s.recv(4096).decode('latin-1'))


def hello_of(name, grease=False):
    """The first message of a TLS client; grease: with an encrypted hello inside, made up or meant."""
    inner, outer = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_bio(inner, outer, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = bytearray(outer.read())
    if grease:
        # draft-ietf-tls-esni: outer, HKDF-SHA256 and AES-128-GCM, an id, a key, a payload.
        body = b'\0\0\x01\0\x01\x2a\0\x20' + os.urandom(32) + b'\0\x90' + os.urandom(144)
        hello += b'\xfe\x0d' + struct.pack('>H', len(body)) + body
        more = 4 + len(body)
        at = 5 + 4 + 2 + 32
        at += 1 + hello[at]
        at += 2 + struct.unpack_from('>H', hello, at)[0]
        at += 1 + hello[at]
        for where, size in ((3, 2), (6, 3), (at, 2)):
            old = int.from_bytes(hello[where:where + size], 'big')
            hello[where:where + size] = (old + more).to_bytes(size, 'big')
    return bytes(hello)


def late_hello(host, port, name, pieces='1'):
    """Says nothing until the proxy must think that the server speaks first, then TLS, in so many pieces."""
    s = connect(host, int(port), b'')
    time.sleep(1)
    hello = hello_of(name)
    size = (len(hello) + int(pieces) - 1) // int(pieces)
    for i in range(0, len(hello), size):
        s.sendall(hello[i:i + size])
        time.sleep(0.2)
    answer = s.recv(100)
    print('answered' if answer and answer[0] == 0x16 else 'nothing')


def tunnelled(request, name):
    s = connect('127.0.0.1', 61080, request.encode().decode('unicode_escape').encode('latin-1'))
    if b' 200 ' not in s.recv(4096):
        print('no tunnel')
        return
    time.sleep(1)
    s.sendall(hello_of(name))
    try:
        answer = s.recv(100)
    except OSError:
        answer = b''
    print('answered' if answer and answer[0] == 0x16 else 'nothing')


def ech(host, port, name):
    """TLS with an encrypted hello inside the one that can be read."""
    s = connect(host, int(port), hello_of(name, True))
    answer = s.recv(100)
    print('answered' if answer and answer[0] == 0x16 else 'nothing')


def surplus(host, port):
    """One server says two answers; the second is not the next server's."""
    s = connect(host, int(port), b'GET http://web.example.org/two-answers HTTP/1.1\r\nHost: web.example.org\r\n\r\n')
    time.sleep(0.5)
    s.recv(4096)
    s.sendall(b'GET http://other.example.org/b HTTP/1.1\r\nHost: other.example.org\r\n\r\n')
    print(s.recv(4096).decode('latin-1'))


def udp(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    s.sendto(b'x', (host, int(port)))
    print('answered', s.recv(100))


def ask(server, name, kind='1', over='udp'):
    """One question for a name, as a resolver of its own makes it."""
    wire = struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 0)
    for label in name.split('.'):
        wire += bytes([len(label)]) + label.encode()
    wire += b'\0' + struct.pack('>HH', int(kind), 1)
    if over == 'tcp':
        s = connect(server, 53, struct.pack('>H', len(wire)) + wire)
        answer = s.recv(4096)[2:]
    else:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(5)
        s.sendto(wire, (server, 53))
        answer = s.recv(4096)
    code, count = answer[3] & 15, struct.unpack('>H', answer[6:8])[0]
    tail = answer[-4:] if count and int(kind) == 1 else answer[-16:]
    family = socket.AF_INET if int(kind) == 1 else socket.AF_INET6
    print('code=%d answers=%d %s' % (code, count, socket.inet_ntop(family, tail) if count else ''))


def twice(host, port):
    """Two requests on one connection, the second for somebody else."""
    s = connect(host, int(port), b'GET /one HTTP/1.1\r\nHost: %s\r\n\r\n' % host.encode())
    print(s.recv(4096).decode('latin-1'))
    s.sendall(b'GET /two HTTP/1.1\r\nHost: other.example.org\r\n\r\n')
    print('second:', s.recv(4096).decode('latin-1'))


def raw(kind):
    if kind == 'icmp':
        s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    elif kind == 'packet':
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    print('opened', s.fileno())


def rebind(host, port):
    """Asks again and again, as an attacker's page does."""
    for _ in range(4):
        try:
            s = connect(host, int(port), b'GET / HTTP/1.1\r\nHost: %s\r\n\r\n' % host.encode())
            print(s.getpeername()[0], s.recv(100).decode('latin-1').split('\n')[0])
        except OSError as e:
            print(e)


def proxy(text, port='61080'):
    s = socket.create_connection(('127.0.0.1', int(port)), 5)
    s.sendall(text.encode().decode('unicode_escape').encode('latin-1'))
    s.settimeout(5)
    data = b''
    try:
        while len(data) < 4000:
            more = s.recv(4096)
            if not more:
                break
            data += more
    except (TimeoutError, ConnectionError):
        pass
    print(data.decode('latin-1'))


def upgrade(host, port, variable, path='/v1/up'):
    s = ssl.create_default_context().wrap_socket(connect(host, int(port), b''), server_hostname=host)
    s.sendall(b'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Api-Key: %s\r\n\r\nping\n' %
              (path.encode(), host.encode(), os.environ[variable].encode()))
    data = b''
    while b'up:' not in data:
        more = s.recv(4096)
        if not more:
            break
        data += more
    print(data.decode('latin-1'))


def speak(host, port, text):
    """Words over TLS, whoever is there."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    s = context.wrap_socket(connect(host, int(port), b''), server_hostname=host)
    s.sendall(text.encode().decode('unicode_escape').replace('$TOKEN', os.environ.get('TOKEN', 'x')).encode('latin-1'))
    print(s.recv(4096).decode('latin-1'))


def search(needle):
    """Looks for bytes, which are given in disguise and never whole in our own memory, in all there is."""
    raw = bytes.fromhex(needle)
    half = len(raw) // 2
    first, second = bytes(c ^ 0x5a for c in raw[:half]), bytes(c ^ 0x5a for c in raw[half:])

    def has(data):
        at = data.find(first)
        while at >= 0:
            if data.startswith(second, at + half):
                return True
            at = data.find(first, at + 1)
        return False

    helper = subprocess.Popen(['sh', '-c', 'sleep 1000 & wait'])
    kept = [subprocess.run(['curl', '-sS', '-m', '20', '-H', 'X-Api-Key: ' + os.environ['TOKEN'], 'https://api.example.org/echo'], check=False,
                           stdout=subprocess.PIPE).stdout]
    import urllib.request
    try:
        request = urllib.request.Request('https://api.example.org/echo', headers={'X-Api-Key': os.environ['TOKEN']})
        kept.append(urllib.request.urlopen(request, timeout=20).read())
    except OSError as e:
        print(e)
    regions = files = 0
    for pid in [p for p in os.listdir('/proc') if p.isdigit()]:
        try:
            maps = open('/proc/%s/maps' % pid).read().splitlines()
            memory = open('/proc/%s/mem' % pid, 'rb', 0)
        except OSError:
            continue
        for line in maps:
            if ' r' not in line or '[v' in line:
                continue
            low, high = (int(x, 16) for x in line.split()[0].split('-'))
            try:
                memory.seek(low)
                regions += 1
                if has(memory.read(high - low)):
                    print('found in memory of', pid, line)
            except (OSError, ValueError, OverflowError):
                continue
    for top in ('/tmp', '/.cordon-tls', '/dev/shm', os.environ['HOME'], '.'):
        for where, _, names in os.walk(top):
            for name in names:
                try:
                    files += 1
                    with open(os.path.join(where, name), 'rb') as file:
                        if has(file.read()):
                            print('found in', where, name)
                except OSError:
                    continue
    helper.kill()
    print(len(kept), 'answers')
    print('searched %d regions, %d files' % (regions, files) if regions > 20 and files > 1 else 'nothing to search')


globals()[sys.argv[1]](*sys.argv[2:])
