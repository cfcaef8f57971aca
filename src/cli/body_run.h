/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs that take the options of run share of its body. */
#pragma once

#include "cli/cli.h"
#include "cli/outfile.h"
#include "cli/run_options.h"
#include "core/effective.h"
#include "core/pipeline.h"

/* The command line as a layer of the policy. */
CORDON_MUST_CHECK int run_layer(const struct policy_context *c, const struct run_options *o,
				struct policy *layer, struct cordon_error *err);
/* The words, or the string of -c, as a call. */
CORDON_MUST_CHECK int run_request(const struct cli *cli, const struct run_options *o,
				  const struct effective *e, struct request **ret,
				  struct cordon_error *err);
/* Exactly one of a command and -c. */
CORDON_MUST_CHECK int run_check_words(const struct cli *cli, const struct run_options *options,
				      struct cordon_error *err);
/* The report's destination, before the call runs.  report may be NULL: then *ret is left alone. */
CORDON_MUST_CHECK int run_open_report(const char *report, const char *workspace,
				      struct outfile *ret, struct cordon_error *err);
/* The report as a line of JSON, to the file if there is one, and to standard output. */
CORDON_MUST_CHECK int run_write_report(const struct report *report, struct outfile *file,
				       bool on_stdout, struct cordon_error *err);
