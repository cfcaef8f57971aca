/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills a command when one of its processes stands before a system call of its choice.
 *
 * usage: kill_at all|one PROCESS CALL -- COMMAND [ARG...]
 *
 * PROCESS 0 is the command itself, 0.1 the first that it makes, 0.1.2 the second that this one makes: names that do not
 * depend on who is faster.  CALL counts from 1, since exec for the command and since birth for the others.
 * all: the command is killed while that process stands still, whatever it is, and that one goes on only then.  one:
 * that process is killed, and the command has to cope.
 * A process is followed until it executes another program.  Everything that loses its parent becomes ours, so that we
 * know when nothing is left.
 *
 * Prints one line: "hit" or "missed"; the number of the system call; the command's wait status; milliseconds from the kill
 * until nothing was left, or -1 when something was and had to be killed; then PROCESS=CALLS for each that was followed.
 */
#include "base/io.h"
#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES_MAX = 512,
	NAME_MAX_BYTES = 64,
	LIST_BYTES = 65536,
	DEAD_MS = 2000,   /* after a kill of the command: far more than it may take */
	COPE_MS = 15000,  /* after a kill of another one: it is waited for 10 s at most */
	START_MS = 30000, /* until the call is reached */
	LOOK_US = 200,    /* between looks */
	OWN_FAILURE = 99, /* exit code: what we say means nothing */
	PROGRAM_ARGS = 5, /* in front of the command */
};

#define FOLLOW                                                                                     \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

struct process {
	pid_t pid;
	char name[NAME_MAX_BYTES]; /* empty while it is not known who made it: it stands still until then */
	int64_t calls;
	unsigned made;
};

struct follower {
	struct process all[PROCESSES_MAX];
	size_t n;
	bool kills_all;
	const char *process;
	int64_t call;
	bool has_hit;
	bool has_begun; /* the command was executed */
	int64_t hit_us;
	uint64_t number; /* of the system call */
	int status;      /* of the command */
};

static int64_t now_us(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

_Noreturn static void give_up(const char *what)
{
	(void)fprintf(stderr, "kill_at: %s: %s\n", what, strerror(errno));
	_exit(OWN_FAILURE);
}

/* New ones are added. */
static struct process *follower_find(struct follower *f, pid_t pid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->all[i].pid == pid)
			return &f->all[i];
	if (f->n == PROCESSES_MAX)
		give_up("too many processes");
	f->all[f->n].pid = pid;
	return &f->all[f->n++];
}

static void follower_ended(struct follower *f, pid_t pid, int status)
{
	if (pid == f->all[0].pid)
		f->status = status;
	else
		follower_find(f, pid)->pid = -1; /* its number may be another one's soon */
}

/* What follows fails for one that was killed meanwhile: then its end comes next. */
static void follower_go_on(const struct process *p, long sig)
{
	(void)ptrace(PTRACE_SYSCALL, p->pid, NULL, sig);
}

static void follower_leave(const struct process *p, long sig)
{
	(void)ptrace(PTRACE_DETACH, p->pid, NULL, sig);
}

/* Who made the new one tells; it may have come before. */
static void follower_name(struct follower *f, struct process *maker)
{
	unsigned long pid = 0;
	struct process *p;
	bool waits = false;

	if (ptrace(PTRACE_GETEVENTMSG, maker->pid, NULL, &pid) < 0)
		return;
	for (size_t i = 0; i < f->n; i++)
		waits = waits || f->all[i].pid == (pid_t)pid;
	p = follower_find(f, (pid_t)pid);
	(void)snprintf(p->name, sizeof(p->name), "%.*s.%u", NAME_MAX_BYTES - 12, maker->name,
		       ++maker->made);
	if (waits)
		follower_go_on(p, 0);
}

/* The process stands before the call, and goes on when the command is gone.  The end of the first process of a pid
 * namespace waits for all others there, and those that we follow for us. */
static void follower_hit(struct follower *f, struct process *p)
{
	pid_t victim = f->kills_all ? f->all[0].pid : p->pid;
	pid_t pid;

	f->has_hit = true;
	f->hit_us = now_us();
	if (kill(victim, SIGKILL) < 0)
		give_up("kill");
	do {
		int status = 0;

		pid = waitpid(-1, &status, __WALL);
		if (pid > 0 && WIFSTOPPED(status) && pid != victim)
			follower_leave(follower_find(f, pid), 0);
		else if (pid > 0 && WIFSTOPPED(status))
			pid = 0;
		else if (pid > 0)
			follower_ended(f, pid, status);
	} while (pid != victim && (pid >= 0 || errno == EINTR));
	follower_leave(p, 0);
	for (size_t i = 0; i < f->n; i++)
		if (!f->all[i].name[0])
			follower_leave(&f->all[i], 0);
}

/* Is it before a system call, and which? */
static bool follower_is_call(const struct process *p, int sig, uint64_t *ret)
{
	struct __ptrace_syscall_info info = {0};

	if (sig != (SIGTRAP | 0x80) ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	*ret = info.entry.nr;
	return true;
}

/* One stop of one process. */
static void follower_stop(struct follower *f, pid_t pid, int status)
{
	struct process *p = follower_find(f, pid);
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	long passed = sig == (SIGTRAP | 0x80) || event != 0 ? 0 : sig;
	uint64_t number = 0;

	if (event == PTRACE_EVENT_EXEC && !f->has_begun) {
		f->has_begun = true;
	} else if (f->has_hit || event == PTRACE_EVENT_EXEC) {
		follower_leave(p, passed);
		return;
	}
	if (!p->name[0])
		return;
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE)
		follower_name(f, p);
	if (f->has_begun && follower_is_call(p, sig, &number)) {
		p->calls++;
		if (p->calls == f->call && strcmp(p->name, f->process) == 0) {
			f->number = number;
			follower_hit(f, p);
			return;
		}
	}
	follower_go_on(p, passed);
}

/* Says what lives on, and kills it.  All that has lost its parent is our child by now; what these had becomes the child of
 * who started us. */
static void follower_end(void)
{
	AUTO_FREE char *list = NULL;
	char path[64];
	char *rest;
	char *word;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (io_read_file_at(AT_FDCWD, path, LIST_BYTES, &list, &len) < 0)
		give_up("who lives on");
	rest = list;
	while ((word = strsep(&rest, " "))) {
		AUTO_FREE char *name = NULL;
		int64_t pid;

		if (parse_int(word, 1, INT32_MAX, &pid) < 0)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		if (io_read_file_at(AT_FDCWD, path, LIST_BYTES, &name, &len) == 0)
			(void)fprintf(stderr, "kill_at: %d lives on: %s", (int)pid, name);
		(void)kill((pid_t)pid, SIGKILL);
	}
}

/* Until nothing is left.  Milliseconds since the kill, or -1 if something had to be ended by us. */
static double follower_follow(struct follower *f)
{
	int64_t end = now_us() + START_MS * INT64_C(1000);
	bool is_forced = false;

	for (;;) {
		int status = 0;
		pid_t pid = waitpid(-1, &status, __WALL | (f->has_hit ? WNOHANG : 0));
		bool had_hit = f->has_hit;

		if (pid < 0 && errno == ECHILD)
			break;
		if (pid < 0 && errno != EINTR)
			give_up("wait");
		if (pid > 0 && WIFSTOPPED(status))
			follower_stop(f, pid, status);
		else if (pid > 0)
			follower_ended(f, pid, status);
		if (f->has_hit && !had_hit)
			end = f->hit_us + (f->kills_all ? DEAD_MS : COPE_MS) * INT64_C(1000);
		if (now_us() > end) {
			is_forced = true;
			follower_end();
			break;
		}
		if (pid == 0)
			(void)usleep(LOOK_US);
	}
	return is_forced ? -1 : (double)(now_us() - f->hit_us) / 1e3;
}

int main(int argc, char **argv)
{
	static struct follower f;
	double took;
	pid_t pid;
	int go[2];
	char byte;

	if (argc <= PROGRAM_ARGS || strcmp(argv[PROGRAM_ARGS - 1], "--") != 0 ||
	    parse_int(argv[3], 0, INT32_MAX, &f.call) < 0) {
		(void)fprintf(stderr, "usage: kill_at all|one PROCESS CALL -- COMMAND [ARG...]\n");
		return OWN_FAILURE;
	}
	f.kills_all = strcmp(argv[1], "all") == 0;
	f.process = argv[2];
	f.status = -1;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || pipe2(go, O_CLOEXEC) < 0)
		give_up("prepare");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid == 0) {
		if (read(go[0], &byte, 1) == 1)
			(void)execv(argv[PROGRAM_ARGS], argv + PROGRAM_ARGS);
		_exit(OWN_FAILURE);
	}
	(void)snprintf(follower_find(&f, pid)->name, NAME_MAX_BYTES, "0");
	if (ptrace(PTRACE_SEIZE, pid, NULL, FOLLOW) < 0)
		give_up("trace");
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || write(go[1], "", 1) != 1)
		give_up("begin");
	took = follower_follow(&f);
	(void)printf("%s %llu %d %.1f", f.has_hit ? "hit" : "missed", (unsigned long long)f.number,
		     f.status, took);
	for (size_t i = 0; i < f.n; i++)
		(void)printf(" %s=%lld", f.all[i].name, (long long)f.all[i].calls);
	(void)printf("\n");
	return 0;
}
