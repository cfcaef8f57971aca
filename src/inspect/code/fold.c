/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: their arguments, where their results come from, and those pure functions that hide a constant
 * (chr, join, decode, b64decode, format, replace) worked out.
 */
#include "inspect/code/scan.h"

#include "base/limits.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

void code_call_read(struct code_scan *s, uint32_t node, struct code_call *c)
{
	const struct code_tree *t = s->tree;
	uint32_t args = code_child(t, node, CODE_FIELD_ARGUMENTS);
	const struct code_value *f;

	*c = (struct code_call){.node = node,
				.name = "",
				.text = t->text + t->nodes[node].start,
				.len = t->nodes[node].end - t->nodes[node].start};
	c->function = code_child(t, node, CODE_FIELD_FUNCTION);
	if (c->function == CODE_NO_NODE)
		return;
	f = code_eval(s, c->function);
	if (f->name)
		c->name = f->name;
	if (t->nodes[c->function].kind == CODE_ATTRIBUTE) {
		uint32_t object = code_child(t, c->function, CODE_FIELD_OBJECT);

		if (object != CODE_NO_NODE)
			c->receiver_flags = code_eval(s, object)->flags;
	}
	if (args == CODE_NO_NODE)
		return;
	if (t->nodes[args].kind != CODE_ARGUMENTS) { /* a generator */
		c->args[0] = (struct code_argument){code_eval(s, args), args, CODE_NO_NODE};
		c->n = 1;
		return;
	}
	CODE_EACH_CHILD(t, args, a)
	{
		struct code_argument *arg = &c->args[c->n];

		if (t->nodes[a].kind == CODE_COMMENT)
			continue;
		if (c->n == CODE_ARGS_MAX)
			break;
		arg->keyword = CODE_NO_NODE;
		arg->node = a;
		if (t->nodes[a].kind == CODE_KEYWORD) {
			arg->keyword = code_child(t, a, CODE_FIELD_NAME);
			arg->node = code_child(t, a, CODE_FIELD_VALUE);
			if (arg->node == CODE_NO_NODE)
				continue;
		}
		c->has_splat = c->has_splat || t->nodes[a].kind == CODE_SPLAT;
		arg->value = code_eval(s, arg->node);
		c->flags |= arg->value->flags;
		c->n++;
	}
}

const struct code_argument *code_arg(const struct code_scan *s, const struct code_call *c,
				     const char *keyword, int position)
{
	for (unsigned i = 0; keyword && i < c->n; i++)
		if (c->args[i].keyword != CODE_NO_NODE &&
		    code_is(s->tree, c->args[i].keyword, keyword))
			return &c->args[i];
	if (position >= 0 && (unsigned)position < c->n && c->args[position].keyword == CODE_NO_NODE)
		return &c->args[position];
	return NULL;
}

bool code_arg_is(const struct code_scan *s, const struct code_call *c, const char *keyword,
		 const char *text)
{
	const struct code_argument *a = code_arg(s, c, keyword, -1);

	return a && code_is(s->tree, a->node, text);
}

/* X(name, flags): functions whose result comes from outside.  A leading * stands for any receiver. */
static const struct {
	const char *name;
	unsigned flags;
} sources[] = {
	{"input", CODE_FROM_INPUT},
	{"raw_input", CODE_FROM_INPUT},
	{"*.FormValue", CODE_FROM_INPUT},
	{"*.PostFormValue", CODE_FROM_INPUT},
	{"*.parse_args", CODE_FROM_INPUT},
	{"flag.String", CODE_FROM_INPUT | CODE_FROM_ARGS},
	{"flag.Arg", CODE_FROM_INPUT | CODE_FROM_ARGS},
	{"flag.Args", CODE_FROM_INPUT | CODE_FROM_ARGS},
	{"bufio.NewReader", 0},
	{"requests.get", CODE_FROM_NET},
	{"requests.post", CODE_FROM_NET},
	{"requests.request", CODE_FROM_NET},
	{"requests.Session().get", CODE_FROM_NET},
	{"requests.Session().post", CODE_FROM_NET},
	{"requests.session().get", CODE_FROM_NET},
	{"httpx.get", CODE_FROM_NET},
	{"httpx.post", CODE_FROM_NET},
	{"urllib.request.urlopen", CODE_FROM_NET},
	{"urllib.urlopen", CODE_FROM_NET},
	{"urllib2.urlopen", CODE_FROM_NET},
	{"urlopen", CODE_FROM_NET},
	{"urllib3.PoolManager().request", CODE_FROM_NET},
	{"http.client.HTTPSConnection().getresponse", CODE_FROM_NET},
	{"http.client.HTTPConnection().getresponse", CODE_FROM_NET},
	{"*.getresponse", CODE_FROM_NET},
	{"net/http.Get", CODE_FROM_NET},
	{"net/http.Post", CODE_FROM_NET},
	{"net/http.Client.Do", CODE_FROM_NET},
	{"net/http.Client.Get", CODE_FROM_NET},
	{"net/http.DefaultClient.Do", CODE_FROM_NET},
	{"*.recv", CODE_FROM_NET | CODE_FROM_REMOTE},
	{"*.recvfrom", CODE_FROM_NET | CODE_FROM_REMOTE},
	{"socket.socket", CODE_FROM_SOCKET},
	{"socket.create_connection", CODE_FROM_SOCKET},
	{"socket.socket().accept", CODE_FROM_SOCKET},
	{"net.Dial", CODE_FROM_SOCKET | CODE_FROM_REMOTE},
	{"net.DialTimeout", CODE_FROM_SOCKET | CODE_FROM_REMOTE},
	{"crypto/tls.Dial", CODE_FROM_SOCKET | CODE_FROM_REMOTE},
	{"base64.b64decode", CODE_FROM_DECODED},
	{"base64.urlsafe_b64decode", CODE_FROM_DECODED},
	{"base64.standard_b64decode", CODE_FROM_DECODED},
	{"base64.b32decode", CODE_FROM_DECODED},
	{"base64.b16decode", CODE_FROM_DECODED},
	{"base64.b85decode", CODE_FROM_DECODED},
	{"base64.a85decode", CODE_FROM_DECODED},
	{"base64.decodebytes", CODE_FROM_DECODED},
	{"base64.decodestring", CODE_FROM_DECODED},
	{"b64decode", CODE_FROM_DECODED},
	{"binascii.unhexlify", CODE_FROM_DECODED},
	{"binascii.a2b_hex", CODE_FROM_DECODED},
	{"binascii.a2b_base64", CODE_FROM_DECODED},
	{"bytes.fromhex", CODE_FROM_DECODED},
	{"bytearray.fromhex", CODE_FROM_DECODED},
	{"codecs.decode", CODE_FROM_DECODED},
	{"zlib.decompress", CODE_FROM_DECODED},
	{"gzip.decompress", CODE_FROM_DECODED},
	{"bz2.decompress", CODE_FROM_DECODED},
	{"lzma.decompress", CODE_FROM_DECODED},
	{"marshal.loads", CODE_FROM_DECODED},
	{"*.decrypt", CODE_FROM_DECODED},
	{"*.reveal", CODE_FROM_DECODED},
	{"*.Steganography.decode", CODE_FROM_DECODED},
	{"chr", 0},
	{"*.DecodeString", CODE_FROM_DECODED},
	{"encoding/base64.NewDecoder", CODE_FROM_DECODED},
	{"encoding/hex.NewDecoder", CODE_FROM_DECODED},
	{"socket.gethostname", CODE_FROM_SYSTEM},
	{"socket.getfqdn", CODE_FROM_SYSTEM},
	{"socket.gethostbyname", CODE_FROM_SYSTEM},
	{"platform.node", CODE_FROM_SYSTEM},
	{"platform.uname", CODE_FROM_SYSTEM},
	{"platform.platform", CODE_FROM_SYSTEM},
	{"os.uname", CODE_FROM_SYSTEM},
	{"os.getlogin", CODE_FROM_SYSTEM},
	{"getpass.getuser", CODE_FROM_SYSTEM},
	{"uuid.getnode", CODE_FROM_SYSTEM},
	{"os.Hostname", CODE_FROM_SYSTEM},
	{"os/user.Current", CODE_FROM_SYSTEM},
	{"os.Environ", CODE_FROM_ENV_ALL},
	{"os.environ.copy", CODE_FROM_ENV_ALL},
	{"PIL.ImageGrab.grab", CODE_FROM_CAPTURE},
	{"pyautogui.screenshot", CODE_FROM_CAPTURE},
	{"pyscreenshot.grab", CODE_FROM_CAPTURE},
	{"mss.mss().grab", CODE_FROM_CAPTURE},
	{"mss.mss().shot", CODE_FROM_CAPTURE},
	{"pyperclip.paste", CODE_FROM_CAPTURE},
	{"win32clipboard.GetClipboardData", CODE_FROM_CAPTURE},
	{"open", CODE_FROM_FILE},
	{"io.open", CODE_FROM_FILE},
	{"codecs.open", CODE_FROM_FILE},
	{"*.read_text", CODE_FROM_FILE},
	{"*.read_bytes", CODE_FROM_FILE},
	{"os.ReadFile", CODE_FROM_FILE},
	{"io/ioutil.ReadFile", CODE_FROM_FILE},
	{"os.Open", CODE_FROM_FILE},
	{"*.namelist", CODE_FROM_ARCHIVE},
	{"*.getnames", CODE_FROM_ARCHIVE},
};

unsigned code_source_flags(struct code_scan *s, const struct code_call *c)
{
	const char *last = strrchr(c->name, '.');
	const struct code_argument *path;
	unsigned flags = 0;

	if (!c->name[0])
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const char *name = sources[i].name;

		if (name[0] == '*' ? last && strcmp(name + 1, last) == 0
				   : strcmp(name, c->name) == 0) {
			flags = sources[i].flags;
			break;
		}
	}
	if (flags & CODE_FROM_FILE) {
		path = code_arg(s, c, "file", 0);
		if (path && path->value->str &&
		    (code_path_class(path->value->str, path->value->len) & CODE_PATH_SECRET))
			flags |= CODE_FROM_SECRET;
	}
	return flags;
}

static void fold_done(const struct code_text *t, bool is_constant, struct code_value *v)
{
	if (t->is_broken)
		return;
	v->str = t->data ? t->data : "";
	v->len = (uint32_t)t->len;
	v->is_constant = is_constant;
}

/* "…{}…{name}".format(a, name=b) */
static void fold_format(struct code_scan *s, const struct code_value *format,
			const struct code_call *c, struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	bool is_constant = format->is_constant;
	unsigned next = 0;

	for (uint32_t i = 0; i < format->len; i++) {
		const struct code_argument *a = NULL;
		char word[64] = "";
		size_t n = 0;

		if (format->str[i] == '}' && i + 1 < format->len && format->str[i + 1] == '}')
			i++;
		else if (format->str[i] == '{' && i + 1 < format->len && format->str[i + 1] == '{')
			i++;
		else if (format->str[i] == '{') {
			for (i++; i < format->len && format->str[i] != '}'; i++)
				if (n + 1 < sizeof(word))
					word[n++] = format->str[i];
			word[n] = '\0';
			word[strcspn(word, ":!.[")] = '\0';
			if (word[0] == '\0')
				a = code_arg(s, c, NULL, (int)next++);
			else if (isdigit((unsigned char)word[0]))
				a = code_arg(s, c, NULL, word[0] - '0');
			else
				a = code_arg(s, c, word, -1);
			if (a && a->value->str)
				code_text_add(&t, a->value->str, a->value->len);
			else
				code_text_char(&t, CODE_HOLE);
			is_constant = is_constant && a && a->value->is_constant;
			continue;
		}
		code_text_char(&t, format->str[i]);
	}
	fold_done(&t, is_constant, v);
	if (!is_constant)
		v->flags |= CODE_IS_BUILT;
}

static bool fold_items(struct code_scan *s, uint32_t list, const char *glue, size_t glue_len,
		       bool is_chr, struct code_text *t)
{
	const struct code_tree *tree = s->tree;
	bool is_first = true, is_constant = true;

	CODE_EACH_CHILD(tree, list, item)
	{
		const struct code_value *v;

		if (tree->nodes[item].kind == CODE_COMMENT)
			continue;
		v = code_eval(s, item);
		if (!is_first)
			code_text_add(t, glue, glue_len);
		is_first = false;
		if (is_chr && v->is_number && v->number >= 0)
			code_text_rune(t, (uint32_t)v->number, false);
		else if (!is_chr && v->str)
			code_text_add(t, v->str, v->len);
		else
			code_text_char(t, CODE_HOLE);
		is_constant = is_constant && (is_chr ? v->is_number : v->is_constant);
	}
	return is_constant;
}

static bool is_list(const struct code_scan *s, const struct code_value *v)
{
	return v->node != CODE_NO_NODE && s->tree->nodes[v->node].kind == CODE_LIST;
}

/* The list that `chr(x) for x in LIST` or map(chr, LIST) runs over, or CODE_NO_NODE. */
static uint32_t fold_chr_list(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t list = CODE_NO_NODE;
	struct code_call c;

	if (t->nodes[node].kind == CODE_COMPREHENSION) {
		uint32_t body = code_child(t, node, CODE_FIELD_BODY);
		uint32_t in = code_child_of_kind(t, node, CODE_FOR_IN);

		if (body == CODE_NO_NODE || in == CODE_NO_NODE || t->nodes[body].kind != CODE_CALL)
			return CODE_NO_NODE;
		if (!code_is(t, code_child(t, body, CODE_FIELD_FUNCTION), "chr"))
			return CODE_NO_NODE;
		list = code_child(t, in, CODE_FIELD_RIGHT);
	} else if (t->nodes[node].kind == CODE_CALL) {
		code_call_read(s, node, &c);
		if (strcmp(c.name, "map") != 0 || c.n != 2 || !c.args[0].value->name ||
		    strcmp(c.args[0].value->name, "chr") != 0)
			return CODE_NO_NODE;
		list = c.args[1].node;
	}
	if (list == CODE_NO_NODE)
		return CODE_NO_NODE;
	return is_list(s, code_eval(s, list)) ? code_eval(s, list)->node : CODE_NO_NODE;
}

static void fold_join(struct code_scan *s, const struct code_value *glue, const struct code_call *c,
		      struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	uint32_t list = CODE_NO_NODE;
	bool is_chr = false, is_constant;

	if (c->n != 1)
		return;
	if (is_list(s, c->args[0].value)) {
		list = c->args[0].value->node;
	} else {
		list = fold_chr_list(s, c->args[0].node);
		is_chr = list != CODE_NO_NODE;
	}
	if (list == CODE_NO_NODE) {
		v->flags |= CODE_IS_BUILT;
		return;
	}
	is_constant = fold_items(s, list, glue->str, glue->len, is_chr, &t);
	fold_done(&t, is_constant && glue->is_constant, v);
}

static void fold_replace(struct code_scan *s, const struct code_value *in,
			 const struct code_call *c, struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	const struct code_value *from, *to;

	if (c->n < 2)
		return;
	from = c->args[0].value;
	to = c->args[1].value;
	if (!from->is_constant || !to->is_constant || from->len == 0)
		return;
	for (uint32_t i = 0; i < in->len;) {
		if (in->len - i >= from->len && memcmp(in->str + i, from->str, from->len) == 0) {
			code_text_add(&t, to->str, to->len);
			i += from->len;
		} else {
			code_text_char(&t, in->str[i++]);
		}
	}
	fold_done(&t, in->is_constant, v);
}

static void fold_case(struct code_scan *s, const struct code_value *in, char how,
		      struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};

	for (uint32_t i = 0; i < in->len; i++) {
		unsigned char c = (unsigned char)in->str[i];
		int other = isupper(c) ? tolower(c) : toupper(c);

		code_text_char(&t, (char)(how == 'l'   ? tolower(c)
					  : how == 'u' ? toupper(c)
						       : other));
	}
	fold_done(&t, in->is_constant, v);
}

static void fold_strip(const struct code_value *in, struct code_value *v)
{
	v->str = in->str;
	v->len = in->len;
	v->is_constant = in->is_constant;
	while (v->len && isspace((unsigned char)v->str[0]))
		v->str++, v->len--;
	while (v->len && isspace((unsigned char)v->str[v->len - 1]))
		v->len--;
}

static bool fold_decoded(struct code_scan *s, const char *how, const struct code_value *in,
			 struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	bool ok;

	if (!in->is_constant)
		return false;
	if (strstr(how, "64"))
		ok = code_decode_base64(&t, in->str, in->len);
	else if (strstr(how, "32"))
		ok = code_decode_base32(&t, in->str, in->len);
	else if (strstr(how, "hex") || strstr(how, "16"))
		ok = code_decode_hex(&t, in->str, in->len);
	else if (strstr(how, "rot"))
		code_decode_rot13(&t, in->str, in->len), ok = true;
	else
		return false;
	if (ok)
		fold_done(&t, true, v);
	return ok;
}

static bool fold_codec(struct code_scan *s, const struct code_value *in,
		       const struct code_value *codec, struct code_value *v)
{
	char word[32] = "";

	if (codec && codec->is_constant && codec->len < sizeof(word))
		memcpy(word, codec->str, codec->len);
	if (strstr(word, "64") || strstr(word, "hex") || strstr(word, "rot"))
		return fold_decoded(s, word, in, v);
	if (codec && codec->str &&
	    (strncmp(word, "cp", 2) == 0 || strncmp(word, "utf-16", 6) == 0 ||
	     strncmp(word, "unicode_escape", 14) == 0 || strncmp(word, "zlib", 4) == 0)) {
		v->flags |= CODE_FROM_DECODED;
		return false;
	}
	v->str = in->str;
	v->len = in->len;
	v->is_constant = in->is_constant;
	return true;
}

static void fold_path_join(struct code_scan *s, const struct code_value *in,
			   const struct code_call *c, struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	bool is_constant = !in || in->is_constant;

	if (in)
		code_text_add(&t, in->str, in->len);
	for (unsigned i = 0; i < c->n; i++) {
		const struct code_value *a = c->args[i].value;

		if ((i || in) && t.len && t.data[t.len - 1] != '/')
			code_text_char(&t, '/');
		if (a->str && a->len && a->str[0] == '/' && s->tree->language == CODE_PYTHON)
			t.len = 0;
		if (a->str)
			code_text_add(&t, a->str, a->len);
		else
			code_text_char(&t, CODE_HOLE);
		is_constant = is_constant && a->is_constant;
	}
	fold_done(&t, is_constant, v);
}

/* Methods of a string that is known. */
static bool fold_method(struct code_scan *s, const struct code_call *c, const char *method,
			const struct code_value *in, struct code_value *v)
{
	if (strcmp(method, "format") == 0)
		fold_format(s, in, c, v);
	else if (strcmp(method, "join") == 0)
		fold_join(s, in, c, v);
	else if (strcmp(method, "replace") == 0)
		fold_replace(s, in, c, v);
	else if (strcmp(method, "lower") == 0 || strcmp(method, "upper") == 0 ||
		 strcmp(method, "swapcase") == 0)
		fold_case(s, in, method[0], v);
	else if (strcmp(method, "strip") == 0 || strcmp(method, "rstrip") == 0 ||
		 strcmp(method, "lstrip") == 0)
		fold_strip(in, v);
	else if (strcmp(method, "decode") == 0 || strcmp(method, "encode") == 0)
		return fold_codec(s, in, c->n ? c->args[0].value : NULL, v);
	else if (strcmp(method, "joinpath") == 0)
		fold_path_join(s, in, c, v);
	else if (strcmp(method, "resolve") == 0 || strcmp(method, "expanduser") == 0 ||
		 strcmp(method, "absolute") == 0 || strcmp(method, "as_posix") == 0)
		fold_strip(in, v);
	else
		return false;
	return true;
}

static void fold_sprintf(struct code_scan *s, const struct code_call *c, struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};
	const struct code_value *f = c->n ? c->args[0].value : NULL;
	bool is_constant = true;
	unsigned next = 1;

	if (!f || !f->str) {
		v->flags |= CODE_IS_BUILT;
		return;
	}
	for (uint32_t i = 0; i < f->len; i++) {
		const struct code_value *a;

		if (f->str[i] != '%' || i + 1 >= f->len) {
			code_text_char(&t, f->str[i]);
			continue;
		}
		for (i++; i + 1 < f->len && strchr("-+# 0123456789.[]", f->str[i]);)
			i++;
		if (f->str[i] == '%') {
			code_text_char(&t, '%');
			continue;
		}
		a = next < c->n ? c->args[next++].value : NULL;
		if (a && a->str)
			code_text_add(&t, a->str, a->len);
		else
			code_text_char(&t, CODE_HOLE);
		is_constant = is_constant && a && a->is_constant;
	}
	fold_done(&t, is_constant && f->is_constant, v);
	if (!is_constant)
		v->flags |= CODE_IS_BUILT;
}

static bool fold_bytes(struct code_scan *s, const struct code_call *c, struct code_value *v)
{
	struct code_text t = {.arena = &s->arena};

	if (c->n == 0 || !is_list(s, c->args[0].value))
		return false;
	CODE_EACH_CHILD(s->tree, c->args[0].value->node, item)
	{
		const struct code_value *b = code_eval(s, item);

		if (!b->is_number || b->number < 0 || b->number > 255)
			return false;
		code_text_char(&t, (char)b->number);
	}
	fold_done(&t, true, v);
	return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

void code_fold_parent(const struct code_value *in, struct code_value *v)
{
	const char *slash = in->str ? memrchr(in->str, '/', in->len) : NULL;

	if (!in->str)
		return;
	v->str = slash ? in->str : ".";
	v->len = slash ? (uint32_t)(slash - in->str) + (slash == in->str) : 1;
	v->is_constant = in->is_constant;
}

static const char *const joins[] = {"os.path.join", "path.Join", "path/filepath.Join",
				    "pathlib.Path().joinpath", NULL};
static const char *const same[] = {"os.path.expanduser",
				   "os.path.expandvars",
				   "os.path.abspath",
				   "os.path.normpath",
				   "os.path.realpath",
				   "str",
				   "bytes",
				   "bytearray",
				   "string",
				   "pathlib.Path",
				   "pathlib.PurePath",
				   "Path",
				   "shlex.split",
				   "textwrap.dedent",
				   "compile",
				   "path/filepath.Clean",
				   "path.Clean",
				   "strings.NewReader",
				   "io.ReadAll",
				   "strings.TrimSpace",
				   "bytes.NewReader",
				   "io.StringIO",
				   "io.BytesIO",
				   "codecs.encode",
				   NULL};
static const char *const decoders[] = {"base64.b64decode",
				       "base64.urlsafe_b64decode",
				       "base64.standard_b64decode",
				       "base64.decodebytes",
				       "base64.decodestring",
				       "b64decode",
				       "base64.b32decode",
				       "base64.b16decode",
				       "binascii.unhexlify",
				       "binascii.a2b_hex",
				       "binascii.a2b_base64",
				       "bytes.fromhex",
				       "bytearray.fromhex",
				       "encoding/base64.StdEncoding.DecodeString",
				       "encoding/base64.URLEncoding.DecodeString",
				       "encoding/base64.RawStdEncoding.DecodeString",
				       "encoding/hex.DecodeString",
				       NULL};

bool code_fold_call(struct code_scan *s, const struct code_call *c, struct code_value *v)
{
	const struct code_tree *t = s->tree;
	const struct code_value *first = c->n ? c->args[0].value : NULL;

	if (c->function != CODE_NO_NODE && t->nodes[c->function].kind == CODE_ATTRIBUTE) {
		uint32_t object = code_child(t, c->function, CODE_FIELD_OBJECT);
		const struct code_value *in = object == CODE_NO_NODE ? NULL : code_eval(s, object);
		const char *last = strrchr(c->name, '.');

		if (in && in->str && last && fold_method(s, c, last + 1, in, v))
			return true;
	}
	if (strcmp(c->name, "chr") == 0 && first && first->is_number && first->number >= 0) {
		struct code_text one = {.arena = &s->arena};

		code_text_rune(&one, (uint32_t)first->number, false);
		fold_done(&one, true, v);
		return true;
	}
	if (is_one_of(c->name, joins)) {
		fold_path_join(s, NULL, c, v);
		return true;
	}
	if (strcmp(c->name, "fmt.Sprintf") == 0) {
		fold_sprintf(s, c, v);
		return true;
	}
	if (strcmp(c->name, "pathlib.Path.home") == 0 || strcmp(c->name, "Path.home") == 0 ||
	    strcmp(c->name, "os.UserHomeDir") == 0) {
		v->str = "~";
		v->len = 1;
		v->is_constant = true;
		return true;
	}
	if (!first)
		return false;
	if (strcmp(c->name, "os.path.dirname") == 0 || strcmp(c->name, "path/filepath.Dir") == 0) {
		code_fold_parent(first, v);
		return first->str != NULL;
	}
	if (is_one_of(c->name, decoders))
		return fold_decoded(s, strstr(c->name, "hex") ? "hex" : c->name, first, v);
	if (strcmp(c->name, "codecs.decode") == 0)
		return fold_codec(s, first, c->n > 1 ? c->args[1].value : NULL, v);
	if ((strcmp(c->name, "bytes") == 0 || strcmp(c->name, "bytearray") == 0) &&
	    fold_bytes(s, c, v))
		return true;
	if (strcmp(c->name, "path/filepath.Clean") == 0 || strcmp(c->name, "path.Clean") == 0)
		v->flags |= CODE_IS_CLEANED;
	if (is_one_of(c->name, same) && first->str) {
		v->str = first->str;
		v->len = first->len;
		v->is_constant = first->is_constant;
		return true;
	}
	return false;
}
