/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of the test guest, linked statically and alone in its initramfs.  It loads the kernel
 * modules that it is given, mounts the host's root (9p, read-only) with a disk for what must be written or
 * needs a real file system, enters that, runs the first script, and becomes systemd for the second.
 * The checkout and its build stay where they are on the host, whatever the disk's directories hide.
 * Not part of cordon: nothing here is meant to be robust, only to say where it stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES_MAX 16

static void stop(const char *what)
{
	if (what)
		printf("not ok 1 - guest: %s: %s\n1..1\n", what, strerror(errno));
	printf("guest: over\n");
	fflush(stdout);
	sync();
	(void)reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_at(const char *type, const char *source, const char *target, unsigned long flags,
		     const char *options)
{
	(void)mkdir(target, 0755);
	if (mount(source, target, type, flags, options) < 0)
		stop(target);
}

static void load_modules(void)
{
	FILE *list = fopen("/modules/order", "re");
	char name[256];

	while (list && fgets(name, sizeof(name), list)) {
		char path[300];
		int fd;

		name[strcspn(name, "\n")] = '\0';
		(void)snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
			stop(path);
		(void)close(fd);
	}
	if (list)
		(void)fclose(list);
}

/* The lines of a file; never freed. */
static size_t lines(const char *path, char *ret[static PLACES_MAX])
{
	FILE *file = fopen(path, "re");
	size_t count = 0, room = 0;

	if (!file)
		stop(path);
	for (char *line = NULL; count < PLACES_MAX && getline(&line, &room, file) > 0;
	     line = NULL, room = 0) {
		line[strcspn(line, "\n")] = '\0';
		ret[count++] = line;
	}
	(void)fclose(file);
	return count;
}

static char *join(const char *format, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, format, name) < 0)
		stop("memory");
	return path;
}

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755); /* most are there */
		*slash = '/';
	}
	(void)mkdir(path, 0755);
}

static void bind_at(const char *from, const char *to)
{
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		stop(to);
}

static void enter_root(void)
{
	char *hidden[PLACES_MAX], *kept[PLACES_MAX];
	size_t hidden_count = lines("/hidden", hidden), kept_count = lines("/kept", kept);

	mount_at("9p", "hostroot", "/host", MS_RDONLY,
		 "trans=virtio,version=9p2000.L,cache=loose,msize=512000");
	mount_at("ext4", "/dev/vda", "/disk", 0, NULL);
	for (size_t i = 0; i < kept_count; i++) {
		char number[] = {(char)('a' + i), '\0'}, *place = join("/kept-%s", number);

		(void)mkdir(place, 0755);
		bind_at(join("/host%s", kept[i]), place);
	}
	for (size_t i = 0; i < hidden_count; i++)
		bind_at(join("/disk/%s", hidden[i]), join("/host/%s", hidden[i]));
	mount_at("proc", "proc", "/host/proc", 0, NULL);
	mount_at("sysfs", "sysfs", "/host/sys", 0, NULL);
	mount_at("devtmpfs", "devtmpfs", "/host/dev", 0, NULL);
	(void)symlink("/proc/self/fd", "/host/dev/fd");
	mount_at("tmpfs", "tmpfs", "/host/run", 0, "mode=755");
	mount_at("tmpfs", "tmpfs", "/host/dev/shm", 0, "mode=1777");
	mount_at("devpts", "devpts", "/host/dev/pts", 0, "ptmxmode=666");
	mount_at("cgroup2", "cgroup2", "/host/sys/fs/cgroup", 0, NULL);
	for (size_t i = 0; i < kept_count; i++) {
		char number[] = {(char)('a' + i), '\0'}, *target = join("/host%s", kept[i]);

		make_directories(target);
		bind_at(join("/kept-%s", number), target);
	}
	if (chdir("/host") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		stop("enter the root");
}

static void loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		stop("bring the loopback up");
	(void)close(fd);
}

int main(void)
{
	char *const script[] = {"/bin/sh", "/root/guest", "first", NULL};
	char *const systemd[] = {"/lib/systemd/systemd", "--show-status=0", NULL};
	char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8",
			     NULL};
	int console;
	pid_t pid;

	(void)mkdir("/dev", 0755);
	(void)mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console = open("/dev/console", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(console, fd);
	load_modules();
	enter_root();
	(void)sethostname("guest", 5);
	loopback();
	pid = fork();
	if (pid == 0) {
		(void)setsid();
		(void)execve(script[0], script, env);
		stop("run the script");
	}
	while (wait(NULL) != pid)
		;
	if (access("/root/second", F_OK) == 0) {
		(void)execve(systemd[0], systemd, env);
		stop("become systemd");
	}
	stop(NULL);
}
