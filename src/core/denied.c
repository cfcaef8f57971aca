/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See denied.h.  The rule and the remedy are those of `cordon why`: it is asked the question that the
 * call asked.  Where the policy would allow what the plan did not show, the step of the plan is the rule.
 */
#include "core/denied.h"

#include "backend/confine/calls.h"
#include "backend/reach.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/fsgrant.h"
#include "core/fsplan.h"
#include "core/why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DENIED_TEXT_MAX 65536 /* of a rule or remedy */

static const char *const denied_access[SEEN_WANT_COUNT] = {
	[SEEN_READ] = "read",  [SEEN_LOOK] = "read",    [SEEN_WRITE] = "write",
	[SEEN_MAKE] = "write", [SEEN_EXEC] = "execute", [SEEN_EITHER] = "read",
};

struct judge {
	const struct denied_input *in;
	struct policy_context context;
	struct report *report;
	struct cordon_error *err;
};

static int denied_add(struct judge *j, const struct seen_event *e, struct denied *d)
{
	d->is_inferred = seen_is_inferred(e);
	d->count = e->count;
	(void)snprintf(d->comm, sizeof(d->comm), "%s", e->comm);
	return report_deny_more(j->report, d) < 0 ? cordon_nomem(j->err) : 0;
}

/* "FIELD 'entry' (user policy.yaml:4:2)" */
static void denied_rule(const struct judge *j, const struct why *w, struct buf *out)
{
	buf_str(out, buf_cstr(&w->rule));
	if (!str_starts(buf_cstr(&w->rule), "built-in")) {
		buf_str(out, " (");
		policy_origin_text(j->in->policy, &w->origin, out);
		buf_char(out, ')');
	}
}

/* An entry from an answer.  The strings are borrowed from w and rule. */
static struct denied denied_of(const char *kind, char *target, struct buf *rule, struct why *w)
{
	bool has_line = w->yaml.len > 0;
	struct denied d = {
		.target = target,
		.rule = rule->data,
		.remedy = w->option.len ? w->option.data : w->remedy.data,
		.under = has_line ? w->under.data : NULL,
		.yaml = has_line ? w->yaml.data : NULL,
	};

	(void)snprintf(d.kind, sizeof(d.kind), "%s", kind);
	return d;
}

/* limits */

/* That one of these was reached is told by nobody else: not at all, or not where control groups are missing. */
static int denied_limit(struct judge *j, const struct seen_event *e)
{
	static char open_files[] = "--max-open-files N";
	static char processes[] = "--max-processes N";
	bool is_fork = strcasestr(e->text, "fork") != NULL;
	enum policy_row row = is_fork ? POLICY_PROCESSES : POLICY_OPEN_FILES;
	const char *field = shape_policy.fields[row].path;
	struct buf rule = BUF_INIT(DENIED_TEXT_MAX);
	AUTO_FREE char *target = strdup(strrchr(field, '.') + 1);
	struct denied d = {
		.kind = "limit", .target = target, .remedy = is_fork ? processes : open_files};
	int r;

	if (!policy_has(j->in->policy, row) || (is_fork && j->report->result.is_fork_refused))
		return 0; /* the machine's own limit, or told already */
	buf_printf(&rule, "%s (", field);
	policy_origin_text(j->in->policy, &j->in->policy->origin[row], &rule);
	buf_char(&rule, ')');
	d.rule = rule.data;
	r = !target || buf_error(&rule) < 0 ? cordon_nomem(j->err) : denied_add(j, e, &d);
	buf_done(&rule);
	return r;
}

/* system calls */

/* By an entry of the policy's own list. */
static int denied_listed(struct judge *j, const struct seen_event *e)
{
	const struct policy *p = j->in->policy;
	const struct item_list *list = &p->denied_syscalls;
	const char *field = shape_policy.fields[POLICY_DENIED_SYSCALLS].path;
	struct buf rule = BUF_INIT(DENIED_TEXT_MAX);
	struct buf remedy = BUF_INIT(DENIED_TEXT_MAX);
	struct denied d = {.kind = "syscall", .target = e->text};
	const struct item *entry = NULL;
	int r;

	for (size_t i = 0; !entry && i < list->n; i++)
		if (seccomp_text_has(list->items[i].text, e->text))
			entry = &list->items[i];
	buf_printf(&rule, "%s '%s' (", field, entry ? entry->text : e->text);
	policy_origin_text(p, entry ? &entry->origin : &p->origin[POLICY_DENIED_SYSCALLS], &rule);
	buf_char(&rule, ')');
	buf_printf(&remedy, "take '%s' out of %s", entry ? entry->text : e->text, field);
	d.rule = rule.data;
	d.remedy = remedy.data;
	r = buf_error(&rule) < 0 || buf_error(&remedy) < 0 ? cordon_nomem(j->err)
							   : denied_add(j, e, &d);
	buf_done(&rule);
	buf_done(&remedy);
	return r;
}

static int denied_syscall(struct judge *j, const struct seen_event *e)
{
	const struct policy *p = j->in->policy;
	struct buf rule = BUF_INIT(DENIED_TEXT_MAX);
	struct denied d = {.kind = "syscall", .target = e->text};
	static char none[] = "none: no option opens it";
	static char by_path[] = "--allow-socket PATH, for the socket that is needed";
	static char by_net[] = "--net allow-all";
	static char by_debug[] = "--allow-debug";
	static char under_debug[] = "sandbox.capabilities";
	static char line_debug[] = "debug: true";
	int r;

	if (e->is_listed)
		return denied_listed(j, e);
	d.remedy = none;
	if (str_starts(e->text, "socket AF_INET") && p->net_mode != NET_ALLOW_ALL &&
	    !strstr(e->text, "SOCK_RAW")) {
		buf_printf(&rule, "%s '%s' (", shape_policy.fields[POLICY_NET_MODE].path,
			   names_word(&names_net_mode, p->net_mode));
		policy_origin_text(p, &p->origin[POLICY_NET_MODE], &rule);
		buf_char(&rule, ')');
		d.remedy = by_net;
	} else if (str_starts(e->text, "socket AF_UNIX")) {
		buf_str(&rule, "built-in: Unix sockets are closed where paths of the host are "
			       "granted, since one of them could lead out");
		d.remedy = by_path;
		d.is_minor = true; /* the C library looks for nscd in every program */
	} else if (str_starts(e->text, "ptrace") || str_starts(e->text, "process_vm_")) {
		buf_printf(&rule, "%s 'false' (", shape_policy.fields[POLICY_DEBUG].path);
		policy_origin_text(p, &p->origin[POLICY_DEBUG], &rule);
		buf_char(&rule, ')');
		d.remedy = by_debug;
		d.under = under_debug;
		d.yaml = line_debug;
	} else {
		buf_printf(&rule, "built-in system call filter: %s",
			   e->why ? e->why : "not in the table");
	}
	d.rule = rule.data;
	r = buf_error(&rule) < 0 ? cordon_nomem(j->err) : denied_add(j, e, &d);
	buf_done(&rule);
	return r;
}

/* hosts */

/* Does a message name a host?  It says better what was wanted than the name server's address. */
static bool denied_names_host(const struct judge *j)
{
	for (size_t i = 0; i < j->report->seen.n; i++)
		if (j->report->seen.events[i].kind == SEEN_NAME)
			return true;
	return false;
}

static int denied_host(struct judge *j, const struct seen_event *e)
{
	struct buf rule = BUF_INIT(DENIED_TEXT_MAX);
	AUTO(why_done) struct why w = {0};
	struct denied d;
	int r = why_host(j->in->policy, e->text, &w, j->err);

	if (r < 0)
		return r;
	/* What a message names may be no host at all. */
	if (w.decision != WHY_DENY || str_starts(buf_cstr(&w.rule), "not a host"))
		return 0;
	denied_rule(j, &w, &rule);
	d = denied_of("host", w.resolved ? w.resolved : e->text, &rule, &w);
	d.grant = d.target;
	if (e->kind == SEEN_HOST && str_ends(e->text, ":53")) {
		static char lookup[] = "--allow-host NAME, of the host whose address was looked up";

		d.remedy = lookup;
		d.is_minor = denied_names_host(j);
		d.grant = d.under = d.yaml = NULL;
	}
	r = buf_error(&rule) < 0 ? cordon_nomem(j->err) : denied_add(j, e, &d);
	buf_done(&rule);
	return r;
}

/* paths */

/* From a message: what can have been meant, if it was us at all.  False: it was not. */
static bool denied_guess(const struct seen_event *e, enum reach reach, const struct plan_op *op,
			 const struct stat *st, enum seen_want *ret)
{
	bool is_closed = reach == REACH_NONE || reach == REACH_DENIED;
	bool is_fixed = reach == REACH_READ || reach == REACH_PROTECTED;

	*ret = e->want == SEEN_WRITE ? SEEN_WRITE : SEEN_READ;
	switch (e->cause) {
	case SEEN_CAUSE_MISSING: /* our own, if the host has it, or the directory that it was to be in */
		return (st || *ret == SEEN_WRITE) && (is_closed || reach == REACH_PRIVATE);
	case SEEN_CAUSE_READ_ONLY:
		*ret = SEEN_WRITE;
		return is_closed || is_fixed;
	case SEEN_CAUSE_EXISTS: /* a placeholder */
		*ret = SEEN_WRITE;
		return !st && reach == REACH_PROTECTED;
	case SEEN_CAUSE_DENIED:
		if (op && op->is_noexec && st && S_ISREG(st->st_mode) && st->st_mode & 0111) {
			*ret = SEEN_EXEC;
			return true;
		}
		if (is_fixed && op->is_public_only && st && !(st->st_mode & S_IROTH))
			return true;
		if (is_fixed)
			*ret = SEEN_WRITE;
		return is_closed || is_fixed;
	case SEEN_CAUSE_NONE:
	case SEEN_CAUSE_COUNT:
		break;
	}
	return false;
}

/* The nearest directory above that exists. */
static void denied_parent(char *path)
{
	struct stat st;

	do {
		char *slash = strrchr(path, '/');

		slash[slash == path] = '\0';
	} while (lstat(path, &st) < 0 && strcmp(path, "/") != 0);
}

static int denied_ask(struct judge *j, const char *path, bool is_write, bool of_host,
		      struct why *ret)
{
	return of_host ? why_path_of_host(j->in->policy, &j->context, path, is_write, ret, NULL)
		       : why_path(j->in->policy, &j->context, path, is_write, ret, NULL);
}

/* Looks for a remedy that works: a grant names what exists, and not everything can be granted. */
static int denied_remedy(struct judge *j, const char *path, enum seen_want want, bool of_host,
			 struct why *w, char **ret_grant)
{
	bool is_write = seen_is_write(want);
	AUTO_FREE char *place = NULL;
	struct stat st;
	int r = path_resolve(path, &place);

	if (r < 0 || w->option.len == 0)
		return r == -ENOMEM ? cordon_nomem(j->err) : 0;
	/* The name belongs to the directory: a file that was granted cannot be removed. */
	if (lstat(place, &st) < 0 || want == SEEN_MAKE) {
		AUTO(why_done) struct why above = {0};

		denied_parent(place);
		r = denied_ask(j, place, is_write, of_host, &above);
		if (r < 0)
			return r == CORDON_E_NOMEM ? cordon_nomem(j->err) : 0;
		buf_clear(&w->option);
		buf_clear(&w->yaml);
		buf_str(&w->option, buf_cstr(&above.option));
		buf_str(&w->yaml, buf_cstr(&above.yaml));
	}
	if ((str_starts(buf_cstr(&w->option), "--read") ||
	     str_starts(buf_cstr(&w->option), "--write")) &&
	    fsgrant_check(place, is_write, j->in->home, j->in->state_dir, NULL) < 0) {
		buf_clear(&w->option);
		buf_clear(&w->yaml);
		buf_clear(&w->remedy);
		buf_printf(&w->remedy, "none: '%s' cannot be granted", place);
		return 0;
	}
	*ret_grant = TAKE_PTR(place);
	return 0;
}

/* The policy does not say it, the plan does. */
static void denied_by_step(const struct plan_op *op, struct why *w)
{
	buf_clear(&w->rule);
	buf_clear(&w->option);
	buf_clear(&w->yaml);
	buf_clear(&w->remedy);
	buf_printf(&w->rule, "built-in %s '%s'",
		   op->kind == PLAN_OP_PROTECT ? "protection of" : "closure of", op->path);
	buf_str(&w->remedy, op->kind == PLAN_OP_PROTECT
				    ? "none: programs of the host act on it"
				    : "none: it stays closed whatever is granted");
}

/* What can be written cannot be executed. */
static void denied_by_wx(const struct judge *j, const struct plan_op *op, const char *path,
			 struct why *w)
{
	buf_clear(&w->rule);
	buf_clear(&w->remedy);
	buf_clear(&w->option);
	buf_clear(&w->under);
	buf_clear(&w->yaml);
	w->origin = j->in->policy->origin[POLICY_WRITE_XOR_EXECUTE];
	buf_printf(&w->rule, "%s 'true'", shape_policy.fields[POLICY_WRITE_XOR_EXECUTE].path);
	if (op->kind == PLAN_OP_TMPFS) {
		buf_str(&w->remedy, "none: make it in the workspace, and name it with --exec");
		return;
	}
	buf_str(&w->option, "--exec ");
	str_shell_quote(&w->option, path);
	buf_str(&w->under, shape_policy.fields[POLICY_EXECUTABLE].path);
	buf_str(&w->yaml, "- ");
	json_quote(&w->yaml, path, strlen(path));
}

/* Was what the host has there meant, although a call has a /tmp and a home of its own?  A program that
 * goes on without it, or makes the directory first, did not mean that. */
static bool denied_of_host(const struct judge *j, const struct seen_event *e, const char *path,
			   enum seen_want want)
{
	const struct supervise_result *s = &j->report->result;
	const struct plan_op *op;

	return reach_of(j->in->plan, path, &op) == REACH_PRIVATE && op->kind == PLAN_OP_TMPFS &&
	       seen_is_write(want) && (size_t)(path_base(path) - path) > strlen(op->path) + 1 &&
	       (e->cause != SEEN_CAUSE_NONE || s->exit_code != 0 || s->signal != 0);
}

/* One entry per path and access, however it was asked for. */
static bool denied_merge(struct report *report, const struct denied *d, const struct seen_event *e)
{
	for (size_t i = 0; i < report->n_denied; i++) {
		struct denied *other = &report->denied[i];

		if (strcmp(other->target, d->target) != 0 ||
		    strcmp(other->access, d->access) != 0 || strcmp(other->kind, d->kind) != 0)
			continue;
		other->count += e->count;
		other->is_look &= d->is_look;
		other->is_inferred &= e->cause != SEEN_CAUSE_NONE;
		return true;
	}
	return false;
}

static int denied_entry(struct judge *j, const struct seen_event *e, const char *path,
			enum seen_want want)
{
	const struct plan_op *op;
	enum reach reach = reach_of(j->in->plan, path, &op);
	struct buf rule = BUF_INIT(DENIED_TEXT_MAX);
	AUTO(why_done) struct why w = {0};
	AUTO_FREE char *target = strdup(path);
	AUTO_FREE char *grant = NULL;
	bool of_host = denied_of_host(j, e, path, want);
	struct denied d;
	int r;

	if (!target)
		return cordon_nomem(j->err);
	/* A path that nobody can follow (links in a circle) was not denied by us. */
	r = denied_ask(j, path, seen_is_write(want), of_host, &w);
	if (r < 0)
		return r == CORDON_E_NOMEM ? cordon_nomem(j->err) : 0;
	if (want == SEEN_EXEC && op && op->is_noexec)
		denied_by_wx(j, op, path, &w);
	else if (w.decision == WHY_ALLOW && (reach == REACH_PROTECTED || reach == REACH_DENIED))
		denied_by_step(op, &w);
	else if (w.decision == WHY_ALLOW)
		return 0; /* ordinary permissions of files, or it came and went meanwhile */
	if (want != SEEN_EXEC || !op || !op->is_noexec)
		r = denied_remedy(j, path, want, of_host, &w, &grant);
	denied_rule(j, &w, &rule);
	if (r == 0 && (buf_error(&rule) < 0 || buf_error(&w.remedy) < 0 ||
		       buf_error(&w.option) < 0 || buf_error(&w.yaml) < 0))
		r = cordon_nomem(j->err);
	if (r == 0) {
		const char *kind = str_starts(buf_cstr(&w.option), "--allow-socket") ? "socket"
				   : str_starts(buf_cstr(&w.option), "--device")     ? "device"
										     : "path";

		d = denied_of(kind, target, &rule, &w);
		(void)snprintf(d.access, sizeof(d.access), "%s", denied_access[want]);
		d.is_look = want == SEEN_LOOK;
		d.grant = grant;
		if (!denied_merge(j->report, &d, e))
			r = denied_add(j, e, &d);
	}
	buf_done(&rule);
	return r;
}

static int denied_path(struct judge *j, const struct seen_event *e)
{
	AUTO_FREE char *path = NULL;
	enum seen_want want = e->want;
	const struct plan_op *op;
	struct stat st;
	enum reach reach;
	bool exists;

	if (path_join(j->in->workspace, e->text, &path) < 0)
		return 0; /* too long to be one */
	exists = fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
	reach = reach_of(j->in->plan, path, &op);
	if (e->cause != SEEN_CAUSE_NONE) {
		if (!denied_guess(e, reach, op, exists ? &st : NULL, &want))
			return 0;
	} else if (e->kind == SEEN_SOCKET) {
		want = SEEN_READ;
		if (!exists || !S_ISSOCK(st.st_mode) || reach == REACH_WRITE)
			return 0;
	}
	/* What a call made for itself can be meant only by who executes it. */
	if (!e->is_refused && !exists && !(want == SEEN_EXEC && op && op->is_noexec)) {
		AUTO_FREE char *above = strdup(path);

		if (!above)
			return cordon_nomem(j->err);
		if (!seen_is_write(want) || strcmp(path, "/") == 0)
			return 0;
		/* Where the directory is not there either it would have failed anyway. */
		above[path_base(above) - above - (path_base(above) - above > 1)] = '\0';
		if (fstatat(AT_FDCWD, above, &st, AT_NO_AUTOMOUNT) < 0)
			return 0;
	}
	return denied_entry(j, e, path, want);
}

static int denied_replace(char **to, const char *from)
{
	char *copy = from ? strdup(from) : NULL;

	if (from && !copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

/* What is read below something that is to be written needs no grant of its own; it would stand in the way
 * of removing it. */
static int denied_join(struct report *report)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < report->n_denied; i++)
		for (size_t k = 0; r == 0 && k < report->n_denied; k++) {
			struct denied *d = &report->denied[i];
			const struct denied *wide = &report->denied[k];

			if (i == k || strcmp(d->kind, "path") != 0 || !d->grant ||
			    strcmp(wide->access, "write") != 0 || !wide->grant ||
			    !path_is_within(d->grant, wide->grant) ||
			    (strcmp(d->grant, wide->grant) == 0 && strcmp(d->access, "write") == 0))
				continue;
			r = denied_replace(&d->grant, wide->grant);
			if (r == 0)
				r = denied_replace(&d->remedy, wide->remedy);
			if (r == 0)
				r = denied_replace(&d->under, wide->under);
			if (r == 0)
				r = denied_replace(&d->yaml, wide->yaml);
		}
	return r;
}

int denied_judge(const struct denied_input *in, struct report *report, struct cordon_error *err)
{
	struct judge j = {
		.in = in,
		.context = {.workspace = in->workspace, .home = in->home},
		.report = report,
		.err = err,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < report->seen.n; i++) {
		const struct seen_event *e = &report->seen.events[i];

		switch (e->kind) {
		case SEEN_SYSCALL:
			r = denied_syscall(&j, e);
			break;
		case SEEN_HOST:
		case SEEN_NAME:
			r = denied_host(&j, e);
			break;
		case SEEN_PATH:
		case SEEN_SOCKET:
			r = denied_path(&j, e);
			break;
		case SEEN_LIMIT:
			r = denied_limit(&j, e);
			break;
		case SEEN_USED:
		case SEEN_OPENED:
		case SEEN_KIND_COUNT:
			break;
		}
	}
	if (r == 0 && denied_join(report) < 0)
		r = cordon_nomem(err);
	return r;
}
