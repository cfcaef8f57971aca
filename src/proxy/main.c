/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-proxy: the egress proxy with TLS that ends in it.  Not for people: the command starts it (external.c), tells
 * it through a socket what it has to do, and hears the certificate of the session's authority.  Then it is the same
 * proxy as the one without TLS, in the same cage.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "proxy/boundary.h"
#include "proxy/brief.h"
#include "proxy/external.h"
#include "proxy/loop.h"
#include "proxy/tls_openssl.h"

#include <errno.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads what it is told, wipes the bytes. */
static int main_read(struct brief *ret)
{
	char *bytes = NULL;
	size_t len = 0;
	int r = io_read_all(EXTERNAL_BRIEF, BRIEF_MAX, clock_deadline(EXTERNAL_START_MS), &bytes,
			    &len);

	*ret = (struct brief){0};
	if (r < 0)
		return r;
	r = brief_read(bytes, len, ret);
	explicit_bzero(bytes, len);
	free(bytes);
	return r;
}

static int main_say(const struct ca *ca)
{
	BIO *memory = BIO_new(BIO_s_mem());
	char *pem = NULL;
	long len = 0;
	int r = -ENOMEM;

	if (memory && PEM_write_bio_X509(memory, ca->certificate) == 1)
		len = BIO_get_mem_data(memory, &pem);
	if (len > 0)
		r = io_write(EXTERNAL_BRIEF, pem, (size_t)len, clock_deadline(EXTERNAL_START_MS));
	BIO_free(memory);
	(void)fd_close(EXTERNAL_BRIEF);
	return r;
}

int main(void)
{
	static const struct rlimit none = {0};
	static struct tls_room room;
	static struct brief brief;
	static struct boundary boundary;
	struct proxy self = PROXY_NONE;
	pid_t parent = getppid();

	/* Nobody reads this memory: no debugger, no dump. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
		return 1;
	self.tally = mmap(NULL, sizeof(*self.tally), PROT_READ | PROT_WRITE, MAP_SHARED,
			  EXTERNAL_TALLY, 0);
	if (self.tally == MAP_FAILED)
		return 1;
	/* Of one version both mean the same by every word. */
	if (main_read(&brief) < 0 || strcmp(brief.version, CORDON_VERSION) != 0)
		return 1;
	if (brief.options.is_alone)
		self.log = mmap(NULL, sizeof(*self.log), PROT_READ | PROT_WRITE, MAP_SHARED,
				EXTERNAL_TALLY, EXTERNAL_LOG_AT);
	if (self.log == MAP_FAILED)
		return 1;
	(void)fd_close(EXTERNAL_TALLY);
	if (tls_room_make(&room) < 0 || main_say(&room.ca) < 0 ||
	    tls_room_trust(&room, brief.options.trust) < 0)
		return 1;
	if (boundary_make(brief.options.secrets, brief.options.n_secrets, &boundary) < 0)
		return 1;
	if (boundary.n > 0)
		brief.options.boundary = &boundary;
	brief.options.tls = &tls_openssl;
	brief.options.tls_data = &room;
	loop_main(&brief.options, EXTERNAL_CONTROL, &self, parent);
}
