/* SPDX-License-Identifier: Apache-2.0 */
/* What a refused call is called in a report: its name and the argument for which it was refused. */
#include "backend/confine/watch.h"

#include "base/str.h"

#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

struct watch_word {
	uint32_t value;
	const char *name;
};

static const struct watch_word watch_families[] = {
	{AF_UNIX, "AF_UNIX"},     {AF_INET, "AF_INET"},
	{AF_INET6, "AF_INET6"},   {AF_NETLINK, "AF_NETLINK"},
	{AF_PACKET, "AF_PACKET"}, {AF_ALG, "AF_ALG"},
	{AF_VSOCK, "AF_VSOCK"},   {AF_BLUETOOTH, "AF_BLUETOOTH"},
	{AF_RXRPC, "AF_RXRPC"},   {AF_KEY, "AF_KEY"},
	{AF_CAN, "AF_CAN"},       {AF_TIPC, "AF_TIPC"},
	{AF_XDP, "AF_XDP"},       {AF_SMC, "AF_SMC"},
};

static const struct watch_word watch_ioctls[] = {
	{TIOCSTI, "TIOCSTI"},
	{0x541c, "TIOCLINUX"},
	{TIOCCONS, "TIOCCONS"},
	{TIOCSETD, "TIOCSETD"},
};

static const struct watch_word watch_types[] = {
	{SOCK_STREAM, "SOCK_STREAM"},
	{SOCK_DGRAM, "SOCK_DGRAM"},
	{SOCK_RAW, "SOCK_RAW"},
	{SOCK_SEQPACKET, "SOCK_SEQPACKET"},
};

static const struct watch_word watch_namespaces[] = {
	{CLONE_NEWUSER, "CLONE_NEWUSER"},     {CLONE_NEWNS, "CLONE_NEWNS"},
	{CLONE_NEWPID, "CLONE_NEWPID"},       {CLONE_NEWNET, "CLONE_NEWNET"},
	{CLONE_NEWIPC, "CLONE_NEWIPC"},       {CLONE_NEWUTS, "CLONE_NEWUTS"},
	{CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
};

static void watch_word_text(const struct watch_word *words, size_t n, uint32_t value,
			    struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (words[i].value == value) {
			buf_printf(out, " %s", words[i].name);
			return;
		}
	buf_printf(out, " 0x%x", value);
}

static void watch_socket_text(const struct seccomp_data *d, struct buf *out)
{
	uint32_t family = (uint32_t)d->args[0];

	watch_word_text(watch_families, ARRAY_LEN(watch_families), family, out);
	if (family == AF_INET || family == AF_INET6 || family == AF_UNIX)
		watch_word_text(watch_types, ARRAY_LEN(watch_types), (uint32_t)d->args[1] & 0xf,
				out);
	if (family != AF_UNIX && (uint32_t)d->args[2])
		buf_printf(out, " protocol %u", (uint32_t)d->args[2]);
}

void watch_call_text(const struct seccomp_data *data, const char *name, struct buf *out)
{
	static const char *const modes[] = {"chmod", "fchmod", "fchmodat", "fchmodat2", "creat",
					    "open",  "openat", "mknod",    "mknodat"};

	buf_str(out, name);
	if (strcmp(name, "socket") == 0 || strcmp(name, "socketpair") == 0)
		watch_socket_text(data, out);
	else if (strcmp(name, "ioctl") == 0)
		watch_word_text(watch_ioctls, ARRAY_LEN(watch_ioctls), (uint32_t)data->args[1],
				out);
	else if (strcmp(name, "personality") == 0)
		buf_printf(out, " 0x%x", (uint32_t)data->args[0]);
	else if (strcmp(name, "clone") == 0 || strcmp(name, "unshare") == 0)
		for (size_t i = 0; i < ARRAY_LEN(watch_namespaces); i++)
			if (data->args[0] & watch_namespaces[i].value)
				buf_printf(out, " %s", watch_namespaces[i].name);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (strcmp(name, modes[i]) == 0)
			buf_str(out, str_starts(name, "mknod") ? " device or set-id" : " set-id");
}
