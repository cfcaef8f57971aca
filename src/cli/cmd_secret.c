/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon secret`: the tables of its subverbs; the bodies are cmd_secret_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

#include "secrets/vault.h"

#include <limits.h>

static const struct option secret_set_rows[] = {
	{0, "host", "HOST[,...]", OPTION_INTO_LIST(struct secret_set_options, hosts),
	 .complete = COMPLETE_HOST, .group = "Binding",
	 .help = "hosts that may receive it, as in --allow-host; none: it is not bound"},
	{0, "method", "METHOD[,...]", OPTION_INTO_LIST(struct secret_set_options, methods),
	 .group = "Binding", .help = "HTTP methods with which it may be sent; none: all"},
	{0, "path", "GLOB[,...]", OPTION_INTO_LIST(struct secret_set_options, paths),
	 .group = "Binding", .help = "paths of URLs to which it may be sent; none: all"},
	{0, "file", "FILE", OPTION_INTO_PATH(struct secret_set_options, file),
	 .complete = COMPLETE_FILE, .group = "Value", .help = "read the value from this file"},
	{0, "fd", "N", OPTION_INTO_INT(struct secret_set_options, fd), .max = INT_MAX,
	 .group = "Value", .help = "read the value from this open descriptor"},
	{0, "raw", OPTION_INTO_FLAG(struct secret_set_options, raw), .group = "Value",
	 .help = "keep a final line end, which is no part of the value otherwise"},
	{0, "key", "KIND", OPTION_INTO_ENUM(struct secret_set_options, key),
	 .names = vault_key_names, .group = "Store",
	 .help = "where the key of a new store comes from (default: file)"},
	{0},
};

static const struct option secret_list_rows[] = {
	COMMAND_OPTION_JSON(struct secret_list_options, json),
	{0},
};

static const struct option secret_rekey_rows[] = {
	{0, "key", "KIND", OPTION_INTO_ENUM(struct secret_rekey_options, key),
	 .names = vault_key_names, .group = "Store",
	 .help = "where the new key comes from (default: as the old one)"},
	{0},
};

static void secret_set_options_done(struct secret_set_options *o)
{
	strv_done(&o->hosts);
	strv_done(&o->methods);
	strv_done(&o->paths);
}

static int secret_set_run(struct cli *cli)
{
	AUTO(secret_set_options_done) struct secret_set_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_secret_set_main(cli, &options) : code;
}

static int secret_list_run(struct cli *cli)
{
	struct secret_list_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_secret_list_main(cli, &options) : code;
}

static int secret_rm_run(struct cli *cli)
{
	int code = 0;

	return cli_parse(cli, /* target= */ NULL, &code) ? cmd_secret_rm_main(cli) : code;
}

static int secret_rekey_run(struct cli *cli)
{
	struct secret_rekey_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_secret_rekey_main(cli, &options) : code;
}

static const struct verb_example secret_set_examples[] = {
	{"cordon secret set GITHUB_TOKEN --host api.github.com --file token",
	 "store what the file holds, for that host alone"},
	{"pass show db | cordon secret set DB_PASSWORD", "store what a program prints"},
	{NULL, NULL},
};

static const struct verb secret_set = {
	.name = "set",
	.summary = "store a value, or replace it",
	.synopsis = (const char *const[]){"[OPTIONS] NAME", NULL},
	.options = secret_set_rows,
	/* One more than there may be: the body says why a value is refused here. */
	.words = {.name = "NAME", .min = 1, .max = 2},
	.description =
		"The value is read from standard input, from a file or from a descriptor; at a terminal "
		"it is asked for and not shown. It is never taken from the command line, which others "
		"can read and shells remember.\n"
		"\n"
		"*NAME* is a letter or _\\__ and then letters, digits, _-_, _._ and _\\__. With "
		"_secrets.injection: environment_ it is the name of the variable.\n"
		"\n"
		"A secret that is bound goes nowhere else: a call that could send it elsewhere does not "
		"run. Setting it again binds it anew.",
	.examples = secret_set_examples,
	.run = secret_set_run,
};

static const struct verb secret_list = {
	.name = "list",
	.summary = "list names and bindings; never values",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.options = secret_list_rows,
	.description = "Values are not read. Where the key is at hand without asking, it is looked "
		       "whether somebody changed the store.",
	.run = secret_list_run,
};

static const struct verb secret_rm = {
	.name = "rm",
	.summary = "remove secrets",
	.synopsis = (const char *const[]){"NAME...", NULL},
	.words = {.name = "NAME", .min = 1, .max = VERB_WORDS_ANY},
	.description = "All or nothing: with a name that is not there nothing is removed.",
	.run = secret_rm_run,
};

static const struct verb secret_rekey = {
	.name = "rekey",
	.summary = "give the store another key",
	.synopsis = (const char *const[]){"[--key KIND]", NULL},
	.options = secret_rekey_rows,
	.description =
		"Every value is encrypted anew, with a key that was never used before. The store is "
		"replaced in one step: whenever it is interrupted, the old key opens the old store or the "
		"new key the new one.\n"
		"\n"
		"A new passphrase is asked for twice; without a terminal it is read from the descriptor "
		"whose number is in *CORDON_NEW_PASSPHRASE_FD*. The old one comes as it always does.\n"
		"\n"
		"The old key is overwritten and removed. It still opens older copies of the store, and disks "
		"and file systems that write elsewhere may keep its bytes: where somebody else had it, "
		"the values have to be changed too. A key under the name _cordon:secrets_ alone stays "
		"in the keyring, because other stores may need it.",
	.run = secret_rekey_run,
};

const struct verb verb_secret = {
	.name = "secret",
	.summary = "values that calls may use and nobody may see",
	.synopsis = (const char *const[]){"set|list|rm|rekey [ARG...]", NULL},
	.subverbs = (const struct verb *const[]){&secret_set, &secret_list, &secret_rm,
						 &secret_rekey, NULL},
	.description =
		"Secrets are kept in _secrets.db_ in the state directory, each encrypted with "
		"AES-256-GCM together with its name and binding. The key is one of\n"
		"\n"
		"*file*\n"
		"\t_secrets.key_ in the same directory, made at first use. Who can read that directory "
		"has the secrets: this keeps them out of copies of the store alone, and out of every "
		"sandbox.\n"
		"\n"
		"*passphrase*\n"
		"\targon2id of what is typed at the terminal; without one, of what is read from the "
		"descriptor whose number is in *CORDON_PASSPHRASE_FD*. It is asked for by every call that "
		"uses a secret.\n"
		"\n"
		"*keyring*\n"
		"\ta key in the user's keyring of the kernel, made at first use. Its name is "
		"_cordon:secrets:_ and the first eight bytes of the store's salt, in hex; _cordon:secrets_ "
		"is found too. It is in no file and gone after a restart: then the store stays shut unless "
		"somebody puts the key back.\n"
		"\n"
		"A call gets a secret by *cordon run --secret* or the manifest's _secrets.grants_. An older "
		"copy of the whole store that somebody puts in its place is not told from the newest.",
};
