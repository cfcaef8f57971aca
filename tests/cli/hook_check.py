#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is standard input an answer that an agent's hook may give?  Strict: a member that the dialect does not list, a word
that it does not know or a value of the wrong type is an error, because the agent would let the call go on.

usage: hook_check.py DIALECT EVENT EXITCODE [OUTPUT SHAPE AS JSON]   prints what was decided"""

import json
import sys


class Bad(Exception):
    pass


def members(value, known, what):
    if not isinstance(value, dict):
        raise Bad('%s is not an object' % what)
    for key in value:
        if key not in known:
            raise Bad('%s has "%s", which the dialect rejects' % (what, key))
        if known[key] is not None and not isinstance(value[key], known[key]):
            raise Bad('%s: "%s" has the wrong type' % (what, key))


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise Bad('duplicate key')
    return dict(pairs)


def same_shape(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same_shape(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same_shape, a, b))
    return type(a) is type(b)


def claude_before(reply, code, decisions):
    members(reply, {'hookSpecificOutput': dict}, 'answer')
    out = reply['hookSpecificOutput']
    members(out, {'hookEventName': str, 'permissionDecision': str, 'permissionDecisionReason': str,
                  'updatedInput': dict}, 'hookSpecificOutput')
    if out['hookEventName'] != 'PreToolUse' or out['permissionDecision'] not in decisions:
        raise Bad('event or decision')
    if not out['permissionDecisionReason']:
        raise Bad('no reason')
    decision = out['permissionDecision']
    if (decision == 'deny') != (code == 2):
        raise Bad('decision %s with exit code %d' % (decision, code))
    if decision == 'deny' and 'updatedInput' in out:
        raise Bad('a denied call is not rewritten')
    if decision == 'allow' and 'updatedInput' not in out:
        raise Bad('bare allow')
    return decision + ('+input' if 'updatedInput' in out else '')


def claude_after(reply, code, shape, can_replace):
    members(reply, {'decision': str, 'reason': str, 'hookSpecificOutput': dict}, 'answer')
    if code != 0:
        raise Bad('exit code after the fact')
    out = reply.get('hookSpecificOutput', {'hookEventName': 'PostToolUse'})
    known = {'hookEventName': str, 'additionalContext': str}
    if can_replace:
        known['updatedToolOutput'] = None
    members(out, known, 'hookSpecificOutput')
    if out['hookEventName'] != 'PostToolUse':
        raise Bad('event')
    if 'updatedToolOutput' in out and not same_shape(shape, out['updatedToolOutput']):
        raise Bad('an output of another shape is ignored')
    if 'decision' in reply and (reply['decision'] != 'block' or not reply.get('reason')):
        raise Bad('decision')
    return '+'.join([w for w, is_so in (('block', 'decision' in reply), ('context', 'additionalContext' in out),
                                        ('output', 'updatedToolOutput' in out)) if is_so])


def gemini(reply, code, event):
    members(reply, {'decision': str, 'reason': str, 'hookSpecificOutput': dict}, 'answer')
    out = reply.get('hookSpecificOutput', {})
    members(out, {'tool_input': dict} if event == 'BeforeTool' else {'additionalContext': str}, 'hookSpecificOutput')
    if 'decision' in reply:
        if reply['decision'] != 'deny' or not reply.get('reason'):
            raise Bad('decision')
        if event == 'BeforeTool' and code != 2:
            raise Bad('deny without exit code 2')
        return 'deny'
    if code != 0:
        raise Bad('exit code')
    return '+'.join(sorted(out))


def cursor(reply, code, event):
    if event == 'postToolUse':
        members(reply, {'additional_context': str, 'updated_mcp_tool_output': None}, 'answer')
        if code != 0:
            raise Bad('exit code after the fact')
        return '+'.join(sorted(reply))
    known = {'permission': str, 'user_message': str, 'agent_message': str}
    if event == 'preToolUse':
        known['updated_input'] = dict
    members(reply, known, 'answer')
    permission = reply.get('permission')
    if permission and permission not in (('deny',) if event in ('preToolUse', 'beforeReadFile') else ('deny', 'ask')):
        raise Bad('permission %s' % permission)
    if (permission == 'deny') != (code == 2):
        raise Bad('permission and exit code')
    return permission or '+'.join(sorted(reply))


def check(dialect, event, code, text, shape):
    if code not in (0, 2):
        raise Bad('exit code %d' % code)
    if not text:
        return 'nothing' if code == 0 else 'exit'
    if len(text) > 10000 and event.startswith('Pre'):
        raise Bad('too long')
    reply = json.loads(text, object_pairs_hook=no_duplicates)
    if dialect == 'cursor' and reply == {}:
        return 'nothing'
    if dialect in ('claude-code', 'codex'):
        is_codex = dialect == 'codex'
        if event == 'PreToolUse':
            return claude_before(reply, code, ('deny', 'allow') if is_codex else ('deny', 'ask', 'allow'))
        return claude_after(reply, code, shape, not is_codex)
    return gemini(reply, code, event) if dialect == 'gemini' else cursor(reply, code, event)


def main():
    try:
        print(check(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.read(),
                    json.loads(sys.argv[4]) if len(sys.argv) > 4 else None))
    except (Bad, KeyError, ValueError) as e:
        print('%s: %r' % (sys.argv[1:4], e), file=sys.stderr)
        return 1
    return 0


sys.exit(main())
