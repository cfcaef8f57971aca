/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a project, and the locks (devenv.h). */
#include "backend/devenv/program.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define STATE_BYTES 65536
#define STATE_NAME_MAX 80

static int state_file(struct work *w, char name[static STATE_NAME_MAX])
{
	return snprintf(name, STATE_NAME_MAX, "%.16s.json", w->key);
}

static int state_read(struct work *w)
{
	char name[STATE_NAME_MAX];
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r;

	(void)state_file(w, name);
	r = io_read_file_at(w->place, name, STATE_BYTES, &text, &len);
	json_decref(w->state);
	w->state = r < 0 ? json_object() : json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (r < 0 && r != -ENOENT)
		return cordon_fail_leaf(&w->err, r, "read " DEVENV_PLACE "/%s", name);
	if (!json_is_object(w->state))
		return cordon_hint(
			&w->err,
			cordon_fail(&w->err, CORDON_E_CORRUPT,
				    DEVENV_PLACE "/%s in the state directory is damaged", name),
			"remove it; containers that it names are labelled " DEVENV_LABEL);
	return 0;
}

int state_open(struct work *w)
{
	AUTO_FREE char *dir = NULL;
	const char *state_dir = work_text(w, "state_dir");
	struct sha256 sum;
	uint8_t digest[SHA256_LEN];
	int r = path_join(state_dir, DEVENV_PLACE, &dir);

	if (r == 0)
		r = path_make_private_dir(dir, 0700);
	if (r == 0)
		w->place = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r < 0 || w->place < 0)
		return cordon_fail_leaf(&w->err, r < 0 ? r : -errno, "make '%.300s'",
					dir ? dir : state_dir);
	sha256_init(&sum);
	sha256_add(&sum, state_dir, strlen(state_dir) + 1);
	sha256_add(&sum, w->project, strlen(w->project) + 1);
	sha256_finish(&sum, digest);
	sha256_to_hex(digest, w->key);
	return state_read(w);
}

static int state_lock_name(struct work *w, const char *name, int64_t deadline)
{
	AUTO_CLOSE int fd = openat(w->place, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : fd_flock(fd, LOCK_EX, deadline);

	return r < 0 ? cordon_fail_leaf(&w->err, r, "lock " DEVENV_PLACE "/%s", name) : TAKE_FD(fd);
}

int state_lock(struct work *w)
{
	char name[STATE_NAME_MAX];

	(void)snprintf(name, sizeof(name), "%.16s.lock", w->key);
	w->lock = state_lock_name(w, name, clock_deadline(WORK_LOCK_MS));
	return w->lock < 0 ? w->lock : state_read(w);
}

int state_lock_build(struct work *w, const char *hash)
{
	char name[STATE_NAME_MAX];

	(void)snprintf(name, sizeof(name), "%.*s.build", DEVENV_TAG_HEX, hash);
	return state_lock_name(w, name, clock_deadline(WORK_LOCK_MS));
}

int state_save(struct work *w)
{
	AUTO_FREE char *text = json_dumps(w->state, JSON_SORT_KEYS | JSON_INDENT(1));
	char name[STATE_NAME_MAX];
	int r;

	(void)state_file(w, name);
	r = text ? io_write_file_at(w->place, name, text, strlen(text), 0600) : -ENOMEM;
	return r < 0 ? cordon_fail_leaf(&w->err, r, "write " DEVENV_PLACE "/%s", name) : 0;
}

const char *state_text(const struct work *w, const char *name)
{
	const char *s = json_string_value(json_object_get(w->state, name));

	return s ? s : "";
}

void state_set(struct work *w, const char *name, const char *value)
{
	/* Without memory the file is written without it, which is looked at when it is read. */
	if (value)
		(void)json_object_set_new(w->state, name, json_string(value));
	else
		(void)json_object_del(w->state, name);
}
