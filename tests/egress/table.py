# SPDX-License-Identifier: Apache-2.0
"""The rows."""

import os
import re
import socket
import subprocess
import sys
import time

import leak_rows
import race_rows
import secrets_rows
import tls
import tools_rows
import url_rows

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
    'host: another port', 'host: another one through a relay', 'host: six alone',
    'speech: the Host of another', 'speech: the server name of another', 'speech: a second request', 'speech refused: two hosts',
    'rules: another path (rules)', 'names: an allowed one', 'names: the same over TCP', 'names: another one', 'names: a disallowed',
    'names: rebinding', 'table: ', 'special: both', 'special: a redirect', 'special: 127.0.0.1', 'others: ', 'ports: ', 'publish: ', 'ask: once', 'ask: a no', 'ask: a program',
]
# Where more is different, more is tried.
MORE = {'landlock': ['works: ', 'names: ', 'race: ', 'relay: ', 'tls: curl', 'tls: another path', 'secret: a bearer token', 'secret: to another host']}
# What cannot be on a backend, and why; written beside the rows.
NO_UDP = 'there is no UDP at all: the socket itself is refused, which the report says'
NO_PORTS = 'it has no network of its own, and so no ports: such a call is refused'
APART = {'landlock': {
    'works: the sandbox\'s own IPv6 way': 'curl makes a socket of UDP to see whether there is IPv6; other programs go that way by themselves (names: rebinding)',
    'works: loopback inside': NO_PORTS, 'host: a listed one through a relay inside': NO_PORTS,
    'host: another one through a relay inside': NO_PORTS, 'ports: ': NO_PORTS, 'publish: ': NO_PORTS,
    'others: rejected, and': NO_UDP, 'others: more than can be told': NO_UDP, 'others: UDP': NO_UDP, 'others: a multicast': NO_UDP,
    'others: a flood of UDP': NO_UDP,
    'table: localhost is there': 'there is no table at all, since nothing can stand in its place: our name server says it',
    'table: and the sandbox\'s own name': 'the machine\'s own name can be seen, and is nowhere',
}}
# The same for a virtual machine, whose network is another kernel's: no ports, and a start takes a second.
MACHINE = [
    'works: curl through the proxy', 'works: TLS that ignores the proxy', 'works: a program with sockets', 'works: three megabytes in a tunnel',
    'works: the sandbox\'s own IPv6', 'works: loopback inside',
    'host: one that is not listed, through', 'host: one that is not listed, TLS', 'host: the address of a listed', 'host: another port', 'host: six alone',
    'speech: the server name of another, cut', 'names: an allowed one', 'names: the same over TCP', 'names: another one', 'names: rebinding',
    'special: both', 'special: 127.0.0.1', 'others: ', 'ask: once', 'relay: twenty at once',
    'tls: curl that ignores', 'tls: another path', 'tls: a refusal says', 'tls: the authority is of the session',
    'secret: a bearer token', 'secret: a body of text', 'secret: to another host',
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
              'for i in 1 2 3 4 5 6 7 8 9; do sleep 1; curl -sS -m 5 http://127.0.0.1:8000/x 2>/dev/null && break; done; kill %1'], r'^inside')


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
    r.allowed('host: a listed one through a relay inside', WEB, PY + ['relayed', 'web.example.org', '80'], r'GET /a host=web')
    r.refused('host: another one through a relay inside', WEB, PY + ['relayed', 'other.example.org', '80'], r'GET /a host=other',
              'other.example.org', 'no entry')
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
    port = ['--allow-host', 'web.example.org:8443', '--allow-host', 'web.example.org:2222', '--allow-private', PUBLIC + '/32']
    r.allowed('speech: silence, the server\'s word, then any', port, PY + ['polite', 'web.example.org', '2222', 'hi'], r'220 banner[^$]*got hi')
    r.allowed('speech: silence, then any', port, PY + ['late', 'web.example.org', '2222', 'hi'], r'220 banner')
    for pieces in ('1', '3', '40'):
        r.allowed('speech: silence, then TLS for the host, in %s' % pieces, port, PY + ['late_hello', 'web.example.org', '8443', 'web.example.org', pieces], r'^answered')
        r.refused('speech: silence, then TLS for another, in %s' % pieces, port, PY + ['late_hello', 'web.example.org', '8443', 'other.example.org', pieces],
                  r'^answered', 'web.example.org:8443', 'server name')
    tunnel = 'CONNECT web.example.org:8443 HTTP/1.1\\r\\nHost: web.example.org:8443\\r\\n\\r\\n'
    r.allowed('speech: a tunnel, silence, then TLS for the host', port, PY + ['tunnelled', tunnel, 'web.example.org'], r'^answered')
    r.allowed('speech: a tunnel, silence, then TLS for another', port, PY + ['tunnelled', tunnel, 'other.example.org'], r'^nothing')
    # An encrypted hello (ECH) cannot be told from one that clients make up (GREASE): the name that can be read counts, and is the host's.
    for target in ('443', '8443'):
        both = WEB + port
        r.allowed('speech: an encrypted hello inside one for the host, %s' % target, both, PY + ['ech', 'web.example.org', target, 'web.example.org'], r'^answered')
        r.refused('speech: an encrypted hello inside one for another, %s' % target, both, PY + ['ech', 'web.example.org', target, 'other.example.org'],
                  r'^answered', 'web.example.org', 'server name .* inside is encrypted')
    r.refused('speech: an upgrade to what is not the web', WEB, PY + ['tcp', 'web.example.org', '80', 'GET / HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: Upgrade\\r\\nUpgrade: h2c\\r\\n\\r\\nping\\n'], r'HTTP/1.1 101 ')
    r.refused('speech: an upgrade to what is not the web, named second', WEB, PY + ['tcp', 'web.example.org', '80', 'GET / HTTP/1.1\\r\\n'
              'Host: web.example.org\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nUpgrade: h2c\\r\\n\\r\\nping\\n'], r'Upgrade: h2c')
    r.refused('speech: an upgrade to what was not asked for', WEB, PY + ['tcp', 'web.example.org', '80', 'GET /ws-other HTTP/1.1\\r\\n'
              'Host: web.example.org\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nping\\n'], r'HTTP/1.1 101 ')
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
        'HTTP/0.9': 'GET http://web.example.org/\\r\\n\\r\\n',
        'a length with a sign': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nContent-Length: +4\\r\\n\\r\\nabcd',
        'a list of lengths': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nContent-Length: 4, 4\\r\\n\\r\\nabcd',
        'chunked twice': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nTransfer-Encoding: chunked\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n',
        'a coding with a control character': 'POST http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nTransfer-Encoding: \\x0bchunked\\r\\n\\r\\n0\\r\\n\\r\\n',
        'a coding of HTTP/1.0': 'POST http://web.example.org/ HTTP/1.0\\r\\nHost: web.example.org\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n',
        'a CR in a field': 'GET http://web.example.org/ HTTP/1.1\\r\\nHost: web.example.org\\r\\nX: a\\rHost: other.example.org\\r\\n\\r\\n',
        'a name before CONNECT': 'CONNECT web.example.org@other.example.org:80 HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n',
        'an upgrade to a host that is not listed': 'GET http://other.example.org/ws HTTP/1.1\\r\\nHost: other.example.org\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n',
        'NAT64': 'CONNECT [64:ff9b::cb00:7105]:80 HTTP/1.1\\r\\nHost: [64:ff9b::cb00:7105]:80\\r\\n\\r\\n',
        '6to4': 'CONNECT [2002:7f00:1::1]:80 HTTP/1.1\\r\\nHost: [2002:7f00:1::1]:80\\r\\n\\r\\n',
    }
    for name, text in bad.items():
        r.allowed('speech refused: ' + name, WEB, PY + ['proxy', text], r'^HTTP/1\.1 (400|403|501|505) ')
    one = 'GET http://web.example.org/one HTTP/1.1\\r\\nHost: web.example.org\\r\\n\\r\\n'
    r.allowed('speech: two requests at once', WEB, PY + ['proxy', one + 'GET http://web.example.org/two HTTP/1.1\\r\\nHost: web.example.org\\r\\nConnection: close\\r\\n\\r\\n'],
              r'GET /one host=web[^$]*GET /two host=web')
    r.allowed('speech refused: the second of two requests at once', WEB, PY + ['proxy', one + 'GET http://other.example.org/two HTTP/1.1\\r\\n'
              'Host: other.example.org\\r\\n\\r\\n'], r'GET /one host=web[^$]*HTTP/1\.1 403 ')
    r.allowed('works: a few words before the answer', WEB, PY + ['proxy', 'GET http://web.example.org/hints/16 HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: close\\r\\n\\r\\n'], r'^HTTP/1\.1 103 [^$]*HTTP/1\.1 200 ')
    r.allowed('speech refused: words before the answer without end', WEB, PY + ['proxy', 'GET http://web.example.org/hints/100 HTTP/1.1\\r\\n'
              'Host: web.example.org\\r\\nConnection: close\\r\\n\\r\\n'], r'HTTP/1\.1 502 [^$]*too much before')
    for name, size in (('0x', '0x4'), ('a sign', '+4'), ('more than 64 bits', 'fffffffffffffffff4'), ('an endless extension', '4;' + 'a' * 70000)):
        r.allowed('speech refused: a chunk of a size with ' + name, WEB, PY + ['proxy', 'POST http://web.example.org/post HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
                  'Transfer-Encoding: chunked\\r\\n\\r\\n' + size + '\\r\\nabcd\\r\\n0\\r\\n\\r\\n'], r'^HTTP/1\.1 400 ')
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
        - {host: web.example.org, paths: ["/v1/private/**"], action: deny}
        - {host: web.example.org, methods: [GET, HEAD], paths: ["/v1/**"]}
        - {host: web.example.org, methods: [GET, post], paths: ["/forms/**"]}
        - {host: other.example.org, action: deny}
'''


def otherwise(r, some):
    """Requests that say one thing to the rules and another to a server."""
    url, form, judged = 'http://web.example.org/v1/a', 'http://web.example.org/forms/a', 'than the one that was judged'
    for field in ('X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE', 'x-method-override: DELETE', 'X_Http_Method_Override: DELETE',
                  'X.HTTP.Method.Override: DELETE', 'X-Original-URL: /v2/a', 'X-Rewrite-URL: /v2/a', 'X-Forwarded-Uri: /v2/a',
                  'X-Forwarded-Prefix: /v2', 'X-Forwarded-Method: DELETE', 'X-Original-URI: /v2/a', 'X-Envoy-Original-Path: /v2/a',
                  'PATH_INFO: /v2/a', 'Destination: http://web.example.org/v2/a', 'X-Forwarded-Host: other.example.org',
                  'Forwarded: host=other.example.org'):
        r.refused('rules: another by %s' % field.split(':')[0], some, CURL + ['-H', field, url], r'^GET /v1/a', 'web.example.org', judged)
    r.allowed('rules: a field that says who asks', some, CURL + ['-H', 'X-Forwarded-For: 203.0.113.9', '-H', 'X-Forwarded-Proto: http', url],
              r'^GET /v1/a host=web')
    for query in ('_method=DELETE', 'a=b&_METHOD=DELETE', '%5fmeth%6Fd=DELETE', 'a=b;_method=DELETE', '_HttpMethod=PATCH', 'a=1&x-http-method-override=PUT'):
        r.refused('rules: another by ?%s' % query, some, CURL + ['-d', 'x', form + '?' + query], r'^POST /forms/a', 'web.example.org', judged)
    r.allowed('rules: a query like any other', some, CURL + ['-d', 'x', form + '?method=DELETE&my_method=1&a=_method'], r'^POST /forms/a')
    data = ['-d', 'secret', '-X']
    r.refused('rules: a body with GET', some, CURL + [*data, 'GET', url], r'^GET /v1/a host=web\S* body=6', 'web.example.org', 'a body with GET')
    r.refused('rules: chunks with GET', some, CURL + ['-H', 'Transfer-Encoding: chunked', *data, 'GET', url], r'^GET /v1/a host=web\S* body=6',
              'web.example.org', 'a body with GET')
    r.refused('rules: a body with HEAD', some, PY + ['tcp', 'web.example.org', '80', 'HEAD /v1/a HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: close\\r\\nContent-Length: 6\\r\\n\\r\\nsecret'], r'HTTP/1.1 200', 'web.example.org', 'a body with HEAD')
    r.allowed('rules: no body of no length with GET', some, CURL + ['-H', 'Content-Length: 0', url], r'^GET /v1/a host=web')
    r.allowed('rules: a body with GET where POST is allowed', some, CURL + [*data, 'GET', form], r'^GET /forms/a host=web\S* body=6')
    r.refused('rules: a method in small letters', some, CURL + ['-X', 'get', url], r'^get /v1/a', 'web.example.org', 'small letters')
    r.allowed('rules: a method that a policy has in small letters', some, CURL + ['-d', 'x', form], r'^POST /forms/a')
    r.refused('rules: fields after a body', some, PY + ['tcp', 'web.example.org', '80', 'POST /forms/a HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
              'Connection: close\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n1\\r\\nx\\r\\n0\\r\\nX-HTTP-Method-Override: DELETE\\r\\n\\r\\n'],
              r'POST /forms/a host', 'web.example.org', 'trailer')
    for path in ('%c0%ae%c0%ae/v2', 'a%3f', 'a%23', '%ef%bc%8e%ef%bc%8e/v2', 'a%7f', '...'):
        r.refused('rules: a path of two minds, %s' % path, some, CURL + ['http://web.example.org/v1/' + path], r'^GET /v1/', 'web.example.org', 'egress')
    for path in ('private/a', 'PRIVATE/a', 'private./a', 'private%20/a', 'private', 'Private/'):
        r.refused('rules: a path that is closed, %s' % path, some, CURL + ['http://web.example.org/v1/' + path], r'^GET /v1/', 'web.example.org', 'egress')
    r.allowed('rules: a path beside it', some, CURL + ['http://web.example.org/v1/privately/a.'], r'^GET /v1/privately/a\. host')


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
        if name == 'rules':  # the other differs in its hosts only
            otherwise(r, some)
        r.refused('rules: up and over (%s)' % name, some, CURL + ['--path-as-is', 'http://web.example.org/v1/../v2'], r'^GET /v', 'web.example.org', 'egress')
        r.refused('rules: TLS hides nothing from them (%s)' % name, some, DIRECT + ['-k', 'https://web.example.org/v2/a'], r'^GET /v2/a',
                  'web.example.org', 'egress')
        r.refused('rules: a host that is closed (%s)' % name, some, CURL + ['http://other.example.org/'], r'^GET / host=other', 'other.example.org', 'egress')
        r.refused('rules: silence is no way around (%s)' % name, some, PY + ['late', 'web.example.org', '8080', 'DELETE /v1/a HTTP/1.1\\r\\n'
                  'Host: web.example.org:8080\\r\\n\\r\\n'], r'DELETE /v1/a host', None)
        r.refused('rules: nor is an upgrade (%s)' % name, some, PY + ['tcp', 'web.example.org', '80', 'GET /v1/a HTTP/1.1\\r\\nHost: web.example.org\\r\\n'
                  'Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nping\\n'], r'HTTP/1.1 101 ')


def question(r, server, name, kind='1'):
    """Over UDP, as resolvers do, where there is such a thing."""
    return PY + ['ask', server, name, kind] + (['tcp'] if r.name == 'landlock' else [])


def names(r, server):
    r.allowed('names: an allowed one has an address of ours', WEB, question(r, '9.9.9.9', 'web.example.org'), r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: the same over TCP', WEB, PY + ['ask', '9.9.9.9', 'web.example.org', '1', 'tcp'], r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: the same for IPv6', WEB, question(r, '9.9.9.9', 'web.example.org', '28'), r'code=0 answers=1 fd')
    r.allowed('names: whatever server is asked, also on loopback', WEB, question(r, '127.0.0.53', 'web.example.org'), r'code=0 answers=1 198\.1[89]\.')
    r.allowed('names: another one does not exist', WEB, question(r, '9.9.9.9', 'other.example.org'), r'code=3 answers=0')
    r.allowed('names: text tunnels nothing', WEB, question(r, '9.9.9.9', 'web.example.org', '16'), r'code=0 answers=0')
    r.allowed('names: NULL tunnels nothing', WEB, question(r, '9.9.9.9', 'web.example.org', '10'), r'code=0 answers=0')
    r.allowed('names: no HTTPS records', WEB, question(r, '9.9.9.9', 'web.example.org', '65'), r'code=0 answers=0')
    r.allowed('names: one that fails is said to fail', ['--allow-host', 'gone.example.org'], question(r, '9.9.9.9', 'gone.example.org'), r'code=[23] answers=0')
    if r.wanted('names: a disallowed one is asked of nobody'):
        server.asked.clear()
        r.run(WEB, question(r, '9.9.9.9', 'secret-data.other.example.org'))
        r.run(WEB, CURL + ['http://secret-data.other.example.org/'])
        r.result('names: a disallowed one is asked of nobody', 'asked: %r' % server.asked if any('secret' in n for n in server.asked) else '')
    seen = r'\S+' if r.name == 'landlock' else r'198\.1[89]\.\S+'  # there the peer of each socket is ours
    r.allowed('names: rebinding does not move a name', ['--allow-host', 'rebind.example.org', '--allow-private', PUBLIC + '/32'],
              PY + ['rebind', 'rebind.example.org', '80'], r'^(%s HTTP/1.1 200[^\n]*\n){4}' % seen)


def table(r, server):
    """Names that stand in the host's /etc/hosts and nowhere else."""
    hosted = ['--allow-host', 'hosted.example.org', '--allow-private', PUBLIC + '/32']
    r.allowed('table: a name of the host\'s is judged by its name', hosted, DIRECT + ['http://hosted.example.org/a'], r'^GET /a host=hosted', 'hosted.example.org')
    r.allowed('table: the same through the proxy', hosted, CURL + ['http://hosted.example.org/a'], r'^GET /a host=hosted')
    r.allowed('table: and has an address of ours', hosted, ['getent', 'ahostsv4', 'hosted.example.org'], r'^198\.1[89]\.')
    r.refused('table: a name of the host\'s that is not listed', hosted, DIRECT + ['http://unlisted.example.org/a'], r'^GET /a host=unlisted',
              'unlisted.example.org', 'no entry')
    r.refused('table: the same through the proxy, not listed', hosted, CURL + ['http://unlisted.example.org/a'], r'^GET /a host=unlisted',
              'unlisted.example.org', 'no entry')
    r.refused('table: a name of the host\'s with a private address', ['--allow-host', 'lan.example.org'], DIRECT + ['http://lan.example.org/a'],
              r'^GET /a host=lan', 'lan.example.org', 'ssrf')
    r.refused('table: addresses of the host\'s are not seen', hosted, ['cat', '/etc/hosts'], r'example\.org')
    r.allowed('table: localhost is there', hosted, ['cat', '/etc/hosts'], r'^127\.0\.0\.1\tlocalhost\n::1\tlocalhost ')
    r.allowed('table: and the sandbox\'s own name', hosted, ['sh', '-c', 'getent ahostsv4 "$(uname -n)"'], r'^127\.')
    r.allowed('table: nobody writes there', hosted, ['sh', '-c', 'echo "203.0.113.6 web.example.org" >>/etc/hosts || echo closed'], r'closed$')
    r.allowed('table: nobody puts another there', hosted, ['sh', '-c', 'cp /etc/hosts /tmp/h && mv /tmp/h /etc/hosts || echo closed; rm -f /etc/hosts || echo closed'],
              r'closed\n[^$]*closed$')
    for name, kind, want in (('localhost', '1', '127.0.0.1'), ('localhost', '28', '::1'), ('a.localhost', '1', '127.0.0.1'), ('localhost', '16', '')):
        row = 'table: %s, asked of a server, type %s' % (name, kind)
        server.asked.clear()
        r.allowed(row, hosted, question(r, '9.9.9.9', name, kind), r'code=0 answers=%d %s$' % (bool(want), want))
        if r.wanted(row) and any('localhost' in n for n in server.asked):
            r.result(row, 'it was asked outside: %r' % server.asked)


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
    r.refused('others: UDP to a server', WEB, PY + ['udp', '203.0.113.5', '53530'], r'answered', '203.0.113.5:53530', 'UDP is closed')
    r.refused('others: UDP over IPv6', WEB, PY + ['udp', '2001:db8::5', '53530'], r'answered', '2001:db8::5', 'UDP is closed', control=False)
    r.refused('others: a multicast', WEB, PY + ['udp', '224.0.0.251', '5353'], r'answered', '224.0.0.251:5353', 'UDP is closed', control=False)
    r.refused('others: a flood of UDP hides nothing', WEB, PY + ['flood', OTHER], r'GET / host', OTHER + ':80', 'no entry')
    r.refused('others: UDP to a name', WEB, PY + ['udp', 'web.example.org', '53530'], r'answered', 'web.example.org:53530', 'UDP is closed')
    r.refused('others: ICMP', WEB, PY + ['raw', 'icmp'], r'opened', control=False)
    r.refused('others: packets', WEB, PY + ['raw', 'packet'], r'opened', control=False)
    r.refused('others: the loopback of the host', WEB, DIRECT + ['http://127.0.0.1:8080/'], r'GET / host=127')
    r.refused('others: its IPv6 loopback', WEB, DIRECT + ['-g', 'http://[::1]:8080/'], r'GET / host=', control=False)
    r.refused('others: without any rule there is nothing', [], CURL + ['http://web.example.org/'], r'GET / host=web')
    r.allowed('others: TCP fast open is redirected, too', WEB, DIRECT + ['--tcp-fastopen', 'http://web.example.org/'], r'^GET / host=web')
    r.refused('others: TCP fast open to another', WEB, DIRECT + ['--tcp-fastopen', 'http://%s/' % OTHER], r'GET / host=')


def fetch(address, port, path):
    """What a server says, or why not."""
    try:
        with socket.create_connection((address, port), 10) as s:
            s.sendall(b'GET %s HTTP/1.0\r\n\r\n' % path.encode())
            data = b''
            while True:
                more = s.recv(65536)
                if not more:
                    return data.decode('latin-1')
                data += more
    except OSError as e:
        return repr(e)


def wait_for(address, port, path, word):
    for _ in range(300):
        if word in fetch(address, port, path):
            return True
        time.sleep(0.1)
    return False


INSIDE = 'mkdir -p /tmp/d && cd /tmp/d && echo published >x && exec python3 -m http.server %d --bind %s'


def published(r):
    # What is behind the option, without it: nobody outside reaches the server.
    for name, bind in (('127.0.0.1', '127.0.0.1'), ('all addresses', '0.0.0.0'), ('IPv6 alone', '::1')):
        row = 'publish: a server inside on ' + name
        if not r.wanted(row):
            continue
        call = r.start(['--publish', '18080:8000'], ['sh', '-c', INSIDE % (8000, bind)])
        problem = ''
        try:
            if not wait_for('127.0.0.1', 18080, '/x', 'published'):
                problem = 'not reached: ' + fetch('127.0.0.1', 18080, '/x')
            # More than there are sockets for it: each is used again.
            for _ in range(80):
                if not problem and 'published' not in fetch('127.0.0.1', 18080, '/x'):
                    problem = 'not reached again'
            for address, port in (('127.0.0.2', 18080), (PUBLIC, 18080), ('127.0.0.1', 8000), ('127.0.0.1', 18081)):
                if not problem and 'published' in fetch(address, port, '/x'):
                    problem = 'reached as %s:%d' % (address, port)
            if not problem:
                text = subprocess.run([*r.prefix, r.cordon, 'run', '--cwd', r.workspace, *r.backend, '--publish', '18080:8000', '--', 'echo', 'ran'],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60)
                said = text.stdout.decode()
                if text.returncode != 125 or 'ran' in said or "publish '18080:8000': Address already in use" not in said:
                    problem = 'in use: %d %r' % (text.returncode, said)
            if not problem:
                idle = [socket.create_connection(('127.0.0.1', 18080), 10) for _ in range(40)]
                for s in idle:
                    s.close()
                if not wait_for('127.0.0.1', 18080, '/x', 'published'):
                    problem = 'not reached after many idle connections'
        finally:
            call.terminate()
            call.communicate(timeout=60)
        if not problem and 'refused' not in fetch('127.0.0.1', 18080, '/x'):
            problem = 'somebody listens after the end'
        r.result(row, problem)


def ports(r):
    one = ['--allow-port', '8080']
    r.allowed('ports: a granted one', one, DIRECT + ['http://127.0.0.1:8080/a'], r'^GET /a host=127')
    r.allowed('ports: a granted one, by name', one, DIRECT + ['http://localhost:8080/a'], r'^GET /a host=localhost')
    r.allowed('ports: a granted one, by IPv6', one, DIRECT + ['-g', 'http://[::1]:8080/a'], r'^GET /a host=')
    r.allowed('ports: a large answer', one, DIRECT + ['-o', '/dev/null', '-w', '%{size_download}', 'http://127.0.0.1:8080/big'], r'^3000000$')
    r.refused('ports: its neighbour', one, DIRECT + ['http://127.0.0.1:80/'], r'GET / host=127')
    r.refused('ports: the same at another address of loopback', one, DIRECT + ['http://127.0.0.2:8080/'], r'GET / host=127')
    r.refused('ports: the same at an address of the host', one, DIRECT + ['http://%s:8080/' % PUBLIC], r'GET / host=203')
    r.refused('ports: the same by IPv6', one, DIRECT + ['-g', 'http://[%s]:8080/' % SIX], r'GET / host=')
    both = WEB + one
    r.allowed('ports: beside an allowlist', both, DIRECT + ['http://127.0.0.1:8080/a', 'http://web.example.org/b'], r'^GET /a host=127[^\n]*\nGET /b host=web')
    r.refused('ports: beside an allowlist, its neighbour', both, DIRECT + ['http://127.0.0.1:80/'], r'GET / host=127')
    r.refused('ports: beside an allowlist, an address of the host', both, DIRECT + ['http://%s:8080/' % PUBLIC], r'GET / host=203', PUBLIC, 'no entry')


ASK = WEB + ['--ask-hosts', '--allow-private', OTHER + '/32']
THERE = CURL + ['http://other.example.org/a']


def asked(r):
    def row(name, problem):
        if r.wanted(name):
            r.result(name, problem() or '')

    def screen(options, keys, command=THERE, asks=True, works=None, scope=None, box=None):
        text, report = r.typed(options, command, keys, box=box)
        did = 'GET /a host=other' in text
        hosts = [(a['host'], a['scope']) for a in report.get('network', {}).get('approved', [])]
        if ('wants to connect to other.example.org' in text) != asks:
            return 'asked: %r' % text[-600:]
        if did != works:
            return 'works: %r %r' % (text[-600:], report.get('denied'))
        if hosts != ([('other.example.org', scope)] if scope else []):
            return 'approved: %r' % hosts
        if scope and 'uid' not in report['network']['approved'][0]['by']:
            return 'by: %r' % report['network']
        if not works and asks and not box and not any(d['kind'] == 'host' and 'network.ask' in d['rule'] for d in report['denied']):
            return 'denied: %r' % report['denied']
        return ''

    def alone(options=ASK, cwd=None):
        """Without a terminal, what was kept decides."""
        report = r.scratch + '/alone.json'
        done = subprocess.run([*r.prefix, 'setsid', '-w', r.cordon, 'run', '--cwd', cwd or r.workspace, '-q', '--report', report, *r.backend, *options, '--',
                               *THERE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60)
        return 'GET /a host=other' in done.stdout.decode('latin-1')

    kept = os.environ['CORDON_STATE_DIR'] + '/approvals'

    def forget():
        if os.path.exists(kept):
            os.unlink(kept)

    def once():
        return screen(ASK, 'o\n', works=True, scope='once') or (alone() and 'it was kept') or screen(ASK, 'n\n', works=False)

    def project():
        forget()
        problem = screen(ASK, 'p\n', works=True, scope='project') or screen(ASK, None, asks=False, works=True, scope='project')
        if problem or not alone():
            return problem or 'it was not kept'
        other = r.scratch + '/elsewhere'
        os.mkdir(other)
        if r.prefix:
            os.chown(other, 65534, 65534)
        if alone(cwd=other):
            return 'it holds for another project'
        if os.stat(kept).st_mode & 0o777 != 0o600:
            return 'mode of the file'
        text = open(kept).read()
        with open(kept, 'w') as file:
            file.write(''.join('1000 %s\n' % line.split(' ', 1)[1] for line in text.splitlines()))
        problem = alone() and 'it holds after its time'
        forget()
        return problem

    def session():
        forget()
        problem = screen(ASK + ['--session', 'one'], 's\n', works=True, scope='session')
        if not problem and not alone(ASK + ['--session', 'one']):
            problem = 'it was not kept'
        if not problem and (alone(ASK + ['--session', 'two']) or alone()):
            problem = 'it holds for another session'
        forget()
        return problem

    def silence():
        with open(r.scratch + '/brief.yaml', 'w') as file:
            file.write('cordon: 1\nsandbox:\n  capabilities:\n    network:\n      mode: allowlist\n      ask: true\n      allowed_hosts: [web.example.org]\n'
                       '      allow_private: [203.0.113.0/24]\npolicy:\n  approval: {timeout_seconds: 1}\n')
        return screen(['-p', r.scratch + '/brief.yaml', '--write', r.workspace], None, works=False)

    def special_stays():
        text, report = r.typed(WEB + ['--ask-hosts'], THERE, 'o\n')
        rules = [d['rule'] for d in report.get('denied', [])]
        return '' if 'GET /a' not in text and any('ssrf' in rule for rule in rules) else '%r %r' % (text[-400:], rules)

    def inside(box, command):
        """In a sandbox that stays, without a terminal."""
        done = subprocess.run([*r.prefix, 'setsid', '-w', r.cordon, 'sandbox', 'exec', '-q', box, '--', *command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60, check=False)
        return 'GET /a host=other' in done.stdout.decode('latin-1')

    def stays():
        forget()
        sandbox = [*r.prefix, r.cordon, 'sandbox']
        made = subprocess.run([*sandbox, 'create', '--cwd', r.workspace, *r.backend, *ASK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        box = made.stdout.decode().strip()
        if made.returncode != 0:
            return box
        try:
            later = ['sh', '-c', '(sleep 1; %s >later 2>&1; echo done >>later) >/dev/null 2>&1 &' % ' '.join(THERE)]
            return (screen([], 'o\n', works=True, scope='once', box=box) or (inside(box, THERE) and 'once is for more than one call') or
                    screen([], 'n\n', works=False, box=box) or screen([], 'o\n', works=True, scope='once', box=box) or
                    (inside(box, later) and 'too early') or
                    (inside(box, ['sh', '-c', 'for i in $(seq 100); do grep -q done later && break; sleep 0.1; done; cat later']) and
                     'between calls it was not refused') or
                    screen([], 's\n', works=True, scope='session', box=box) or (not inside(box, THERE) and 'the session was not kept') or '')
        finally:
            subprocess.run([*sandbox, 'rm', '--force', box], stdout=subprocess.DEVNULL, check=False)
            forget()

    def tainted():
        """A call of a tainted session was there: who came with another one is not asked any more."""
        forget()
        secret = r.workspace + '/.env'
        with open(secret, 'w') as file:
            file.write('TOKEN=x\n')
        os.chmod(secret, 0o644)
        sandbox = [*r.prefix, r.cordon, 'sandbox']
        made = subprocess.run([*sandbox, 'create', '--cwd', r.workspace, *r.backend, *ASK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        box = made.stdout.decode().strip()
        try:
            if made.returncode != 0:
                return box
            problem = screen(['--session', 'clean'], 'o\n', works=True, scope='once', box=box)
            for command in (['cat', '.env'], ['true']):
                if not problem:
                    subprocess.run([*sandbox, 'exec', '-q', '--session', 'soiled', box, '--', *command], stdout=subprocess.DEVNULL, check=True,
                                   stdin=subprocess.DEVNULL, timeout=60)
            return problem or screen(['--session', 'clean'], 'o\n', asks=False, works=False, box=box)
        finally:
            subprocess.run([*sandbox, 'rm', '--force', box], stdout=subprocess.DEVNULL, check=False)
            os.unlink(secret)
            forget()

    row('ask: in a sandbox that stays', stays)
    row('ask: in a sandbox that a tainted session was in', tainted)
    row('ask: once is for one call', once)
    row('ask: a no is a no', lambda: screen(ASK, '\n', works=False))
    row('ask: anything else is a no', lambda: screen(ASK, 'yes please\n', works=False))
    row('ask: session without one is a no', lambda: screen(ASK, 's\n', works=False))
    row('ask: no answer is a no', silence)
    row('ask: a program that asks for names itself', lambda: screen(ASK, 'o\n', DIRECT + ['http://other.example.org/a'], works=True, scope='once'))
    row('ask: TLS in a tunnel', lambda: screen(ASK, 'o\n', CURL + ['--cacert', 'cert.pem', 'https://other.example.org/a'], works=True, scope='once'))
    row('ask: nothing is asked without the option', lambda: screen(WEB, 'o\n', asks=False, works=False))
    row('ask: for a project, until its time', project)
    row('ask: for a session', session)
    row('ask: special addresses are not opened by it', special_stays)
    r.refused('ask: nobody is there', ASK, THERE, r'GET /a host=other', 'other.example.org', 'nobody allowed')
    for name, host in (('an address that is special', '169.254.169.254'), ('a name of this machine', 'localhost')):
        row('ask: not for ' + name, lambda host=host: 'wants to connect' in r.typed(ASK, CURL + ['--noproxy', '', 'http://%s/' % host], 'o\n')[0] and 'it was')


def below(pid):
    """The processes that a process has started."""
    found = []
    for task in os.listdir('/proc/%d/task' % pid) if os.path.isdir('/proc/%d/task' % pid) else []:
        try:
            with open('/proc/%d/task/%s/children' % (pid, task)) as file:
                found += [int(child) for child in file.read().split()]
        except OSError:
            continue
    return found


def relayed(r):
    """Bytes both ways; in cordon-layers, without pipes, too."""
    echo = ['--allow-host', 'web.example.org:2224', '--allow-private', PUBLIC + '/32']
    r.allowed('relay: both ways at once', echo, PY + ['echo', 'web.example.org', '2224', '8000000'], r'^same 8000000$')
    r.allowed('relay: a reader that is late', echo, PY + ['echo', 'web.example.org', '2224', '12000000', '2'], r'^same 12000000$')
    r.allowed('relay: twenty at once', echo, PY + ['echo', 'web.example.org', '2224', '500000', '0.5', '20'], r'^same 10000000$')
    for what, text in (('a byte of it', r'\x16hello'), ('the head of a record', r'\x16\x03\x01\x00\x05\x02hello')):
        r.allowed('relay: begins as TLS does, and is none: ' + what, echo, PY + ['say', 'web.example.org', '2224', text], r'hello')
    r.refused('relay: an exact port, and TLS to another', echo, PY + ['hello', 'web.example.org', '2224', 'other.example.org'], r'^echoed',
              'web.example.org:2224', "TLS server name 'other.example.org'")
    r.refused('relay: the same with a version that nobody has', echo, PY + ['hello', 'web.example.org', '2224', 'other.example.org', '153'], r'^echoed',
              'web.example.org:2224', "TLS server name 'other.example.org'")
    r.allowed('relay: an exact port, and TLS to the host', echo, PY + ['hello', 'web.example.org', '2224', 'web.example.org'], r'^echoed')
    r.allowed('relay: nothing, and its end', echo, PY + ['echo', 'web.example.org', '2224', '0'], r'^same 0$')
    is_without = 'pipes' in os.environ.get('CORDON_TEST_LAYERS_OFF', '')
    row = 'relay: bytes are copied' if is_without else 'relay: pipes hold them'
    if not r.wanted(row):
        return
    call = r.start(echo, PY + ['echo', 'web.example.org', '2224', '30000000', '3', '4'])
    most = seen = 0
    while call.poll() is None:
        for pid in below(call.pid):
            try:
                if open('/proc/%d/comm' % pid).read() == 'cordon-proxy\n':
                    # Of four connections two ways each; the rest is the process's own.
                    ends = [os.readlink('/proc/%d/fd/%s' % (pid, fd)) for fd in os.listdir('/proc/%d/fd' % pid)]
                    seen = max(seen, sum(1 for end in ends if end.startswith('socket:')))
                    most = max(most, sum(1 for end in ends if end.startswith('pipe:')))
            except OSError:
                continue
        time.sleep(0.01)
    text = call.communicate()[0].decode('latin-1')
    good = 'same 120000000' in text and seen >= 8 and (most == 0 if is_without else most > 0)
    r.result(row, '' if good else '%d pipes, %d sockets: %r' % (most, seen, text))


def spared(r):
    """Connections to a server are kept for the next client, where nothing speaks against it."""
    def row(name, first, second, count, hosts=('web.example.org', 'web.example.org'), pattern=r'^GET /a [^\n]*\n(GET|HEAD|POST) /'):
        name = 'spare: ' + name
        if not r.wanted(name):
            return
        r.server.reached.clear()
        some = [*WEB, '--allow-host', 'api.example.org']
        text, report = r.run(some, ['sh', '-c', 'curl -sS -m 10 %s; curl -sS -m 10 %s' % (first % hosts[0], second % hosts[1])])
        good = re.search(pattern, text) and len(r.server.reached) == count and report['network']['allowed'] == 2
        r.result(name, '' if good else '%r, reached %r, %r' % (text, r.server.reached, report['network']))
    row('two clients, one connection', 'http://%s/a', 'http://%s/b', 1)
    row('of a client that asks for the end', '-H "Connection: close" http://%s/a', 'http://%s/b', 1)
    row('one that the server ends', 'http://%s/a', 'http://%s/stale', 2)
    row('one that has ended', 'http://%s/a http://web.example.org/close >/dev/null; echo "GET /a "', 'http://%s/b', 2)
    row('not for another name', 'http://%s/a', 'http://%s/b', 2, ('web.example.org', 'api.example.org'))
    row('not for what cannot be sent again', 'http://%s/a', '-d x http://%s/b', 2)
    row('not with credentials', '-u a:b http://%s/a', 'http://%s/b', 2)
    # What the last request of a kept connection was says nothing of those before it.
    row('not after one with credentials', '-u a:b http://%s/a --next -sS http://web.example.org/c', 'http://%s/b', 2)
    row('not after one with a cookie', '-b a=b http://%s/a --next -sS http://web.example.org/c', 'http://%s/b', 2)
    row('not after a body', '-d x http://%s/a --next -sS http://web.example.org/c', 'http://%s/b', 2, pattern=r'^POST /a [^\n]*\nGET /c [^\n]*\nGET /b ')
    row('after two of which both are light', 'http://%s/a --next -sS http://web.example.org/c', 'http://%s/b', 1)
    row('not to one with credentials', 'http://%s/a', '-H "Cookie: a=b" http://%s/b', 2)
    r.allowed('spare: an address that nobody listens on, then another', ['--allow-host', 'pair.example.org', '--allow-private', '2001:db8::/32'],
              DIRECT + ['http://pair.example.org/a'], r'^GET /a host=pair')
    r.allowed('works: a chunked answer to a client of old', WEB, PY + ['tcp', 'web.example.org', '80',
              'GET /old HTTP/1.0\\r\\nHost: web.example.org\\r\\n\\r\\n'], r'\n\r?\nGET /old host=web')


def untold(r):
    """Where the kernel does not tell what it rejects, or not all of it, the report says so."""
    layers = os.path.join(os.path.dirname(r.cordon), 'tests/conformance/cordon-layers')
    said = lambda report: [d for d in report['denied'] if d['target'] == '*' and d['rule'].startswith('untracked')]
    datagram = PY[:1] + ['-c', 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nfor i in range(%d):\n try: s.sendto(b"x", ("203.0.113.5", 4433))\n'
                         ' except OSError: pass']
    flood = datagram[:-1] + [datagram[-1] % 300000]
    datagram[-1] = datagram[-1] % 1
    for off, cordon in (('', r.cordon), ('told', layers)):
        name = 'others: rejected, and ' + ('nobody tells' if off else 'told')
        if not r.wanted(name) or not os.path.exists(cordon):
            continue
        own, r.cordon = r.cordon, cordon
        os.environ['CORDON_TEST_LAYERS_OFF'] = off
        _, report = r.run(WEB, datagram)
        del os.environ['CORDON_TEST_LAYERS_OFF']
        r.cordon = own
        udp = [d for d in report['denied'] if d['rule'].startswith('UDP')]
        r.result(name, '' if bool(off) == bool(said(report)) and bool(off) != bool(udp) else repr(report['denied']))
    name = 'others: more than can be told'
    if r.wanted(name):
        _, report = r.run(WEB, flood, 120)
        r.result(name, '' if said(report) else repr(report['denied']))


def run(r, server):
    works(r)
    untold(r)
    spared(r)
    hosts(r)
    speech(r)
    rules(r)
    names(r, server)
    table(r, server)
    special(r)
    others(r)
    race_rows.run(r)
    tls.run(r)
    ports(r)
    published(r)
    secrets_rows.run(r)
    leak_rows.run(r)
    asked(r)
    relayed(r)
    tools_rows.run(r)
    url_rows.run(r)
