/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the training, not of the product: the features of texts exactly as model.c sees them, or, with an argument,
 * as structure.c does.  Reads texts, each behind its length; writes for each the number of its sentences, and for each
 * sentence the numbers of words and features and then the features.  Of structure.c, the features of windows that end with a
 * sentence follow one another, each behind their number; 0 where there is no such window.  All numbers are 32 bits in the
 * machine's order.
 */
#include "base/mem.h"
#include "inspect/text/model.h"
#include "inspect/text/reader.h"
#include "inspect/text/structure.h"

#include <stdio.h>

enum { FEATURES_MAX = 1 << 16, TEXT_MAX = 1 << 28 };

struct features {
	uint32_t v[FEATURES_MAX];
	uint32_t n;
};

static void features_add(void *data, uint32_t feature)
{
	struct features *f = data;

	if (f->n < FEATURES_MAX)
		f->v[f->n++] = feature;
}

static bool features_write(const void *p, size_t n)
{
	return fwrite(p, sizeof(uint32_t), n, stdout) == n;
}

/* The windows that end with a sentence. */
static void features_windows(struct structure *built, struct buf *out)
{
	for (unsigned size = 1; size <= STRUCTURE_WINDOW; size++) {
		uint32_t n = structure_window(built, size);

		buf_add(out, &n, sizeof(n));
		for (uint32_t i = 0; i < n; i++) {
			uint32_t feature = built->features[i];

			buf_add(out, &feature, sizeof(feature));
		}
	}
}

/* built: NULL for the features of model.c. */
static bool features_text(struct model *m, struct structure *built, const char *text, size_t len)
{
	static struct features f;
	struct reader r;
	struct buf out = BUF_INIT((size_t)1 << 30);
	uint32_t n = 0;
	bool is_good;
	int e;

	reader_init(&r, text, len);
	m->fn = built ? NULL : features_add;
	m->data = &f;
	while ((e = reader_next(&r)) > 0) {
		struct model_sentence s;
		size_t pos = r.fresh;

		model_begin(m, r.text, r.text_len);
		if (built)
			structure_begin(built, r.text);
		for (f.n = 0; model_next(m, &pos, &s); f.n = 0, n++) {
			if (built) {
				structure_note(built, s.start, s.end);
				features_windows(built, &out);
				continue;
			}
			buf_add(&out, &s.words, sizeof(s.words));
			buf_add(&out, &f.n, sizeof(f.n));
			buf_add(&out, f.v, f.n * sizeof(f.v[0]));
		}
	}
	is_good = e == 0 && buf_error(&out) == 0 && features_write(&n, 1) &&
		  features_write(out.data, out.len / sizeof(uint32_t));
	reader_done(&r);
	buf_done(&out);
	return is_good;
}

int main(int argc, char **argv)
{
	static struct structure built;
	static struct model m;
	uint32_t len;

	(void)argv;
	if (model_init(&m, TEXT_MAX, 0.5) < 0)
		return 1;
	structure_init(&built);
	while (fread(&len, sizeof(len), 1, stdin) == 1) {
		AUTO_FREE char *text = len < TEXT_MAX ? malloc(len + 1U) : NULL;

		if (!text || fread(text, 1, len, stdin) != len ||
		    !features_text(&m, argc > 1 ? &built : NULL, text, len)) {
			(void)fprintf(stderr, "text-features: bad input\n");
			return 1;
		}
	}
	model_done(&m);
	return fflush(stdout) == 0 ? 0 : 1;
}
