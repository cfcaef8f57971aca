/* SPDX-License-Identifier: Apache-2.0 */
/* See query.h. */
#include "audit/query.h"

#include "audit/store.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* A stat() each time: an inotify watch would have to be moved at every rotation. */
enum { QUERY_POLL_MS = 100 };

static bool filter_equal(const char *want, const char *have)
{
	return !want || (have && strcmp(want, have) == 0);
}

static bool filter_type(const char *want, const char *have)
{
	if (!want)
		return true;
	return str_ends(want, ".") ? str_starts(have, want) : strcmp(want, have) == 0;
}

bool audit_filter_match(const struct audit_filter *filter, const struct audit_line *line)
{
	if (!filter)
		return true;
	if (!filter_type(filter->type, line->type) ||
	    !filter_equal(filter->call_id, line->call_id) ||
	    !filter_equal(filter->session_id, line->session_id) ||
	    !filter_equal(filter->decision, line->decision))
		return false;
	if (line->time_ms < filter->since_ms ||
	    (filter->until_ms > 0 && line->time_ms >= filter->until_ms))
		return false;
	if (filter->verdict) {
		const char *verdict = audit_line_verdict(line);

		return verdict && strcasecmp(verdict, filter->verdict) == 0;
	}
	return true;
}

int audit_query_next(struct audit_reader *reader, const struct audit_filter *filter,
		     struct audit_line *ret, struct cordon_error *err)
{
	int r;

	while ((r = audit_reader_next(reader, ret, err)) > 0) {
		if (audit_filter_match(filter, ret))
			return r;
		audit_line_done(ret);
	}
	return r;
}

int audit_walk(const char *dir, struct audit_position *position, const struct audit_filter *filter,
	       audit_visit_fn *visit, void *userdata, struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_line line;
	int r;

	r = audit_reader_open(dir, position, &reader, err);
	if (r < 0)
		return r;
	audit_reader_tell(reader, position);
	while ((r = audit_reader_next(reader, &line, err)) > 0) {
		audit_reader_tell(reader, position);
		r = audit_filter_match(filter, &line) ? visit(userdata, &line) : 0;
		audit_line_done(&line);
		if (r != 0)
			return r;
	}
	return r;
}

int audit_wait(const char *dir, const struct audit_position *position, int64_t deadline_ms,
	       struct cordon_error *err)
{
	AUTO_FREE char *own = NULL;
	AUTO_FREE char *path = NULL;
	int r = 0;

	if (!dir)
		r = env_state_dir(&own);
	if (r == 0)
		r = path_join(dir ? dir : own, AUDIT_FILE, &path);
	if (r < 0)
		return cordon_fail_leaf(err, r, "find the state directory");
	for (;;) {
		int pause = clock_poll_timeout(deadline_ms);
		struct stat st;

		if (pause == 0)
			return 0;
		if (pause < 0 || pause > QUERY_POLL_MS)
			pause = QUERY_POLL_MS;
		/* First the pause: a torn tail stays behind *position until the next record. */
		if (poll(NULL, 0, pause) < 0 && errno == EINTR)
			return 0; /* the caller may want to look at what the signal meant */
		if (lstat(path, &st) == 0 && ((uint64_t)st.st_ino != position->inode ||
					      (uint64_t)st.st_size > position->offset))
			return 1;
	}
}
