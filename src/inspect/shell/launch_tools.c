/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that run a command which is given to them as text: in an option, in a configuration value, on another machine,
 * in a container or later.
 */
#include "inspect/shell/launch.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

/* ---- commands as text in an option ---- */

static struct shell_text launch_option(struct run *r, size_t c, char letter, const char *name,
				       unsigned via)
{
	struct shell_word room;
	const struct shell_word *w = exec_option(r, &r->m->commands[c], letter, name, &room);

	return w ? exec_code(r, c, word_value(w), via) : (struct shell_text){0};
}

/* -o Key=command of ssh and its family. */
static void launch_ssh_options(struct run *r, size_t c)
{
	static const char *const keys[] = {"ProxyCommand", "LocalCommand", "KnownHostsCommand",
					   "RemoteCommand"};

	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			const char *p = strcasestr(w->s, keys[k]);

			if (!p || (w->s[0] != '-' && p != w->s))
				continue;
			p += strlen(keys[k]);
			p += strspn(p, " =");
			(void)exec_code(r, c, run_known(r, p, strlen(p), w->taint), VIA_HOOK);
		}
	}
}

struct shell_text launch_ssh(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "bcDEeFIiJLlmOopQRSWw", " ");

	launch_ssh_options(r, c);
	if (at + 1 < r->m->commands[c].n) {
		struct shell_text out = exec_code(r, c, exec_joined(r, c, at + 1), VIA_REMOTE);

		r->m->commands[c].sends |= r->m->commands[c].in.taint;
		out.taint |= TAINT_REMOTE;
		return out;
	}
	r->m->commands[c].sends |= r->m->commands[c].in.taint;
	/* what is typed into the shell there */
	if (r->m->commands[c].in.s && at < r->m->commands[c].n &&
	    !rule_has(&r->m->commands[c], "-O|-N|-f|-W|-s"))
		(void)exec_code(r, c, r->m->commands[c].in, VIA_REMOTE);
	return (struct shell_text){.taint = TAINT_REMOTE};
}

struct shell_text launch_su(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	if (cmd->has_in && !exec_option(r, cmd, 'c', "command", &(struct shell_word){0}))
		return exec_code(r, c, cmd->in, VIA_ROOT | VIA_SHELL);
	if (strcmp(cmd->name, "runuser") == 0 && cmd->n > 3 && strcmp(cmd->argv[1].s, "-u") == 0)
		return exec_rest(r, c, 3 + (strcmp(cmd->argv[3].s, "--") == 0), VIA_ROOT);
	return launch_option(r, c, 'c', "command", VIA_ROOT | VIA_SHELL);
}

struct shell_text launch_script_c(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	/* script -qc CMD */
	for (size_t i = 1; i + 1 < cmd->n; i++)
		if (cmd->argv[i].len > 2 && cmd->argv[i].s[0] == '-' && cmd->argv[i].s[1] != '-' &&
		    cmd->argv[i].s[cmd->argv[i].len - 1] == 'c')
			return exec_code(r, c, word_value(&cmd->argv[i + 1]), VIA_SHELL);
	return launch_option(r, c, 'c', "command", VIA_SHELL);
}

/* Ourselves: what is inside is judged, since options can make the sandbox as wide as the host. */
struct shell_text launch_cordon(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	if (cmd->n < 3 ||
	    (strcmp(cmd->argv[1].s, "run") != 0 && strcmp(cmd->argv[1].s, "learn") != 0))
		return run_nothing();
	if (exec_option(r, cmd, 'c', "command", &(struct shell_word){0}))
		return launch_option(r, c, 'c', "command", VIA_SHELL);
	return exec_rest(
		r, c,
		exec_operand(
			cmd, 2, "plbCrwxmte",
			" policy level backend cwd read write deny net allow-host allow-private "
			"memory cpu-shares cpu-percent max-processes max-open-files timeout "
			"max-output env secret workspace allow-socket publish cache device grace "
			"image report tool session fs exec deny-syscall output rounds "),
		0);
}

struct shell_text launch_flock(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "wE", " timeout wait conflict-exit-code ") + 1;

	for (size_t i = 1; i + 1 < cmd->n; i++)
		if (strcmp(cmd->argv[i].s, "-c") == 0 || strcmp(cmd->argv[i].s, "--command") == 0)
			return exec_code(r, c, word_value(&cmd->argv[i + 1]), VIA_SHELL);
	return exec_rest(r, c, at, 0);
}

struct shell_text launch_watch(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "nq", " interval equexit ");

	for (size_t i = 1; i < at && i < cmd->n; i++)
		if (strcmp(cmd->argv[i].s, "-x") == 0 || strcmp(cmd->argv[i].s, "--exec") == 0)
			return exec_rest(r, c, at, 0);
	return exec_code(r, c, exec_joined(r, c, at), VIA_SHELL);
}

struct shell_text launch_tmux(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	static const char *const subs[] = {"new-session",  "new",      "new-window",   "neww",
					   "split-window", "splitw",   "respawn-pane", "run-shell",
					   "run",          "if-shell", "send-keys",    "send",
					   "pipe-pane"};

	for (size_t i = 1; i < cmd->n; i++)
		for (size_t k = 0; k < sizeof(subs) / sizeof(subs[0]); k++) {
			size_t at;

			if (strcmp(cmd->argv[i].s, subs[k]) != 0)
				continue;
			at = exec_operand(cmd, i + 1, "cFnstxyetl", " ");
			if (strncmp(subs[k], "send", 4) == 0 && at + 1 < cmd->n)
				return exec_code(r, c, word_value(&cmd->argv[at]), VIA_SHELL);
			return exec_code(r, c, exec_joined(r, c, at), VIA_SHELL);
		}
	return (struct shell_text){0};
}

struct shell_text launch_screen(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	size_t at = exec_operand(cmd, 1, "cehpstTS", " ");

	/* what is typed into a session: screen -X stuff TEXT */
	if (at + 1 < cmd->n && rule_is("stuff exec", cmd->argv[at].s) && rule_has(cmd, "-X"))
		return exec_code(r, c, exec_joined(r, c, at + 1), VIA_SHELL);
	return at < cmd->n ? exec_rest(r, c, at, VIA_BACKGROUND) : (struct shell_text){0};
}

/* docker run|exec, podman, nerdctl, kubectl exec. */
struct shell_text launch_container(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];
	static const char shorts[] = "acehlmpuvw";
	static const char longs[] =
		" add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile "
		"cpus cpuset-cpus detach-keys device dns entrypoint env env-file expose gpus group-add "
		"health-cmd hostname ip ipc label link log-driver memory mount name namespace network net "
		"pid platform publish pull restart runtime security-opt shm-size stop-signal storage-opt "
		"sysctl tmpfs ulimit user userns volume volumes-from workdir container context ";
	bool is_kubectl = strcmp(cmd->name, "kubectl") == 0 || strcmp(cmd->name, "oc") == 0;
	struct shell_word room;
	const struct shell_word *entry = exec_option(r, cmd, '\0', "entrypoint", &room);
	unsigned via = VIA_CONTAINER;
	size_t at = 1;

	for (; at < cmd->n; at++)
		if (strcmp(cmd->argv[at].s, "run") == 0 || strcmp(cmd->argv[at].s, "exec") == 0)
			break;
	if (at >= cmd->n)
		return (struct shell_text){0};
	if (strcmp(cmd->argv[at].s, "exec") == 0)
		via |= VIA_RUNNING;
	if (is_kubectl) {
		for (; at < cmd->n; at++)
			if (strcmp(cmd->argv[at].s, "--") == 0)
				return exec_rest(r, c, at + 1, via);
		return (struct shell_text){0};
	}
	at = exec_operand(cmd, at + 1, shorts, longs) + 1;
	if (at > cmd->n)
		return (struct shell_text){0};
	if (entry) {
		struct run_words words = {0};

		word_add(r, &words, entry);
		for (size_t i = at; i < cmd->n; i++)
			word_add(r, &words, &cmd->argv[i]);
		return exec_words(r, c, &words, via);
	}
	return exec_rest(r, c, at, via);
}

struct shell_text launch_tar(struct run *r, size_t c)
{
	static const char *const keys[] = {"--checkpoint-action=exec=",
					   "--to-command=",
					   "--use-compress-program=",
					   "--info-script=",
					   "--new-volume-script=",
					   "--rsh-command=",
					   "--rmt-command="};
	struct shell_command copy;
	struct shell_text out;

	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (str_starts(w->s, keys[k])) {
				const char *p = w->s + strlen(keys[k]);

				(void)exec_code(r, c, run_known(r, p, strlen(p), w->taint),
						VIA_HOOK);
				w = &r->m->commands[c].argv[i];
			}
		if (w->s[0] == '-' && w->s[1] != '-' && w->len > 1 &&
		    (w->s[w->len - 1] == 'I' || w->s[w->len - 1] == 'F') &&
		    i + 1 < r->m->commands[c].n)
			(void)exec_code(r, c, word_value(&r->m->commands[c].argv[i + 1]), VIA_HOOK);
	}
	copy = r->m->commands[c];
	out = effect_of(r, &copy);
	r->m->commands[c].sends |= copy.sends;
	r->m->commands[c].is_sending |= copy.is_sending;
	return out;
}

/* Values of git's configuration that are run. */
static bool launch_git_value(struct run *r, size_t c, const char *key, const char *value)
{
	static const char *const keys[] = {"core.sshcommand",
					   "core.pager",
					   "core.editor",
					   "core.fsmonitor",
					   "core.gitproxy",
					   "diff.external",
					   "sequence.editor",
					   "gpg.program",
					   "core.askpass",
					   "credential.helper",
					   "uploadpack.packobjectshook"};
	char lower[128];
	size_t n = strcspn(key, "=");
	bool is_alias;

	if (n >= sizeof(lower))
		return false;
	for (size_t i = 0; i < n; i++)
		lower[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i]);
	lower[n] = '\0';
	is_alias = str_starts(lower, "alias.");
	if (is_alias && value[0] == '!') {
		(void)exec_code(r, c, run_known(r, value + 1, strlen(value + 1), 0), VIA_HOOK);
		return true;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(lower, keys[i]) == 0 && strpbrk(value, " /|;")) {
			if (value[0] == '!')
				value++;
			(void)exec_code(r, c, run_known(r, value, strlen(value), 0), VIA_HOOK);
			return true;
		}
	return false;
}

struct shell_text launch_git(struct run *r, size_t c)
{
	size_t at = exec_operand(&r->m->commands[c], 1, "Cc",
				 " git-dir work-tree namespace exec-path ");
	struct shell_text out = {0};
	const char *sub;

	for (size_t i = 1; i + 1 < r->m->commands[c].n && i < at; i++) {
		const char *s = r->m->commands[c].argv[i + 1].s;

		if (strcmp(r->m->commands[c].argv[i].s, "-c") == 0 && strchr(s, '='))
			(void)launch_git_value(r, c, s, strchr(s, '=') + 1);
	}
	if (at >= r->m->commands[c].n)
		return out;
	sub = r->m->commands[c].argv[at].s;
	if (strcmp(sub, "submodule") == 0 && at + 2 < r->m->commands[c].n &&
	    strcmp(r->m->commands[c].argv[at + 1].s, "foreach") == 0)
		return exec_code(
			r, c, exec_joined(r, c, exec_operand(&r->m->commands[c], at + 2, "", " ")),
			VIA_EACH);
	if (strcmp(sub, "bisect") == 0 && at + 2 < r->m->commands[c].n &&
	    strcmp(r->m->commands[c].argv[at + 1].s, "run") == 0)
		return exec_rest(r, c, at + 2, VIA_EACH);
	if (strcmp(sub, "rebase") == 0)
		return launch_option(r, c, 'x', "exec", VIA_HOOK);
	if (strcmp(sub, "difftool") == 0)
		return launch_option(r, c, 'x', "extcmd", VIA_HOOK);
	if (strcmp(sub, "grep") == 0)
		return launch_option(r, c, 'O', "open-files-in-pager", VIA_HOOK);
	if (strcmp(sub, "archive") == 0 || strcmp(sub, "send-pack") == 0)
		(void)launch_option(r, c, '\0', "exec", VIA_HOOK);
	if (strcmp(sub, "push") == 0)
		(void)launch_option(r, c, '\0', "receive-pack", VIA_HOOK);
	if (strcmp(sub, "config") == 0)
		for (size_t i = at + 1; i + 1 < r->m->commands[c].n; i++)
			(void)launch_git_value(r, c, r->m->commands[c].argv[i].s,
					       r->m->commands[c].argv[i + 1].s);
	if (strcmp(sub, "clone") == 0 || strcmp(sub, "fetch") == 0 ||
	    strcmp(sub, "ls-remote") == 0) {
		(void)launch_option(r, c, 'u', "upload-pack", VIA_HOOK);
		for (size_t i = at + 1; i < r->m->commands[c].n; i++) {
			const struct shell_word *w = &r->m->commands[c].argv[i];

			if (rule_is("-c --config", w->s) && i + 1 < r->m->commands[c].n)
				w++;
			else
				w = str_starts(w->s, "--config=") ? w : NULL;
			if (w && strchr(w->s + (w->s[0] == '-' ? 9 : 0), '=')) {
				const char *key = w->s + (w->s[0] == '-' ? 9 : 0);

				(void)launch_git_value(r, c, key, strchr(key, '=') + 1);
			}
			w = &r->m->commands[c].argv[i];
			/* The ext transport runs what follows. */
			if (str_starts(w->s, "ext::"))
				(void)exec_code(r, c, run_known(r, w->s + 5, w->len - 5, 0),
						VIA_HOOK);
		}
	}
	if (strcmp(sub, "show") == 0 || strcmp(sub, "cat-file") == 0)
		for (size_t i = at + 1; i < r->m->commands[c].n; i++)
			out.taint |= r->m->commands[c].argv[i].taint;
	return out;
}

/* nc -e, socat EXEC:, and others that give a program a connection. */
struct shell_text launch_netcat(struct run *r, size_t c)
{
	static const char *const longs[] = {"exec", "sh-exec", "lua-exec"};
	struct shell_word room;
	const struct shell_word *w = NULL;
	struct shell_command copy;
	struct shell_text out;

	for (size_t i = 1; i + 1 < r->m->commands[c].n && !w; i++) {
		const char *s = r->m->commands[c].argv[i].s;

		if (s[0] == '-' && s[1] != '-' &&
		    (s[strlen(s) - 1] == 'e' || s[strlen(s) - 1] == 'c'))
			w = &r->m->commands[c].argv[i + 1];
	}
	for (size_t k = 0; k < 3 && !w; k++)
		w = exec_option(r, &r->m->commands[c], '\0', longs[k], &room);
	if (w)
		(void)exec_code(r, c, word_value(w), VIA_NETWORK);
	copy = r->m->commands[c];
	out = effect_of(r, &copy);
	r->m->commands[c].sends |= copy.sends;
	r->m->commands[c].is_sending |= copy.is_sending;
	return out;
}

static bool launch_is_socket(const char *s)
{
	static const char *const names[] = {"TCP",   "UDP",   "OPENSSL", "SSL",   "SCTP",
					    "PROXY", "SOCKS", "QUIC",    "VSOCK", "IP"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncasecmp(s, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

struct shell_text launch_socat(struct run *r, size_t c)
{
	bool has_socket = false;
	unsigned sends = r->m->commands[c].in.taint;

	for (size_t i = 1; i < r->m->commands[c].n; i++)
		has_socket = has_socket || launch_is_socket(r->m->commands[c].argv[i].s);
	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		const char *p = strchr(w->s, ':');
		bool is_exec = p && (strncasecmp(w->s, "EXEC:", 5) == 0 ||
				     strncasecmp(w->s, "SYSTEM:", 7) == 0 ||
				     strncasecmp(w->s, "SHELL:", 6) == 0);

		if (is_exec) {
			struct shell_word mark = word_of(r, " ", 1),
					  word = word_of(r, p + 1, strcspn(p + 1, ","));

			word = launch_replace(r, &word, "\\ ", &mark);
			word.taint = w->taint;
			(void)exec_code(r, c, word_value(&word), has_socket ? VIA_NETWORK : 0);
		} else if (p && has_socket && !launch_is_socket(w->s)) {
			struct shell_word file = word_of(r, p + 1, strcspn(p + 1, ","));

			sends |= effect_file(r, file.s, 0);
		}
	}
	r->m->commands[c].sends |= has_socket ? sends : 0;
	return (struct shell_text){.taint = has_socket ? TAINT_REMOTE : 0};
}

struct shell_text launch_rsync(struct run *r, size_t c)
{
	struct shell_command copy;
	struct shell_text out;

	(void)launch_option(r, c, 'e', "rsh", VIA_HOOK);
	(void)launch_option(r, c, '\0', "rsync-path", VIA_HOOK);
	launch_ssh_options(r, c);
	copy = r->m->commands[c];
	out = effect_of(r, &copy);
	r->m->commands[c].sends |= copy.sends;
	return out;
}

/* ---- later ---- */

struct shell_text launch_at(struct run *r, size_t c)
{
	if (r->m->commands[c].has_in)
		return exec_code(r, c, r->m->commands[c].in, VIA_LATER);
	return (struct shell_text){0};
}

/* Lines of a crontab: five fields or @when, then a command. */
struct shell_text launch_crontab(struct run *r, size_t c)
{
	struct shell_text listed = {.taint = TAINT_IDENTITY};
	struct shell_text in = r->m->commands[c].in;
	struct buf b = BUF_INIT(LIMIT_SHELL_BYTES);

	if (r->m->commands[c].n > 1 && strcmp(r->m->commands[c].argv[1].s, "-l") == 0)
		return listed;
	for (size_t i = 0; in.s && i < in.len;) {
		size_t end = i;
		unsigned fields = in.s[i] == '@' ? 1 : 5;

		while (end < in.len && in.s[end] != '\n')
			end++;
		while (i < end && fields > 0) {
			while (i < end && in.s[i] != ' ' && in.s[i] != '\t')
				i++;
			while (i < end && (in.s[i] == ' ' || in.s[i] == '\t'))
				i++;
			fields--;
		}
		buf_add(&b, in.s + i, end - i);
		buf_char(&b, '\n');
		i = end + 1;
	}
	if (b.len > 1)
		(void)exec_code(r, c, run_known(r, b.data, b.len, in.taint), VIA_LATER);
	run_buf_done(r, &b);
	return (struct shell_text){0};
}

/* vi -c ':!cmd', emacs --eval, less +!cmd: what follows the exclamation mark. */
struct shell_text launch_editor(struct run *r, size_t c)
{
	for (size_t i = 1; i < r->m->commands[c].n; i++) {
		const struct shell_word *w = &r->m->commands[c].argv[i];
		const char *bang = strchr(w->s, '!');
		bool is_command = i > 1 && (strcmp(r->m->commands[c].argv[i - 1].s, "-c") == 0 ||
					    strcmp(r->m->commands[c].argv[i - 1].s, "--cmd") == 0);

		/* vim -S <(curl …) */
		if (i > 1 && rule_is("-S -s -u --cmd", w[-1].s) && str_starts(w->s, "/dev/fd/"))
			r->m->commands[c].runs |= effect_file(r, w->s, 0) & TAINT_REMOTE;
		if (bang && (is_command || w->s[0] == '+'))
			(void)exec_code(r, c, run_known(r, bang + 1, strlen(bang + 1), w->taint),
					VIA_HOOK);
	}
	return (struct shell_text){.taint = r->m->commands[c].in.taint};
}

/* cmd.exe /c PROGRAM WORD… */
struct shell_text launch_cmd(struct run *r, size_t c)
{
	const struct shell_command *cmd = &r->m->commands[c];

	for (size_t i = 1; i + 1 < cmd->n; i++)
		if (strcasecmp(cmd->argv[i].s, "/c") == 0 || strcasecmp(cmd->argv[i].s, "/k") == 0)
			return i + 2 == cmd->n
				       ? exec_code(r, c, word_value(&cmd->argv[i + 1]), VIA_SHELL)
				       : exec_rest(r, c, i + 1, VIA_SHELL);
	return (struct shell_text){0};
}
