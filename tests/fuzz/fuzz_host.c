/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts, host rules, URLs and networks from arbitrary bytes.  Properties: what is accepted prints
 * as text that parses to the same bytes, out of a small alphabet; every rule covers itself and
 * matches the host it was made of; a failure leaves a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/hostrule.h"
#include "net/name.h"
#include "net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_canonical(const struct host *host)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789.:_-[]";
	char text[HOST_FORMAT_SIZE];
	struct host again;

	host_format(host, text);
	must(strspn(text, alphabet) == strlen(text));
	must(strlen(host->name) > 0 && strlen(host->name) <= LIMIT_HOST_BYTES);
	must(host->name[strlen(host->name) - 1] != '.');
	must(host_parse(text, strlen(text), HOST_PORT_ALLOWED, &again, NULL) == 0);
	must(memcmp(host, &again, sizeof(again)) == 0);
	must(host_equal(host, &again) && !host_is_below(host, &again));
	if (host->kind == HOST_IPV4)
		must(addr_is_v4(host->addr));
	else
		must(!addr_is_v4(host->addr));
	(void)name_class(host);
	(void)addr_class(host->addr);
}

static void check_host(const char *text, size_t len, unsigned flags)
{
	struct cordon_error err = {0};
	struct host host;

	if (host_parse(text, len, flags, &host, &err) == 0)
		check_canonical(&host);
	else
		must(err.message[0] != '\0');
}

static void check_rule(const char *text, size_t len)
{
	char shown[HOSTRULE_FORMAT_SIZE];
	struct cordon_error err = {0};
	struct hostrule rule;
	struct hostrule again;
	uint16_t port;

	if (hostrule_parse(text, len, &rule, &err) < 0) {
		must(err.message[0] != '\0');
		return;
	}
	check_canonical(&rule.host);
	hostrule_format(&rule, shown);
	must(hostrule_parse(shown, strlen(shown), &again, NULL) == 0);
	must(memcmp(&rule, &again, sizeof(rule)) == 0);
	must(hostrule_covers(&rule, &rule));
	port = rule.host.port ? rule.host.port : 443;
	must(hostrule_match(&rule, &rule.host, port) == !rule.is_wildcard);
}

static void check_network(const char *text)
{
	struct addr_cidr net;

	if (addr_cidr_parse(text, &net, NULL) == 0) {
		must(addr_cidr_has(&net, net.addr));
		must(addr_cidr_covers(&net, &net));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	enum url_scheme scheme;
	struct host host;
	char *copy;

	for (unsigned flags = 0; flags < 8; flags++)
		check_host(text, size, flags);
	check_rule(text, size);
	if (url_host(text, size, &scheme, &host, NULL) == 0) {
		must(host.port != 0);
		check_canonical(&host);
	}
	copy = malloc(size + 1);
	if (copy) {
		memcpy(copy, data, size);
		copy[size] = '\0';
		check_network(copy);
	}
	free(copy);
	return 0;
}
