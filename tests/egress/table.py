# SPDX-License-Identifier: Apache-2.0
"""The rows."""

import sys

import tls

PUBLIC, OTHER, SIX = '203.0.113.5', '203.0.113.6', '2001:db8::5'
WEB = ['--allow-host', 'web.example.org', '--allow-private', PUBLIC + '/32']
PY = [sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3', 'attempt.py']
CURL = ['curl', '-sS', '-m', '10']
DIRECT = CURL + ['--noproxy', '*']


# Of each kind of attempt, for a backend that takes its network from the same hands as native.
FEW = [
    'works: curl through the proxy', 'works: TLS that ignores the proxy', 'works: a program with sockets',
    'works: the sandbox\'s own IPv6', 'works: loopback inside',
    'host: one that is not listed, through', 'host: one that is not listed, TLS', 'host: the address of a listed',
    'host: another port', 'host: six alone',
    'speech: the Host of another', 'speech: the server name of another', 'speech: a second request', 'speech refused: two hosts',
    'rules: another path (rules)', 'names: an allowed one', 'names: the same over TCP', 'names: another one', 'names: a disallowed',
    'names: rebinding', 'special: both', 'special: a redirect', 'special: 127.0.0.1', 'others: ',
]


def works(r):
    r.allowed('works: curl through the proxy', WEB, CURL + ['http://web.example.org/a'], r'^GET /a host=web\.example\.org ',
              'web.example.org')
    r.allowed('works: curl that ignores the proxy', WEB, DIRECT + ['http://web.example.org/a'], r'^GET /a host=web')
    r.allowed('works: curl by SOCKS with the name', WEB, DIRECT[:-2] + ['--socks5-hostname', '127.0.0.1:61080',
                                                                       'http://web.example.org/a'], r'^GET /a host=web')
    r.allowed('works: TLS through CONNECT', WEB, CURL + ['--cacert', 'cert.pem', 'https://web.example.org/a'], r'^GET /a host=web')
    r.allowed('works: TLS that ignores the proxy', WEB, DIRECT + ['--cacert', 'cert.pem', 'https://web.example.org/a'],
              r'^GET /a host=web')
    r.allowed('works: wget', WEB, ['wget', '-q', '-O', '-', 'http://web.example.org/a'], r'^GET /a host=web')
    r.allowed('works: python urllib', WEB, PY[:1] + ['-c', 'import urllib.request as u; print(u.urlopen("http://web.example.org/a").read())'],
              r'GET /a host=web')
    r.allowed('works: a program with sockets of its own', WEB, PY + ['tcp', 'web.example.org', '80',
              'GET /a HTTP/1.0\\r\\nHost: web.example.org\\r\\n\\r\\n'], r'GET /a host=web')
    r.allowed('works: a body with a length', WEB, CURL + ['-d', 'x' * 5000, 'http://web.example.org/post'], r'^POST /post host=web\S* body=5000')
    r.allowed('works: a chunked body', WEB, CURL + ['-H', 'Transfer-Encoding: chunked', '-d', 'x' * 5000, 'http://web.example.org/post'],
              r'^POST /post host=web\S* body=5000')
    r.allowed('works: Expect 100-continue', WEB, CURL + ['-H', 'Expect: 100-continue', '-d', 'x' * 5000, '--expect100-timeout', '1',
              'http://web.example.org/post'], r'^POST /post host=web\S* body=5000')
    r.allowed('works: HEAD', WEB, CURL + ['-I', 'http://web.example.org/a'], r'^HTTP/1.1 200')
    r.allowed('works: a chunked answer', WEB, CURL + ['http://web.example.org/chunked'], r'^hello world$')
    r.allowed('works: an answer until the end', WEB, CURL + ['http://web.example.org/close'], r'^until the end$')
    r.allowed('works: three megabytes', WEB, CURL + ['-o', '/dev/null', '-w', '%{size_download}', 'http://web.example.org/big'], r'^3000000$')
    r.allowed('works: three megabytes in a tunnel', WEB, CURL + ['--cacert', 'cert.pem', '-o', '/dev/null', '-w', '%{size_download}',
              'https://web.example.org/big'], r'^3000000$')
    r.allowed('works: several requests on one connection', WEB, CURL + ['http://web.example.org/a', 'http://web.example.org/b'],
              r'GET /a host=web[^\n]*\nGET /b host=web')
    r.allowed('works: an upgrade', WEB, PY + ['proxy', 'GET http://web.example.org/ws HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nping\\n'], r'101 [^$]*up:ping')
    r.allowed('works: a wildcard, any depth', ['--allow-host', '*.wild.example.org', '--allow-private', PUBLIC + '/32'],
              CURL + ['http://b.a.wild.example.org/'], r'^GET / host=b')
    r.allowed('works: another port by a rule of its own', ['--allow-host', 'web.example.org:8080', '--allow-private', PUBLIC + '/32'],
              DIRECT + ['http://web.example.org:8080/'], r'^GET / host=web\.example\.org:8080')
    r.allowed('works: a server that speaks first, by a rule of its own', ['--allow-host', 'web.example.org:2222', '--allow-private', PUBLIC + '/32'],
              PY + ['tcp', 'web.example.org', '2222', 'hi'], r'banner')
    r.allowed('works: TLS on a port of its own', ['--allow-host', 'web.example.org:8443', '--allow-private', PUBLIC + '/32'],
              DIRECT + ['--cacert', 'cert.pem', 'https://web.example.org:8443/'], r'^GET / host=web')
    r.allowed('works: an address by a rule of its own', ['--allow-host', PUBLIC, '--allow-private', PUBLIC + '/32'],
              DIRECT + ['http://%s/' % PUBLIC], r'^GET / host=203')
    r.allowed('works: a host with IPv6 alone', ['--allow-host', 'six.example.org', '--allow-private', SIX + '/128'],
              DIRECT + ['http://six.example.org/'], r'^GET / host=six')
    r.allowed('works: the sandbox\'s own IPv6 way', WEB, DIRECT + ['-6', 'http://web.example.org/'], r'^GET / host=web')
    r.allowed('works: a name in letters of its own', ['--allow-host', 'm\u00fcnchen.example.org', '--allow-private', PUBLIC + '/32'],
              CURL + ['http://xn--mnchen-3ya.example.org/'], r'^GET / host=xn--')
    r.allowed('works: upper case and a last dot', WEB, CURL + ['http://WEB.example.org./'], r'^GET / host=')
    r.allowed('works: loopback inside is its own', WEB, ['sh', '-c', 'cd /tmp && echo inside >x && python3 -m http.server 8000 >/dev/null 2>&1 & '
              'sleep 1; curl -sS -m 5 http://127.0.0.1:8000/x; kill %1'], r'^inside')


def hosts(r):
    r.refused('host: one that is not listed, through the proxy', WEB, CURL + ['http://other.example.org/'], r'GET / host=other',
              'other.example.org', 'no entry')
    r.refused('host: one that is not listed, by itself', WEB, DIRECT + ['http://other.example.org/'], r'GET / host=other',
              'other.example.org', 'no entry')
    r.refused('host: one that is not listed, TLS', WEB, DIRECT + ['-k', 'https://other.example.org/'], r'GET / host=other',
              'other.example.org', 'no entry')
    r.refused('host: an address that is not listed', WEB, DIRECT + ['http://%s/' % OTHER], r'GET / host=203', OTHER, 'no entry')
    r.refused('host: the address of a listed name', WEB, DIRECT + ['http://%s/' % PUBLIC], r'GET / host=203', PUBLIC, 'no entry')
    r.refused('host: the name with another ending', WEB, CURL + ['http://web.example.org.other.example.org/'], r'host=other', control=False)
    r.refused('host: the wildcard\'s own name', ['--allow-host', '*.wild.example.org', '--allow-private', PUBLIC + '/32'],
              CURL + ['http://wild.example.org/'], r'GET / host=wild', 'wild.example.org', 'no entry')
    r.refused('host: another port', WEB, DIRECT + ['http://web.example.org:8080/'], r'GET / host=web', 'web.example.org:8080', 'no entry')
    r.refused('host: another port by CONNECT', WEB, PY + ['proxy', 'CONNECT web.example.org:2222 HTTP/1.1\\r\\nHost: web.example.org:2222\\r\\n\\r\\n'],
              r'banner', 'web.example.org:2222', 'no entry', control=False)
    r.refused('host: a server that speaks first on a port for the web', WEB, PY + ['tcp', 'web.example.org', '80', 'hello\\r\\n'], r'220',
              control=False)
    r.refused('host: six alone', WEB, DIRECT + ['-g', 'http://[%s]/' % SIX], r'GET / host=', SIX, 'no entry')
    r.refused('host: SOCKS by address', WEB, DIRECT[:-2] + ['--socks5', '127.0.0.1:61080', 'http://other.example.org/'], r'GET / host=', control=False)


def speech(r):
    r.refused('speech: the Host of another, in a connection of ours', WEB, DIRECT + ['-H', 'Host: other.example.org', 'http://web.example.org/'],
              r'GET / host=other', 'other.example.org', 'Host')
    r.refused('speech: the server name of another', WEB, PY + ['tls', 'web.example.org', '443', 'other.example.org'], r'200 OK', 'web.example.org',
              'server name')
    r.refused('speech: no server name', WEB, PY + ['tls', 'web.example.org', '443', '-'], r'200 OK', 'web.example.org', 'server name')
    r.refused('speech: the server name of another, cut into two records', WEB, PY + ['split_hello', 'web.example.org', '443'], r'answered',
              'web.example.org', 'server name')
    r.refused('speech: a second request for another', WEB, PY + ['twice', 'web.example.org', '80'], r'second: HTTP/1.1 200', 'other.example.org')
    r.refused('speech: neither TLS nor HTTP on 443', WEB, PY + ['tcp', 'web.example.org', '443', '\\x01\\x02\\x03'], r'220', 'web.example.org', 'neither',
              control=False)
    r.refused('speech: CONNECT, then the server name of another', WEB, CURL + ['-k', '--connect-to', 'other.example.org:443:web.example.org:443',
              'https://other.example.org/'], r'GET / host=other', 'web.example.org', 'server name')
    exact = ['--allow-host', 'web.example.org:80', '--allow-host', 'web.example.org:443', '--allow-private', PUBLIC + '/32']
    r.refused('speech: silence, then the Host of another', exact, PY + ['late', 'web.example.org', '80',
              'GET / HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n'], r'GET / host=other')
    r.refused('speech: an upgrade to what is not the web', WEB, PY + ['tcp', 'web.example.org', '80', 'GET / HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: Upgrade\\r\\nUpgrade: h2c\\r\\n\\r\\nping\\n'], r'101 Switching')
    r.refused('speech: an answer too many is not the next host\'s', WEB + ['--allow-host', 'other.example.org', '--allow-private', OTHER + '/32'],
              PY + ['surplus', '127.0.0.1', '61080'], r'forged', control=False)
    bad = {
        'two hosts': 'GET http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nHost: other.example.org\\r\\n\\r\\n',
        'a host that is not the target\'s': 'GET http://web.example.org/ HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n',
        'a name in front': 'GET http://web.example.org@other.example.org/ HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n',
        'a NUL in the name': 'GET http://web.example.org\\x00.other.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'an encoded NUL': 'GET http://web.example.org%00.other.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'a length beside a coding': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nContent-Length: 4\\r\\n'
                                    'Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n',
        'two lengths': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nContent-Length: 4\\r\\nContent-Length: 5\\r\\n\\r\\nabcde',
        'a bare LF': 'GET http://web.example.org/ HTTP/1.1\\nHost: web.example.org\\n\\n',
        'a folded line': 'GET http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nX: a\\r\\n b\\r\\n\\r\\n',
        'a blank before the colon': 'GET http://web.example.org/ HTTP/1.1\\r\\nHost : web.example.org\\r\\n\\r\\n',
        'a coding that is not chunked': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nTransfer-Encoding: gzip, chunked\\r\\n\\r\\n',
        'a path alone': 'GET / HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'HTTP/2': 'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n',
        'a backslash': 'GET http://web.example.org\\\\@other.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'octal': 'GET http://0313.0.0161.5/ HTTP/1.1\\r\\nHost: 0313.0.0161.5\\r\\n\\r\\n',
        'one number': 'CONNECT 3405803781:80 HTTP/1.1\\r\\nHost: 3405803781:80\\r\\n\\r\\n',
        'hexadecimal, part by part': 'GET http://0xcb.0x00.0x71.0x05/ HTTP/1.1\\r\\nHost: 0xcb.0x00.0x71.0x05\\r\\n\\r\\n',
        'two numbers': 'CONNECT 203.28933:80 HTTP/1.1\\r\\nHost: 203.28933:80\\r\\n\\r\\n',
        'IPv4 inside IPv6': 'CONNECT [::ffff:203.0.113.5]:80 HTTP/1.1\\r\\nHost: [::ffff:203.0.113.5]:80\\r\\n\\r\\n',
        'loopback inside IPv6': 'CONNECT [::ffff:7f00:1]:80 HTTP/1.1\\r\\nHost: [::ffff:7f00:1]:80\\r\\n\\r\\n',
        'an address with a zone': 'CONNECT [fe80::1%25lo]:80 HTTP/1.1\\r\\nHost: [fe80::1%25lo]:80\\r\\n\\r\\n',
        'a fragment in the authority': 'CONNECT web.example.org:80#@other.example.org:80 HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'two ports': 'CONNECT web.example.org:80:443 HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'a port beyond the last': 'CONNECT web.example.org:65616 HTTP/1.1\\r\\nHost: web.example.org:65616\\r\\n\\r\\n',
        'digits of full width': 'CONNECT \\xef\\xbc\\x91\\xef\\xbc\\x92\\xef\\xbc\\x97.0.0.1:80 HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'no port': 'CONNECT web.example.org HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'a scheme that is not http': 'GET ftp://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
    }
    for name, text in bad.items():
        r.allowed('speech refused: ' + name, WEB, PY + ['proxy', text], r'^HTTP/1\.1 (400|403|501|505) ')
    hello = '\\x05\\x01\\x00\\x05\\x01\\x00'
    socks = {
        'loopback': hello + '\\x01\\x7f\\x00\\x00\\x01\\x00\\x50',
        'metadata': hello + '\\x01\\xa9\\xfe\\xa9\\xfe\\x00\\x50',
        'IPv4 inside IPv6': hello + '\\x04' + '\\x00' * 10 + '\\xff\\xff\\x7f\\x00\\x00\\x01\\x00\\x50',
        'a name that is not listed': hello + '\\x03\\x11other.example.org\\x00\\x50',
        'a name with a NUL': hello + '\\x03\\x10web.example.org\\x00\\x00\\x50',
        'a name that is a number': hello + '\\x03\\x0a2130706433\\x00\\x50',
        'a name that is an address': hello + '\\x03\\x09127.0.0.1\\x00\\x50',
    }
    r.allowed('SOCKS: a name that is listed is granted', WEB, PY + ['proxy', hello + '\\x03\\x0fweb.example.org\\x00\\x50'
              'GET /s HTTP/1.0\\r\\nHost: web.example.org\\r\\n\\r\\n'], r'^\x05\x00\x05\x00[^$]*GET /s host=web')
    for name, text in socks.items():
        r.allowed('SOCKS refused: ' + name, WEB, PY + ['proxy', text], r'^\x05\x00\x05[\x01-\x08]')
    r.allowed('SOCKS refused: a bind', WEB, PY + ['proxy', '\\x05\\x01\\x00\\x05\\x02\\x00\\x03\\x0fweb.example.org\\x00\\x50'], r'^\x05\x00\x05\x07')
    r.allowed('SOCKS refused: datagrams', WEB, PY + ['proxy', '\\x05\\x01\\x00\\x05\\x03\\x00\\x03\\x0fweb.example.org\\x00\\x50'], r'^\x05\x00\x05\x07')
    r.allowed('SOCKS refused: version 4', WEB, PY + ['proxy', '\\x04\\x01\\x00\\x50\\xcb\\x00\\x71\\x05\\x00'], r'^HTTP/1\.1 400 ')
    r.allowed('speech refused: a head that does not end', WEB, PY + ['proxy', 'GET http://web.example.org/ HTTP/1.1\\r\\nX: ' + 'a' * 60000],
              r'^HTTP/1\.1 431 |^\s*$')


RULES = '''cordon: 1
sandbox:
  capabilities:
    network:
      mode: %s
      allowed_hosts: [web.example.org, "web.example.org:8080", other.example.org]
      allow_private: [203.0.113.0/24]
      egress:
        - {host: "web.example.org:8080", methods: [GET], paths: ["/v1/**"]}
        - {host: web.example.org, methods: [GET], paths: ["/v1/**"]}
        - {host: other.example.org, action: deny}
'''


def rules(r):
    with open(r.scratch + '/rules.yaml', 'w') as file:
        file.write(RULES % 'allowlist')
    with open(r.scratch + '/open.yaml', 'w') as file:
        file.write(RULES.replace('      allowed_hosts: [web.example.org, "web.example.org:8080", other.example.org]\n', '') % 'allow-all')
    for name in ('rules', 'open'):
        some = ['-p', '%s/%s.yaml' % (r.scratch, name)]
        r.allowed('rules: a method and a path that are named (%s)' % name, some, CURL + ['http://web.example.org/v1/a'], r'^GET /v1/a host=web')
        r.refused('rules: another path (%s)' % name, some, CURL + ['http://web.example.org/v2/a'], r'^GET /v2/a', 'web.example.org', 'egress')
        r.refused('rules: another method (%s)' % name, some, CURL + ['-X', 'DELETE', 'http://web.example.org/v1/a'], r'^DELETE /v1/a', 'web.example.org',
                  'egress')
        r.refused('rules: up and over (%s)' % name, some, CURL + ['--path-as-is', 'http://web.example.org/v1/../v2'], r'^GET /v', 'web.example.org', 'egress')
        r.refused('rules: TLS hides nothing from them (%s)' % name, some, DIRECT + ['-k', 'https://web.example.org/v2/a'], r'^GET /v2/a',
                  'web.example.org', 'egress')
        r.refused('rules: a host that is closed (%s)' % name, some, CURL + ['http://other.example.org/'], r'^GET / host=other', 'other.example.org', 'egress')
        r.refused('rules: silence is no way around (%s)' % name, some, PY + ['late', 'web.example.org', '8080', 'DELETE /v1/a HTTP/1.1\\r\\n'
                  'Host: web.example.org:8080\\r\\n\\r\\n'], r'DELETE /v1/a host', None)
        r.refused('rules: nor is an upgrade (%s)' % name, some, PY + ['tcp', 'web.example.org', '80', 'GET /v1/a HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
                  'Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nping\\n'], r'101 Switching')


def names(r, server):
    r.allowed('names: an allowed one has an address of ours', WEB, PY + ['ask', '9.9.9.9', 'web.example.org'], r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: the same over TCP', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '1', 'tcp'], r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: the same for IPv6', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '28'], r'code=0 answers=1 fd')
    r.allowed('names: whatever server is asked, also on loopback', WEB, PY + ['ask', '127.0.0.53', 'web.example.org'], r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: another one does not exist', WEB, PY + ['ask', '9.9.9.9', 'other.example.org'], r'code=3 answers=0')
    r.allowed('names: text tunnels nothing', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '16'], r'code=0 answers=0')
    r.allowed('names: NULL tunnels nothing', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '10'], r'code=0 answers=0')
    r.allowed('names: no HTTPS records', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '65'], r'code=0 answers=0')
    r.allowed('names: one that fails is said to fail', ['--allow-host', 'gone.example.org'], PY + ['ask', '9.9.9.9', 'gone.example.org'], r'code=[23] answers=0')
    if r.wanted('names: a disallowed one is asked of nobody'):
        server.asked.clear()
        r.run(WEB, PY + ['ask', '9.9.9.9', 'secret-data.other.example.org'])
        r.run(WEB, CURL + ['http://secret-data.other.example.org/'])
        r.result('names: a disallowed one is asked of nobody', 'asked: %r' % server.asked if any('secret' in n for n in server.asked) else '')
    r.allowed('names: rebinding does not move a name', ['--allow-host', 'rebind.example.org', '--allow-private', PUBLIC + '/32'],
              PY + ['rebind', 'rebind.example.org', '80'], r'^(198\.1[89]\.\S+ HTTP/1.1 200[^\n]*\n){4}')


def special(r):
    for name, why in (('loop.example.org', 'loopback'), ('meta.example.org', 'metadata|link'), ('private.example.org', 'private'),
                      ('both.example.org', 'loopback'), ('mapped.example.org', 'loopback')):
        r.refused('special: %s leads to %s' % (name, why), ['--allow-host', name, '--allow-private', PUBLIC + '/32'],
                  CURL + ['http://%s/' % name], r'GET / host=' + name, name, why)
    for address in ('127.0.0.1', '169.254.169.254', '10.1.2.3'):
        r.refused('special: %s, listed' % address, ['--allow-host', address], CURL + ['--noproxy', '', 'http://%s/' % address], r'GET / host=' + address,
                  address, 'ssrf')
    r.refused('special: an address of this machine', ['--allow-host', 'web.example.org'], CURL + ['http://web.example.org/'], r'GET / host=web',
              'web.example.org', 'ssrf')
    r.refused('special: a redirect to a metadata service', WEB, CURL + ['-L', 'http://web.example.org/redirect?=http://169.254.169.254/latest'],
              r'GET /latest', '169.254.169.254', 'no entry')
    r.allowed('special: an exception opens it', ['--allow-host', 'private.example.org', '--allow-private', '10.1.2.3/32'],
              CURL + ['http://private.example.org/'], r'^GET / host=private')


def others(r):
    r.refused('others: UDP to a server', WEB, PY + ['udp', '203.0.113.5', '53530'], r'answered', control=False)
    r.refused('others: ICMP', WEB, PY + ['raw', 'icmp'], r'opened', control=False)
    r.refused('others: packets', WEB, PY + ['raw', 'packet'], r'opened', control=False)
    r.refused('others: the loopback of the host', WEB, DIRECT + ['http://127.0.0.1:8080/'], r'GET / host=127')
    r.refused('others: its IPv6 loopback', WEB, DIRECT + ['-g', 'http://[::1]:8080/'], r'GET / host=', control=False)
    r.refused('others: without any rule there is nothing', [], CURL + ['http://web.example.org/'], r'GET / host=web')
    r.allowed('others: TCP fast open is redirected, too', WEB, DIRECT + ['--tcp-fastopen', 'http://web.example.org/'], r'^GET / host=web')
    r.refused('others: TCP fast open to another', WEB, DIRECT + ['--tcp-fastopen', 'http://%s/' % OTHER], r'GET / host=')


def run(r, server):
    works(r)
    hosts(r)
    speech(r)
    rules(r)
    names(r, server)
    special(r)
    others(r)
    tls.run(r)
