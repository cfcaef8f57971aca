/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  The program is
 *
 *     load arch; not ours: kill
 *     load nr
 *     a binary tree of "nr >= K" over ranges of numbers with the same answer
 *     the answers, each once: a return, or a block that looks at arguments
 *
 * so every call costs about nine instructions, not one per row.  Since Linux 5.11 the kernel runs the
 * program once per number when it is installed and remembers those that are allowed whatever the arguments;
 * for them the filter costs a bit test.  It can only do so for programs that look at nothing but arch and
 * nr before they return, which is why argument checks are blocks of their own behind the tree.
 *
 * Foreign architectures are killed, not refused: their numbers mean other calls, a 32-bit program whose
 * exit() fails as well would spin, and nothing probes for them.  On x86_64 that is int 0x80 (i386) and the
 * numbers from bit 30 up (x32).  Number -1 is what a tracer writes to skip a call: ENOSYS, as the kernel.
 *
 * Arguments are compared by their low 32 bits, because the kernel takes int or unsigned int in each of the
 * calls looked at: ioctl's command with bit 32 set is still TIOCSTI.
 */
#include "backend/confine/seccomp_builder.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

#define SECCOMP_ARCH_INSNS 3   /* at the start: is it our architecture? */
#define NR_X32 0x40000000u     /* __X32_SYSCALL_BIT */
#define NR_SKIPPED 0xffffffffu /* -1 */

enum seccomp_when {
	SECCOMP_WHEN_ALWAYS,
	SECCOMP_WHEN_NO_PTRACE,
	SECCOMP_WHEN_NO_USERNS,
	SECCOMP_WHEN_NO_TAKING,
	SECCOMP_WHEN_HOST_IPC,
	SECCOMP_WHEN_HOST_PIDS,
	SECCOMP_WHEN_NO_MEMFD,
	SECCOMP_WHEN_NO_SET_ID,
	SECCOMP_WHEN_FILES,
	SECCOMP_WHEN_NO_LINK_ATTRIBUTES,
	SECCOMP_WHEN_GUARDS_FIRST,
	SECCOMP_WHEN_TELLS_CONNECT,
	SECCOMP_WHEN_TELLS_PATHS,
	SECCOMP_WHEN_WAITS_CONNECT,
	SECCOMP_WHEN_COUNT
};

static const struct seccomp_row seccomp_rows[] = {
#define SYSCALL(name, x86_64, generic, when, action, why)                                          \
	{#name, {x86_64, generic}, SECCOMP_WHEN_##when, SECCOMP_ACT_##action, why},
#include "backend/confine/syscalls.def"
};

/* Numbers that no kernel we know uses: a later one may, as 335 was filled after ten years. */
struct seccomp_hole {
	uint16_t first;
	uint16_t last;
};

struct seccomp_arch_info {
	const char *name;
	uint32_t audit_arch;
	uint8_t column; /* of struct seccomp_row.nr */
	bool has_x32;
	uint16_t newest; /* file_setattr, Linux 6.17 */
	struct seccomp_hole holes[2];
};

#ifndef AUDIT_ARCH_RISCV64
#define AUDIT_ARCH_RISCV64 (243 | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE)
#endif

static const struct seccomp_arch_info seccomp_arches[] = {
	[SECCOMP_X86_64] = {"x86_64", AUDIT_ARCH_X86_64, 0, true, 469, {{337, 423}, {1, 0}}},
	[SECCOMP_AARCH64] = {"aarch64", AUDIT_ARCH_AARCH64, 1, false, 469, {{244, 259}, {295, 423}}},
	[SECCOMP_RISCV64] = {"riscv64", AUDIT_ARCH_RISCV64, 1, false, 469, {{244, 257}, {295, 423}}},
};
_Static_assert(ARRAY_LEN(seccomp_arches) == SECCOMP_ARCH_COUNT, "one row per architecture");

void seccomp_emit(struct seccomp_builder *b, uint16_t code, uint32_t k, size_t jt, size_t jf)
{
	if (b->out->len >= SECCOMP_INSNS_MAX || jt > UINT8_MAX || jf > UINT8_MAX) {
		b->error = -E2BIG;
		return;
	}
	b->out->insns[b->out->len++] =
		(struct sock_filter){.code = code, .jt = (uint8_t)jt, .jf = (uint8_t)jf, .k = k};
}

void seccomp_return(struct seccomp_builder *b, uint32_t value)
{
	seccomp_emit(b, BPF_RET | BPF_K, value, 0, 0);
}

void seccomp_return_errno(struct seccomp_builder *b, int number)
{
	if (b->policy->reports_refused && number != ENOSYS)
		seccomp_return(b, SECCOMP_RET_USER_NOTIF);
	else
		seccomp_return(b, SECCOMP_RET_ERRNO | (uint32_t)number);
}

/* Every architecture of the table is little endian: the low half comes first. */
void seccomp_load_arg(struct seccomp_builder *b, unsigned arg, uint32_t mask)
{
	seccomp_emit(b, BPF_LD | BPF_W | BPF_ABS,
		     (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)), 0,
		     0);
	if (mask != 0xffffffffu)
		seccomp_emit(b, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
}

void seccomp_jump_equal(struct seccomp_builder *b, uint32_t value, size_t jt, size_t jf)
{
	seccomp_emit(b, BPF_JMP | BPF_JEQ | BPF_K, value, jt, jf);
}

static void seccomp_tree(struct seccomp_builder *b, size_t first, size_t last);

/* A branch of the instruction at node: a range of its own leads to its answer, which is not there yet and is
 * noted; several become a subtree, which follows. */
static void seccomp_branch(struct seccomp_builder *b, size_t node, bool is_jt, size_t first,
			   size_t last)
{
	size_t distance = b->out->len - node - 1;

	if (b->error < 0)
		return;
	if (last - first == 1) {
		b->answers[node][is_jt] = (uint8_t)(b->ranges[first].action + 1);
		return;
	}
	if (distance > UINT8_MAX) {
		b->error = -E2BIG;
		return;
	}
	if (is_jt)
		b->out->insns[node].jt = (uint8_t)distance;
	else
		b->out->insns[node].jf = (uint8_t)distance;
	seccomp_tree(b, first, last);
}

/* Ranges first..last-1, at least two.  Depth is the logarithm of RANGES_MAX. */
static void seccomp_tree(struct seccomp_builder *b, size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t node = b->out->len;

	seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, 0, 0);
	seccomp_branch(b, node, /* is_jt= */ false, first, middle);
	seccomp_branch(b, node, /* is_jt= */ true, middle, last);
}

/* Writes the answers that the tree needs and lets it point to them.  A conditional jump reaches 255
 * instructions, so they stand in the order in which the tree needs them first; a test builds every policy for every
 * architecture. */
static void seccomp_answers(struct seccomp_builder *b)
{
	size_t starts[SECCOMP_ACT_COUNT] = {
		0}; /* 0: not written; there the program looks at the architecture */
	size_t tree_end = b->out->len;

	for (size_t i = 0; i < tree_end * 2 && b->error == 0; i++) {
		const size_t node = i / 2;
		const bool is_jt = i % 2;
		const unsigned answer = b->answers[node][is_jt];
		size_t distance;

		if (answer == 0)
			continue;
		if (starts[answer - 1] == 0) {
			starts[answer - 1] = b->out->len;
			seccomp_answer(b, (enum seccomp_act)(answer - 1));
		}
		distance = starts[answer - 1] - node - 1;
		if (distance > UINT8_MAX)
			b->error = -E2BIG;
		else if (is_jt)
			b->out->insns[node].jt = (uint8_t)distance;
		else
			b->out->insns[node].jf = (uint8_t)distance;
	}
}

bool seccomp_row_holds(const struct seccomp_row *row, const struct seccomp_policy *p)
{
	switch ((enum seccomp_when)row->when) {
	case SECCOMP_WHEN_ALWAYS:
		return true;
	case SECCOMP_WHEN_NO_PTRACE:
		return !p->allows_ptrace;
	case SECCOMP_WHEN_NO_USERNS:
		return !p->allows_userns;
	case SECCOMP_WHEN_NO_TAKING:
		return !p->takes_descriptors;
	case SECCOMP_WHEN_HOST_IPC:
		return p->has_host_ipc;
	case SECCOMP_WHEN_HOST_PIDS:
		return p->has_host_pids;
	case SECCOMP_WHEN_NO_MEMFD:
		return p->denies_memfd;
	case SECCOMP_WHEN_NO_SET_ID:
		return p->denies_set_id;
	case SECCOMP_WHEN_FILES:
		return p->files != SECCOMP_FILES_KERNEL;
	case SECCOMP_WHEN_NO_LINK_ATTRIBUTES:
		return p->lacks_link_attributes;
	case SECCOMP_WHEN_GUARDS_FIRST:
		return p->guards_first;
	case SECCOMP_WHEN_TELLS_CONNECT:
		return p->tells_connect;
	case SECCOMP_WHEN_TELLS_PATHS:
		return p->tells_paths;
	case SECCOMP_WHEN_WAITS_CONNECT:
		return p->waits_connect;
	case SECCOMP_WHEN_COUNT:
		break;
	}
	return true;
}

static void seccomp_add_range(struct seccomp_builder *b, uint32_t first, uint8_t action)
{
	if (b->n && b->ranges[b->n - 1].action == action)
		return;
	b->ranges[b->n++] = (struct seccomp_range){first, action};
}

static void seccomp_make_ranges(struct seccomp_builder *b, enum seccomp_arch arch)
{
	const struct seccomp_arch_info *info = &seccomp_arches[arch];
	uint8_t actions[NR_TABLE] = {0};

	for (size_t i = 0; i < ARRAY_LEN(info->holes); i++)
		for (size_t nr = info->holes[i].first; nr <= info->holes[i].last; nr++)
			actions[nr] = SECCOMP_ACT_ENOSYS;
	for (size_t nr = info->newest + 1u; nr < NR_TABLE; nr++)
		actions[nr] = SECCOMP_ACT_ENOSYS;
	for (size_t i = 0; i < ARRAY_LEN(seccomp_rows); i++) {
		int nr = seccomp_row_nr(&seccomp_rows[i], arch);

		if (nr >= 0 && seccomp_row_holds(&seccomp_rows[i], b->policy))
			actions[nr] = seccomp_rows[i].action;
	}
	for (uint32_t nr = 0; nr < NR_TABLE; nr++)
		seccomp_add_range(b, nr, actions[nr]);
	if (info->has_x32)
		seccomp_add_range(b, NR_X32, SECCOMP_ACT_KILL);
	seccomp_add_range(b, NR_SKIPPED, SECCOMP_ACT_ENOSYS);
}

int seccomp_build_for(enum seccomp_arch arch, const struct seccomp_policy *p,
		      struct seccomp_program *ret)
{
	struct seccomp_program program = {0};
	struct seccomp_builder b = {.out = &program, .policy = p};

	if ((unsigned)arch >= SECCOMP_ARCH_COUNT)
		return -EINVAL;
	seccomp_make_ranges(&b, arch);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	seccomp_jump_equal(&b, seccomp_arches[arch].audit_arch, 1, 0);
	seccomp_return(&b, SECCOMP_RET_KILL_PROCESS);
	assert(b.error < 0 || program.len == SECCOMP_ARCH_INSNS);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	seccomp_tree(&b, 0, b.n);
	seccomp_answers(&b);
	if (b.error < 0)
		return b.error;
	*ret = program;
	return 0;
}

int seccomp_build(const struct seccomp_policy *p, struct seccomp_program *ret)
{
	enum seccomp_arch arch = seccomp_native_arch();

	return arch == SECCOMP_ARCH_COUNT ? -EOPNOTSUPP : seccomp_build_for(arch, p, ret);
}

int seccomp_callset_add(struct callset *s, const char *text)
{
	enum seccomp_arch arch = seccomp_native_arch();

	if (arch == SECCOMP_ARCH_COUNT)
		return -EOPNOTSUPP;
	return callset_add(s, seccomp_arches[arch].column, text);
}

const char *seccomp_call_name(int nr)
{
	enum seccomp_arch arch = seccomp_native_arch();
	const struct callname *c;

	for (size_t i = 0; arch != SECCOMP_ARCH_COUNT && (c = callname_at(i)); i++)
		if (c->nr[seccomp_arches[arch].column] == nr)
			return c->name;
	return NULL;
}

bool seccomp_text_has(const char *text, const char *name)
{
	struct callset all = {0}, one = {0};
	bool has = false;

	if (seccomp_callset_add(&all, text) < 0 || seccomp_callset_add(&one, name) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(all.bits); i++)
		has |= (all.bits[i] & one.bits[i]) != 0;
	return has;
}

/* The length of seccomp_denied_tree(). */
static size_t seccomp_denied_len(size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t lower;

	if (last - first == 1)
		return 1;
	lower = seccomp_denied_len(first, middle);
	return (lower > UINT8_MAX ? 2 : 1) + lower + seccomp_denied_len(middle, last);
}

/* Ranges first..last-1 as a tree whose leaves are the answers themselves.  There are as many as a list makes, so
 * the way over the lower half can be longer than a conditional jump reaches. */
static void seccomp_denied_tree(struct seccomp_builder *b, size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t lower;

	if (last - first == 1) {
		seccomp_answer(b, (enum seccomp_act)b->ranges[first].action);
		return;
	}
	lower = seccomp_denied_len(first, middle);
	if (lower > UINT8_MAX) {
		seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, 0, 1);
		seccomp_emit(b, BPF_JMP | BPF_JA, (uint32_t)lower, 0, 0);
	} else {
		seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, lower, 0);
	}
	seccomp_denied_tree(b, first, middle);
	seccomp_denied_tree(b, middle, last);
}

int seccomp_build_denied(const struct callset *denied, struct seccomp_program *ret)
{
	static const struct seccomp_policy silent = {0}; /* a second filter has no listener */
	struct seccomp_program program = {0};
	struct seccomp_builder b = {.out = &program, .policy = &silent};

	/* The architecture is the first filter's business: a foreign one has been killed by it. */
	for (unsigned nr = 0; nr < CALLSET_NUMBERS; nr++)
		seccomp_add_range(&b, nr,
				  callset_has(denied, nr) ? SECCOMP_ACT_EPERM : SECCOMP_ACT_ALLOW);
	seccomp_add_range(&b, CALLSET_NUMBERS, SECCOMP_ACT_ALLOW);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	seccomp_denied_tree(&b, 0, b.n);
	if (b.error < 0)
		return b.error;
	*ret = program;
	return 0;
}

/* The first filter's look at the architecture, the list, and then the first filter. */
int seccomp_join(const struct seccomp_program *denied, const struct seccomp_program *told,
		 struct seccomp_program *ret)
{
	size_t list = SECCOMP_ARCH_INSNS, rest = list + denied->len;
	struct seccomp_program p = {0};

	if (told->len < list || rest + told->len > SECCOMP_INSNS_MAX)
		return -E2BIG;
	memcpy(p.insns, told->insns, list * sizeof(p.insns[0]));
	memcpy(p.insns + list, denied->insns, denied->len * sizeof(p.insns[0]));
	memcpy(p.insns + rest, told->insns, told->len * sizeof(p.insns[0]));
	for (size_t i = list; i < rest; i++) {
		if (p.insns[i].code != (BPF_RET | BPF_K))
			continue;
		if (p.insns[i].k == SECCOMP_RET_ALLOW)
			p.insns[i] = (struct sock_filter){.code = BPF_JMP | BPF_JA,
							  .k = (uint32_t)(rest - i - 1)};
		else
			p.insns[i].k = SECCOMP_RET_USER_NOTIF;
	}
	p.len = (typeof(p.len))(rest + told->len);
	*ret = p;
	return 0;
}

enum seccomp_arch seccomp_native_arch(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	return SECCOMP_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__) && !defined(__ILP32__)
	return SECCOMP_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
	return SECCOMP_RISCV64;
#else
	return SECCOMP_ARCH_COUNT;
#endif
}

const char *seccomp_arch_name(enum seccomp_arch arch)
{
	return (unsigned)arch < SECCOMP_ARCH_COUNT ? seccomp_arches[arch].name : "unknown";
}

enum seccomp_arch seccomp_arch_find(const char *name)
{
	for (unsigned i = 0; i < SECCOMP_ARCH_COUNT; i++)
		if (strcmp(seccomp_arches[i].name, name) == 0)
			return (enum seccomp_arch)i;
	return SECCOMP_ARCH_COUNT;
}

const struct seccomp_row *seccomp_row(size_t i)
{
	return i < ARRAY_LEN(seccomp_rows) ? &seccomp_rows[i] : NULL;
}

int seccomp_row_nr(const struct seccomp_row *row, enum seccomp_arch arch)
{
	return row->nr[seccomp_arches[arch].column];
}

const struct seccomp_row *seccomp_row_of(int nr)
{
	enum seccomp_arch arch = seccomp_native_arch();

	for (size_t i = 0; nr >= 0 && arch != SECCOMP_ARCH_COUNT && i < ARRAY_LEN(seccomp_rows);
	     i++)
		if (seccomp_row_nr(&seccomp_rows[i], arch) == nr)
			return &seccomp_rows[i];
	return NULL;
}

const char *seccomp_row_action(const struct seccomp_row *row)
{
	if (row->action == SECCOMP_ACT_EPERM)
		return "EPERM";
	if (row->action == SECCOMP_ACT_ENOSYS)
		return "ENOSYS";
	if (row->action == SECCOMP_ACT_EOPNOTSUPP)
		return "EOPNOTSUPP";
	if (row->when == SECCOMP_WHEN_TELLS_CONNECT || row->when == SECCOMP_WHEN_TELLS_PATHS)
		return "told";
	return row->action == SECCOMP_ACT_NOTIFY ? "waits for an answer" : "by argument";
}

unsigned seccomp_newest(enum seccomp_arch arch)
{
	return seccomp_arches[arch].newest;
}
