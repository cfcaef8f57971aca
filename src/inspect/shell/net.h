/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hosts a command would contact, read from its words: URLs, user@host:path, operands of network programs,
 * registries and buckets.
 */
#pragma once

#include "inspect/shell/model.h"

#define NET_HOST_SIZE 256

/* X(id, word): what kind of destination it is. */
#define NET_KINDS(X)                                                                               \
	X(URL, "url")                                                                              \
	X(HOST, "host")                                                                            \
	X(SSH, "ssh")                                                                              \
	X(BUCKET, "bucket")                                                                        \
	X(REGISTRY, "registry")

enum net_kind {
#define NET_KIND_ENUM(id, word) NET_##id,
	NET_KINDS(NET_KIND_ENUM)
#undef NET_KIND_ENUM
		NET_KIND_COUNT
};

struct net_host {
	enum net_kind kind;
	char name[NET_HOST_SIZE]; /* as written, without user, port and path */
	uint16_t port;            /* 0: not said */
};

enum { NET_HOSTS = 16 }; /* that are looked at in one command */

/* Fills c->hosts. */
void net_prepare(struct shell_model *m, struct shell_command *c);
bool net_is_local(const struct net_host *h);
bool net_is_metadata(const struct net_host *h);
/* Does a URL end with a page that is called as if it were a host: …/login.bank.com.html? */
bool net_is_posing(const char *url);
const char *net_kind_name(enum net_kind kind);
