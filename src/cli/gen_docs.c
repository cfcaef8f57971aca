/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen-docs: writes man pages (as scdoc) and completions from the tables of the command, while the
 * tree is built.  A program of its own, not a hidden verb: the command carries neither the man page
 * writer nor an option that its own help does not show.
 *
 *   gen-docs pages                  the names of the man pages, one per line
 *   gen-docs man NAME [FRAGMENT...] one page; the files are put before SEE ALSO
 *   gen-docs completion SHELL       the script
 *   gen-docs fragment NAME          generated text for a page of its own: the fields of cordon.yaml
 *   gen-docs options                "VERB<TAB>OPTION", straight from the tables, for the tests
 */
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/man.h"
#include "policy/schema.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define GEN_FRAGMENTS_MAX 16

static int gen_pages(struct out *o)
{
	out_str(o, "cordon\n");
	for (size_t i = 0; verb_cordon.subverbs[i]; i++)
		out_printf(o, "cordon-%s\n", verb_cordon.subverbs[i]->name);
	return 0;
}

static int gen_man(struct out *o, const char *name, char **files, size_t n_files)
{
	const struct verb *verb = NULL;
	char *fragments[GEN_FRAGMENTS_MAX] = {0};
	size_t n = 0, len = 0;
	int r = 0;

	if (strcmp(name, "cordon") == 0)
		verb = &verb_cordon;
	else if (str_starts(name, "cordon-"))
		verb = verb_find(&verb_cordon, name + strlen("cordon-"));
	if (!verb || n_files > GEN_FRAGMENTS_MAX) {
		log_error("no page '%s', or more than %d fragments", name, GEN_FRAGMENTS_MAX);
		return CLI_EXIT_FAILED;
	}
	for (; n < n_files; n++) {
		r = io_read_file_at(AT_FDCWD, files[n], LIMIT_MANIFEST_BYTES, &fragments[n], &len);
		if (r < 0) {
			log_error("read '%s': %s", files[n], strerror(-r));
			break;
		}
	}
	if (r == 0)
		man_write(o, &verb_cordon, verb, (const char *const *)fragments, n);
	for (size_t i = 0; i < n; i++)
		free(fragments[i]);
	return r < 0 ? CLI_EXIT_FAILED : 0;
}

/* What tools/docs appends to man/NAME.scd. */
static int gen_fragment(struct out *o, const char *name)
{
	struct buf b = BUF_INIT(LIMIT_MANIFEST_BYTES);
	int r;

	if (strcmp(name, "cordon.yaml.5") != 0) {
		log_error("no fragment '%s'", name);
		return CLI_EXIT_FAILED;
	}
	buf_str(&b, "\n# FIELDS\n\n");
	policy_schema_scdoc(&b);
	r = buf_error(&b);
	if (r < 0)
		log_error("fragment '%s': %s", name, strerror(-r));
	else
		out_add(o, buf_cstr(&b), b.len);
	buf_done(&b);
	return r < 0 ? CLI_EXIT_FAILED : 0;
}

static int gen_completion(struct out *o, const char *shell)
{
	for (size_t i = 0; i < COMPLETION_SHELL_COUNT; i++)
		if (strcmp(completion_shells[i], shell) == 0) {
			completion_write(o, (enum completion_shell)i, &verb_cordon);
			return 0;
		}
	log_error("no shell '%s'", shell);
	return CLI_EXIT_FAILED;
}

static void gen_verb_options(struct out *o, const struct verb *const *path, size_t depth)
{
	const struct option *option;
	struct buf name = BUF_INIT(256);

	help_path(&name, path, depth, ' ');
	for (size_t i = 0; (option = verb_next_option(path[depth - 1], &i));) {
		out_printf(o, "%s\t--%s\n", buf_cstr(&name), option->long_name);
		if (option->short_name)
			out_printf(o, "%s\t-%c\n", buf_cstr(&name), option->short_name);
	}
	buf_done(&name);
}

int main(int argc, char **argv)
{
	struct out o = OUT_INIT(STDOUT_FILENO);
	const char *what = argc > 1 ? argv[1] : "";
	int code = CLI_EXIT_FAILED, r;

	if (strcmp(what, "pages") == 0 && argc == 2) {
		code = gen_pages(&o);
	} else if (strcmp(what, "man") == 0 && argc >= 3) {
		code = gen_man(&o, argv[2], argv + 3, (size_t)argc - 3);
	} else if (strcmp(what, "completion") == 0 && argc == 3) {
		code = gen_completion(&o, argv[2]);
	} else if (strcmp(what, "fragment") == 0 && argc == 3) {
		code = gen_fragment(&o, argv[2]);
	} else if (strcmp(what, "options") == 0 && argc == 2) {
		completion_each_verb(&o, &verb_cordon, gen_verb_options);
		code = 0;
	} else {
		log_error("usage: gen-docs pages | man NAME [FRAGMENT...] | completion SHELL | "
			  "fragment NAME | options");
	}
	r = out_finish(&o);
	if (r < 0) {
		log_error("write standard output: %s", strerror(-r));
		return CLI_EXIT_FAILED;
	}
	return code;
}
