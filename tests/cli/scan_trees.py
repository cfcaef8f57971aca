# SPDX-License-Identifier: Apache-2.0
"""Makes the small repositories of tests/data/scan: scan_trees.py LIST DIRECTORY; prints the name of each, with its mark."""
import os
import re
import sys

source, out = sys.argv[1:]


def place(base, path):
    path = os.path.join(base, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


base = file = None
with open(source, encoding='utf-8') as lines:
    for line in lines:
        line = re.sub(r'<U\+([0-9A-F]{4,6})>', lambda m: chr(int(m[1], 16)), line)
        if line.startswith('=== '):
            name = line[4:].rstrip('\n')
            print(name)
            base = os.path.join(out, name.removeprefix('? '))
            os.makedirs(base)
        elif base is None:
            assert line.startswith('#'), line
        elif line.startswith('--- '):
            if file:
                file.close()
            file = open(place(base, line[4:].rstrip('\n')), 'w', encoding='utf-8')
        elif line.startswith('--> '):
            path, target = line[4:].split()
            os.symlink(target, place(base, path))
        else:
            file.write(line)
file.close()
