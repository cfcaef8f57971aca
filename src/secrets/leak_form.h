/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of leak_forms.def.  Each is asked about one place of a text and sees a bounded part of
 * it: LIMIT_LEAK_LEAD bytes before the place and LIMIT_LEAK_SPAN behind it, so that its answer does
 * not depend on how the stream was cut.  All but form_pem() and form_pem_base64() keep to the line.
 */
#pragma once

#include "secrets/leak_rules.h"

#include <stdbool.h>
#include <stddef.h>

struct leak_text {
	const char *text;
	size_t len;
	size_t line; /* where the line begins, or the text that may be seen */
	size_t end;  /* where it ends */
	size_t at;   /* where the trigger ends */
};

struct leak_hit {
	size_t start; /* of the secret, in the text */
	size_t end;
	double confidence;
	const struct leak_rule *rule; /* set when it is more special than the one asked about */
};

typedef bool leak_form_fn(const struct leak_text *t, struct leak_hit *hit);

leak_form_fn form_pem, form_pem_base64, form_putty, form_jwt, form_url, form_discord, form_truenas,
	form_authorization, form_bearer, form_curl, form_option, form_prose, form_word, form_npm,
	form_share, form_account, form_attached, form_quoted, form_cookie, form_seed, form_source,
	form_assigned, form_attribute, form_spaced, form_set_by_call, form_netrc, form_jwk,
	form_piped, form_key_call, form_wrapped, form_said, form_entry, form_logged_in, form_host,
	form_xml_key, form_archive, form_url_token, form_bucket, form_bucket_path, form_tenant,
	form_arn;

/* Asks the function of a form. */
bool leak_form_ask(enum leak_form_id form, const struct leak_text *t, struct leak_hit *hit);

/* A value at t->text + at: behind blanks, in quotes or not.  Writes its place; false when there is
 * none.  An open quote without its end is no value. */
bool leak_value(const struct leak_text *t, size_t at, size_t *ret_start, size_t *ret_end,
		bool *ret_is_quoted);
