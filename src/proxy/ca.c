/* SPDX-License-Identifier: Apache-2.0 */
/* See ca.h. */
#include "proxy/ca.h"

#include "base/mem.h"

#include <errno.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#define CA_CURVE "P-256"
#define CA_EARLIER_S 86400L /* clocks inside may be behind */
#define CA_SERIAL 16        /* bytes: not two of one name alike */

static bool ca_extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;
	bool is_good;

	X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
	X509V3_set_ctx_nodb(&context);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	is_good = extension && X509_add_ext(x, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return is_good;
}

static bool ca_set_serial(X509 *x)
{
	unsigned char bytes[CA_SERIAL];
	BIGNUM *number = NULL;
	bool is_good;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always as long */
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	is_good = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
	BN_free(number);
	return is_good;
}

/* The parts that all have; the name is what people see. */
static X509 *ca_certificate(EVP_PKEY *key, const char *name, X509 *issuer)
{
	X509 *x = X509_new();
	X509_NAME *subject = x ? X509_get_subject_name(x) : NULL;

	if (!x || X509_set_version(x, X509_VERSION_3) != 1 || !ca_set_serial(x) ||
	    !X509_gmtime_adj(X509_getm_notBefore(x), -CA_EARLIER_S) ||
	    !X509_gmtime_adj(X509_getm_notAfter(x), CA_DAYS * 86400L) ||
	    X509_set_pubkey(x, key) != 1 ||
	    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_ASC, (const unsigned char *)"cordon",
				       -1, -1, 0) != 1 ||
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1,
				       -1, 0) != 1 ||
	    X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x)) != 1) {
		X509_free(x);
		return NULL;
	}
	return x;
}

int ca_make(struct ca *ca)
{
	*ca = (struct ca){0};
	ca->key = EVP_EC_gen(CA_CURVE);
	ca->leaf_key = EVP_EC_gen(CA_CURVE);
	if (ca->key)
		ca->certificate = ca_certificate(ca->key, "session authority", NULL);
	if (!ca->key || !ca->leaf_key || !ca->certificate ||
	    !ca_extend(ca->certificate, ca->certificate, NID_basic_constraints,
		       "critical,CA:TRUE,pathlen:0") ||
	    !ca_extend(ca->certificate, ca->certificate, NID_key_usage,
		       "critical,keyCertSign,cRLSign") ||
	    !ca_extend(ca->certificate, ca->certificate, NID_subject_key_identifier, "hash") ||
	    X509_sign(ca->certificate, ca->key, EVP_sha256()) == 0)
		return -ENOMEM;
	return 0;
}

void ca_done(struct ca *ca)
{
	for (size_t i = 0; i < ca->n_leaves; i++)
		X509_free(ca->leaves[i].certificate);
	X509_free(ca->certificate);
	EVP_PKEY_free(ca->leaf_key);
	EVP_PKEY_free(ca->key);
	*ca = (struct ca){0};
}

/* The host as the one name of the certificate: made by hand, so that no character of it means anything. */
static bool ca_name_host(X509 *x, const struct host *host)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *name = GENERAL_NAME_new();
	bool is_name = host->kind == HOST_NAME;
	ASN1_STRING *text = is_name ? (ASN1_STRING *)ASN1_IA5STRING_new()
				    : (ASN1_STRING *)ASN1_OCTET_STRING_new();
	const uint8_t *bytes = is_name                   ? (const uint8_t *)host->name
			       : host->kind == HOST_IPV4 ? host->addr + 12
							 : host->addr;
	size_t len = is_name ? strlen(host->name) : host->kind == HOST_IPV4 ? 4 : ADDR_LEN;
	bool is_good = names && name && text && ASN1_STRING_set(text, bytes, (int)len) == 1;

	if (is_good) {
		GENERAL_NAME_set0_value(name, is_name ? GEN_DNS : GEN_IPADD, text);
		text = NULL;
		is_good = sk_GENERAL_NAME_push(names, name) > 0;
		if (is_good)
			name = NULL;
	}
	if (is_good)
		is_good = X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0,
					    X509V3_ADD_DEFAULT) == 1;
	ASN1_STRING_free(text);
	GENERAL_NAME_free(name);
	GENERAL_NAMES_free(names);
	return is_good;
}

static X509 *ca_make_leaf(struct ca *ca, const struct host *host)
{
	/* A common name has at most 64 bytes; nobody reads it any more. */
	X509 *x = ca_certificate(ca->leaf_key, "host", ca->certificate);

	if (x && (!ca_name_host(x, host) ||
		  !ca_extend(x, ca->certificate, NID_basic_constraints, "critical,CA:FALSE") ||
		  !ca_extend(x, ca->certificate, NID_key_usage, "critical,digitalSignature") ||
		  !ca_extend(x, ca->certificate, NID_ext_key_usage, "serverAuth") ||
		  !ca_extend(x, ca->certificate, NID_subject_key_identifier, "hash") ||
		  !ca_extend(x, ca->certificate, NID_authority_key_identifier, "keyid:always") ||
		  X509_sign(x, ca->key, EVP_sha256()) == 0)) {
		X509_free(x);
		return NULL;
	}
	return x;
}

X509 *ca_leaf(struct ca *ca, const struct host *host)
{
	struct ca_leaf *leaf;
	X509 *x;

	for (size_t i = 0; i < ca->n_leaves; i++)
		if (host_equal(&ca->leaves[i].host, host))
			return ca->leaves[i].certificate;
	x = ca_make_leaf(ca, host);
	if (!x)
		return NULL;
	if (ca->n_leaves < CA_LEAVES_MAX) {
		leaf = &ca->leaves[ca->n_leaves++];
	} else {
		/* Connections that use it hold it themselves. */
		leaf = &ca->leaves[ca->oldest];
		ca->oldest = (ca->oldest + 1) % CA_LEAVES_MAX;
		X509_free(leaf->certificate);
	}
	leaf->host = *host;
	leaf->certificate = x;
	return x;
}
