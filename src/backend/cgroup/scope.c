/* SPDX-License-Identifier: Apache-2.0 */
/* See scope.h.  The format is that of the D-Bus specification: little endian, every value aligned to its size. */
#include "backend/cgroup/scope.h"

#include "backend/cgroup/dir.h"
#include "backend/cgroup/parent.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SCOPE_DEADLINE_MS 3000
#define SCOPE_LOOK_MS 1
#define SCOPE_MESSAGE_MAX 65536 /* of what the manager sends */
#define SCOPE_MESSAGES_MAX 64   /* signals that may come before the reply */
#define SCOPE_AUTH_MAX 256

enum scope_type { SCOPE_RETURN = 2, SCOPE_ERROR = 3, SCOPE_SIGNAL = 4 };
enum scope_field {
	SCOPE_PATH = 1,
	SCOPE_INTERFACE = 2,
	SCOPE_MEMBER = 3,
	SCOPE_DESTINATION = 6,
	SCOPE_SIGNATURE = 8
};

static bool scope_permitted;

void scope_permit(void)
{
	scope_permitted = true;
}

bool scope_is_permitted(void)
{
	return scope_permitted;
}

static void scope_pad(struct buf *out, size_t start, size_t align)
{
	while ((out->len - start) % align != 0)
		buf_char(out, '\0');
}

static void scope_u32(struct buf *out, uint32_t v)
{
	const unsigned char bytes[4] = {(unsigned char)v, (unsigned char)(v >> 8),
					(unsigned char)(v >> 16), (unsigned char)(v >> 24)};

	buf_add(out, bytes, sizeof(bytes));
}

static void scope_set_u32(struct buf *out, size_t at, uint32_t v)
{
	for (size_t i = 0; i < 4 && at + i < out->len; i++)
		out->data[at + i] = (char)(v >> (8 * i));
}

/* A string or object path. */
static void scope_string(struct buf *out, size_t start, const char *s)
{
	size_t len = strlen(s);

	scope_pad(out, start, 4);
	scope_u32(out, (uint32_t)len);
	buf_add(out, s, len + 1);
}

static void scope_signature(struct buf *out, const char *s)
{
	buf_char(out, (char)strlen(s));
	buf_add(out, s, strlen(s) + 1);
}

static void scope_header_field(struct buf *out, enum scope_field field, const char *type,
			       const char *value)
{
	scope_pad(out, 0, 8);
	buf_char(out, (char)field);
	scope_signature(out, type);
	if (field == SCOPE_SIGNATURE)
		scope_signature(out, value);
	else
		scope_string(out, 0, value);
}

/* One entry (sv) of the properties, up to its value. */
static void scope_property(struct buf *out, size_t body, const char *name, const char *type)
{
	scope_pad(out, body, 8);
	scope_string(out, body, name);
	scope_signature(out, type);
}

static void scope_properties(struct buf *out, size_t body, const char *slice, pid_t pid)
{
	size_t length_at, start;

	scope_pad(out, body, 4);
	length_at = out->len;
	scope_u32(out, 0);
	scope_pad(out, body, 8); /* not part of the array's length */
	start = out->len;
	scope_property(out, body, "PIDs", "au");
	scope_pad(out, body, 4);
	scope_u32(out, 4);
	scope_u32(out, (uint32_t)pid);
	scope_property(out, body, "Delegate", "b");
	scope_pad(out, body, 4);
	scope_u32(out, 1);
	scope_property(out, body, "CollectMode", "s");
	scope_string(out, body, "inactive-or-failed");
	scope_property(out, body, "Description", "s");
	scope_string(out, body, "a call of cordon with limits");
	if (*slice) {
		scope_property(out, body, "Slice", "s");
		scope_string(out, body, slice);
	}
	scope_set_u32(out, length_at, (uint32_t)(out->len - start));
}

void scope_call(const char *name, const char *slice, pid_t pid, struct buf *out)
{
	static const char head[] = {'l', 1, 0, 1}; /* little endian, a call, no flags, version 1 */
	struct buf m = BUF_INIT(SCOPE_MESSAGE_MAX);
	size_t body;

	buf_add(&m, head, sizeof(head));
	scope_u32(&m, 0); /* length of the body */
	scope_u32(&m, 1); /* serial */
	scope_u32(&m, 0); /* length of the fields */
	scope_header_field(&m, SCOPE_PATH, "o", "/org/freedesktop/systemd1");
	scope_header_field(&m, SCOPE_INTERFACE, "s", "org.freedesktop.systemd1.Manager");
	scope_header_field(&m, SCOPE_MEMBER, "s", "StartTransientUnit");
	scope_header_field(&m, SCOPE_DESTINATION, "s", "org.freedesktop.systemd1");
	scope_header_field(&m, SCOPE_SIGNATURE, "g", "ssa(sv)a(sa(sv))");
	scope_set_u32(&m, 12, (uint32_t)(m.len - 16));
	scope_pad(&m, 0, 8);
	body = m.len;
	scope_string(&m, body, name);
	scope_string(&m, body, "fail");
	scope_properties(&m, body, slice, pid);
	scope_pad(&m, body, 4);
	scope_u32(&m, 0); /* no other units */
	scope_pad(&m, body, 8);
	scope_set_u32(&m, 4, (uint32_t)(m.len - body));
	if (buf_error(&m) == 0)
		buf_add(out, m.data, m.len);
	buf_done(&m);
}

static uint32_t scope_get_u32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

int scope_head(const unsigned char head[static 16], int *ret_type)
{
	uint64_t body = scope_get_u32(head + 4);
	uint64_t fields = scope_get_u32(head + 12);
	uint64_t rest = ((fields + 7) & ~UINT64_C(7)) + body;

	if (head[0] != 'l' || head[3] != 1 || head[1] < 1 || head[1] > SCOPE_SIGNAL ||
	    rest > SCOPE_MESSAGE_MAX)
		return -EPROTO;
	*ret_type = head[1];
	return (int)rest;
}

void scope_slice(const char *own, bool is_root, char ret[static SCOPE_SLICE_MAX])
{
	const char *manager = strstr(own, "/user@");
	const char *found = NULL;
	size_t found_len = 0;

	ret[0] = '\0';
	/* The manager of a user knows only what is below its own service. */
	if (!is_root && !manager)
		return;
	for (const char *p = is_root ? own : manager + 1; *p;) {
		size_t len = strcspn(p, "/");

		if (len > 6 && memcmp(p + len - 6, ".slice", 6) == 0) {
			found = p;
			found_len = len;
		}
		p += len + (p[len] == '/');
	}
	if (found && found_len < SCOPE_SLICE_MAX) {
		memcpy(ret, found, found_len);
		ret[found_len] = '\0';
	}
}

static int scope_connect(void)
{
	AUTO_FREE char *path = NULL;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = -1;
	const char *runtime = env_get("XDG_RUNTIME_DIR");
	int n;

	if (geteuid() == 0)
		n = asprintf(&path, "/run/systemd/private");
	else if (runtime && runtime[0] == '/')
		n = asprintf(&path, "%s/systemd/private", runtime);
	else
		n = asprintf(&path, "/run/user/%u/systemd/private", (unsigned)geteuid());
	if (n < 0)
		return -ENOMEM;
	if ((size_t)n >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, (size_t)n + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == ECONNREFUSED ? -ENOENT : -errno;
	return TAKE_FD(fd);
}

/* Says who we are: the kernel tells the manager, the number is only repeated. */
static int scope_authenticate(int fd, int64_t deadline)
{
	char text[SCOPE_AUTH_MAX];
	char uid[16];
	size_t n;
	int r;

	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	n = (size_t)snprintf(text + 1, sizeof(text) - 1, "AUTH EXTERNAL ") + 1;
	text[0] = '\0';
	for (const char *p = uid; *p; p++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x", (unsigned char)*p);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\r\n");
	r = io_write(fd, text, n, deadline);
	if (r < 0)
		return r;
	for (n = 0; n + 1 < sizeof(text); n++) {
		ssize_t got = io_read(fd, text + n, 1, deadline);

		if (got != 1)
			return got < 0 ? (int)got : -EPROTO;
		if (text[n] == '\n')
			break;
	}
	text[n] = '\0';
	if (!str_starts(text, "OK "))
		return -EACCES;
	return io_write(fd, "BEGIN\r\n", 7, deadline);
}

/* Waits for the one reply that can come. */
static int scope_reply(int fd, int64_t deadline)
{
	for (int i = 0; i < SCOPE_MESSAGES_MAX; i++) {
		unsigned char head[16];
		char rest[512];
		int type = 0;
		ssize_t n = io_read(fd, head, sizeof(head), deadline);
		int left;

		if (n != (ssize_t)sizeof(head))
			return n < 0 ? (int)n : -EPROTO;
		left = scope_head(head, &type);
		if (left < 0)
			return left;
		while (left > 0) {
			n = io_read(fd, rest,
				    (size_t)left < sizeof(rest) ? (size_t)left : sizeof(rest),
				    deadline);
			if (n <= 0)
				return n < 0 ? (int)n : -EPROTO;
			left -= (int)n;
		}
		if (type == SCOPE_RETURN)
			return 0;
		if (type == SCOPE_ERROR)
			return -EACCES;
	}
	return -EPROTO;
}

/* The reply says that the job was taken, not that it was done. */
static int scope_arrive(const char *name, int64_t deadline)
{
	for (;;) {
		AUTO_FREE char *text = NULL;
		size_t len = 0;
		int r = io_read_file_at(AT_FDCWD, "/proc/self/cgroup", LIMIT_CGROUP_FILE, &text,
					&len);

		if (r < 0)
			return r;
		if (strstr(text, name))
			return 0;
		if (clock_ms() >= deadline)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, SCOPE_LOOK_MS);
	}
}

/* Does the group that we would leave bound anything that a new one would not? */
static int scope_may_leave(const char *own)
{
	static const char *const files[] = {"memory.max", "memory.high", "cpu.max"};
	AUTO_CLOSE int fd = cgroup_parent_open(own, /* is_v2= */ true);

	if (fd < 0)
		return fd;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *text = NULL;
		int r = cgroup_dir_read(fd, files[i], &text);

		if (r == 0 && !str_starts(text, "max"))
			return -EPERM;
		if (r < 0 && r != -ENOENT) /* not there: no such controller, no such limit */
			return r;
	}
	return 0;
}

int scope_enter(const char *own)
{
	static bool was_asked;
	int64_t deadline = clock_deadline(SCOPE_DEADLINE_MS);
	struct buf call = BUF_INIT(SCOPE_MESSAGE_MAX);
	char slice[SCOPE_SLICE_MAX];
	char name[SCOPE_NAME_MAX];
	uint32_t salt = 0;
	AUTO_CLOSE int fd = -1;
	int r;

	if (was_asked)
		return -EALREADY;
	was_asked = true;
	r = scope_may_leave(own);
	if (r < 0)
		return r;
	fd = scope_connect();
	if (fd < 0)
		return fd;
	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	(void)snprintf(name, sizeof(name), "cordon-%d-%08x.scope", (int)getpid(), salt);
	scope_slice(own, geteuid() == 0, slice);
	scope_call(name, slice, getpid(), &call);
	r = buf_error(&call);
	if (r == 0)
		r = scope_authenticate(fd, deadline);
	if (r == 0)
		r = io_write(fd, call.data, call.len, deadline);
	if (r == 0)
		r = scope_reply(fd, deadline);
	if (r == 0)
		r = scope_arrive(name, deadline);
	buf_done(&call);
	return r;
}
