/* SPDX-License-Identifier: Apache-2.0 */
/* libcordon: the border, verdicts, backends, hosts and the audit trail. */
#include "lib_helper.h"

#include "lib/border.h"

#include <fcntl.h>
#include <math.h>

static void test_version(void **state)
{
	(void)state;
	assert_string_equal(cordon_version(), CORDON_VERSION);
}

/* What is not in the table does not leave. */
static void test_border(void **state)
{
	static const struct {
		int code, want;
	} rows[] = {
		{0, 0},
		{1, 1},
		{CORDON_E_INTERNAL, CORDON_E_INTERNAL},
		{CORDON_E_BUSY, CORDON_E_BUSY},
		{-1, CORDON_E_INTERNAL},
		{-12, CORDON_E_INTERNAL},
		{-1015, CORDON_E_INTERNAL},
		{-4096, CORDON_E_INTERNAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {.code = rows[i].code, .message = "m"};

		assert_int_equal(lib_leave(rows[i].code, &err), rows[i].want);
		assert_int_equal(err.code, rows[i].want < 0 ? rows[i].want : 0);
		assert_int_equal(lib_leave(rows[i].code, NULL), rows[i].want);
		memset(&err, 0, sizeof(err));
		assert_int_equal(lib_leave(rows[i].code, &err), rows[i].want);
		assert_int_equal(rows[i].want < 0, err.message[0] != '\0');
	}
}

static void test_structs(void **state)
{
	struct cordon_thresholds from = {
		.struct_size = sizeof(from), .suspicious = 1, .malicious = 2};
	struct cordon_thresholds to;
	struct cordon_error err;
	unsigned char big[64];
	size_t size = sizeof(big);

	(void)state;
	assert_ok(lib_struct_in(&to, sizeof(to), &from, "x", &err));
	assert_true(to.malicious > 1);
	from.struct_size = offsetof(struct cordon_thresholds, malicious); /* an older program's */
	assert_ok(lib_struct_in(&to, sizeof(to), &from, "x", &err));
	assert_true(to.suspicious > 0 && to.malicious == 0);
	to.malicious = 5;
	to.struct_size = from.struct_size;
	from.struct_size = sizeof(from);
	lib_struct_out(&to, &from, sizeof(from));
	assert_true(to.malicious > 4); /* not ours to write */
	assert_int_equal(to.struct_size, offsetof(struct cordon_thresholds, malicious));
	memset(big, 0xff, sizeof(big));
	memcpy(big, &size, sizeof(size));
	assert_ok(lib_struct_check(big, "x", &err));
	lib_struct_out(big, &from, sizeof(from));
	for (size_t i = sizeof(from); i < sizeof(big); i++)
		assert_int_equal(big[i], 0);
	memcpy(&size, big, sizeof(size));
	assert_int_equal(size, sizeof(big));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(cordon_verdict_name(CORDON_VERDICT_SAFE), "SAFE");
	assert_string_equal(cordon_verdict_name(CORDON_VERDICT_SUSPICIOUS), "SUSPICIOUS");
	assert_string_equal(cordon_verdict_name(CORDON_VERDICT_MALICIOUS), "MALICIOUS");
	assert_string_equal(cordon_verdict_name(CORDON_VERDICT_COUNT), "?");
	assert_string_equal(cordon_threat_name(CORDON_THREAT_NONE), "NONE");
	assert_string_equal(cordon_threat_name(CORDON_THREAT_LOW), "LOW");
	assert_string_equal(cordon_threat_name(CORDON_THREAT_MEDIUM), "MEDIUM");
	assert_string_equal(cordon_threat_name(CORDON_THREAT_HIGH), "HIGH");
	assert_string_equal(cordon_threat_name(CORDON_THREAT_CRITICAL), "CRITICAL");
	assert_string_equal(cordon_threat_name((enum cordon_threat)99), "?");
	assert_string_equal(cordon_action_name(CORDON_ACTION_CONSTRAIN), "constrain");
	assert_string_equal(cordon_action_name(CORDON_ACTION_COUNT), "?");
	assert_string_equal(cordon_error_name(CORDON_E_POLICY), "CORDON_E_POLICY");
	assert_string_equal(cordon_error_text(0), "no error");
}

static const struct cordon_finding plain = {
	.struct_size = sizeof(plain),
	.rule = "r",
	.type = "egress",
	.level = CORDON_THREAT_LOW,
	.confidence = 0.5,
};

static void test_findings(void **state)
{
	struct cordon_finding got = {.struct_size = sizeof(got)}, bad = plain;
	struct cordon_findings *f = NULL;
	struct cordon_error err;
	char text[400];

	(void)state;
	assert_ok(cordon_findings_new(&f, &err));
	assert_ok(cordon_findings_add(f, &plain, &err));
	memset(text, 'a', sizeof(text));
	memcpy(text + 254, "\xc3\xa4", 2); /* a character across the cut */
	text[sizeof(text) - 1] = '\0';
	bad.message = text;
	bad.snippet = text;
	bad.line = 3;
	bad.column = 4;
	assert_ok(cordon_findings_add(f, &bad, &err));
	assert_int_equal(cordon_findings_count(f), 2);
	assert_ok(cordon_findings_get(f, 1, &got, &err));
	assert_int_equal(strlen(got.message), 254);
	assert_int_equal(strlen(got.snippet), 127);
	assert_int_equal(got.line * 10 + got.column, 34);
	assert_string_equal(got.type, "egress");
	assert_int_equal(got.level, CORDON_THREAT_LOW);
	assert_code(cordon_findings_get(f, 2, &got, &err), CORDON_E_NOT_FOUND);
	assert_code(cordon_findings_get(NULL, 0, &got, &err), CORDON_E_INVALID);
	assert_code(cordon_findings_get(f, 0, NULL, &err), CORDON_E_INVALID);

	bad = plain;
	bad.rule = text;
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_LIMIT);
	bad.rule = "";
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad = plain;
	bad.type = "rumour";
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad = plain;
	bad.level = CORDON_THREAT_COUNT;
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad = plain;
	bad.confidence = 1.01;
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad.confidence = nan("");
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad = plain;
	bad.message = "\x80";
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	bad = plain;
	bad.struct_size = 0;
	assert_code(cordon_findings_add(f, &bad, &err), CORDON_E_INVALID);
	assert_code(cordon_findings_add(f, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_findings_add(NULL, &plain, &err), CORDON_E_INVALID);
	assert_code(cordon_findings_new(NULL, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_findings_count(f), 2);
	assert_int_equal(cordon_findings_count(NULL), 0);
	cordon_findings_free(f);
	cordon_findings_free(NULL);
}

static void test_decide(void **state)
{
	static const struct {
		const char *what;
		enum cordon_threat level;
		double confidence, suspicious, malicious;
		enum cordon_verdict want;
		const char *matched;
	} rows[] = {
		{"high", CORDON_THREAT_HIGH, 0.9, -1, -1, CORDON_VERDICT_MALICIOUS,
		 "malicious(confidence=0.90)"},
		{"medium", CORDON_THREAT_MEDIUM, 0.5, -1, -1, CORDON_VERDICT_SUSPICIOUS,
		 "suspicious(tool=Bash, confidence=0.50)"},
		{"high but unsure", CORDON_THREAT_HIGH, 0.5, -1, -1, CORDON_VERDICT_SUSPICIOUS,
		 "suspicious(tool=Bash, confidence=0.50)"},
		{"too unsure", CORDON_THREAT_CRITICAL, 0.2, -1, -1, CORDON_VERDICT_SAFE, "safe"},
		{"strict thresholds", CORDON_THREAT_CRITICAL, 0.2, 0.1, 0.2,
		 CORDON_VERDICT_MALICIOUS, "malicious(confidence=0.20)"},
		{"none", CORDON_THREAT_NONE, 1, -1, -1, CORDON_VERDICT_SAFE, "safe"},
	};
	struct cordon_decision d = {.struct_size = sizeof(d)};
	struct cordon_thresholds t = {
		.struct_size = sizeof(t), .suspicious = 0.8, .malicious = 0.2};
	struct cordon_findings *f = NULL;
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct cordon_thresholds own = {.struct_size = sizeof(own),
						      .suspicious = rows[i].suspicious,
						      .malicious = rows[i].malicious};
		struct cordon_finding finding = plain;

		finding.level = rows[i].level;
		finding.confidence = rows[i].confidence;
		assert_ok(cordon_findings_new(&f, &err));
		assert_ok(cordon_findings_add(f, &finding, &err));
		assert_ok(cordon_verdict_decide(f, own.suspicious < 0 ? NULL : &own, "Bash", &d,
						&err));
		if (d.verdict != rows[i].want || strcmp(d.matched, rows[i].matched) != 0)
			fail_msg("%s: %s", rows[i].what, d.matched);
		cordon_findings_free(f);
	}
	assert_ok(cordon_findings_new(&f, &err));
	assert_code(cordon_verdict_decide(f, &t, NULL, &d, &err), CORDON_E_INVALID);
	t.malicious = nan("");
	assert_code(cordon_verdict_decide(f, &t, NULL, &d, &err), CORDON_E_INVALID);
	t.struct_size = 0;
	assert_code(cordon_verdict_decide(f, &t, NULL, &d, &err), CORDON_E_INVALID);
	assert_code(cordon_verdict_decide(NULL, NULL, NULL, &d, &err), CORDON_E_INVALID);
	assert_code(cordon_verdict_decide(f, NULL, NULL, NULL, &err), CORDON_E_INVALID);
	cordon_findings_free(f);
}

struct seen_backends {
	size_t n, available_above_none, stop_at;
	int last_strength;
	bool has_noop;
};

static int see_backend(void *data, const struct cordon_backend_info *b)
{
	struct seen_backends *s = data;

	assert_true(b->strength <= s->last_strength);
	assert_true(b->reason[0]);
	assert_int_equal(cordon_backend_available(b->name, NULL), b->available);
	if (!b->available)
		assert_null(b->guarantees[0]);
	if (strcmp(b->name, "noop") == 0) {
		s->has_noop = true;
		assert_true(b->available);
		assert_string_equal(b->level, "none");
		assert_non_null(b->guarantees[0]);
	} else {
		s->available_above_none += b->available != 0;
	}
	s->last_strength = b->strength;
	return ++s->n == s->stop_at;
}

static void test_backends(void **state)
{
	struct seen_backends seen = {.last_strength = 100};
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_backends(see_backend, &seen, &err));
	assert_int_equal(seen.n, 14);
	assert_true(seen.has_noop);
	assert_int_equal(cordon_available(), seen.available_above_none > 0);
	assert_int_equal(cordon_is_available(), cordon_available());
	seen = (struct seen_backends){.last_strength = 100, .stop_at = 2};
	assert_int_equal(cordon_backends(see_backend, &seen, &err), 1);
	assert_int_equal(seen.n, 2);
	assert_int_equal(cordon_docker_available(), cordon_backend_available("docker", NULL));
	assert_int_equal(cordon_gvisor_available(), cordon_backend_available("gvisor", NULL));
	assert_int_equal(cordon_landlock_available(), cordon_backend_available("landlock", NULL));
	assert_int_equal(cordon_seatbelt_available(), 0); /* this is no macOS */
	assert_code(cordon_backend_available("dokcer", &err), CORDON_E_INVALID);
	assert_code(cordon_backend_available(NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_backends(NULL, NULL, &err), CORDON_E_INVALID);
}

static void test_select(void **state)
{
	static const char *const words[] = {"default", "enhanced", "container", "maximum", "off"};
	struct cordon_selection s = {.struct_size = sizeof(s)};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		assert_ok(cordon_select(words[i], &s, &err));
		assert_true(s.reason[0]);
		if (strcmp(s.backend, "none") != 0)
			assert_int_equal(cordon_backend_available(s.backend, &err), 1);
	}
	assert_string_equal(s.backend, "none");
	assert_string_equal(s.reason, "sandbox disabled by user");
	assert_code(cordon_select("max", &s, &err), CORDON_E_INVALID);
	assert_code(cordon_select(NULL, &s, &err), CORDON_E_INVALID);
	assert_code(cordon_select("off", NULL, &err), CORDON_E_INVALID);
}

static void test_host_parse(void **state)
{
	static const struct {
		const char *text;
		enum cordon_host_kind kind;
		unsigned port;
		const char *name, *canonical;
	} rows[] = {
		{"Example.COM.", CORDON_HOST_NAME, 0, "example.com", "example.com"},
		{"b\xc3\xbc"
		 "cher.example:8080",
		 CORDON_HOST_NAME, 8080, "xn--bcher-kva.example", "xn--bcher-kva.example:8080"},
		{"[::1]:80", CORDON_HOST_IPV6, 80, "::1", "[::1]:80"},
		{"::ffff:10.0.0.1", CORDON_HOST_IPV4, 0, "10.0.0.1", "10.0.0.1"},
	};
	static const char *const bad[] = {"", "a b", "0x7f.1", "x:0", "x:99999", "http://x/"};
	struct cordon_host h = {.struct_size = sizeof(h)};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_ok(cordon_host_parse(rows[i].text, strlen(rows[i].text), &h, &err));
		assert_int_equal(h.kind, rows[i].kind);
		assert_int_equal(h.port, rows[i].port);
		assert_string_equal(h.name, rows[i].name);
		assert_string_equal(h.text, rows[i].canonical);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_code(cordon_host_parse(bad[i], strlen(bad[i]), &h, &err), CORDON_E_INVALID);
	assert_code(cordon_host_parse(NULL, 0, &h, &err), CORDON_E_INVALID);
	assert_code(cordon_host_parse("x", 1, NULL, &err), CORDON_E_INVALID);
}

static void test_host_allowed(void **state)
{
	static const char allowlist[] =
		"cordon: 1\nsandbox:\n  capabilities:\n    network:\n      mode: allowlist\n"
		"      allowed_hosts: [example.com, \"*.x.test-site.org:8443\", 10.1.2.3, 127.0.0.1]\n"
		"      allow_private: [10.1.2.0/24]\n"
		"      egress:\n        - {host: no.x.test-site.org:8443, action: deny}\n"
		"        - {host: api.test-site.org, methods: [GET]}\n"
		"        - {host: example.com, methods: [POST], action: deny}\n";
	static const char all[] =
		"cordon: 1\nsandbox: {capabilities: {network: {mode: allow-all}}}\n";
	static const struct {
		const char *policy, *host;
		unsigned port;
		int want;
		const char *reason;
	} rows[] = {
		{"", "example.com", 443, 0, "network.mode 'deny' (built-in)"},
		{all, "example.com", 22, 1, "'allow-all' (--policy t.yaml:2:"},
		{all, "169.254.169.254", 80, 0, "block_private_ips"},
		{allowlist, "EXAMPLE.com", 443, 1, "'example.com' (--policy t.yaml:6:"},
		{allowlist, "example.com", 22, 0, "no entry of allowed_hosts matches"},
		{allowlist, "a.b.x.test-site.org", 8443, 1, "'*.x.test-site.org:8443'"},
		{allowlist, "x.test-site.org", 8443, 0, "no entry of allowed_hosts matches"},
		{allowlist, "no.x.test-site.org", 8443, 0, "(deny)"},
		{allowlist, "api.test-site.org", 443, 0, "no entry of allowed_hosts matches"},
		{allowlist, "10.1.2.3", 80, 1, "'10.1.2.3' (--policy"},
		{allowlist, "127.0.0.1", 80, 0, "block_private_ips"},
		{allowlist, "192.168.1.1", 80, 0, "no entry of allowed_hosts matches"},
	};
	struct cordon_host_answer a = {.struct_size = sizeof(a)};
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r;

		assert_ok(cordon_policy_parse(rows[i].policy, strlen(rows[i].policy), "t.yaml",
					      place_ws, &p, &err));
		r = cordon_host_allowed(p, rows[i].host, rows[i].port, &a, &err);
		if (r != rows[i].want || a.allowed != r || !strstr(a.reason, rows[i].reason))
			fail_msg("%s: %d: %s%s", rows[i].host, r, a.reason,
				 r < 0 ? err.message : "");
		cordon_policy_free(p);
	}
	assert_ok(cordon_policy_parse("", 0, "t.yaml", place_ws, &p, &err));
	assert_code(cordon_host_allowed(p, "x y", 80, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(p, "x:80", 80, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(p, "x", 0, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(p, "x", 65536, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(NULL, "x", 80, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(p, NULL, 80, &a, &err), CORDON_E_INVALID);
	assert_code(cordon_host_allowed(p, "x", 80, NULL, &err), CORDON_E_INVALID);
	cordon_policy_free(p);
}

struct seen_records {
	size_t n, stop_at;
	char types[200];
	char call_id[32];
};

static int see_record(void *data, const struct cordon_audit_record *r)
{
	struct seen_records *s = data;
	size_t used = strlen(s->types);

	assert_true(r->json[0] == '{' && r->json[r->json_len - 1] == '}');
	assert_int_equal(strlen(r->hash), 64);
	assert_true(r->time_ms > 0 && r->time[4] == '-' && r->id[0]);
	(void)snprintf(s->types + used, sizeof(s->types) - used, "%s ", r->type);
	if (r->call_id)
		(void)snprintf(s->call_id, sizeof(s->call_id), "%s", r->call_id);
	return ++s->n == s->stop_at;
}

static void audit_runs(int n)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_request *request = NULL;
	struct cordon_policy *p = NULL;
	struct cordon_report *r = NULL;
	struct cordon_error err;

	assert_ok(cordon_policy_options_level(o, "none", &err));
	assert_ok(cordon_policy_load(o, &p, &err));
	for (int i = 0; i < n; i++) {
		assert_ok(cordon_request_shell("true", NULL, &request, &err));
		assert_ok(cordon_run(p, request, NULL, &r, &err));
		cordon_report_free(r);
		cordon_request_free(request);
	}
	cordon_policy_free(p);
	cordon_policy_options_free(o);
}

static void test_audit(void **state)
{
	struct cordon_audit_result v = {.struct_size = sizeof(v)}, after = v;
	struct cordon_audit_filter filter = {.struct_size = sizeof(filter), .type = "call"};
	struct seen_records seen = {0};
	struct cordon_error err;
	char path[400];
	int fd;

	(void)state;
	assert_ok(cordon_audit_verify(place_state, 0, NULL, &v, &err));
	assert_true(v.intact && v.records == 0);
	audit_runs(2);
	assert_ok(cordon_audit_each(place_state, NULL, see_record, &seen, &err));
	assert_string_equal(seen.types, "audit.open start call start call ");
	seen = (struct seen_records){0};
	assert_ok(cordon_audit_each(place_state, &filter, see_record, &seen, &err));
	assert_string_equal(seen.types, "call call ");
	filter.type = NULL;
	filter.call_id = seen.call_id;
	seen.n = 0;
	seen.types[0] = '\0';
	assert_ok(cordon_audit_each(place_state, &filter, see_record, &seen, &err));
	assert_string_equal(seen.types, "start call ");
	seen = (struct seen_records){.stop_at = 1};
	assert_int_equal(cordon_audit_each(place_state, NULL, see_record, &seen, &err), 1);
	assert_int_equal(seen.n, 1);

	assert_ok(cordon_audit_verify(place_state, 0, NULL, &v, &err));
	assert_true(v.intact);
	assert_string_equal(v.damage, "none");
	assert_int_equal(v.records, 5);
	assert_int_equal(v.head_seq, 5);
	audit_runs(1);
	assert_ok(cordon_audit_verify(place_state, v.head_seq, v.head_hash, &after, &err));
	assert_true(after.intact);
	v.head_hash[0] = v.head_hash[0] == '0' ? '1' : '0'; /* a head that never was */
	assert_ok(cordon_audit_verify(place_state, v.head_seq, v.head_hash, &after, &err));
	assert_false(after.intact);

	(void)snprintf(path, sizeof(path), "%s/audit.ndjson", place_state);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "9", 1, 30), 1);
	close(fd);
	assert_ok(cordon_audit_verify(place_state, 0, NULL, &after, &err));
	assert_false(after.intact);
	assert_true(after.text[0] && strcmp(after.damage, "none") != 0);
	assert_string_equal(after.file, "audit.ndjson");
	assert_int_equal(after.line, 1);
	assert_code(cordon_audit_each(place_state, NULL, see_record, &seen, &err),
		    CORDON_E_CORRUPT);
}

static void test_audit_refused(void **state)
{
	struct cordon_audit_result v = {.struct_size = sizeof(v)};
	struct cordon_audit_filter filter = {.struct_size = 1};
	struct cordon_error err;

	(void)state;
	assert_code(cordon_audit_verify(place_state, 1, "abc", &v, &err), CORDON_E_INVALID);
	assert_code(cordon_audit_verify(place_state, 0, NULL, NULL, &err), CORDON_E_INVALID);
	v.struct_size = 0;
	assert_code(cordon_audit_verify(place_state, 0, NULL, &v, &err), CORDON_E_INVALID);
	assert_code(cordon_audit_each(place_state, NULL, NULL, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_audit_each(place_state, &filter, see_record, NULL, &err),
		    CORDON_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),    cmocka_unit_test(test_border),
		cmocka_unit_test(test_structs),    cmocka_unit_test(test_names),
		cmocka_unit_test(test_findings),   cmocka_unit_test(test_decide),
		cmocka_unit_test(test_backends),   cmocka_unit_test(test_select),
		cmocka_unit_test(test_host_parse), cmocka_unit_test(test_host_allowed),
		cmocka_unit_test(test_audit),      cmocka_unit_test(test_audit_refused),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
