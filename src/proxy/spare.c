/* SPDX-License-Identifier: Apache-2.0 */
/* See spare.h. */
#include "proxy/spare.h"

#include "base/clock.h"
#include "proxy/loop.h"

static void spare_close(struct loop *l, struct spare *s)
{
	loop_close(&s->source);
	l->n_spares--;
}

/* A server that closes it, or says what nobody asked for. */
static void spare_event(struct source *s, uint32_t events)
{
	(void)events;
	spare_close(s->loop, (struct spare *)s); /* its first member */
}

void spare_give(struct loop *l, struct source *server, const struct host *host, uint16_t port)
{
	struct spare *place = NULL;

	for (size_t i = 0; i < SPARE_MAX && l->n_spares < SPARE_MAX && !place; i++)
		if (!l->spares[i].is_used || l->spares[i].source.fd < 0)
			place = &l->spares[i];
	for (size_t i = 0; i < SPARE_MAX && l->n_spares == SPARE_MAX; i++)
		if (!place || l->spares[i].until < place->until)
			place = &l->spares[i];
	if (!place)
		return;
	if (l->n_spares == SPARE_MAX)
		spare_close(l, place);
	*place = (struct spare){.source = {.fn = spare_event, .loop = l, .fd = -1},
				.is_used = true,
				.host = *host,
				.port = port,
				.until = clock_deadline(SPARE_MS)};
	l->n_spares++;
	if (loop_move(server, &place->source) < 0)
		spare_close(l, place);
}

bool spare_take(struct loop *l, const struct host *host, uint16_t port, struct source *ret)
{
	for (size_t i = 0; i < SPARE_MAX && l->n_spares > 0; i++) {
		struct spare *s = &l->spares[i];

		if (!s->is_used || s->source.fd < 0 || s->port != port ||
		    !host_equal(&s->host, host))
			continue;
		if (!stream_is_quiet(&s->source) || loop_move(&s->source, ret) < 0) {
			spare_close(l, s);
			continue;
		}
		l->n_spares--;
		return true;
	}
	return false;
}

int spare_expire(struct loop *l)
{
	int64_t first = CLOCK_NEVER;
	int64_t now;

	if (l->n_spares == 0)
		return -1;
	now = clock_ms();
	for (size_t i = 0; i < SPARE_MAX; i++) {
		struct spare *s = &l->spares[i];

		if (!s->is_used || s->source.fd < 0)
			continue;
		if (s->until <= now)
			spare_close(l, s);
		else if (s->until < first)
			first = s->until;
	}
	return first == CLOCK_NEVER ? -1 : (int)(first - now);
}
