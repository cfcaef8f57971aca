/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon hook`. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/env.h"
#include "base/log.h"
#include "hook/guard.h"
#include "hook/install.h"
#include "hook/trial.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cmd_hook_agent_main(struct cli *cli, const struct hook_agent_options *options)
{
	struct hook_options o = {
		.dialect = hook_dialect_find(cli_verb(cli)->name),
		.policies = &options->policies,
		.always_replies = options->always_reply,
		.deadline_ms = options->deadline.is_given ? (int64_t)options->deadline.value
							  : HOOK_DEADLINE_MS,
	};
	struct cordon_error err = {0};

	if (cli->out.fd < 0) { /* an answer that nobody gets would let the call go on */
		(void)cordon_fail(&err, CORDON_E_INVALID, "standard output is closed");
		return cli_fail(cli, &err);
	}
	return hook_main(&o);
}

/* Whose settings. */
static int hook_place(const struct cli *cli, const struct hook_install_options *options,
		      struct install_options *ret, char **ret_dir, struct cordon_error *err)
{
	char cwd[PATH_MAX];
	int r = 0;

	if (options->project) {
		*ret_dir = getcwd(cwd, sizeof(cwd)) ? strdup(cwd) : NULL;
		r = *ret_dir ? 0 : -errno;
	} else {
		r = env_home(ret_dir);
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "find the %s",
					options->project ? "current directory" : "home directory");
	*ret = (struct install_options){
		.dialect = hook_dialect_find(cli->words[0]),
		.dir = *ret_dir,
		.settings = options->settings,
		.policies = &options->policies,
	};
	return 0;
}

/* Policies are named by the hook's command line, which runs in another directory. */
static int hook_policies(const struct hook_install_options *options, struct cordon_error *err)
{
	for (size_t i = 0; i < options->policies.n; i++)
		if (options->policies.v[i][0] != '/' &&
		    !str_starts(options->policies.v[i], "claw:"))
			return cordon_fail(err, CORDON_E_INVALID,
					   "option '--policy': '%.200s' is not an absolute path",
					   options->policies.v[i]);
	return 0;
}

/* Says which files turn all hooks off.  Returns how many, or an error. */
static int hook_disabled(const struct install_options *o, struct cordon_error *err)
{
	AUTO(strv_done) struct strv files = {0};
	AUTO_FREE char *home = NULL;
	int r = env_home(&home);

	r = install_disabled(o, r < 0 ? NULL : home, &files, err);
	for (size_t i = 0; r == 0 && i < files.n; i++)
		log_warning("%s: '%s' is true: %s runs no hooks, and ours are not asked",
			    files.v[i], o->dialect->off_switch, o->dialect->name);
	return r < 0 ? r : (int)files.n;
}

static int hook_change(struct cli *cli, const struct hook_install_options *options, bool is_adding)
{
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *path = NULL;
	struct install_options o;
	struct cordon_error err = {0};
	bool changed = false;
	int r = hook_policies(options, &err);

	if (r == 0)
		r = hook_place(cli, options, &o, &dir, &err);
	if (r == 0)
		r = install_path(&o, &path, &err);
	if (r == 0)
		r = is_adding ? install_add(&o, &changed, &err)
			      : install_remove(&o, &changed, &err);
	if (r == 0 && is_adding)
		r = hook_disabled(&o, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_escaped(&cli->out, path);
	out_printf(&cli->out, ": %s\n",
		   is_adding ? changed ? "installed" : "already installed"
		   : changed ? "uninstalled"
			     : "was not installed");
	return 0;
}

int cmd_hook_install_main(struct cli *cli, const struct hook_install_options *options)
{
	return hook_change(cli, options, true);
}

int cmd_hook_uninstall_main(struct cli *cli, const struct hook_install_options *options)
{
	return hook_change(cli, options, false);
}

static void hook_row(struct table *t, const char *event, const struct trial_result *result)
{
	char text[64];

	table_cell(t, event);
	table_cell(t, trial_name(result->which));
	table_cell(t, trial_wanted(result->which));
	(void)snprintf(text, sizeof(text), "exit code %d, %.1f ms", result->code, result->ms);
	table_cell(t, text);
	table_styled_cell(t, result->is_right ? OUT_GREEN : OUT_RED,
			  result->is_right ? "right" : result->why);
}

/* Every line that is there and is asked before a tool runs. */
static int hook_try(const struct install_options *o, const struct strv *lines, struct table *t,
		    bool *ret_is_right, struct cordon_error *err)
{
	int r = 0;

	*ret_is_right = true;
	for (size_t i = 0; r == 0 && i + 1 < lines->n; i += 2) {
		const struct hook_event *e = hook_event_find(o->dialect, lines->v[i]);

		if (!e || e->phase != HOOK_BEFORE || (e->tool && strcmp(e->tool, "Read") == 0))
			continue;
		for (int which = 0; r == 0 && which < TRIAL_CASE_COUNT; which++) {
			struct trial_result result;

			r = trial_run(o->dialect, e->name, lines->v[i + 1], (enum trial_case)which,
				      &result, err);
			if (r < 0)
				break;
			hook_row(t, e->name, &result);
			*ret_is_right &= result.is_right;
		}
	}
	return r;
}

int cmd_hook_test_main(struct cli *cli, const struct hook_install_options *options)
{
	static const char *const headings[] = {"EVENT", "CALL", "WANTED", "GOT", "RESULT"};
	AUTO(strv_done) struct strv lines = {0};
	AUTO(table_done) struct table t;
	AUTO_FREE char *dir = NULL;
	struct install_options o;
	struct cordon_error err = {0};
	bool is_right = false;
	int r;

	table_init(&t, ARRAY_LEN(headings), headings);
	r = hook_place(cli, options, &o, &dir, &err);
	if (r == 0)
		r = install_list(&o, &lines, &err);
	if (r == 0 && lines.n == 0)
		r = cordon_hint(&err,
				cordon_fail(&err, CORDON_E_NOT_FOUND,
					    "the hook is not in the settings of %s",
					    o.dialect->name),
				"cordon hook install %s%s", o.dialect->name,
				options->project ? " --project" : "");
	if (r == 0)
		r = hook_try(&o, &lines, &t, &is_right, &err);
	if (r == 0 && table_print(&t, &cli->out) < 0)
		r = cordon_nomem(&err);
	if (r == 0)
		r = hook_disabled(&o, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	return is_right && r == 0 ? 0 : CLI_EXIT_FAILED;
}
