/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h. */
#include "inspect/shell/place.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/*
 * Components that must follow one another somewhere in the path; the first may be `/` (the root) or `~` (a home).
 * `*` within a component stands for any characters.  A final `$` wants the end of the path.
 */
static const struct {
	const char *parts;
	uint64_t place;
} place_rows[] = {
#include "inspect/shell/place_rows.def"
};

static const char *const place_tops[] = {
	"bin",          "boot",    "dev",     "etc",   "home", "lib",   "lib32",  "lib64",
	"libx32",       "mnt",     "opt",     "proc",  "root", "run",   "sbin",   "srv",
	"sys",          "usr",     "var",     "media", "tmp",  "Users", "System", "Library",
	"Applications", "Volumes", "private", "snap",  "nix",
};

/* Below these nothing belongs to a project. */
static const char *const place_system[] = {"bin",   "boot",  "dev",          "etc",     "lib",
					   "lib32", "lib64", "proc",         "sbin",    "sys",
					   "usr",   "var",   "System",       "Library", "run",
					   "snap",  "opt",   "Applications", "srv"};

/* Copies one component; the canonical path so far decides what .. means. */
static size_t place_push(char *ret, size_t n, size_t size, const char *part, size_t len)
{
	if (len == 0 || (len == 1 && part[0] == '.'))
		return n;
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		size_t cut = n;

		while (cut > 0 && ret[cut - 1] != '/')
			cut--;
		if (n == 0 || (n - cut == 2 && memcmp(ret + cut, "..", 2) == 0))
			goto keep;
		if (n == 1 && ret[0] == '/')
			return n;
		if (n == 1 && ret[0] == '~') {
			memcpy(ret, "/home", 5);
			return 5;
		}
		return cut > 1 ? cut - 1 : cut;
	}
keep:
	if (n + len + 2 > size)
		return 0;
	if (n > 0 && ret[n - 1] != '/')
		ret[n++] = '/';
	memcpy(ret + n, part, len);
	return n + len;
}

static size_t place_append(char *ret, size_t n, size_t size, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		n = place_push(ret, n, size, path, len);
		path += len;
		path += *path == '/';
	}
	return n;
}

/* /home/x, /root and /Users/x are homes. */
static size_t place_homes(const struct inspect_context *c, char *p, size_t n)
{
	size_t cut = 0;

	if (c && c->home && str_starts(p, c->home) && c->home[1])
		cut = strlen(c->home);
	else if (str_starts(p, "/root"))
		cut = 5;
	else if (str_starts(p, "/home/") && p[6] && p[6] != '*')
		cut = 6 + strcspn(p + 6, "/");
	else if (str_starts(p, "/Users/") && p[7] && p[7] != '*')
		cut = 7 + strcspn(p + 7, "/");
	if (cut == 0 || (p[cut] && p[cut] != '/'))
		return n;
	memmove(p + 1, p + cut, n - cut + 1);
	p[0] = '~';
	return n - cut + 1;
}

size_t place_canonical(const struct inspect_context *c, const char *path, const char *cwd,
		       char *ret, size_t size)
{
	size_t n = 0;

	if (str_starts(path, "file://"))
		path += 7;
	if (str_starts(path, "/proc/self/root/"))
		path += strlen("/proc/self/root");
	if (*path == '/' || (cwd && *cwd == '/' && *path != '~')) {
		ret[0] = '/';
		n = 1;
	}
	if (*path != '/' && *path != '~' && cwd)
		n = place_append(ret, n, size, cwd);
	n = place_append(ret, n, size, path);
	ret[n] = '\0';
	if (c && c->cwd && c->cwd[1] && ret[0] == '/' && path_is_within(ret, c->cwd)) {
		size_t cut = strlen(c->cwd);

		cut += ret[cut] == '/';
		memmove(ret, ret + cut, n - cut + 1);
		n -= cut;
		if (n == 0) {
			memcpy(ret, ".", 2);
			n = 1;
		}
	}
	return place_homes(c, ret, n);
}

/* Has a glob enough letters of its own to mean something? */
static bool place_says(const char *s)
{
	size_t letters = 0;

	for (; *s; s++) {
		if (*s == '[')
			s += strcspn(s, "]");
		else
			letters += *s != '*' && *s != '?' && *s != '.';
		if (!*s)
			break;
	}
	return letters >= 3;
}

/* *.txt names files by their kind, and a secret among them is chance. */
static bool place_is_kind(const char *s)
{
	return s[0] == '*' && s[1] == '.' && !strpbrk(s + 1, "*?[");
}

/* Does one component of a pattern fit one of a path?  Either may have stars. */
static bool place_part(const char *want, size_t n, const char *have, size_t k, bool is_glob)
{
	__attribute__((uninitialized)) char a[128], b[256];
	const char *star = memchr(want, '*', n);

	if (n == k && memcmp(want, have, n) == 0)
		return true;
	/* One star: what stands before and behind it. */
	if (star && !is_glob && !memchr(star + 1, '*', (size_t)(want + n - star - 1))) {
		size_t before = (size_t)(star - want), behind = n - before - 1;

		return k >= before + behind && memcmp(want, have, before) == 0 &&
		       memcmp(star + 1, have + k - behind, behind) == 0;
	}
	if (n >= sizeof(a) || k >= sizeof(b))
		return false;
	if (star || is_glob) {
		memcpy(a, want, n);
		a[n] = '\0';
		memcpy(b, have, k);
		b[k] = '\0';
		if (star && glob_match(a, b))
			return true;
		if (is_glob && strcspn(b, "*?[") == n && strncmp(a, b, n) == 0)
			return true;
		/* shadow* is shadow too, of which a pattern may mean a letter */
		if (is_glob && star && a[n - 1] == '*')
			a[n - 1] = '\0';
		/* A star alone could be anything and says nothing. */
		return is_glob && place_says(b) && glob_match(b, a) &&
		       (!place_is_kind(b) || strcmp(a, b + 1) == 0);
	}
	return false;
}

static bool place_fits(const char *parts, const char *path, bool is_glob)
{
	while (*parts) {
		size_t n = strcspn(parts, "/$");
		size_t k = strcspn(path, "/");

		if (k == 0 || !place_part(parts, n, path, k, is_glob))
			return false;
		parts += n;
		path += k;
		path += *path == '/';
		if (*parts == '$')
			return *path == '\0';
		parts += *parts == '/';
	}
	return true;
}

/*
 * Rows by the first byte of what they want: of the component behind the root, behind the home, or of any.  A row whose
 * first component begins with a star is in the list of the star.
 */
enum place_list { PLACE_ANYWHERE, PLACE_ROOTED, PLACE_AT_HOME, PLACE_LISTS };

static uint16_t place_heads[PLACE_LISTS][128]; /* row + 1 */
static uint16_t place_next[sizeof(place_rows) / sizeof(place_rows[0])];
static pthread_once_t place_once = PTHREAD_ONCE_INIT;

/* What a row wants behind its root. */
static const char *place_rest(const char *parts)
{
	return parts + (parts[0] == '/') + 2 * (parts[0] == '~');
}

static enum place_list place_list_of(char first)
{
	return first == '/' ? PLACE_ROOTED : first == '~' ? PLACE_AT_HOME : PLACE_ANYWHERE;
}

static void place_index(void)
{
	for (size_t i = 0; i < sizeof(place_rows) / sizeof(place_rows[0]); i++) {
		const char *parts = place_rows[i].parts;
		uint16_t *head = &place_heads[place_list_of(parts[0])][*place_rest(parts) & 0x7f];

		place_next[i] = *head;
		*head = (uint16_t)(i + 1);
	}
}

static uint64_t place_listed(enum place_list list, char first, const char *path, bool is_glob)
{
	uint64_t place = 0;

	for (uint16_t i = place_heads[list][first & 0x7f]; i; i = place_next[i - 1])
		if (place_fits(place_rest(place_rows[i - 1].parts), path, is_glob))
			place |= place_rows[i - 1].place;
	return place;
}

/* Rows that may fit a path, or a part of one, which begins at a component. */
static uint64_t place_from(enum place_list list, const char *path, bool is_glob)
{
	uint64_t place = 0;

	if (!*path)
		return 0;
	/* A pattern for the first component may mean any of them. */
	if (is_glob && strchr("*?[", *path)) {
		for (char c = 1; c > 0 && c < 127; c++)
			place |= place_listed(list, c, path, is_glob);
		return place;
	}
	place = place_listed(list, '*', path, is_glob);
	return place |
	       (*path & 0x80 || *path == '*' ? 0 : place_listed(list, *path, path, is_glob));
}

static uint64_t place_named(const char *path, bool is_glob)
{
	const char *below = path + (path[0] == '/' || path[0] == '~');
	uint64_t place = 0;

	(void)pthread_once(&place_once, place_index);
	below += *below == '/';
	if (place_list_of(path[0]) != PLACE_ANYWHERE)
		place = place_from(place_list_of(path[0]), below, is_glob);
	for (const char *p = path; *p;) {
		if (*p != '/')
			place |= place_from(PLACE_ANYWHERE, p, is_glob);
		p += strcspn(p, "/");
		p += *p == '/';
	}
	return place;
}

static bool place_is_one_of(const char *const *names, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && memcmp(names[i], s, len) == 0)
			return true;
	return false;
}

static bool place_is_disk(const char *p)
{
	static const char *const names[] = {"sd",     "hd",      "vd",   "xvd",  "nvme",
					    "mmcblk", "dm-",     "md",   "loop", "disk",
					    "rdisk",  "mapper/", "pmem", "ada",  "da",
					    "nbd",    "zd",      "sr",   "ram"};

	if (!str_starts(p, "/dev/"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(p + 5, names[i], n) == 0 && p[5 + n] && !strchr("\001", p[5 + n]))
			return true;
	}
	return false;
}

/* Everything below dir: "dir", "dir/", "dir/ *" and "dir/.*". */
static bool place_is_all(const char *rest)
{
	return *rest == '\0' || strcmp(rest, "/") == 0 || strcmp(rest, "/*") == 0 ||
	       strcmp(rest, "/.*") == 0 || strcmp(rest, "/**") == 0 || strcmp(rest, "/*.*") == 0;
}

static uint64_t place_extent(const char *p)
{
	size_t len;
	uint64_t place = PLACE(ABSOLUTE);

	if (p[0] == '~' && (p[1] == '/' || !p[1]))
		return place_is_all(p + 1) ? PLACE(HOME) : PLACE(HOME_BELOW);
	if (p[0] == '~')
		return place_is_all(p + strcspn(p, "/")) ? PLACE(HOME) : PLACE(HOME_BELOW);
	if (p[0] != '/') {
		if (str_starts(p, ".."))
			return PLACE(PARENT);
		if (strcmp(p, ".") == 0 || !*p || strcmp(p, "*") == 0 || strcmp(p, ".*") == 0 ||
		    strcmp(p, "**") == 0)
			return PLACE(CWD);
		return 0;
	}
	if (place_is_all(p) || place_is_all(p + 1))
		return PLACE(ROOT);
	len = strcspn(p + 1, "/");
	if (place_is_disk(p))
		return PLACE(DEVICE) | PLACE(SYSTEM);
	if (str_starts(p, "/tmp/") || str_starts(p, "/var/tmp/") || str_starts(p, "/dev/shm/") ||
	    str_starts(p, "/private/tmp/") || str_starts(p, "/var/folders/"))
		return place_is_all(strchr(p + 1, '/')) ? PLACE(ABSOLUTE) : PLACE(TEMPORARY);
	if (place_is_one_of(place_tops, sizeof(place_tops) / sizeof(place_tops[0]), p + 1, len) &&
	    place_is_all(p + 1 + len))
		place |= PLACE(TOP);
	if (place_is_one_of(place_system, sizeof(place_system) / sizeof(place_system[0]), p + 1,
			    len))
		place |= PLACE(SYSTEM);
	if (strcmp(p, "/dev/null") == 0 || str_starts(p, "/dev/std") || str_starts(p, "/dev/fd/") ||
	    str_starts(p, "/dev/tty") || str_starts(p, "/dev/pts") || str_starts(p, "/dev/tcp/") ||
	    str_starts(p, "/dev/udp/") || strcmp(p, "/dev/zero") == 0 ||
	    str_starts(p, "/dev/urandom") || str_starts(p, "/dev/random"))
		return PLACE(ABSOLUTE);
	return place;
}

/* Secrets whose names end as samples do. */
static bool place_is_seed(const char *base)
{
	return strcmp(base, "seed.txt") == 0 || strcmp(base, "keys.txt") == 0;
}

/* Names that look like credentials and are none. */
static uint64_t place_harmless(const char *p, uint64_t place)
{
	static const char *const samples[] = {".example", ".sample", ".template", ".dist", ".pub",
					      ".md",      ".txt",    ".defaults", ".tpl"};
	const char *base = path_base(p);

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (str_ends(base, samples[i]) && !place_is_seed(base))
			place &= ~(PLACE(SECRET) | PLACE(ENV_FILE));
	if (str_ends(base, ".pem") && (str_starts(base, "ca") || str_starts(base, "cert") ||
				       str_starts(base, "fullchain") || str_starts(base, "chain")))
		place &= ~PLACE(SECRET);
	if (str_ends(base, ".db") && (str_starts(p, "/var/cache") || str_starts(base, "Thumbs")))
		place &= ~PLACE(DATABASE);
	return place;
}

uint64_t place_of(const struct inspect_context *c, const char *path, const char *cwd, bool is_glob)
{
	__attribute__((uninitialized)) char p[LIMIT_PATH_BYTES];
	uint64_t place = PLACE(SEEN);

	if (!*path || strlen(path) + (cwd ? strlen(cwd) : 0) + 16 > sizeof(p) ||
	    strpbrk(path, "\n"))
		return place;
	/* http://, user@host:path and the like are no files of ours */
	if (strstr(path, "://") && !str_starts(path, "file://"))
		return place;
	(void)place_canonical(c, path, cwd, p, sizeof(p));
	if (p[0] == SHELL_PLACE_UNKNOWN)
		place |= PLACE(UNKNOWN);
	place |= place_extent(p) | place_named(p, is_glob);
	return place_harmless(p, place);
}
