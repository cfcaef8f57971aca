/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What snapshots cost, for tools/bench-snapshot: prints the milliseconds of the first snapshot of a tree, of a second
 * one when nothing has changed, of a third after ten files have, and of going back to the first.
 *
 * usage: snap-bench STATE_DIR TREE
 */
#include "base/clock.h"
#include "workspace/snap/snap.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static double bench_ms(int64_t since_ns)
{
	return (double)(clock_ns() - since_ns) / 1e6;
}

static int bench_take(struct snap_store *s, const char *tree, const char *name, double *ret_ms,
		      struct cordon_error *err)
{
	struct snap_take_options o = {.name = name, .roots = &tree, .root_count = 1};
	struct snap_info info = {0};
	int64_t start = clock_ns();
	int r = snap_take(s, &o, &info, err);

	*ret_ms = bench_ms(start);
	snap_info_done(&info);
	return r;
}

/* Ten files get a line more. */
static void bench_change(const char *tree)
{
	for (int i = 0; i < 10; i++) {
		char path[4096];
		int fd;

		(void)snprintf(path, sizeof(path), "%s/d%d/f%d", tree, i, i);
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		if (fd >= 0) {
			(void)!write(fd, "changed\n", 8);
			(void)close(fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct snap_restore_options o = {0};
	struct cordon_error err = {0};
	struct snap_store *s = NULL;
	double first, second, third, back;
	int64_t start;
	int r;

	if (argc != 3)
		return 2;
	r = snap_open(argv[1], &s, &err);
	if (r == 0)
		r = bench_take(s, argv[2], "first", &first, &err);
	if (r == 0)
		r = bench_take(s, argv[2], "second", &second, &err);
	bench_change(argv[2]);
	if (r == 0)
		r = bench_take(s, argv[2], "third", &third, &err);
	start = clock_ns();
	if (r == 0)
		r = snap_restore(s, "first", &o, NULL, &err);
	back = bench_ms(start);
	snap_close(s);
	if (r < 0) {
		(void)fprintf(stderr, "snap-bench: %s\n", err.message);
		return 1;
	}
	printf("%.1f\t%.1f\t%.1f\t%.1f\n", first, second, third, back);
	return 0;
}
