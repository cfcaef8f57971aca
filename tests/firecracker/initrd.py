# SPDX-License-Identifier: Apache-2.0
# usage: initrd.py INITRD OUT NAME=FILE...: the archive with further files, which replace those of the same name
import sys

with open(sys.argv[1], 'rb') as f:
    out = f.read()
out += bytes(-len(out) % 512)
for word in sys.argv[3:] + ['TRAILER!!!=/dev/null']:
    name, path = word.split('=')
    with open(path, 'rb') as f:
        data = f.read()
    numbers = 1, 0o100755, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0
    entry = b'070701' + b''.join(b'%08x' % n for n in numbers) + name.encode() + b'\0'
    entry += bytes(-len(entry) % 4)
    out += entry + data + bytes(-len(data) % 4)
with open(sys.argv[2], 'wb') as f:
    f.write(out)
