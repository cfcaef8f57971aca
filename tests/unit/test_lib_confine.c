/* SPDX-License-Identifier: Apache-2.0 */
/* The public way to confine oneself; what the mechanisms hold is tested in test_landlock and test_seccomp. */
#include <cordon/cordon.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char outside[] = "/var/tmp/cordon-lib-XXXXXX";
static char read_only[64], read_write[64];

static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int list(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int landlock_holds(void)
{
	struct cordon_landlock *l = NULL;
	struct cordon_error err;

	if (make(outside) || make(read_only) || make(read_write))
		return 1; /* the control */
	if (cordon_landlock_new("/tmp", &l, &err) < 0 ||
	    cordon_landlock_add_read_only(l, read_only, &err) < 0 ||
	    cordon_landlock_add_read_write(l, read_write, &err) < 0)
		return 2;
	if (make(outside) != 0)
		return 3; /* nothing before it is applied */
	if (cordon_landlock_apply(l, &err) < 0)
		return err.code == CORDON_E_UNSUPPORTED ? 77 : 4;
	cordon_landlock_free(l);
	if (make(outside) != EACCES || list(outside) != EACCES)
		return 5;
	if (make(read_only) != EACCES || list(read_only) != 0)
		return 6;
	return make(read_write) || make("/tmp") ? 7 : 0;
}

static int seccomp_holds(void)
{
	struct cordon_error err;

	if (syscall(SYS_personality, MMAP_PAGE_ZERO) < 0)
		return 1;
	if (cordon_seccomp_apply(&err) < 0)
		return 2;
	if (syscall(SYS_personality, MMAP_PAGE_ZERO) == 0 || errno != EPERM)
		return 3;
	return socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 4 : 0;
}

/* The bytes are a filter that the kernel takes and that does the same. */
static int profile_holds(void)
{
	struct sock_fprog program;
	struct cordon_error err;
	void *bytes = NULL;
	size_t len = 0;

	if (cordon_seccomp_profile(&bytes, &len, &err) < 0 || len == 0 ||
	    len % sizeof(struct sock_filter) != 0)
		return 1;
	program = (struct sock_fprog){.len = (unsigned short)(len / sizeof(struct sock_filter)),
				      .filter = bytes};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return 2;
	cordon_free(bytes);
	return syscall(SYS_personality, MMAP_PAGE_ZERO) == 0 || errno != EPERM ? 3 : 0;
}

static void test_landlock(void **state)
{
	int r = in_child(landlock_holds);

	(void)state;
	if (r == 77) {
		print_message("# skip: kernel without Landlock\n");
		skip();
	}
	assert_int_equal(r, 0);
}

static void test_seccomp(void **state)
{
	(void)state;
	assert_int_equal(in_child(seccomp_holds), 0);
	assert_int_equal(in_child(profile_holds), 0);
}

static void test_bad_arguments(void **state)
{
	struct cordon_landlock *l = NULL;
	struct cordon_error err;
	void *bytes;
	size_t len;

	(void)state;
	assert_int_equal(cordon_seccomp_profile(NULL, &len, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_seccomp_profile(&bytes, NULL, NULL), CORDON_E_INVALID);
	assert_int_equal(cordon_landlock_new(NULL, &l, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_landlock_new("", &l, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_landlock_new("/tmp", NULL, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_landlock_add_read_only(NULL, "/", &err), CORDON_E_INVALID);
	assert_int_equal(cordon_landlock_apply(NULL, &err), CORDON_E_INVALID);
	assert_true(err.message[0] != '\0');
	assert_int_equal(cordon_landlock_new("/none/there", &l, &err), 0);
	assert_int_equal(cordon_landlock_add_read_write(l, "", &err), CORDON_E_INVALID);
	assert_int_not_equal(cordon_landlock_apply(l, &err), 0); /* and we are not confined: */
	assert_int_equal(make(outside), 0);
	cordon_landlock_free(l);
	cordon_landlock_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_landlock),
		cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_bad_arguments),
	};
	int r;

	if (!mkdtemp(outside))
		return 1;
	(void)snprintf(read_only, sizeof(read_only), "%s/ro", outside);
	(void)snprintf(read_write, sizeof(read_write), "%s/rw", outside);
	if (mkdir(read_only, 0700) < 0 || mkdir(read_write, 0700) < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(read_only) < 0 || rmdir(read_write) < 0 || rmdir(outside) < 0 ? 1 : r;
}
