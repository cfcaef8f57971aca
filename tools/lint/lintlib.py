# SPDX-License-Identifier: Apache-2.0
"""What the lint checks share: the files of the tree, C without comments and strings, and TAP."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def tree_files():
    """Every file of the tree that is or would be under version control, relative to the root."""
    git = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', '-co', '--exclude-standard'],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if git.returncode == 0:
        names = [n for n in git.stdout.decode().split('\0') if n]
    else:  # an unpacked archive
        names = []
        for folder, subfolders, files in os.walk(ROOT):
            subfolders[:] = [d for d in subfolders if d != '.git' and not
                             (folder == ROOT and (d == 'build' or d.startswith('build-')))]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return sorted(n for n in set(names) if os.path.isfile(os.path.join(ROOT, n)))


def c_files(*folders, suffixes=('.c', '.h', '.def')):
    return [n for n in tree_files()
            if n.endswith(suffixes) and any(n.startswith(f + '/') for f in folders)]


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8', errors='surrogateescape') as f:
        return f.read()


TOKENS = re.compile(r'''/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*\'''', re.S)


def strip_c(text, keep_includes=False):
    """Blanks comments and literals and keeps line and column numbers."""
    def blank(match):
        token = match.group(0)
        if keep_includes and token[0] == '"':
            line = text[text.rfind('\n', 0, match.start()) + 1:match.start()]
            if re.match(r'\s*#\s*include\s*$', line):
                return token
        return re.sub(r'[^\n]', ' ', token)
    return TOKENS.sub(blank, text)


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


class Tap:
    """Collects results; leave with sys.exit(tap.done())."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def result(self, name, problems):
        self.count += 1
        self.failed += bool(problems)
        print('%sok %d - %s' % ('not ' if problems else '', self.count, name))
        for problem in problems:
            print('# ' + problem.encode('utf-8', 'replace').decode())
        sys.stdout.flush()

    def skip(self, name, reason):
        self.count += 1
        print('ok %d - %s # SKIP %s' % (self.count, name, reason))

    def done(self):
        print('1..%d' % self.count)
        return 1 if self.failed else 0


def linux_list():
    """Return: what src/linux.txt lists."""
    return [line for line in read('src/linux.txt').split('\n') if line and not line.startswith('#')]


def for_macos(names, linux):
    """Return: those of the names, which are below src/, that the command for macOS is made of."""
    folders = tuple(entry for entry in linux if entry.endswith('/'))
    return [name for name in sorted(names) if name.endswith('_darwin.c') or not (
        name.endswith('_linux.c') or name in linux or name.startswith(folders))]


def macos_sources():
    """Return: the files below src/ that the command for macOS is made of."""
    return for_macos([name[len('src/'):] for name in c_files('src', suffixes=('.c',))], linux_list())
