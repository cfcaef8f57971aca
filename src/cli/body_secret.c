/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon secret`. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/effective.h"
#include "net/hostrule.h"
#include "secrets/passphrase.h"
#include "secrets/rekey.h"
#include "secrets/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct secret_door {
	struct effective effective;
	struct store store;
};

static void secret_door_done(struct secret_door *d)
{
	store_done(&d->store);
	effective_done(&d->effective);
}

#define SECRET_DOOR ((struct secret_door){.store = STORE_NONE})

/* This process holds keys and values and starts no other: nobody looks into it, and it leaves no core. */
static int secret_close_up(struct cordon_error *err)
{
	const struct rlimit none = {0};

	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
		return cordon_fail_errno(err, errno, "close this process to others");
	return 0;
}

static int secret_door_find(struct secret_door *d, struct cordon_error *err)
{
	int r = secret_close_up(err);

	return r < 0 ? r : effective_init(/* cwd= */ NULL, &d->effective, err);
}

/* What a list of words separated by commas holds, each put through check. */
typedef int secret_word_fn(const char *word, struct strv *ret, struct cordon_error *err);

static int secret_host(const char *word, struct strv *ret, struct cordon_error *err)
{
	char text[HOSTRULE_FORMAT_SIZE];
	struct hostrule rule;
	int r = hostrule_parse(word, strlen(word), &rule, err);

	if (r < 0)
		return cordon_wrap(err, r, "--host");
	hostrule_format(&rule, text);
	return strv_add(ret, text) < 0 ? cordon_nomem(err) : 0;
}

static int secret_method(const char *word, struct strv *ret, struct cordon_error *err)
{
	char text[32] = "";
	size_t n = strlen(word);

	for (size_t i = 0; i < n && n < sizeof(text); i++) {
		char c = word[i];

		text[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	if (n == 0 || n >= sizeof(text) ||
	    text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] != '\0')
		return cordon_fail(err, CORDON_E_INVALID, "--method: '%.100s' is no method", word);
	return strv_add(ret, text) < 0 ? cordon_nomem(err) : 0;
}

static int secret_path(const char *word, struct strv *ret, struct cordon_error *err)
{
	if ((word[0] != '/' && word[0] != '*') || strlen(word) > LIMIT_GLOB_BYTES)
		return cordon_fail(err, CORDON_E_INVALID,
				   "--path: '%.100s' does not begin with '/' or '*'", word);
	return strv_add(ret, word) < 0 ? cordon_nomem(err) : 0;
}

static int secret_words(const struct strv *lists, secret_word_fn *check, struct strv *ret,
			struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < lists->n; i++) {
		AUTO_FREE char *copy = strdup(lists->v[i]);
		char *rest = copy;
		char *word;

		if (!copy)
			return cordon_nomem(err);
		while (r == 0 && (word = strsep(&rest, ",")))
			r = check(word, ret, err);
	}
	return r;
}

static int secret_binding(const struct secret_set_options *o, struct vault_binding *ret,
			  struct cordon_error *err)
{
	int r = secret_words(&o->hosts, secret_host, &ret->hosts, err);

	if (r == 0)
		r = secret_words(&o->methods, secret_method, &ret->methods, err);
	if (r == 0)
		r = secret_words(&o->paths, secret_path, &ret->paths, err);
	if (r == 0 && ret->hosts.n == 0 && (ret->methods.n || ret->paths.n))
		r = cordon_fail(err, CORDON_E_INVALID,
				"--method and --path bind only together with --host");
	return r;
}

static int secret_read(const struct secret_set_options *o, const char *name, struct locked *ret,
		       size_t *ret_len, struct cordon_error *err)
{
	AUTO_CLOSE int file = -1;
	int fd = o->fd.is_given ? (int)o->fd.value : STDIN_FILENO;
	int r;

	if (o->file && o->fd.is_given)
		return cordon_fail(err, CORDON_E_INVALID, "--file and --fd: one of them");
	if (o->file) {
		file = open(o->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (file < 0)
			return cordon_fail_errno(err, errno, "open '%.200s'", o->file);
		fd = file;
	}
	if (isatty(fd)) {
		struct buf question = BUF_INIT(LIMIT_SECRET_NAME + 16);

		buf_printf(&question, "Value of %s: ", name);
		r = passphrase_type(buf_cstr(&question), LIMIT_SECRET_BYTES, ret, ret_len, err);
		buf_done(&question);
		return r;
	}
	r = locked_read(fd, LIMIT_SECRET_BYTES, ret, ret_len);
	if (r == -EFBIG)
		return cordon_fail(err, CORDON_E_LIMIT, "the value is longer than %d bytes",
				   LIMIT_SECRET_BYTES);
	return r < 0 ? cordon_fail_leaf(err, r, "read the value") : 0;
}

static void secret_trim(const struct secret_set_options *o, const char *value, size_t *len)
{
	if (o->raw)
		return;
	if (*len > 0 && value[*len - 1] == '\n')
		--*len;
	if (*len > 0 && value[*len - 1] == '\r')
		--*len;
}

/* What --key says, or the other. */
static enum vault_key secret_key_kind(const char *name, enum vault_key other)
{
	for (size_t i = 0; name && i < VAULT_KEY_COUNT; i++)
		if (strcmp(name, vault_key_names[i]) == 0)
			return (enum vault_key)i;
	return other;
}

static int secret_put(struct secret_door *d, const struct secret_set_options *o, const char *name,
		      struct vault_binding *binding, struct cordon_error *err)
{
	const struct store_want want = {.may_begin = true,
					.has_kind = o->key != NULL,
					.kind = secret_key_kind(o->key, VAULT_KEY_FILE)};
	struct locked value = {0};
	size_t len = 0;
	int r = secret_close_up(err);

	if (r == 0)
		r = secret_read(o, name, &value, &len, err);
	if (r == 0)
		secret_trim(o, value.data, &len);
	if (r == 0 && len == 0)
		r = cordon_hint(err, cordon_fail(err, CORDON_E_INVALID, "the value is empty"),
				"it is read from standard input, or from --file or --fd");
	if (r == 0)
		r = secret_door_find(d, err);
	if (r == 0)
		r = store_open_write(d->effective.state_dir, &want, &d->store, err);
	if (r == 0) {
		r = vault_put(&d->store.vault, (const uint8_t *)d->store.key.data, name,
			      clock_wall_ms(), binding, value.data, len);
		r = r < 0 ? cordon_fail_leaf(err, r, "secret '%s'", name)
			  : store_save(&d->store, err);
	}
	locked_done(&value);
	return r;
}

int cmd_secret_set_main(struct cli *cli, const struct secret_set_options *options)
{
	AUTO(secret_door_done) struct secret_door d = SECRET_DOOR;
	struct vault_binding binding = {0};
	struct cordon_error err = {0};
	const char *name = cli->words[0];
	int r = 0;

	if (cli->n_words > 1)
		r = cordon_hint(
			&err,
			cordon_fail(&err, CORDON_E_INVALID,
				    "a value is never taken from the command line"),
			"others can read it there: use standard input, --file or --fd; this one "
			"is known now, change it where it is used");
	else if (!vault_is_name(name))
		r = cordon_hint(
			&err,
			cordon_fail(&err, CORDON_E_INVALID, "'%.100s' is not the name of a secret",
				    name),
			"a letter or '_', then letters, digits, '-', '_' and '.'; at most %d",
			LIMIT_SECRET_NAME);
	if (r == 0)
		r = secret_binding(options, &binding, &err);
	if (r == 0)
		r = secret_put(&d, options, name, &binding, &err);
	vault_binding_done(&binding);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

static void secret_list_json(struct json *j, const char *name, const struct strv *list)
{
	json_array(j, name);
	for (size_t i = 0; i < list->n; i++)
		json_str(j, NULL, list->v[i]);
	json_end_array(j);
}

static int secret_print_json(struct cli *cli, const struct store *s, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	json_object(&j, NULL);
	json_str(&j, "key", store_exists(s) ? vault_key_names[s->vault.key] : NULL);
	json_array(&j, "secrets");
	for (size_t i = 0; i < s->vault.n; i++) {
		const struct vault_row *row = &s->vault.rows[i];
		char stamp[CLOCK_STAMP_LEN];

		clock_stamp_of(row->set_ms, stamp);
		json_object(&j, NULL);
		json_str(&j, "name", row->name);
		json_str(&j, "set", stamp);
		secret_list_json(&j, "hosts", &row->binding.hosts);
		secret_list_json(&j, "methods", &row->binding.methods);
		secret_list_json(&j, "paths", &row->binding.paths);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	buf_char(&b, '\n');
	r = buf_error(&b);
	out_add(&cli->out, buf_cstr(&b), b.len);
	buf_done(&b);
	return r < 0 ? cordon_nomem(err) : 0;
}

static void secret_join(const struct strv *list, struct buf *out)
{
	for (size_t i = 0; i < list->n; i++)
		buf_printf(out, "%s%s", i ? "," : "", list->v[i]);
}

static int secret_print_table(struct cli *cli, const struct store *s, struct cordon_error *err)
{
	static const char *const headings[] = {"NAME", "SET", "HOSTS", "METHODS", "PATHS"};
	struct table t;
	int r = 0;

	table_init(&t, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < s->vault.n; i++) {
		const struct vault_row *row = &s->vault.rows[i];
		const struct strv *lists[] = {&row->binding.hosts, &row->binding.methods,
					      &row->binding.paths};
		char stamp[CLOCK_STAMP_LEN];

		clock_stamp_of(row->set_ms, stamp);
		table_cell(&t, row->name);
		table_cell(&t, stamp);
		for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
			struct buf words = BUF_INIT((size_t)2 * LIMIT_SECRET_HEAD);

			secret_join(lists[k], &words);
			table_cell(&t, buf_cstr(&words));
			buf_done(&words);
		}
	}
	if (table_print(&t, &cli->out) < 0)
		r = cordon_nomem(err);
	table_done(&t);
	return r;
}

int cmd_secret_list_main(struct cli *cli, const struct secret_list_options *options)
{
	AUTO(secret_door_done) struct secret_door d = SECRET_DOOR;
	struct cordon_error err = {0};
	int r = secret_door_find(&d, &err);

	if (r == 0)
		r = store_open(d.effective.state_dir, &d.store, &err);
	if (r == 0 && store_exists(&d.store) && d.store.vault.key != VAULT_KEY_PASSPHRASE)
		r = store_unlock(&d.store, &err);
	if (r == 0)
		r = options->json ? secret_print_json(cli, &d.store, &err)
				  : secret_print_table(cli, &d.store, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_secret_rm_main(struct cli *cli)
{
	AUTO(secret_door_done) struct secret_door d = SECRET_DOOR;
	struct cordon_error err = {0};
	const struct store_want want = {0};
	int r = secret_door_find(&d, &err);

	if (r == 0)
		r = store_open_write(d.effective.state_dir, &want, &d.store, &err);
	for (size_t i = 0; r == 0 && i < cli->n_words; i++)
		if (!vault_remove(&d.store.vault, cli->words[i]))
			r = cordon_hint(&err,
					cordon_fail(&err, CORDON_E_NOT_FOUND, "no secret '%.100s'",
						    cli->words[i]),
					"'cordon secret list' says which there are");
	if (r == 0)
		r = store_save(&d.store, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_secret_rekey_main(struct cli *cli, const struct secret_rekey_options *options)
{
	AUTO(secret_door_done) struct secret_door d = SECRET_DOOR;
	const struct store_want want = {0};
	struct cordon_error err = {0};
	int r = secret_door_find(&d, &err);

	if (r == 0)
		r = store_open_write(d.effective.state_dir, &want, &d.store, &err);
	if (r == 0)
		r = store_rekey(&d.store, secret_key_kind(options->key, d.store.vault.key), &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_printf(&cli->out, "%zu encrypted anew; the key comes from: %s\n", d.store.vault.n,
		   vault_key_names[d.store.vault.key]);
	return 0;
}
