/* SPDX-License-Identifier: Apache-2.0 */
/* See parcel.h.  Numbers as they lie in memory; a string is its length plus one, its bytes and a NUL; NULL is 0. */
#include "backend/container/parcel.h"

#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define PARCEL_MAGIC UINT64_C(0x636f72646f6e7031)

/* Writes to out, or reads from what is between at and end. */
struct codec {
	struct buf *out;
	const char *at;
	const char *end;
	int error;
};

static void codec_bytes(struct codec *c, void *data, size_t len)
{
	if (c->out) {
		buf_add(c->out, data, len);
	} else if (c->error == 0 && (size_t)(c->end - c->at) >= len) {
		memcpy(data, c->at, len);
		c->at += len;
	} else {
		memset(data, 0, len);
		c->error = c->error ? c->error : -EINVAL;
	}
}

/* Of a member of any type without pointers. */
#define CODEC(c, member) codec_bytes(c, &(member), sizeof(member))

/* A flag is 0 or 1, whatever came. */
static void codec_flag(struct codec *c, bool *flag)
{
	uint8_t byte = *flag;

	CODEC(c, byte);
	if (byte > 1)
		c->error = c->error ? c->error : -EINVAL;
	*flag = byte == 1;
}

static void codec_limit(struct codec *c, struct plan_limit *limit)
{
	codec_flag(c, &limit->is_given);
	CODEC(c, limit->value);
}

/* len: of what may hold NUL bytes; 0: up to its NUL. */
static void codec_string(struct codec *c, const char **s, size_t len)
{
	uint64_t size = c->out && *s ? (len ? len : strlen(*s)) + 1 : 0;

	CODEC(c, size);
	if (c->out) {
		if (size > 0) {
			buf_add(c->out, *s, size - 1);
			buf_char(c->out, '\0');
		}
		return;
	}
	*s = NULL;
	if (c->error || size == 0)
		return;
	if (size > (size_t)(c->end - c->at) || c->at[size - 1] != '\0') {
		c->error = -EINVAL;
		return;
	}
	*s = c->at;
	c->at += size;
}

/* The number of elements that follow: each takes a byte at least, so none asks for more memory than was sent. */
static size_t codec_count(struct codec *c, size_t n)
{
	uint64_t count = n;

	CODEC(c, count);
	if (!c->out && (c->error || count > (size_t)(c->end - c->at))) {
		c->error = c->error ? c->error : -EINVAL;
		return 0;
	}
	return (size_t)count;
}

/* Room for n elements of a reader, and one more. */
static void *codec_room(struct codec *c, size_t n, size_t size)
{
	void *room = c->error ? NULL : calloc(n + 1, size);

	if (!room && !c->error)
		c->error = -ENOMEM;
	return room;
}

static void codec_words(struct codec *c, char *const *words, char ***ret)
{
	size_t n = 0;

	while (c->out && words && words[n])
		n++;
	n = codec_count(c, n);
	if (!c->out)
		*ret = codec_room(c, n, sizeof(**ret));
	for (size_t i = 0; i < n && !c->error; i++) {
		const char *s = c->out ? words[i] : NULL;

		codec_string(c, &s, 0);
		if (!c->out && !s)
			c->error = c->error ? c->error : -EINVAL;
		if (!c->out)
			(*ret)[i] =
				(char *)(uintptr_t)s; /* argv wants it writable; nobody writes */
	}
}

static void codec_op(struct codec *c, struct plan_op *op)
{
	uint32_t kind = op->kind;
	uint64_t text_len = op->text_len;

	CODEC(c, kind);
	if (kind >= PLAN_OP_COUNT)
		c->error = c->error ? c->error : -EINVAL;
	op->kind = (enum plan_op_kind)kind;
	codec_string(c, &op->path, 0);
	CODEC(c, text_len);
	codec_string(c, &op->text, op->text_len);
	op->text_len = (size_t)text_len;
	codec_string(c, &op->except, 0);
	CODEC(c, op->mode);
	CODEC(c, op->size_bytes);
	codec_flag(c, &op->is_dir);
	codec_flag(c, &op->is_looked_for);
	codec_flag(c, &op->is_missing);
	codec_flag(c, &op->is_standard);
	codec_flag(c, &op->is_noexec);
	codec_flag(c, &op->is_sealed);
	codec_flag(c, &op->is_public_only);
	if (!c->out && !c->error && !op->path)
		c->error = -EINVAL;
}
static_assert(sizeof(struct plan_op) == 64, "a new member of an op is written and read here");

static void codec_terminal(struct codec *c, struct parcel *p)
{
	bool has = p->plan.terminal != NULL;

	codec_flag(c, &has);
	if (!has)
		return;
	if (c->out)
		p->terminal = *p->plan.terminal;
	CODEC(c, p->terminal.settings);
	CODEC(c, p->terminal.size);
	for (size_t i = 0; i < ARRAY_LEN(p->terminal.streams); i++)
		codec_flag(c, &p->terminal.streams[i]);
	codec_flag(c, &p->terminal.is_foreground);
	p->plan.terminal = &p->terminal;
}

static void codec_lists(struct codec *c, struct parcel *p)
{
	struct plan *plan = &p->plan;
	bool has_denied = plan->denied_calls != NULL;

	codec_words(c, plan->argv, &p->argv);
	codec_words(c, plan->envp, &p->envp);
	plan->op_count = codec_count(c, plan->op_count);
	if (!c->out)
		plan->ops = p->ops = codec_room(c, plan->op_count, sizeof(*p->ops));
	for (size_t i = 0; i < plan->op_count && !c->error; i++) {
		struct plan_op op = c->out ? plan->ops[i] : (struct plan_op){0};

		codec_op(c, &op);
		if (!c->out)
			p->ops[i] = op;
	}
	plan->n_ports = codec_count(c, plan->n_ports);
	if (!c->out)
		plan->ports = p->ports = codec_room(c, plan->n_ports, sizeof(*p->ports));
	for (size_t i = 0; i < plan->n_ports && !c->error; i++) {
		uint16_t port = c->out ? plan->ports[i] : 0;

		CODEC(c, port);
		if (!c->out)
			p->ports[i] = port;
	}
	/* Where the host listens for them is not their business inside. */
	plan->n_publish = codec_count(c, plan->n_publish);
	if (!c->out)
		plan->publish = p->publish = codec_room(c, plan->n_publish, sizeof(*p->publish));
	for (size_t i = 0; i < plan->n_publish && !c->error; i++) {
		struct plan_publish publish = c->out ? plan->publish[i] : (struct plan_publish){0};

		codec_string(c, &publish.name, 0);
		CODEC(c, publish.port);
		if (!c->out)
			p->publish[i] = publish;
	}
	codec_flag(c, &has_denied);
	if (has_denied) {
		if (c->out)
			p->denied_calls = *plan->denied_calls;
		CODEC(c, p->denied_calls);
		plan->denied_calls = &p->denied_calls;
	}
}

static void codec_marks(struct codec *c, struct parcel *p)
{
	const struct mark *given = p->marks;

	p->n_marks = codec_count(c, p->n_marks);
	if (!c->out)
		p->marks = codec_room(c, p->n_marks, sizeof(*p->marks));
	for (size_t i = 0; i < p->n_marks && !c->error; i++) {
		struct mark mark = c->out ? given[i] : (struct mark){0};

		codec_string(c, &mark.target, 0);
		CODEC(c, mark.dev);
		CODEC(c, mark.ino);
		if (!c->out && !c->error && !mark.target)
			c->error = -EINVAL;
		if (!c->out)
			p->marks[i] = mark;
	}
}

/* Descriptors, cgroup, seen, room and entry stay where they are. */
static void codec_plan(struct codec *c, struct parcel *p)
{
	struct plan *plan = &p->plan;
	uint64_t magic = PARCEL_MAGIC;
	uint32_t net = plan->net;
	uint32_t watch = plan->watch;

	CODEC(c, magic);
	if (magic != PARCEL_MAGIC)
		c->error = c->error ? c->error : -EINVAL;
	codec_string(c, &plan->id, 0);
	codec_string(c, &plan->cwd, 0);
	codec_flag(c, &plan->keeps_group);
	codec_terminal(c, p);
	codec_limit(c, &plan->memory_bytes);
	codec_limit(c, &plan->cpu_shares);
	codec_limit(c, &plan->cpu_percent);
	codec_limit(c, &plan->max_processes);
	codec_limit(c, &plan->max_open_files);
	CODEC(c, plan->by_rlimit);
	CODEC(c, net);
	plan->net = (enum plan_net)net;
	codec_flag(c, &plan->seals_unix);
	codec_flag(c, &plan->separates_exec);
	codec_flag(c, &plan->allows_ptrace);
	codec_string(c, &plan->scratch_dir, 0);
	codec_string(c, &plan->runtime, 0);
	codec_string(c, &plan->image, 0);
	codec_string(c, &plan->aside, 0);
	CODEC(c, watch);
	plan->watch = (enum plan_watch)watch;
	codec_flag(c, &plan->serves);
	CODEC(c, plan->needs);
	if (net >= PLAN_NET_COUNT || watch >= PLAN_WATCH_COUNT)
		c->error = c->error ? c->error : -EINVAL;
	codec_lists(c, p);
	codec_marks(c, p);
	CODEC(c, p->mask);
}

int parcel_write(const struct plan *plan, const struct marks *marks, mode_t mask, struct buf *out)
{
	struct parcel p = {.plan = *plan, .marks = marks->v, .n_marks = marks->n, .mask = mask};
	struct codec c = {.out = out};

	codec_plan(&c, &p);
	return c.error ? c.error : buf_error(out);
}

int parcel_read(const char *data, size_t len, struct parcel *ret)
{
	struct codec c = {.at = data, .end = data + len};

	*ret = (struct parcel){0};
	codec_plan(&c, ret);
	ret->plan.argv = ret->argv;
	ret->plan.envp = ret->envp;
	ret->plan.stdin_fd = ret->plan.stdout_fd = ret->plan.stderr_fd = -1;
	return c.error ? c.error : c.at != c.end ? -EINVAL : 0;
}

void parcel_done(struct parcel *p)
{
	free(p->argv);
	free(p->envp);
	free(p->ops);
	free(p->ports);
	free(p->publish);
	free(p->marks);
	*p = (struct parcel){0};
}
