/* SPDX-License-Identifier: Apache-2.0 */
/* What a row asks of a call that starts a program. */
#include "inspect/code/origin.h"

#include "base/mem.h"

#include <string.h>

#define WHEN(name) bool code_when_##name(struct code_scan *s, const struct code_call *c)

static const struct code_value none = {.node = CODE_NO_NODE};

static const struct code_value *arg_value(const struct code_call *c, unsigned i)
{
	return i < c->n ? c->args[i].value : &none;
}

/* Does the call hand a string to a shell? */
static bool is_shell(const struct code_scan *s, const struct code_call *c)
{
	static const char *const shells[] = {"sh",      "bash",       "zsh",
					     "dash",    "ksh",        "cmd",
					     "cmd.exe", "powershell", "powershell.exe",
					     "pwsh"};
	const struct code_argument *shell = code_arg(s, c, "shell", -1);
	const char *base = strrchr(c->name, '.');

	if (shell)
		return !code_is(s->tree, shell->node, "False") &&
		       !code_is(s->tree, shell->node, "0");
	if (strncmp(c->name, "subprocess.get", 14) == 0)
		return true;
	if (strncmp(c->name, "subprocess.", 11) != 0 && strncmp(c->name, "os.exec", 7) != 0 &&
	    strncmp(c->name, "os.spawn", 8) != 0 && strncmp(c->name, "os.posix_spawn", 14) != 0 &&
	    strncmp(c->name, "pty.", 4) != 0 && strncmp(c->name, "pexpect.", 8) != 0 &&
	    !(base && strstr(base, "_exec")))
		return true;
	for (unsigned i = 0; i + 1 < c->n && i < 3; i++) {
		const struct code_value *v = arg_value(c, i), *next = arg_value(c, i + 1);

		for (size_t k = 0; v->is_constant && k < ARRAY_LEN(shells); k++) {
			size_t n = strlen(shells[k]);

			if (v->len >= n && memcmp(v->str + v->len - n, shells[k], n) == 0 &&
			    (v->len == n || v->str[v->len - n - 1] == '/') && next)
				return true;
		}
	}
	return false;
}

/* The command of the call: its flags, and whether it is constant. */
static enum code_origin command_origin(struct code_scan *s, const struct code_call *c)
{
	const struct code_argument *a = code_arg(s, c, "args", 0);
	unsigned flags = 0;
	bool is_constant = true;
	unsigned last = c->n;

	if (!a)
		a = code_arg(s, c, "cmd", 0);
	if (!a)
		return c->has_splat || c->n ? FROM_UNKNOWN : FROM_NOWHERE;
	if (strncmp(c->name, "subprocess.", 11) == 0 || strncmp(c->name, "os.popen", 8) == 0)
		last = 1;
	for (unsigned i = 0; i < c->n && i < last; i++) {
		const struct code_value *v = arg_value(c, i);

		if (c->args[i].keyword != CODE_NO_NODE && &c->args[i] != a)
			continue;
		flags |= v->flags;
		if (v->node != CODE_NO_NODE && s->tree->nodes[v->node].kind == CODE_LIST) {
			CODE_EACH_CHILD(s->tree, v->node, item)
			{
				const struct code_value *w = code_eval(s, item);

				flags |= w->flags;
				is_constant = is_constant && w->is_constant;
			}
		} else if (!v->is_constant && !v->is_number &&
			   !(v->name && strncmp(v->name, "os.P_", 5) == 0)) {
			is_constant = false;
		}
	}
	if (c->has_splat)
		is_constant = false;
	flags |= a->value->flags;
	if (strncmp(c->name, "pty.", 4) == 0)
		flags &= ~(unsigned)CODE_FROM_NET;
	return code_origin_of(flags & ~(unsigned)CODE_FROM_FILE, is_constant);
}

/* What people type while they build and look around. */
static const char *const everyday[] = {
	"git",    "make",    "cmake", "ninja",  "npm",  "yarn",      "pnpm", "tsc",
	"pytest", "ruff",    "black", "mypy",   "go",   "cargo",     "gcc",  "clang",
	"docker", "kubectl", "clear", "cls",    "ls",   "pwd",       "date", "wc",
	"head",   "tail",    "sort",  "grep",   "uniq", "cut",       "tree", "mkdir",
	"ffmpeg", "black",   "isort", "flake8", "pip",  "terraform", "helm", "jq",
};

/* Does every command of the line begin with one of those?  The line itself is judged as any command is. */
static bool is_everyday(const struct code_value *v)
{
	uint32_t at = 0;

	while (v->str && at < v->len) {
		bool is_known = false;
		uint32_t n;

		while (at < v->len && strchr(" &|;\n", v->str[at]))
			at++;
		for (n = at; n < v->len && !strchr(" &|;\n<>`$()", v->str[n]);)
			n++;
		for (size_t i = 0; i < ARRAY_LEN(everyday) && !is_known; i++)
			is_known = n - at == strlen(everyday[i]) &&
				   memcmp(v->str + at, everyday[i], n - at) == 0;
		if (!is_known && at < v->len)
			return false;
		while (n < v->len && !strchr("&|;\n`$(", v->str[n]))
			n++;
		if (n < v->len && strchr("`$(", v->str[n]))
			return false;
		at = n;
	}
	return v->len > 0;
}

static bool shell_is_constant(struct code_scan *s, const struct code_call *c)
{
	return is_shell(s, c) && command_origin(s, c) == FROM_CONSTANT;
}

WHEN(shell_constant)
{
	return shell_is_constant(s, c) && !is_everyday(arg_value(c, 0));
}

WHEN(shell_everyday)
{
	return shell_is_constant(s, c) && is_everyday(arg_value(c, 0));
}

WHEN(shell_dynamic)
{
	return is_shell(s, c) && command_origin(s, c) == FROM_UNKNOWN;
}

WHEN(shell_net)
{
	return (is_shell(s, c) || s->tree->language == CODE_GO) && command_origin(s, c) == FROM_NET;
}

WHEN(shell_decoded)
{
	return (is_shell(s, c) || s->tree->language == CODE_GO) &&
	       command_origin(s, c) == FROM_DECODED;
}

/* Programs for which words that are not known are as much as a command. */
static const char *const launchers[] = {"sudo",    "su",         "doas",
					"env",     "xargs",      "nohup",
					"ssh",     "rm",         "dd",
					"nc",      "ncat",       "socat",
					"kill",    "chmod",      "chown",
					"mount",   "python",     "python3",
					"sh",      "bash",       "zsh",
					"dash",    "ksh",        "cmd",
					"cmd.exe", "powershell", "powershell.exe",
					"pwsh",    "perl",       "ruby",
					"node",    "php",        "find",
					"awk"};

static bool is_launcher(const struct code_value *program)
{
	const char *slash = memrchr(program->str, '/', program->len);
	const char *base = slash ? slash + 1 : program->str;
	size_t n = program->len - (size_t)(base - program->str);

	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (n == strlen(launchers[i]) && memcmp(base, launchers[i], n) == 0)
			return true;
	return n == 0;
}

/* Given a file they run that and nothing else: only an option takes code. */
static bool is_interpreter(const struct code_value *program)
{
	static const char *const names[] = {"sh",   "bash", "zsh",  "python", "python3",
					    "node", "ruby", "perl", "php"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (program->len == strlen(names[i]) &&
		    memcmp(program->str, names[i], program->len) == 0)
			return true;
	return false;
}

/* Is the program that is started named by the text, and one to which words are only words?  sys.executable is, but
 * for -c. */
static bool is_named_program(const struct code_value *program, const struct code_value *next)
{
	if (program->is_constant && program->str)
		return !is_launcher(program);
	return program->name && strcmp(program->name, "sys.executable") == 0 && next->is_constant &&
	       next->len >= 2 && memcmp(next->str, "-c", 2) != 0;
}

/* A list of words whose first is such a program. */
static bool starts_named(struct code_scan *s, const struct code_call *c)
{
	const struct code_argument *a = code_arg(s, c, "args", 0);
	const struct code_value *program, *next;
	uint32_t list, first, second;

	if (!a)
		a = code_arg(s, c, "cmd", 0);
	if (!a || a->value->node == CODE_NO_NODE ||
	    s->tree->nodes[a->value->node].kind != CODE_LIST)
		return false;
	list = a->value->node;
	first = code_first(s->tree, list);
	if (first == CODE_NO_NODE)
		return false;
	second = s->tree->nodes[first].skip;
	program = code_eval(s, first);
	next = second < s->tree->nodes[list].skip ? code_eval(s, second) : &none;
	return is_named_program(program, next) ||
	       (program->is_constant && is_interpreter(program) && next->node != CODE_NO_NODE &&
		s->tree->nodes[second].kind != CODE_SPLAT &&
		!(next->str && next->len && next->str[0] == '-'));
}

WHEN(process_dynamic)
{
	return !is_shell(s, c) && command_origin(s, c) == FROM_UNKNOWN && !starts_named(s, c);
}

WHEN(process_constant)
{
	enum code_origin origin;

	if (is_shell(s, c))
		return false;
	origin = command_origin(s, c);
	return origin == FROM_CONSTANT || (origin == FROM_UNKNOWN && starts_named(s, c));
}

/* In go the words are arguments of their own. */
static bool go_starts_named(const struct code_call *c)
{
	unsigned first = strstr(c->name, "Context") ? 1 : 0;

	if (strncmp(c->name, "os/exec.", 8) != 0 && !strstr(c->name, "execabs."))
		return false;
	return is_named_program(arg_value(c, first), arg_value(c, first + 1));
}

WHEN(go_exec_any)
{
	(void)s;
	return !go_starts_named(c);
}

WHEN(go_exec_named)
{
	(void)s;
	return go_starts_named(c);
}

WHEN(process_net)
{
	return !is_shell(s, c) && command_origin(s, c) == FROM_NET;
}

WHEN(process_decoded)
{
	return !is_shell(s, c) && command_origin(s, c) == FROM_DECODED;
}

WHEN(process_silent)
{
	const struct code_argument *in = code_arg(s, c, "stdin", -1);
	const struct code_argument *out = code_arg(s, c, "stdout", -1);
	const struct code_argument *errors = code_arg(s, c, "stderr", -1);
	uint32_t try_node = code_ancestor(s->tree, c->node, CODE_TRY);

	return in && out && errors && try_node != CODE_NO_NODE && in->value->name &&
	       out->value->name && errors->value->name && strstr(in->value->name, "DEVNULL") &&
	       strstr(out->value->name, "DEVNULL") && strstr(errors->value->name, "DEVNULL");
}

/* Its argument is an address, and no function of the program. */
WHEN(at_address)
{
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	return v->is_number ||
	       (v->name && (strstr(v->name, "addressof") || strstr(v->name, "VirtualAlloc") ||
			    strstr(v->name, ".cast") || strstr(v->name, "mmap")));
}

/* filepath.Walk(home, func … { os.Remove(p) }) */
WHEN(go_walk_loss)
{
	static const char *const acts[] = {"os.Remove(", "os.RemoveAll(", "os.Truncate(",
					   "os.WriteFile(", "ioutil.WriteFile("};
	const struct code_value *v = arg_value(c, 0);
	bool is_lost = false;

	(void)s;
	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		is_lost = is_lost || memmem(c->text, c->len, acts[i], strlen(acts[i])) != NULL;
	return is_lost && ((v->name && strstr(v->name, "UserHomeDir")) ||
			   (v->is_constant && (code_path_class(v->str, v->len) & CODE_PATH_ROOT)));
}
