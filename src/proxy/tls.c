/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by OpenSSL, for cordon-proxy.  Version 1.2 or later and HTTP/1.1 on both sides; no tickets, no renegotiation, no
 * compression.  The socket is read by a BIO of our own, which gives first what was read of the hello before.
 */
#include "proxy/tls_openssl.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define TLS_REASON_MAX 256
#define TLS_TRUST_MAX (4 * 1024 * 1024) /* bytes of certificates */

struct tls {
	SSL *ssl;
	int fd;
	char *first; /* said already */
	size_t first_len;
	size_t first_at;
	uint32_t wants; /* events that the last step missed; 0: none */
	bool is_broken;
	bool has_said_bye;
	char reason[TLS_REASON_MAX];
};

/* ---- the socket below ---- */

static int tls_bio_read(BIO *bio, char *bytes, size_t max, size_t *ret)
{
	struct tls *t = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (t->first_at < t->first_len) {
		*ret = t->first_len - t->first_at < max ? t->first_len - t->first_at : max;
		memcpy(bytes, t->first + t->first_at, *ret);
		t->first_at += *ret;
		return 1;
	}
	n = recv(t->fd, bytes, max, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_read(bio);
	*ret = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static int tls_bio_write(BIO *bio, const char *bytes, size_t len, size_t *ret)
{
	struct tls *t = BIO_get_data(bio);
	ssize_t n = send(t->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(bio);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(bio);
	*ret = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static long tls_bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH; /* nothing is held back */
}

static BIO_METHOD *tls_method(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cordon");

	if (!m || BIO_meth_set_read_ex(m, tls_bio_read) != 1 ||
	    BIO_meth_set_write_ex(m, tls_bio_write) != 1 ||
	    BIO_meth_set_ctrl(m, tls_bio_ctrl) != 1) {
		BIO_meth_free(m);
		return NULL;
	}
	return m;
}

/* ---- the two sides ---- */

static void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t->first);
	free(t);
}

static struct tls *tls_new(struct tls_room *room, SSL_CTX *context, int fd)
{
	struct tls *t = calloc(1, sizeof(*t));
	BIO *bio = t ? BIO_new(room->method) : NULL;

	if (!bio) {
		free(t);
		return NULL;
	}
	t->fd = fd;
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	t->ssl = SSL_new(context);
	if (!t->ssl) {
		BIO_free(bio);
		free(t);
		return NULL;
	}
	SSL_set_bio(t->ssl, bio, bio);
	return t;
}

static struct tls *tls_accept(void *data, const struct host *host, int fd, const char *first,
			      size_t len)
{
	struct tls_room *room = data;
	X509 *leaf = ca_leaf(&room->ca, host);
	struct tls *t = leaf ? tls_new(room, room->server, fd) : NULL;

	if (!t)
		return NULL;
	t->first = malloc(len + 1);
	if (!t->first || SSL_use_certificate(t->ssl, leaf) != 1 ||
	    SSL_use_PrivateKey(t->ssl, room->ca.leaf_key) != 1) {
		tls_free(t);
		return NULL;
	}
	memcpy(t->first, first, len);
	t->first_len = len;
	SSL_set_accept_state(t->ssl);
	return t;
}

/* Takes the certificates in, at the first server: a call that speaks to none need not wait for that.  What cannot be
 * read is left out, and a server that needs it is not trusted. */
static void tls_trust(struct tls_room *room)
{
	X509_STORE *store = SSL_CTX_get_cert_store(room->client);
	BIO *memory = room->trust ? BIO_new_mem_buf(room->trust, (int)room->trust_len) : NULL;
	X509 *x;

	while (memory && (x = PEM_read_bio_X509_AUX(memory, NULL, NULL, NULL))) {
		(void)X509_STORE_add_cert(store, x); /* twice the same one is no error */
		X509_free(x);
	}
	BIO_free(memory);
	free(room->trust);
	room->trust = NULL;
	ERR_clear_error();
}

static struct tls *tls_connect(void *data, const struct host *host, int fd)
{
	static const unsigned char http[] = "\x08http/1.1";
	struct tls_room *room = data;
	struct tls *t = tls_new(room, room->client, fd);
	X509_VERIFY_PARAM *check = t ? SSL_get0_param(t->ssl) : NULL;
	bool is_name = host->kind == HOST_NAME;
	bool is_four = host->kind == HOST_IPV4;
	char name[HOST_TEXT_SIZE]; /* the library's macro takes no constant */
	bool is_good;

	if (!t)
		return NULL;
	if (room->trust)
		tls_trust(room);
	memcpy(name, host->name, sizeof(name));
	X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
						       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	is_good = SSL_set_alpn_protos(t->ssl, http, sizeof(http) - 1) == 0;
	if (is_name)
		is_good = is_good && SSL_set_tlsext_host_name(t->ssl, name) == 1 &&
			  X509_VERIFY_PARAM_set1_host(check, host->name, 0) == 1;
	else
		is_good = is_good &&
			  X509_VERIFY_PARAM_set1_ip(check, host->addr + (is_four ? 12 : 0),
						    is_four ? 4 : ADDR_LEN) == 1;
	if (!is_good) {
		tls_free(t);
		return NULL;
	}
	SSL_set_verify(t->ssl, SSL_VERIFY_PEER, NULL);
	SSL_set_connect_state(t->ssl);
	return t;
}

/* What a call of the library means: -EAGAIN with wants set, 0 at the end, or -EPROTO. */
static ssize_t tls_failure(struct tls *t, int r)
{
	int error = SSL_get_error(t->ssl, r);
	long verified = SSL_get_verify_result(t->ssl);
	unsigned long code = ERR_peek_last_error();

	t->wants = 0;
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
		t->wants = error == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT;
		return -EAGAIN;
	}
	if (error == SSL_ERROR_ZERO_RETURN)
		return 0;
	t->is_broken = true;
	if (verified != X509_V_OK)
		(void)snprintf(t->reason, sizeof(t->reason), "%.200s",
			       X509_verify_cert_error_string(verified));
	else if (code && ERR_reason_error_string(code))
		(void)snprintf(t->reason, sizeof(t->reason), "%.200s",
			       ERR_reason_error_string(code));
	else
		(void)snprintf(t->reason, sizeof(t->reason), "the connection ended");
	return -EPROTO;
}

static int tls_shake(struct tls *t)
{
	const unsigned char *protocol = NULL;
	unsigned len = 0;
	ssize_t n;
	int r;

	ERR_clear_error();
	r = SSL_do_handshake(t->ssl);
	if (r != 1) {
		n = tls_failure(t, r);
		return n == -EAGAIN ? 0 : -EPROTO;
	}
	t->wants = 0;
	SSL_get0_alpn_selected(t->ssl, &protocol, &len);
	if (len > 0 && (len != 8 || memcmp(protocol, "http/1.1", 8) != 0)) {
		(void)snprintf(t->reason, sizeof(t->reason), "another protocol than HTTP/1.1");
		return -EPROTO;
	}
	return 1;
}

static ssize_t tls_read(struct tls *t, char *bytes, size_t max)
{
	size_t n = 0;
	int r;

	if (t->is_broken)
		return -EPROTO;
	ERR_clear_error();
	r = SSL_read_ex(t->ssl, bytes, max, &n);
	if (r != 1)
		return tls_failure(t, r);
	t->wants = 0;
	return (ssize_t)n;
}

static ssize_t tls_write(struct tls *t, const char *bytes, size_t len)
{
	size_t n = 0;
	ssize_t f;
	int r;

	if (t->is_broken)
		return -EPROTO;
	ERR_clear_error();
	r = SSL_write_ex(t->ssl, bytes, len, &n);
	if (r == 1) {
		t->wants = 0;
		return (ssize_t)n;
	}
	f = tls_failure(t, r);
	return f == 0 ? -EPIPE : f;
}

static bool tls_has_pending(const struct tls *t)
{
	return !t->is_broken && SSL_has_pending(t->ssl) == 1;
}

static bool tls_is_quiet(struct tls *t)
{
	size_t n = 0;
	char byte;
	int r;

	if (t->is_broken)
		return false;
	ERR_clear_error();
	r = SSL_peek_ex(t->ssl, &byte, 1, &n);
	return r != 1 && tls_failure(t, r) == -EAGAIN;
}

static uint32_t tls_wants(const struct tls *t)
{
	return t->wants;
}

static const char *tls_reason(const struct tls *t)
{
	return t->reason;
}

static void tls_bye(struct tls *t)
{
	if (t->is_broken || t->has_said_bye || !SSL_is_init_finished(t->ssl))
		return;
	t->has_said_bye = true;
	ERR_clear_error();
	(void)SSL_shutdown(t->ssl); /* the other side's word is not waited for */
}

const struct tls_ops tls_openssl = {
	.accept = tls_accept,
	.connect = tls_connect,
	.shake = tls_shake,
	.read = tls_read,
	.write = tls_write,
	.has_pending = tls_has_pending,
	.is_quiet = tls_is_quiet,
	.wants = tls_wants,
	.reason = tls_reason,
	.bye = tls_bye,
	.free = tls_free,
};

/* ---- set-up ---- */

/* HTTP/1.1 or nothing; a client that offers no protocol speaks it too. */
static int tls_choose(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		      const unsigned char *in, unsigned in_len, void *data)
{
	(void)ssl, (void)data;
	for (unsigned at = 0; at < in_len; at += 1u + in[at]) {
		if (in[at] > in_len - at - 1)
			break;
		if (in[at] == 8 && memcmp(in + at + 1, "http/1.1", 8) == 0) {
			*out = in + at + 1;
			*out_len = 8;
			return SSL_TLSEXT_ERR_OK;
		}
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *tls_context(const SSL_METHOD *method)
{
	SSL_CTX *context = SSL_CTX_new(method);

	if (!context)
		return NULL;
	if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
		SSL_CTX_free(context);
		return NULL;
	}
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_num_tickets(context, 0); /* cannot fail */
	return context;
}

int tls_room_make(struct tls_room *room)
{
	*room = (struct tls_room){0};
	/* No configuration: what a file on this machine says of engines and ciphers is not for us. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
		return -ENOMEM;
	if (ca_make(&room->ca) < 0)
		return -ENOMEM;
	room->method = tls_method();
	room->server = tls_context(TLS_server_method());
	room->client = tls_context(TLS_client_method());
	if (!room->method || !room->server || !room->client)
		return -ENOMEM;
	SSL_CTX_set_alpn_select_cb(room->server, tls_choose, NULL);
	return 0;
}

int tls_room_trust(struct tls_room *room, const char *path)
{
	return io_read_file_at(AT_FDCWD, path, TLS_TRUST_MAX, &room->trust, &room->trust_len);
}

void tls_room_done(struct tls_room *room)
{
	free(room->trust);
	SSL_CTX_free(room->server);
	SSL_CTX_free(room->client);
	BIO_meth_free(room->method);
	ca_done(&room->ca);
	*room = (struct tls_room){0};
}
