/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a machine of the tests: mounts what /share serves with this kernel's own 9p, as the guest of
 * firecracker does (src/backend/vm/guest_root.c), works in it, and says on the console how that went. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The act, and 0 or the error. */
#define TRY(act) say(#act, (errno = 0, (act) < 0 ? errno : 0))

static void say(const char *what, int error)
{
	printf("> %s: %s\n", what, strerrorname_np(error) ? strerrorname_np(error) : "0");
}

static void modules(void)
{
	char line[256] = "/modules/";
	FILE *order = fopen("/modules/order", "r");

	while (order && fgets(line + 9, sizeof(line) - 9, order)) {
		line[strcspn(line, "\n")] = '\0';
		(void)syscall(SYS_finit_module, open(line, O_RDONLY | O_CLOEXEC), "", 0);
	}
}

static void serve(void)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/socket"};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char text[160];

	TRY(bind(listener, (const struct sockaddr *)&address, sizeof(address)));
	TRY(listen(listener, 1));
	if (fork() == 0) {
		(void)snprintf(text, sizeof(text), "%d", listener);
		(void)chdir("/host");
		(void)execl("/share", "cordon-share", text, "rw", NULL);
		_exit(127);
	}
	TRY(connect(fd, (const struct sockaddr *)&address, sizeof(address)));
	(void)snprintf(
		text, sizeof(text),
		"trans=fd,rfdno=%d,wfdno=%d,version=9p2000.L,access=any,msize=262144,cache=mmap",
		fd, fd);
	TRY(mount("view", "/mnt", "9p", MS_NOSUID | MS_NODEV, text));
}

static void contents(void)
{
	static char data[1 << 20];
	static char back[sizeof(data)];
	char text[16] = "";
	size_t n = 0;
	char *map;
	int fd;

	TRY(mkdir("/mnt/d", 0755));
	TRY(fd = open("/mnt/d/a", O_CREAT | O_EXCL | O_RDWR, 0640));
	TRY(write(fd, "hello", 5));
	TRY(ftruncate(fd, 5000));
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		map[0] = 'J';
	TRY(msync(map, 4096, MS_SYNC));
	TRY(fsync(fd));
	fd = open("/host/d/a", O_RDONLY);
	TRY(read(fd, text, 5));
	printf("> host: %s\n", text);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	fd = open("/mnt/big", O_CREAT | O_RDWR, 0644);
	TRY(write(fd, data, sizeof(data)) == (ssize_t)sizeof(data) ? 0 : -1);
	for (ssize_t got; (got = pread(fd, back + n, sizeof(back) - n, (off_t)n)) > 0;)
		n += (size_t)got;
	TRY(memcmp(data, back, sizeof(data)) == 0 ? 0 : -1);
}

static void names(void)
{
	struct stat st = {0};
	char path[64];
	DIR *dir;
	int n = 0;

	TRY(rename("/mnt/d", "/mnt/e"));
	TRY(access("/mnt/e/a", R_OK));
	TRY(link("/mnt/e/a", "/mnt/e/b"));
	TRY(symlink("a", "/mnt/e/l"));
	TRY(mkfifo("/mnt/e/f", 0600));
	TRY(mknod("/mnt/e/null", S_IFCHR | 0600, 0x103));
	TRY(chmod("/mnt/e/l", 0600));
	TRY(truncate("/mnt/e/a", 3));
	TRY(stat("/mnt/e/b", &st));
	printf("> size %ld mode %o links %ld\n", (long)st.st_size, st.st_mode, (long)st.st_nlink);
	TRY(open("/mnt/e/a", O_CREAT | O_EXCL | O_WRONLY, 0600));
	TRY(rmdir("/mnt/e"));
	for (int i = 0; i < 500; i++) {
		(void)snprintf(path, sizeof(path), "/host/many/%d", i);
		(void)mknod(path, S_IFREG | 0600, 0);
	}
	dir = opendir("/mnt/many");
	while (dir && readdir(dir))
		n++;
	printf("> entries %d\n", n);
	TRY(unlink("/mnt/e/b"));
	TRY(access("/host/e/b", F_OK));
}

int main(void)
{
	const char *const dirs[] = {"/proc", "/mnt", "/host"};

	(void)mount("dev", "/dev", "devtmpfs", 0, NULL);
	for (int i = 0; i < 3; i++)
		(void)dup2(open("/dev/ttyS0", O_RDWR | O_NOCTTY), i);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 3; i++)
		(void)mkdir(dirs[i], 0755);
	(void)mount("proc", "/proc", "proc", 0, NULL);
	(void)mount("host", "/host", "tmpfs", 0, NULL);
	(void)mkdir("/host/many", 0755);
	modules();
	serve();
	contents();
	names();
	printf("> done\n");
	(void)reboot(RB_POWER_OFF);
	return 0;
}
