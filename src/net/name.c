/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of special names: RFC 6761 and its registry, the hosts files of the distributions,
 * the clouds' own names.  Left out on purpose: example.com and its sisters (they are real hosts)
 * and names that merely resolve to private addresses today, which only the check of the answer
 * can know.
 */
#include "net/name.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static const char *const name_kind_names[] = {
	[NAME_LOCALHOST] = "localhost",
	[NAME_METADATA] = "metadata",
	[NAME_LOCAL_NETWORK] = "local-network",
	[NAME_RESERVED] = "reserved",
};
static_assert(ARRAY_LEN(name_kind_names) == NAME_KIND_COUNT, "one word per kind");

static const struct name_row name_table[] = {
	{"localhost", true, NAME_LOCALHOST, "RFC 6761"},
	{"localhost.localdomain", true, NAME_LOCALHOST, "hosts files"},
	{"localhost6", false, NAME_LOCALHOST, "hosts files"},
	{"localhost6.localdomain6", false, NAME_LOCALHOST, "hosts files"},
	{"ip6-localhost", false, NAME_LOCALHOST, "hosts files"},
	{"ip6-loopback", false, NAME_LOCALHOST, "hosts files"},
	{"metadata", false, NAME_METADATA, "Google Cloud"},
	{"metadata.google.internal", true, NAME_METADATA, "Google Cloud"},
	{"metadata.goog", true, NAME_METADATA, "Google Cloud"},
	{"instance-data", false, NAME_METADATA, "AWS"},
	{"instance-data.ec2.internal", false, NAME_METADATA, "AWS"},
	{"metadata.packet.net", true, NAME_METADATA, "Equinix Metal"},
	{"metadata.platformequinix.com", true, NAME_METADATA, "Equinix Metal"},
	{"metadata.tencentyun.com", true, NAME_METADATA, "Tencent Cloud"},
	{"rancher-metadata", false, NAME_METADATA, "Rancher"},
	{"internal", true, NAME_LOCAL_NETWORK, "ICANN resolution 2024.07.29.06"},
	{"local", true, NAME_LOCAL_NETWORK, "RFC 6762"},
	{"localdomain", true, NAME_LOCAL_NETWORK, "hosts files"},
	{"home.arpa", true, NAME_LOCAL_NETWORK, "RFC 8375"},
	{"lan", true, NAME_LOCAL_NETWORK, "RFC 6762 appendix G"},
	{"intranet", true, NAME_LOCAL_NETWORK, "RFC 6762 appendix G"},
	{"private", true, NAME_LOCAL_NETWORK, "RFC 6762 appendix G"},
	{"corp", true, NAME_LOCAL_NETWORK, "RFC 6762 appendix G"},
	{"home", true, NAME_LOCAL_NETWORK, "RFC 6762 appendix G"},
	{"test", true, NAME_RESERVED, "RFC 6761"},
	{"invalid", true, NAME_RESERVED, "RFC 6761"},
	{"example", true, NAME_RESERVED, "RFC 6761"},
	{"onion", true, NAME_RESERVED, "RFC 7686"},
	{"alt", true, NAME_RESERVED, "RFC 9476"},
};

/* A name without a dot is completed by the resolver's search list. */
static const struct name_row name_single_label = {"a name without a dot", false, NAME_LOCAL_NETWORK,
						  "resolv.conf(5)"};

const char *name_kind_name(enum name_kind kind)
{
	return (size_t)kind < ARRAY_LEN(name_kind_names) ? name_kind_names[kind] : "unknown";
}

static bool name_row_has(const struct name_row *row, const char *name, size_t len)
{
	size_t row_len = strlen(row->name);

	if (len == row_len)
		return memcmp(name, row->name, len) == 0;
	return row->has_subdomains && len > row_len && name[len - row_len - 1] == '.' &&
	       memcmp(name + len - row_len, row->name, row_len) == 0;
}

const struct name_row *name_class(const struct host *host)
{
	size_t len = strlen(host->name);

	if (host->kind != HOST_NAME)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(name_table); i++)
		if (name_row_has(&name_table[i], host->name, len))
			return &name_table[i];
	return strchr(host->name, '.') ? NULL : &name_single_label;
}
