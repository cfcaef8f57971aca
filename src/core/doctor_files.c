/* SPDX-License-Identifier: Apache-2.0 */
/* What is the user's own: the state directory, the audit trail and the policy files. */
#include "core/doctor_probe.h"

#include "audit/reader.h"
#include "base/fd.h"
#include "base/path.h"
#include "workspace/cow/cow.h"
#include "workspace/snap/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void files_row(struct doctor_row *row, const char *name)
{
	*row = (struct doctor_row){.works = false};
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
}

/* A row from an error and its hint. */
static void files_bad(struct doctor_row *row, const struct cordon_error *err, const char *fix)
{
	row->works = false;
	(void)snprintf(row->detail, sizeof(row->detail), "%.*s", DOCTOR_DETAIL_MAX - 1,
		       err->message);
	(void)snprintf(row->fix, sizeof(row->fix), "%.*s", DOCTOR_FIX_MAX - 1,
		       err->hint[0] ? err->hint : fix);
}

/* Can a file be made in the directory?  One without a name is, where the filesystem has that. */
static int files_can_write(const char *dir)
{
	AUTO_CLOSE int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR)
		return -errno;
	return faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* Not there: can the first call make it? */
static void state_missing(const char *dir, struct doctor_row *ret)
{
	AUTO_FREE char *above = NULL;
	char fix[DOCTOR_FIX_MAX];
	struct stat st;
	int r = path_normalise(dir, &above);

	while (r == 0 && stat(above, &st) < 0 && strcmp(above, "/") != 0) {
		char *slash = strrchr(above, '/');

		slash[slash == above] = '\0';
	}
	if (r == 0)
		r = files_can_write(above);
	if (r == 0) {
		doctor_good(ret, "%.200s is not there yet; the first call makes it", dir);
		return;
	}
	(void)snprintf(fix, sizeof(fix), "mkdir -p -m 700 '%.200s' and give it to the user", dir);
	doctor_bad(ret, -r, "is not there and cannot be made", fix);
}

/* Restores that were interrupted: a command on their sandbox finishes them.  Returns whether there
 * was nothing to say. */
static bool state_restores(const char *dir, struct doctor_row *ret)
{
	AUTO(strv_done) struct strv names = {0};
	struct cordon_error err = {0};
	char text[DOCTOR_DETAIL_MAX];
	const char *bad = NULL;

	if (snap_list_restores(dir, &names, &err) < 0) {
		files_bad(ret, &err, "look at the state directory");
		return false;
	}
	for (size_t i = 0; i < names.n && !bad; i++)
		if (str_starts(names.v[i], SNAP_ASIDE_BAD))
			bad = names.v[i];
	if (bad) {
		(void)snprintf(text, sizeof(text),
			       "the journal '" SNAP_JOURNALS "/%.80s' of a restore is damaged and "
			       "was set aside",
			       bad);
		doctor_bad(ret, 0, text, "restore that sandbox once more and remove the file");
		return false;
	}
	if (names.n > 0)
		doctor_good(ret,
			    "%.200s is private and can be written to; %s: '" SNAP_JOURNALS
			    "/%.80s'%s",
			    dir,
			    str_starts(names.v[0], SNAP_ASIDE_GONE)
				    ? "a restore of what is gone was set aside"
				    : "a restore was interrupted, and a command on its sandbox "
				      "finishes it",
			    names.v[0], names.n > 1 ? " and more" : "");
	return names.n == 0;
}

/* Commits that were interrupted are finished here, as the next command would. */
static void state_commits(const char *dir, struct doctor_row *ret)
{
	struct cordon_error err = {0};
	int n = cow_recover_all(dir, &err);

	if (n < 0)
		files_bad(ret, &err, "make room in the workspace, or discard the change set");
	else if (n > 0)
		doctor_good(ret,
			    "%.200s is private and can be written to; %d interrupted commits "
			    "were finished",
			    dir, n);
	else if (state_restores(dir, ret))
		doctor_good(ret, "%.200s is private and can be written to", dir);
}

void doctor_state(const char *dir, struct doctor_row *ret)
{
	char fix[DOCTOR_FIX_MAX];
	struct stat st;
	int r;

	files_row(ret, "state");
	if (lstat(dir, &st) < 0 && errno == ENOENT) {
		state_missing(dir, ret);
		return;
	}
	if (stat(dir, &st) < 0) {
		doctor_bad(ret, errno, "look at the state directory",
			   "set CORDON_STATE_DIR to a directory of your own");
		return;
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()) {
		doctor_bad(ret, 0,
			   S_ISDIR(st.st_mode) ? "belongs to somebody else" : "is no directory",
			   "move it away, or set CORDON_STATE_DIR to a directory of your own");
		return;
	}
	if (st.st_mode & 077) {
		(void)snprintf(fix, sizeof(fix), "chmod 700 '%.200s'", dir);
		doctor_bad(ret, 0, "others can look into it", fix);
		return;
	}
	r = files_can_write(dir);
	if (r < 0)
		doctor_bad(ret, -r, "cannot be written to",
			   "make room, or set CORDON_STATE_DIR to a directory that can");
	else
		state_commits(dir, ret);
}

void doctor_audit(const char *dir, struct doctor_row *ret)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct cordon_error err = {0};
	struct audit_line line;
	int r;

	files_row(ret, "audit");
	r = audit_reader_open(dir, /* from= */ NULL, &reader, &err);
	if (r == 0)
		r = audit_reader_seek_last(reader, 1, &err);
	if (r == 0)
		r = audit_reader_next(reader, &line, &err);
	if (r < 0) {
		files_bad(ret, &err, "cordon audit verify says what is damaged and what to do");
	} else if (r == 0) {
		doctor_good(ret, "no records yet");
	} else {
		doctor_good(ret,
			    "the last record, %llu, is intact; 'cordon audit verify' reads all",
			    (unsigned long long)line.head.seq);
		audit_line_done(&line);
	}
}

static const struct {
	const char *layer;
	enum layer as;
	const char *name;
} doctor_places[DOCTOR_FILE_COUNT] = {
	[DOCTOR_FILE_SYSTEM] = {"system", LAYER_SYSTEM, "policy.yaml"},
	[DOCTOR_FILE_USER] = {"user", LAYER_USER, "policy.yaml"},
	[DOCTOR_FILE_CLONEGUARD] = {"user (CloneGuard)", LAYER_USER, ".cloneguard/policy.yaml"},
	[DOCTOR_FILE_PROJECT] = {"project", LAYER_PROJECT, ".cordon.yaml"},
	[DOCTOR_FILE_CEILING] = {"ceiling", LAYER_CEILING, "ceiling.yaml"},
};

static int policy_file(const struct effective *e, const char *dir, size_t i,
		       struct doctor_file *ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *into = policy_new();
	struct cordon_error why = {0};
	struct stat st;
	int r;

	if (!into)
		return cordon_nomem(err);
	ret->layer = doctor_places[i].layer;
	files_row(&ret->row, doctor_places[i].layer);
	doctor_good(&ret->row, "not there");
	if (!dir)
		return 0;
	r = path_join(dir, doctor_places[i].name, &ret->path);
	if (r < 0)
		return cordon_fail_leaf(err, r, "path of a policy file");
	ret->is_found = lstat(ret->path, &st) == 0 || errno != ENOENT;
	if (!ret->is_found)
		return 0;
	r = policy_parse_file(&e->context, ret->path, doctor_places[i].as, into, NULL, &why);
	if (r == CORDON_E_NOMEM)
		return cordon_nomem(err);
	if (r < 0)
		files_bad(&ret->row, &why, "correct the file; 'cordon policy validate' checks it");
	else
		doctor_good(&ret->row, "valid");
	return 0;
}

int doctor_policy(struct effective *e, struct doctor_file ret[static DOCTOR_FILE_COUNT],
		  struct doctor_row *ret_all, struct cordon_error *err)
{
	const char *const dirs[DOCTOR_FILE_COUNT] = {
		[DOCTOR_FILE_SYSTEM] = EFFECTIVE_SYSTEM_DIR,  [DOCTOR_FILE_USER] = e->config_dir,
		[DOCTOR_FILE_CLONEGUARD] = e->home,           [DOCTOR_FILE_PROJECT] = e->workspace,
		[DOCTOR_FILE_CEILING] = EFFECTIVE_SYSTEM_DIR,
	};
	struct cordon_error why = {0};
	size_t found = 0;
	int r;

	for (size_t i = 0; i < DOCTOR_FILE_COUNT; i++) {
		ret[i] = (struct doctor_file){0};
		r = policy_file(e, dirs[i], i, &ret[i], err);
		if (r < 0)
			return r;
		found += ret[i].is_found;
	}
	files_row(ret_all, "policy");
	r = effective_load(e, /* files= */ NULL, /* options= */ NULL, &why);
	if (r == CORDON_E_NOMEM)
		return cordon_nomem(err);
	if (r < 0)
		files_bad(ret_all, &why, "correct the file; 'cordon policy validate' checks it");
	else if (found == 0)
		doctor_good(ret_all, "no policy file: the built-in default is in force");
	else
		doctor_good(ret_all, "the policy files go together");
	return 0;
}

void doctor_files_done(struct doctor_file files[static DOCTOR_FILE_COUNT])
{
	for (size_t i = 0; i < DOCTOR_FILE_COUNT; i++)
		free(files[i].path);
}
