/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ordinary programs write, copy and send, as far as a payload or a secret could travel that way.
 */
#include "inspect/shell/decode.h"
#include "inspect/shell/output.h"
#include "inspect/shell/place.h"
#include "inspect/shell/rule.h"
#include "inspect/shell/run.h"

#include "base/str.h"

#include <string.h>

#define EFFECT_SECRETS                                                                             \
	(PLACE(SECRET) | PLACE(SECRET_DIR) | PLACE(ENV_FILE) | PLACE(SHADOW) | PLACE(ENVIRON) |    \
	 PLACE(BROWSER) | PLACE(WALLET) | PLACE(HISTORY) | PLACE(ACCOUNT))

static bool effect_is(const char *names, const char *name)
{
	return rule_is(names, name);
}

static bool effect_has(const struct shell_command *c, const char *options)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] == '-' && effect_is(options, c->argv[i].s))
			return true;
	return false;
}

/* A letter in a cluster of short options. */
static bool effect_letter(const struct shell_command *c, char letter)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] == '-' && s[1] && s[1] != '-' && strchr(s + 1, letter))
			return true;
	}
	return false;
}

static uint64_t effect_place(struct run *r, struct shell_word *w)
{
	if (!w->place)
		w->place = place_of(r->m->context, w->s, r->cwd, (w->flags & WORD_GLOB) != 0);
	return w->place;
}

/* The taint of the contents of a file that a word names. */
unsigned effect_file(struct run *r, const char *path, unsigned flags)
{
	const struct run_file *f = run_file(r, path);
	uint64_t place = place_of(r->m->context, path, r->cwd, (flags & WORD_GLOB) != 0);
	unsigned taint = TAINT_FILE;

	if (f)
		taint = f->value.taint;
	if (place & EFFECT_SECRETS)
		taint |= TAINT_SECRET;
	/* A whole database is as much as a whole tree. */
	if (place & PLACE(DATABASE))
		taint |= TAINT_ARCHIVE;
	if (effect_is("/etc/hostname /etc/machine-id", path))
		taint |= TAINT_IDENTITY;
	if ((flags & WORD_GLOB) && strpbrk(path, "*"))
		taint |= TAINT_ARCHIVE;
	if (!f && r->n_files > 0 && strchr(path, '*') == NULL) {
		/* A directory that something was put into. */
		size_t n = strlen(path);

		for (size_t i = 0; i < r->n_files; i++)
			if (strncmp(r->files[i].path, path, n) == 0 && r->files[i].path[n] == '/')
				taint |= r->files[i].value.taint;
	}
	return taint;
}

static unsigned effect_operands(struct run *r, const struct shell_command *c)
{
	unsigned taint = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		taint |= c->argv[i].taint;
		/* A key that is used is not sent. */
		if (strcmp(s, "-i") == 0 && effect_is("scp rsync sftp", c->name)) {
			i++;
			continue;
		}
		if (s[0] == '-' && s[1]) {
			const char *eq = strchr(s, '=');

			if (eq)
				taint |= effect_file(r, eq + 1, 0) & TAINT_SECRET;
			continue;
		}
		if (effect_place(r, &c->argv[i]) & EFFECT_SECRETS)
			taint |= TAINT_SECRET;
		taint |= effect_file(r, s, c->argv[i].flags);
	}
	return taint;
}

/* ---- decoders ---- */

static struct shell_text effect_decoded(struct run *r, struct shell_text in, bool is_right,
					struct buf *b)
{
	struct shell_text out;

	if (!is_right || buf_error(b) < 0 || b->len == 0) {
		out = (struct shell_text){.taint = in.taint | TAINT_DECODED};
	} else {
		out = run_known(r, b->data, b->len, in.taint | TAINT_DECODED);
		out.is_known = in.is_known;
	}
	run_buf_done(r, b);
	return out;
}

static struct shell_text effect_input(struct run *r, const struct shell_command *c)
{
	bool is_network;

	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] != '-' && run_file(r, c->argv[i].s))
			return exec_contents(r, &c->argv[i], &is_network);
	return c->has_in ? c->in
			 : (struct shell_text){.taint = effect_operands(r, c) &
							~(unsigned)TAINT_DECODED};
}

/* A set of tr that names line ends, tabs and blanks only. */
static bool effect_is_blanks(const char *set)
{
	while (*set) {
		size_t n = *set == '\\' && set[1] && strchr("ntrfv", set[1]) ? 2 : 1;

		if (n == 1 && !strchr(" \t\n\r\f\v", *set))
			return false;
		set += n;
	}
	return true;
}

static bool effect_decode(struct run *r, const struct shell_command *c, struct shell_text *ret)
{
	struct shell_text in;
	struct buf b = BUF_INIT(LIMIT_SHELL_BYTES);
	bool is_openssl = strcmp(c->name, "openssl") == 0;

	if (effect_is(" base64 gbase64 base64url ", c->name) &&
	    (effect_has(c, " -d -D --decode -di -id ") || effect_letter(c, 'd'))) {
		in = effect_input(r, c);
		*ret = effect_decoded(r, in, in.s && decode_base64(in.s, in.len, &b), &b);
		return true;
	}
	if (is_openssl && c->n > 1 && effect_has(c, " -d ") &&
	    (effect_is(" base64 enc ", c->argv[1].s))) {
		bool is_plain = strcmp(c->argv[1].s, "base64") == 0 ||
				(effect_has(c, " -base64 -a ") && c->n <= 5);

		in = effect_input(r, c);
		*ret = effect_decoded(r, in, is_plain && in.s && decode_base64(in.s, in.len, &b),
				      &b);
		return true;
	}
	if (effect_is(" base32 ", c->name) && effect_has(c, " -d --decode ")) {
		in = effect_input(r, c);
		*ret = effect_decoded(r, in, in.s && decode_base32(in.s, in.len, &b), &b);
		return true;
	}
	if (strcmp(c->name, "xxd") == 0 && effect_letter(c, 'r')) {
		in = effect_input(r, c);
		*ret = effect_decoded(r, in, in.s && decode_hex(in.s, in.len, &b), &b);
		return true;
	}
	if (effect_is(
		    " gunzip zcat bunzip2 bzcat unxz xzcat uudecode gpg xz uncompress zstdcat funzip lz4cat ",
		    c->name) &&
	    (c->has_in || effect_letter(c, 'd') || c->name[0] == 'u' || c->name[0] == 'f')) {
		in = effect_input(r, c);
		*ret = effect_decoded(r, in, false, &b);
		return true;
	}
	if (strcmp(c->name, "rev") == 0) {
		in = effect_input(r, c);
		if (in.s)
			decode_reverse(in.s, in.len, &b);
		*ret = effect_decoded(r, in, in.s != NULL, &b);
		return true;
	}
	if (strcmp(c->name, "tr") == 0 && c->n > 2 && c->in.s) {
		bool is_delete = strcmp(c->argv[1].s, "-d") == 0;
		unsigned taint = c->in.taint;

		decode_translate(c->in.s, c->in.len, c->argv[is_delete ? 2 : 1].s,
				 is_delete ? "" : c->argv[2].s, is_delete, &b);
		*ret = effect_decoded(r, c->in, true, &b);
		/* Who joins lines hides nothing. */
		ret->taint = ret->is_known && !effect_is_blanks(c->argv[is_delete ? 2 : 1].s)
				     ? taint | TAINT_DECODED
				     : taint;
		return true;
	}
	return false;
}

/* ---- writers of known text ---- */

/* How many letters are written as numbers. */
static size_t effect_numbers(const char *s)
{
	size_t n = 0;

	for (const char *p = s; (p = strchr(p, '\\')) != NULL; p++)
		n += p[1] == 'x' || (p[1] >= '0' && p[1] <= '7');
	return n;
}

static bool effect_echo(struct run *r, const struct shell_command *c, struct shell_text *ret)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_BYTES);
	bool has_escapes = false, is_known = true;
	unsigned taint = 0;
	size_t at = 1, hidden = 0;

	if (strcmp(c->name, "echo") != 0)
		return false;
	for (; at < c->n && c->argv[at].s[0] == '-' && c->argv[at].len > 1 &&
	       strspn(c->argv[at].s + 1, "neE") == c->argv[at].len - 1;
	     at++)
		has_escapes = has_escapes || strchr(c->argv[at].s, 'e');
	for (size_t i = at; i < c->n; i++) {
		if (i > at)
			buf_char(&b, ' ');
		if (has_escapes)
			decode_escapes(c->argv[i].s, c->argv[i].len, false, &b);
		else
			buf_add(&b, c->argv[i].s, c->argv[i].len);
		taint |= c->argv[i].taint;
		is_known = is_known && !(c->argv[i].flags & WORD_UNKNOWN);
		hidden += has_escapes ? effect_numbers(c->argv[i].s) : 0;
	}
	if (hidden >= 2)
		taint |= TAINT_DECODED;
	buf_char(&b, '\n');
	*ret = run_known(r, buf_cstr(&b), b.len, taint);
	ret->is_known = ret->is_known && is_known;
	run_buf_done(r, &b);
	return true;
}

static bool effect_printf(struct run *r, const struct shell_command *c, struct shell_text *ret)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_BYTES);
	const char *args[64];
	size_t n = 0, at = 1, hidden = 0;
	bool is_known = true;
	unsigned taint = 0;

	if (strcmp(c->name, "printf") != 0 || c->n < 2)
		return false;
	at += strcmp(c->argv[1].s, "--") == 0 && c->n > 2;
	at += strcmp(c->argv[1].s, "-v") == 0 && c->n > 3 ? 2 : 0;
	for (size_t i = at; i < c->n; i++) {
		taint |= c->argv[i].taint;
		is_known = is_known && !(c->argv[i].flags & WORD_UNKNOWN);
		if (i > at && n < sizeof(args) / sizeof(args[0]))
			args[n++] = c->argv[i].s;
	}
	decode_printf(c->argv[at].s, c->argv[at].len, args, n, &b);
	/* letters that are written as numbers */
	hidden = effect_numbers(c->argv[at].s);
	if (hidden >= 3)
		taint |= TAINT_DECODED;
	*ret = run_known(r, buf_cstr(&b), b.len, taint);
	ret->is_known = ret->is_known && is_known;
	if (strcmp(c->argv[1].s, "-v") == 0 && c->n > 3) {
		run_set(r, c->argv[2].s, c->argv[2].len, *ret);
		*ret = run_nothing();
	}
	run_buf_done(r, &b);
	return true;
}

/* Programs that print a part of a path, or the path itself. */
static bool effect_path(struct run *r, const struct shell_command *c, struct shell_text *ret)
{
	size_t at = exec_operand(c, 1, "", " ");
	const char *slash;

	if (!effect_is("dirname basename realpath readlink", c->name) || at >= c->n)
		return false;
	*ret = word_value(&c->argv[at]);
	slash = ret->s ? memrchr(ret->s, '/', ret->len) : NULL;
	if (c->name[0] == 'r' || !ret->is_known)
		return true;
	if (c->name[0] == 'd')
		*ret = slash ? run_known(r, ret->s, (size_t)(slash - ret->s) + (slash == ret->s),
					 ret->taint)
			     : run_known(r, ".", 1, ret->taint);
	else if (at + 1 < c->n)
		*ret = (struct shell_text){.taint = ret->taint}; /* without a suffix */
	else if (slash)
		*ret = run_known(r, slash + 1, ret->len - (size_t)(slash - ret->s) - 1, ret->taint);
	return true;
}

static bool effect_simple(struct run *r, struct shell_command *c, struct shell_text *ret)
{
	bool is_network;

	if (effect_is(" cat tac head tail zcat bat tee sponge pv buffer less more ", c->name)) {
		if (c->n == 1 || (c->has_in && strcmp(c->name, "tee") == 0)) {
			*ret = c->in;
		} else {
			*ret = run_nothing();
			for (size_t i = 1; i < c->n; i++) {
				struct shell_text v;

				if (c->argv[i].s[0] == '-') {
					if (c->argv[i].len == 1)
						*ret = run_join(r, *ret, c->in);
					continue;
				}
				v = exec_contents(r, &c->argv[i], &is_network);
				v.taint |= effect_file(r, c->argv[i].s, c->argv[i].flags) &
					   ~(unsigned)TAINT_FILE;
				c->reads |= v.taint;
				*ret = run_join(r, *ret, v);
			}
		}
		if (strcmp(c->name, "tee") == 0)
			for (size_t i = 1; i < c->n; i++)
				if (c->argv[i].s[0] != '-')
					run_file_set(r, c->argv[i].s, c->in, false);
		return true;
	}
	if (effect_path(r, c, ret))
		return true;
	if (effect_is(" export declare typeset readonly systemctl jq jaq gojq yq ", c->name) &&
	    output_environment(c)) {
		*ret = (struct shell_text){.taint = TAINT_IDENTITY};
		return true;
	}
	if (strcmp(c->name, "mktemp") == 0) {
		*ret = run_known(r, "/tmp/\001", 6, 0);
		ret->is_known = false;
		return true;
	}
	if (strcmp(c->name, "pwd") == 0) {
		*ret = run_known(r, r->cwd ? r->cwd : ".", r->cwd ? strlen(r->cwd) : 1, 0);
		return true;
	}
	if (effect_is(" which type ", c->name) && c->n > 1) {
		*ret = word_value(&c->argv[c->n - 1]);
		return true;
	}
	if (effect_is(
		    " whoami hostname id uname ifconfig ip printenv set ps lsb_release hostnamectl groups "
		    "who w last netstat ss arp sw_vers dmidecode lscpu history ",
		    c->name)) {
		*ret = (struct shell_text){.taint = TAINT_IDENTITY};
		return true;
	}
	return false;
}

/* ---- files that are copied, packed or renamed ---- */

static void effect_copies(struct run *r, const struct shell_command *c)
{
	unsigned taint = 0;
	struct shell_text value = {0};
	const struct shell_word *to = c->n > 2 ? &c->argv[c->n - 1] : NULL;
	size_t sources = 0;

	for (size_t i = 1; i + 1 < c->n; i++) {
		const struct run_file *f = run_file(r, c->argv[i].s);

		if (c->argv[i].s[0] == '-')
			continue;
		sources++;
		taint |= effect_file(r, c->argv[i].s, c->argv[i].flags);
		if (f)
			value = f->value;
	}
	if (!to || sources == 0)
		return;
	value.taint |= taint;
	run_file_set(r, to->s, value, false);
	/* Into a directory: under its old name. */
	for (size_t i = 1; i + 1 < c->n && sources == 1; i++)
		if (c->argv[i].s[0] != '-') {
			struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

			buf_printf(&b, "%s%s%s", to->s,
				   to->len > 0 && to->s[to->len - 1] == '/' ? "" : "/",
				   exec_name(c->argv[i].s));
			if (buf_error(&b) == 0)
				run_file_set(r, b.data, value, false);
			run_buf_done(r, &b);
		}
}

static void effect_packs(struct run *r, const struct shell_command *c)
{
	static const char *const suffixes[] = {".gz",  ".bz2", ".xz",   ".zst", ".gpg",
					       ".asc", ".enc", ".lzma", ".Z"};
	unsigned taint = effect_operands(r, c) | c->in.taint;

	for (size_t i = 1; i < c->n; i++) {
		struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

		if (c->argv[i].s[0] == '-')
			continue;
		for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
			buf_clear(&b);
			buf_printf(&b, "%s%s", c->argv[i].s, suffixes[k]);
			if ((taint & TAINT_SECRET) && buf_error(&b) == 0)
				run_file_set(r, b.data, (struct shell_text){.taint = taint}, false);
		}
		/* An archive is named among its parts; its name alone tells it. */
		if (strstr(c->argv[i].s, ".t") || strstr(c->argv[i].s, ".zip") ||
		    strstr(c->argv[i].s, ".7z") || strstr(c->argv[i].s, ".rar") ||
		    (i > 1 && effect_is(" -o -out --output -f ", c->argv[i - 1].s)) ||
		    (i > 1 && c->argv[i - 1].s[0] == '-' && str_ends(c->argv[i - 1].s, "f")))
			run_file_set(r, c->argv[i].s,
				     (struct shell_text){.taint = taint | TAINT_ARCHIVE}, false);
		run_buf_done(r, &b);
	}
}

static void effect_files(struct run *r, const struct shell_command *c)
{
	if (effect_is(" cp mv ln install rsync dd ", c->name)) {
		effect_copies(r, c);
		if (strcmp(c->name, "dd") == 0)
			for (size_t i = 1; i < c->n; i++)
				if (str_starts(c->argv[i].s, "of="))
					run_file_set(r, c->argv[i].s + 3, c->in, false);
	} else if (effect_is(" tar zip 7z 7za rar gzip bzip2 xz zstd gpg openssl ar cpio ",
			     c->name)) {
		effect_packs(r, c);
	} else if (effect_is(" rm unlink ", c->name)) {
		for (size_t i = 1; i < c->n; i++)
			if (run_file(r, c->argv[i].s) && r->conditions == 0)
				run_file_set(r, c->argv[i].s, run_nothing(), false);
	}
}

/* ---- the network ---- */

static unsigned effect_reference(struct run *r, const struct shell_command *c, const char *s)
{
	const char *at = strpbrk(s, "@<");
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES);
	unsigned taint;

	if (!at || (at != s && at[-1] != '=' && at[-1] != '\''))
		return 0;
	buf_add(&b, at + 1, strcspn(at + 1, ";,"));
	taint = strcmp(buf_cstr(&b), "-") == 0 || strcmp(buf_cstr(&b), ".") == 0
			? c->in.taint
			: effect_file(r, buf_cstr(&b), 0);
	run_buf_done(r, &b);
	return taint;
}

static bool effect_long(const char *s, const char *name, const char **ret_value)
{
	size_t n = strcspn(s, "=");

	/* Long options may be cut short. */
	if (!str_starts(s, "--") || n < 7 || strncmp(s, name, n) != 0)
		return false;
	*ret_value = s[n] == '=' ? s + n + 1 : NULL;
	return true;
}

/* curl and its like: which options carry data. */
static unsigned effect_curl(struct run *r, const struct shell_command *c)
{
	unsigned taint = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *value = NULL;
		const char *next = i + 1 < c->n ? c->argv[i + 1].s : "";

		taint |= c->argv[i].taint & ~(unsigned)TAINT_FILE;
		if (effect_is(" -o --output -H --header -A --user-agent -e -x --proxy -w -c -b ",
			      s)) {
			i++;
			taint |= i < c->n ? c->argv[i].taint : 0;
			continue;
		}
		if (str_starts(s, "--data") || str_starts(s, "--json") || str_starts(s, "--form")) {
			value = strchr(s, '=');
			taint |= effect_reference(r, c,
						  value && !strpbrk(s, " ") ? value + 1 : next);
		} else if (str_starts(s, "--post-data") || str_starts(s, "--body-data")) {
			taint |= c->argv[i].taint |
				 (strchr(s, '=') || i + 1 >= c->n ? 0 : c->argv[i + 1].taint);
		} else if (s[0] == '-' && s[1] != '-' && (s[1] == 'd' || s[1] == 'F')) {
			taint |= effect_reference(r, c, s[2] ? s + 2 : next);
		} else if (s[0] == '-' && s[1] != '-' && strchr(s, 'T')) {
			const char *p = strchr(s, 'T');

			value = p[1] ? p + 1 : next;
			taint |= strcmp(value, "-") == 0 ? c->in.taint : effect_file(r, value, 0);
		} else if (effect_long(s, "--upload-file", &value) ||
			   effect_long(s, "--post-file", &value) ||
			   effect_long(s, "--body-file", &value)) {
			value = value ? value : next;
			taint |= strcmp(value, "-") == 0 ? c->in.taint : effect_file(r, value, 0);
		} else if (strpbrk(s, "@") && s[0] != '-' && strcmp(c->name, "curl") != 0 &&
			   strcmp(c->name, "wget") != 0) {
			taint |= effect_reference(r, c, s); /* httpie: field@file */
		}
	}
	return taint;
}

/* What goes into a local file of a download. */
static void effect_download(struct run *r, const struct shell_command *c)
{
	struct shell_word room, where;
	struct shell_text remote = {.taint = TAINT_REMOTE};
	const struct shell_word *to = strcmp(c->name, "wget") == 0
					      ? exec_option(r, c, 'O', "output-document", &room)
					      : exec_option(r, c, 'o', "output", &room);
	const struct shell_word *dir =
		strcmp(c->name, "wget") == 0 ? exec_option(r, c, 'P', "directory-prefix", &where)
		: strcmp(c->name, "aria2c") == 0 ? exec_option(r, c, 'd', "dir", &where)
						 : exec_option(r, c, '\0', "output-dir", &where);
	bool by_name = !effect_letter(c, 'J');

	for (size_t i = 1; i < c->n && dir; i++)
		if (strstr(c->argv[i].s, "://")) {
			struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

			buf_printf(&b, "%s%s%s", dir->s, str_ends(dir->s, "/") ? "" : "/",
				   to ? to->s : exec_name(c->argv[i].s));
			if (buf_error(&b) == 0)
				run_file_set(r, b.data, remote, false);
			run_buf_done(r, &b);
		}
	for (size_t i = 1; i + 1 < c->n && !to; i++)
		if (c->argv[i].s[0] == '-' && c->argv[i].s[1] != '-' && c->argv[i].len > 2 &&
		    (str_ends(c->argv[i].s, "o") ||
		     (str_ends(c->argv[i].s, "O") && *c->name == 'w')))
			to = &c->argv[i + 1];
	if (to && strcmp(to->s, "-") != 0)
		run_file_set(r, to->s, remote, false);
	for (size_t i = 1; i < c->n && !to && by_name; i++)
		if (c->argv[i].s[0] != '-' && strchr(c->argv[i].s, '/'))
			run_file_set(
				r, c->argv[i].s[0] == '/' ? c->argv[i].s : exec_name(c->argv[i].s),
				remote, false);
}

static bool effect_is_remote(const char *s)
{
	const char *colon = strchr(s, ':');

	return strstr(s, "://") || (colon && colon != s && !memchr(s, '/', (size_t)(colon - s)) &&
				    s[0] != '-' && !(colon - s == 1));
}

/* scp host:x DIR, rsync host::m/x DIR, tftp -g -r x host: the file that is here then. */
static void effect_arrives(struct run *r, const struct shell_command *c)
{
	const char *to = c->argv[c->n - 1].s;

	for (size_t i = 1; i + 1 < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *base = strrchr(s, '/') ? strrchr(s, '/') : strrchr(s, ':');
		struct buf b = BUF_INIT(LIMIT_PATH_BYTES);

		if (strcmp(c->name, "tftp") == 0 ? strcmp(c->argv[i - 1].s, "-r") != 0
						 : s[0] == '-' || !effect_is_remote(s))
			continue;
		base = base ? base + 1 : s;
		run_file_set(r, base, (struct shell_text){.taint = TAINT_REMOTE}, false);
		if (strcmp(c->name, "tftp") != 0) {
			run_file_set(r, to, (struct shell_text){.taint = TAINT_REMOTE}, false);
			buf_printf(&b, "%s%s%s", to, str_ends(to, "/") ? "" : "/", base);
			if (buf_error(&b) == 0)
				run_file_set(r, b.data, (struct shell_text){.taint = TAINT_REMOTE},
					     false);
			run_buf_done(r, &b);
		}
	}
}

static bool effect_network(struct run *r, struct shell_command *c, struct shell_text *ret)
{
	*ret = (struct shell_text){.taint = TAINT_REMOTE};
	if (effect_is(
		    " curl wget http https xh wget2 httpie aria2c lwp-request lwp-download GET POST fetch lynx w3m links "
		    "elinks axel curlie ftpget snarf httpx wscat websocat ",
		    c->name)) {
		if (effect_has(c, " --version --help -V ") && c->n == 2) {
			*ret = run_nothing();
			return true;
		}
		c->sends |= effect_curl(r, c);
		effect_download(r, c);
		if (effect_has(c, " --download "))
			ret->taint = 0;
		return true;
	}
	if (effect_is(" nc ncat netcat nc.traditional nc.openbsd telnet ", c->name)) {
		c->sends |= c->in.taint | effect_operands(r, c);
		return true;
	}
	if (strcmp(c->name, "openssl") == 0 && c->n > 1 && strcmp(c->argv[1].s, "s_client") == 0) {
		c->sends |= c->in.taint;
		return true;
	}
	if (effect_is(" nslookup dig host ping drill kdig getent ", c->name)) {
		for (size_t i = 1; i < c->n; i++)
			c->sends |= c->argv[i].taint & ~(unsigned)(TAINT_REMOTE | TAINT_FILE);
		return true;
	}
	if (effect_is(" mail mailx mutt sendmail msmtp swaks ftp tftp lftp ncftpput smbclient sftp ",
		      c->name)) {
		c->sends |= c->in.taint | effect_operands(r, c);
		if (strcmp(c->name, "tftp") == 0)
			effect_arrives(r, c);
		return true;
	}
	if (effect_is(
		    " scp rsync rclone aws gsutil gcloud az s3cmd mc azcopy croc wormhole transfer magic-wormhole ",
		    c->name)) {
		bool to_remote = false;

		for (size_t i = 1; i < c->n; i++)
			to_remote = to_remote || effect_is_remote(c->argv[i].s);
		/* from there to here: what arrives may be run */
		if (c->n > 2 && effect_is("scp rsync", c->name) &&
		    !effect_is_remote(c->argv[c->n - 1].s))
			effect_arrives(r, c);
		if (to_remote || effect_is(" croc wormhole transfer ", c->name)) {
			c->sends |= effect_operands(r, c);
			return true;
		}
	}
	return false;
}

static struct shell_text effect_tar(struct run *r, struct shell_command *c, struct shell_text out)
{
	bool is_create = effect_letter(c, 'c') || effect_has(c, " --create --cr ") ||
			 (c->n > 1 && strchr(c->argv[1].s, 'c'));

	for (size_t i = 1; i < c->n && is_create; i++) {
		const char *s = c->argv[i].s;
		const char *eq = str_starts(s, "--file=") ? s + 7 : s;

		if (effect_is_remote(eq) && (eq != s || (i > 1 && str_ends(c->argv[i - 1].s, "f"))))
			c->sends |= out.taint | TAINT_ARCHIVE;
	}
	for (size_t i = 0; i < c->n_assigns; i++)
		if ((str_starts(c->assigns[i].s, "TAR_OPTIONS=") ||
		     str_starts(c->assigns[i].s, "TAPE=")) &&
		    strchr(c->assigns[i].s, ':'))
			c->sends |= out.taint;
	for (size_t i = 0; i < r->n_variables; i++)
		if (strcmp(r->variables[i].name, "TAR_OPTIONS") == 0 && r->variables[i].value.s &&
		    strchr(r->variables[i].value.s, ':'))
			c->sends |= out.taint;
	if (is_create)
		out.taint |= TAINT_ARCHIVE;
	return out;
}

struct shell_text effect_of(struct run *r, struct shell_command *c)
{
	struct shell_text out = {0};

	if (strcmp(c->name, "chmod") == 0)
		for (size_t i = 1; i < c->n; i++)
			if (run_file(r, c->argv[i].s))
				c->runs |= run_file(r, c->argv[i].s)->value.taint & TAINT_REMOTE;
	effect_files(r, c);
	if (effect_echo(r, c, &out) || effect_printf(r, c, &out) || effect_decode(r, c, &out) ||
	    effect_simple(r, c, &out) || effect_network(r, c, &out))
		return out;
	/* Those that look at names and not at contents. */
	if (effect_is("ls du", c->name))
		return output_names(r, c);
	if (effect_is(
		    " stat test [ chmod chown chgrp rm mkdir rmdir touch basename dirname realpath "
		    "readlink df file true false : kill sleep wait export declare local set shift ",
		    c->name))
		return (struct shell_text){0};
	c->reads |= effect_operands(r, c) & ~(unsigned)TAINT_WHOLE;
	out.taint = c->in.taint | (c->reads & ~(unsigned)TAINT_DECODED);
	out = output_passed(c, out);
	if (effect_is(" tar bsdtar gtar ", c->name))
		out = effect_tar(r, c, out);
	/* A fixed text that is first changed is a payload that is unwrapped. */
	if (c->has_in && c->in.is_known && c->in.len > 0 &&
	    effect_is(" sed gsed cut paste fold fmt column colrm expand ", c->name))
		out.taint |= TAINT_DECODED;
	/* A whole database is as much as a whole tree. */
	if (effect_is(" zip 7z rar pg_dump pg_dumpall mysqldump mariadb-dump mongodump ",
		      c->name) ||
	    (strcmp(c->name, "sqlite3") == 0 && c->n > 2 &&
	     effect_is(".dump", c->argv[c->n - 1].s)))
		out.taint |= TAINT_ARCHIVE;
	return out;
}

void effect_redirects(struct run *r, const struct shell_command *c, struct shell_text out)
{
	for (size_t i = 0; i < c->n_redirects; i++) {
		const struct shell_redirect *d = &c->redirects[i];

		if ((d->kind == REDIRECT_OUT || d->kind == REDIRECT_APPEND) &&
		    strcmp(d->fd, "2") != 0 && d->target.s[0] &&
		    strcmp(d->target.s, "/dev/null") != 0) {
			struct shell_text v = out;

			if (d->kind == REDIRECT_APPEND) {
				const struct run_file *f = run_file(r, d->target.s);

				if (f && !f->tree)
					v = run_join(r, f->value, out);
			}
			run_file_set(r, d->target.s, v, false);
		} else if (d->kind == REDIRECT_DUP && strcmp(d->fd, "1") == 0) {
			struct buf b = BUF_INIT(256);
			const struct run_file *f;

			buf_printf(&b, "&%.200s", d->target.s);
			f = run_file(r, buf_cstr(&b));
			if (f && f->tree)
				run_file_set(r, buf_cstr(&b), out, false);
			run_buf_done(r, &b);
		}
	}
}
