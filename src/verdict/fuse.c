/* SPDX-License-Identifier: Apache-2.0 */
/* See fuse.h. */
#include "verdict/fuse.h"

static const char *const signal_words[SIGNAL_COUNT] = {
#define SIGNAL_WORD(id, word) word,
	SIGNALS(SIGNAL_WORD)
#undef SIGNAL_WORD
};

static const double fuse_base[SIGNAL_COUNT] = {
	[SIGNAL_PATTERN] = 0.4,
	[SIGNAL_MODEL] = 0.4,
	[SIGNAL_SEQUENCE] = 0.2,
};

static const double fuse_factors[FUSE_MODE_COUNT][SIGNAL_COUNT] = {
	[FUSE_STANDARD] = {1.0, 1.0, 1.0},
	[FUSE_STRICT] = {1.2, 1.3, 0.8},
	[FUSE_LENIENT] = {0.7, 0.7, 1.2},
};

const char *signal_name(enum signal_kind signal)
{
	return signal < SIGNAL_COUNT ? signal_words[signal] : "?";
}

double fuse_weight(enum signal_kind signal, enum fuse_mode mode)
{
	double sum = 0;

	for (unsigned i = 0; i < SIGNAL_COUNT; i++)
		sum += fuse_base[i] * fuse_factors[mode][i];
	return fuse_base[signal] * fuse_factors[mode][signal] / sum;
}

double fuse_confidence(const double lead[static SIGNAL_COUNT],
		       const double support[static SIGNAL_COUNT], enum fuse_mode mode)
{
	double best = 0;

	for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
		double sum = 0, fused;

		if (!(lead[i] > 0))
			continue;
		for (unsigned k = 0; k < SIGNAL_COUNT; k++)
			if (k != i)
				sum += fuse_weight((enum signal_kind)k, mode) * support[k];
		fused = lead[i] + (1 - lead[i]) * sum;
		best = fused > best ? fused : best;
	}
	return best;
}
