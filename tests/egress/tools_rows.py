# SPDX-License-Identifier: Apache-2.0
"""Programs that people use, against registries and resolvers of the test: pip, npm, ssh, DoH, QUIC, a resolver of its own."""

import base64
import hashlib
import io
import json
import os
import shutil
import struct
import sys
import tarfile
import zipfile

PUBLIC, OTHER = '203.0.113.5', '203.0.113.6'
WEB = ['--allow-host', 'web.example.org', '--allow-private', PUBLIC + '/32']
CURL = ['curl', '-sS', '-m', '20']
PYTHON = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'


def wheel():
    """A package of one line."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as file:
        file.writestr('tinything/__init__.py', 'SAID = "installed"\n')
        file.writestr('tinything-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: tinything\nVersion: 1.0\n')
        file.writestr('tinything-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        file.writestr('tinything-1.0.dist-info/RECORD', '')
    return out.getvalue()


def tarball():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w:gz') as file:
        for name, text in (('package/package.json', '{"name": "tinything", "version": "1.0.0", "main": "index.js"}'),
                           ('package/index.js', 'module.exports = "installed"\n')):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            file.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def make(files):
    """What the web server of the test serves as it is: path and content."""
    package, packed = wheel(), tarball()
    files['/simple/tinything/'] = ('<!DOCTYPE html><html><body><a href="/files/tinything-1.0-py3-none-any.whl#sha256=%s">'
                                   'tinything-1.0-py3-none-any.whl</a></body></html>' % hashlib.sha256(package).hexdigest()).encode(), 'text/html'
    files['/files/tinything-1.0-py3-none-any.whl'] = package, 'application/octet-stream'
    for host in ('web', 'other'):
        files['/npm-%s/tinything' % host] = json.dumps({
            'name': 'tinything', 'dist-tags': {'latest': '1.0.0'},
            'versions': {'1.0.0': {'name': 'tinything', 'version': '1.0.0', 'dist': {
                'tarball': 'http://%s.example.org/npm-web/tinything-1.0.0.tgz' % host,
                'integrity': 'sha512-' + base64.b64encode(hashlib.sha512(packed).digest()).decode()}}}}).encode(), 'application/json'
    files['/npm-web/tinything-1.0.0.tgz'] = packed, 'application/octet-stream'
    question = struct.pack('>HHHHHH', 0, 0x100, 1, 0, 0, 0) + b'\x05other\x07example\x03org\0\0\1\0\1'
    answer = struct.pack('>HHHHHH', 0, 0x8180, 1, 1, 0, 0) + question[12:] + b'\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4' + bytes([203, 0, 113, 6])
    files['/dns-query'] = answer, 'application/dns-message'
    files['/dns-query?dns=' + base64.urlsafe_b64encode(question).rstrip(b'=').decode()] = answer, 'application/dns-message'


def pip(r):
    if not any(os.path.exists(p) for p in ('/usr/bin/pip3', '/usr/lib/python3/dist-packages/pip')):
        print('# SKIP pip is not installed for ' + PYTHON)
        return
    there = [PYTHON, '-m', 'pip', '--disable-pip-version-check', '--no-cache-dir', 'download', '-q', '--no-deps', '--retries', '0', '--timeout', '20']
    # the control is run outside, by more than one user
    ls = ['sh', '-c', 't=$(mktemp -d) && "$@" -d "$t" && ls "$t"; s=$?; rm -rf "$t"; exit $s', 'sh', *there]
    r.allowed('tools: pip against a registry', WEB, ls + ['--index-url', 'http://web.example.org/simple/', '--trusted-host', 'web.example.org', 'tinything'],
              r'tinything-1\.0-py3-none-any\.whl$', 'web.example.org')
    r.refused('tools: pip against a registry that is not listed', WEB, ls + ['--index-url', 'http://other.example.org/simple/', '--trusted-host',
              'other.example.org', 'tinything'], r'tinything-1\.0-py3-none-any\.whl$', 'other.example.org', 'no entry')


def npm(r):
    if not shutil.which('npm', path='/usr/local/bin:/usr/bin:/bin'):
        print('# SKIP npm is not installed')
        return
    install = ['sh', '-c', 't=$(mktemp -d) && cd "$t" && echo "{}" >package.json && "$@" --cache "$t/cache" tinything && node -p \'require("tinything")\'; '
               's=$?; rm -rf "$t"; exit $s', 'sh', 'npm', 'install',
               '--no-audit', '--no-fund', '--no-update-notifier', '--fetch-retries', '0', '--loglevel', 'error', '--registry']
    r.allowed('tools: npm against a registry', WEB, install + ['http://web.example.org/npm-web/'], r'installed$', 'web.example.org')
    r.refused('tools: npm against a registry that is not listed', WEB, install + ['http://other.example.org/npm-web/'], r'installed$', 'other.example.org',
              'no entry')
    r.refused('tools: npm, a listed registry that points elsewhere', WEB, install + ['http://web.example.org/npm-other/'], r'installed$',
              'other.example.org', 'no entry')


def doh(r):
    """RFC 8484, by GET and by POST: what a resolver that is allowed answers helps nobody to get there."""
    question = base64.urlsafe_b64encode(struct.pack('>HHHHHH', 0, 0x100, 1, 0, 0, 0) + b'\x05other\x07example\x03org\0\0\1\0\1').rstrip(b'=').decode()
    get = ['sh', '-c', 'curl -sS -m 20 -k -H "Accept: application/dns-message" "$1" | od -An -tu1 | tr -s " \\n" " "', 'sh']
    post = ['sh', '-c', 'printf "\\0\\0\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\5other\\7example\\3org\\0\\0\\1\\0\\1" | curl -sS -m 20 -k -H "Content-Type: application/dns-message" '
            '--data-binary @- "$1" | od -An -tu1 | tr -s " \\n" " "', 'sh']
    for way, command, path in (('GET', get, '/dns-query?dns=' + question), ('POST', post, '/dns-query')):
        r.allowed('tools: DoH by %s to a listed resolver' % way, WEB, command + ['https://web.example.org' + path], r'203 0 113 6\s*$', 'web.example.org')
        r.refused('tools: DoH by %s to one that is not listed' % way, WEB, command + ['https://other.example.org' + path], r'203 0 113 6\s*$', 'other.example.org',
                  'no entry')
    r.refused('tools: DoH by a fixed address', WEB, CURL + ['-k', '--noproxy', '*', '-o', '/dev/null', '-w', '%{http_code}', 'https://%s/dns-query' % OTHER], r'200$',
              OTHER, 'no entry')
    r.allowed('tools: DoH, and there with what it said', WEB, ['sh', '-c', 'curl -sS -m 20 -k --noproxy "*" --doh-insecure --doh-url https://web.example.org/dns-query '
              'http://other.example.org/a || echo closed'], r'closed$')


def ssh(r):
    """The client's words reach the host through a command; nobody logs in."""
    if not os.path.exists('/usr/bin/ssh'):
        print('# SKIP ssh is not installed')
        return
    def there(command):
        return ['ssh', '-F', 'none', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10',
                '-o', 'ProxyCommand=' + command, '-v', 'git@web.example.org']
    host = ['--allow-host', 'web.example.org:2223', '--allow-private', PUBLIC + '/32']
    relay = PYTHON + ' attempt.py through %s'
    seen = r'remote software version banner_of_the_test'
    r.allowed('tools: ssh with a ProxyCommand that asks the proxy', host, there(relay % 'web.example.org 2223'), seen, 'web.example.org')
    r.allowed('tools: ssh with a ProxyCommand that connects itself', host, there(relay % 'direct:web.example.org 2223'), seen, 'web.example.org')
    r.allowed('tools: ssh by itself', host, ['ssh', '-F', 'none', '-o', 'StrictHostKeyChecking=no', '-o', 'BatchMode=yes', '-v', '-p', '2223', 'git@web.example.org'],
              seen, 'web.example.org')
    r.refused('tools: ssh to a host that is not listed, itself', host, there(relay % 'direct:other.example.org 2223'), seen, 'other.example.org', 'no entry')
    r.refused('tools: ssh to a host that is not listed, by the proxy', host, there(relay % 'other.example.org 2223'), seen, 'other.example.org', 'no entry',
              control=False)


def rest(r):
    if os.path.exists('/usr/bin/node'):
        fetch = ['node', '-e', 'fetch(process.argv[1]).then(a => a.text()).then(t => console.log(t)).catch(e => console.log("failed", e.cause))']
        r.allowed('tools: node fetch', WEB, fetch + ['http://web.example.org/a'], r'^GET /a host=web')
        r.refused('tools: node fetch of another', WEB, fetch + ['http://other.example.org/a'], r'^GET /a host=other', 'other.example.org', 'no entry')
    get = [PYTHON, '-c', 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())']
    r.refused('tools: python urllib of another', WEB, get + ['http://other.example.org/a'], r'GET /a host=other', 'other.example.org', 'no entry')
    if os.path.isdir('/usr/lib/python3/dist-packages/requests'):
        get = [PYTHON, '-c', 'import sys, requests; print(requests.get(sys.argv[1], timeout=20).text)']
        r.allowed('tools: python requests', WEB, get + ['http://web.example.org/a'], r'GET /a host=web')
        r.refused('tools: python requests of another', WEB, get + ['http://other.example.org/a'], r'^GET /a host=other', 'other.example.org', 'no entry')
    r.refused('tools: wget of another', WEB, ['wget', '-q', '-O', '-', '--tries=1', 'http://other.example.org/a'], r'^GET /a host=other', 'other.example.org',
              'no entry')
    resolver = [PYTHON, 'attempt.py', 'goresolver']
    r.allowed('tools: a resolver of its own, as Go\'s', WEB, resolver + ['web.example.org'], r'^GET / host=web', 'web.example.org')
    r.refused('tools: a resolver of its own, another host', WEB, resolver + ['other.example.org'], r'^GET / host=other', 'other.example.org', 'no entry')
    quic = [PYTHON, 'attempt.py', 'quic']
    for name, port in (('web.example.org', '443'), (OTHER, '443'), (PUBLIC, '4433')):
        r.refused('tools: QUIC to %s:%s' % (name, port), WEB, quic + [name, port], r'^answered', '%s:%s' % (name, port), 'UDP is closed')


def run(r):
    pip(r)
    npm(r)
    doh(r)
    ssh(r)
    rest(r)
