/* SPDX-License-Identifier: Apache-2.0 */
/* The code verifier at the border. */
#include "lib/lib.h"

#include "base/limits.h"
#include "inspect/code/verify.h"

#include <string.h>

struct cordon_verifier {
	struct code_verifier verifier;
};

struct cordon_verification {
	struct code_result result;
};

int cordon_verifier_new(struct cordon_verifier **ret, struct cordon_error *err)
{
	struct cordon_verifier *v;
	int r;

	lib_enter(err);
	if (!ret)
		return lib_leave(lib_missing(err, "place for the verifier"), err);
	v = calloc(1, sizeof(*v));
	if (!v)
		return lib_leave(cordon_nomem(err), err);
	r = code_verifier_init(&v->verifier, err);
	if (r < 0) {
		free(v);
		return lib_leave(r, err);
	}
	*ret = v;
	return 0;
}

void cordon_verifier_free(struct cordon_verifier *v)
{
	if (!v)
		return;
	code_verifier_done(&v->verifier);
	free(v);
}

/* NULL for the patterns, which are no list of strings. */
static struct strv *verifier_list(struct code_verifier *v, enum cordon_verifier_list list)
{
	switch (list) {
	case CORDON_VERIFIER_MODULES:
		return &v->modules;
	case CORDON_VERIFIER_FUNCTIONS:
		return &v->functions;
	case CORDON_VERIFIER_PATHS:
		return &v->paths;
	case CORDON_VERIFIER_PATTERNS:
	case CORDON_VERIFIER_LIST_COUNT:
		break;
	}
	return NULL;
}

int cordon_verifier_add(struct cordon_verifier *v, enum cordon_verifier_list list,
			const char *entry, struct cordon_error *err)
{
	int r;

	lib_enter(err);
	if (!v || !entry || !*entry)
		return lib_leave(lib_missing(err, v ? "entry" : "verifier"), err);
	if ((unsigned)list >= CORDON_VERIFIER_LIST_COUNT)
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "unknown list %d", (int)list), err);
	r = lib_text(entry, "entry", err);
	if (r < 0)
		return lib_leave(r, err);
	if (list == CORDON_VERIFIER_PATTERNS)
		return lib_leave(code_verifier_add_pattern(&v->verifier, entry, err), err);
	if (list == CORDON_VERIFIER_PATHS && entry[0] != '/')
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "path '%.200s' is not absolute",
					     entry),
				 err);
	r = strv_add(verifier_list(&v->verifier, list), entry);
	return lib_leave(r < 0 ? cordon_fail_leaf(err, r, "verifier") : 0, err);
}

int cordon_verifier_add_blocked_module(struct cordon_verifier *v, const char *module,
				       struct cordon_error *err)
{
	return cordon_verifier_add(v, CORDON_VERIFIER_MODULES, module, err);
}

int cordon_verifier_add_blocked_function(struct cordon_verifier *v, const char *function,
					 struct cordon_error *err)
{
	return cordon_verifier_add(v, CORDON_VERIFIER_FUNCTIONS, function, err);
}

int cordon_verifier_add_blocked_pattern(struct cordon_verifier *v, const char *pattern,
					struct cordon_error *err)
{
	return cordon_verifier_add(v, CORDON_VERIFIER_PATTERNS, pattern, err);
}

int cordon_verifier_clear(struct cordon_verifier *v, enum cordon_verifier_list list,
			  struct cordon_error *err)
{
	lib_enter(err);
	if (!v)
		return lib_leave(lib_missing(err, "verifier"), err);
	if ((unsigned)list >= CORDON_VERIFIER_LIST_COUNT)
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "unknown list %d", (int)list), err);
	if (list == CORDON_VERIFIER_PATTERNS)
		code_verifier_clear_patterns(&v->verifier);
	else
		strv_done(verifier_list(&v->verifier, list));
	return 0;
}

const char *cordon_verifier_get(const struct cordon_verifier *v, enum cordon_verifier_list list,
				size_t index)
{
	if (!v || (unsigned)list >= CORDON_VERIFIER_LIST_COUNT)
		return NULL;
	switch (list) {
	case CORDON_VERIFIER_MODULES:
		return index < v->verifier.modules.n ? v->verifier.modules.v[index] : NULL;
	case CORDON_VERIFIER_FUNCTIONS:
		return index < v->verifier.functions.n ? v->verifier.functions.v[index] : NULL;
	case CORDON_VERIFIER_PATHS:
		return index < v->verifier.paths.n ? v->verifier.paths.v[index] : NULL;
	case CORDON_VERIFIER_PATTERNS:
		return index < v->verifier.n_patterns ? v->verifier.patterns[index].source : NULL;
	case CORDON_VERIFIER_LIST_COUNT:
		break;
	}
	return NULL;
}

int cordon_verify(const struct cordon_verifier *v, const char *code, size_t len,
		  const char *language, struct cordon_verification **ret, struct cordon_error *err)
{
	struct inspect_context context = {0};
	struct cordon_verification *own;
	int r;

	lib_enter(err);
	if (!v || (!code && len) || !language || !ret)
		return lib_leave(lib_missing(err, !v ? "verifier" : "code, language or result"), err);
	own = calloc(1, sizeof(*own));
	if (!own)
		return lib_leave(cordon_nomem(err), err);
	r = code_verify(&v->verifier, &context, language, code ? code : "", len, &own->result, err);
	if (r < 0) {
		free(own);
		return lib_leave(r, err);
	}
	*ret = own;
	return 0;
}

void cordon_verification_free(struct cordon_verification *r)
{
	if (!r)
		return;
	code_result_done(&r->result);
	free(r);
}

int cordon_verification_safe(const struct cordon_verification *r)
{
	return r && r->result.is_safe;
}

const char *cordon_verification_language(const struct cordon_verification *r)
{
	return r ? r->result.language : "";
}

size_t cordon_verification_count(const struct cordon_verification *r)
{
	return r ? r->result.n : 0;
}

int cordon_verification_get(const struct cordon_verification *r, size_t index,
			    struct cordon_violation *ret, struct cordon_error *err)
{
	struct cordon_violation out = {.struct_size = sizeof(out)};
	const struct code_violation *own;
	int code;

	lib_enter(err);
	if (!r)
		return lib_leave(lib_missing(err, "verification"), err);
	code = lib_struct_check(ret, "struct cordon_violation", err);
	if (code == 0 && index >= r->result.n)
		code = cordon_fail(err, CORDON_E_NOT_FOUND, "there are only %zu violations",
				   r->result.n);
	if (code < 0)
		return lib_leave(code, err);
	own = &r->result.violations[index];
	out.type = finding_type_name(own->type);
	out.line = own->line;
	out.code = own->code;
	out.reason = own->reason;
	out.severity = own->is_error ? "error" : "warning";
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}

const char *cordon_verification_warning(const struct cordon_verification *r, size_t index)
{
	return r && index < r->result.warnings.n ? r->result.warnings.v[index] : NULL;
}

int cordon_verification_format(const struct cordon_verification *r, char **ret,
			       struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);

	lib_enter(err);
	if (!r || !ret)
		return lib_leave(lib_missing(err, "verification or place for its text"), err);
	code_result_format(&r->result, &b);
	return lib_leave(lib_give(&b, "verification", ret, NULL, err), err);
}
