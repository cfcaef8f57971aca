/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match-gen NAME FILE: compiles the patterns that it is linked with and writes them as C.
 * A program of the build, not of the product: it alone needs the library's compiler.  The target is a
 * plain x86-64-v2 processor whatever this one is, so that the result runs elsewhere.  Before it writes
 * anything it moves the image and runs it from there: that it can be moved is what match.c relies on.
 */
#include "match/db.h"
#include "match/pattern.h"

#include <hs/hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEN_PATTERNS_MAX 8192
#define GEN_EXPRESSION_MAX 4096

struct gen {
	const char *expression[GEN_PATTERNS_MAX];
	unsigned flags[GEN_PATTERNS_MAX];
	unsigned id[GEN_PATTERNS_MAX];
	unsigned n;
};

static void gen_die(const char *what, const char *detail)
{
	(void)fprintf(stderr, "match-gen: %s: %s\n", what, detail);
	exit(1);
}

/* The library takes literals and expressions only apart: literals become expressions. */
static char *gen_copy(const char *text, int is_literal)
{
	size_t len = strlen(text), n = 0;
	char *copy = calloc(len * 4 + 1, 1);

	if (!copy || len > GEN_EXPRESSION_MAX)
		gen_die("pattern too long", text);
	if (!is_literal)
		return memcpy(copy, text, len);
	for (size_t i = 0; i < len; i++)
		n += (size_t)snprintf(copy + n, 5, "\\x%02x", (unsigned char)text[i]);
	return copy;
}

static void gen_add(void *data, unsigned id, const char *expression, unsigned flags)
{
	static const struct {
		unsigned ours, theirs;
	} map[] = {
		{MATCH_NOCASE, HS_FLAG_CASELESS},     {MATCH_DOTALL, HS_FLAG_DOTALL},
		{MATCH_MULTILINE, HS_FLAG_MULTILINE}, {MATCH_UTF8, HS_FLAG_UTF8 | HS_FLAG_UCP},
		{MATCH_START, HS_FLAG_SOM_LEFTMOST},  {MATCH_ONCE, HS_FLAG_SINGLEMATCH},
		{MATCH_PREFILTER, HS_FLAG_PREFILTER},
	};
	struct gen *g = data;

	if (g->n == GEN_PATTERNS_MAX)
		gen_die("too many patterns", expression);
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (flags & map[i].ours)
			g->flags[g->n] |= map[i].theirs;
	g->expression[g->n] = gen_copy(expression, !!(flags & MATCH_LITERAL));
	g->id[g->n++] = id;
}

static void *gen_alloc(size_t size)
{
	return aligned_alloc(MATCH_DB_ALIGN,
			     (size + MATCH_DB_ALIGN - 1) & ~(size_t)(MATCH_DB_ALIGN - 1));
}

static int gen_ignore(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
		      void *data)
{
	(void)id, (void)from, (void)to, (void)flags, (void)data;
	return 0;
}

static void gen_prove(const hs_database_t *db, size_t bytes)
{
	static const char text[] = "any text will do";
	hs_database_t *moved = gen_alloc(bytes);
	hs_scratch_t *scratch = NULL;
	hs_error_t e;

	if (!moved)
		gen_die("memory", "none left");
	memcpy(moved, db, bytes);
	e = hs_alloc_scratch(moved, &scratch);
	if (e == HS_SUCCESS)
		e = hs_scan(moved, text, sizeof(text), 0, scratch, gen_ignore, NULL);
	if (e != HS_SUCCESS)
		gen_die("the database does not run", "after it was moved");
	hs_free_scratch(scratch);
	free(moved);
}

static void gen_write(const char *path, const char *name, const hs_database_t *db, size_t bytes)
{
	size_t words = (bytes + 7) / 8;
	FILE *f = fopen(path, "we");

	if (!f)
		gen_die("cannot write", path);
	(void)fprintf(
		f,
		"/* Made by match-gen. */\n"
		"#include \"match/db.h\"\n\n"
		"extern const struct match_db match_db_%s;\n\n"
		"static const uint64_t image[%zu] __attribute__((aligned(MATCH_DB_ALIGN))) = {\n",
		name, words);
	for (size_t i = 0; i < words; i++) {
		uint64_t word = 0;
		size_t left = bytes - i * 8;

		memcpy(&word, (const char *)db + i * 8, left < 8 ? left : 8);
		(void)fprintf(f, "%#llx,%s", (unsigned long long)word, i % 8 == 7 ? "\n" : "");
	}
	(void)fprintf(f,
		      "};\n\nconst struct match_db match_db_%s = {.image = image, .bytes = %zu};\n",
		      name, bytes);
	if (fclose(f) != 0)
		gen_die("cannot write", path);
}

int main(int argc, char **argv)
{
	static struct gen g;
	hs_platform_info_t target = {.tune = HS_TUNE_FAMILY_GENERIC};
	hs_compile_error_t *error = NULL;
	hs_database_t *db = NULL;
	size_t bytes = 0;

	if (argc != 3)
		gen_die("usage", "match-gen NAME FILE");
	match_patterns(gen_add, &g);
	if (hs_set_database_allocator(gen_alloc, free) != HS_SUCCESS)
		gen_die("library", "refuses an allocator");
	if (hs_compile_multi(g.expression, g.flags, g.id, g.n, HS_MODE_BLOCK, &target, &db,
			     &error) != HS_SUCCESS)
		gen_die(error->expression >= 0 ? g.expression[error->expression] : "compile",
			error->message);
	if (hs_database_size(db, &bytes) != HS_SUCCESS)
		gen_die("library", "does not know its database");
	gen_prove(db, bytes);
	gen_write(argv[2], argv[1], db, bytes);
	(void)hs_free_database(db); /* the end is near anyway */
	return 0;
}
