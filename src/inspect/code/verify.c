/* SPDX-License-Identifier: Apache-2.0 */
/* See verify.h. */
#include "inspect/code/verify.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "inspect/code/scan.h"
#include "inspect/command.h"
#include "inspect/shell/model.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const builtin_modules[] = {"os.system",  "subprocess.call(shell=True)",
					      "eval",       "exec",
					      "__import__", "unsafe",
					      "syscall"};
static const char *const builtin_functions[] = {"rm", "rmdir", "format", "kill"};
static const char *const builtin_paths[] = {"/tmp", "/var/tmp"};
static const char *const builtin_patterns[] = {
	"os\\.system\\(",
	"\\bexec\\(",
	"\\beval\\s*[(`]",
	"__import__\\(",
	"subprocess\\.\\w+\\(.*shell\\s*=\\s*True",
	"child_process|\\bexecSync\\(",
	"vm\\.runIn\\w*Context",
	"new\\s+Function\\(",
	"fs\\.(unlink|rm|rmdir)(Sync)?\\(",
	"FileUtils\\.rm",
	"\\bsystem\\(|Kernel[.#](system|exec)",
};

static int verifier_fill(struct strv *list, const char *const *from, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = strv_add(list, from[i]);
	return r;
}

static int verifier_add_pattern(struct code_verifier *v, const char *source, bool is_builtin,
				struct cordon_error *err)
{
	struct code_pattern p = {.is_builtin = is_builtin};
	void *list = v->patterns;
	int r;

	if (v->n_patterns >= LIMIT_POLICY_PATTERNS)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d patterns",
				   LIMIT_POLICY_PATTERNS);
	r = is_builtin ? 0 : pattern_check(source, err);
	if (r == 0)
		r = pattern_compile(source, &p.pattern, err);
	if (r < 0)
		return r;
	p.source = strdup(source);
	r = mem_grow(&list, &v->cap_patterns, v->n_patterns + 1, sizeof(p), LIMIT_POLICY_PATTERNS);
	v->patterns = list;
	if (r < 0 || !p.source) {
		pattern_free(p.pattern);
		free(p.source);
		return cordon_nomem(err);
	}
	v->patterns[v->n_patterns++] = p;
	return 0;
}

int code_verifier_add_pattern(struct code_verifier *v, const char *source, struct cordon_error *err)
{
	return verifier_add_pattern(v, source, /* is_builtin= */ false, err);
}

int code_verifier_init(struct code_verifier *ret, struct cordon_error *err)
{
	struct code_verifier v = {0};
	int r = verifier_fill(&v.modules, builtin_modules, ARRAY_LEN(builtin_modules));

	if (r == 0)
		r = verifier_fill(&v.functions, builtin_functions, ARRAY_LEN(builtin_functions));
	if (r == 0)
		r = verifier_fill(&v.paths, builtin_paths, ARRAY_LEN(builtin_paths));
	if (r < 0)
		r = cordon_fail_leaf(err, r, "verifier");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(builtin_patterns); i++)
		r = verifier_add_pattern(&v, builtin_patterns[i], /* is_builtin= */ true, err);
	if (r < 0) {
		code_verifier_done(&v);
		return r;
	}
	*ret = v;
	return 0;
}

void code_verifier_clear_patterns(struct code_verifier *v)
{
	for (size_t i = 0; i < v->n_patterns; i++) {
		pattern_free(v->patterns[i].pattern);
		free(v->patterns[i].source);
	}
	v->n_patterns = 0;
}

void code_verifier_done(struct code_verifier *v)
{
	if (!v)
		return;
	code_verifier_clear_patterns(v);
	free(v->patterns);
	strv_done(&v->modules);
	strv_done(&v->functions);
	strv_done(&v->paths);
	*v = (struct code_verifier){0};
}

void code_result_done(struct code_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		free(r->violations[i].code);
		free(r->violations[i].reason);
	}
	free(r->violations);
	strv_done(&r->warnings);
	*r = (struct code_result){0};
}

/* ---- one verification ---- */

struct verification {
	const struct code_verifier *verifier;
	const struct inspect_context *context;
	struct code_result *ret;
	enum code_language language;
	bool has_syntax_error;
};

/* The types that a violation has: what is about the input is a pattern. */
static enum finding_type violation_type(enum finding_type type)
{
	switch (type) {
	case FINDING_BLOCKED_MODULE:
	case FINDING_BLOCKED_FUNCTION:
	case FINDING_FILE_ACCESS:
	case FINDING_NETWORK_ACCESS:
	case FINDING_SYSTEM_CALL:
		return type;
	case FINDING_EGRESS:
	case FINDING_DATA_LEAK:
		return FINDING_NETWORK_ACCESS;
	case FINDING_PROMPT_INJECTION:
	case FINDING_DANGEROUS_PATTERN:
	case FINDING_INPUT:
	case FINDING_TYPE_COUNT:
		break;
	}
	return FINDING_DANGEROUS_PATTERN;
}

static int violation_add(struct code_result *ret, enum finding_type type, unsigned line,
			 const char *code, const char *reason, bool is_error,
			 struct cordon_error *err)
{
	struct code_violation v = {violation_type(type), line, NULL, NULL, is_error};
	struct buf text = BUF_INIT(4096);
	void *list = ret->violations;
	size_t n;
	int r;

	if (ret->n >= LIMIT_CODE_VIOLATIONS) { /* what is not listed still counts */
		ret->n_errors += is_error;
		ret->is_safe = ret->is_safe && !is_error;
		return 0;
	}
	if (code && *code && strlen(code) < 200 && !strchr(code, '\n'))
		buf_printf(&text, "%s: ", code);
	buf_str(&text, reason);
	r = mem_grow(&list, &ret->cap, ret->n + 1, sizeof(v), LIMIT_CODE_VIOLATIONS);
	ret->violations = list;
	v.code = strdup(code ? code : "");
	if (r < 0 || !v.code || buf_take(&text, &v.reason, &n) < 0) {
		free(v.code);
		buf_done(&text);
		return cordon_nomem(err);
	}
	ret->violations[ret->n++] = v;
	ret->n_errors += is_error;
	ret->is_safe = ret->is_safe && !is_error;
	if (!is_error && strv_addf(&ret->warnings, "L%u: %s", line, v.reason) < 0)
		return cordon_nomem(err);
	return 0;
}

static int verify_hit(void *arg, const struct code_hit *hit, struct cordon_error *err)
{
	struct verification *v = arg;

	if (hit->rule == &code_rules[CODE_RULE_CODE_SYNTAX] ||
	    hit->rule == &code_rules[CODE_RULE_CODE_JUNK])
		v->has_syntax_error = true;
	return violation_add(v->ret, hit->rule->type, hit->line, hit->code, hit->rule->reason,
			     hit->rule->is_error, err);
}

static int verify_findings(struct verification *v, const struct findings *f, uint32_t line,
			   struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < f->n; i++)
		r = violation_add(v->ret, f->items[i].type, line ? line : f->items[i].line,
				  f->items[i].snippet, f->items[i].message,
				  f->items[i].level != THREAT_NONE && f->items[i].confidence >= 0.3,
				  err);
	return r;
}

static int verify_command(void *arg, const char *text, size_t len, uint32_t line,
			  struct cordon_error *err)
{
	struct verification *v = arg;
	struct inspect_context inner = *v->context;
	AUTO(findings_done) struct findings found = {0};
	int r;

	inner.depth++;
	r = command_inspect(&inner, text, len, &found, err);
	return r < 0 ? r : verify_findings(v, &found, line, err);
}

static int verify_inner_code(void *arg, const char *text, size_t len, uint32_t line,
			     struct cordon_error *err)
{
	struct verification *v = arg;
	struct inspect_context inner = *v->context;
	AUTO(findings_done) struct findings found = {0};
	int r;

	inner.depth++;
	r = code_inspect(&inner, v->language, text, len, &found, err);
	return r < 0 ? r : verify_findings(v, &found, line, err);
}

static bool module_matches(const char *entry, const char *name)
{
	size_t n = strlen(entry);

	return strncmp(entry, name, n) == 0 &&
	       (name[n] == '\0' || name[n] == '.' || name[n] == '/');
}

static int verify_module(void *arg, const char *name, uint32_t line, bool has_hit,
			 struct cordon_error *err)
{
	struct verification *v = arg;

	for (size_t i = 0; !has_hit && i < v->verifier->modules.n; i++)
		if (module_matches(v->verifier->modules.v[i], name))
			return violation_add(v->ret, FINDING_BLOCKED_MODULE, line, name,
					     "a module that is blocked", true, err);
	return 0;
}

/* Does a list's entry, perhaps with an argument in brackets, mean this call? */
static bool call_matches(const char *entry, const struct code_call *c)
{
	size_t n = strcspn(entry, "(");
	const char *argument = entry[n] ? entry + n + 1 : "";
	size_t k = strcspn(argument, ")");

	if (strncmp(entry, c->name, n) != 0 || (c->name[n] != '\0' && c->name[n] != '.'))
		return false;
	return k == 0 || (c->text && memmem(c->text, c->len, argument, k) != NULL);
}

static bool function_matches(const char *entry, const struct code_call *c, bool is_python)
{
	const char *last = strrchr(c->name, '.');

	if (strchr(entry, '.'))
		return strcmp(entry, c->name) == 0;
	if (strcmp(entry, c->name) == 0)
		return !(is_python && strcmp(entry, "format") == 0); /* the one that formats text */
	/* Of a module: everything before the last dot is plain, not the result of a call. */
	return last && strcasecmp(last + 1, entry) == 0 && !strpbrk(c->name, "?()[]") &&
	       (strncmp(c->name, "os.", 3) == 0 || strncmp(c->name, "syscall.", 8) == 0 ||
		strncmp(c->name, "shutil.", 7) == 0 ||
		(strchr(c->name, '/') && last > strchr(c->name, '/')));
}

static int verify_call(void *arg, const struct code_call *c, uint32_t line, bool has_hit,
		       struct cordon_error *err)
{
	struct verification *v = arg;
	const struct code_verifier *lists = v->verifier;

	/* an import by another way */
	if (v->language == CODE_PYTHON && c->n > 0 && c->args[0].value->is_constant &&
	    (strcmp(c->name, "__import__") == 0 ||
	     strcmp(c->name, "importlib.import_module") == 0 ||
	     strcmp(c->name, "importlib.__import__") == 0)) {
		char name[128];

		(void)snprintf(name, sizeof(name), "%.*s", (int)c->args[0].value->len,
			       c->args[0].value->str);
		return verify_module(v, name, line, false, err);
	}
	if (has_hit || !c->name[0])
		return 0;
	for (size_t i = 0; i < lists->modules.n; i++) {
		if (call_matches(lists->modules.v[i], c))
			return violation_add(v->ret, FINDING_BLOCKED_MODULE, line, c->name,
					     "belongs to a module that is blocked", true, err);
	}
	for (size_t i = 0; i < lists->functions.n; i++)
		if (function_matches(lists->functions.v[i], c, v->language == CODE_PYTHON))
			return violation_add(v->ret, FINDING_BLOCKED_FUNCTION, line, c->name,
					     "a function that is blocked", true, err);
	return 0;
}

static bool verify_allows(void *arg, const char *path, size_t len)
{
	const struct verification *v = arg;

	if (len == 0 || path[0] != '/' || memmem(path, len, "/..", 3))
		return false;
	for (size_t i = 0; i < v->verifier->paths.n; i++) {
		const char *base = v->verifier->paths.v[i];
		size_t n = strlen(base);

		while (n > 1 && base[n - 1] == '/')
			n--;
		if (len > n && memcmp(path, base, n) == 0 && (path[n] == '/' || n == 1))
			return true;
	}
	return false;
}

/* ---- lines ---- */

static bool has_violation_at(const struct code_result *r, unsigned line)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->violations[i].line == line && r->violations[i].is_error)
			return true;
	return false;
}

static int verify_line(struct verification *v, const char *line, size_t len, unsigned number,
		       bool with_builtin, struct cordon_error *err)
{
	while (len && isspace((unsigned char)*line))
		line++, len--;
	if (len == 0 || line[0] == '#' || (len > 1 && line[0] == '/' && line[1] == '/'))
		return 0;
	for (size_t i = 0; i < v->verifier->n_patterns; i++) {
		const struct code_pattern *p = &v->verifier->patterns[i];
		char code[121];
		size_t n = len < sizeof(code) - 1 ? len : sizeof(code) - 1;

		if (p->is_builtin && (!with_builtin || has_violation_at(v->ret, number)))
			continue;
		if (pattern_search(p->pattern, line, len) == 0)
			continue;
		memcpy(code, line, n);
		code[n] = '\0';
		return violation_add(v->ret, FINDING_DANGEROUS_PATTERN, number, code,
				     "a pattern that is blocked", true, err);
	}
	return 0;
}

static int verify_lines(struct verification *v, const char *text, size_t len, bool with_builtin,
			struct cordon_error *err)
{
	bool has_own = false;
	unsigned number = 1;
	int r = 0;

	for (size_t i = 0; i < v->verifier->n_patterns; i++)
		has_own = has_own || !v->verifier->patterns[i].is_builtin;
	if (!with_builtin && !has_own)
		return 0;
	for (size_t i = 0; r == 0 && i < len; number++) {
		const char *eol = memchr(text + i, '\n', len - i);
		size_t n = eol ? (size_t)(eol - (text + i)) : len - i;

		r = verify_line(v, text + i, n, number, with_builtin, err);
		i += n + 1;
	}
	return r;
}

/* ---- bash ---- */

/* Do all operands of a command lie where files may be written and deleted? */
static bool operands_are_allowed(struct verification *v, const struct shell_command *c)
{
	unsigned n = 0;

	for (size_t i = 1; i < c->n; i++) {
		const struct shell_word *w = &c->argv[i];

		if (w->s[0] == '-' && !(w->flags & WORD_UNKNOWN))
			continue;
		if ((w->flags & WORD_UNKNOWN) || !verify_allows(v, w->s, w->len))
			return false;
		n++;
	}
	return n > 0;
}

/* Is each path that the commands of a line name one that may be written and deleted? */
static bool line_is_allowed(struct verification *v, const struct shell_model *m, unsigned line)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct shell_command *c = &m->commands[i];

		if (c->line != line)
			continue;
		for (size_t k = 1; k < c->n + c->n_redirects; k++) {
			const struct shell_word *w = k < c->n ? &c->argv[k]
							      : &c->redirects[k - c->n].target;

			if (w->flags & WORD_UNKNOWN)
				return false;
			if (strchr(w->s, '/') == NULL || w->s[0] == '-')
				continue;
			if (!verify_allows(v, w->s, w->len))
				return false;
			n++;
		}
	}
	return n > 0;
}

/* Is this word of chmod a mode that lets everybody write? */
static bool is_open_mode(const char *word, size_t len)
{
	const char *plus = memchr(word, '+', len);

	if (!plus)
		plus = memchr(word, '=', len);
	if (plus)
		return memchr(plus, 'w', len - (size_t)(plus - word)) &&
		       (plus == word || memchr(word, 'a', (size_t)(plus - word)) ||
			memchr(word, 'o', (size_t)(plus - word)));
	for (size_t i = 0; i < len; i++)
		if (word[i] < '0' || word[i] > '7')
			return false;
	return len >= 3 && len <= 4 && ((word[len - 1] - '0') & 2);
}

/* What a judge of commands lets pass in daily work, and a verifier of scripts does not. */
static const char *bash_reason(const struct shell_command *c)
{
	static const char *const others[] = {"sudo",    "su",   "doas",    "pkexec",
					     "runuser", "run0", "sudoedit"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(others[i], c->name) == 0)
			return "runs a command as another user";
	if (strcmp(c->name, "chmod") != 0)
		return NULL;
	for (size_t i = 1; i < c->n; i++)
		if (!(c->argv[i].flags & WORD_UNKNOWN) &&
		    is_open_mode(c->argv[i].s, c->argv[i].len))
			return "lets everybody write";
	return NULL;
}

/* On every command that the text would run, however its name is written, and whatever wraps it. */
static int verify_bash_commands(struct verification *v, const struct shell_model *m,
				struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n && r == 0; i++) {
		const struct shell_command *c = &m->commands[i];
		const char *reason = bash_reason(c);

		if (reason)
			r = violation_add(v->ret, FINDING_SYSTEM_CALL, c->line, c->name, reason,
					  true, err);
	}
	return r;
}

/* The list of functions, on every command that the text would run, however it is written or wrapped. */
static int verify_bash_functions(struct verification *v, const struct shell_model *m,
				 struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n && r == 0; i++) {
		const struct shell_command *c = &m->commands[i];

		for (size_t k = 0; k < v->verifier->functions.n && r == 0; k++)
			if (strcmp(v->verifier->functions.v[k], c->name) == 0 &&
			    !operands_are_allowed(v, c))
				r = violation_add(v->ret, FINDING_BLOCKED_FUNCTION, c->line,
						  c->name, "a command that is blocked", true, err);
	}
	return r;
}

/* What rules of commands found, but for writes and deletions where the verifier allows them. */
static int verify_bash_findings(struct verification *v, const struct shell_model *m,
				struct findings *f, struct cordon_error *err)
{
	static const char *const rules[] = {"CMD-RM-OUTSIDE", "CMD-RM-SYSTEM", "CMD-SYSTEM-WRITE",
					    "CMD-FIND-DELETE"};
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		bool is_place = false;

		for (size_t k = 0; k < ARRAY_LEN(rules); k++)
			is_place = is_place || strcmp(f->items[i].rule, rules[k]) == 0;
		if (!is_place || !line_is_allowed(v, m, f->items[i].line))
			f->items[n++] = f->items[i];
	}
	f->n = n;
	return verify_findings(v, f, 0, err);
}

static int verify_bash(struct verification *v, const char *text, size_t len,
		       struct cordon_error *err)
{
	AUTO(findings_done) struct findings found = {0};
	struct shell_model m = {0};
	int r = command_inspect(v->context, text, len, &found, err);

	if (r == 0 && shell_model_build(v->context, text, len, &m) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = verify_bash_findings(v, &m, &found, err);
	if (r == 0)
		r = verify_bash_functions(v, &m, err);
	if (r == 0)
		r = verify_bash_commands(v, &m, err);
	shell_model_done(&m);
	return r;
}

/* ---- the whole ---- */

static const struct {
	const char *word, *language;
	enum code_language code;
} languages[] = {
	{"go", "go", CODE_GO},
	{"golang", "go", CODE_GO},
	{"python", "python", CODE_PYTHON},
	{"py", "python", CODE_PYTHON},
	{"python3", "python", CODE_PYTHON},
	{"bash", "bash", CODE_BASH},
	{"sh", "bash", CODE_BASH},
	{"shell", "bash", CODE_BASH},
};

static int violation_order(const void *a, const void *b)
{
	const struct code_violation *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

int code_verify(const struct code_verifier *v, const struct inspect_context *c,
		const char *language, const char *text, size_t len, struct code_result *ret,
		struct cordon_error *err)
{
	struct code_result result = {.is_safe = true, .language = "generic"};
	struct inspect_context own = *c;
	struct verification run = {
		.verifier = v, .context = &own, .ret = &result, .language = CODE_LANGUAGE_COUNT};
	struct code_sink sink = {.arg = &run,
				 .hit = verify_hit,
				 .command = verify_command,
				 .code = verify_inner_code,
				 .call = verify_call,
				 .module = verify_module,
				 .allows_path = verify_allows};
	int r = 0;

	inspect_context_begin(&own, len);
	for (size_t i = 0; i < ARRAY_LEN(languages); i++)
		if (strcasecmp(languages[i].word, language) == 0) {
			run.language = languages[i].code;
			result.language = languages[i].language;
		}
	if (run.language == CODE_BASH)
		r = verify_bash(&run, text, len, err);
	else if (run.language != CODE_LANGUAGE_COUNT)
		r = code_walk(&own, run.language, text, len, &sink, err);
	if (r == 0)
		r = verify_lines(&run, text, len,
				 run.language == CODE_LANGUAGE_COUNT || run.has_syntax_error, err);
	if (r < 0) {
		code_result_done(&result);
		return r;
	}
	if (result.n)
		qsort(result.violations, result.n, sizeof(*result.violations), violation_order);
	*ret = result;
	return 0;
}

void code_result_format(const struct code_result *r, struct buf *out)
{
	size_t warnings = 0;

	buf_printf(out, "Code Verification: %s\n", r->is_safe ? "SAFE" : "UNSAFE");
	for (int i = 0; i < 25; i++)
		buf_str(out, "\xe2\x94\x80"); /* a line */
	buf_char(out, '\n');
	if (r->n == 0) {
		buf_str(out, "No violations detected.");
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct code_violation *v = &r->violations[i];

		warnings += !v->is_error;
		buf_str(out, v->is_error ? "\xe2\x9c\x97" : "\xe2\x9a\xa0"); /* a cross, a sign */
		buf_printf(out, " L%u: ", v->line);
		str_escape(out, v->reason, strlen(v->reason));
		buf_char(out, '\n');
	}
	buf_printf(out, "\n%zu violation%s, %zu warning%s \xe2\x80\x94 execution %s", r->n_errors,
		   r->n_errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s",
		   r->is_safe ? "allowed" : "blocked");
}
