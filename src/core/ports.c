/* SPDX-License-Identifier: Apache-2.0 */
/* See ports.h. */
#include "core/ports.h"

#include "base/parse.h"

static int ports_published(const struct policy *p, struct ports *room, struct plan *plan,
			   struct cordon_error *err)
{
	for (size_t i = 0; i < p->publish.n; i++) {
		struct publish *one = &room->published[i];
		int r = publish_parse(p->publish.items[i].text, one, err);

		if (r < 0)
			return r;
		room->rows[i] = (struct plan_publish){
			.name = p->publish.items[i].text,
			.address = &one->address.any,
			.address_len = one->address.any.sa_family == AF_INET
					       ? sizeof(one->address.four)
					       : sizeof(one->address.six),
			.port = one->port,
		};
	}
	plan->publish = room->rows;
	plan->n_publish = p->publish.n;
	return 0;
}

int ports_plan(const struct policy *p, struct ports *room, struct plan *plan,
	       struct cordon_error *err)
{
	if (p->ports.n > LIMIT_PORTS || p->publish.n > LIMIT_PUBLISH)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d ports", LIMIT_PORTS);
	if (plan->net == PLAN_NET_HOST && p->publish.n > 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "a port cannot be published in network mode "
					       "allow-all"),
				   "the call's ports are the host's already; leave --publish out");
	if (plan->net == PLAN_NET_HOST)
		return 0;
	for (size_t i = 0; i < p->ports.n; i++) {
		int64_t port = 0;

		if (parse_int(p->ports.items[i].text, 1, 65535, &port) < 0)
			return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a port",
					   p->ports.items[i].text);
		for (size_t k = 0; k < i; k++)
			if (room->granted[k] == port)
				return cordon_fail(err, CORDON_E_INVALID,
						   "port %s is granted twice",
						   p->ports.items[i].text);
		room->granted[i] = (uint16_t)port;
	}
	plan->ports = room->granted;
	plan->n_ports = p->ports.n;
	return ports_published(p, room, plan, err);
}
