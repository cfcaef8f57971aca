/* SPDX-License-Identifier: Apache-2.0 */
/* See table.h. */
#include "cli/table.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

/* Characters of escaped, hence valid, text. */
static size_t table_text_width(const char *s)
{
	size_t len = strlen(s), width = 0;

	for (size_t i = 0; i < len; width++) {
		uint32_t code;
		size_t n = utf8_decode(s + i, len - i, &code);

		i += n ? n : 1;
	}
	return width;
}

void table_init(struct table *t, size_t n_columns, const char *const *headings)
{
	assert(n_columns > 0 && n_columns <= TABLE_COLUMNS_MAX);
	*t = (struct table){.n_columns = n_columns};
	for (size_t i = 0; headings && i < n_columns; i++)
		table_styled_cell(t, OUT_BOLD, headings[i]);
}

void table_done(struct table *t)
{
	strv_done(&t->cells);
	free(t->styles);
	*t = (struct table){0};
}

void table_styled_cell(struct table *t, enum out_style style, const char *text)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	size_t column = t->cells.n % t->n_columns;
	void *styles = t->styles;

	str_escape(&b, text, strlen(text));
	if (t->error == 0)
		t->error = buf_error(&b);
	if (t->error == 0)
		t->error = mem_grow(&styles, &t->styles_cap, t->cells.n + 1, sizeof(*t->styles),
				    LIMIT_ARGV + 1);
	t->styles = styles;
	if (t->error == 0)
		t->error = strv_add(&t->cells, buf_cstr(&b));
	if (t->error == 0) {
		size_t width = table_text_width(buf_cstr(&b));

		t->styles[t->cells.n - 1] = style;
		if (width > t->width[column])
			t->width[column] = width;
	}
	buf_done(&b);
}

void table_cell(struct table *t, const char *text)
{
	table_styled_cell(t, OUT_PLAIN, text);
}

/* Does anything but blanks follow the cell in its row? */
static bool table_row_goes_on(const struct table *t, size_t i)
{
	for (i++; i < t->cells.n && i % t->n_columns != 0; i++)
		if (t->cells.v[i][0])
			return true;
	return false;
}

int table_print(const struct table *t, struct out *o)
{
	if (t->error < 0)
		return t->error;
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t column = i % t->n_columns;
		const char *text = t->cells.v[i];

		/* Escaped already; a second time would double the backslashes. */
		out_str(o, out_style_begin(t->styles[i], out_has_colour(o)));
		out_str(o, text);
		out_str(o, out_style_end(t->styles[i], out_has_colour(o)));
		if (table_row_goes_on(t, i))
			out_printf(o, "%*s", (int)(t->width[column] - table_text_width(text) + 2),
				   "");
		if (column + 1 == t->n_columns)
			out_str(o, "\n");
	}
	return 0;
}
