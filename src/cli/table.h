/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned columns for people.  Cells are copied and escaped when they are added; widths count
 * characters, not bytes.  Nothing is padded at the end of a row, so lines have no trailing blanks.
 */
#pragma once

#include "base/str.h"
#include "cli/out.h"

#define TABLE_COLUMNS_MAX 8

struct table {
	size_t n_columns;
	size_t width[TABLE_COLUMNS_MAX];
	struct strv cells; /* row after row */
	enum out_style *styles;
	size_t styles_cap;
	int error; /* first failure of an addition, -errno */
};

/* headings: n_columns strings, or NULL for none. */
void table_init(struct table *t, size_t n_columns, const char *const *headings);
void table_done(struct table *t);
void table_cell(struct table *t, const char *text);
void table_styled_cell(struct table *t, enum out_style style, const char *text);
/* Writes the rows.  0, or -errno when a cell could not be kept (then nothing is written). */
CORDON_MUST_CHECK int table_print(const struct table *t, struct out *o);
