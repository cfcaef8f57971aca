/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See adversary.h.  The kind of document is settled first, because it says what the same words mean.
 */
#include "inspect/adversary.h"

#include "base/limits.h"
#include "inspect/text/assess.h"
#include "inspect/text/textkind.h"

int adversary_inspect(const struct inspect_context *c, const char *text, size_t len,
		      struct findings *ret, struct cordon_error *err)
{
	struct assessor *j = NULL;
	int r;

	if (len == 0)
		return 0;
	if (c->depth > LIMIT_TEXT_DEPTH)
		return cordon_fail(err, CORDON_E_LIMIT, "texts inside texts are nested too deeply");
	r = assess_new(textkind_of(c, text, len), len, ret, &j, err);
	if (r == 0)
		r = assess_text(j, text, len, err);
	assess_free(j);
	return r;
}
