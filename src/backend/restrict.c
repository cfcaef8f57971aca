/* SPDX-License-Identifier: Apache-2.0 */
/* See restrict.h. */
#include "backend/restrict.h"

#include "backend/confine/self.h"
#include "backend/confine/calls.h"
#include "base/clock.h"
#include "base/path.h"
#include "net/hostrule.h"
#include "workspace/system.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define RESTRICT_EVENT_BYTES (1 << 20)

void restrict_init(struct plan *plan, struct restrict_room *room)
{
	*room = (struct restrict_room){0};
	*plan = (struct plan){
		.net = PLAN_NET_NONE,
		.seals_unix = true,
		.separates_exec = true,
		.room = room,
	};
}

void restrict_done(struct restrict_room *room)
{
	free(room->ops);
	strv_done(&room->strings);
	strv_done(&room->events);
	strv_done(&room->saved);
	free(room->spans);
	*room = (struct restrict_room){0};
}

int restrict_note(struct restrict_room *room, const char *event, const char *text,
		  const struct cordon_error *err)
{
	struct buf b = BUF_INIT(RESTRICT_EVENT_BYTES);
	struct json j = JSON_INIT(&b);
	char stamp[CLOCK_STAMP_LEN];
	int r;

	if (room->events.n >= RESTRICT_EVENTS_MAX)
		return -E2BIG;
	clock_stamp(stamp);
	json_object(&j, NULL);
	json_str(&j, "time", stamp);
	json_str(&j, "event", event);
	json_str(&j, "result", err && err->code ? err->message : "ok");
	if (text && *text)
		buf_printf(&b, ",%s", text);
	json_end_object(&j);
	r = buf_error(&b);
	if (r == 0)
		r = strv_add(&room->events, buf_cstr(&b));
	buf_done(&b);
	return r;
}

/* "name":["a","b"] */
static void restrict_list(struct buf *b, const char *name, const struct strv *list)
{
	buf_printf(b, "%s\"%s\":[", b->len ? "," : "", name);
	for (size_t i = 0; list && i < list->n; i++) {
		buf_str(b, i ? "," : "");
		json_quote(b, list->v[i], strlen(list->v[i]));
	}
	buf_char(b, ']');
}

/* Notes how an operation ended; what cannot be noted is not done. */
static int restrict_end(struct plan *plan, const char *event, struct buf *text, int r,
			struct cordon_error *err)
{
	int n = buf_error(text);

	if (n == 0 && plan->room)
		n = restrict_note(plan->room, event, buf_cstr(text), r < 0 ? err : NULL);
	buf_done(text);
	return r < 0 || n == 0 ? r : cordon_fail_leaf(err, n, "note '%s'", event);
}

static int restrict_begin(const struct plan *plan, struct cordon_error *err)
{
	if (!plan->room)
		return cordon_fail(err, CORDON_E_INTERNAL, "a plan without room for restrictions");
	if (plan->room->is_applied)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "the restrictions are in force already"),
				   "restrict first, apply last; nothing can be changed then");
	return 0;
}

static int restrict_add(struct plan *plan, struct plan_op op, struct cordon_error *err)
{
	struct restrict_room *room = plan->room;
	void *ops = room->ops;

	if (mem_grow(&ops, &room->cap, room->n + 1, sizeof(*room->ops), RESTRICT_PATHS_MAX) < 0)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d paths", RESTRICT_PATHS_MAX);
	room->ops = ops;
	if (strv_add(&room->strings, op.path) < 0)
		return cordon_nomem(err);
	op.path = room->strings.v[room->strings.n - 1];
	room->ops[room->n++] = op;
	return 0;
}

static int restrict_add_list(struct plan *plan, const struct strv *list, struct plan_op op,
			     struct cordon_error *err)
{
	for (size_t i = 0; list && i < list->n; i++) {
		AUTO_FREE char *real = NULL;
		int r;

		if (list->v[i][0] != '/')
			return cordon_fail(err, CORDON_E_INVALID, "'%.200s' is not absolute",
					   list->v[i]);
		real = realpath(list->v[i], NULL);
		if (!real)
			return cordon_fail_errno(err, errno, "'%.200s'", list->v[i]);
		op.path = real;
		r = restrict_add(plan, op, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int restrict_add_system(struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SYSTEM_DIRS; i++) {
		struct stat st;

		if (stat(system_dirs[i], &st) == 0)
			r = restrict_add(plan,
					 (struct plan_op){.kind = PLAN_OP_SYSTEM,
							  .path = system_dirs[i]},
					 err);
	}
	if (r == 0)
		r = restrict_add(plan, (struct plan_op){.kind = PLAN_OP_DEV, .path = "/dev"}, err);
	if (r == 0)
		r = restrict_add(plan, (struct plan_op){.kind = PLAN_OP_PROC, .path = "/proc"},
				 err);
	return r;
}

/* What lies in an exempt path is exempt. */
static void restrict_exempt(struct restrict_room *room)
{
	for (size_t i = 0; i < room->n; i++)
		for (size_t k = 0; room->ops[i].is_noexec && k < room->n; k++)
			if (room->ops[k].kind == PLAN_OP_BIND_RW && !room->ops[k].is_noexec &&
			    path_is_within(room->ops[i].path, room->ops[k].path))
				room->ops[i].is_noexec = false;
}

int restrict_filesystem(struct plan *plan, const struct strv *writable, const struct strv *readable,
			const struct strv *executable_writable, struct cordon_error *err)
{
	struct buf text = BUF_INIT(RESTRICT_EVENT_BYTES);
	int r = restrict_begin(plan, err);

	restrict_list(&text, "writable", writable);
	restrict_list(&text, "readable", readable);
	restrict_list(&text, "executable_writable", executable_writable);
	if (r < 0)
		return restrict_end(plan, "restrict_filesystem", &text, r, err);
	plan->room->n = 0;
	r = restrict_add_system(plan, err);
	if (r == 0)
		r = restrict_add_list(plan, readable, (struct plan_op){.kind = PLAN_OP_BIND_RO},
				      err);
	if (r == 0)
		r = restrict_add_list(plan, writable,
				      (struct plan_op){.kind = PLAN_OP_BIND_RW, .is_noexec = true},
				      err);
	if (r == 0)
		r = restrict_add_list(plan, executable_writable,
				      (struct plan_op){.kind = PLAN_OP_BIND_RW}, err);
	restrict_exempt(plan->room);
	if (r < 0)
		plan->room->n = 0; /* half a list grants nothing */
	plan->ops = plan->room->ops;
	plan->op_count = plan->room->n;
	return restrict_end(plan, "restrict_filesystem", &text, r, err);
}

/* Every entry must be a rule that the proxy can hold: one that is not understood grants nothing to anybody. */
static int restrict_hosts(const struct strv *allow, struct cordon_error *err)
{
	struct hostrule rule;
	int r = 0;

	for (size_t i = 0; r == 0 && i < allow->n; i++)
		r = hostrule_parse(allow->v[i], strlen(allow->v[i]), &rule, err);
	return r;
}

int restrict_network(struct plan *plan, const struct strv *allow, struct cordon_error *err)
{
	struct buf text = BUF_INIT(RESTRICT_EVENT_BYTES);
	bool is_all = allow && allow->n == 1 && strcmp(allow->v[0], "*") == 0;
	int r = restrict_begin(plan, err);

	restrict_list(&text, "allow", allow);
	if (r == 0) {
		plan->net = is_all ? PLAN_NET_HOST : PLAN_NET_NONE;
		plan->seals_unix = !is_all;
	}
	if (r == 0 && allow && allow->n > 0 && !is_all) {
		r = restrict_hosts(allow, err);
		if (r == 0)
			plan->net = PLAN_NET_PROXY;
	}
	return restrict_end(plan, "restrict_network", &text, r, err);
}

static int restrict_complement(const struct strv *allowed, struct callset *ret,
			       struct cordon_error *err)
{
	struct callset keep = {0};
	struct callset all = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && allowed && i < allowed->n; i++) {
		r = seccomp_callset_add(&keep, allowed->v[i]);
		if (r == -EINVAL)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "'%.100s' is not a system call",
						       allowed->v[i]),
					   "a name as in syscalls(2), or a set: " CALLNAME_SETS);
	}
	for (size_t i = 0; r == 0 && callname_set_at(i); i++)
		r = seccomp_callset_add(&all, callname_set_at(i));
	if (r < 0)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "there is no table of system calls for this architecture");
	for (size_t i = 0; i < ARRAY_LEN(all.bits); i++)
		ret->bits[i] = all.bits[i] & ~keep.bits[i];
	return 0;
}

int restrict_syscalls(struct plan *plan, const struct strv *allowed, struct cordon_error *err)
{
	struct buf text = BUF_INIT(RESTRICT_EVENT_BYTES);
	int r = restrict_begin(plan, err);

	restrict_list(&text, "allowed", allowed);
	if (r == 0)
		r = restrict_complement(allowed, &plan->room->denied_calls, err);
	if (r == 0)
		plan->denied_calls = &plan->room->denied_calls;
	return restrict_end(plan, "restrict_syscalls", &text, r, err);
}

int restrict_apply(const struct plan *plan, struct cordon_error *err)
{
	struct restrict_room *room = plan->room;
	struct buf text = BUF_INIT(RESTRICT_EVENT_BYTES);
	struct cordon_error own = {0};
	int r = restrict_begin(plan, &own);
	int n;

	if (r == 0 && room->events.n + 1 >= RESTRICT_EVENTS_MAX)
		r = cordon_fail(&own, CORDON_E_LIMIT, "more than %d events", RESTRICT_EVENTS_MAX);
	if (r == 0)
		r = self_apply(plan, &text, &own);
	if (r == 0)
		room->is_applied = true;
	n = room ? restrict_note(room, "apply_restrictions", buf_cstr(&text), &own) : 0;
	buf_done(&text);
	if (r < 0 && err)
		*err = own;
	/* In force is in force: that it could not be noted is an error all the same. */
	return r < 0 || n == 0 ? r : cordon_fail_leaf(err, n, "note that they are in force");
}

int restrict_audit_log(const struct plan *plan, struct json *out, struct cordon_error *err)
{
	(void)err;
	for (size_t i = 0; plan->room && i < plan->room->events.n; i++)
		json_raw(out, NULL, plan->room->events.v[i], strlen(plan->room->events.v[i]));
	return 0;
}

static int restrict_checkpoint(const struct plan *plan, struct checkpoint *ret,
			       struct cordon_error *err)
{
	static const struct strv none;
	const struct restrict_room *room = plan->room;

	if (room && room->is_applied)
		return cordon_fail(err, CORDON_E_INVALID,
				   "this process is confined and cannot reach what was saved");
	*ret = (struct checkpoint){
		.owner = "adapter",
		.paths = room ? &room->saved : &none,
		.spans = room ? room->spans : NULL,
		.n_spans = room ? room->n_spans : 0,
	};
	return 0;
}

int restrict_snapshot(const struct plan *plan, char **ret_name, struct cordon_error *err)
{
	struct checkpoint c;
	int r = restrict_checkpoint(plan, &c, err);

	if (r == 0)
		r = checkpoint_take(&c, ret_name, err);
	if (r == 0 && plan->room)
		plan->room->has_snapshot = true;
	return r;
}

int restrict_rollback(const struct plan *plan, const char *name, struct cordon_error *err)
{
	struct checkpoint c;
	int r = restrict_checkpoint(plan, &c, err);

	return r < 0 ? r : checkpoint_back(&c, name, err);
}

int restrict_span(struct restrict_room *room, struct checkpoint_span **ret)
{
	int r;

	*ret = NULL;
	if (!room->has_snapshot)
		return 0;
	r = mem_grow((void **)&room->spans, &room->span_cap, room->n_spans + 1,
		     sizeof(*room->spans), RESTRICT_SPANS_MAX);
	if (r < 0)
		return r;
	*ret = &room->spans[room->n_spans++];
	checkpoint_span_begin(*ret);
	return 0;
}
