/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a backend work here?  The full form builds a sandbox like any other and tries from inside what must
 * not work; it gives exactly the guarantees that it saw hold.  That takes several milliseconds, and nothing
 * cheaper is honest: whether namespaces, an overlay and its placeholders can be had depends on kernel
 * configuration, security modules and the container around us, and shows only when they are made.  So the
 * quick form answers from the last full one, kept in the state directory for as long as boot, user, user
 * namespace and programs are the same; without one it does the full form once.  Only success is kept: a
 * machine that was fixed is found fixed.  Should the machine have become worse since, starting the call fails
 * and nothing runs.
 */
#include "backend/trial.h"

#include "backend/scratch.h"
#include "backend/trial_host.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_DESERTED_MS 500 /* for what is left to go; less than the script's process lives */
#define TRIAL_OUTPUT_MAX 4096
#define TRIAL_ID "trial" /* of its call: what a killed one leaves is told from what others have */
#define TRIAL_KEY_MAX 320
#define TRIAL_FILE_MAX 48 /* "probe-", the name of a backend and a variant */

/* What the supervisor does for every backend, and what spawning does in any case. */
#define TRIAL_ALWAYS                                                                               \
	(GUARANTEE_BIT(WALL_CLOCK) | GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(OPEN_FILES) |     \
	 GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(SNAPSHOT))

#define TRIAL_NETWORK 16
#define TRIAL_LEFT_BEHIND 32 /* not of the script: seen from outside */

/* The exit status of the script is the sum of what got through. */
static const struct {
	int bit;
	guarantee_set guarantees;
} trial_rows[] = {
	{1, GUARANTEE_BIT(PROTECT_MISSING)},
	{2, GUARANTEE_BIT(DENY_INSIDE_ALLOW)},
	{4, GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(HIDE_METADATA) | GUARANTEE_BIT(PRIVATE_TMP)},
	{8, GUARANTEE_BIT(WRITE_SCOPE)},
	{TRIAL_NETWORK, GUARANTEE_BIT(NET_DENY)},
	{TRIAL_LEFT_BEHIND, GUARANTEE_BIT(KILL_TREE)},
	{64, GUARANTEE_BIT(SYSCALL_FILTER)},
};
#define TRIAL_NOTHING 127 /* the script itself did not run through */

/* $1 is a path that nothing grants, $2 our own process, $3 not empty for a backend without namespaces. */
static const char trial_script[] =
	"r=0\n"
	"echo x >new && test -s new || exit 127\n"
	"{ echo x >.mcp.json || mkdir .claude; } 2>/dev/null && r=$((r+1))\n"
	"cat denied 2>/dev/null && r=$((r+2))\n"
	"if test -n \"$2\"; then cat \"$1\" 2>/dev/null; else test -e \"$1\"; fi && r=$((r+4))\n"
	"{ echo x >/usr/cordon-probe || echo x >/cordon-probe; } 2>/dev/null && r=$((r+8))\n"
	"if test -z \"$2\"; then\n"
	"{ read a; read a; while read a b; do test \"$a\" = lo: || r=$((r|16)); done; } </proc/net/dev\n"
	"fi\n"
	"while read a b; do test \"$a$b\" = Seccomp:2 && s=1; done </proc/self/status\n"
	"test \"$s\" = 1 || r=$((r+64))\n"
	"{ setsid sleep 5 || sleep 5; } 2>/dev/null &\n" /* holds standard output */
	"exit $r\n";

int trial_end(struct spawn_result *s, int timeout_ms, struct proc_exit *ret)
{
	struct pollfd p = {.fd = s->proc.pidfd, .events = POLLIN};
	struct proc_exit end = {.code = -1};
	bool is_late = poll(&p, 1, timeout_ms) <= 0;
	int status = 0;

	if (is_late) {
		backend_kill(s);
		(void)poll(&p, 1, TRIAL_DEADLINE_MS);
	}
	if (proc_reap(&s->proc, &end) != 1)
		is_late = true;
	/* Of a first process of a pid namespace only this shows what ended the command. */
	if (!is_late && s->status_fd >= 0 &&
	    recv(s->status_fd, &status, sizeof(status), MSG_DONTWAIT) == sizeof(status)) {
		end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	} else if (s->is_agent) {
		end.code = -1; /* lost: its own end is not the command's */
	}
	proc_done(&s->proc);
	(void)fd_close(s->status_fd);
	if (s->notify.done)
		s->notify.done(s->notify.data);
	*ret = end;
	return is_late ? -ETIMEDOUT : 0;
}

static int trial_reap(struct spawn_result *s, int timeout_ms)
{
	struct proc_exit end;

	return trial_end(s, timeout_ms, &end) < 0 ? -1 : end.code;
}

/* The script left a process behind that holds the other end: is it gone too? */
static bool trial_is_deserted(int pipe_fd)
{
	AUTO_FREE char *said = NULL;
	size_t len;

	return io_read_all(pipe_fd, TRIAL_OUTPUT_MAX, clock_deadline(TRIAL_DESERTED_MS), &said,
			   &len) == 0;
}

/* Runs the script with dir/w as its workspace.  registry: where a backend notes what it makes elsewhere.  That cannot be
 * dir itself where there is another: dir is removed as a whole by whoever finds it, with the notes in it. */
static int trial_try(const struct trial *trial, const char *dir, const char *registry, int null,
		     struct cordon_error *err)
{
	char outside[LIMIT_PATH_BYTES];
	char work[LIMIT_PATH_BYTES];
	char denied[LIMIT_PATH_BYTES];
	char missing[2][LIMIT_PATH_BYTES];
	char shell[] = "/bin/sh", c[] = "-c", name[] = "sh", script[sizeof(trial_script)];
	char bare[] = "bare";
	char *argv[] = {shell, c, script, name, outside, trial->denies_network ? bare : NULL, NULL};
	char path[] = "PATH=/usr/bin:/bin";
	char *envp[] = {path, NULL};
	struct spawn_result spawned = {.proc = PROC_NONE, .status_fd = -1};
	struct stat st;
	struct plan_op ops[16] = {{.kind = PLAN_OP_SYSTEM, .path = "/usr"}};
	static const char *const links[] = {"/bin", "/lib", "/lib64"};
	char targets[ARRAY_LEN(links)][64];
	size_t n = 1;
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int theirs = -1;
	int ends[2];
	struct plan plan = {.id = TRIAL_ID,
			    .argv = argv,
			    .envp = envp,
			    .cwd = work,
			    .stdin_fd = null,
			    .stderr_fd = null,
			    .ops = ops,
			    .scratch_dir = registry ? registry : dir,
			    .net = PLAN_NET_NONE};
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return cordon_fail_errno(err, errno, "make a pipe");
	ours = ends[0];
	plan.stdout_fd = theirs = ends[1];
	memcpy(script, trial_script, sizeof(trial_script));
	(void)snprintf(outside, sizeof(outside), "%.500s/outside", dir);
	(void)snprintf(work, sizeof(work), "%.500s/w", dir);
	(void)snprintf(denied, sizeof(denied), "%.500s/w/denied", dir);
	(void)snprintf(missing[0], sizeof(missing[0]), "%.500s/w/.mcp.json", dir);
	(void)snprintf(missing[1], sizeof(missing[1]), "%.500s/w/.claude", dir);
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		ssize_t len;

		if (lstat(links[i], &st) < 0)
			continue;
		ops[n] = (struct plan_op){.kind = PLAN_OP_SYSTEM, .path = links[i]};
		if (S_ISLNK(st.st_mode)) {
			len = readlink(links[i], targets[i], sizeof(targets[i]) - 1);
			if (len <= 0)
				continue;
			targets[i][len] = '\0';
			ops[n].kind = PLAN_OP_SYMLINK;
			ops[n].text = targets[i];
		}
		n++;
	}
	ops[n++] = (struct plan_op){.kind = PLAN_OP_DEV, .path = "/dev"};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_PROC, .path = "/proc"};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_TMPFS, .path = "/tmp", .mode = 01777};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_BIND_RW, .path = work};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_DENY, .path = denied};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_PROTECT, .path = missing[0]};
	ops[n++] = (struct plan_op){.kind = PLAN_OP_PROTECT, .path = missing[1], .is_dir = true};
	plan.op_count = n;
	r = trial->spawn(&plan, &spawned, err);
	if (r < 0)
		return r;
	theirs = fd_close(theirs);
	r = trial_reap(&spawned, trial->deadline_ms ? trial->deadline_ms : TRIAL_DEADLINE_MS);
	if (r >= 0 && r < TRIAL_NOTHING && !trial_is_deserted(ours))
		r |= TRIAL_LEFT_BEHIND;
	if (r >= 0 && r < TRIAL_NOTHING && trial->denies_network && !trial->denies_network())
		r |= TRIAL_NETWORK;
	/* What got through to the host counts, whatever the script says. */
	if (r >= 0 && (access(missing[0], F_OK) == 0 || access(missing[1], F_OK) == 0))
		r |= 1;
	return r < 0 ? cordon_fail(err, CORDON_E_TIMEOUT, "the trial did not end") : r;
}

static int trial_write(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 || write(fd, "x", 1) != 1 ? -EIO : 0;

	(void)fd_close(fd);
	return r;
}

/* registry: where to note the place of the trial, or NULL. */
static void trial_full(const struct trial *trial, const char *registry, struct probe *ret)
{
	struct scratch place = SCRATCH_NONE;
	struct cordon_error err = {0};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *where = trial_place();
	bool has_place;
	int r = -1;

	scratch_sweep_dir(where);
	has_place = null >= 0 && scratch_make(registry, where, &place) == 0;
	/* A registry that cannot be written is no reason not to try: then no answer is kept, and the next trial sweeps. */
	if (null >= 0 && !has_place) {
		registry = NULL;
		has_place = scratch_make(/* registry= */ NULL, where, &place) == 0;
	}
	if (has_place && mkdirat(place.fd, "w", 0700) == 0 &&
	    trial_write(place.fd, "outside") == 0 && trial_write(place.fd, "w/denied") == 0)
		r = trial_try(trial, place.path, registry, null, &err);
	else
		(void)cordon_fail(&err, CORDON_E_SYSTEM, "no place for a trial in %s", where);
	scratch_done(&place);
	if (r < 0 || r >= TRIAL_NOTHING) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%.130s; %.120s",
			       r < 0 ? err.message : "a trial command does not run inside",
			       r < 0 && trial->has_hints && err.hint[0] ? err.hint : trial->fix);
		return;
	}
	ret->is_available = true;
	ret->guarantees = TRIAL_ALWAYS;
	for (size_t i = 0; i < ARRAY_LEN(trial_rows); i++)
		if (!(r & trial_rows[i].bit))
			ret->guarantees |= trial_rows[i].guarantees;
	(void)snprintf(ret->reason, sizeof(ret->reason), "a trial sandbox held");
}

/* What the answer depends on, as one line. */
static int trial_key(const struct trial *trial, char ret[static TRIAL_KEY_MAX])
{
	char host[TRIAL_HOST_MAX];
	struct stat tool = {0};
	int n;
	int r = trial_host(host);

	if (trial->pass_by)
		trial->pass_by();
	if (r < 0)
		return r;
	if (trial->tool && stat(trial->tool, &tool) < 0)
		return -errno;
	n = snprintf(ret, TRIAL_KEY_MAX, "4 %s %s %u %llu %lld %lld", host,
		     trial->depends ? trial->depends : "-", (unsigned)geteuid(),
		     (unsigned long long)tool.st_ino, (long long)tool.st_size,
		     (long long)tool.st_mtime);
	return n < 0 || n >= TRIAL_KEY_MAX ? -E2BIG : 0;
}

/* Is there an answer for the key? */
static bool trial_recall(int dir, const char *file, const char *key, struct probe *ret)
{
	AUTO_FREE char *text = NULL;
	size_t key_len = strlen(key);
	int64_t set;
	size_t len;

	if (dir < 0 || io_read_file_at(dir, file, TRIAL_KEY_MAX * 2, &text, &len) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, key, key_len) != 0 || text[key_len] != ' ' ||
	    parse_int(text + key_len + 1, 0, INT64_MAX, &set) < 0)
		return false;
	ret->is_available = true;
	ret->guarantees = (guarantee_set)set & GUARANTEE_ALL;
	(void)snprintf(ret->reason, sizeof(ret->reason), "a trial sandbox held since boot");
	return true;
}

static void trial_keep(int dir, const char *file, const char *key, const struct probe *p)
{
	char line[TRIAL_KEY_MAX * 2];
	int n = snprintf(line, sizeof(line), "%s %llu\n", key, (unsigned long long)p->guarantees);

	if (dir >= 0 && n > 0 && p->is_available)
		if (io_write_file_at(dir, file, line, (size_t)n, 0600) < 0)
			return; /* then the next one tries again */
}

/* The state directory and the name in it under which the answer is kept. */
static int trial_kept(const struct trial *trial, char **ret_state,
		      char ret_file[static TRIAL_FILE_MAX])
{
	(void)snprintf(ret_file, TRIAL_FILE_MAX, "probe-%s%s%s", trial->info->name,
		       trial->variant ? "-" : "", trial->variant ? trial->variant : "");
	/* Only a call, which has made the directory, keeps anything there; looking leaves nothing. */
	return env_state_dir(ret_state) == 0 ? open(*ret_state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
					     : -1;
}

void trial_keep_more(const struct trial *trial, enum probe_form form, const struct probe *p)
{
	AUTO_FREE char *state = NULL;
	AUTO_CLOSE int dir = -1;
	char key[TRIAL_KEY_MAX];
	char file[TRIAL_FILE_MAX];

	if (form != PROBE_QUICK || shield_any_off() || trial_key(trial, key) < 0)
		return;
	dir = trial_kept(trial, &state, file);
	trial_keep(dir, file, key, p);
}

void trial_probe(const struct trial *trial, enum probe_form form, struct probe *ret)
{
	AUTO_FREE char *state = NULL;
	AUTO_CLOSE int dir = -1;
	char key[TRIAL_KEY_MAX];
	char file[TRIAL_FILE_MAX];
	bool has_key = trial_key(trial, key) == 0;

	*ret = (struct probe){0};
	if (shield_any_off()) {
		*ret = (struct probe){.is_available = true, .guarantees = GUARANTEE_ALL};
		return;
	}
	dir = trial_kept(trial, &state, file);
	if (form == PROBE_QUICK && has_key && trial_recall(dir, file, key, ret))
		return;
	if (!trial->own)
		trial_full(trial, dir < 0 ? NULL : state, ret);
	else
		ret->is_available = trial->own(ret);
	if (form == PROBE_QUICK && has_key)
		trial_keep(dir, file, key, ret);
}
