/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of `cordon audit tail|show|verify|export`.  A log that is not there yet is an empty one.
 * What stands in a record came from calls, so all of it is escaped before it reaches a terminal; only
 * `show --json` and the exports give the bytes, which are JSON and hold no raw control characters.
 */
#include "cli/cli.h"
#include "cli/commands.h"

#include "audit/export.h"
#include "audit/verify.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AUDIT_TAIL_LINES 10   /* of `tail` without -n */
#define AUDIT_FOLLOW_MS 500   /* how soon a reader of ours who went away is noticed */
#define AUDIT_PIECE (1 << 16) /* written to an export's file at once */

static void audit_say_empty(uint64_t shown, const char *what)
{
	if (shown == 0)
		log_info("%s", what);
}

/* Columns that line up without knowing what comes: each wide enough for its usual values. */
static void audit_cell(struct out *o, enum out_style style, const char *text, size_t width)
{
	static const char blanks[] = "                        ";
	size_t len = text ? strlen(text) : 1;

	out_styled(o, style, text ? text : "-");
	if (len < width)
		out_add(o, blanks, width - len < sizeof(blanks) ? width - len : sizeof(blanks) - 1);
	out_str(o, " ");
}

static enum out_style audit_style(const struct audit_line *line)
{
	if (!line->decision)
		return OUT_PLAIN;
	return strcmp(line->decision, "allow") == 0  ? OUT_GREEN
	       : strcmp(line->decision, "deny") == 0 ? OUT_RED
						     : OUT_YELLOW;
}

/* time type decision verdict exit backend call [rule or message] */
static void audit_print(struct out *o, const struct audit_line *line)
{
	const char *more = line->rule ? line->rule : audit_line_str(line, "message");
	char code[24];
	int64_t exit_code = 0;
	bool has_code = audit_line_int(line, "exit_code", &exit_code);

	(void)snprintf(code, sizeof(code), "%lld", (long long)exit_code);
	audit_cell(o, OUT_DIM, line->ts, 24);
	audit_cell(o, OUT_PLAIN, line->type, 12);
	audit_cell(o, audit_style(line), line->decision, 9);
	audit_cell(o, OUT_PLAIN, audit_line_verdict(line), 10);
	audit_cell(o, OUT_PLAIN, has_code ? code : NULL, 4);
	audit_cell(o, OUT_PLAIN, audit_line_str(line, "isolation.backend"), 8);
	out_escaped(o, line->call_id ? line->call_id : "-");
	if (more) {
		out_str(o, " ");
		out_escaped(o, more);
	}
	out_str(o, "\n");
}

/* A handler that only interrupts: the wait ends, and the loop looks at the flag. */
static volatile sig_atomic_t audit_stopped;

static void audit_stop(int sig)
{
	audit_stopped = sig;
}

static void audit_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = audit_stop};

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		(void)sigaction(signals[i], &action, NULL); /* fails only for bad numbers */
}

/* Nobody reads our output any more; noticed also while there is nothing to write. */
static bool audit_reader_left(struct out *o)
{
	struct pollfd p = {.fd = o->fd};

	return o->error != 0 || (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLNVAL)));
}

static int audit_visit(void *userdata, const struct audit_line *line)
{
	struct out *o = userdata;

	audit_print(o, line);
	return o->error;
}

static int audit_follow(struct out *o, struct audit_position *position, struct cordon_error *err)
{
	audit_catch_signals();
	for (;;) {
		int r;

		out_flush(o);
		if (audit_stopped || audit_reader_left(o))
			return 0;
		r = audit_wait(NULL, position, clock_deadline(AUDIT_FOLLOW_MS), err);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		r = audit_walk(NULL, position, NULL, audit_visit, o, err);
		if (r < 0 && o->error == 0)
			return r;
	}
}

/* The last n records; *position is left behind them. */
static int audit_last(struct out *o, uint64_t n, struct audit_position *position,
		      struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_line line;
	uint64_t shown = 0;
	int r = audit_reader_open(NULL, /* from= */ NULL, &reader, err);

	if (r == 0)
		r = audit_reader_seek_last(reader, n, err);
	if (r < 0)
		return r;
	while (o->error == 0 && (r = audit_reader_next(reader, &line, err)) > 0) {
		audit_print(o, &line);
		audit_line_done(&line);
		shown++;
	}
	audit_reader_tell(reader, position);
	if (n > 0)
		audit_say_empty(shown, "audit: no records yet");
	return r < 0 ? r : 0;
}

int cmd_audit_tail_main(struct cli *cli, const struct audit_tail_options *options)
{
	struct audit_position position = {0};
	struct cordon_error err = {0};
	uint64_t n = options->lines.is_given ? (uint64_t)options->lines.value : AUDIT_TAIL_LINES;
	int r = audit_last(&cli->out, n, &position, &err);

	if (r == 0 && options->follow)
		r = audit_follow(&cli->out, &position, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

/* A duration back from now, or an RFC 3339 time. */
static int audit_since(const char *text, int64_t *ret_ms, struct cordon_error *err)
{
	int64_t back = 0, now = clock_wall_ms();

	if (clock_stamp_parse(text, ret_ms) == 0)
		return 0;
	if (parse_duration(text, &back) < 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "--since: '%.100s' is neither a duration nor a time",
					       text),
				   "write 90s, 30m, 2h, 7d or 2026-01-02T03:04:05Z");
	*ret_ms = back < now ? now - back : 0;
	return 0;
}

/* A type of the table, or a front of one that ends in a dot. */
static int audit_type(const char *text, struct cordon_error *err)
{
	struct buf names = BUF_INIT(1024);
	bool is_known = false;
	int r = 0;

	for (unsigned i = 0; i < AUDIT_EVENT_COUNT; i++) {
		const char *name = audit_event_row((enum audit_event_type)i)->name;

		buf_printf(&names, "%s%s", i ? ", " : "", name);
		is_known |= strcmp(text, name) == 0 ||
			    (str_ends(text, ".") && str_starts(name, text));
	}
	if (!is_known)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_INVALID, "--type: unknown type '%.100s'",
					    text),
				"one of %s", buf_cstr(&names));
	buf_done(&names);
	return r;
}

int cmd_audit_show_main(struct cli *cli, const struct audit_show_options *options)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_filter filter = {.type = options->type, .call_id = options->call};
	struct cordon_error err = {0};
	struct audit_line line;
	uint64_t shown = 0;
	int r = 0;

	if (options->since)
		r = audit_since(options->since, &filter.since_ms, &err);
	if (r == 0 && options->type)
		r = audit_type(options->type, &err);
	if (r == 0)
		r = audit_reader_open(NULL, /* from= */ NULL, &reader, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	while (cli->out.error == 0 && (r = audit_query_next(reader, &filter, &line, &err)) > 0) {
		if (options->json) {
			out_add(&cli->out, line.text, line.len);
			out_str(&cli->out, "\n");
		} else {
			audit_print(&cli->out, &line);
		}
		audit_line_done(&line);
		shown++;
	}
	if (r < 0)
		return cli_fail(cli, &err);
	audit_say_empty(shown, "audit: no records that match");
	return 0;
}

static void audit_plural(struct out *o, uint64_t n, const char *what)
{
	out_printf(o, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static void audit_counts(struct out *o, const struct audit_verify_result *v)
{
	audit_plural(o, v->records, "record");
	out_str(o, " in ");
	audit_plural(o, v->files, "file");
	out_str(o, v->is_intact ? ": intact\n" : " proven before the damage\n");
	if (v->records)
		out_printf(o, "head: %llu %s\n", (unsigned long long)v->head.seq, v->head.hash);
	if (v->repairs)
		out_printf(o, "repaired unfinished writes: %llu\n", (unsigned long long)v->repairs);
	if (v->expired)
		out_printf(o, "files deleted by retention: %llu\n", (unsigned long long)v->expired);
	if (v->unknown)
		out_printf(o, "records of types that this version does not know: %llu\n",
			   (unsigned long long)v->unknown);
	if (v->torn_bytes)
		out_printf(o,
			   "unfinished write at the end: %llu bytes; the next record repairs it\n",
			   (unsigned long long)v->torn_bytes);
}

static int audit_damaged(const struct audit_verify_result *v, struct cordon_error *err)
{
	AUTO_FREE char *dir = NULL;
	int r;

	if (env_state_dir(&dir) < 0)
		return cordon_nomem(err);
	r = cordon_fail(err, CORDON_E_CORRUPT, "%s/%s:%llu: %s: %s%s%s", dir, v->file,
			(unsigned long long)v->line, audit_damage_word(v->damage),
			audit_damage_text(v->damage),
			v->damage == AUDIT_DAMAGE_MALFORMED ? ": " : "",
			v->damage == AUDIT_DAMAGE_MALFORMED ? audit_line_fault_text(v->fault) : "");
	return cordon_hint(err, r,
			   "the records before it are proven. Copy audit*.ndjson away as evidence, "
			   "find out who wrote to them, then move them out of '%s': the next call "
			   "begins a new log",
			   dir);
}

int cmd_audit_verify_main(struct cli *cli)
{
	struct audit_verify_result v = {0};
	struct cordon_error err = {0};

	if (audit_verify(NULL, /* want_head= */ NULL, &v, &err) < 0)
		return cli_fail(cli, &err);
	if (v.is_intact && v.records == 0 && v.torn_bytes == 0) {
		out_str(&cli->out, "no records\n");
		return 0;
	}
	audit_counts(&cli->out, &v);
	return v.is_intact ? 0 : cli_fail(cli, (audit_damaged(&v, &err), &err));
}

static int audit_to_out(void *userdata, const char *data, size_t len)
{
	struct out *o = userdata;

	out_add(o, data, len);
	return o->error;
}

/* A file that appears under its name when it is complete. */
struct audit_target {
	int fd;
	char *temporary;
	struct buf pending;
};

static int audit_to_file(void *userdata, const char *data, size_t len)
{
	struct audit_target *t = userdata;
	int r;

	buf_add(&t->pending, data, len);
	r = buf_error(&t->pending);
	if (r < 0 || t->pending.len < AUDIT_PIECE)
		return r;
	r = io_write(t->fd, t->pending.data, t->pending.len, CLOCK_NEVER);
	buf_clear(&t->pending);
	return r;
}

static int audit_target_open(const char *name, struct audit_target *ret, struct cordon_error *err)
{
	struct audit_target t = {.fd = -1, .pending = BUF_INIT(SIZE_MAX / 4)};
	struct stat st;

	if (lstat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "--output: '%.200s' is not a file", name);
	if (asprintf(&t.temporary, "%s.XXXXXX", name) < 0)
		return cordon_nomem(err);
	t.fd = mkostemp(t.temporary, O_CLOEXEC); /* makes it with mode 0600 */
	if (t.fd < 0) {
		int e = errno;

		free(t.temporary);
		return cordon_fail_errno(err, e, "--output: create '%.200s'", name);
	}
	*ret = t;
	return 0;
}

/* Gives the file its name when r is 0, else leaves nothing behind. */
static int audit_target_close(struct audit_target *t, const char *name, int r,
			      struct cordon_error *err)
{
	int leaf = 0;

	if (r == 0 && t->pending.len)
		leaf = io_write(t->fd, t->pending.data, t->pending.len, CLOCK_NEVER);
	if (r == 0 && leaf == 0 && (fsync(t->fd) < 0 || rename(t->temporary, name) < 0))
		leaf = -errno;
	if (r < 0 || leaf < 0)
		(void)unlink(t->temporary); /* on the way out of a failure already */
	if (leaf < 0)
		r = cordon_fail_leaf(err, leaf, "--output: write '%.200s'", name);
	t->fd = fd_close(t->fd);
	free(t->temporary);
	buf_done(&t->pending);
	return r;
}

int cmd_audit_export_main(struct cli *cli, const struct audit_export_options *options)
{
	bool to_file = options->output && strcmp(options->output, "-") != 0;
	struct audit_export out = {.write = audit_to_out, .userdata = &cli->out};
	struct audit_target target;
	struct cordon_error err = {0};
	int r = 0;

	if (to_file) {
		r = audit_target_open(options->output, &target, &err);
		out = (struct audit_export){.write = audit_to_file, .userdata = &target};
	}
	if (r < 0)
		return cli_fail(cli, &err);
	r = strcmp(options->format, "sarif") == 0 ? audit_export_sarif(NULL, &out, &err)
						  : audit_export_ocsf(NULL, &out, &err);
	if (to_file)
		r = audit_target_close(&target, options->output, r, &err);
	/* A reader of stdout who went away is no news: out_finish() has the exit code for it. */
	return r < 0 && cli->out.error == 0 ? cli_fail(cli, &err) : 0;
}
