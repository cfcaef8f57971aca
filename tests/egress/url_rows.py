# SPDX-License-Identifier: Apache-2.0
"""URLs that are written to be read in two ways: whatever a client makes of one, nobody private is reached.

The servers of the test note the address at which they were reached.  One host is listed; every URL goes through every client, in
few calls.  Forms are made here for some addresses; with SHARED in the environment those of corpora/f_ssrf_urls go with them.
"""

import json
import os
import sys

PUBLIC = '203.0.113.5'
TARGETS = ('127.0.0.1', '169.254.169.254', '10.1.2.3')
LISTED = 'allowed.example.com'
PYTHON = sys.executable if sys.executable.startswith('/usr') else '/usr/bin/python3'


def numbers(address):
    """The address in the forms that inet_aton() takes, and some that it does not."""
    a, b, c, d = (int(x) for x in address.split('.'))
    whole = a << 24 | b << 16 | c << 8 | d
    yield from (str(whole), hex(whole), '0%o' % whole, '0x%08X' % whole, str(whole + (1 << 32)))
    yield from ('%d.%d' % (a, whole & 0xffffff), '%d.%d.%d' % (a, b, whole & 0xffff))
    yield '.'.join('0%o' % x for x in (a, b, c, d))
    yield '.'.join('0000%o' % x for x in (a, b, c, d))
    yield '.'.join('0x%x' % x for x in (a, b, c, d))
    yield '.'.join('0x%08x' % x for x in (a, b, c, d))
    yield '0x%x.0%o.%d.%d' % (a, b, c, d)
    yield '0%o.0x%x.%d' % (a, b, c << 8 | d)
    yield '.'.join(str(x + 256) for x in (a, b, c, d))
    yield '%d.%d.%d.0%o' % (a, b, c, d)
    yield address + '.'
    yield address.translate(str.maketrans('0123456789', '\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19'))
    yield address.replace('.', '\u3002')
    yield ''.join('%%%02x' % ord(x) for x in address)
    yield address.replace('.', '%2e')


def six(address):
    a, b, c, d = (int(x) for x in address.split('.'))
    low = '%x:%x' % (a << 8 | b, c << 8 | d)
    for form in ('::ffff:' + address, '::ffff:' + low, '::' + address, '::ffff:0:' + address, '64:ff9b::' + address, '64:ff9b:1::' + low, '2002:%s::1' % low,
                 '0:0:0:0:0:ffff:' + low, '::ffff:' + address + '%25lo', '::ffff:' + address + '%lo'):
        yield '[%s]' % form


def own():
    for address in TARGETS:
        hosts = [*numbers(address), *six(address), address]
        for host in hosts:
            yield 'http://%s/' % host
        for host in (address, next(numbers(address))):
            for form in ('http://%(l)s@%(h)s/', 'http://%(l)s:80@%(h)s/', 'http://%(l)s:@%(h)s/', 'http://%(h)s#@%(l)s/', 'http://%(h)s?@%(l)s/', 'http://%(h)s/@%(l)s',
                         'http://%(h)s;@%(l)s/', 'http://%(h)s\\@%(l)s/', 'http://%(l)s\\@%(h)s/', 'http://%(h)s%%00@%(l)s/', 'http://%(h)s%%00.%(l)s/',
                         'http://%(l)s%%00.%(h)s/', 'http://%(h)s%%09%(l)s/', 'http://%(h)s %(l)s/', 'http://%(h)s\t%(l)s/', 'http://%(l)s,%(h)s/', 'http://%(h)s,%(l)s/',
                         'http://%(h)s:80@@%(l)s/', 'http://%(l)s@%(h)s@%(l)s/', 'http://%(l)s &@%(h)s# @%(l)s/', 'http:%(h)s/', 'http:/%(h)s/', 'http:\\\\%(h)s\\', '//%(h)s/',
                         'http:///%(h)s/', 'http://%(l)s:80:%(h)s/', 'http://%(h)s:80:80/', 'HTTP://%(h)s/', 'http://%(h)s:0080/', 'http://%(h)s:65616/', 'ftp://%(h)s:80/',
                         'gopher://%(h)s:80/_GET%%20/', 'dict://%(h)s:80/GET:/', 'telnet://%(h)s:80/', 'http://x%(h)s/', 'http://%(h)s.%(l)s/', 'http://[%(l)s]@%(h)s/',
                         'http://%(l)s%%40%(h)s/', 'http://%(l)s%%2f@%(h)s/', 'http://%(l)s%%23@%(h)s/', 'http://%(l)s\r\n@%(h)s/', 'https://%(h)s:80/'):
                yield form % {'h': host, 'l': LISTED}
    for name in ('localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'loop.example.org', 'meta.example.org', 'private.example.org', 'both.example.org',
                 'mapped.example.org', '\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3', 'lo%63alhost', '0', '0.0.0.0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]',
                 '[::1%25lo]', '127.1', '127.127.127.127', 'metadata', 'metadata.google.internal', 'instance-data', 'lan.example.org'):
        yield 'http://%s/' % name
        yield 'http://%s@%s/' % (LISTED, name)


def corpus():
    path = os.path.join(os.environ.get('SHARED', ''), 'corpora/f_ssrf_urls/dev.jsonl')
    if not os.environ.get('SHARED') or not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line)['text'] for line in file]


def is_private(address):
    return address not in (PUBLIC, '203.0.113.6', '2001:db8::5')


def run(r):
    some = [name for name in ('proxy', 'connect', 'socks', 'curl', 'curl-direct', 'urllib', 'node') if r.wanted('urls: by ' + name)]
    if 'node' in some and not os.path.exists('/usr/bin/node'):
        some.remove('node')
    if not some:
        return
    mine, theirs = list(dict.fromkeys(own())), corpus()
    print('# %d URLs made here, %d of corpora' % (len(mine), len(theirs)) + ('' if theirs else ' (SKIP: no SHARED)'))
    listed = ['--allow-host', LISTED, '--allow-host', LISTED + ':80', '--allow-private', PUBLIC + '/32']
    path = os.path.join(r.workspace, 'urls.json')
    with open(path, 'w') as file:
        json.dump([*mine, *theirs, 'http://%s/the-listed-one' % LISTED], file)
    os.chmod(path, 0o644)
    for name in some:
        command = [PYTHON, 'attempt.py', 'urls', name]
        problem = ''
        if name in ('curl-direct', 'urllib'):  # Without the sandbox they get there.
            r.server.reached.clear()
            r.bare(command)
            there = [a for a in r.server.reached if is_private(a)]
            if len(there) < 50:
                problem = 'control: only %d got to a private address' % len(there)
        r.server.reached.clear()
        try:
            text, report = r.run(listed, command, timeout=600)
        except Exception as e:  # pylint: disable=broad-except
            r.result('urls: by ' + name, repr(e))
            continue
        private = sorted({a for a in r.server.reached if is_private(a)})
        others = sorted(set(report['network']['hosts']) - {LISTED})
        if private or others:
            problem = 'reached %r, hosts %r: %s' % (private, others, text[-600:])
        elif 'done %d' % (len(mine) + len(theirs) + 1) not in text:
            problem = 'not all were tried: ' + text[-600:]
        elif 'the-listed-one' not in text or PUBLIC not in r.server.reached:
            problem = 'the host that is listed was not reached: ' + text[-600:]
        r.result('urls: by %s, %d of them' % (name, len(mine) + len(theirs)), problem)
