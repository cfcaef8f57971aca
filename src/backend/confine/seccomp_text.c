/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter for people: what is refused and why, then the instructions.  Made from the program itself,
 * so that it shows what the kernel runs and not what the table meant.
 */
#include "backend/confine/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>

struct seccomp_left_out {
	const char *name;
	const char *why;
};

static const struct seccomp_left_out seccomp_left_out_rows[] = {
#define SYSCALL_LEFT_OUT(name, why) {#name, why},
#include "backend/confine/syscalls.def"
};

/* NULL when no row has the number. */
static const char *seccomp_name_of(enum seccomp_arch arch, uint32_t nr)
{
	const struct seccomp_row *row;

	for (size_t i = 0; (row = seccomp_row(i)); i++)
		if (seccomp_row_nr(row, arch) >= 0 && (uint32_t)seccomp_row_nr(row, arch) == nr)
			return row->name;
	return NULL;
}

static void seccomp_text_return(uint32_t value, struct buf *out)
{
	unsigned number = value & SECCOMP_RET_DATA;
	const char *name;

	switch (value & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		buf_str(out, "allow");
		return;
	case SECCOMP_RET_KILL_PROCESS:
		buf_str(out, "kill");
		return;
	case SECCOMP_RET_ERRNO:
		name = strerrorname_np((int)number);
		buf_printf(out, "errno %s", name ? name : "?");
		return;
	case SECCOMP_RET_USER_NOTIF:
		buf_str(out, "notify");
		return;
	default:
		buf_printf(out, "return 0x%x", value);
	}
}

static void seccomp_text_load(uint32_t offset, struct buf *out)
{
	if (offset == offsetof(struct seccomp_data, arch))
		buf_str(out, "load arch");
	else if (offset == offsetof(struct seccomp_data, nr))
		buf_str(out, "load nr");
	else
		buf_printf(out, "load arg%zu",
			   (offset - offsetof(struct seccomp_data, args)) / sizeof(uint64_t));
}

static void seccomp_text_insn(enum seccomp_arch arch, const struct sock_filter *insn, size_t at,
			      struct buf *out)
{
	const char *name;

	buf_printf(out, "%4zu  ", at);
	switch (insn->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		seccomp_text_load(insn->k, out);
		break;
	case BPF_ALU | BPF_AND | BPF_K:
		buf_printf(out, "and 0x%x", insn->k);
		break;
	case BPF_JMP | BPF_JA:
		buf_printf(out, "goto %zu", at + 1 + insn->k);
		break;
	case BPF_JMP | BPF_JEQ | BPF_K:
		buf_printf(out, "if == 0x%x goto %zu else %zu", insn->k, at + 1 + insn->jt,
			   at + 1 + insn->jf);
		break;
	case BPF_JMP | BPF_JGE | BPF_K: /* only numbers are compared so */
		name = seccomp_name_of(arch, insn->k);
		buf_printf(out, "if >= %u%s%s%s goto %zu else %zu", insn->k, name ? " (" : "",
			   name ? name : "", name ? ")" : "", at + 1 + insn->jt, at + 1 + insn->jf);
		break;
	case BPF_RET | BPF_K:
		seccomp_text_return(insn->k, out);
		break;
	default:
		buf_printf(out, "code 0x%x k 0x%x", insn->code, insn->k);
	}
	buf_char(out, '\n');
}

void seccomp_text(enum seccomp_arch arch, const struct seccomp_policy *p,
		  const struct seccomp_program *program, struct buf *out)
{
	const struct seccomp_row *row;

	buf_printf(out,
		   "# %s, %u instructions, %zu bytes\n"
		   "# allowed up to number %u unless listed; newer ones: ENOSYS; other "
		   "architectures: kill\n",
		   seccomp_arch_name(arch), program->len, program->len * sizeof(program->insns[0]),
		   seccomp_newest(arch));
	for (size_t i = 0; (row = seccomp_row(i)); i++)
		if (seccomp_row_nr(row, arch) >= 0 && seccomp_row_holds(row, p))
			buf_printf(out, "# %-18s %4d  %-11s  %s\n", row->name,
				   seccomp_row_nr(row, arch), seccomp_row_action(row), row->why);
	buf_str(out, "# left out on purpose:\n");
	for (size_t i = 0; i < sizeof(seccomp_left_out_rows) / sizeof(seccomp_left_out_rows[0]);
	     i++)
		buf_printf(out, "# %-18s %s\n", seccomp_left_out_rows[i].name,
			   seccomp_left_out_rows[i].why);
	for (size_t i = 0; i < program->len; i++)
		seccomp_text_insn(arch, &program->insns[i], i, out);
}
