/* SPDX-License-Identifier: Apache-2.0 */
/* See image.h.  A head of fixed size, then strings, each with its NUL: directory, rules, words, variables, covers. */
#include "backend/launch/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_MAGIC 0x636f7264u

struct image_head {
	uint32_t magic;
	uint32_t bytes; /* of strings */
	uint32_t n_rules;
	uint32_t n_argv;
	uint32_t n_envp;
	uint32_t n_covered;
	uint32_t has_cwd;
	uint32_t keeps_group;
	uint32_t serves;
	uint32_t has_terminal;
	bool streams[3]; /* of the terminal */
	uint32_t has_open_files;
	uint64_t open_files;
	uint32_t separates_exec;
	uint32_t has_processes; /* held by RLIMIT_NPROC */
	uint64_t processes;
	struct launch_setting setting;
	struct seccomp_program filter;
	struct seccomp_program denied;
};

/* The next string of what is left; NULL when there is none. */
static char *image_next(char **at, const char *end)
{
	char *s = *at;
	char *nul = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

static void image_add(struct buf *out, const char *s)
{
	buf_add(out, s, strlen(s) + 1);
}

static uint32_t image_count(char *const *v)
{
	uint32_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

int launch_image_write(const struct view_program *p, const struct seccomp_program *filter,
		       const struct seccomp_program *denied, const struct launch_setting *setting,
		       const struct strv *covered, struct buf *out)
{
	const struct plan *plan = p->plan;
	struct image_head head = {
		.magic = IMAGE_MAGIC,
		.n_rules = (uint32_t)p->n_rules,
		.n_argv = image_count(plan->argv),
		.n_envp = image_count(plan->envp),
		.n_covered = covered ? (uint32_t)covered->n : 0,
		.has_cwd = plan->cwd != NULL,
		.keeps_group = plan->keeps_group,
		.serves = plan->serves,
		.has_open_files = plan->max_open_files.is_given,
		.open_files = plan->max_open_files.value,
		.separates_exec = plan->separates_exec,
		.has_processes = plan_pids_by_user(plan),
		.processes = plan->max_processes.value,
		.setting = *setting,
		.filter = *filter,
		.denied = *denied,
	};

	if (plan->terminal) {
		head.has_terminal = 1;
		memcpy(head.streams, plan->terminal->streams, sizeof(head.streams));
	}
	buf_add(out, (const char *)&head, sizeof(head));
	image_add(out, plan->cwd ? plan->cwd : "");
	for (size_t i = 0; i < p->n_rules; i++) {
		buf_char(out, (char)('0' + p->rules[i].access));
		image_add(out, p->rules[i].path);
	}
	for (size_t i = 0; i < head.n_argv; i++)
		image_add(out, plan->argv[i]);
	for (size_t i = 0; i < head.n_envp; i++)
		image_add(out, plan->envp[i]);
	for (size_t i = 0; i < head.n_covered; i++)
		image_add(out, covered->v[i]);
	if (buf_error(out) < 0)
		return buf_error(out);
	head.bytes = (uint32_t)(out->len - sizeof(head)); /* the buffer has a ceiling */
	memcpy(out->data, &head, sizeof(head));
	return 0;
}

static int image_vector(char **at, const char *end, uint32_t n, char ***ret)
{
	char **v = calloc((size_t)n + 1, sizeof(*v));

	*ret = v;
	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!(v[i] = image_next(at, end)))
			return -EINVAL;
	return 0;
}

static int image_rules(char **at, const char *end, uint32_t n, struct view_program *ret)
{
	ret->rules = calloc((size_t)n + 1, sizeof(*ret->rules));
	ret->open_rules = calloc((size_t)n + 1, sizeof(*ret->open_rules));
	if (!ret->rules || !ret->open_rules)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *s = image_next(at, end);

		if (!s || s[0] < '0' || s[0] >= '0' + LANDLOCK_ACCESS_COUNT)
			return -EINVAL;
		ret->rules[i] = (struct view_rule){
			.path = s + 1,
			.access = (enum landlock_access)(s[0] - '0'),
		};
	}
	ret->n_rules = n;
	return 0;
}

int launch_image_read(const char *data, size_t len, struct launch_call *ret)
{
	struct image_head head;
	char **argv = NULL;
	char **envp = NULL;
	char **covered = NULL;
	char *at =
		(char *)(uintptr_t)data + sizeof(head); /* argv wants it writable; nobody writes */
	const char *end = data + len;
	const char *cwd;
	int r;

	*ret = (struct launch_call){0};
	if (len < sizeof(head))
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	/* No string is shorter than its NUL: so no count can ask for more memory than was sent. */
	if (head.magic != IMAGE_MAGIC || head.bytes != len - sizeof(head) ||
	    (head.n_argv == 0) != (head.serves != 0) || head.n_covered % 2 != 0 ||
	    (uint64_t)head.n_rules + head.n_argv + head.n_envp + head.n_covered >= head.bytes ||
	    head.filter.len > SECCOMP_INSNS_MAX || head.denied.len > SECCOMP_INSNS_MAX)
		return -EINVAL;
	cwd = image_next(&at, end);
	r = cwd ? image_rules(&at, end, head.n_rules, &ret->program) : -EINVAL;
	if (r == 0)
		r = image_vector(&at, end, head.n_argv, &argv);
	ret->plan.argv = argv;
	if (r == 0)
		r = image_vector(&at, end, head.n_envp, &envp);
	ret->plan.envp = envp;
	if (r == 0)
		r = image_vector(&at, end, head.n_covered, &covered);
	ret->covered = covered;
	ret->plan.cwd = head.has_cwd ? cwd : NULL;
	ret->plan.keeps_group = head.keeps_group;
	ret->plan.serves = head.serves;
	if (head.has_terminal) {
		memcpy(ret->terminal.streams, head.streams, sizeof(head.streams));
		ret->plan.terminal = &ret->terminal;
	}
	if (head.has_open_files)
		ret->plan.max_open_files = PLAN_LIMIT(head.open_files);
	if (head.has_processes) {
		ret->plan.max_processes = PLAN_LIMIT(head.processes);
		ret->plan.by_rlimit = GUARANTEE_BIT(PIDS);
	}
	ret->plan.stdin_fd = LAUNCH_FD_STDIN;
	ret->plan.stdout_fd = LAUNCH_FD_STDOUT;
	ret->plan.stderr_fd = LAUNCH_FD_STDERR;
	ret->program.plan = &ret->plan;
	ret->plan.separates_exec = head.separates_exec;
	ret->filter = head.filter;
	ret->denied = head.denied;
	ret->setting = head.setting;
	return r == 0 && at != end ? -EINVAL : r;
}

void launch_call_done(struct launch_call *c)
{
	free((void *)(uintptr_t)c->plan.argv);
	free((void *)(uintptr_t)c->plan.envp);
	free((void *)(uintptr_t)c->covered);
	free(c->program.rules);
	free(c->program.open_rules);
	*c = (struct launch_call){0};
}
