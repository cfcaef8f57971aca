/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a killed writer left at the end of the file goes to audit.torn before it is overwritten.  Each
 * piece there is a header line, the bytes, and a newline; a piece that was itself cut short is told
 * from the next one by the newline put in front.
 */
#include "audit/writer.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Opens audit.torn at its end; *ret_needs_newline when the last piece there is unfinished. */
static int repair_open(struct audit *a, size_t torn, int *ret_fd, bool *ret_needs_newline,
		       struct cordon_error *err)
{
	uint64_t size = 0;
	char last = '\n';
	ssize_t n = 1;
	int r;

	r = audit_store_open_file(a->dirfd, AUDIT_TORN_FILE, O_RDWR | O_CREAT | O_APPEND, ret_fd,
				  &size, err);
	if (r < 0)
		return r;
	if (size + torn > LIMIT_AUDIT_TORN) {
		r = cordon_fail(err, CORDON_E_LIMIT, "'" AUDIT_TORN_FILE "' is full");
		return cordon_hint(err, r, "look at it, then move it aside");
	}
	if (size > 0)
		n = audit_store_read(*ret_fd, &last, 1, size - 1);
	if (n < 0)
		return cordon_fail_errno(err, (int)-n, "read '" AUDIT_TORN_FILE "'");
	*ret_needs_newline = last != '\n';
	return 0;
}

int audit_repair(struct audit *a, const struct audit_tail *tail, struct audit_head *head,
		 struct cordon_error *err)
{
	struct buf piece = BUF_INIT(LIMIT_AUDIT_RECORD + 1024);
	struct buf body = BUF_INIT(1024);
	char stamp[CLOCK_STAMP_LEN], hash[SHA256_HEX_LEN];
	bool needs_newline = false;
	AUTO_CLOSE int fd = -1;
	int r;

	r = repair_open(a, tail->torn, &fd, &needs_newline, err);
	if (r < 0)
		return r;
	sha256_hex(tail->torn_bytes, tail->torn, hash);
	clock_stamp(stamp);
	buf_printf(&piece,
		   "%s{\"ts\":\"%s\",\"file\":\"" AUDIT_FILE
		   "\",\"offset\":%llu,\"length\":%zu,\"sha256\":\"%s\"}\n",
		   needs_newline ? "\n" : "", stamp, (unsigned long long)tail->end, tail->torn,
		   hash);
	buf_add(&piece, tail->torn_bytes, tail->torn);
	buf_char(&piece, '\n');
	r = buf_error(&piece);
	if (r == 0)
		r = io_write(fd, piece.data, piece.len, CLOCK_NEVER);
	if (r == 0 && (a->flags & AUDIT_SYNC) && fdatasync(fd) < 0)
		r = -errno;
	buf_done(&piece);
	if (r < 0)
		return cordon_fail_errno(err, -r, "write '" AUDIT_TORN_FILE "'");
	buf_printf(
		&body,
		"\"offset\":%llu,\"length\":%zu,\"sha256\":\"%s\",\"saved_in\":\"" AUDIT_TORN_FILE
		"\"",
		(unsigned long long)tail->end, tail->torn, hash);
	r = audit_batch_own(a, head, AUDIT_EVENT_AUDIT_REPAIR, &body, err);
	buf_done(&body);
	return r;
}
