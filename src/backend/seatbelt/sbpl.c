/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sbpl.h.  Everything starts closed.  The system's own rule files (bsd.sb) are not imported: they open name lookup and
 * more by services that speak to the network for whoever asks.
 *
 * Names are matched after links were followed, and three of the system's directories are links: a rule for /tmp/x never
 * fits, one for /private/tmp/x does.
 */
#include "backend/seatbelt/sbpl.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a program needs to start at all, read and executed. */
static const char *const sbpl_system[] = {
	"/bin",
	"/sbin",
	"/usr",
	"/System",
	"/Library/Apple",
	"/opt",
	"/Library/Developer",
	"/private/etc",
	"/private/var/db/timezone",
	"/private/var/db/dyld",
	"/private/var/select",
};

/* Read and written, never executed. */
static const char *const sbpl_devices[] = {"/dev/null", "/dev/zero", "/dev/tty",
					   "/dev/dtracehelper"};
static const char *const sbpl_sources[] = {"/dev/random", "/dev/urandom", "/dev/autofs_nowait"};

static const char *const sbpl_links[] = {"/tmp", "/var", "/etc"};

/* A path as a string of the language.  Bytes that a line of text cannot hold are refused: how an escape of them would be
 * read is nowhere written. */
static int sbpl_string(struct buf *out, const char *path, struct cordon_error *err)
{
	if (path[0] != '/')
		return cordon_fail(err, CORDON_E_INVALID, "path '%s' is not absolute", path);
	if (!utf8_is_valid(path, strlen(path)))
		return cordon_fail(err, CORDON_E_INVALID,
				   "a path that is not UTF-8 cannot be written in a profile");
	buf_char(out, '"');
	for (size_t i = 0; i < ARRAY_LEN(sbpl_links); i++) {
		size_t len = strlen(sbpl_links[i]);

		if (strncmp(path, sbpl_links[i], len) == 0 && (!path[len] || path[len] == '/'))
			buf_str(out, "/private");
	}
	for (const char *s = path; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return cordon_fail(
				err, CORDON_E_INVALID,
				"a path with control characters cannot be written in a profile");
		if (*s == '"' || *s == '\\')
			buf_char(out, '\\');
		buf_char(out, *s);
	}
	buf_char(out, '"');
	return 0;
}

static int sbpl_line(struct buf *out, const char *act, const char *filter, const char *path,
		     struct cordon_error *err)
{
	int r;

	buf_printf(out, "(%s (%s ", act, filter);
	r = sbpl_string(out, path, err);
	buf_str(out, "))\n");
	return r;
}

/* The same for all but one name in it. */
static int sbpl_line_but(struct buf *out, const char *act, const struct sbpl_rule *rule,
			 struct cordon_error *err)
{
	AUTO_FREE char *but = NULL;
	int r;

	if (asprintf(&but, "%s/%s", rule->path, rule->except) < 0)
		return cordon_nomem(err);
	buf_printf(out, "(%s (require-all (subpath ", act);
	r = sbpl_string(out, rule->path, err);
	buf_str(out, ") (require-not (subpath ");
	if (r == 0)
		r = sbpl_string(out, but, err);
	buf_str(out, "))))\n");
	return r;
}

/* A line for each of the directories above a path. */
static int sbpl_above(struct buf *out, const char *act, const char *path, struct cordon_error *err)
{
	AUTO_FREE char *copy = strdup(path);
	int r = 0;

	if (!copy)
		return cordon_nomem(err);
	for (char *slash = strrchr(copy, '/'); r == 0 && slash && slash != copy;
	     slash = strrchr(copy, '/')) {
		*slash = '\0';
		r = sbpl_line(out, act, "literal", copy, err);
	}
	return r;
}

static int sbpl_add(const struct sbpl_profile *p, const struct sbpl_rule *rule, struct buf *out,
		    struct cordon_error *err)
{
	static const char *const acts[] = {
		[SBPL_READ] = "allow file-read*",
		[SBPL_WRITE] = "allow file-read* file-write*",
		[SBPL_SHUT] = "deny file-read* file-write* process-exec*",
		[SBPL_PROTECT] = "deny file-write* file-link",
		[SBPL_NOEXEC] = "deny process-exec* file-map-executable",
	};
	static_assert(ARRAY_LEN(acts) == SBPL_KIND_COUNT, "each kind has its line");
	bool grants = rule->kind == SBPL_READ || rule->kind == SBPL_WRITE;
	/* They can be looked up, or nothing below them is found; with what is closed in them they stay where they are. */
	int r = rule->kind == SBPL_NOEXEC
			? 0
			: sbpl_above(out,
				     grants ? "allow file-read-metadata" : "deny file-write-unlink",
				     rule->path, err);

	if (r == 0)
		r = rule->except ? sbpl_line_but(out, acts[rule->kind], rule, err)
				 : sbpl_line(out, acts[rule->kind], "subpath", rule->path, err);
	if (r == 0 && grants && p->allows_process)
		r = sbpl_line(out, "allow process-exec* file-map-executable", "subpath", rule->path,
			      err);
	return r;
}

static int sbpl_base(const struct sbpl_profile *p, struct buf *out, struct cordon_error *err)
{
	int r = 0;

	buf_str(out, "(version 1)\n(deny default)\n");
	if (p->allows_process)
		buf_str(out, "(allow process-fork)\n");
	buf_str(out, "(allow signal (target same-sandbox))\n"
		     "(allow process-info* (target same-sandbox))\n");
	if (p->allows_sysctl)
		buf_str(out, "(allow sysctl-read)\n");
	buf_printf(out, "(allow file-read* (%s \"/\"))\n", p->reads_all ? "subpath" : "literal");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(sbpl_system); i++)
		r = sbpl_add(p, &(struct sbpl_rule){.kind = SBPL_READ, .path = sbpl_system[i]}, out,
			     err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(sbpl_sources); i++)
		r = sbpl_line(out, "allow file-read*", "literal", sbpl_sources[i], err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(sbpl_devices); i++)
		r = sbpl_line(out, "allow file-read* file-write-data file-ioctl", "literal",
			      sbpl_devices[i], err);
	if (p->allows_network)
		buf_str(out, "(allow network*)\n(allow system-socket)\n"
			     "(allow mach-lookup (global-name \"com.apple.dnssd.service\"))\n");
	return r;
}

int sbpl_write(const struct sbpl_profile *p, struct buf *out, struct cordon_error *err)
{
	int r = sbpl_base(p, out, err);

	for (size_t i = 0; r == 0 && i < p->n; i++)
		r = sbpl_add(p, &p->rules[i], out, err);
	if (r == 0 && buf_error(out) < 0)
		r = cordon_fail_leaf(err, buf_error(out), "profile");
	return r;
}

/* How many rules a step gives, or -1. */
static int sbpl_step(const struct plan_op *op, struct sbpl_rule at[static 2])
{
	int n = 0;

	switch (op->kind) {
	case PLAN_OP_SYSTEM:
	case PLAN_OP_BIND_RO:
		at[n++] = (struct sbpl_rule){.kind = SBPL_READ, .path = op->path};
		break;
	case PLAN_OP_BIND_RW:
	case PLAN_OP_DEVICE:
		at[n++] = (struct sbpl_rule){.kind = SBPL_WRITE, .path = op->path};
		break;
	case PLAN_OP_PROTECT:
		at[n++] = (struct sbpl_rule){
			.kind = SBPL_PROTECT, .path = op->path, .except = op->except};
		break;
	case PLAN_OP_DENY:
		at[n++] = (struct sbpl_rule){.kind = SBPL_SHUT, .path = op->path};
		break;
	case PLAN_OP_DEV:
	case PLAN_OP_PROC:    /* what a program needs of them is in every profile */
	case PLAN_OP_SYMLINK: /* the machine's own links are there */
		return 0;
	case PLAN_OP_TMPFS:
	case PLAN_OP_FILE:
	case PLAN_OP_SHOWN:
		at[n++] = (struct sbpl_rule){.kind = SBPL_SHUT, .path = op->path};
		return n;
	case PLAN_OP_COW:
	case PLAN_OP_CACHE:
	case PLAN_OP_SOCKET:
	case PLAN_OP_COUNT:
		return -1;
	}
	if (op->is_noexec)
		at[n++] = (struct sbpl_rule){.kind = SBPL_NOEXEC, .path = op->path};
	return n;
}

int sbpl_rules(const struct plan *plan, struct sbpl_rule **ret, size_t *ret_n,
	       struct cordon_error *err)
{
	struct sbpl_rule *rules = calloc(2 * plan->op_count + 1, sizeof(*rules));
	size_t n = 0;

	if (!rules)
		return cordon_nomem(err);
	for (size_t i = 0; i < plan->op_count; i++) {
		int added = sbpl_step(&plan->ops[i], &rules[n]);

		if (added < 0) {
			free(rules);
			return cordon_fail(err, CORDON_E_UNSUPPORTED,
					   "seatbelt has no mounts, and '%s' needs one",
					   plan->ops[i].path);
		}
		n += (size_t)added;
	}
	*ret = rules;
	*ret_n = n;
	return 0;
}
