/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual machines: the frames between us and the guest, the block of a call, the emulator's command line,
 * and the answers of Firecracker. */
#include "backend/firecracker/api.h"
#include "backend/vm/call.h"
#include "backend/vm/machine.h"
#include "backend/vm/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct vm_link ends[2];

static void link_up(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
			 0);
	for (int i = 0; i < 2; i++)
		ends[i] = (struct vm_link){.fd = pair[i]};
}

static void link_down(void)
{
	for (int i = 0; i < 2; i++)
		(void)close(ends[i].fd);
}

/* What comes in pieces is put together, and what is no frame is refused. */
static void test_frames(void **state)
{
	static const struct vm_head bad[] = {
		{.type = VM_TYPE_COUNT},
		{.type = VM_DATA, .len = VM_FRAME_MAX + 1},
		{.type = VM_DATA, .zero = 1},
	};
	const struct vm_head head = {.type = VM_DATA, .stream = 1, .len = 5};
	char whole[sizeof(head) + 5];
	struct vm_frame f;

	(void)state;
	link_up();
	memcpy(whole, &head, sizeof(head));
	memcpy(whole + sizeof(head), "hello", 5);
	for (size_t i = 0; i < sizeof(whole); i++) {
		assert_int_equal(vm_link_next(&ends[1], &f), 0);
		assert_int_equal(write(ends[0].fd, &whole[i], 1), 1);
	}
	assert_int_equal(vm_link_next(&ends[1], &f), 1);
	assert_int_equal(f.head.stream, 1);
	assert_memory_equal(f.data, "hello", 5);
	link_down();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		link_up();
		assert_int_equal(write(ends[0].fd, &bad[i], sizeof(bad[i])), sizeof(bad[i]));
		assert_int_equal(vm_link_next(&ends[1], &f), -EPROTO);
		link_down();
	}
	link_up();
	(void)close(ends[0].fd);
	assert_int_equal(vm_link_next(&ends[1], &f), -EPIPE);
	(void)close(ends[1].fd);
}

/* No more is on its way than the window, whatever a sender says. */
static void test_window(void **state)
{
	static struct vm_end_of_stream sink;
	static char data[VM_FRAME_MAX];
	const struct vm_frame full = {.head = {.type = VM_DATA, .len = VM_FRAME_MAX}, .data = data};
	const struct vm_frame eof = {.head = {.type = VM_EOF}};
	uint32_t more = 1;
	const struct vm_frame credit = {.head = {.type = VM_CREDIT, .len = sizeof(more)},
					.data = (const char *)&more};
	static struct vm_end_of_stream source;

	(void)state;
	link_up();
	vm_stream_init(&sink, open("/dev/null", O_WRONLY | O_CLOEXEC), /* is_source= */ false);
	for (int i = 0; i < VM_WINDOW / VM_FRAME_MAX; i++)
		assert_int_equal(vm_stream_take(&sink, 1, &full, &ends[0]), 0);
	assert_int_equal(vm_stream_take(&sink, 1, &full, &ends[0]), -EPROTO);
	while (vm_stream_events(&sink, &ends[0]) & POLLOUT)
		vm_stream_move(&sink, 1, &ends[0]);
	assert_true(ends[0].out_len > 0); /* credit goes back */
	assert_int_equal(vm_stream_take(&sink, 1, &eof, &ends[0]), 0);
	assert_true(vm_stream_is_over(&sink));
	assert_int_equal(sink.fd, -1);
	assert_int_equal(vm_stream_take(&sink, 1, &eof, &ends[0]), -EPROTO);
	/* A source has never more than the window. */
	vm_stream_init(&source, -1, /* is_source= */ true);
	assert_int_equal(vm_stream_take(&source, 0, &credit, &ends[0]), -EPROTO);
	assert_int_equal(vm_stream_take(&source, 0, &full, &ends[0]), -EPROTO);
	link_down();
}

/* However full it is, a link takes no more than it holds: a stream that was ready when it was asked is left alone when
 * there is no room any more, and nothing is polled for that would not be read. */
static void test_full(void **state)
{
	static struct vm_end_of_stream streams[2];
	static char data[VM_FRAME_MAX];
	const size_t head = sizeof(struct vm_head);

	(void)state;
	link_up();
	assert_int_equal(vm_link_events(&ends[0]), POLLIN);
	while (vm_link_has_room(&ends[0], sizeof(data)))
		vm_link_put(&ends[0], VM_TOLD, 0, data, sizeof(data));
	assert_int_equal(vm_link_events(&ends[0]), POLLOUT);
	/* Just as much as a source wants to see. */
	vm_stream_init(&streams[0], open("/dev/zero", O_RDONLY | O_CLOEXEC), /* is_source= */ true);
	vm_stream_init(&streams[1], open("/dev/zero", O_RDONLY | O_CLOEXEC), /* is_source= */ true);
	while (!vm_link_has_room(&ends[0], 8192))
		ends[0].out_len--;
	while (vm_link_has_room(&ends[0], 8193))
		ends[0].out_len++;
	for (int i = 0; i < 2; i++)
		assert_int_equal(vm_stream_events(&streams[i], &ends[0]), POLLIN);
	vm_link_put(&ends[0], VM_CREDIT, 0, data, 4);
	for (unsigned i = 0; i < 8; i++)
		vm_stream_move(&streams[i % 2], 1 + i % 2, &ends[0]);
	assert_true(ends[0].out_len <= sizeof(ends[0].out));
	assert_true(vm_link_has_room(&ends[0], 4096)); /* small frames find room */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(vm_stream_events(&streams[i], &ends[0]), 0);
		(void)close(streams[i].fd);
	}
	ends[0].out_len = sizeof(ends[0].out) - head + 1;
	assert_false(vm_link_has_room(&ends[0], 0));
	ends[0].out_len = sizeof(ends[0].out) + 1;
	assert_false(vm_link_has_room(&ends[0], 0));
	link_down();
}

/* Private directories are made inside, what stands in them is fetched, grants are mounted on themselves, the rest is the
 * share's. */
static void test_call(void **state)
{
	static const struct plan_op ops[] = {
		{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
		{.kind = PLAN_OP_TMPFS, .path = "/tmp", .mode = 01777},
		{.kind = PLAN_OP_BIND_RW, .path = "/tmp/w"},
		{.kind = PLAN_OP_DENY, .path = "/tmp/w/denied"},
		{.kind = PLAN_OP_FILE, .path = "/tmp/file", .text = "x"},
		{.kind = PLAN_OP_BIND_RO, .path = "/opt"},
		{.kind = PLAN_OP_DENY, .path = "/opt/denied"},
		{.kind = PLAN_OP_CACHE, .path = "/run/cache", .text = "/cache"},
		{.kind = PLAN_OP_BIND_RW, .path = "/"},
	};
	static const struct {
		enum vm_place_kind kind;
		const char *path;
	} want[] = {
		{VM_PLACE_SYSTEM, "/usr"},   {VM_PLACE_TMPFS, "/tmp"},
		{VM_PLACE_SHARED, "/tmp/w"}, {VM_PLACE_COPY, "/tmp/file"},
		{VM_PLACE_SHARED, "/opt"},   {VM_PLACE_SHARED, "/run/cache"},
	};
	struct plan plan = {.ops = ops, .op_count = ARRAY_LEN(ops), .max_processes = PLAN_LIMIT(7)};
	struct view_program program = {.plan = &plan};
	struct buf block = BUF_INIT(65536);
	struct vm_call_place place;
	struct vm_call call;
	size_t at = 0;

	(void)state;
	assert_int_equal(vm_call_write(&program, "image", 5, &block), 0);
	assert_int_equal(vm_call_stamp(block.data, block.len), 0);
	assert_int_equal(vm_call_read(block.data, block.len, &call), 0);
	assert_int_equal(call.head.n_places, ARRAY_LEN(want));
	assert_int_equal(call.head.max_processes, 7);
	assert_true(call.head.time_ns > 0);
	assert_memory_equal(call.image, "image", 5);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_true(vm_call_next(&call, &at, &place));
		assert_int_equal(place.place.kind, want[i].kind);
		assert_string_equal(place.path, want[i].path);
	}
	/* Every shorter block is none. */
	for (size_t len = 0; len < block.len; len++)
		assert_int_equal(vm_call_read(block.data, len, &call), -EINVAL);
	buf_done(&block);
}

/* What cannot be passed into a machine is refused, not left out. */
static void test_refused(void **state)
{
	static const enum plan_op_kind kinds[] = {PLAN_OP_DEVICE, PLAN_OP_SOCKET, PLAN_OP_COUNT};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct plan_op op = {.kind = kinds[i], .path = "/dev/x"};
		struct plan plan = {.ops = &op, .op_count = 1};
		struct view_program program = {.plan = &plan};
		struct buf block = BUF_INIT(65536);

		assert_int_equal(vm_call_write(&program, "", 0, &block), -EOPNOTSUPP);
		buf_done(&block);
	}
}

static void test_machine(void **state)
{
	static const struct {
		uint64_t limit;
		unsigned want_mb;
	} rows[] = {
		{0, MACHINE_DEFAULT_MB},      {1, 512},
		{UINT64_C(320) << 20, 512},   {UINT64_C(321) << 20, 1024},
		{UINT64_C(4096) << 20, 8192},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(machine_memory_mb(rows[i].limit), rows[i].want_mb);
	for (int start = MACHINE_BOOT; start <= MACHINE_RESUME; start++) {
		const struct machine m = {.start = (enum machine_start)start, .memory_mb = 512};
		struct strv words = {0};

		assert_int_equal(machine_line(&m, &words), 0);
		assert_string_equal(words.v[0], MACHINE_PROGRAM);
		assert_true(strv_has(&words, "-nodefaults"));
		assert_true(strv_has(&words, "none")); /* -nic */
		assert_int_equal(strv_has(&words, "defer"), start == MACHINE_RESUME);
		strv_done(&words);
	}
}

/* Heads of Firecracker's answers, and what is none. */
static void test_api_head(void **state)
{
	static const struct {
		const char *head;
		int want;
		int status;
		size_t length;
	} rows[] = {
		{"HTTP/1.1 204 \r\nServer: Firecracker API\r\n\r\n", 0, 204, 0},
		{"HTTP/1.1 400 Bad\r\ncontent-length:  12\r\n\r\n", 0, 400, 12},
		{"HTTP/1.0 200 OK\r\nContent-Length: 3\r\nX: y\r\n\r\n", 0, 200, 3},
		{"HTTP/1.1 204", 0, 204, 0},
		{"", -EPROTO, 0, 0},
		{"HTTP/1.", -EPROTO, 0, 0},
		{"HTTP/2 204 \r\n\r\n", -EPROTO, 0, 0},
		{"HTTP/1.1 2x4 \r\n\r\n", -EPROTO, 0, 0},
		{"HTTP/1.1 999 \r\n\r\n", -EPROTO, 0, 0},
		{"HTTP/1.1 204 \r\nContent-Length: -1\r\n\r\n", -EPROTO, 0, 0},
		{"HTTP/1.1 204 \r\nContent-Length: 99999999\r\n\r\n", -EPROTO, 0, 0},
		{"HTTP/1.1 204 \r\nContent-Length: \r\n\r\n", -EPROTO, 0, 0},
		{"SSH-2.0-OpenSSH\r\n\r\n", -EPROTO, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int status = 0;
		size_t length = 0;

		assert_int_equal(api_head(rows[i].head, &status, &length), rows[i].want);
		assert_int_equal(status, rows[i].status);
		assert_int_equal(length, rows[i].length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),  cmocka_unit_test(test_window),
		cmocka_unit_test(test_call),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_machine), cmocka_unit_test(test_api_head),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
