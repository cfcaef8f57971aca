/* SPDX-License-Identifier: Apache-2.0 */
/* See document.h. */
#include "scan/document.h"

#include "base/buf.h"
#include "base/glob.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "inspect/command.h"
#include "scan/reader.h"
#include "secrets/leak.h"

#include <stdio.h>
#include <string.h>

/* Every row that matches is used. */
static const struct {
	const char *glob;
	scan_read_fn *read;
} scan_kinds[] = {
	{"**/CLAUDE.md", scan_read_instructions},
	{"**/CLAUDE.local.md", scan_read_instructions},
	{"**/AGENTS.md", scan_read_instructions},
	{"**/AGENT.md", scan_read_instructions},
	{"**/GEMINI.md", scan_read_instructions},
	{"**/SKILL.md", scan_read_instructions},
	{"**/.cursorrules", scan_read_instructions},
	{"**/.windsurfrules", scan_read_instructions},
	{"**/.clinerules*", scan_read_instructions},
	{"**/.roorules*", scan_read_instructions},
	{"**/.cursor/rules/**", scan_read_instructions},
	{"**/.windsurf/rules/**", scan_read_instructions},
	{"**/.clinerules/**", scan_read_instructions},
	{"**/.github/copilot-instructions.md", scan_read_instructions},
	{"**/.github/instructions/**", scan_read_instructions},
	{"**/.github/prompts/**", scan_read_instructions},
	{"**/.claude/**/*.md", scan_read_instructions},
	{"**/.codex/**/*.md", scan_read_instructions},
	{"**/.gemini/**/*.md", scan_read_instructions},
	{"**/.gemini/commands/**", scan_read_instructions},
	{"**/QWEN.md", scan_read_instructions},
	{"**/.goosehints", scan_read_instructions},
	{"**/.rules", scan_read_instructions},
	{"**/.roo/**/*.md", scan_read_instructions},
	{"**/.kiro/**/*.md", scan_read_instructions},
	{"**/.junie/**/*.md", scan_read_instructions},
	{"**/.continue/**/*.md", scan_read_instructions},
	{"**/.agents/**/*.md", scan_read_instructions},
	{"**/.amazonq/rules/**", scan_read_instructions},
	{"**/.augment/rules/**", scan_read_instructions},
	{"**/.augment-guidelines", scan_read_instructions},
	{"**/.trae/rules/**", scan_read_instructions},
	{"**/.openhands/**/*.md", scan_read_instructions},
	{"**/.opencode/**/*.md", scan_read_instructions},
	{"**/.github/agents/**", scan_read_instructions},
	{"**/.github/chatmodes/**", scan_read_instructions},
	{"**/.windsurf/workflows/**", scan_read_instructions},
	{"**/.kilocode/**/*.md", scan_read_instructions},
	{"**/.aiassistant/rules/**", scan_read_instructions},
	{"**/.tabnine/guidelines/**", scan_read_instructions},
	{"**/.qwen/**/*.md", scan_read_instructions},
	{"**/.factory/**/*.md", scan_read_instructions},
	{"**/.idx/airules.md", scan_read_instructions},
	{"**/WARP.md", scan_read_instructions},
	{"**/CONVENTIONS.md", scan_read_instructions},
	{"**/.claude/settings.json", scan_read_claude},
	{"**/.claude/settings.local.json", scan_read_claude},
	{"**/.claude/hooks/**", scan_read_script},
	{"**/hooks/hooks.json", scan_read_hooks},
	{"**/.codex/hooks.json", scan_read_hooks},
	{"**/.cursor/hooks.json", scan_read_hooks},
	{"**/.gemini/settings.json", scan_read_hooks},
	{"**/.gemini/settings.json", scan_read_mcp},
	{"**/.mcp.json", scan_read_mcp},
	{"**/mcp.json", scan_read_mcp},
	{"**/mcp_config.json", scan_read_mcp},
	{"**/claude_desktop_config.json", scan_read_mcp},
	{"**/.claude.json", scan_read_mcp},
	{"**/devcontainer.json", scan_read_devcontainer},
	{"**/.devcontainer.json", scan_read_devcontainer},
	{"**/.vscode/tasks.json", scan_read_tasks},
	{"**/.vscode/settings.json", scan_read_vscode},
	{"**/*.code-workspace", scan_read_vscode},
	{"**/package.json", scan_read_package},
	{"**/setup.py", scan_read_python},
	{"**/conftest.py", scan_read_python},
	{"**/sitecustomize.py", scan_read_python},
	{"**/pyproject.toml", scan_read_pyproject},
	{"**/Makefile", scan_read_make},
	{"**/makefile", scan_read_make},
	{"**/GNUmakefile", scan_read_make},
	{"**/.github/workflows/*.yml", scan_read_workflow},
	{"**/.github/workflows/*.yaml", scan_read_workflow},
	{"**/.gitlab-ci.yml", scan_read_ci},
	{"**/.travis.yml", scan_read_ci},
	{"**/.circleci/config.yml", scan_read_ci},
	{"**/.git/hooks/*", scan_read_script},
	{"**/.husky/*", scan_read_script},
	{"**/.githooks/*", scan_read_script},
	{"**/.envrc", scan_read_script},
	{"**/.git/config", scan_read_gitconfig},
	{"**/.git/config.worktree", scan_read_gitconfig},
	{"**/.gitmodules", scan_read_gitmodules},
	{"**/.gitattributes", scan_read_gitattributes},
	{"**/.git/info/attributes", scan_read_gitattributes},
	{"**/.npmrc", scan_read_npmrc},
	{"**/.yarnrc", scan_read_yarnrc},
	{"**/.yarnrc.yml", scan_read_yarnrc},
	{"**/pip.conf", scan_read_pip},
	{"**/.pip.conf", scan_read_pip},
	{"**/pip.ini", scan_read_pip},
	{"**/.env", scan_read_env},
	{"**/.env.*", scan_read_env},
	{"**/*.env", scan_read_env},
	{"**/README.md", scan_read_comments},
	{"**/CONTRIBUTING.md", scan_read_comments},
	{"**/.claude/**/*.sh", scan_read_script},
	{"**/.claude/**/*.py", scan_read_python},
	{"**/.cursor/**/*.sh", scan_read_script},
	{"**/.gemini/**/*.sh", scan_read_script},
	{"**/.codex/**/*.sh", scan_read_script},
	{"**/.vscode/*.sh", scan_read_script},
	{"**/.devcontainer/**/*.sh", scan_read_embedded},
	{"**/.codex/config.toml", scan_read_codex},
	{"**/.codex/config.toml", scan_read_embedded},
	{"**/.aider.conf.yml", scan_read_aider},
	{"**/.aider.conf.yml", scan_read_embedded},
	{"**/.continue/**", scan_read_embedded},
	{"**/opencode.json", scan_read_opencode},
	{"**/opencode.jsonc", scan_read_opencode},
	{"**/.roo/mcp.json", scan_read_mcp},
	{"**/.kiro/hooks/**", scan_read_embedded},
	{"**/.zed/*.json", scan_read_embedded},
	{"**/.vscode/launch.json", scan_read_embedded},
	{"**/.idea/**/*.xml", scan_read_embedded},
	{"**/.run/*.xml", scan_read_embedded},
	{"**/.idea/startup.xml", scan_read_idea},
	{"**/docker-compose*.yml", scan_read_compose},
	{"**/docker-compose*.yaml", scan_read_compose},
	{"**/compose*.yml", scan_read_compose},
	{"**/compose*.yaml", scan_read_compose},
	{"**/Dockerfile", scan_read_mentions},
	{"**/Dockerfile.*", scan_read_mentions},
	{"**/*.Dockerfile", scan_read_mentions},
	{"**/Containerfile", scan_read_mentions},
	{"**/*.ipynb", scan_read_mentions},
	{"**/binding.gyp", scan_read_embedded},
	{"**/.pnpmfile.cjs", scan_read_embedded},
	{"**/deno.json", scan_read_embedded},
	{"**/deno.jsonc", scan_read_embedded},
	{"**/composer.json", scan_read_embedded},
	{"**/CMakeLists.txt", scan_read_embedded},
	{"**/*.cmake", scan_read_embedded},
	{"**/meson.build", scan_read_embedded},
	{"**/build.rs", scan_read_embedded},
	{"**/.cargo/config", scan_read_cargo},
	{"**/.cargo/config.toml", scan_read_cargo},
	{"**/Gemfile", scan_read_embedded},
	{"**/Gemfile", scan_read_sources},
	{"**/*.gemspec", scan_read_embedded},
	{"**/extconf.rb", scan_read_embedded},
	{"**/Rakefile", scan_read_embedded},
	{"**/*.gradle", scan_read_embedded},
	{"**/*.gradle.kts", scan_read_embedded},
	{"**/gradle-wrapper.properties", scan_read_wrapper},
	{"**/maven-wrapper.properties", scan_read_wrapper},
	{"**/.mvn/jvm.config", scan_read_jvm},
	{"**/.mvn/maven.config", scan_read_jvm},
	{"**/gradle.properties", scan_read_jvm},
	{"**/mise.toml", scan_read_embedded},
	{"**/.mise.toml", scan_read_embedded},
	{"**/.config/mise/**", scan_read_embedded},
	{"**/Taskfile.y*ml", scan_read_embedded},
	{"**/justfile", scan_read_embedded},
	{"**/Justfile", scan_read_embedded},
	{"**/.justfile", scan_read_embedded},
	{"**/.bazelrc", scan_read_embedded},
	{"**/tools/bazel", scan_read_script},
	{"**/*.nix", scan_read_embedded},
	{"**/flake.nix", scan_read_nix},
	{"**/*.tf", scan_read_embedded},
	{"**/.terraformrc", scan_read_terraform},
	{"**/terraform.rc", scan_read_terraform},
	{"**/lefthook.y*ml", scan_read_embedded},
	{"**/.lefthook.y*ml", scan_read_embedded},
	{"**/.pre-commit-config.yaml", scan_read_embedded},
	{"**/.github/**/action.y*ml", scan_read_workflow},
	{"action.yml", scan_read_workflow},
	{"action.yaml", scan_read_workflow},
	{"**/Jenkinsfile", scan_read_embedded},
	{"**/azure-pipelines*.y*ml", scan_read_embedded},
	{"**/bitbucket-pipelines.yml", scan_read_embedded},
	{"**/.drone.yml", scan_read_embedded},
	{"**/.woodpecker.yml", scan_read_embedded},
	{"**/.woodpecker/*.y*ml", scan_read_embedded},
	{"**/.buildkite/*.y*ml", scan_read_embedded},
	{"**/.cirrus.yml", scan_read_embedded},
	{"**/appveyor.yml", scan_read_embedded},
	{"**/.exrc", scan_read_editor},
	{"**/.vimrc", scan_read_editor},
	{"**/.lvimrc", scan_read_editor},
	{"**/.nvimrc", scan_read_editor},
	{"**/.exrc", scan_read_embedded},
	{"**/.nvim.lua", scan_read_embedded},
	{"**/.dir-locals.el", scan_read_embedded},
	{"**/.gdbinit", scan_read_embedded},
	{"**/.lldbinit", scan_read_embedded},
	{"**/.Rprofile", scan_read_embedded},
	{"**/.irbrc", scan_read_embedded},
	{"**/.pryrc", scan_read_embedded},
	{"**/.psqlrc", scan_read_embedded},
	{"**/.tmux.conf", scan_read_embedded},
	{"**/.screenrc", scan_read_embedded},
	{"**/.bashrc", scan_read_embedded},
	{"**/.bash_profile", scan_read_embedded},
	{"**/.profile", scan_read_embedded},
	{"**/.zshrc", scan_read_embedded},
	{"**/.zshenv", scan_read_embedded},
	{"**/.bash_aliases", scan_read_embedded},
	{"**/requirements*.txt", scan_read_sources},
	{"**/uv.toml", scan_read_sources},
	{"**/Pipfile", scan_read_sources},
	{"**/pyproject.toml", scan_read_embedded},
	{"**/*.gradle", scan_read_repositories},
	{"**/pyproject.toml", scan_read_repositories},
	{"**/setup.cfg", scan_read_pip},
	{"**/nuget.config", scan_read_repositories},
	{"**/NuGet.Config", scan_read_repositories},
	{"**/package-lock.json", scan_read_locked},
	{"**/rust-toolchain.toml", scan_read_cargo},
	{"**/.codex/config.toml", scan_read_variables},
	{"**/*.py", scan_read_hidden_python},
	{"**/docker-compose*.yml", scan_read_mentions},
	{"**/compose.y*ml", scan_read_mentions},
	{"**/.vscode/settings.json", scan_read_embedded},
	{"**/constraints*.txt", scan_read_sources},
	{"**/tox.ini", scan_read_embedded},
	{"**/noxfile.py", scan_read_embedded},
	{"**/*.pth", scan_read_pth},
	{"**/usercustomize.py", scan_read_python},
	{"**/.env", scan_read_variables},
	{"**/.env.*", scan_read_variables},
	{"**/*.env", scan_read_variables},
	{"**/*.sh", scan_read_embedded},
	{"**/.hooks/*", scan_read_script},
	{"**/.lefthook/**", scan_read_script},
	{"**/crush.json", scan_read_opencode},
	{"**/.crush.json", scan_read_opencode},
	{"**/.kilocode/mcp.json", scan_read_mcp},
	{"**/gemini-extension.json", scan_read_mcp},
	{"**/.pnpmfile.cjs", scan_read_installer},
	{"**/package.json", scan_read_installer},
	{"**/yarn.config.cjs", scan_read_embedded},
	{"**/hatch_build.py", scan_read_python},
	{"**/build_hook.py", scan_read_python},
	{"**/pdm_build.py", scan_read_python},
	{"**/skills/**/*.py", scan_read_python},
	{"**/skills/**/*.sh", scan_read_script},
	{"**/environment*.y*ml", scan_read_sources},
	{"**/pixi.toml", scan_read_sources},
	{"**/.Renviron", scan_read_variables},
	{"**/.Renviron", scan_read_prepended},
	{"**/.user.ini", scan_read_prepended},
	{"**/php.ini", scan_read_prepended},
	{"**/.htaccess", scan_read_prepended},
};

/* Templates: their values are made up. */
static bool scan_is_template(const char *path)
{
	static const char *const ends[] = {".example", ".sample", ".template", ".dist", ".tmpl"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_ends(path, ends[i]))
			return true;
	return false;
}

/* Cheap, and false only where the pattern does not match: its first and last plain pieces are in the path.  There are
 * two hundred patterns, and trees have many files that none of them means. */
static bool scan_may_match(const char *glob, const char *path)
{
	const char *first = str_starts(glob, "**/") ? glob + 3 : glob;
	const char *last = strrchr(glob, '*');
	size_t len = strcspn(first, "*?[");

	if (strpbrk(glob, "?["))
		return true;
	return memmem(path, strlen(path), first, len) &&
	       (!last || str_ends(path, last[1] == '/' ? last + 2 : last + 1));
}

static scan_read_fn *scan_kind(const char *path, size_t *position)
{
	if (scan_is_template(path))
		return NULL;
	while (*path == '/')
		path++;
	while (*position < ARRAY_LEN(scan_kinds)) {
		size_t i = (*position)++;

		if (scan_may_match(scan_kinds[i].glob, path) &&
		    glob_match(scan_kinds[i].glob, path))
			return scan_kinds[i].read;
	}
	return NULL;
}

bool scan_is_known(const char *path)
{
	size_t position = 0;

	return scan_kind(path, &position) != NULL;
}

unsigned scan_line_number(const struct scan_reader *r, const char *at)
{
	const char *text = r->source->text;
	unsigned line = 1;

	if (!at || at < text || at > text + r->source->len)
		return 0;
	for (const char *s = text; s < at; s++)
		line += *s == '\n';
	return line;
}

const char *scan_place(const struct scan_reader *r, const char *text)
{
	size_t len = strcspn(text, "\"\\\n");

	if (len > 48)
		len = 48;
	return len < 3 ? NULL : memmem(r->source->text, r->source->len, text, len);
}

int scan_found(struct scan_reader *r, enum scan_rule_id id, const char *at, const char *snippet)
{
	const struct scan_rule *rule = &scan_rules[id];
	struct finding f = {
		.type = rule->type,
		.level = rule->level,
		.confidence = rule->confidence,
		.line = scan_line_number(r, at),
	};
	struct buf b = BUF_INIT(sizeof(f.snippet) * 8);

	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
	(void)snprintf(f.message, sizeof(f.message), "%s", rule->reason);
	if (snippet)
		str_escape(&b, snippet, strnlen(snippet, sizeof(f.snippet) - 1));
	(void)snprintf(f.snippet, sizeof(f.snippet), "%s", buf_cstr(&b));
	buf_done(&b);
	return findings_add(r->findings, &f) < 0 ? cordon_nomem(r->err) : 0;
}

/* What a project does with what is its own: it reads its variables and publishes its packages. */
static void scan_drop_ordinary(struct findings *found, size_t from)
{
	static const char *const ordinary[] = {"CMD-PUBLISH", "CMD-READ-ENV"};
	size_t kept = from;

	for (size_t i = from; i < found->n; i++) {
		bool is_ordinary = false;

		for (size_t k = 0; k < ARRAY_LEN(ordinary); k++)
			is_ordinary |= strcmp(found->items[i].rule, ordinary[k]) == 0;
		if (!is_ordinary || found->items[i].level > THREAT_LOW)
			found->items[kept++] = found->items[i];
	}
	found->n = kept;
}

int scan_command(struct scan_reader *r, const char *command, size_t len, const char *at)
{
	struct inspect_context c = {
		.policy = r->source->policy,
		.home = r->source->home,
		.path = r->source->path,
		.document = INSPECT_DOCUMENT_SOURCE,
	};
	size_t before = r->findings->n;
	unsigned line = scan_line_number(r, at);
	int e = len ? command_inspect(&c, command, len, r->findings, r->err) : 0;

	scan_drop_ordinary(r->findings, before);
	/* The inspector counts from the command's own first line. */
	for (size_t i = before; e == 0 && line && i < r->findings->n; i++)
		r->findings->items[i].line =
			line + (r->findings->items[i].line ? r->findings->items[i].line - 1 : 0);
	return e;
}

int scan_secrets(struct scan_reader *r)
{
	const struct scan_rule *rule =
		&scan_rules[r->source->is_tracked ? SCAN_SECRET_TRACKED : SCAN_SECRET];
	AUTO(findings_done) struct findings found = {0};
	int e = leak_inspect(r->source->text, r->source->len, &found, r->err);

	for (size_t i = 0; e == 0 && i < found.n; i++) {
		struct finding f = found.items[i];

		(void)snprintf(f.message, sizeof(f.message), "%s: %.160s", rule->reason,
			       found.items[i].message);
		(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
		f.level = rule->level;
		f.confidence = f.confidence < rule->confidence ? f.confidence : rule->confidence;
		if (findings_add(r->findings, &f) < 0)
			e = cordon_nomem(r->err);
	}
	return e;
}

/* What is read by people, and data: commands in it are shown, kept or tested, not run. */
static bool scan_is_prose(const char *path)
{
	static const char *const ends[] = {".md",  ".rst",  ".txt",   ".adoc", ".html", ".htm",
					   ".po",  ".pot",  ".svg",   ".csv",  ".tsv",  ".css",
					   ".map", ".lock", ".sum",   ".log",  ".tex",  ".xsl",
					   ".mdx", ".diff", ".patch", ".pod",  ".1",    ".5",
					   ".8",   ".snap", ".jsonl"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_ends(path, ends[i]))
			return true;
	return str_ends(path, ".min.js");
}

int scan_document(const struct scan_source *s, struct findings *ret, struct cordon_error *err)
{
	struct scan_reader r = {.source = s, .findings = ret, .err = err};
	size_t position = 0;
	scan_read_fn *last = NULL;
	scan_read_fn *read;
	bool is_prose = scan_is_prose(s->path);
	int e = scan_read_characters(&r);

	while (e == 0 && (read = scan_kind(s->as ? s->as : s->path, &position)) != NULL) {
		if (read != last)
			e = read(&r);
		last = read;
	}
	/* Of a part the hook judges what is written by other means. */
	if (e == 0 && !last && !s->is_part && !is_prose)
		e = scan_read_mentions(&r);
	if (e == 0 && !s->is_part && !is_prose)
		e = scan_read_sends(&r);
	return e;
}

int scan_link(const struct scan_source *s, const char *target, bool leaves_tree,
	      struct findings *ret, struct cordon_error *err)
{
	static const char *const secret[] = {"**/.ssh",
					     "**/.ssh/**",
					     "**/.aws",
					     "**/.aws/**",
					     "**/.gnupg",
					     "**/.gnupg/**",
					     "**/.kube/**",
					     "**/.netrc",
					     "etc/shadow",
					     "etc/gshadow",
					     "etc/sudoers",
					     "proc/**",
					     "**/.config/gh/**",
					     "**/.git-credentials",
					     "**/.docker/config.json",
					     "**/.npmrc",
					     "dev/mem",
					     "root/**"};
	struct scan_reader r = {.source = s, .findings = ret, .err = err};
	const char *shown = target;
	bool is_secret = false;

	if (!leaves_tree)
		return 0;
	while (*shown == '/')
		shown++;
	for (size_t i = 0; i < ARRAY_LEN(secret); i++)
		is_secret |= glob_match(secret[i], shown);
	return scan_found(&r, is_secret ? SCAN_LINK_SECRET : SCAN_LINK_OUT, NULL, target);
}
