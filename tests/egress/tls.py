# SPDX-License-Identifier: Apache-2.0
"""TLS that ends in the proxy: rows, and the servers for them."""

import os
import ssl
import subprocess
import sys

PY = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'
CURL = ['curl', '-sS', '-m', '20']
DIRECT = CURL + ['--noproxy', '*']

RULES = '''cordon: 1
sandbox:
  capabilities:
    network:
      mode: allowlist
      allowed_hosts: [web.example.org, api.example.org, other.example.org, expired.example.org, wrong.example.org,
                      stranger.example.org, "old.example.org:9443", "api.example.org:8443"]
      allow_private: [203.0.113.0/24]
      egress:
        - {host: api.example.org, methods: [GET, HEAD], paths: ["/v1/**", "/repo.git/**"]}
        - {host: api.example.org, methods: [POST], paths: ["/v1/form"]}
        - {host: "api.example.org:8443", methods: [GET], paths: ["/v1/**"]}
        - {host: expired.example.org, methods: [GET]}
        - {host: wrong.example.org, methods: [GET]}
        - {host: stranger.example.org, methods: [GET]}
        - {host: "old.example.org:9443", methods: [GET]}
'''


def openssl(*words):
    subprocess.run(['openssl', *words], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def make(scratch, context):
    """Certificates of an authority of the test's own, by the name that a client asks for."""
    at = lambda name: os.path.join(scratch, name)
    for name in ('ca', 'stranger'):
        openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test ' + name, '-keyout', at(name + '.key'),
                '-out', at(name + '.pem'))
    contexts = {}
    for host, names, ca, days in (('api', 'api', 'ca', '2'), ('expired', 'expired', 'ca', '-1'), ('wrong', 'another', 'ca', '2'),
                                  ('stranger', 'stranger', 'stranger', '2'), ('old', 'old', 'ca', '2')):
        with open(at('names'), 'w') as file:
            file.write('subjectAltName=DNS:%s.example.org\n' % names)
        openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=' + host, '-keyout', at(host + '.leaf.key'), '-out', at('request'))
        openssl('x509', '-req', '-in', at('request'), '-CA', at(ca + '.pem'), '-CAkey', at(ca + '.key'), '-CAcreateserial', '-days', days,
                '-extfile', at('names'), '-out', at(host + '.leaf.pem'))
        contexts[host + '.example.org'] = one = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        one.load_cert_chain(at(host + '.leaf.pem'), at(host + '.leaf.key'))
        if host == 'old':
            one.set_ciphers('ALL:@SECLEVEL=0')
            one.minimum_version = ssl.TLSVersion.TLSv1
            one.maximum_version = ssl.TLSVersion.TLSv1_1

    def choose(sock, name, _context):
        if name in contexts:
            sock.context = contexts[name]

    context.sni_callback = choose
    os.environ['CORDON_CA_FILE'] = at('ca.pem')
    git = ['git', '-C', at(''), '-c', 'user.name=t', '-c', 'user.email=t@example.org']
    for words in (['init', '-q', '-b', 'trunk', 'tree'], ['-C', 'tree', 'commit', '-q', '--allow-empty', '-m', 'x'],
                  ['clone', '-q', '--bare', 'tree', 'repo.git'], ['-C', 'repo.git', 'update-server-info']):
        subprocess.run(git + words, check=True, stderr=subprocess.DEVNULL)
    return contexts['old.example.org']


def programs(r, some):
    url = 'https://api.example.org/v1/a'
    want = r'GET /v1/a host=api\.example\.org '
    r.allowed('tls: curl through the proxy', some, CURL + [url], want, 'api.example.org')
    r.allowed('tls: curl that ignores the proxy', some, DIRECT + [url], want)
    r.allowed('tls: curl by SOCKS', some, DIRECT[:-2] + ['--socks5-hostname', '127.0.0.1:61080', url], want)
    r.allowed('tls: wget', some, ['wget', '-q', '-O', '-', url], want)
    r.allowed('tls: python urllib', some, [PY, '-c', 'import urllib.request as u; print(u.urlopen("%s").read())' % url], want)
    if os.path.exists('/usr/bin/node') or os.path.exists('/usr/local/bin/node'):
        r.allowed('tls: node', some, ['node', '-e', 'require("https").get("%s", a => a.on("data", d => process.stdout.write(d)))' % url], want)
        r.allowed('tls: node fetch', some, ['node', '-e', 'fetch("%s").then(a => a.text()).then(t => console.log(t))' % url], want)
    r.allowed('tls: git over https', some, ['git', 'ls-remote', 'https://api.example.org/repo.git'], r'[0-9a-f]{40}\s+refs/heads/trunk')
    r.allowed('tls: a port of its own', some, DIRECT + ['https://api.example.org:8443/v1/a'], r'GET /v1/a host=api\.example\.org:8443')
    r.allowed('tls: two requests in one connection', some, DIRECT + [url, 'https://api.example.org/v1/b'], r'GET /v1/a .*\nGET /v1/b ')
    r.allowed('tls: a large answer', some, DIRECT + ['-o', '/dev/null', '-w', '%{size_download}', 'https://api.example.org/v1/big'], r'^3000000$')
    r.allowed('tls: an answer in chunks', some, DIRECT + ['https://api.example.org/v1/chunked'], r'^hello world$')
    r.allowed('tls: an answer until the end', some, DIRECT + ['https://api.example.org/v1/close'], r'^until the end$')
    r.allowed('tls: a large request', some, DIRECT + ['--data-binary', '@/usr/bin/env', '-H', 'Expect:', 'https://api.example.org/v1/form'],
              r'^POST /v1/form host=\S+ body=\d{5}')
    r.allowed('tls: HTTP/1.1 alone is offered', some, DIRECT + ['--http2', '-o', '/dev/null', '-w', '%{http_version}', url], r'^1\.1$')
    r.allowed('tls: a host without such a rule is not ours to read', some, DIRECT + ['--cacert', 'cert.pem', 'https://web.example.org/a'],
              r'^GET /a host=web')
    r.allowed('tls: the authority is of the session', some, DIRECT + ['-o', '/dev/null', '-v', url], r'issuer: O=cordon; CN=session authority')


def judged(r, some):
    k = ['-k']
    r.refused('tls: another path', some, DIRECT + k + ['https://api.example.org/v2/a'], r'^GET /v2/a', 'api.example.org', 'egress')
    r.refused('tls: another method', some, DIRECT + k + ['-X', 'DELETE', 'https://api.example.org/v1/a'], r'^DELETE /v1/a', 'api.example.org', 'egress')
    r.refused('tls: another path in the same connection', some, DIRECT + k + ['https://api.example.org/v1/a', 'https://api.example.org/v2/a'],
              r'GET /v2/a', 'api.example.org', 'egress')
    r.refused('tls: up and over', some, DIRECT + k + ['--path-as-is', 'https://api.example.org/v1/../v2'], r'^GET /v', 'api.example.org', 'egress')
    r.allowed('tls: a refusal says rule and remedy', some, DIRECT + ['-i', 'https://api.example.org/v2/a'],
              r'(?s)403.*x-proxy-error: network\.egress.*"remedy":"add a rule')
    r.refused('tls: fronting by the Host of another', some, DIRECT + k + ['-H', 'Host: other.example.org', 'https://api.example.org/v1/a'],
              r'^GET /v1/a host=other', 'other.example.org', 'Host')
    r.allowed('tls: fronting is answered', some, DIRECT + ['-i', '-H', 'Host: other.example.org', 'https://api.example.org/v1/a'], r'^HTTP/1.1 421 ')
    r.refused('tls: the server name of another', some, DIRECT + k + ['--connect-to', 'other.example.org:443:api.example.org:443',
              'https://other.example.org/v1/a'], r'^GET /v1/a', 'api.example.org', 'server name')
    r.refused('tls: no server name', some, [PY, 'attempt.py', 'tls', 'api.example.org', '443', '-'], r'200 OK', 'api.example.org', 'server name')
    r.refused('tls: a server whose certificate is over', some, DIRECT + k + ['https://expired.example.org/'], r'^GET / host', 'expired.example.org',
              'expired')
    r.refused('tls: a server with the certificate of another', some, DIRECT + k + ['https://wrong.example.org/'], r'^GET / host', 'wrong.example.org',
              'mismatch')
    r.refused('tls: a server whose authority nobody knows', some, DIRECT + k + ['https://stranger.example.org/'], r'^GET / host',
              'stranger.example.org', 'self|issuer|local')
    r.refused('tls: a server of old', some, DIRECT + k + ['--tlsv1.0', '--ciphers', 'ALL:@SECLEVEL=0', 'https://old.example.org:9443/'], r'^GET / host',
              'old.example.org', 'TLS')
    r.allowed('tls: a bad certificate is answered with why', some, DIRECT + ['-i', 'https://expired.example.org/'],
              r'(?s)^HTTP/1.1 502 .*expired')
    r.refused('tls: a client that does not know the authority', some, DIRECT + ['--cacert', 'ca.pem', 'https://api.example.org/v1/a'], r'^GET /v1/a',
              'api.example.org', "client's TLS")
    r.refused('tls: HTTP/2 without being asked', some, [PY, 'attempt.py', 'h2', 'api.example.org', '443'], r'^h2 spoken', 'api.example.org', "client's TLS")


def run(r):
    with open(r.scratch + '/tls.yaml', 'w') as file:
        file.write(RULES)
    subprocess.run(['cp', r.scratch + '/ca.pem', r.workspace], check=True)
    some = ['-p', r.scratch + '/tls.yaml']
    programs(r, some)
    judged(r, some)
