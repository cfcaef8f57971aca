/* SPDX-License-Identifier: Apache-2.0 */
/* Acts of loops: processes and threads that start themselves, files that grow without end, trees that are encrypted. */
#include "inspect/code/scan.h"

#include "base/mem.h"

#include <string.h>

static bool loop_has(const struct code_tree *t, uint32_t node, const char *word)
{
	const struct code_node *n = &t->nodes[node];

	return memmem(t->text + n->start, n->end - n->start, word, strlen(word)) != NULL;
}

/* while True, or for { of go. */
static uint32_t loop_endless(const struct code_tree *t, uint32_t node)
{
	uint32_t loop = code_ancestor(t, node, CODE_WHILE);
	uint32_t condition;

	if (loop == CODE_NO_NODE)
		return CODE_NO_NODE;
	condition = code_child(t, loop, CODE_FIELD_CONDITION);
	return condition != CODE_NO_NODE &&
			       (code_is(t, condition, "True") || code_is(t, condition, "1"))
		       ? loop
		       : CODE_NO_NODE;
}

/* def f(): ... Process(target=f).start() */
static void loop_self(struct code_scan *s, const struct code_call *c)
{
	static const char *const starters[] = {"multiprocessing.Process", "Process",
					       "threading.Thread", "Thread",
					       "multiprocessing.context.Process"};
	const struct code_argument *target = code_arg(s, c, "target", 1);
	const struct code_tree *t = s->tree;
	uint32_t function = code_ancestor(t, c->node, CODE_FUNCTION), name;

	if (!target || function == CODE_NO_NODE)
		return;
	name = code_child(t, function, CODE_FIELD_NAME);
	if (name == CODE_NO_NODE ||
	    t->nodes[name].end - t->nodes[name].start !=
		    t->nodes[target->node].end - t->nodes[target->node].start ||
	    memcmp(t->text + t->nodes[name].start, t->text + t->nodes[target->node].start,
		   t->nodes[name].end - t->nodes[name].start) != 0)
		return;
	/* One that starts itself once more after a pause is a timer. */
	if (loop_endless(t, c->node) == CODE_NO_NODE &&
	    code_ancestor(t, c->node, CODE_FOR) == CODE_NO_NODE)
		return;
	for (size_t i = 0; i < ARRAY_LEN(starters); i++)
		if (strcmp(c->name, starters[i]) == 0)
			code_report(s, CODE_RULE_PY_FORK_BOMB, c->node, NULL);
}

/* while True: f.write(b) with nothing else in the loop that could end or slow it. */
static void loop_grows(struct code_scan *s, const struct code_call *c)
{
	static const char *const ends[] = {"break",  "return",  "sleep", "raise", "await", "yield",
					   ".recv",  ".read",   "input", "next(", ".get(", ".wait",
					   ".flush", ".accept", "if ",   "for ",  "print("};
	const char *last = strrchr(c->name, '.');
	uint32_t loop = loop_endless(s->tree, c->node);

	if (!last || (strcmp(last, ".write") != 0 && strcmp(last, ".writelines") != 0) ||
	    loop == CODE_NO_NODE || s->tree->language != CODE_PYTHON)
		return;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (loop_has(s->tree, loop, ends[i]))
			return;
	code_report(s, CODE_RULE_PY_FILLS, c->node, NULL);
}

/* Each file of a tree is encrypted and put in the place of the old one. */
static void loop_encrypts(struct code_scan *s, const struct code_call *c)
{
	static const char *const walks[] = {"os.walk(", ".rglob(", "glob.glob(", "os.listdir(",
					    "os.scandir("};
	const char *last = strrchr(c->name, '.');
	const struct code_tree *t = s->tree;
	uint32_t root = 0;
	bool is_walk = false;

	if (!last || strcmp(last, ".encrypt") != 0 || s->tree->language != CODE_PYTHON)
		return;
	for (size_t i = 0; i < ARRAY_LEN(walks); i++)
		is_walk = is_walk || loop_has(t, root, walks[i]);
	if (is_walk &&
	    (loop_has(t, root, "\"wb\"") || loop_has(t, root, "'wb'") ||
	     loop_has(t, root, "write_bytes(")) &&
	    (loop_has(t, root, "os.rename(") || loop_has(t, root, ".rename(") ||
	     loop_has(t, root, "os.remove(") || loop_has(t, root, ".unlink(") ||
	     loop_has(t, root, "expanduser(") || loop_has(t, root, "Path.home(")))
		code_report(s, CODE_RULE_PY_ENCRYPTS, c->node, NULL);
}

/* Processes or threads whose work is to turn in a loop. */
static void loop_burns(struct code_scan *s, const struct code_call *c)
{
	static const char *const turns[] = {"while True:\n        pass", "while True: pass",
					    "while 1: pass", "while True:\n\t\tpass"};

	if (!strstr(c->name, "Process") && !strstr(c->name, "Thread") && !strstr(c->name, ".Pool"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(turns); i++)
		if (loop_has(s->tree, 0, turns[i]))
			code_report(s, CODE_RULE_PY_FILLS, c->node, NULL);
}

void code_act_loop(struct code_scan *s, const struct code_call *c)
{
	if (s->tree->language != CODE_PYTHON)
		return;
	loop_self(s, c);
	loop_grows(s, c);
	loop_burns(s, c);
	loop_encrypts(s, c);
}
