/* SPDX-License-Identifier: Apache-2.0 */
/* Development containers and editors. */
#include "scan/object.h"

#include "base/str.h"

#include <string.h>

/* Of an argument or a mount: does it give the container what is the host's? */
static bool dev_is_privilege(const char *s)
{
	static const char *const bad[] = {
		"--privileged",       "--cap-add",           "--pid=host",    "--network=host",
		"--net=host",         "--ipc=host",          "--userns=host", "--device",
		"seccomp=unconfined", "apparmor=unconfined", "label=disable"};

	/* What debuggers need, and the usual templates for C and Go have. */
	if (strcmp(s, "--cap-add=SYS_PTRACE") == 0 || strcmp(s, "seccomp=unconfined") == 0 ||
	    strcmp(s, "--security-opt=seccomp=unconfined") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (strstr(s, bad[i]) == s || (bad[i][0] != '-' && strstr(s, bad[i])))
			return true;
	return false;
}

static bool dev_is_mount(const char *s)
{
	static const char *const bad[] = {"docker.sock", "podman.sock", "containerd.sock",
					  "/.ssh",       "/.aws",       "/.kube",
					  "/.gnupg",     "source=/,",   "src=/,",
					  "source=/etc", "source=/root"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (strstr(s, bad[i]))
			return true;
	return str_starts(s, "/:") || str_ends(s, "source=/");
}

static int dev_arguments(struct scan_reader *r, json_t *list, bool are_mounts)
{
	json_t *item;
	size_t i;
	int e = 0;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);
		const char *source = json_string_value(json_object_get(item, "source"));

		if (e == 0 && text && !are_mounts && dev_is_privilege(text))
			e = scan_found(r, SCAN_DEV_PRIVILEGED, scan_place(r, text), text);
		if (e == 0 && text && dev_is_mount(text))
			e = scan_found(r, SCAN_DEV_MOUNT, scan_place(r, text), text);
		if (e == 0 && source && (strcmp(source, "/") == 0 || dev_is_mount(source)))
			e = scan_found(r, SCAN_DEV_MOUNT, scan_place(r, source), source);
	}
	return e;
}

int scan_read_devcontainer(struct scan_reader *r)
{
	static const char *const commands[] = {"initializeCommand",    "onCreateCommand",
					       "updateContentCommand", "postCreateCommand",
					       "postStartCommand",     "postAttachCommand"};
	json_auto_t *root = NULL;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = 0;
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(commands); i++)
		e = scan_command_value(r, json_object_get(root, commands[i]));
	if (e == 0 && json_object_get(root, commands[0]))
		e = scan_found(r, SCAN_DEV_HOST, scan_place(r, commands[0]), commands[0]);
	if (e == 0)
		e = dev_arguments(r, json_object_get(root, "runArgs"), false);
	if (e == 0)
		e = dev_arguments(r, json_object_get(root, "mounts"), true);
	if (e == 0 && (json_is_true(json_object_get(root, "privileged")) ||
		       json_array_size(json_object_get(root, "capAdd")) > 0))
		e = scan_found(r, SCAN_DEV_PRIVILEGED, NULL, "privileged, capAdd");
	if (e == 0 && json_is_string(json_object_get(root, "workspaceMount")) &&
	    dev_is_mount(json_string_value(json_object_get(root, "workspaceMount"))))
		e = scan_found(r, SCAN_DEV_MOUNT, scan_place(r, "workspaceMount"), NULL);
	return e;
}

int scan_read_tasks(struct scan_reader *r)
{
	json_auto_t *root = NULL;
	json_t *task;
	size_t i;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = scan_commands_in(r, json_object_get(root, "tasks"));
	json_array_foreach(json_object_get(root, "tasks"), i, task)
	{
		const char *when = json_string_value(
			json_object_get(json_object_get(task, "runOptions"), "runOn"));

		if (e == 0 && when && strcmp(when, "folderOpen") == 0)
			e = scan_found(r, SCAN_VSCODE_AUTO, scan_place(r, when),
				       json_string_value(json_object_get(task, "command")));
	}
	return e;
}

/* A path that starts in the project is a program of the project. */
static bool dev_is_own_program(json_t *value)
{
	const char *s = json_string_value(value);

	return s &&
	       (str_starts(s, "./") || str_starts(s, "${workspaceFolder}") || str_starts(s, "../"));
}

/* Shells and variables of the editor's terminal, of every system: "terminal.integrated.profiles.linux" and so on. */
static int dev_terminal(struct scan_reader *r, json_t *settings)
{
	static const char *const loaders[] = {"LD_PRELOAD", "BASH_ENV", "PROMPT_COMMAND",
					      "DYLD_INSERT_LIBRARIES", "GIT_SSH_COMMAND"};
	const char *name, *profile;
	json_t *value, *shell;
	int e = 0;

	json_object_foreach(settings, name, value)
	{
		bool is_env = str_starts(name, "terminal.integrated.env.");

		for (size_t i = 0; e == 0 && is_env && i < ARRAY_LEN(loaders); i++)
			if (json_object_get(value, loaders[i]))
				e = scan_found(r, SCAN_VSCODE_SETTING, scan_place(r, loaders[i]),
					       loaders[i]);
		if (!str_starts(name, "terminal.integrated.profiles."))
			continue;
		json_object_foreach(value, profile, shell)
		{
			json_t *first = json_array_get(json_object_get(shell, "args"), 0);
			const char *option = json_string_value(first);

			if (e == 0 && (dev_is_own_program(json_object_get(shell, "path")) ||
				       (option && str_ends(option, "c") && option[0] == '-')))
				e = scan_found(r, SCAN_VSCODE_SETTING, scan_place(r, name), name);
		}
	}
	return e;
}

int scan_read_vscode(struct scan_reader *r)
{
	static const char *const programs[] = {"git.path",
					       "python.defaultInterpreterPath",
					       "python.pythonPath",
					       "eslint.nodePath",
					       "php.validate.executablePath",
					       "rust-analyzer.server.path",
					       "clangd.path",
					       "terminal.integrated.shell.linux",
					       "npm.packageManager",
					       "typescript.tsdk",
					       "go.alternateTools",
					       "cmake.cmakePath",
					       "eslint.runtime",
					       "go.goroot",
					       "java.jdt.ls.java.home"};
	static const char *const approvals[] = {"chat.tools.autoApprove",
						"chat.tools.global.autoApprove",
						"chat.agent.autoApprove"};
	json_auto_t *root = NULL;
	json_t *settings;
	const char *automatic;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = 0;
	settings = json_object_get(root, "settings");
	if (!json_is_object(settings))
		settings = root;
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(programs); i++)
		if (dev_is_own_program(json_object_get(settings, programs[i])) &&
		    !strstr(json_string_value(json_object_get(settings, programs[i])), "venv") &&
		    !strstr(json_string_value(json_object_get(settings, programs[i])),
			    "node_modules"))
			e = scan_found(r, SCAN_VSCODE_SETTING, scan_place(r, programs[i]),
				       programs[i]);
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(approvals); i++)
		if (json_is_true(json_object_get(settings, approvals[i])))
			e = scan_found(r, SCAN_VSCODE_SETTING, scan_place(r, approvals[i]),
				       approvals[i]);
	automatic = json_string_value(json_object_get(settings, "task.allowAutomaticTasks"));
	if (e == 0 && automatic && strcmp(automatic, "on") == 0)
		e = scan_found(r, SCAN_VSCODE_SETTING, scan_place(r, "task.allowAutomaticTasks"),
			       "task.allowAutomaticTasks");
	return e == 0 ? dev_terminal(r, settings) : e;
}
