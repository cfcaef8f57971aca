/* SPDX-License-Identifier: Apache-2.0 */
/* Acts that one call tells of: commands, files, names that hide a function, and what adds up. */
#include "inspect/code/scan.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

enum event {
	EVENT_CONNECT = 1 << 0,
	EVENT_STORED = 1 << 1,    /* something of the network was written to a file */
	EVENT_RUNNABLE = 1 << 2,  /* a file was made executable */
	EVENT_STARTED = 1 << 3,   /* a program was started */
	EVENT_SHELL = 1 << 4,     /* an interactive shell */
	EVENT_ODD_START = 1 << 5, /* a command that is not constant, or code */
	EVENT_NET = 1 << 6,
};

static const char *const dangerous[] = {
	"os.system",
	"os.popen",
	"eval",
	"exec",
	"os.execv",
	"os.execve",
	"os.execvp",
	"os.execl",
	"os.execlp",
	"os.spawnl",
	"subprocess.Popen",
	"subprocess.call",
	"subprocess.run",
	"subprocess.check_output",
	"subprocess.check_call",
	"subprocess.getoutput",
	"pty.spawn",
	"os.startfile",
	"marshal.loads",
	"subprocess.getstatusoutput",
	"os.posix_spawn",
	"compile",
};

static bool is_dangerous(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(dangerous); i++)
		if (strcmp(name, dangerous[i]) == 0)
			return true;
	return false;
}

static void event(struct code_scan *s, unsigned what, uint32_t node)
{
	struct code_scope *scope = code_scope_now(s);

	scope->events |= what;
	scope->event_node = node;
	s->events |= what;
}

/* ---- commands ---- */

static const char *const shell_names[] = {"os.system",
					  "os.popen",
					  "os.popen2",
					  "os.popen3",
					  "commands.getoutput",
					  "commands.getstatusoutput",
					  "subprocess.getoutput",
					  "subprocess.getstatusoutput",
					  "asyncio.create_subprocess_shell",
					  "popen",
					  NULL};
static const char *const process_names[] = {"subprocess.Popen",
					    "subprocess.call",
					    "subprocess.run",
					    "subprocess.check_call",
					    "subprocess.check_output",
					    "os.execl",
					    "os.execlp",
					    "os.execv",
					    "os.execvp",
					    "os.execve",
					    "os.execle",
					    "os.spawnl",
					    "os.spawnlp",
					    "os.spawnv",
					    "os.spawnvp",
					    "pty.spawn",
					    "asyncio.create_subprocess_exec",
					    "os.posix_spawn",
					    NULL};
static const char *const go_names[] = {"os/exec.Command", "os/exec.CommandContext", "syscall.Exec",
				       "golang.org/x/sys/execabs.Command", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static void command_word(struct buf *b, struct code_scan *s, const struct code_value *v)
{
	char word[512];
	size_t n = 0;

	(void)s;
	if (v->name && strcmp(v->name, "sys.executable") == 0) {
		buf_str(b, "python3");
		return;
	}
	if (!v->str || v->len >= sizeof(word)) {
		buf_str(b, "\"$CORDON_UNKNOWN\"");
		return;
	}
	for (uint32_t i = 0; i < v->len; i++)
		if (v->str[i] != '\0')
			word[n++] = v->str[i] == CODE_HOLE ? 'X' : v->str[i];
	word[n] = '\0';
	str_shell_quote(b, word);
}

/* A list of words as the line that a shell would read as them. */
static void command_list(struct buf *b, struct code_scan *s, uint32_t list)
{
	CODE_EACH_CHILD(s->tree, list, item)
	{
		if (s->tree->nodes[item].kind == CODE_COMMENT)
			continue;
		if (b->len)
			buf_char(b, ' ');
		command_word(b, s, code_eval(s, item));
	}
}

static void command_text(struct buf *b, const struct code_value *v)
{
	for (uint32_t i = 0; i < v->len; i++)
		if (v->str[i] != '\0')
			buf_char(b, v->str[i] == CODE_HOLE ? 'X' : v->str[i]);
}

static void command_sysinfo(struct code_scan *s, uint32_t node, const char *text)
{
	static const char *const words[] = {"whoami",   "hostname",   "id", "uname", "ifconfig",
					    "ipconfig", "systeminfo", "w",  "last",  "lscpu"};
	size_t n = strcspn(text, " \t|;&>");

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == n && memcmp(text, words[i], n) == 0)
			code_report(s, CODE_RULE_PY_SYSINFO_COMMAND, node, NULL);
}

static bool is_wildcard_victim(const char *text)
{
	return strchr(text, '*') && (strstr(text, "chown ") || strstr(text, "chmod ") ||
				     strstr(text, "tar ") || strstr(text, "rsync "));
}

static void command_hand_over(struct code_scan *s, const struct code_call *c, struct buf *b)
{
	int r;

	if (b->len == 0 || buf_error(b) < 0 || s->is_first_walk || s->error)
		return;
	if (s->tree->language == CODE_PYTHON) {
		command_sysinfo(s, c->node, buf_cstr(b));
		if (is_wildcard_victim(buf_cstr(b)))
			code_report(s, CODE_RULE_PY_WILDCARD, c->node, NULL);
	}
	if (s->n_commands++ >= LIMIT_CODE_COMMANDS || !s->sink->command)
		return;
	r = s->sink->command(s->sink->arg, buf_cstr(b), b->len, s->tree->nodes[c->node].line,
			     s->err);
	if (r < 0)
		s->error = r;
}

void code_act_words(struct code_scan *s, uint32_t node, uint32_t list)
{
	struct buf b = BUF_INIT(LIMIT_CODE_STRING);
	struct code_call c = {.node = node};

	if (list != CODE_NO_NODE && s->tree->nodes[list].kind == CODE_LIST)
		command_list(&b, s, list);
	command_hand_over(s, &c, &b);
	buf_done(&b);
}

void code_act_line(struct code_scan *s, uint32_t node, const char *text, size_t len)
{
	struct buf b = BUF_INIT(LIMIT_CODE_STRING);
	struct code_call c = {.node = node};

	buf_add(&b, text, len);
	command_hand_over(s, &c, &b);
	buf_done(&b);
}

static bool looks_like_shell(const char *text)
{
	static const char *const shells[] = {"/bin/sh", "/bin/bash", "/bin/zsh",   "sh",
					     "bash",    "cmd.exe",   "powershell", "cmd"};
	size_t n = strcspn(text, " ");

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strlen(shells[i]) == n && memcmp(text, shells[i], n) == 0)
			return !strstr(text, " -c") || strstr(text, " -i");
	return false;
}

static void act_command(struct code_scan *s, const struct code_call *c)
{
	bool is_shell = is_one_of(c->name, shell_names), is_go = is_one_of(c->name, go_names);
	const struct code_argument *a = code_arg(s, c, "args", 0);
	struct buf b = BUF_INIT(LIMIT_CODE_STRING);
	unsigned first = is_go && strstr(c->name, "Context") ? 1 : 0;

	if (!is_shell && !is_go && !is_one_of(c->name, process_names))
		return;
	event(s, EVENT_STARTED, c->node);
	if (!a)
		a = code_arg(s, c, "cmd", 0);
	if (is_go) {
		for (unsigned i = first; i < c->n; i++) {
			if (i > first)
				buf_char(&b, ' ');
			command_word(&b, s, c->args[i].value);
		}
		if (c->n <= first || !c->args[first].value->str)
			buf_clear(&b);
	} else if (a && a->value->node != CODE_NO_NODE &&
		   s->tree->nodes[a->value->node].kind == CODE_LIST) {
		command_list(&b, s, a->value->node);
	} else if (a && a->value->str && (is_shell || strncmp(c->name, "subprocess.", 11) == 0)) {
		command_text(&b, a->value);
	} else if (a && !is_shell && a->value->str && c->n > 1 &&
		   (strncmp(c->name, "os.exec", 7) == 0 || strstr(c->name, "subprocess_exec"))) {
		for (unsigned i = c->name[0] == 'o'; i < c->n; i++) {
			buf_str(&b, b.len ? " " : "");
			command_word(&b, s, c->args[i].value);
		}
	} else if (a && a->value->str) {
		command_text(&b, a->value);
	}
	if (!a || !a->value->is_constant)
		event(s, EVENT_ODD_START, c->node);
	if (b.len && looks_like_shell(buf_cstr(&b)))
		event(s, EVENT_SHELL, c->node);
	command_hand_over(s, c, &b);
	buf_done(&b);
}

/* ---- code ---- */

/* Functions whose first argument is run as code, for a reason that is not that. */
static const char *const code_runners[] = {
	"timeit.timeit", "timeit.repeat", "cProfile.run",         "profile.run",       "pdb.run",
	"pdb.runeval",   "bdb.Bdb().run", "doctest.debug_script", "trace.Trace().run", NULL};

static void act_code(struct code_scan *s, const struct code_call *c)
{
	const struct code_value *v = c->n ? c->args[0].value : NULL;
	bool is_eval = strcmp(c->name, "eval") == 0 || strcmp(c->name, "exec") == 0 ||
		       is_one_of(c->name, code_runners);
	int r;

	if (!is_eval && strcmp(c->name, "compile") != 0)
		return;
	if (is_eval && v && !v->is_constant && !(v->flags & CODE_FROM_FILE))
		event(s, EVENT_ODD_START, c->node);
	if (!v || !v->str || v->len == 0 || s->is_first_walk || s->error || !s->sink->code)
		return;
	r = s->sink->code(s->sink->arg, v->str, v->len, s->tree->nodes[c->node].line, s->err);
	if (r < 0)
		s->error = r;
}

/* Was the function found by asking for its name? */
static bool is_looked_up(struct code_scan *s, uint32_t function)
{
	const struct code_tree *t = s->tree;

	for (unsigned i = 0; i < 8 && function != CODE_NO_NODE; i++) {
		switch (t->nodes[function].kind) {
		case CODE_CALL:
		case CODE_SUBSCRIPT:
			return true;
		case CODE_PAREN:
			function = code_first(t, function);
			break;
		case CODE_ATTRIBUTE: {
			const struct code_value *whole = code_eval(s, function);

			if (whole->node != function && whole->node != CODE_NO_NODE) {
				function = whole->node;
				break;
			}
			function = code_child(t, function, CODE_FIELD_OBJECT);
			break;
		}
		case CODE_IDENTIFIER: {
			const struct code_value *v = code_eval(s, function);

			if (v->node == function || v->node == CODE_NO_NODE)
				return false;
			function = v->node;
			break;
		}
		default:
			return false;
		}
	}
	return false;
}

/* A list among whose items is a function that runs things. */
static void act_handed(struct code_scan *s, const struct code_call *c, uint32_t list)
{
	unsigned n = 0;

	CODE_EACH_CHILD(s->tree, list, item)
	{
		enum code_kind kind = (enum code_kind)s->tree->nodes[item].kind;
		const struct code_value *v;

		if (n++ > 64)
			break;
		if (kind != CODE_IDENTIFIER && kind != CODE_ATTRIBUTE)
			continue;
		v = code_eval(s, item);
		if (is_dangerous(v->name) && strcmp(v->name, "compile") != 0)
			code_report_rule(s, &code_rules[CODE_RULE_PY_REFERENCE], c->node, v->name,
					 NULL);
	}
}

static void act_hidden(struct code_scan *s, const struct code_call *c)
{
	if (s->tree->language == CODE_GO)
		for (unsigned i = 0; i < c->n; i++)
			if (s->tree->nodes[c->args[i].node].kind == CODE_ATTRIBUTE &&
			    c->args[i].value->name && is_one_of(c->args[i].value->name, go_names))
				code_report(s, CODE_RULE_GO_REFERENCE, c->node, NULL);
	if (s->tree->language != CODE_PYTHON)
		return;
	if (is_dangerous(c->name) && is_looked_up(s, c->function))
		code_report_rule(s, &code_rules[CODE_RULE_PY_HIDDEN], c->node, c->name, NULL);
	for (unsigned i = 0; i < c->n; i++) {
		const struct code_value *v = c->args[i].value;
		enum code_kind kind = (enum code_kind)s->tree->nodes[c->args[i].node].kind;

		if (kind == CODE_LIST)
			act_handed(s, c, c->args[i].node);
		if ((kind == CODE_IDENTIFIER || kind == CODE_ATTRIBUTE) && is_dangerous(v->name) &&
		    strcmp(v->name, "compile") != 0 && strcmp(c->name, "isinstance") != 0 &&
		    strcmp(c->name, "getattr") != 0)
			code_report_rule(s, &code_rules[CODE_RULE_PY_REFERENCE], c->node, v->name,
					 NULL);
	}
}

/* return os.system, @exec, run = os.system in a class: kept under a name that the text does not tell. */
void code_act_value(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t value = code_first(t, node), up = t->nodes[node].parent;
	const struct code_value *v;

	if (t->nodes[node].kind == CODE_ASSIGNMENT) {
		for (unsigned i = 0; i < 2 && up != CODE_NO_NODE && t->nodes[up].kind != CODE_CLASS;
		     i++)
			up = t->nodes[up].parent;
		if (up == CODE_NO_NODE || t->nodes[up].kind != CODE_CLASS)
			return;
		value = code_child(t, node, CODE_FIELD_RIGHT);
	}
	if (value == CODE_NO_NODE ||
	    (t->nodes[value].kind != CODE_IDENTIFIER && t->nodes[value].kind != CODE_ATTRIBUTE))
		return;
	v = code_eval(s, value);
	if (is_dangerous(v->name) && strcmp(v->name, "compile") != 0)
		code_report_rule(s, &code_rules[CODE_RULE_PY_REFERENCE], node, v->name, NULL);
}

/* ---- files ---- */

enum file_act { FILE_READ, FILE_WRITE, FILE_DELETE, FILE_OPEN, FILE_COPY, FILE_MOVE };
#define RECEIVER (-1)

/* Where a function takes its path from, and what it does with it. */
static const struct {
	const char *name;
	enum file_act act;
	int arg;
} file_acts[] = {
	{"open", FILE_OPEN, 0},
	{"io.open", FILE_OPEN, 0},
	{"codecs.open", FILE_OPEN, 0},
	{"os.open", FILE_OPEN, 0},
	{"pathlib.Path().open", FILE_OPEN, RECEIVER},
	{"*.open", FILE_OPEN, RECEIVER},
	{"*.read_text", FILE_READ, RECEIVER},
	{"*.read_bytes", FILE_READ, RECEIVER},
	{"*.write_text", FILE_WRITE, RECEIVER},
	{"*.write_bytes", FILE_WRITE, RECEIVER},
	{"*.unlink", FILE_DELETE, RECEIVER},
	{"*.rmdir", FILE_DELETE, RECEIVER},
	{"*.iterdir", FILE_READ, RECEIVER},
	{"*.glob", FILE_READ, RECEIVER},
	{"*.rglob", FILE_READ, RECEIVER},
	{"os.listdir", FILE_READ, 0},
	{"os.scandir", FILE_READ, 0},
	{"os.walk", FILE_READ, 0},
	{"glob.glob", FILE_READ, 0},
	{"glob.iglob", FILE_READ, 0},
	{"tarfile.open().add", FILE_READ, 0},
	{"zipfile.ZipFile().write", FILE_READ, 0},
	{"shutil.make_archive", FILE_READ, 2},
	{"linecache.getlines", FILE_READ, 0},
	{"fileinput.input", FILE_READ, 0},
	{"pandas.read_csv", FILE_READ, 0},
	{"shutil.copy", FILE_COPY, 0},
	{"shutil.copy2", FILE_COPY, 0},
	{"shutil.copyfile", FILE_COPY, 0},
	{"shutil.copytree", FILE_COPY, 0},
	{"shutil.move", FILE_MOVE, 0},
	{"os.rename", FILE_MOVE, 0},
	{"os.replace", FILE_MOVE, 0},
	{"os.symlink", FILE_COPY, 0},
	{"os.link", FILE_COPY, 0},
	{"os.remove", FILE_DELETE, 0},
	{"os.unlink", FILE_DELETE, 0},
	{"os.rmdir", FILE_DELETE, 0},
	{"os.removedirs", FILE_DELETE, 0},
	{"shutil.rmtree", FILE_DELETE, 0},
	{"send2trash.send2trash", FILE_DELETE, 0},
	{"os.chmod", FILE_WRITE, 0},
	{"os.chown", FILE_WRITE, 0},
	{"os.truncate", FILE_WRITE, 0},
	{"os.mkdir", FILE_WRITE, 0},
	{"os.makedirs", FILE_WRITE, 0},
	{"os.mknod", FILE_WRITE, 0},
	{"urllib.request.urlretrieve", FILE_WRITE, 1},
	{"os.Open", FILE_READ, 0},
	{"os.ReadFile", FILE_READ, 0},
	{"io/ioutil.ReadFile", FILE_READ, 0},
	{"os.ReadDir", FILE_READ, 0},
	{"os.Create", FILE_WRITE, 0},
	{"os.WriteFile", FILE_WRITE, 0},
	{"io/ioutil.WriteFile", FILE_WRITE, 0},
	{"os.OpenFile", FILE_WRITE, 0},
	{"os.Chmod", FILE_WRITE, 0},
	{"os.Chown", FILE_WRITE, 0},
	{"os.Rename", FILE_MOVE, 0},
	{"os.Symlink", FILE_COPY, 0},
	{"os.Remove", FILE_DELETE, 0},
	{"os.RemoveAll", FILE_DELETE, 0},
};

static bool file_is_allowed(struct code_scan *s, const struct code_value *v)
{
	return v->is_constant && s->sink->allows_path &&
	       s->sink->allows_path(s->sink->arg, v->str, v->len);
}

static void file_read(struct code_scan *s, uint32_t node, unsigned class)
{
	if (class & CODE_PATH_SECRET)
		code_report(s, CODE_RULE_CODE_READ_SECRET, node, NULL);
	else if (class & CODE_PATH_PRIVATE)
		code_report(s, CODE_RULE_CODE_READ_PRIVATE, node, NULL);
}

static void file_write(struct code_scan *s, uint32_t node, unsigned class)
{
	if (class & CODE_PATH_TAKEOVER)
		code_report(s, CODE_RULE_CODE_WRITE_TAKEOVER, node, NULL);
	else if (class & CODE_PATH_PERSIST)
		code_report(s, CODE_RULE_CODE_WRITE_PERSIST, node, NULL);
	else if (class & CODE_PATH_SYSTEM)
		code_report(s, CODE_RULE_CODE_WRITE_SYSTEM, node, NULL);
}

/* Each file below the root or a home: for p in Path.home().rglob("*"): p.unlink() */
static bool file_is_every(struct code_scan *s, const struct code_call *c,
			  const struct code_value *v)
{
	uint32_t loop = code_ancestor(s->tree, c->node, CODE_FOR);
	uint32_t choice = code_ancestor(s->tree, c->node, CODE_IF);
	size_t len = v->str ? v->len : 0;

	if (len == 0 || v->is_constant || loop == CODE_NO_NODE ||
	    s->tree->language != CODE_PYTHON || (choice != CODE_NO_NODE && choice > loop))
		return false;
	while (len > 1 && (v->str[len - 1] == CODE_HOLE || v->str[len - 1] == '/'))
		len--;
	return len < v->len && (code_path_class(v->str, len) & CODE_PATH_ROOT);
}

static void file_delete(struct code_scan *s, const struct code_call *c, unsigned class)
{
	if (class & CODE_PATH_ROOT)
		code_report(s, CODE_RULE_CODE_DELETE_ROOT, c->node, NULL);
	else if (class &
		 (CODE_PATH_SYSTEM | CODE_PATH_SECRET | CODE_PATH_PERSIST | CODE_PATH_PRIVATE))
		code_report(s, CODE_RULE_CODE_DELETE_SYSTEM, c->node, NULL);
	else if (s->tree->language == CODE_PYTHON && strncmp(c->name, "?", 1) != 0 &&
		 (strncmp(c->name, "os.", 3) == 0 || strncmp(c->name, "shutil.", 7) == 0 ||
		  strncmp(c->name, "pathlib.", 8) == 0))
		code_report_rule(s, &code_rules[CODE_RULE_CODE_DELETE], c->node, c->name, NULL);
	else if (strcmp(c->name, "os.RemoveAll") == 0)
		code_report_rule(s, &code_rules[CODE_RULE_GO_REMOVE_ALL], c->node, c->name, NULL);
}

static bool opens_for_writing(struct code_scan *s, const struct code_call *c, int arg)
{
	const struct code_argument *mode = code_arg(s, c, "mode", arg + 1);

	if (!mode || !mode->value->str)
		return mode && mode->value->name && strstr(mode->value->name, "O_WR");
	for (uint32_t i = 0; i < mode->value->len; i++)
		if (strchr("wax+", mode->value->str[i]))
			return true;
	return false;
}

static const struct code_value *receiver_of(struct code_scan *s, const struct code_call *c)
{
	uint32_t object;

	if (c->function == CODE_NO_NODE || s->tree->nodes[c->function].kind != CODE_ATTRIBUTE)
		return NULL;
	object = code_child(s->tree, c->function, CODE_FIELD_OBJECT);
	return object == CODE_NO_NODE ? NULL : code_eval(s, object);
}

static void act_file(struct code_scan *s, const struct code_call *c)
{
	const char *last = strrchr(c->name, '.');

	/* Whole names first, then those that any receiver may have. */
	for (size_t k = 0; k < 2 * ARRAY_LEN(file_acts); k++) {
		size_t i = k % ARRAY_LEN(file_acts);
		const char *name = file_acts[i].name;
		const struct code_value *v;
		const struct code_argument *to;
		unsigned class;

		if ((name[0] == '*') != (k >= ARRAY_LEN(file_acts)))
			continue;
		if (name[0] == '*' ? !last || strcmp(last, name + 1) != 0
				   : strcmp(name, c->name) != 0)
			continue;
		v = file_acts[i].arg == RECEIVER        ? receiver_of(s, c)
		    : (unsigned)file_acts[i].arg < c->n ? c->args[file_acts[i].arg].value
							: NULL;
		if (!v || file_is_allowed(s, v))
			return;
		class = v->str ? code_path_class(v->str, v->len) : 0;
		switch (file_acts[i].act) {
		case FILE_OPEN:
			if (opens_for_writing(s, c, file_acts[i].arg))
				file_write(s, c->node, class);
			else
				file_read(s, c->node, class);
			if (s->tree->language == CODE_PYTHON && (class & CODE_PATH_TEMP))
				code_report(s, CODE_RULE_PY_TMP_PATH, c->node, NULL);
			break;
		case FILE_READ:
			if (code_arg_is(s, c, "inplace", "True"))
				file_write(s, c->node, class);
			else
				file_read(s, c->node, class);
			break;
		case FILE_WRITE:
			file_write(s, c->node, class);
			break;
		case FILE_DELETE:
			file_delete(s, c,
				    class | (file_is_every(s, c, v) ? (unsigned)CODE_PATH_SYSTEM
								    : 0));
			break;
		case FILE_MOVE:
		case FILE_COPY:
			if (file_acts[i].act == FILE_MOVE &&
			    (class & (CODE_PATH_SYSTEM | CODE_PATH_ROOT | CODE_PATH_PERSIST)))
				file_delete(s, c, class);
			file_read(s, c->node, class);
			to = code_arg(s, c, "dst", 1);
			if (to && to->value->str && !file_is_allowed(s, to->value))
				file_write(s, c->node,
					   code_path_class(to->value->str, to->value->len));
			break;
		}
		return;
	}
}

/* ---- what adds up ---- */

static void act_events(struct code_scan *s, const struct code_call *c)
{
	const char *last = strrchr(c->name, '.');

	if (!last)
		last = c->name;
	if (strcmp(last, ".connect") == 0 && (c->receiver_flags & CODE_FROM_SOCKET))
		event(s, EVENT_CONNECT | EVENT_NET, c->node);
	if (strncmp(c->name, "requests.", 9) == 0 || strstr(c->name, "urlopen") ||
	    strstr(c->name, "urlretrieve") || strcmp(c->name, "net.Dial") == 0 ||
	    strcmp(c->name, "net/http.Get") == 0)
		event(s, EVENT_NET, c->node);
	if (strcmp(c->name, "socket.create_connection") == 0 || strcmp(c->name, "net.Dial") == 0)
		event(s, EVENT_CONNECT, c->node);
	if (((strcmp(last, ".write") == 0 || strcmp(last, ".write_bytes") == 0 ||
	      strcmp(c->name, "os.WriteFile") == 0 || strcmp(c->name, "io.Copy") == 0 ||
	      strcmp(c->name, "shutil.copyfileobj") == 0) &&
	     (c->flags & CODE_FROM_NET)) ||
	    strstr(c->name, "urlretrieve"))
		event(s, EVENT_STORED, c->node);
	if (strcmp(c->name, "os.chmod") == 0 || strcmp(c->name, "os.Chmod") == 0)
		event(s, EVENT_RUNNABLE, c->node);
	if (strcmp(c->name, "pty.spawn") == 0)
		event(s, EVENT_SHELL, c->node);
	if (strcmp(c->name, "setuptools.setup") == 0 ||
	    strcmp(c->name, "distutils.core.setup") == 0 || strcmp(c->name, "setup") == 0) {
		s->is_setup = true;
		if (code_arg(s, c, "cmdclass", -1))
			code_report(s, CODE_RULE_PY_SETUP_CLASS, c->node, NULL);
	}
	if (strcmp(c->name, "os.fork") == 0 || strcmp(c->name, "os.forkpty") == 0) {
		uint32_t loop = code_ancestor(s->tree, c->node, CODE_WHILE);

		bool is_endless =
			loop != CODE_NO_NODE &&
			code_is(s->tree, code_child(s->tree, loop, CODE_FIELD_CONDITION), "True");

		if ((is_endless || code_ancestor(s->tree, c->node, CODE_FOR) != CODE_NO_NODE) &&
		    s->tree->nodes[c->node].parent != CODE_NO_NODE &&
		    s->tree->nodes[s->tree->nodes[c->node].parent].kind == CODE_EXPRESSION)
			code_report(s, CODE_RULE_PY_FORK_BOMB, c->node, NULL);
	}
}

void code_act_call(struct code_scan *s, const struct code_call *c)
{
	act_hidden(s, c);
	act_events(s, c);
	if (!c->name[0])
		return;
	act_command(s, c);
	if (s->tree->language == CODE_PYTHON)
		act_code(s, c);
	act_file(s, c);
	code_act_loop(s, c);
	code_act_client(s, c);
}

void code_act_end(struct code_scan *s, const struct code_scope *scope)
{
	unsigned e = scope->events;

	if (e == 0 || s->tree->n == 0)
		return;
	if ((e & EVENT_SHELL) && (s->events & EVENT_CONNECT))
		code_report(s, CODE_RULE_CODE_REVERSE_SHELL, scope->event_node, NULL);
	if ((e & EVENT_STORED) && (e & EVENT_STARTED))
		code_report(s, CODE_RULE_CODE_DROPPER, scope->event_node, NULL);
	else if ((e & EVENT_STORED) && (e & EVENT_RUNNABLE))
		code_report(s, CODE_RULE_CODE_DROPPER, scope->event_node, NULL);
	if (scope->function == CODE_NO_NODE && s->is_setup && (e & (EVENT_ODD_START | EVENT_NET)))
		code_report(s, CODE_RULE_PY_SETUP, scope->event_node, NULL);
}
