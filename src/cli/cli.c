/* SPDX-License-Identifier: Apache-2.0 */
/* See cli.h. */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/log.h"
#include "cli/help.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct verb *cli_verb(const struct cli *cli)
{
	return cli->path[cli->depth - 1];
}

int cli_fail(const struct cli *cli, struct cordon_error *err)
{
	struct buf name = BUF_INIT(256);

	help_path(&name, cli->path + 1, cli->depth - 1, ' ');
	if (name.len > 0)
		(void)cordon_wrap(err, err->code, "%s", buf_cstr(&name)); /* returns its input */
	buf_done(&name);
	log_cordon_error(err);
	return cli_verb(cli)->exit_failed ? cli_verb(cli)->exit_failed : CLI_EXIT_FAILED;
}

int cli_print_line(struct cli *cli, struct buf *b, struct cordon_error *err)
{
	int r;

	buf_char(b, '\n');
	r = buf_error(b);
	out_add(&cli->out, buf_cstr(b), b->len);
	buf_done(b);
	return r < 0 ? cordon_nomem(err) : 0;
}

/* Help of the verb that runs, to stdout. */
static void cli_print_help(struct cli *cli)
{
	help_write(&cli->out, cli->path, cli->depth);
}

/* Number and names of the words against the verb's row. */
static int cli_check_words(const struct cli *cli, struct cordon_error *err)
{
	const struct verb_words *words = &cli_verb(cli)->words;
	const char *name;

	if (cli->n_words < words->min)
		return cordon_fail(err, CORDON_E_INVALID, "needs %s", words->name);
	if (!words->name && cli->n_words > 0)
		return cordon_fail(err, CORDON_E_INVALID, "takes no words, but got '%.200s'",
				   cli->words[0]);
	if (cli->n_words > words->max)
		return cordon_fail(err, CORDON_E_INVALID, "one word too many: '%.200s'",
				   cli->words[words->max]);
	for (size_t i = 0; words->names && i < cli->n_words; i++) {
		int r = option_check_name(words->names, cli->words[i], &name, err);

		if (r < 0)
			return r;
	}
	return 0;
}

bool cli_parse(struct cli *cli, void *target, int *ret_code)
{
	const struct verb *verb = cli_verb(cli);
	struct option_request request = {
		.stops_at_word = verb->words.starts_command, .argv = cli->argv, .argc = cli->argc};
	struct option_result result = {0};
	struct cordon_error err = {0};
	size_t n = 0;
	int r;

	assert(!verb->options == !target);
	if (verb->options)
		request.tables[n++] = (struct option_table){verb->options, target};
	if (verb->more_options)
		request.tables[n++] = (struct option_table){verb->more_options, target};
	request.tables[n] = (struct option_table){verb_common_options, &cli->common};
	r = option_parse(&request, &result, &err);
	if (r >= 0 && cli->common.wants_help) {
		cli_print_help(cli);
		*ret_code = 0;
		return false;
	}
	if (cli->common.verbosity >= 0)
		log_set_level((enum log_level)cli->common.verbosity);
	cli->words = result.words;
	cli->n_words = result.n_words;
	if (r >= 0)
		r = cli_check_words(cli, &err);
	if (r >= 0)
		return true;
	*ret_code = cli_fail(cli, &err);
	return false;
}

/* No word at all after the program or after a verb that only holds others. */
static int cli_without_verb(struct cli *cli, struct cordon_error *err)
{
	struct out usage = OUT_INIT(STDERR_FILENO);

	if (cli->depth > 1) {
		struct buf names = BUF_INIT(1024);
		int code;

		for (size_t i = 0; cli_verb(cli)->subverbs[i]; i++)
			buf_printf(&names, "%s%s", i ? ", " : "", cli_verb(cli)->subverbs[i]->name);
		(void)cordon_fail(err, CORDON_E_INVALID, "needs one of %s", buf_cstr(&names));
		code = cli_fail(cli, err);
		buf_done(&names);
		return code;
	}
	help_write_usage(&usage, cli->path[0]);
	(void)!out_finish(&usage); /* stderr: nowhere to report to */
	return CLI_EXIT_FAILED;
}

/* Options before a subverb: those of the program, or -h and nothing else.  Returns 0 to go on, 1
 * when an option has answered already, or a failure. */
static int cli_parse_prefix(struct cli *cli, struct cordon_error *err)
{
	struct cli_root root = {0};
	struct option_request request = {
		.stops_at_word = true, .argv = cli->argv, .argc = cli->argc};
	struct option_result result = {0};
	int r;

	request.tables[0] = cli->depth == 1
				    ? (struct option_table){cli->path[0]->options, &root}
				    : (struct option_table){verb_common_options, &cli->common};
	r = option_parse(&request, &result, err);
	if (r < 0)
		return r;
	if (root.wants_help || cli->common.wants_help) {
		cli_print_help(cli);
		return 1;
	}
	if (root.wants_version) {
		out_str(&cli->out, "cordon " CORDON_VERSION "\n");
		return 1;
	}
	cli->argv = result.words;
	cli->argc = result.n_words;
	return 0;
}

static int cli_dispatch(struct cli *cli)
{
	struct cordon_error err = {0};

	while (cli_verb(cli)->subverbs) {
		const struct verb *next;
		int r = cli_parse_prefix(cli, &err);

		if (r < 0)
			return cli_fail(cli, &err);
		if (r > 0)
			return 0;
		if (cli->argc == 0)
			return cli_without_verb(cli, &err);
		next = verb_find(cli_verb(cli), cli->argv[0]);
		if (!next) {
			(void)verb_unknown(cli_verb(cli), cli->argv[0], &err);
			return cli_fail(cli, &err);
		}
		assert(cli->depth < CLI_DEPTH_MAX);
		cli->path[cli->depth++] = next;
		cli->argv++;
		cli->argc--;
	}
	return cli_verb(cli)->run(cli);
}

/* As coreutils: a full disk is an error, a reader that went away is not worth a message.  SIGPIPE
 * stays as it is, so usually the signal ends us; where it is ignored the exit code is the same. */
static int cli_finish_output(struct cli *cli, int code)
{
	int r = out_finish(&cli->out);

	if (r == 0)
		return code;
	if (r == -EPIPE)
		return CLI_EXIT_PIPE;
	log_error("write standard output: %s", strerror(-r));
	return CLI_EXIT_FAILED;
}

int cli_main(const struct verb *root, int argc, char **argv)
{
	struct cli cli = {.path = {root},
			  .depth = 1,
			  .common = {.verbosity = -1},
			  .out = OUT_INIT(STDOUT_FILENO)};
	int r;

	/* Someone closed stdout: /dev/null keeps its number safe but must not look like success. */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		cli.out.fd = -1;
	r = fd_fill_stdio();

	if (r < 0) {
		log_error("open /dev/null: %s", strerror(-r));
		return CLI_EXIT_FAILED;
	}
	/* A file that must not grow (ulimit -f) is an error like a full disk. */
	(void)signal(SIGXFSZ, SIG_IGN); /* cannot fail with a valid number */
	cli.argv = argv + (argc > 0);
	cli.argc = argc > 0 ? (size_t)argc - 1 : 0;
	return cli_finish_output(&cli, cli_dispatch(&cli));
}
