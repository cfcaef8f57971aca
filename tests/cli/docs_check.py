#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs.bats asks about the documentation.  Every check prints what is wrong, one line each.

usage: docs_check.py CHECK FILE...

  examples   runs the ```console blocks of each file in order, as one reader would, in one fresh
             directory.  "$ " starts a command, "> " continues it, the rest is its output (both
             streams).  In the output "…" stands for anything on the line; a line of only "…" stands
             for any number of lines.
  yaml       gives every ```yaml block to `cordon policy validate`.  One that must not be valid says
             so: ```yaml malformed.
  words      every `cordon VERB` and --option of the texts is in the tables of the command.
  links      every relative link, and every `path/in/the/tree`, leads to a file.
  coverage   in a table with the columns state, where and test: each row names tests that exist or says "none yet",
             or is open in all three.

CORDON, SRCDIR and BUILDDIR as in the other tests.
"""

import os
import re
import subprocess
import sys
import tempfile

SRCDIR = os.path.abspath(os.environ['SRCDIR'])
BUILDDIR = os.path.abspath(os.environ['BUILDDIR'])
CORDON = os.path.abspath(os.environ['CORDON'])
COMMAND_SECONDS = 30


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def blocks(text):
    """(line of the fence, info string, lines) of every fenced block."""
    fence = None
    for number, line in enumerate(text.split('\n'), 1):
        match = re.match(r'( *)```(.*)$', line)
        if not match and fence:
            fence[2].append(line[fence[3]:])
        elif match and fence is None:
            fence = (number, match.group(2).strip(), [], len(match.group(1)))
        elif match:
            yield fence[:3]
            fence = None
    if fence:
        raise SystemExit('line %d: a block that does not end' % fence[0])


# examples

def steps(lines):
    """(index of the line, command, expected output lines)"""
    found = []
    for index, line in enumerate(lines):
        if line.startswith('$ '):
            found.append((index, [line[2:]], []))
        elif line.startswith('> ') and found and not found[-1][2]:
            found[-1][1].append(line[2:])
        elif line == '>' and found and not found[-1][2]:
            found[-1][1].append('')
        elif found:
            found[-1][2].append(line)
        else:
            raise SystemExit('an example that does not start with a command: %s' % line)
    return found


def matches(want, got):
    """Does the output have this shape?"""
    parts = []
    for line in want:
        if line == '…':
            parts.append(r'(?:[^\n]*\n)*?')
        else:
            parts.append('[^\n]*?'.join(re.escape(p) for p in line.split('…')) + r'\n')
    return re.fullmatch(''.join(parts), got) is not None


def shell(directory):
    home = os.path.join(directory, 'home')
    project = os.path.join(home, 'project')
    os.makedirs(project)
    env = {k: os.environ[k] for k in ('TMPDIR', 'LC_ALL', 'TZ', 'USER', 'LOGNAME') if k in os.environ}
    env.update(HOME=home, PATH=os.path.dirname(CORDON) + ':' + os.environ['PATH'], TERM='dumb', SHELL='/bin/bash')
    return project, env


def check_examples(path):
    """One bash for all blocks: variables, files and $? live on, as in a terminal."""
    mark = '@@ end of example @@'
    text = read(path)
    all_steps = []
    for number, info, lines in blocks(text):
        if info == 'console':
            all_steps += [(number + 1 + i, c, w) for i, c, w in steps(lines)]
    script = ''
    for _, command, _ in all_steps:
        script += '\n'.join(command) + '\n__code=$?; printf "\\n%s\\n" "' + mark + '"; (exit $__code)\n'
    if not all_steps:
        return ['no examples']
    with tempfile.TemporaryDirectory() as directory:
        project, env = shell(directory)
        run = subprocess.run(['bash', '--norc', '-c', script], cwd=project, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                             timeout=COMMAND_SECONDS * len(all_steps))
    got = run.stdout.decode('utf-8', 'replace').split('\n' + mark + '\n')
    if len(got) != len(all_steps) + 1:
        return ['%d commands, %d outputs' % (len(all_steps), len(got) - 1)]
    problems = []
    for (number, command, want), output in zip(all_steps, got):
        output = output if output.endswith('\n') or not output else output + '\n'
        while want and want[-1] == '':
            want = want[:-1]
        if not matches(want, output):
            problems.append('line %d: $ %s\n  wanted:\n%s\n  got:\n%s' % (
                number, command[0], '\n'.join('    ' + w for w in want),
                '\n'.join('    ' + g for g in output.split('\n'))))
    return problems


# yaml

def check_yaml(path):
    problems = []
    if not path.endswith('.md'):
        texts = [(1, 'yaml', read(path))]
    else:
        texts = [(n, i, '\n'.join(l) + '\n') for n, i, l in blocks(read(path)) if i.split(' ')[0] == 'yaml']
    for number, info, text in texts:
        if info not in ('yaml', 'yaml malformed'):
            problems.append('line %d: what is ```%s?' % (number, info))
        with tempfile.TemporaryDirectory() as directory:
            name = os.path.join(directory, 'policy.yaml')
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
            run = subprocess.run([CORDON, 'policy', 'validate', name], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        want = 125 if info == 'yaml malformed' else 0
        if run.returncode != want:
            problems.append('line %d: exit %d: %s' % (number, run.returncode, run.stdout.strip()))
        elif want == 0 and 'warning' in run.stdout:
            problems.append('line %d: %s' % (number, run.stdout.strip()))
    return problems


# words

def tables():
    """{verb path: set of its options}, straight from the tables."""
    run = subprocess.run([os.path.join(BUILDDIR, 'gen-docs'), 'options'], stdout=subprocess.PIPE,
                         universal_newlines=True, check=True)
    found = {}
    for line in run.stdout.split('\n')[:-1]:
        verb, option = line.split('\t')
        found.setdefault(verb, set()).add(option)
    return found


def code_of(text):
    """(line, text) of everything that is set as code, quoted output left out."""
    for number, info, lines in blocks(text):
        for i, line in enumerate(lines, 1):
            if info != 'console' or line.startswith(('$ ', '> ')):
                yield number + i, line
    outside = re.sub(r'^ *```.*?^ *```', lambda m: '\n' * m.group(0).count('\n'), text, flags=re.S | re.M)
    for number, line in enumerate(outside.split('\n'), 1):
        for match in re.finditer(r'`([^`]+)`', line):
            yield number, match.group(1)


def check_words(path):
    known = tables()
    every = set().union(*known.values())
    problems = []
    for number, line in code_of(read(path)):
        # an option of another program is not ours to know: look only at our own lines
        for match in re.finditer(r'\bcordon ([a-z]+)(?: ([a-z]+))?([^|;&]*)', line):
            verb, second = 'cordon ' + match.group(1), match.group(2)
            if verb not in known and not any(k.startswith(verb + ' ') for k in known):
                problems.append('line %d: no verb `%s`' % (number, verb))
                continue
            has_subverbs = any(k.startswith(verb + ' ') for k in known)
            if second and has_subverbs:
                verb += ' ' + second
                if verb not in known:
                    problems.append('line %d: no verb `%s`' % (number, verb))
                    continue
            for option in re.findall(r'(?<!\S)--[a-z][a-z-]*', match.group(3).split(' -- ')[0]):
                if option not in known.get(verb, every):
                    problems.append('line %d: `%s` has no option %s' % (number, verb, option))
        if line.startswith('--'):
            for option in re.findall(r'(?<!\S)--[a-z][a-z-]*', line):
                if option not in every:
                    problems.append('line %d: no option %s' % (number, option))
    return problems


# links

TREE = re.compile(r'(?:src|include|docs|man|tests|tools|examples)/[\w./*-]*\w|(?:README|CONTRIBUTING|CHANGELOG)\.md')


def exists(base, name):
    import glob
    return bool(glob.glob(os.path.join(base, name.split(':')[0])))


def check_links(path):
    problems = []
    text = read(path)
    for number, line in enumerate(text.split('\n'), 1):
        for target in re.findall(r'\]\(([^)\s]+)\)', line):
            if re.match(r'[a-z]+:', target):
                continue
            file, _, anchor = target.partition('#')
            full = os.path.join(os.path.dirname(path), file) if file else path
            if not os.path.exists(full):
                problems.append('line %d: no file %s' % (number, target))
            elif anchor and anchor not in anchors(read(full)):
                problems.append('line %d: no heading %s' % (number, target))
        for code in re.findall(r'`([^`]+)`', line):
            # a name in capitals is one to be filled in
            if TREE.fullmatch(code) and not re.search('[A-Z]{4}', code[4:]) and not exists(SRCDIR, code):
                problems.append('line %d: no file %s' % (number, code))
    return problems


def anchors(text):
    """The names that headings get where Markdown is shown."""
    found = set()
    for heading in re.findall(r'^#+ (.*)$', text, flags=re.M):
        found.add(re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-'))
    return found


# coverage

def cells(line):
    return [c.strip() for c in line.strip().strip('|').split('|')]


def check_test_cell(cell):
    """`tests/unit/test_x.c`, or `tests/unit/test_x.c` (name, name): each name stands in that file."""
    if cell in ('open', 'none yet'):
        return []
    problems = []
    found = re.findall(r'`([^`]+)`(?: \(([^)]*)\))?', cell)
    if not found:
        return ['neither a test nor "open": %s' % cell]
    for file, names in found:
        if not os.path.isfile(os.path.join(SRCDIR, file)):
            problems.append('no file %s' % file)
            continue
        text = read(os.path.join(SRCDIR, file))
        for name in filter(None, names.split(', ')):
            if name not in text:
                problems.append('nothing named %s in %s' % (name, file))
    return problems


def check_coverage(path):
    problems = []
    rows = 0
    head = None
    for number, line in enumerate(read(path).split('\n'), 1):
        if not line.startswith('|'):
            head = None
        elif head is None:
            head = cells(line)
        elif not re.match(r'\|[-| :]+$', line) and 'test' in head:
            row = cells(line)
            if len(row) != len(head):
                problems.append('line %d: %d cells, the head has %d' % (number, len(row), len(head)))
                continue
            rows += 1
            where = row[head.index('where')]
            state = row[head.index('state')]
            if state not in ('done', 'partly', 'open'):
                problems.append('line %d: done, partly or open, not %s' % (number, state))
            if [state, where, row[head.index('test')]].count('open') not in (0, 3):
                problems.append('line %d: open in some columns only' % number)
            problems += ['line %d: %s' % (number, p) for p in check_test_cell(row[head.index('test')])]
    return problems if rows else ['no rows']


CHECKS = {'examples': check_examples, 'yaml': check_yaml, 'words': check_words, 'links': check_links,
          'coverage': check_coverage}


def main():
    check = CHECKS[sys.argv[1]]
    failed = False
    for path in sys.argv[2:]:
        for problem in check(os.path.abspath(path)):
            print('%s: %s' % (os.path.relpath(path, SRCDIR), problem))
            failed = True
    return 1 if failed or len(sys.argv) < 3 else 0


sys.exit(main())
