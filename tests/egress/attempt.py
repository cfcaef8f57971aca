# SPDX-License-Identifier: Apache-2.0
"""Programs that ignore proxy variables, one function each: attempt.py NAME ARG..."""

import os
import select
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


def say(host, port, text):
    """Words at once, and the answer to them."""
    s = connect(host, int(port), text.encode().decode('unicode_escape').encode('latin-1'))
    print(repr(s.recv(4096)))


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


def hello(host, port, name, minor='1'):
    """A first message of TLS to who sends back what it gets."""
    words = bytearray(hello_of(name))
    words[2] = int(minor)
    s = connect(host, int(port), bytes(words))
    print('echoed' if s.recv(len(words)) else 'ended')


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
    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    s.sendto(b'x', (host, int(port)))
    print('answered', s.recv(100))


def flood(host):
    """More datagrams to more places than anybody writes down, and then a connection."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for i in range(3000):
        try:
            s.sendto(b'x', ('203.0.113.%d' % (100 + i % 100), 1000 + i))
        except OSError:
            pass
    print(connect(host, 80, b'GET / HTTP/1.0\r\n\r\n').recv(4096).decode('latin-1'))


def echo(host, port, size, pause='0', many='1'):
    """Sends and reads at once, on so many connections; reads late (pause) so that everything between fills up; ends its own side first."""
    import hashlib
    import threading
    results = []

    def one():
        s = connect(host, int(port), b'')
        s.settimeout(60)
        sent, got = hashlib.sha256(), hashlib.sha256()

        def send():
            left = int(size)
            while left > 0:
                data = os.urandom(min(left, 100000))
                if left == int(size):
                    data = b'\x16-' + data[2:]  # not the beginning of TLS, but nearly
                sent.update(data)
                s.sendall(data)
                left -= len(data)
            s.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=send)
        thread.start()
        time.sleep(float(pause))
        n = 0
        while True:
            data = s.recv(65536)
            if not data:
                break
            got.update(data)
            n += len(data)
        thread.join()
        results.append((n, sent.digest() == got.digest()))

    threads = [threading.Thread(target=one) for _ in range(int(many))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print('same %d' % sum(n for n, same in results if same and n == int(size)) if len(results) == int(many) else 'lost')


def quic(host, port):
    """A first packet of QUIC (RFC 9000, 17.2.2), as long as it has to be."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    address = socket.getaddrinfo(host, int(port), socket.AF_INET, socket.SOCK_DGRAM)[0][4]
    head = b'\xc3\0\0\0\x01\x08' + os.urandom(8) + b'\0\0\x44\x9e'
    s.connect(address)
    s.send(head + os.urandom(1200 - len(head)))
    print('answered', s.recv(2000)[:4])


def goresolver(host):
    """As Go's own resolver: resolv.conf read by hand, both questions at once with a number each, over UDP and then TCP."""
    servers = [line.split()[1] for line in open('/etc/resolv.conf') if line.startswith('nameserver')] or ['127.0.0.1']
    found = []
    for line in open('/etc/hosts'): # files first
        words = line.split('#')[0].split()
        if host in words[1:]:
            found.append(words[0])
    for kind in () if found else (1, 28):
        number = int.from_bytes(os.urandom(2), 'big')
        wire = struct.pack('>HHHHHH', number, 0x100, 1, 0, 0, 1)
        for label in host.split('.'):
            wire += bytes([len(label)]) + label.encode()
        wire += b'\0' + struct.pack('>HH', kind, 1) + b'\0\0\x29\x04\xd0\0\0\0\0\0\0' # EDNS
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(5)
        s.connect((servers[0], 53))
        s.send(wire)
        answer = s.recv(1232)
        if struct.unpack('>H', answer[:2])[0] != number:
            continue
        count = struct.unpack('>H', answer[6:8])[0]
        at = 12
        while answer[at]:
            at += 1 + answer[at]
        at += 5
        for _ in range(count):
            at += 2 # a pointer
            _, _, _, length = struct.unpack('>HHIH', answer[at:at + 10])
            found.append(socket.inet_ntop(socket.AF_INET if length == 4 else socket.AF_INET6, answer[at + 10:at + 10 + length]))
            at += 10 + length
    s = socket.create_connection((found[0], 80), 10)
    s.sendall(b'GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % host.encode())
    seen = b''
    while b'body=' not in seen:
        more = s.recv(4096)
        if not more:
            break
        seen += more
    print(seen.split(b'\r\n\r\n', 1)[1].decode('latin-1'))


def through(host, port):
    """Between the standard streams and a host: by the proxy, or by itself (direct:HOST)."""
    if host.startswith('direct:') or 'HTTP_PROXY' not in os.environ:
        s = socket.create_connection((host.removeprefix('direct:'), int(port)), 10)
    else:
        s = socket.create_connection(('127.0.0.1', int(os.environ['HTTP_PROXY'].rsplit(':', 1)[1])), 10)
        s.sendall(('CONNECT %s:%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n' % (host, port, host, port)).encode())
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            more = s.recv(1)
            if not more:
                sys.exit(1)
            head += more
        if b' 200 ' not in head.split(b'\r\n')[0]:
            sys.exit(head.decode('latin-1'))
    ends = {0: s.fileno(), s.fileno(): 1}
    while 0 in ends:
        for fd in select.select(list(ends), [], [])[0]:
            data = os.read(fd, 65536)
            if not data:
                return
            os.write(ends[fd], data)


def raw_request(first, second=b''):
    """What the proxy answers."""
    s = socket.create_connection(('127.0.0.1', 61080), 10)
    s.settimeout(3)
    seen = b''
    try:
        s.sendall(first)
        if second:
            seen = s.recv(2)
            s.sendall(second)
        while len(seen) < 4000:
            more = s.recv(4096)
            if not more:
                break
            seen += more
    except OSError:
        pass
    return seen


def urls(way):
    """Every URL of a file, as one client reads it."""
    import concurrent.futures
    import json
    import urllib.request

    def authority(url):
        return url.split('//', 1)[-1].split('/', 1)[0].split('\\')[0]

    def encoded(text):
        return text.encode('utf-8', 'surrogateescape')

    def one(url):
        where = authority(url)
        try:
            if way == 'proxy':
                return raw_request(b'GET ' + encoded(url) + b' HTTP/1.1\r\nHost: ' + encoded(where) + b'\r\nConnection: close\r\n\r\n')
            if way == 'connect':
                target = encoded(where if ':' in where.rsplit(']', 1)[-1] else where + ':80')
                return raw_request(b'CONNECT ' + target + b' HTTP/1.1\r\nHost: ' + target + b'\r\n\r\nGET /the-listed-one HTTP/1.1\r\nHost: ' +
                                   target.removesuffix(b':80') + b'\r\nConnection: close\r\n\r\n')
            if way == 'socks':
                host = encoded(where.rsplit('@', 1)[-1].removesuffix(':80').strip('[]'))[:255]
                return raw_request(b'\5\1\0', b'\5\1\0\3' + bytes([len(host)]) + host + b'\0\x50GET /the-listed-one HTTP/1.1\r\nHost: ' + host +
                                   b'\r\nConnection: close\r\n\r\n')
            if way in ('curl', 'curl-direct'):
                words = ['curl', '-gsS', '-m', '5', '--connect-timeout', '3', '--path-as-is', *(['--noproxy', '*'] if way == 'curl-direct' else ['--noproxy', '']), '--', url]
                return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=30).stdout
            if url.startswith('file'):
                return b''
            return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5).read(4000)
        except Exception as e:  # whatever a client says of it
            return repr(e).encode()

    with open('urls.json') as file:
        every = json.load(file)
    if way == 'node':
        script = """const all = JSON.parse(require('fs').readFileSync('urls.json'));
            (async () => { for (const url of all) { try {
                const a = await fetch(url, {signal: AbortSignal.timeout(5000)}); const t = await a.text(); if (t.includes('the-listed-one')) console.log(t);
            } catch (e) {} } console.log('done', all.length); process.exit(0); })()"""
        print(subprocess.run(['node', '-e', script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False).stdout.decode('latin-1'))
        return
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, every))
    print(answers[-1].decode('latin-1'))
    print('done', len(answers))


def relayed(host, port, path='/a'):
    """A relay of our own on loopback, in another process, and a client that knows only the relay."""
    near = socket.create_server(('127.0.0.1', 0))
    child = os.fork()
    if child == 0:
        client = near.accept()[0]
        try:
            far = socket.create_connection((host, int(port)), 10)
            far.sendall(client.recv(65536))
            while True:
                data = far.recv(65536)
                if not data:
                    break
                client.sendall(data)
        finally:
            client.close()
            os._exit(0)
    text = 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' % (path, host)
    with socket.create_connection(near.getsockname(), 10) as s:
        s.sendall(text.encode())
        while True:
            data = s.recv(65536)
            if not data:
                break
            sys.stdout.write(data.decode('latin-1'))
    os.waitpid(child, 0)


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
