/* SPDX-License-Identifier: Apache-2.0 */
/* What a row asks of a call besides its name. */
#include "inspect/code/origin.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WHEN(name) bool code_when_##name(struct code_scan *s, const struct code_call *c)
#define OUTSIDE (CODE_FROM_INPUT | CODE_FROM_ENV | CODE_FROM_NET | CODE_FROM_ENV_ALL)

static const struct code_value none = {.node = CODE_NO_NODE};

static const struct code_value *arg_value(const struct code_call *c, unsigned i)
{
	return i < c->n ? c->args[i].value : &none;
}

WHEN(constant)
{
	(void)s;
	return c->n > 0 && arg_value(c, 0)->is_constant;
}

static enum code_origin code_origin(const struct code_call *c)
{
	const struct code_value *v =
		arg_value(c, strcmp(c->name, "_xxsubinterpreters.run_string") == 0);

	return c->n == 0 ? FROM_NOWHERE : code_origin_of(v->flags, v->is_constant);
}

WHEN(code_dynamic)
{
	(void)s;
	return code_origin(c) == FROM_UNKNOWN;
}

WHEN(code_decoded)
{
	(void)s;
	return code_origin(c) == FROM_DECODED;
}

WHEN(code_net)
{
	(void)s;
	return code_origin(c) == FROM_NET;
}

WHEN(code_file)
{
	(void)s;
	return code_origin(c) == FROM_FILE;
}

/* ---- arguments in general ---- */

WHEN(first_dynamic)
{
	(void)s;
	return c->n > 0 && !arg_value(c, 0)->is_constant;
}

WHEN(second_constant)
{
	const struct code_argument *key = code_arg(s, c, "key", 1);

	return key && key->value->is_constant && key->value->str;
}

/* typ="unsafe" of ruamel. */
WHEN(unsafe_type)
{
	const struct code_argument *type = code_arg(s, c, "typ", 0);

	return type && type->value->is_constant &&
	       (strncmp(type->value->str, "unsafe", 6) == 0 ||
		strncmp(type->value->str, "base", 4) == 0);
}

WHEN(first_tainted)
{
	(void)s;
	return arg_value(c, 0)->flags & OUTSIDE;
}

WHEN(any_tainted)
{
	(void)s;
	return c->flags & (CODE_FROM_INPUT | CODE_FROM_ENV);
}

WHEN(from_socket)
{
	(void)s;
	return c->flags & CODE_FROM_SOCKET;
}

/* A function of a module that runs things, asked for by a name that is not known. */
WHEN(getattr_unknown)
{
	const char *name = arg_value(c, 0)->name;

	(void)s;
	return name && c->n > 1 && !arg_value(c, 1)->is_constant &&
	       (strcmp(name, "os") == 0 || strcmp(name, "builtins") == 0 ||
		strcmp(name, "__builtins__") == 0 || strcmp(name, "subprocess") == 0);
}

WHEN(import_dangerous)
{
	static const char *const names[] = {"os",       "subprocess", "pty",   "ctypes",
					    "socket",   "commands",   "posix", "shutil",
					    "builtins", "marshal",    "pickle"};
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	for (size_t i = 0; v->is_constant && i < ARRAY_LEN(names); i++)
		if (v->len == strlen(names[i]) && memcmp(v->str, names[i], v->len) == 0)
			return true;
	return false;
}

WHEN(import_dynamic)
{
	(void)s;
	return c->n > 0 && !arg_value(c, 0)->is_constant;
}

WHEN(pickle_payload)
{
	static const char *const calls[] = {"cos\n",          "cposix\n",    "csubprocess\n",
					    "c__builtin__\n", "cbuiltins\n", "cnt\n",
					    "csys\n",         "system",      "eval",
					    "exec",           "Popen"};
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	for (size_t i = 0; v->str && i < ARRAY_LEN(calls); i++)
		if (memmem(v->str, v->len, calls[i], strlen(calls[i])))
			return true;
	return false;
}

WHEN(pickle_data)
{
	if (strcmp(c->name, "numpy.load") == 0)
		return code_arg_is(s, c, "allow_pickle", "True");
	if (strcmp(c->name, "torch.load") == 0)
		return !code_arg_is(s, c, "weights_only", "True");
	return !code_when_pickle_payload(s, c);
}

WHEN(yaml_unsafe)
{
	const struct code_argument *loader = code_arg(s, c, "Loader", 1);
	const char *name;

	if (strcmp(c->name, "yaml.load") != 0 && strcmp(c->name, "yaml.load_all") != 0)
		return strstr(c->name, "unsafe") || strstr(c->name, "full");
	if (!loader)
		return true;
	name = loader->value->name;
	return !name || !(strstr(name, "SafeLoader") || strstr(name, "BaseLoader"));
}

/* ---- texts ---- */

static bool has_word(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(s + i, word, n) == 0)
			return true;
	return false;
}

bool code_is_sql(const struct code_value *v)
{
	static const char *const verbs[] = {"select ", "insert ", "update ", "delete ", "replace ",
					    "drop ",   "alter ",  "create ", "with ",   "exec "};
	static const char *const parts[] = {" from ",  " into ",  " set ", " table ",
					    " values", " where ", "user "};
	const char *at = v->str;
	size_t len = v->len;
	bool has_verb = false;

	while (len && (isspace((unsigned char)*at) || *at == '('))
		at++, len--;
	for (size_t i = 0; at && i < ARRAY_LEN(verbs); i++)
		has_verb = has_verb || (len >= strlen(verbs[i]) &&
					strncasecmp(at, verbs[i], strlen(verbs[i])) == 0);
	for (size_t i = 0; has_verb && i < ARRAY_LEN(parts); i++)
		if (has_word(at, len, parts[i]))
			return true;
	return false;
}

/* Does the expression itself name anything, or is it made of literals? */
static bool has_names(const struct code_tree *t, uint32_t node)
{
	if (t->nodes[node].kind == CODE_IDENTIFIER)
		return false; /* a name alone is what it was set to */
	for (uint32_t i = node; i < t->nodes[node].skip; i++)
		if (t->nodes[i].kind == CODE_IDENTIFIER)
			return true;
	return false;
}

WHEN(first_built)
{
	return c->n > 0 && (!arg_value(c, 0)->is_constant || has_names(s->tree, c->args[0].node));
}

WHEN(query_built)
{
	for (unsigned i = 0; i < c->n && i < 4; i++) {
		const struct code_value *v = arg_value(c, i);
		const struct code_node *n = &s->tree->nodes[c->args[i].node];

		if ((v->flags & CODE_IS_BUILT) && (v->str || n->kind == CODE_LIST))
			return true;
	}
	return false;
}

WHEN(sql_built)
{
	for (unsigned i = 0; i < c->n && i < 3; i++) {
		const struct code_value *v = arg_value(c, i);

		if (v->is_constant && !has_names(s->tree, c->args[i].node))
			continue;
		if (v->str && code_is_sql(v))
			return true;
		if ((v->flags & CODE_IS_BUILT) && v->str &&
		    (strstr(c->name, "execute") || strstr(c->name, "Query") ||
		     strstr(c->name, "Exec")))
			return true;
		if ((v->flags & CODE_FROM_INPUT) && s->tree->language == CODE_GO &&
		    i <= (strstr(c->name, "Context") ? 1u : 0u))
			return true;
	}
	return false;
}

/* Is this argument what is sent, and not who sends it? */
static bool is_sent(const struct code_scan *s, const struct code_argument *a)
{
	return a->keyword == CODE_NO_NODE ||
	       !(code_is(s->tree, a->keyword, "headers") || code_is(s->tree, a->keyword, "auth") ||
		 code_is(s->tree, a->keyword, "timeout") ||
		 code_is(s->tree, a->keyword, "proxies") ||
		 code_is(s->tree, a->keyword, "cookies"));
}

static bool sends(const struct code_scan *s, const struct code_call *c, unsigned flags)
{
	const char *last = strrchr(c->name, '.');

	/* A method that anything may have counts only on a connection. */
	if (last && strncmp(last, ".Write", 6) == 0 && !(c->receiver_flags & CODE_FROM_SOCKET) &&
	    strncmp(c->name, "net", 3) != 0)
		return false;
	for (unsigned i = 0; i < c->n; i++)
		if ((c->args[i].value->flags & flags) && is_sent(s, &c->args[i]))
			return true;
	return false;
}

WHEN(sends_secret)
{
	return sends(s, c, CODE_FROM_SECRET) && !code_is_for_host(s, c);
}

WHEN(sends_environment)
{
	return sends(s, c, CODE_FROM_ENV_ALL);
}

WHEN(sends_system)
{
	return sends(s, c, CODE_FROM_SYSTEM);
}

WHEN(sends_capture)
{
	return sends(s, c, CODE_FROM_CAPTURE);
}

WHEN(to_address)
{
	(void)s;
	for (unsigned i = 0; i < c->n && i < 2; i++)
		if (arg_value(c, i)->str &&
		    code_url_is_address(arg_value(c, i)->str, arg_value(c, i)->len))
			return true;
	return false;
}

/* Where clouds tell machines who they are, with their credentials. */
WHEN(to_metadata)
{
	static const char *const hosts[] = {"169.254.169.254", "169.254.170.2", "100.100.100.200",
					    "metadata.google.internal", "[fd00:ec2::254]"};

	(void)s;
	for (unsigned i = 0; i < c->n && i < 3; i++)
		for (size_t k = 0; arg_value(c, i)->str && k < ARRAY_LEN(hosts); k++)
			if (memmem(arg_value(c, i)->str, arg_value(c, i)->len, hosts[k],
				   strlen(hosts[k])))
				return true;
	return false;
}

/* Does the program talk to its own machine only, or check by TLS whom it talks to?  The words around tell it. */
WHEN(socket_out)
{
	static const char *const near[] = {"127.0.0.1", "'localhost'", "\"localhost\"",
					   "server_hostname="};
	static const char *const far[] = {"0.0.0.0",   "SOCK_DGRAM", "SOCK_RAW", "subprocess",
					  "os.system", "exec(",      "range("};

	(void)c;
	for (size_t i = 0; i < ARRAY_LEN(far); i++)
		if (memmem(s->tree->text, s->tree->len, far[i], strlen(far[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(near); i++)
		if (memmem(s->tree->text, s->tree->len, near[i], strlen(near[i])))
			return false;
	return true;
}

/* A library that the program brings along, or the one of C, of which calls are judged by themselves. */
WHEN(library_unknown)
{
	const struct code_value *v = arg_value(c, 0);
	static const char *const own[] = {"__file__", "find_library", "os.path.dirname"};

	(void)s;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (memmem(c->text, c->len, own[i], strlen(own[i])))
			return false;
	return !(v->name && strstr(v->name, "find_library"));
}

WHEN(weak_hash_name)
{
	static const char *const names[] = {"md5", "md4", "md2", "sha1", "sha", "ripemd160"};

	for (unsigned k = 0; k < c->n; k++) {
		const struct code_value *v = arg_value(c, k);

		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if ((v->is_constant && v->len == strlen(names[i]) &&
			     strncasecmp(v->str, names[i], v->len) == 0) ||
			    (v->name && strncmp(v->name, "hashlib.", 8) == 0 &&
			     strcmp(v->name + 8, names[i]) == 0))
				return true;
	}
	(void)s;
	return false;
}

WHEN(small_key)
{
	bool is_curve = strstr(c->name, ".ec.");

	for (unsigned i = 0; i < c->n; i++) {
		const struct code_value *v = arg_value(c, i);

		if (v->is_number && v->number > 64 && v->number != 65537 &&
		    v->number < (is_curve                       ? 224
				 : s->tree->language == CODE_GO ? 2048
								: 3072))
			return true;
		if (is_curve && v->name &&
		    (strstr(v->name, "SECT163") || strstr(v->name, "SECP192")))
			return true;
	}
	return false;
}

WHEN(open_mode)
{
	const struct code_value *v = arg_value(c, c->n > 1 ? 1 : 0);

	/* a | b | c of the names of rights */
	for (unsigned i = 0; i < c->n && i < 2; i++) {
		const struct code_node *n = &s->tree->nodes[c->args[i].node];

		if (n->kind == CODE_BINARY &&
		    (has_word(s->tree->text + n->start, n->end - n->start, "S_IRWXO") ||
		     has_word(s->tree->text + n->start, n->end - n->start, "S_IWOTH")))
			return true;
	}
	return (v->is_number && (v->number & 0033)) ||
	       (v->name && (strstr(v->name, "S_IRWXO") || strstr(v->name, "S_IWOTH") ||
			    strstr(v->name, "S_IXOTH") || strstr(v->name, "S_IRWXG")));
}

/* The bits that make a program run as who owns it. */
WHEN(setuid_mode)
{
	const struct code_value *v = arg_value(c, c->n > 1 ? 1 : 0);

	(void)s;
	return (v->is_number && (v->number & 06000)) ||
	       (v->name && (strstr(v->name, "S_ISUID") || strstr(v->name, "S_ISGID") ||
			    strstr(v->name, "ModeSetuid")));
}

WHEN(writable_mode)
{
	return code_when_open_mode(s, c);
}

WHEN(open_dir_mode)
{
	const struct code_value *v = arg_value(c, 1);

	(void)s;
	return (v->is_number && (v->number & 0022)) ||
	       (v->name && strcmp(v->name, "os.ModePerm") == 0);
}

/* As most files and directories are: others may read them. */
WHEN(go_readable)
{
	const struct code_value *v = arg_value(c, c->n ? c->n - 1 : 0);
	bool is_dir = strstr(c->name, "Mkdir");

	(void)s;
	return v->is_number && (v->number & (is_dir ? 0005 : 0044)) &&
	       !(v->number & (is_dir ? 0022 : 0133));
}

WHEN(go_weak_perm)
{
	const struct code_value *v = arg_value(c, c->n ? c->n - 1 : 0);

	(void)s;
	return (v->is_number && (v->number & 0133)) ||
	       (v->name && strcmp(v->name, "os.ModePerm") == 0);
}

static bool is_all_addresses(const struct code_value *v)
{
	return v->str && ((v->len >= 7 && memcmp(v->str, "0.0.0.0", 7) == 0) ||
			  (v->len >= 2 && memcmp(v->str, "::", 2) == 0 && v->len < 4) ||
			  (v->len > 1 && v->str[0] == ':' && isdigit((unsigned char)v->str[1])));
}

WHEN(binds_all)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct code_value *v = arg_value(c, i);

		if (is_all_addresses(v))
			return true;
		if (v->node != CODE_NO_NODE && s->tree->nodes[v->node].kind == CODE_LIST) {
			uint32_t first = code_first(s->tree, v->node);
			const struct code_value *host = first == CODE_NO_NODE ? &none
									      : code_eval(s, first);

			if (is_all_addresses(host) ||
			    (host->is_constant && host->len == 0 && strstr(c->name, ".bind")))
				return true;
		}
	}
	return false;
}

WHEN(go_listen_all)
{
	(void)s;
	return c->n > 1 && is_all_addresses(arg_value(c, 1));
}

static bool url_starts(const struct code_call *c, const char *scheme)
{
	size_t n = strlen(scheme);

	for (unsigned i = 0; i < c->n && i < 2; i++) {
		const struct code_value *v = arg_value(c, i);

		if (v->str && v->len > n && strncasecmp(v->str, scheme, n) == 0 &&
		    !has_word(v->str, v->len, "localhost") &&
		    !has_word(v->str, v->len, "127.0.0.1"))
			return true;
	}
	return false;
}

WHEN(plain_url)
{
	(void)s;
	return url_starts(c, "http://");
}

WHEN(ftp_url)
{
	(void)s;
	return url_starts(c, "ftp://");
}

WHEN(no_timeout)
{
	const struct code_argument *a = code_arg(s, c, "timeout", -1);

	return !a || code_is(s->tree, a->node, "None");
}

WHEN(no_autoescape)
{
	const struct code_argument *a = code_arg(s, c, "autoescape", -1);

	if (!a)
		return strstr(c->name, "jinja2") != NULL;
	return !code_is(s->tree, a->node, "True") &&
	       !(a->value->name && strstr(a->value->name, "select_autoescape"));
}

WHEN(no_args)
{
	(void)s;
	return c->n == 0;
}

WHEN(extract_all)
{
	const struct code_argument *a = code_arg(s, c, "filter", -1);

	return !a || !a->value->is_constant || a->value->len != 4 ||
	       memcmp(a->value->str, "data", 4) != 0;
}

WHEN(temp_path)
{
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	return v->str && (code_path_class(v->str, v->len) & CODE_PATH_TEMP);
}

WHEN(hook_class)
{
	return code_arg(s, c, "cmdclass", -1) != NULL;
}

WHEN(reference)
{
	(void)s;
	return c->n > 0;
}

WHEN(secret_log)
{
	static const char *const words[] = {"secret",  "password", "passwd",
					    "api_key", "token",    "credential"};
	unsigned hits = 0;

	for (unsigned i = 0; i < c->n; i++) {
		const struct code_node *n = &s->tree->nodes[c->args[i].node];
		const char *text = s->tree->text + n->start;

		if (i == 0 || arg_value(c, i)->is_constant)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(words); k++)
			hits += has_word(text, n->end - n->start, words[k]);
	}
	return hits > 0;
}

/* Ending oneself or one's own child is no attack. */
WHEN(sandboxed_kill)
{
	static const char *const news[] = {"SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH"};
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	if (v->name && (strstr(v->name, "getpid") || strstr(v->name, ".pid")))
		return false;
	/* Some signals only say that there is news. */
	for (size_t i = 0; arg_value(c, 1)->name && i < ARRAY_LEN(news); i++)
		if (strstr(arg_value(c, 1)->name, news[i]))
			return false;
	if (arg_value(c, 1)->is_number && arg_value(c, 1)->number == 0)
		return false;
	return !(v->name && strstr(v->name, "Getpid"));
}

/* ---- go ---- */

/* Does the file use more of the package than the names of signals, errors and flags? */
WHEN(go_syscall_used)
{
	static const char *const plain[] = {"SIG",    "Signal", "E",      "O_",     "S_",
					    "Stat_t", "Stdin",  "Stdout", "Stderr", "WaitStatus"};
	const char *at = s->tree->text, *end = at + s->tree->len;
	static const char word[] = "syscall.";

	(void)c;
	while ((at = memmem(at, (size_t)(end - at), word, sizeof(word) - 1)) != NULL) {
		bool is_plain = false;

		at += sizeof(word) - 1;
		for (size_t i = 0; i < ARRAY_LEN(plain) && !is_plain; i++)
			is_plain = (size_t)(end - at) > strlen(plain[i]) &&
				   memcmp(at, plain[i], strlen(plain[i])) == 0;
		/* Exec begins as the names of errors do. */
		if (!is_plain || (*at == 'E' && at + 1 < end && !isupper((unsigned char)at[1])))
			return true;
	}
	return memmem(s->tree->text, s->tree->len, "/unix\"", 6) ||
	       memmem(s->tree->text, s->tree->len, "/windows\"", 9) ||
	       !memmem(s->tree->text, s->tree->len, word, sizeof(word) - 1);
}

static unsigned go_command_start(const struct code_call *c)
{
	return strstr(c->name, "Context") ? 1 : 0;
}

WHEN(go_shell)
{
	unsigned first = go_command_start(c);
	const struct code_value *v = arg_value(c, first), *option = arg_value(c, first + 1);
	const char *name = v->str ? v->str : "";
	size_t n = v->str ? v->len : 0;

	(void)s;
	if (n >= 2 && memcmp(name + n - 2, "sh", 2) == 0 && option->is_constant &&
	    option->len >= 2 && option->str[0] == '-' && option->str[option->len - 1] == 'c')
		return !arg_value(c, first + 2)->is_constant;
	return false;
}

WHEN(go_command_tainted)
{
	(void)s;
	for (unsigned i = go_command_start(c); i < c->n; i++)
		if (c->args[i].value->flags & OUTSIDE)
			return true;
	return !arg_value(c, go_command_start(c))->is_constant &&
	       (arg_value(c, go_command_start(c))->flags & (CODE_FROM_PARAM | CODE_IS_BUILT));
}

WHEN(go_path_named)
{
	(void)s;
	return arg_value(c, 0)->flags & CODE_FROM_ARGS;
}

WHEN(go_path_tainted)
{
	const struct code_value *v = arg_value(c, strstr(c->name, "ServeFile") ? 2 : 0);

	/* What a person types behind the name of a tool is what the tool is for. */
	if (v->flags & CODE_FROM_ARGS)
		return false;
	if (strstr(c->name, "Clean"))
		return v->flags & CODE_FROM_INPUT;
	/* Tests read what lies beside them. */
	if (memmem(s->tree->text, s->tree->len, "*testing.", 9) && !(v->flags & OUTSIDE))
		return false;
	return (v->flags & OUTSIDE) ||
	       (!(v->flags & CODE_IS_CLEANED) && (v->flags & (CODE_FROM_PARAM | CODE_IS_BUILT)));
}

WHEN(go_url_tainted)
{
	(void)s;
	for (unsigned i = 0; i < c->n && i < 4; i++) {
		const struct code_value *v = arg_value(c, i);

		if (v->flags & OUTSIDE)
			return true;
		if (i < 1 && !v->is_constant &&
		    !(v->str && v->len > 8 && memcmp(v->str, "http", 4) == 0) &&
		    strncmp(c->name, "net/http.", 9) == 0 && !strstr(c->name, "NewRequest") &&
		    (v->flags & (CODE_FROM_PARAM | CODE_IS_BUILT)))
			return true;
	}
	return false;
}

WHEN(go_copy_decoder)
{
	const char *name = arg_value(c, 1)->name;

	(void)s;
	return name && (strncmp(name, "compress/", 9) == 0 || strncmp(name, "archive/", 8) == 0);
}

WHEN(go_constant_nonce)
{
	const struct code_value *v = arg_value(c, 1);

	if (v->is_constant)
		return true;
	if (v->node == CODE_NO_NODE || (v->flags & ~(unsigned)CODE_FROM_PARAM))
		return false;
	if (c->n > 1 && s->tree->nodes[c->args[1].node].kind == CODE_CALL) {
		uint32_t f = code_child(s->tree, c->args[1].node, CODE_FIELD_FUNCTION);

		if (f != CODE_NO_NODE && s->tree->nodes[f].kind == CODE_LAMBDA)
			return true;
	}
	if (v->name && strncmp(v->name, "make", 4) == 0)
		return true; /* zeroes, unless something was read into it */
	return s->tree->nodes[v->node].kind == CODE_LIST &&
	       s->tree->nodes[v->node].field == CODE_FIELD_BODY;
}

WHEN(go_root_dir)
{
	const struct code_value *v = arg_value(c, 0);

	(void)s;
	return v->is_constant &&
	       (code_path_class(v->str, v->len) & (CODE_PATH_ROOT | CODE_PATH_SYSTEM));
}

WHEN(any_origin)
{
	const struct code_value *name = arg_value(c, 0), *value = arg_value(c, 1);

	(void)s;
	return name->is_constant && value->is_constant && value->len == 1 && value->str[0] == '*' &&
	       has_word(name->str, name->len, "access-control-allow-origin");
}

WHEN(go_html_dynamic)
{
	return c->n > 0 && s->tree->nodes[c->args[0].node].kind != CODE_STRING &&
	       s->tree->nodes[c->args[0].node].kind != CODE_RAW_STRING;
}

WHEN(go_write_built)
{
	const struct code_value *receiver = &none;
	bool is_response = false;

	if (s->tree->nodes[c->function].kind == CODE_ATTRIBUTE) {
		uint32_t object = code_child(s->tree, c->function, CODE_FIELD_OBJECT);

		if (object != CODE_NO_NODE)
			receiver = code_eval(s, object);
	}
	is_response = (receiver->name && strstr(receiver->name, "ResponseWriter")) ||
		      (arg_value(c, 0)->name && strstr(arg_value(c, 0)->name, "ResponseWriter"));
	return is_response && (c->flags & (CODE_FROM_INPUT | CODE_IS_BUILT));
}
