/* SPDX-License-Identifier: Apache-2.0 */
/* See workset.h: a change set is an overlay or a copy that Linux's calls make.  A call that wants one is refused. */
#include "core/workset.h"

int workset_begin(const struct workset_input *in, struct workset *ret, struct cordon_error *err)
{
	(void)in;
	*ret = WORKSET_NONE;
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "a workspace cannot be kept apart on macOS"),
			   "--workspace direct");
}

int workset_prepare(struct workset *w, struct fsplan *view, struct plan *plan,
		    struct cordon_error *err)
{
	(void)w;
	(void)view;
	(void)plan;
	(void)err;
	return 0; /* there is none */
}

int workset_read(struct workset *w, struct report *report, struct cordon_error *err)
{
	(void)w;
	(void)report;
	(void)err;
	return 0;
}

int workset_end(struct workset *w, struct report *report, struct cordon_error *err)
{
	(void)w;
	(void)report;
	(void)err;
	return 0;
}

void workset_done(struct workset *w)
{
	*w = WORKSET_NONE;
}
