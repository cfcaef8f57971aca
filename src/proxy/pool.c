/* SPDX-License-Identifier: Apache-2.0 */
/* See pool.h. */
#include "proxy/pool.h"

#include "base/fd.h"

#include <string.h>
#include <sys/socket.h>

int pool_start(const struct proxy_options *o, int listener, struct pool *ret,
	       struct cordon_error *err)
{
	unsigned each = proxy_capacity();
	unsigned wanted = o->limits.connections ? o->limits.connections : 1;
	struct proxy_options own = *o;
	size_t n = (wanted + each - 1) / each;
	int r = 0;

	*ret = (struct pool){0};
	if (n > POOL_MAX)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT,
					       "%u connections need more than %d processes", wanted,
					       POOL_MAX),
				   "raise the limit of open files (ulimit -Hn)");
	own.is_alone = true;
	own.limits.connections = (unsigned)((wanted + n - 1) / n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = proxy_start(&own, &ret->workers[i], err);
		if (r < 0)
			break;
		ret->n++;
		r = proxy_give_listener(&ret->workers[i], listener, err);
	}
	return r;
}

int pool_next(struct pool *p, struct proxy_log_entry *ret, uint64_t *lost)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->workers[i].log &&
		    proxy_log_next(p->workers[i].log, &p->at[i], ret, lost) > 0)
			return 1;
	return 0;
}

void pool_heard(struct pool *p)
{
	char sink[16];

	for (size_t i = 0; i < p->n; i++) {
		struct proxy *w = &p->workers[i];

		while (w->control >= 0 && recv(w->control, sink, sizeof(sink), MSG_DONTWAIT) > 0) {
		}
		if (w->log)
			atomic_store(&w->log->is_rung, 0);
	}
}

void pool_stats(const struct pool *p, struct pool_stats *ret)
{
	*ret = (struct pool_stats){0};
	for (size_t i = 0; i < p->n; i++) {
		const struct proxy *w = &p->workers[i];

		if (!w->log || !w->tally)
			continue;
		ret->allowed += w->log->allowed;
		ret->blocked += w->log->blocked;
		ret->failed += w->log->failed;
		ret->bytes += w->tally->bytes;
	}
}

bool pool_host(const struct pool *p, size_t i, struct proxy_log_host *ret)
{
	for (size_t w = 0; w < p->n; w++) {
		const struct proxy_log *log = p->workers[w].log;
		size_t n = !log                             ? 0
			   : log->n_hosts < PROXY_LOG_HOSTS ? log->n_hosts
							    : PROXY_LOG_HOSTS;

		if (i < n) {
			memcpy(ret, &log->hosts[i], sizeof(*ret));
			ret->host[sizeof(ret->host) - 1] = '\0';
			return true;
		}
		i -= n;
	}
	return false;
}

void pool_stop(struct pool *p)
{
	/* All at once: each has its time to end. */
	for (size_t i = 0; i < p->n; i++)
		p->workers[i].control = fd_close(p->workers[i].control);
	for (size_t i = 0; i < p->n; i++) {
		proxy_stop(&p->workers[i]);
		p->has_failed = p->has_failed || p->workers[i].has_failed;
	}
}

void pool_done(struct pool *p)
{
	pool_stop(p);
	for (size_t i = 0; i < p->n; i++)
		proxy_done(&p->workers[i]);
	*p = (struct pool){0};
}
