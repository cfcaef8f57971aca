/* SPDX-License-Identifier: Apache-2.0 */
/* See log.h. */
#include "proxy/log.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static void proxy_log_count(struct proxy_log *log, const char *host)
{
	struct proxy_log_host *h = NULL;

	for (uint32_t i = 0; i < log->n_hosts && !h; i++)
		if (strcmp(log->hosts[i].host, host) == 0)
			h = &log->hosts[i];
	if (!h && log->n_hosts < PROXY_LOG_HOSTS) {
		h = &log->hosts[log->n_hosts];
		(void)snprintf(h->host, sizeof(h->host), "%s", host);
		log->n_hosts++;
	}
	if (h)
		h->count++;
}

bool proxy_log_add(struct proxy_log *log, const char *method, const char *host, uint16_t port,
		   unsigned status, const char *rule, const char *remedy)
{
	uint64_t number = atomic_load(&log->n) + 1;
	struct proxy_log_entry *e = &log->entries[(number - 1) % PROXY_LOG_ENTRIES];
	bool is_failure = status == 502 || status == 504;

	if (status == 200)
		log->allowed++;
	else if (is_failure)
		log->failed++;
	else
		log->blocked++;
	if (host[0] && !is_failure)
		proxy_log_count(log, host);
	atomic_store(&e->number, 0);
	e->wall_ms = clock_wall_ms();
	e->port = port;
	e->status = (uint16_t)status;
	e->is_allowed = status == 200 || is_failure;
	(void)snprintf(e->method, sizeof(e->method), "%s", method);
	(void)snprintf(e->host, sizeof(e->host), "%s", host);
	(void)snprintf(e->rule, sizeof(e->rule), "%s", rule);
	(void)snprintf(e->remedy, sizeof(e->remedy), "%s", remedy);
	atomic_store(&e->number, number);
	atomic_store(&log->n, number);
	return atomic_exchange(&log->is_rung, 1) == 0;
}

int proxy_log_next(const struct proxy_log *log, uint64_t *at, struct proxy_log_entry *ret,
		   uint64_t *lost)
{
	uint64_t n = atomic_load(&log->n);

	while (*at < n) {
		const struct proxy_log_entry *e;
		uint64_t number;

		if (n - *at > PROXY_LOG_ENTRIES) {
			*lost += n - *at - PROXY_LOG_ENTRIES;
			*at = n - PROXY_LOG_ENTRIES;
		}
		number = ++*at;
		e = &log->entries[(number - 1) % PROXY_LOG_ENTRIES];
		if (atomic_load(&e->number) == number) {
			memcpy(ret, e, sizeof(*ret));
			atomic_thread_fence(memory_order_acquire);
			if (atomic_load(&e->number) == number) {
				ret->method[sizeof(ret->method) - 1] = '\0';
				ret->host[sizeof(ret->host) - 1] = '\0';
				ret->rule[sizeof(ret->rule) - 1] = '\0';
				ret->remedy[sizeof(ret->remedy) - 1] = '\0';
				return 1;
			}
		}
		++*lost; /* overwritten while we looked */
	}
	return 0;
}
