/* SPDX-License-Identifier: Apache-2.0 */
/* A text to a tree to a walk; what cannot be read is a hit, not silence. */
#include "inspect/code/scan.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>

static int walk_hit(const struct code_sink *sink, enum code_rule_id id, uint32_t line,
		    const char *what, struct cordon_error *err)
{
	struct code_hit hit = {.rule = &code_rules[id],
			       .line = line,
			       .column = 1,
			       .code = "",
			       .what = what,
			       .standing = CODE_PART};

	return sink->hit(sink->arg, &hit, err);
}

/* Bytes of the text that the grammar could not place. */
static size_t walk_errors(const struct code_tree *t, uint32_t *ret_line)
{
	size_t bytes = 0;

	*ret_line = 0;
	for (uint32_t i = 0; i < t->n;) {
		if (t->nodes[i].kind != CODE_ERROR) {
			i++;
			continue;
		}
		if (*ret_line == 0)
			*ret_line = t->nodes[i].line;
		bytes += t->nodes[i].end - t->nodes[i].start;
		i = t->nodes[i].skip > i ? t->nodes[i].skip : i + 1;
	}
	return bytes;
}

/* Characters that change the order in which text is shown. */
static uint32_t walk_bidi(const char *text, size_t len)
{
	uint32_t line = 1;

	for (size_t i = 0; i < len; i++) {
		const unsigned char *p = (const unsigned char *)text + i;

		line += *p == '\n';
		if (*p != 0xe2 || i + 2 >= len)
			continue;
		if ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
		    (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9))
			return line;
	}
	return 0;
}

int code_walk(const struct inspect_context *c, enum code_language language, const char *text,
	      size_t len, const struct code_sink *sink, struct cordon_error *err)
{
	struct code_tree tree = {0};
	uint32_t line;
	size_t bad;
	int r;

	r = code_tree_parse(text, len, language, inspect_deadline(c, code_tree_ms(len)), &tree);
	if (r == -EFBIG || r == -ETIMEDOUT)
		return walk_hit(sink, CODE_RULE_CODE_LIMIT, 1, NULL, err);
	if (r < 0)
		return cordon_fail_leaf(err, r, "parse code");
	r = code_scan_run(&tree, c, sink, err);
	line = walk_bidi(text, len);
	if (r == 0 && line)
		r = walk_hit(sink, CODE_RULE_CODE_BIDI, line, NULL, err);
	bad = walk_errors(&tree, &line);
	if (r == 0 && tree.has_error)
		r = walk_hit(sink, bad * 10 > len * 9 ? CODE_RULE_CODE_JUNK : CODE_RULE_CODE_SYNTAX,
			     line ? line : 1, NULL, err);
	code_tree_done(&tree);
	return r;
}
