/* SPDX-License-Identifier: Apache-2.0 */
/* See passphrase.h. */
#include "secrets/passphrase.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "secrets/crypt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define KEY_INTERRUPT 0x03
#define KEY_END 0x04
#define KEY_BACKSPACE 0x08
#define KEY_KILL 0x15
#define KEY_DELETE 0x7f

/* Reads one line with editing done here: the terminal passes every key on, signals included, so that nobody is
 * left with a terminal that does not show what is typed. */
static int passphrase_line(int tty, struct locked *m, size_t max, size_t *ret_len)
{
	int64_t deadline = clock_deadline(LIMIT_PASSPHRASE_MS);
	size_t n = 0;

	for (;;) {
		unsigned char c;
		ssize_t got = io_read(tty, &c, 1, deadline);

		if (got <= 0)
			return got < 0 ? (int)got : -ECANCELED;
		if (c == '\n' || c == '\r')
			break;
		if (c == KEY_INTERRUPT || c == KEY_END)
			return -ECANCELED;
		if (c == KEY_KILL)
			n = 0;
		else if (c == KEY_BACKSPACE || c == KEY_DELETE)
			n -= n > 0;
		else if (n == max)
			return -E2BIG;
		else
			m->data[n++] = (char)c;
	}
	*ret_len = n;
	return 0;
}

static int passphrase_ask(int tty, const char *question, struct locked *m, size_t max,
			  size_t *ret_len)
{
	struct termios before, silent;
	int r;

	if (tcgetattr(tty, &before) < 0)
		return -errno;
	silent = before;
	silent.c_lflag &= (tcflag_t) ~(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	silent.c_cc[VMIN] = 1;
	silent.c_cc[VTIME] = 0;
	/* FLUSH: what was typed before the question is no answer to it. */
	if (tcsetattr(tty, TCSAFLUSH, &silent) < 0)
		return -errno;
	r = io_write(tty, question, strlen(question), CLOCK_NEVER);
	if (r == 0)
		r = passphrase_line(tty, m, max, ret_len);
	/* Whatever ended the wait, the terminal is as it was. */
	if (tcsetattr(tty, TCSAFLUSH, &before) < 0 && r == 0)
		r = -errno;
	return r < 0 ? r : io_write(tty, "\n", 1, CLOCK_NEVER);
}

static int passphrase_tty(void)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	/* A background job must not steal the terminal. */
	return tty < 0 || tcgetpgrp(tty) != getpgrp() ? -ENOTTY : TAKE_FD(tty);
}

int passphrase_type(const char *question, size_t max, struct locked *ret, size_t *ret_len,
		    struct cordon_error *err)
{
	AUTO_CLOSE int tty = passphrase_tty();
	struct locked m = {0};
	int r = tty < 0 ? tty : locked_new(max + 2, LOCKED_STAYS, &m);

	if (r == 0)
		r = passphrase_ask(tty, question, &m, max, ret_len);
	if (r < 0) {
		locked_done(&m);
		return cordon_fail_leaf(err, r, "read from the terminal");
	}
	*ret = m;
	return 0;
}

static int passphrase_terminal(const char *variable, bool is_new, struct locked *ret,
			       size_t *ret_len, struct cordon_error *err)
{
	AUTO_CLOSE int tty = passphrase_tty();
	struct locked m = {0}, again = {0};
	size_t len = 0, again_len = 0;
	int r;

	if (tty < 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "the passphrase of the secrets: nobody to ask"),
				   "without a terminal, %s=N names a descriptor to read it from",
				   variable);
	r = passphrase_type(is_new ? "New passphrase of the secrets: "
				   : "Passphrase of the secrets: ",
			    LIMIT_PASSPHRASE_BYTES, &m, &len, err);
	if (r == 0 && is_new)
		r = passphrase_type("Once more: ", LIMIT_PASSPHRASE_BYTES, &again, &again_len, err);
	if (r == 0 && is_new && (again_len != len || !crypt_is_equal(again.data, m.data, len)))
		r = cordon_fail(err, CORDON_E_INVALID, "the passphrases differ");
	locked_done(&again);
	if (r < 0) {
		locked_done(&m);
		return r;
	}
	*ret = m;
	*ret_len = len;
	return 0;
}

static int passphrase_fd(const char *variable, const char *text, struct locked *ret,
			 size_t *ret_len, struct cordon_error *err)
{
	int64_t fd;
	int r = parse_int(text, 0, INT_MAX, &fd);

	if (r < 0)
		return cordon_fail(err, CORDON_E_INVALID, "%s='%.20s' is no descriptor", variable,
				   text);
	r = locked_read((int)fd, LIMIT_PASSPHRASE_BYTES, ret, ret_len);
	if (fd > STDERR_FILENO)
		(void)fd_close((int)fd);
	if (r < 0)
		return cordon_fail_leaf(err, r, "read the passphrase from descriptor %d", (int)fd);
	if (*ret_len > 0 && ret->data[*ret_len - 1] == '\n')
		ret->data[--*ret_len] = '\0';
	return 0;
}

static int passphrase_get_from(const char *variable, bool is_new, struct locked *ret,
			       size_t *ret_len, struct cordon_error *err)
{
	const char *fd = env_get(variable);
	struct locked m = {0};
	size_t len = 0;
	int r;

	r = fd ? passphrase_fd(variable, fd, &m, &len, err)
	       : passphrase_terminal(variable, is_new, &m, &len, err);
	if (r == 0 && len == 0)
		r = cordon_fail(err, CORDON_E_INVALID, "the passphrase of the secrets is empty");
	if (r < 0) {
		locked_done(&m);
		return r;
	}
	*ret = m;
	*ret_len = len;
	return 0;
}

int passphrase_get(bool is_new, struct locked *ret, size_t *ret_len, struct cordon_error *err)
{
	return passphrase_get_from(PASSPHRASE_FD_VARIABLE, is_new, ret, ret_len, err);
}

int passphrase_get_new(struct locked *ret, size_t *ret_len, struct cordon_error *err)
{
	return passphrase_get_from(PASSPHRASE_NEW_FD_VARIABLE, /* is_new= */ true, ret, ret_len,
				   err);
}
