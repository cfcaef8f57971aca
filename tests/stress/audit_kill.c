/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many writers of one audit trail, killed with SIGKILL at random until each has written its share.  A
 * writer reports a record to its parent after audit_append() returned; in the end the chain is whole,
 * every reported record is there exactly once and in order, a killed writer left at most one more, and
 * every torn write is in audit.torn and in an audit.repair record.  Some children are saboteurs: they take
 * the lock, write part of a record or rename the file as rotation does, and kill themselves.
 *
 * usage: audit_kill [RECORDS]      per writer, 10000 unless given; the other scenarios follow it
 */
#include "audit/audit.h"
#include "audit/reader.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WRITERS = 8,
	LIVES = 65536,     /* of one writer */
	RUN_MS = 300000,   /* then it hangs, which is a failure */
	SABOTEUR_MS = 500, /* then all others are done or the log is broken */
	TEAR_EVERY = 4,    /* deaths */
	ROTATE_EVERY = 8,  /* deaths, where rotation is wanted */
	PAD_MAX = 100000,  /* many pages, so that a kill can land inside of the write */
};

struct life {
	uint32_t acknowledged;
	uint32_t seen; /* in the log */
	bool was_killed;
};

struct writer {
	pid_t pid;
	int pipe;
	uint32_t done; /* records acknowledged in earlier lives */
	uint32_t lives;
	bool is_finished;
	struct life *life;
};

struct scenario {
	const char *name;
	uint32_t records; /* per writer */
	uint64_t max_file_bytes;
	unsigned kept;
	unsigned kill_every_us;
	bool expires; /* old files go, so only the newest records can be expected */
};

struct run {
	const struct scenario *scenario;
	char dir[64];
	struct writer writer[WRITERS];
	unsigned kills, deaths, tears, half_rotations;
	pid_t watcher;
};

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15U);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(70);
}

static struct audit *open_trail(const struct run *run)
{
	struct audit_options options = {
		.struct_size = sizeof(options),
		.dir = run->dir,
		.max_file_bytes = run->scenario->max_file_bytes,
		.kept = run->scenario->kept,
		.lock_ms = 60000,
	};
	struct cordon_error err = {0};
	struct audit *a = NULL;

	if (audit_open(&options, &a, &err) < 0) {
		fprintf(stderr, "audit_open: %s\n", err.message);
		_exit(71);
	}
	return a;
}

/* The writer's whole life.  Leaves with _exit(): the parent's stdio is not ours. */
static _Noreturn void write_records(const struct run *run, uint32_t w, uint32_t life,
				    uint32_t count, int ack)
{
	static char body[PAD_MAX + 256];
	struct audit *a = open_trail(run);

	random_state = ((uint64_t)w << 40) ^ ((uint64_t)life << 8) ^ (uint64_t)clock_ns();
	for (uint32_t n = 0; n < count; n++) {
		size_t pad = random_next() % 256 == 0 ? random_next() % PAD_MAX
						      : random_next() % 300;
		struct audit_event ev = {
			.type = AUDIT_EVENT_CALL, .decision = "allow", .body = body};
		struct cordon_error err = {0};
		int len = snprintf(body, sizeof(body), "\"w\":%u,\"life\":%u,\"n\":%u,\"pad\":\"",
				   w, life, n);

		memset(body + len, 'x', pad);
		body[(size_t)len + pad] = '"';
		ev.body_len = (size_t)len + pad + 1;
		if (audit_append(a, &ev, NULL, &err) < 0) {
			fprintf(stderr, "audit_append: %s\n", err.message);
			_exit(72);
		}
		if (write(ack, &n, sizeof(n)) != (ssize_t)sizeof(n))
			die("acknowledge");
	}
	_exit(0);
}

/* Takes the lock as a writer does, writes part of a record, dies. */
static _Noreturn void tear(const struct run *run, unsigned number)
{
	char part[160];
	int len = snprintf(part, sizeof(part),
			   "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"seq\":1,\"tear-%06u", number);
	int dirfd = open(run->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int64_t end = clock_deadline(SABOTEUR_MS); clock_ms() < end;) {
		uint64_t size = 0;
		int fd = -1;
		char last = 0;

		if (audit_store_lock(dirfd, O_RDWR | O_CREAT, LOCK_EX, clock_deadline(60000), &fd,
				     &size, NULL) < 0)
			die("lock");
		/* Only a clean end is torn, so that tears can be counted. */
		if (size > 0 && pread(fd, &last, 1, (off_t)size - 1) == 1 && last == '\n') {
			if (pwrite(fd, part, (size_t)len, (off_t)size) != len)
				die("tear");
			(void)raise(SIGKILL);
		}
		audit_store_unlock(fd);
		(void)poll(NULL, 0, 1);
	}
	_exit(1); /* the log is broken, which the checks will say */
}

/* Renames the file as rotation does, and dies before there is a new one. */
static _Noreturn void half_rotate(const struct run *run)
{
	int dirfd = open(run->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int64_t end = clock_deadline(SABOTEUR_MS); clock_ms() < end;) {
		char front[128], name[AUDIT_NAME_LEN], last = 0;
		uint64_t size = 0, seq = 0;
		ssize_t n;
		int fd = -1;

		if (audit_store_lock(dirfd, O_RDWR | O_CREAT, LOCK_EX, clock_deadline(60000), &fd,
				     &size, NULL) < 0)
			die("lock");
		n = pread(fd, front, sizeof(front), 0);
		if (size > 0 && n > 0 && audit_line_first_seq(front, (size_t)n, &seq) == 0 &&
		    pread(fd, &last, 1, (off_t)size - 1) == 1 && last == '\n') {
			audit_store_rotated_name(seq, name);
			if (renameat(dirfd, AUDIT_FILE, dirfd, name) < 0)
				die("rename");
			(void)raise(SIGKILL);
		}
		audit_store_unlock(fd);
		(void)poll(NULL, 0, 1);
	}
	_exit(1); /* the log is broken, which the checks will say */
}

static void start_writer(struct run *run, uint32_t w)
{
	struct writer *wr = &run->writer[w];
	uint32_t left = run->scenario->records - wr->done;
	int ends[2];

	if (wr->lives == LIVES || pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	wr->pid = fork();
	if (wr->pid < 0)
		die("fork");
	if (wr->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stopped test leaves nobody behind */
		(void)fd_close(ends[0]);
		write_records(run, w, wr->lives, left, ends[1]);
	}
	(void)fd_close(ends[1]);
	wr->pipe = ends[0];
	wr->lives++;
}

static void run_saboteur(struct run *run, bool rotates)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stopped test leaves nobody behind */
	if (pid == 0 && rotates)
		half_rotate(run);
	if (pid == 0)
		tear(run, run->tears);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFSIGNALED(status))
		return;
	if (rotates)
		run->half_rotations++;
	else
		run->tears++;
}

/* Its pipe is at the end: it died or is done.  false when it failed. */
static bool end_of_writer(struct run *run, uint32_t w)
{
	struct writer *wr = &run->writer[w];
	struct life *life = &wr->life[wr->lives - 1];
	int status = 0;

	wr->pipe = fd_close(wr->pipe);
	if (waitpid(wr->pid, &status, 0) != wr->pid)
		die("waitpid");
	life->was_killed = WIFSIGNALED(status);
	wr->done += life->acknowledged;
	if (!life->was_killed && WEXITSTATUS(status) != 0)
		return false;
	wr->is_finished = wr->done >= run->scenario->records;
	if (wr->is_finished)
		return true;
	if (run->deaths % TEAR_EVERY == 0)
		run_saboteur(run, /* rotates= */ false);
	if (run->deaths % ROTATE_EVERY == 1 && run->scenario->max_file_bytes)
		run_saboteur(run, /* rotates= */ true);
	run->deaths++;
	start_writer(run, w);
	return true;
}

/* Reads acknowledgements.  false: a writer failed or they came out of order. */
static bool read_acknowledgements(struct run *run, uint32_t w)
{
	struct writer *wr = &run->writer[w];
	struct life *life = &wr->life[wr->lives - 1];
	uint32_t n[1024];
	ssize_t got = read(wr->pipe, n, sizeof(n));

	if (got < 0 && errno != EINTR)
		die("read");
	if (got == 0)
		return end_of_writer(run, w);
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(n[0]); i++)
		if (n[i] != life->acknowledged++)
			return false;
	return true;
}

static void kill_one(struct run *run)
{
	struct writer *wr = &run->writer[random_next() % WRITERS];

	/* Not reaped yet, so the number is still its own. */
	if (!wr->is_finished && kill(wr->pid, SIGKILL) == 0)
		run->kills++;
}

/* A reader in the middle of it all sees a whole log, at worst with a torn end.  Ends with its pipe. */
static _Noreturn void watch(const struct run *run, int stop)
{
	struct pollfd p = {.fd = stop, .events = POLLIN};

	while (poll(&p, 1, 0) == 0) {
		struct audit_verify_result result = {0};
		struct cordon_error err = {0};

		if (audit_verify(run->dir, NULL, &result, &err) == 0 && result.is_intact)
			continue;
		fprintf(stderr, "meanwhile: %s:%llu: %s %s\n", result.file,
			(unsigned long long)result.line, audit_damage_text(result.damage),
			err.message);
		_exit(1);
	}
	_exit(0);
}

/* Returns the end of the pipe to close when the watcher shall end. */
static int start_watcher(struct run *run)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	run->watcher = fork();
	if (run->watcher < 0)
		die("fork");
	if (run->watcher == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stopped test leaves nobody behind */
		(void)fd_close(ends[1]);
		watch(run, ends[0]);
	}
	(void)fd_close(ends[0]);
	return ends[1];
}

static bool end_watcher(struct run *run, int stop)
{
	int status = 0;

	(void)fd_close(stop);
	return waitpid(run->watcher, &status, 0) == run->watcher && status == 0;
}

static bool run_writers(struct run *run)
{
	int64_t deadline = clock_deadline(RUN_MS);
	int64_t next_kill = clock_ns();

	for (uint32_t w = 0; w < WRITERS; w++)
		start_writer(run, w);
	while (clock_ms() < deadline) {
		struct pollfd p[WRITERS];
		bool is_busy = false;

		for (uint32_t w = 0; w < WRITERS; w++) {
			p[w] = (struct pollfd){.fd = run->writer[w].pipe, .events = POLLIN};
			is_busy |= !run->writer[w].is_finished;
		}
		if (!is_busy)
			return true;
		if (poll(p, WRITERS, 1) < 0 && errno != EINTR)
			die("poll");
		for (uint32_t w = 0; w < WRITERS; w++)
			if ((p[w].revents & (POLLIN | POLLHUP)) && !read_acknowledgements(run, w))
				return false;
		if (clock_ns() >= next_kill) {
			kill_one(run);
			next_kill = clock_ns() +
				    (int64_t)(random_next() % (2 * run->scenario->kill_every_us)) *
					    1000;
		}
	}
	return false;
}

/* One record of the log against what was acknowledged. */
static bool check_record(struct run *run, const struct audit_line *line)
{
	int64_t w = 0, life = 0, n = 0;
	struct life *l;

	if (line->event != AUDIT_EVENT_CALL)
		return true;
	if (!audit_line_int(line, "w", &w) || !audit_line_int(line, "life", &life) ||
	    !audit_line_int(line, "n", &n) || w >= WRITERS || life >= run->writer[w].lives)
		return false;
	l = &run->writer[w].life[life];
	if (run->scenario->expires && l->seen == 0)
		l->seen = (uint32_t)n; /* the ones before are in deleted files */
	if (n != l->seen) {
		printf("# writer %lld life %lld: record %lld where %u was due\n", (long long)w,
		       (long long)life, (long long)n, l->seen);
		return false;
	}
	l->seen++;
	return true;
}

/* The repair's bytes are in audit.torn, whole. */
static bool check_repair(const struct audit_line *line, const char *torn, size_t torn_len)
{
	const char *hash = audit_line_str(line, "sha256");
	char want[160], real[SHA256_HEX_LEN];
	int64_t length = 0, offset = 0;
	const char *at;
	int n;

	if (!hash || !audit_line_int(line, "length", &length) ||
	    !audit_line_int(line, "offset", &offset))
		return false;
	n = snprintf(want, sizeof(want), "\"offset\":%lld,\"length\":%lld,\"sha256\":\"%s\"}\n",
		     (long long)offset, (long long)length, hash);
	at = memmem(torn, torn_len, want, (size_t)n);
	if (!at || (size_t)length > torn_len - (size_t)(at + n - torn))
		return false;
	sha256_hex(at + n, (size_t)length, real);
	return strcmp(real, hash) == 0;
}

static bool check_log(struct run *run, const char *torn, size_t torn_len)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct cordon_error err = {0};
	struct audit_line line;
	bool is_good = true;
	int r = audit_reader_open(run->dir, NULL, &reader, &err);

	while (r >= 0 && is_good && (r = audit_reader_next(reader, &line, &err)) > 0) {
		is_good = check_record(run, &line);
		if (line.event == AUDIT_EVENT_AUDIT_REPAIR &&
		    !check_repair(&line, torn, torn_len)) {
			printf("# repair of seq %llu is not in audit.torn\n",
			       (unsigned long long)line.head.seq);
			is_good = false;
		}
		audit_line_done(&line);
	}
	if (r < 0)
		printf("# %s\n", err.message);
	return r >= 0 && is_good;
}

static bool check_counts(const struct run *run)
{
	unsigned missing = 0, extra = 0, wrong = 0;

	for (uint32_t w = 0; w < WRITERS; w++)
		for (uint32_t i = 0; i < run->writer[w].lives; i++) {
			const struct life *l = &run->writer[w].life[i];

			if (run->scenario->expires && l->seen == 0)
				continue;
			missing += l->seen < l->acknowledged ? l->acknowledged - l->seen : 0;
			extra += l->seen > l->acknowledged;
			wrong += l->seen > l->acknowledged + (l->was_killed ? 1U : 0U);
		}
	printf("# %u missing, %u in flight when killed, %u that nobody wrote\n", missing, extra,
	       wrong);
	return missing == 0 && wrong == 0;
}

static bool check_tears(const struct run *run, const char *torn, size_t torn_len)
{
	for (unsigned i = 0; i < run->tears; i++) {
		char mark[32];
		int n = snprintf(mark, sizeof(mark), "tear-%06u", i);

		if (!memmem(torn, torn_len, mark, (size_t)n)) {
			printf("# %s is lost\n", mark);
			return false;
		}
	}
	return run->tears > 0;
}

static unsigned tap_number, tap_failed;

static void tap(bool is_good, const char *scenario, const char *what)
{
	printf("%s %u - %s: %s\n", is_good ? "ok" : "not ok", ++tap_number, scenario, what);
	tap_failed += !is_good;
}

static void remove_trail(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0); /* "." and ".." refuse */
	if (dir)
		(void)closedir(dir);
	(void)rmdir(path);
}

/* A last record repairs what the last kill tore; then everything must be in order. */
static void check_run(struct run *run)
{
	const char *name = run->scenario->name;
	struct audit_event last = {.type = AUDIT_EVENT_SESSION};
	struct audit_verify_result result = {0};
	struct audit_receipt receipt = {0};
	struct cordon_error err = {0};
	struct audit_head want = {0};
	AUTO_FREE char *torn = NULL;
	AUTO(audit_closep) struct audit *a = open_trail(run);
	char path[96];
	size_t torn_len = 0;
	int r;

	r = audit_append(a, &last, &receipt, &err);
	tap(r == 0, name, "the log takes another record");
	want.seq = receipt.seq;
	memcpy(want.hash, receipt.hash, sizeof(want.hash));
	r = audit_verify(run->dir, &want, &result, &err);
	printf("# %s: %u kills, %u tears, %u half rotations; %llu records, %llu files, %llu repairs, %llu expired%s%s\n",
	       name, run->kills, run->tears, run->half_rotations,
	       (unsigned long long)result.records, (unsigned long long)result.files,
	       (unsigned long long)result.repairs, (unsigned long long)result.expired,
	       r < 0 ? ": " : "", err.message);
	if (result.damage != AUDIT_DAMAGE_NONE)
		printf("# %s:%llu: %s\n", result.file, (unsigned long long)result.line,
		       audit_damage_text(result.damage));
	tap(r == 0 && result.damage == AUDIT_DAMAGE_NONE, name, "verify is true");
	(void)snprintf(path, sizeof(path), "%s/" AUDIT_TORN_FILE, run->dir);
	r = io_read_file_at(AT_FDCWD, path, LIMIT_AUDIT_TORN, &torn, &torn_len);
	tap(r == 0 && check_tears(run, torn, torn_len), name, "every torn write is kept");
	tap(run->scenario->expires || result.repairs >= run->tears, name,
	    "every repair is recorded");
	tap(torn && check_log(run, torn, torn_len), name, "records are there once and in order");
	tap(check_counts(run), name, "no acknowledged record is missing");
	tap(run->scenario->max_file_bytes == 0 || result.files > 2 || run->scenario->records < 500,
	    name, "it rotated if it should");
}

static void run_scenario(const struct scenario *scenario)
{
	struct run run = {.scenario = scenario};
	const char *tmp = env_get("TMPDIR");
	int64_t started = clock_ms();
	int stop = -1;

	(void)snprintf(run.dir, sizeof(run.dir), "%.40s/audit-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(run.dir))
		die("mkdtemp");
	for (uint32_t w = 0; w < WRITERS; w++) {
		run.writer[w].pipe = -1;
		run.writer[w].life = calloc(LIVES, sizeof(struct life));
		if (!run.writer[w].life)
			die("calloc");
	}
	/* Not for the large one: its proof would take a processor from the writers all the time. */
	if (scenario->max_file_bytes)
		stop = start_watcher(&run);
	tap(run_writers(&run), scenario->name, "every writer wrote its share");
	tap(stop < 0 || end_watcher(&run, stop), scenario->name, "readers always see a whole log");
	run_saboteur(&run, /* rotates= */ false);
	for (uint32_t w = 0; w < WRITERS; w++)
		if (run.writer[w].pipe >= 0) {
			(void)kill(run.writer[w].pid, SIGKILL);
			(void)waitpid(run.writer[w].pid, NULL, 0);
			(void)fd_close(run.writer[w].pipe);
		}
	check_run(&run);
	printf("# %s: %lld ms\n", scenario->name, (long long)(clock_ms() - started));
	for (uint32_t w = 0; w < WRITERS; w++)
		free(run.writer[w].life);
	remove_trail(run.dir);
}

int main(int argc, char **argv)
{
	int64_t records = 10000;
	struct scenario scenarios[] = {
		{.name = "one file", .kill_every_us = 2000},
		{.name = "rotation",
		 .max_file_bytes = 256 * 1024,
		 .kept = 128,
		 .kill_every_us = 1500},
		{.name = "expiry",
		 .max_file_bytes = 32 * 1024,
		 .kept = 4,
		 .kill_every_us = 1500,
		 .expires = true},
	};

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && parse_int(argv[1], 1, 1000000, &records) < 0) {
		fprintf(stderr, "usage: audit_kill [RECORDS]\n");
		return 2;
	}
	scenarios[0].records = (uint32_t)records;
	scenarios[1].records = scenarios[2].records = (uint32_t)(records < 5 ? 1 : records / 5);
	printf("1..%zu\n", 9 * ARRAY_LEN(scenarios));
	for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
		run_scenario(&scenarios[i]);
	return tap_failed ? 1 : 0;
}
