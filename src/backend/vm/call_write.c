/* SPDX-License-Identifier: Apache-2.0 */
/* See call.h: the half that writes. */
#include "backend/vm/call.h"

#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void call_place(struct buf *out, const struct vm_place *place, const char *path,
		       struct vm_call_head *head)
{
	buf_add(out, place, sizeof(*place));
	if (path[0] != '/')
		buf_char(out, '/');
	buf_add(out, path, strlen(path) + 1);
	head->n_places++;
}

/* Does the op stand in a directory that is made inside?  The last one around it says. */
static bool call_is_inside(const struct plan *plan, size_t op)
{
	for (size_t i = op; i-- > 0;) {
		const struct plan_op *around = &plan->ops[i];

		if (strcmp(around->path, plan->ops[op].path) != 0 &&
		    path_is_within(plan->ops[op].path, around->path))
			return around->kind == PLAN_OP_TMPFS;
	}
	return false;
}

/* Landlock's rules inside are held by inodes, of which the share makes a new one whenever nobody has looked at a name for a
 * while, and a rule of the old one opens nothing: what is granted is mounted on itself, so that its inode stays.  The root of
 * the share does anyway. */
static bool call_is_pinned(const struct plan_op *op)
{
	return (op->kind == PLAN_OP_SYSTEM || op->kind == PLAN_OP_BIND_RO ||
		op->kind == PLAN_OP_CACHE || plan_op_is_writable(op->kind)) &&
	       op->path[1];
}

static int call_op(const struct plan *plan, size_t i, struct buf *out, struct vm_call_head *head)
{
	const struct plan_op *op = &plan->ops[i];
	struct vm_place place = {.kind = VM_PLACE_SHARED, .is_noexec = op->is_noexec};

	switch (op->kind) {
	case PLAN_OP_TMPFS:
		place.kind = VM_PLACE_TMPFS;
		place.mode = (uint16_t)(op->mode ? op->mode : 0755);
		place.size_bytes = op->size_bytes;
		break;
	case PLAN_OP_DEV:
		place.kind = VM_PLACE_DEV;
		break;
	case PLAN_OP_PROC:
		place.kind = VM_PLACE_PROC;
		break;
	case PLAN_OP_SYMLINK:
	case PLAN_OP_FILE:
		place.kind = VM_PLACE_COPY;
		break;
	case PLAN_OP_SYSTEM:
		if (strcmp(op->path, VM_CALL_SYSTEM) == 0)
			place.kind = VM_PLACE_SYSTEM;
		break;
	case PLAN_OP_BIND_RO:
	case PLAN_OP_BIND_RW:
	case PLAN_OP_COW:
	case PLAN_OP_SHOWN:
	case PLAN_OP_CACHE:
	case PLAN_OP_PROTECT:
	case PLAN_OP_DENY:
		break;
	case PLAN_OP_DEVICE: /* another kernel's */
	case PLAN_OP_SOCKET:
	case PLAN_OP_COUNT:
	default:
		return -EOPNOTSUPP;
	}
	if ((place.kind == VM_PLACE_SHARED || place.kind == VM_PLACE_COPY) &&
	    ((!call_is_inside(plan, i) && !call_is_pinned(op)) ||
	     path_is_within(op->path, "/proc")))
		return 0;
	call_place(out, &place, op->path, head);
	return 0;
}

/* What is closed in /proc: in the program, because the plan's own denials come from there too. */
static void call_closed(const struct view_program *p, struct buf *out, struct vm_call_head *head)
{
	const struct vm_place place = {.kind = VM_PLACE_CLOSED};

	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind == VIEW_COVER && str_starts(p->steps[i].path, "proc/"))
			call_place(out, &place, p->steps[i].path, head);
}

int vm_call_write(const struct view_program *p, const char *image, size_t image_len,
		  struct buf *out)
{
	const struct plan *plan = p->plan;
	struct vm_call_head head = {
		.magic = VM_CALL_MAGIC,
		.image_bytes = (uint32_t)image_len,
		.uid = geteuid(),
		.gid = getegid(),
		.is_exec_separate = plan->separates_exec,
		.has_one_output = vm_call_has_one_output(plan),
		.memory_bytes = plan->memory_bytes.is_given ? plan->memory_bytes.value : 0,
		.max_processes = plan->max_processes.is_given ? plan->max_processes.value : 0,
		.cpu_percent = plan->cpu_percent.is_given ? plan->cpu_percent.value : 0,
		.has_network = plan->net == PLAN_NET_PROXY,
		.has_terminal = plan->terminal != NULL,
	};
	int r = 0;

	if (plan->terminal) {
		head.settings = plan->terminal->settings;
		head.size = plan->terminal->size;
	}
	buf_add(out, &head, sizeof(head));
	for (size_t i = 0; r == 0 && i < plan->op_count; i++)
		r = call_op(plan, i, out, &head);
	if (r < 0)
		return r;
	call_closed(p, out, &head);
	head.places_bytes = (uint32_t)(out->len - sizeof(head)); /* the buffer has a ceiling */
	buf_add(out, image, image_len);
	if (buf_error(out) < 0)
		return buf_error(out);
	memcpy(out->data, &head, sizeof(head));
	return 0;
}

bool vm_call_has_system(const struct plan *plan)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_SYSTEM &&
		    strcmp(plan->ops[i].path, VM_CALL_SYSTEM) == 0)
			return true;
	return false;
}

bool vm_call_has_one_output(const struct plan *plan)
{
	struct stat out;
	struct stat error;

	return fstat(plan->stdout_fd, &out) == 0 && fstat(plan->stderr_fd, &error) == 0 &&
	       out.st_dev == error.st_dev && out.st_ino == error.st_ino;
}

int vm_call_stamp(char *block, size_t len)
{
	struct vm_call_head head;
	struct timespec now;

	if (len < sizeof(head))
		return -EINVAL;
	memcpy(&head, block, sizeof(head));
	if (getrandom(head.seed, sizeof(head.seed), 0) != (ssize_t)sizeof(head.seed) ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -EIO;
	head.time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	memcpy(block, &head, sizeof(head));
	explicit_bzero(&head, sizeof(head));
	return 0;
}
