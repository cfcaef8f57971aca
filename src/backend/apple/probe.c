/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does Apple's `container` work here, and what does it give?  Two questions first, because they say best what is missing:
 * is its service there, and does `run` know our words?  Then a container is started as for a call, and a script tries from
 * inside what must not work: exactly what held is given.  (trial.c does the same with a script for backends that show the
 * host's own programs; here there are only an image's.)
 *
 * The image is one that the machine has: nothing is fetched.  Without any there is nothing to try, and no call either.
 */
#include "backend/apple/apple.h"

#include "base/darwin.h"
#include "backend/launch/tool.h"
#include "backend/scratch.h"
#include "backend/trial.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define APPLE_SAID_MAX (256 * 1024)
#define APPLE_ASK_MS 10000    /* for a question to the program */
#define APPLE_TRIAL_MS 30000  /* for a container to start and end */
#define APPLE_TRIAL_IMAGES 3  /* one may have no shell */
#define APPLE_TRIAL_FILES 64  /* open files; also in the script */
#define APPLE_TRIAL_MIB 512   /* of memory; also in the script */
#define APPLE_TRIAL_OUT 65536 /* of the trial's output */
#define APPLE_LOOK_MS 50      /* between two looks whether it is gone */

/* What the supervisor does, and what a container is in any case. */
#define APPLE_ALWAYS                                                                               \
	(GUARANTEE_BIT(WALL_CLOCK) | GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(IMAGE_ROOT))

/* The exit status of the script is the sum of what got through. */
#define APPLE_NET 4
#define APPLE_NOTHING 127 /* the script itself did not run through */
/* These are not of the script: seen from outside. */
#define APPLE_TMP 256
#define APPLE_ENV 512
#define APPLE_STAYS 1024
static const struct {
	int bit;
	guarantee_set guarantees;
} apple_rows[] = {
	{1, GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(HIDE_METADATA)},
	{2, GUARANTEE_BIT(WRITE_SCOPE)},
	{APPLE_NET, GUARANTEE_BIT(NET_DENY)},
	{8, GUARANTEE_BIT(OPEN_FILES)},
	{16, GUARANTEE_BIT(MEMORY_TREE)},
	{APPLE_TMP, GUARANTEE_BIT(PRIVATE_TMP)},
	{APPLE_ENV, GUARANTEE_BIT(ENV_SCRUB)},
	{APPLE_STAYS, GUARANTEE_BIT(KILL_TREE)},
};

/* $1 is a path that nothing grants, $2 a directory that can be read, $3 a new name for /tmp. */
static const char apple_script[] =
	"r=0\n"
	"echo x >new && test -s new && test -s \"$2/f\" && echo x >\"/tmp/$3\" || exit 127\n"
	"test -e \"$1\" && r=1\n"
	"for d in \"$2\" / /usr; do { echo x >\"$d/cordon-trial\"; } 2>/dev/null && r=$((r|2)); done\n"
	"n=4\n" /* until the list was there and had no other name */
	"{ read a && read a && n=0; while read a b; do test \"${a%%:*}\" = lo || n=4; done; } </proc/net/dev\n"
	"r=$((r|n))\n"
	"test \"$(ulimit -n)\" = 64 || r=$((r|8))\n"
	/* the whole machine has no more, or the group of the container */
	"m=16\n"
	"while read a b c; do test \"$a\" = MemTotal: && test \"$b\" -le 524288 && m=0; done </proc/meminfo\n"
	"{ read a </sys/fs/cgroup/memory.max; } 2>/dev/null && test \"$a\" -le 536870912 2>/dev/null && m=0\n"
	"r=$((r|m))\n"
	"cat /proc/$$/environ\n"
	"{ setsid sleep 60 || sleep 60; } >/dev/null 2>&1 &\n"
	"exit $r\n";

/* What the program says to these words; its exit status in *ret_code.  -errno, or the length. */
static int apple_hear(const char *program, char *const *words, char *ret, size_t size,
		      int *ret_code)
{
	AUTO(strv_done) struct strv own = {0};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int from = -1;
	int64_t deadline = clock_deadline(APPLE_ASK_MS);
	struct proc proc;
	struct proc_exit end;
	size_t len = 0;
	int pipe_fds[2];
	int r;

	if (null < 0 || apple_own_env(&own) < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -EIO;
	from = pipe_fds[0];
	r = proc_clone(0, &proc);
	if (r == 0)
		apple_exec(program, words, own.v, (const int[]){null, pipe_fds[1], null});
	(void)fd_close(pipe_fds[1]);
	if (r < 0)
		return r;
	for (ssize_t n = 1; n > 0 && len<size - 1; len += n> 0 ? (size_t)n : 0)
		n = io_read(from, ret + len, size - 1 - len, deadline);
	ret[len] = '\0';
	if (poll(&(struct pollfd){.fd = proc.pidfd, .events = POLLIN}, 1,
		 clock_poll_timeout(deadline)) <= 0 &&
	    proc_signal(&proc, SIGKILL) == 0)
		(void)poll(&(struct pollfd){.fd = proc.pidfd, .events = POLLIN}, 1, APPLE_ASK_MS);
	r = proc_reap(&proc, &end);
	if (r != 1)
		return -ETIMEDOUT;
	*ret_code = end.signal ? -1 : end.code;
	return (int)len;
}

/* The first word of ours that its help does not know, or NULL. */
static const char *apple_unknown(const char *help)
{
	static const char *const options[] = {
		"--rm",        "--interactive", "--progress", "--name",    "--label",
		"--read-only", "--cap-drop",    "--no-dns",   "--network", "--env-file",
		"--workdir",   "--entrypoint",  "--user",     "--memory",  "--ulimit",
		"--mount",     "--tmpfs",
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (!strstr(help, options[i]))
			return options[i];
	return NULL;
}

/* The place of a trial: a workspace, a directory to read, and a file that nothing grants. */
struct apple_place {
	struct scratch scratch;
	char work[LIMIT_PATH_BYTES];
	char readable[LIMIT_PATH_BYTES];
	char outside[LIMIT_PATH_BYTES];
	char name[64]; /* new in /tmp */
};

static int apple_place_make(struct apple_place *p)
{
	AUTO_FREE char *tmp = realpath("/tmp", NULL); /* a link, on macOS */
	int r = tmp ? scratch_make(/* registry= */ NULL, tmp, &p->scratch) : -errno;

	if (r < 0)
		return r;
	(void)snprintf(p->work, sizeof(p->work), "%s/w", p->scratch.path);
	(void)snprintf(p->readable, sizeof(p->readable), "%s/r", p->scratch.path);
	(void)snprintf(p->outside, sizeof(p->outside), "%s/outside", p->scratch.path);
	(void)snprintf(p->name, sizeof(p->name), "cordon-trial-%ld", (long)getpid());
	if (mkdirat(p->scratch.fd, "w", 0700) < 0 || mkdirat(p->scratch.fd, "r", 0700) < 0)
		return -errno;
	r = io_write_file_at(p->scratch.fd, "outside", "x", 1, 0600);
	return r < 0 ? r : io_write_file_at(p->scratch.fd, "r/f", "x", 1, 0600);
}

/* Is the environment that was printed exactly this one, in whatever order? */
static bool apple_is_env(const char *said, size_t len, char *const *env)
{
	size_t n = 0;
	size_t want = 0;

	for (const char *at = said; at < said + len; at += strlen(at) + 1, n++) {
		bool is_known = false;

		for (char *const *e = env; *e; e++)
			is_known |= strcmp(at, *e) == 0;
		if (!is_known)
			return false;
	}
	while (env[want])
		want++;
	return n == want;
}

/* Is nothing of the container left?  It may take a moment to go. */
static bool apple_is_gone(const char *program, const char *name, char *said)
{
	static char list[] = "list", all[] = "--all", quiet[] = "--quiet";
	char *const words[] = {(char *)(uintptr_t)program, list, all, quiet, NULL};
	int64_t deadline = clock_deadline(APPLE_ASK_MS);
	int code = -1;

	do {
		if (apple_hear(program, words, said, APPLE_SAID_MAX, &code) < 0 || code != 0)
			return false;
		if (!strstr(said, name))
			return true;
		(void)poll(NULL, 0, APPLE_LOOK_MS);
	} while (clock_ms() < deadline);
	return false;
}

/* Runs the script in a container of the image.  What got through, APPLE_NOTHING, or a code. */
static int apple_try(const char *program, const char *image, char *said, struct cordon_error *err)
{
	struct apple_place place = {.scratch = SCRATCH_NONE};
	static char shell[] = "/bin/sh", c[] = "-c", name[] = "sh";
	static char path[] = "PATH=/usr/bin:/bin", own[] = "CORDON_TRIAL=a b";
	char script[sizeof(apple_script)];
	char *argv[] = {shell, c, script, name, place.outside, place.readable, place.name, NULL};
	char *envp[] = {path, own, NULL};
	char id[64];
	char container[96];
	const struct plan_op ops[] = {{.kind = PLAN_OP_TMPFS, .path = "/tmp"},
				      {.kind = PLAN_OP_BIND_RO, .path = place.readable},
				      {.kind = PLAN_OP_BIND_RW, .path = place.work}};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FREE char *out = NULL;
	struct spawn_result spawned;
	struct proc_exit end = {.code = -1};
	int ends[2] = {-1, -1};
	size_t len = 0;
	int r = null < 0 ? -errno : apple_place_make(&place);

	memcpy(script, apple_script, sizeof(script));
	(void)snprintf(id, sizeof(id), "trial-%ld", (long)getpid());
	(void)snprintf(container, sizeof(container), APPLE_CONTAINER "%s", id);
	if (r == 0 && pipe2(ends, O_CLOEXEC) < 0)
		r = -errno;
	if (r < 0) {
		r = cordon_fail_leaf(err, r, "make a place for a trial");
	} else {
		const struct plan plan = {.id = id,
					  .argv = argv,
					  .envp = envp,
					  .cwd = place.work,
					  .stdin_fd = null,
					  .stdout_fd = ends[1],
					  .stderr_fd = null,
					  .max_open_files = PLAN_LIMIT(APPLE_TRIAL_FILES),
					  .memory_bytes = PLAN_LIMIT(APPLE_TRIAL_MIB << 20),
					  .image = image,
					  .ops = ops,
					  .op_count = ARRAY_LEN(ops),
					  .scratch_dir = place.scratch.path};

		r = apple_start(program, &plan, &spawned, err);
		ends[1] = fd_close(ends[1]);
	}
	if (r == 0 && trial_end(&spawned, APPLE_TRIAL_MS, &end) < 0)
		r = cordon_fail(err, CORDON_E_TIMEOUT, "a trial container does not end");
	if (r == 0 && (end.code < 0 || end.code >= APPLE_NOTHING))
		r = APPLE_NOTHING;
	if (r == 0) {
		char in_tmp[LIMIT_PATH_BYTES];
		struct stat st;

		r = end.code;
		(void)snprintf(in_tmp, sizeof(in_tmp), "/tmp/%s", place.name);
		if (io_read_all(ends[0], APPLE_TRIAL_OUT, clock_deadline(APPLE_ASK_MS), &out,
				&len) < 0 ||
		    !apple_is_env(out, len, envp))
			r |= APPLE_ENV;
		if (unlink(in_tmp) == 0)
			r |= APPLE_TMP;
		if (!apple_is_gone(program, container, said))
			r |= APPLE_STAYS;
		/* Is it our directory that was written to? */
		if (fstatat(place.scratch.fd, "w/new", &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = APPLE_NOTHING;
	}
	(void)fd_close(ends[0]);
	(void)fd_close(ends[1]);
	scratch_done(&place.scratch);
	return r;
}

/* With the first images of the machine's list: what held, or why not. */
static void apple_trial(const char *program, char *said, struct probe *ret)
{
	static char noun[] = "image", list[] = "list", quiet[] = "--quiet";
	char *const words[] = {(char *)(uintptr_t)program, noun, list, quiet, NULL};
	AUTO_FREE char *images = NULL;
	struct cordon_error err = {0};
	char *rest;
	char *image;
	int tried = 0;
	int code = -1;
	int r = APPLE_NOTHING;

	if (apple_hear(program, words, said, APPLE_SAID_MAX, &code) >= 0 && code == 0)
		images = strdup(said);
	rest = images;
	while (rest && tried < APPLE_TRIAL_IMAGES && r == APPLE_NOTHING &&
	       (image = strsep(&rest, "\n")))
		if (image[0]) {
			r = apple_try(program, image, said, &err);
			tried++;
		}
	if (tried == 0 || r < 0 || r == APPLE_NOTHING) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%.100s: %.100s", program,
			       tried == 0 ? "has no image to be tried with; 'container image pull'"
			       : r < 0    ? err.message
					  : "no trial command runs in its images; pull one with a "
					    "shell");
		return;
	}
	ret->is_available = true;
	(void)snprintf(ret->reason, sizeof(ret->reason), "%.120s: a trial container held", program);
	ret->guarantees = APPLE_ALWAYS;
	for (size_t i = 0; i < ARRAY_LEN(apple_rows); i++)
		if (!(r & apple_rows[i].bit))
			ret->guarantees |= apple_rows[i].guarantees;
}

/* What does not depend on what somebody wants. */
static void apple_look(const char *program, struct probe *ret)
{
	static char system[] = "system", status[] = "status", run[] = "run", help[] = "--help";
	char *const asks[] = {(char *)(uintptr_t)program, system, status, NULL};
	char *const helps[] = {(char *)(uintptr_t)program, run, help, NULL};
	AUTO_FREE char *said = calloc(1, APPLE_SAID_MAX);
	const char *unknown;
	int code = -1;

	if (!said || apple_hear(program, asks, said, APPLE_SAID_MAX, &code) < 0 || code != 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "%.120s: its service does not run; 'container system start'",
			       program);
		return;
	}
	if (apple_hear(program, helps, said, APPLE_SAID_MAX, &code) < 0 || code != 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "%.120s: does not say what it can do; install Apple's container",
			       program);
		return;
	}
	unknown = apple_unknown(said);
	if (unknown) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "%.120s: 'run' has no %s; install a newer one", program, unknown);
		return;
	}
	apple_trial(program, said, ret);
}

/* Only what an image brings can run. */
static void apple_want(guarantee_set wanted, struct probe *ret)
{
	if (ret->is_available && wanted & GUARANTEE_BIT(IMAGE_ROOT))
		ret->guarantees |= GUARANTEE_BIT(NATIVE_CODE);
	else if (ret->is_available)
		(void)snprintf(ret->lacks, sizeof(ret->lacks),
			       "native-code: programs of macOS do not run on Linux; name an image");
}

void apple_ask(const char *program, guarantee_set wanted, struct probe *ret)
{
	*ret = (struct probe){0};
	apple_look(program, ret);
	apple_want(wanted, ret);
}

static char apple_found[TOOL_PATH_MAX]; /* by the probe that is going on */

static bool apple_own(struct probe *ret)
{
	apple_look(apple_found, ret);
	return ret->is_available;
}

void apple_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	const struct trial trial = {.info = &backend_infos[BACKEND_APPLE_CONTAINER],
				    .tool = apple_found,
				    .own = apple_own};
	char why[TOOL_WHY_MAX];
	struct utsname name;
	int fd;

	*ret = (struct probe){0};
	/* A program of that name elsewhere is another one. */
	if (uname(&name) < 0 || strcmp(name.sysname, "Darwin") != 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "this is %.40s; Apple's container is for macOS on Apple silicon",
			       name.sysname);
		return;
	}
	fd = tool_open(APPLE_PROGRAM, apple_found, why);
	if (fd < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s; install Apple's container",
			       why);
		return;
	}
	(void)fd_close(fd);
	trial_probe(&trial, form, ret);
	apple_want(wanted, ret);
}
