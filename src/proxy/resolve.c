/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are looked up once, out here.  Every address is judged; one that is special makes the whole name closed,
 * because a server that answers with a public and a private address at once is playing a game.
 */
#include "proxy/loop.h"

#include "base/mem.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_TIMEOUT_MS 3000
#define RESOLVE_TRIES 2
#define RESOLVE_SOCKETS 32

struct resolve_socket {
	struct source source;
	bool is_used;
};

static struct resolve_socket resolve_sockets[RESOLVE_SOCKETS];

static void resolve_event(struct source *s, uint32_t events)
{
	int fd = s->fd;
	bool reads = events & (EPOLLIN | EPOLLERR | EPOLLHUP);
	bool writes = events & (EPOLLOUT | EPOLLERR | EPOLLHUP);

	ares_process_fd(s->loop->ares, reads ? fd : ARES_SOCKET_BAD, writes ? fd : ARES_SOCKET_BAD);
}

/* The resolver opened, wants or closes a socket. */
static void resolve_state(void *data, ares_socket_t fd, int reads, int writes)
{
	struct loop *l = data;
	struct resolve_socket *found = NULL;

	for (size_t i = 0; i < RESOLVE_SOCKETS; i++) {
		struct resolve_socket *s = &resolve_sockets[i];

		if (s->is_used && s->source.fd == fd)
			found = s;
	}
	for (size_t i = 0; !found && (reads || writes) && i < RESOLVE_SOCKETS; i++)
		if (!resolve_sockets[i].is_used) {
			found = &resolve_sockets[i];
			found->is_used = true;
			found->source = (struct source){.fn = resolve_event, .loop = l, .fd = fd};
		}
	if (!found)
		return; /* its time-out ends the question */
	(void)!loop_watch(&found->source, (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u));
	if (!reads && !writes)
		found->is_used = false; /* the resolver closes it */
}

int resolve_init(struct loop *l, const char *server)
{
	struct ares_options options = {
		.timeout = RESOLVE_TIMEOUT_MS,
		.tries = RESOLVE_TRIES,
		.sock_state_cb = resolve_state,
		.sock_state_cb_data = l,
		.flags = ARES_FLAG_NOSEARCH, /* a name is what it is: nothing is appended */
	};
	int r = ares_library_init(ARES_LIB_INIT_ALL);

	if (r == ARES_SUCCESS)
		r = ares_init_options(&l->ares, &options,
				      ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB |
					      ARES_OPT_FLAGS);
	if (r != ARES_SUCCESS)
		return r == ARES_ENOMEM ? -ENOMEM : -EIO;
	l->has_ares = true;
	if (server && ares_set_servers_ports_csv(l->ares, server) != ARES_SUCCESS)
		return -EINVAL;
	return 0;
}

void resolve_done(struct loop *l)
{
	if (l->has_ares)
		ares_destroy(l->ares);
	l->has_ares = false;
}

/* Judges one address and keeps it.  False: the name is closed. */
static bool resolve_keep(struct loop *l, struct alias *entry, const struct sockaddr *sa)
{
	struct authority_answer answer = {.is_allowed = true};
	uint8_t addr[ADDR_LEN];

	if (addr_from_sockaddr(sa, addr) < 0)
		return true;
	authority_address(l->authority, &entry->host, addr, loop_is_own(l, addr), &answer);
	if (!answer.is_allowed) {
		(void)snprintf(entry->rule, sizeof(entry->rule), "%s", answer.rule);
		(void)snprintf(entry->remedy, sizeof(entry->remedy), "%s", answer.remedy);
		return false;
	}
	if (entry->n < ALIAS_ADDRESSES_MAX)
		memcpy(entry->addresses[entry->n++], addr, ADDR_LEN);
	return true;
}

/* One question of the resolver; the entry lives as long as the loop. */
struct resolve_question {
	struct loop *loop;
	struct alias *entry;
};

static void resolve_answer(void *data, int status, int timeouts, struct ares_addrinfo *info)
{
	struct resolve_question *q = data;
	struct alias *entry = q->entry;
	struct loop *l = q->loop;
	bool is_open = status == ARES_SUCCESS && info;

	(void)timeouts;
	free(q);
	entry->n = 0;
	entry->rule[0] = entry->remedy[0] = '\0';
	for (struct ares_addrinfo_node *node = is_open ? info->nodes : NULL; node && is_open;
	     node = node->ai_next)
		is_open = resolve_keep(l, entry, node->ai_addr);
	if (info)
		ares_freeaddrinfo(info);
	if (status == ARES_EDESTRUCTION)
		return; /* the loop is gone, and with it all who wait */
	if (!is_open)
		entry->n = 0;
	if (!is_open && entry->rule[0])
		loop_record(l, entry->host.name, 0, false, entry->rule, entry->remedy, 0);
	alias_settle(entry, entry->n > 0 ? ALIAS_READY : ALIAS_FAILED);
}

void resolve_name(struct loop *l, struct alias *entry, struct alias_waiter *w)
{
	struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC, .ai_flags = ARES_AI_NOSORT};
	struct resolve_question *q;

	if (entry->state == ALIAS_READY) {
		w->fn(w, entry);
		return;
	}
	w->next = entry->waiters;
	entry->waiters = w;
	if (entry->state == ALIAS_WAITS)
		return;
	entry->state = ALIAS_WAITS;
	q = malloc(sizeof(*q));
	if (!q) {
		alias_settle(entry, ALIAS_FAILED);
		return;
	}
	*q = (struct resolve_question){.loop = l, .entry = entry};
	ares_getaddrinfo(l->ares, entry->host.name, NULL, &hints, resolve_answer, q);
}

int resolve_timeout(struct loop *l)
{
	struct timeval tv;

	if (!ares_timeout(l->ares, NULL, &tv))
		return -1;
	return (int)(tv.tv_sec * 1000 + tv.tv_usec / 1000 + 1);
}

void resolve_tick(struct loop *l)
{
	ares_process_fd(l->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}
