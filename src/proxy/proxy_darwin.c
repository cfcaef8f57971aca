/* SPDX-License-Identifier: Apache-2.0 */
/* See proxy.h: the proxy stands in Linux's network namespaces.  A call that needs it is refused before anything runs; no
 * backend of macOS's gives an allowlist. */
#include "proxy/proxy.h"

#include <errno.h>

int proxy_start(const struct proxy_options *o, struct proxy *ret, struct cordon_error *err)
{
	(void)o;
	*ret = PROXY_NONE;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "there is no proxy for calls on macOS");
}

int proxy_give(struct proxy *p, const struct proxy_sockets *sockets, struct cordon_error *err)
{
	(void)p;
	(void)sockets;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "there is no proxy for calls on macOS");
}

int proxy_asked(struct proxy *p, struct proxy_question *ret)
{
	(void)p;
	(void)ret;
	return -ENOSYS;
}

int proxy_answer(struct proxy *p, const struct proxy_question *q, bool is_granted)
{
	(void)p;
	(void)q;
	(void)is_granted;
	return -ENOSYS;
}

void proxy_stop(struct proxy *p)
{
	(void)p;
}

void proxy_done(struct proxy *p)
{
	*p = PROXY_NONE;
}
