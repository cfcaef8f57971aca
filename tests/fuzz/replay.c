/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: every file of the directories on the command line as it is,
 * then a fixed number of mutations of each.  The generator is seeded from the content alone, so a
 * run is the same on every machine and in every order of directory entries.
 *
 * usage: fuzz_x DIRECTORY...
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef FUZZ_TARGET
#define FUZZ_TARGET "fuzz"
#endif

enum {
	REPLAY_SEED_BYTES_MAX = 1 << 20,
	REPLAY_MUTATIONS = 128,
	/* A large seed gets fewer: the work per seed is bounded, not the count. */
	REPLAY_MUTATED_BYTES_MAX = 4 << 20,
	REPLAY_GROWTH_MAX = 256,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* clang-format off */
static const char *const replay_tokens[] = {
	"\"", "'", "{", "}", "[", "]", ":", ": ", "- ", "\n", "\t", "#", "&a", "*a", "!!", "<<: ",
	"%", "\\", "/", "../", "*", "**", "?", "~", "${", "@", "\xff", "\xc0\x80", "\xef\xbb\xbf",
	"\xe2\x80\xae", "-1", "0", "9223372036854775808", "18446744073709551616", "1e999", "null",
	"true", "\\u0000", "\r\n",
};
/* clang-format on */

static uint64_t replay_state;

/* splitmix64: every state is a good one, so a content hash can seed it. */
static uint64_t replay_next(void)
{
	uint64_t z = (replay_state += 0x9e3779b97f4a7c15U);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

/* below() - uniform enough: n is tiny beside 2^64. */
static size_t replay_below(size_t n)
{
	return n == 0 ? 0 : (size_t)(replay_next() % n);
}

/* FNV-1a */
static uint64_t replay_hash(const uint8_t *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3U;
	return hash;
}

/* One run on a heap copy of exactly the size, so that ASan sees a read past the end. */
static void replay_one(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	if (size > 0)
		memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy,
				     size); /* the value is libFuzzer's hint about its corpus */
	free(copy);
}

static size_t replay_insert(uint8_t *data, size_t size, size_t at, const void *bytes, size_t n)
{
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, bytes, n);
	return size + n;
}

/* Changes data in place; the buffer has room for REPLAY_GROWTH_MAX more bytes. */
static size_t replay_mutate_once(uint8_t *data, size_t size, size_t limit)
{
	size_t at = replay_below(size);
	size_t n = 1 + replay_below(32);
	const char *token =
		replay_tokens[replay_below(sizeof(replay_tokens) / sizeof(replay_tokens[0]))];
	uint8_t chunk[32];

	switch (replay_below(6)) {
	case 0: /* flip a bit */
		if (size > 0)
			data[at] = (uint8_t)(data[at] ^ (1U << replay_below(8)));
		return size;
	case 1: /* set a byte */
		if (size > 0)
			data[at] = (uint8_t)replay_next();
		return size;
	case 2: /* cut out a piece */
		if (n > size - at)
			n = size - at;
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	case 3: /* cut off the tail */
		return at;
	case 4: /* repeat a piece */
		if (n > size - at)
			n = size - at;
		if (n > limit - size)
			n = limit - size;
		memcpy(chunk, data + at, n);
		return replay_insert(data, size, at, chunk, n);
	default: /* put in a token */
		n = strlen(token);
		if (n > limit - size)
			return size;
		return replay_insert(data, size, at, token, n);
	}
}

static size_t replay_seed(const uint8_t *seed, size_t size)
{
	size_t limit = size + REPLAY_GROWTH_MAX;
	size_t count = REPLAY_MUTATIONS;
	uint8_t *work = malloc(limit);

	if (work == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	if (size > 0 && count > REPLAY_MUTATED_BYTES_MAX / size)
		count = REPLAY_MUTATED_BYTES_MAX / size;
	replay_state = replay_hash(seed, size);
	replay_one(seed, size);
	for (size_t i = 0; i < count; i++) {
		size_t length = size;

		if (size > 0)
			memcpy(work, seed, size);
		for (size_t steps = 1 + replay_below(8); steps > 0; steps--)
			length = replay_mutate_once(work, length, limit);
		replay_one(work, length);
	}
	free(work);
	return 1 + count;
}

/* Return: the number of inputs run; leaves the program on a seed that cannot be read. */
static size_t replay_file(int dirfd, const char *name)
{
	size_t size = 0;
	size_t ran = 0;
	struct stat st;
	uint8_t *data = NULL;
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0) {
		fprintf(stderr, "seed '%s': %s\n", name, strerror(errno));
		exit(1);
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	if (st.st_size > REPLAY_SEED_BYTES_MAX) {
		fprintf(stderr, "seed '%s': larger than %d bytes\n", name,
			(int)REPLAY_SEED_BYTES_MAX);
		exit(1);
	}
	data = malloc((size_t)st.st_size + 1);
	while (data != NULL && size < (size_t)st.st_size) {
		ssize_t n = read(fd, data + size, (size_t)st.st_size - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	close(fd);
	if (data == NULL || size != (size_t)st.st_size) {
		fprintf(stderr, "seed '%s': cannot read it\n", name);
		exit(1);
	}
	ran = replay_seed(data, size);
	free(data);
	return ran;
}

static size_t replay_directory(const char *path)
{
	size_t ran = 0;
	DIR *dir = opendir(path);

	if (dir == NULL) {
		fprintf(stderr, "corpus '%s': %s\n", path, strerror(errno));
		exit(1);
	}
	for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
		if (entry->d_name[0] != '.')
			ran += replay_file(dirfd(dir), entry->d_name);
	closedir(dir);
	return ran;
}

int main(int argc, char **argv)
{
	size_t ran = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..1\n");
	for (int i = 1; i < argc; i++)
		ran += replay_directory(argv[i]);
	printf("%s 1 - %s replayed %zu inputs\n", ran > 0 ? "ok" : "not ok", FUZZ_TARGET, ran);
	return ran > 0 ? 0 : 1;
}
