/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of a shell as a WebAssembly module can be: commands on files, joined by "&&".  usage: minish 'COMMAND', or
 * minish --knows 'COMMAND', which runs nothing.  Ends with 200 and names the word when it does not know what is asked; so the rows of
 * the table that a module cannot express are found and not guessed.  The same source is compiled for the machine: that
 * is the control.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __wasi__
#include <wasi/libc-find-relpath.h>
#endif

#define UNKNOWN 200
#define WORDS 64

static bool only_asks;

static void unknown(const char *what)
{
	printf("no %s\n", what);
	exit(UNKNOWN);
}

/* wasi-libc takes a name of the root that no directory covers for one in the working directory. */
static bool is_nowhere(const char *path)
{
#ifdef __wasi__
	static char room[4096];
	const char *prefix = "";
	char *rest = room;

	return path[0] == '/' &&
	       (__wasilibc_find_relpath(path, &prefix, &rest, sizeof(room)) < 0 || !*prefix);
#else
	(void)path;
	return false;
#endif
}

static int cat(const char *path)
{
	char data[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, data, sizeof(data))) > 0)
		if (write(1, data, (size_t)n) != n)
			return -1;
	return n == 0 ? close(fd) : -1;
}

static int list(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		puts(e->d_name);
	return dir ? closedir(dir) : -1;
}

static int show(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -1 : printf("%lld\n", (long long)st.st_size) < 0;
}

static int make(const char *path)
{
	return mkdir(path, 0755);
}

static int touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	return fd < 0 ? -1 : close(fd);
}

static int drop(const char *path)
{
	DIR *dir;

	if (unlink(path) == 0)
		return 0;
	dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char below[4096];

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
		(void)drop(below);
	}
	return dir ? closedir(dir) || rmdir(path) : -1;
}

/* What takes one path after the other. */
static const struct {
	const char *name;
	int (*act)(const char *path);
} each[] = {
	{"cat", cat}, {"ls", list},     {"stat", show},   {"mkdir", make},
	{"rm", drop}, {"touch", touch}, {"rmdir", rmdir},
};

/* mv, ln and ln -s: to a name, or into a directory. */
static int pair(const char *what, char **v, int n)
{
	bool is_link = strcmp(what, "ln") == 0;
	bool is_soft = is_link && n == 3 && strcmp(v[0], "-s") == 0;
	char into[4096];
	struct stat st;
	const char *base;

	if (is_soft || (n == 3 && strcmp(v[0], "-f") == 0))
		v++, n--;
	if (n != 2)
		unknown(what);
	if (only_asks)
		return 0;
	base = strrchr(v[0], '/');
	snprintf(into, sizeof(into), "%s", v[1]);
	if (stat(v[1], &st) == 0 && S_ISDIR(st.st_mode))
		snprintf(into, sizeof(into), "%s/%s", v[1], base ? base + 1 : v[0]);
	if (is_nowhere(into) || (!is_soft && is_nowhere(v[0])))
		return errno = ENOENT, -1;
	return is_soft ? symlink(v[0], into) : is_link ? link(v[0], into) : rename(v[0], into);
}

/* ~ at the beginning of a word. */
static const char *expand(const char *word)
{
	const char *home = getenv("HOME");
	size_t size = strlen(word) + (home ? strlen(home) : 0) + 1;
	char *out;

	if (word[0] != '~' || (word[1] && word[1] != '/'))
		return word;
	out = malloc(size);
	if (!out || !home)
		exit(1);
	snprintf(out, size, "%s%s", home, word + 1);
	return out;
}

/* echo TEXT >FILE, or >>FILE */
static int echo(char **v, int n)
{
	const char *to = n == 2 && v[1][0] == '>' ? v[1] + 1 : NULL;
	bool appends = to && *to == '>';
	FILE *f;

	if (!to || !to[appends])
		unknown("echo without a file");
	to = expand(to + appends);
	if (only_asks)
		return 0;
	f = is_nowhere(to) ? NULL : fopen(to, appends ? "a" : "w");
	return f ? (fprintf(f, "%s\n", v[0]) < 0) | fclose(f) : -1;
}

static int run(char **v, int n)
{
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		int r = 0;

		if (n < 2 || strcmp(v[0], each[i].name) != 0)
			continue;
		for (int j = 1; j < n && r == 0; j++) {
			if (strcmp(v[0], "rm") == 0 &&
			    (strcmp(v[j], "-r") == 0 || strcmp(v[j], "-rf") == 0))
				continue;
			if (v[j][0] == '-' || v[j][0] == '>')
				unknown(v[j]);
			if (!only_asks)
				r = is_nowhere(v[j]) ? (errno = ENOENT, -1) : each[i].act(v[j]);
		}
		return r;
	}
	if (n > 0 && (strcmp(v[0], "mv") == 0 || strcmp(v[0], "ln") == 0))
		return pair(v[0], v + 1, n - 1);
	if (n > 0 && strcmp(v[0], "echo") == 0)
		return echo(v + 1, n - 1);
	unknown(n > 0 ? v[0] : "command");
	return -1;
}

int main(int argc, char **argv)
{
	char *v[WORDS];
	char *text;
	char *rest = NULL;
	int n = 0;

	only_asks = argc == 3 && strcmp(argv[1], "--knows") == 0;
	if (argc != 2 + only_asks)
		return UNKNOWN;
	text = argv[argc - 1];
	if (strpbrk(text, "\"'`$|;*?[<(\\\n") || strstr(text, "2>"))
		unknown("such words");
	for (char *word = strtok_r(text, " ", &rest);; word = strtok_r(NULL, " ", &rest)) {
		if (word && strcmp(word, "&&") != 0) {
			if (n == WORDS || strchr(word, '&'))
				unknown("such words");
			v[n++] = (char *)expand(word);
			continue;
		}
		if (run(v, n) != 0) {
			printf("%s: %s\n", v[0], strerror(errno));
			return 1;
		}
		n = 0;
		if (!word)
			return 0;
	}
}
