/* SPDX-License-Identifier: Apache-2.0 */
/* See egress_tls.h. */
#include "core/egress_tls.h"

#include "base/env.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "core/egress_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define EGRESS_TLS_BUNDLE_MAX (4 * 1024 * 1024) /* bytes of the system's bundle */

/* Where systems keep it, in this order. */
static const char *const egress_tls_bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Gentoo */
	"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
	"/etc/ssl/ca-bundle.pem",             /* openSUSE */
	"/etc/ssl/cert.pem",                  /* Alpine */
};

/* Each names a bundle. */
static const char *const egress_tls_variables[] = {
	"SSL_CERT_FILE",    "CURL_CA_BUNDLE",    "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
	"GIT_SSL_CAINFO",   "PIP_CERT",          "CARGO_HTTP_CAINFO",  "DENO_CERT",
	"AWS_CA_BUNDLE",    "NPM_CONFIG_CAFILE", "BUNDLE_SSL_CA_CERT", "COMPOSER_CAFILE",
	"HEX_CACERTS_PATH",
};

bool egress_tls_is_due(const struct policy *p)
{
	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];

		if (e->methods.n > 0 || e->paths.n > 0)
			return true;
	}
	return egress_secrets_are_due(p);
}

int egress_tls_trust(const char **ret_path, struct cordon_error *err)
{
	const char *given = env_get("CORDON_CA_FILE");

	if (given) {
		*ret_path = given;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(egress_tls_bundles); i++)
		if (access(egress_tls_bundles[i], R_OK) == 0) {
			*ret_path = egress_tls_bundles[i];
			return 0;
		}
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_SYSTEM,
				       "no bundle of certificates to check servers with"),
			   "install ca-certificates, or name one in CORDON_CA_FILE");
}

int egress_tls_view(const char *trust, const char *authority_pem, struct fsplan *view,
		    struct cordon_error *err)
{
	struct buf bundle = BUF_INIT(EGRESS_TLS_BUNDLE_MAX * 2);
	AUTO_FREE char *system = NULL;
	size_t len = 0;
	int r = io_read_file_at(AT_FDCWD, trust, EGRESS_TLS_BUNDLE_MAX, &system, &len);

	if (r < 0)
		return cordon_fail_leaf(err, r, "read the certificates in '%s'", trust);
	buf_str(&bundle, authority_pem);
	buf_char(&bundle, '\n');
	buf_str(&bundle, system);
	r = buf_error(&bundle);
	if (r == 0)
		r = fsplan_append(view,
				  (struct plan_op){.kind = PLAN_OP_TMPFS, .path = EGRESS_TLS_DIR});
	if (r == 0)
		r = fsplan_append(view, (struct plan_op){.kind = PLAN_OP_FILE,
							 .path = EGRESS_TLS_BUNDLE,
							 .text = buf_cstr(&bundle)});
	/* wget reads no variable but this one, and Debian's asks for the system's own file. */
	if (r == 0)
		r = fsplan_append(
			view, (struct plan_op){.kind = PLAN_OP_FILE,
					       .path = EGRESS_TLS_WGETRC,
					       .text = "ca_certificate = " EGRESS_TLS_BUNDLE "\n"});
	buf_done(&bundle);
	return r < 0 ? cordon_fail_leaf(err, r, "the bundle of certificates for the call") : 0;
}

static bool egress_tls_has(const struct strv *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			return true;
	return false;
}

int egress_tls_environment(struct strv *env)
{
	for (size_t i = 0; i < ARRAY_LEN(egress_tls_variables); i++) {
		int r = egress_tls_has(env, egress_tls_variables[i])
				? 0
				: strv_addf(env, "%s=" EGRESS_TLS_BUNDLE, egress_tls_variables[i]);

		if (r < 0)
			return r;
	}
	return egress_tls_has(env, "WGETRC") ? 0 : strv_add(env, "WGETRC=" EGRESS_TLS_WGETRC);
}
