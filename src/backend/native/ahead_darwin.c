/* SPDX-License-Identifier: Apache-2.0 */
/* See ahead.h: there are no namespaces to be made ahead. */
#include "backend/native/ahead.h"

void native_ahead_start(void)
{
}

void native_ahead_end(void)
{
}

void native_ahead_map(void)
{
}

void native_ahead_meet(void)
{
}

void native_ahead_done(void)
{
}

char *native_ahead_sockets(void)
{
	return NULL;
}
