/* SPDX-License-Identifier: Apache-2.0 */
/* Ways out of a container or a restricted shell, and into other processes. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool escape_engine(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (strstr(c->argv[i].s, "docker.sock") ||
		    strstr(c->argv[i].s, "containerd.sock") || strstr(c->argv[i].s, "podman.sock"))
			return !rule_is("ls stat chown chgrp echo", c->name);
	(void)m;
	return false;
}

static bool escape_container(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const trees[] = {
		"/var/run:",        "/run:",  "/proc:", "/dev:", "/boot:", "/var:",
		"/var/lib/docker:", "/home:", "/usr:",  "/lib:"};

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *v = str_starts(s, "-v") && s[2]  ? s + 2
				: str_starts(s, "--volume=") ? s + 9
							     : s;

		if (str_starts(s, "--privileged") || strcmp(s, "--pid=host") == 0 ||
		    strcmp(s, "--ipc=host") == 0 || strcmp(s, "--userns=host") == 0 ||
		    str_starts(s, "--cap-add=SYS_ADMIN") || str_starts(s, "--cap-add=ALL") ||
		    (i > 1 && strcmp(c->argv[i - 1].s, "--cap-add") == 0 &&
		     rule_is("SYS_ADMIN ALL SYS_PTRACE SYS_MODULE DAC_READ_SEARCH", s)) ||
		    ((str_starts(s, "--device=") ||
		      (i > 1 && strcmp(c->argv[i - 1].s, "--device") == 0)) &&
		     (place_of(m->context, strchr(s, '/') ? strchr(s, '/') : s, NULL, false) &
		      PLACE(DEVICE))) ||
		    str_starts(s, "--security-opt=apparmor=unconfined") ||
		    strstr(s, "seccomp=unconfined") || strstr(s, "apparmor=unconfined") ||
		    strstr(s, "\"privileged\":true") || strstr(s, "\"hostPID\""))
			return true;
		for (size_t k = 0; k < sizeof(trees) / sizeof(trees[0]); k++)
			if (str_starts(v, trees[k]))
				return true;
		if (str_starts(v, "/:") || str_starts(v, "/etc:") || str_starts(v, "/root:") ||
		    strstr(s, "source=/,") || strstr(s, "src=/,"))
			return true;
	}
	return false;
}

static bool escape_kernel(const struct shell_model *m, const struct shell_command *c)
{
	return rule_writes(m, c) & PLACE(KERNEL);
}

static bool escape_process(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_operands(m, c) | rule_writes(m, c)) & PLACE(ESCAPE);
}

static bool escape_attach(const struct shell_model *m, const struct shell_command *c)
{
	bool looks = rule_has(c, "-batch|--batch"), is_asked = false;

	(void)m;
	/* a program that hangs, and where it does */
	for (size_t i = 1; i + 1 < c->n && looks; i++)
		if (rule_is("-ex --ex -eval-command -o", c->argv[i].s)) {
			is_asked = true;
			looks = str_starts(c->argv[i + 1].s, "thread apply") ||
				str_starts(c->argv[i + 1].s, "bt") ||
				str_starts(c->argv[i + 1].s, "backtrace") ||
				str_starts(c->argv[i + 1].s, "info ") ||
				rule_is("quit detach where", c->argv[i + 1].s) ||
				str_starts(c->argv[i + 1].s, "set pagination");
			looks = looks && !strpbrk(c->argv[i + 1].s, "|!");
		}
	return rule_has(c, "-p|--pid") && !rule_says(c, "--version") && !(looks && is_asked);
}

static bool escape_mount(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return (place & PLACE(DEVICE))
		       ? (c->via & VIA_CONTAINER)
		       : rule_says(c, "cgroup") || rule_says(c, "hidepid") ||
				 (rule_says(c, "bind") &&
				  (place & (PLACE(ROOT) | PLACE(SYSTEM)))) ||
				 (rule_says(c, "remount") && !rule_says(c, "remount,ro")) ||
				 rule_says(c, "/proc/");
}

static bool escape_sysctl(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "kernel.core_pattern=") || rule_says(c, "randomize_va_space=") ||
	       rule_says(c, "kernel.modprobe=") || rule_says(c, "yama.ptrace_scope=0") ||
	       rule_says(c, "unprivileged_userns_clone=") ||
	       rule_says(c, "kernel.dmesg_restrict=0") || rule_says(c, "kptr_restrict=0");
}

static bool escape_is_shell_path(const char *s)
{
	static const char *const paths[] = {"/bin/sh",  "/bin/bash",     "/bin/dash",
					    "/bin/zsh", "/usr/bin/bash", "/bin/csh"};
	size_t n = strlen(s);

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		size_t k = strlen(paths[i]);
		const char *p = strstr(s, paths[i]);

		if (!p)
			continue;
		/* The path alone, at the end, or with options: not a longer name, not #!/bin/sh of a script. */
		if (p > s && (p[-1] == '!' && p - 1 > s && p[-2] == '#'))
			continue;
		if (p[k] == '\0' || strchr(" \"'`;)],}\n", p[k]))
			return n > 0;
	}
	return false;
}

/* An ordinary program that is told to start a shell. */
static bool escape_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (c->n < 2 || rule_is_shell(c->name) ||
	    rule_is("sudo doas env command exec nohup nice timeout time setsid chroot docker podman kubectl oc lxc docker-compose su runuser "
		    "ssh xargs find chsh useradd usermod adduser echo printf grep egrep sed cat ls file ldd which type test [ [[ stat "
		    "readlink realpath cp mv ln chmod chown strings man export alias systemd-run tmux screen script stdbuf busybox "
		    "git sh eval rg head tail diff md5sum sha256sum dpkg rpm apt pkg update-alternatives watch flock rm unshare nsenter "
		    "strace ltrace gdb dpkg-query command read trap md5 cmp od xxd hexdump crontab at parallel sshpass tee toybox "
		    "systemd-nspawn ctr crictl nerdctl distrobox toolbox vagrant fakeroot fakechroot schroot arch-chroot proot firejail bwrap "
		    "sed awk cut sort curl wget declare local set dscl pw mosh minikube devcontainer apptainer singularity podman-compose "
		    "useradd getent basename dirname bats shellcheck shfmt checkbashisms code expect",
		    c->name))
		return false;
	if (rule_is("lsof fuser pgrep pkill ps pidof kill killall pstree", c->name))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (escape_is_shell_path(c->argv[i].s))
			return true;
	return c->in.s && c->has_in && (escape_is_shell_path(c->in.s) || strstr(c->in.s, "!sh")) &&
	       c->in.len < 200;
}

/* nice /bin/sh: a wrapper around nothing but a shell */
static bool escape_wrapped(const struct shell_model *m, const struct shell_command *c)
{
	return ((c->via & VIA_WRAPPED) || m->n > 1) && !(c->via & (VIA_CONTAINER | VIA_REMOTE)) &&
	       c->n > 0 && rule_is_shell(c->name) && c->argv[0].s[0] == '/' && !c->has_in &&
	       (c->n == 1 || (c->n == 2 && rule_is("-p -i -s", c->argv[1].s)));
}

/* Something that is nothing but a shell is written to a file. */
static bool escape_written(const struct shell_model *m, const struct shell_command *c)
{
	bool has_file = false;

	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		has_file = has_file || c->redirects[i].kind == REDIRECT_OUT ||
			   c->redirects[i].kind == REDIRECT_APPEND;
	for (size_t i = 1; i < c->n && has_file; i++)
		if (escape_is_shell_path(c->argv[i].s) && !strstr(c->argv[i].s, "#!") &&
		    strlen(c->argv[i].s) < 80)
			return true;
	return false;
}

static bool escape_climb(const struct shell_model *m, const struct shell_command *c)
{
	if (rule_is("cd ls echo printf test [ mkdir ln", c->name))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] == '/' && strstr(c->argv[i].s, "/../") &&
		    (rule_place(m, c, &c->argv[i]) &
		     (PLACE(SYSTEM) | PLACE(HOME_BELOW) | PLACE(HOME))))
			return true;
	return false;
}

static bool escape_bang(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->argv[i].s, "!sh") == 0 || strstr(c->argv[i].s, "!/bin/") ||
		    strstr(c->argv[i].s, ":!") || strstr(c->argv[i].s, "exec sh") ||
		    strstr(c->argv[i].s, "1e exec") || strstr(c->argv[i].s, "os.exec") ||
		    strstr(c->argv[i].s, "os.system") || strstr(c->argv[i].s, ":term"))
			return true;
	return false;
}

static bool escape_hooked(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_HOOK) && rule_is_shell(c->name);
}

static bool escape_lines(const struct shell_model *m, const struct shell_command *c)
{
	/* A line of its own that is typed into the program of the line before: GTFOBins style. */
	return c->n > 0 && (str_starts(c->argv[0].s, "!") && c->argv[0].len > 1 &&
			    c->argv[0].s[1] != '=' && m->n > 1);
}

#define ROW(conf, lev) .type = FINDING_SYSTEM_CALL, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule escape_rows[] = {
	{.id = "CMD-ENGINE-SOCKET",
	 .reason = "It talks to the container engine, which can do everything root can.",
	 ROW(0.6, MEDIUM),
	 .test = escape_engine,
	 .hit = "curl --unix-socket /var/run/docker.sock http://x/containers/json",
	 .miss = "docker ps"},
	{.id = "CMD-CONTAINER-OPEN",
	 .reason = "It starts a container that is not separated from the host.",
	 ROW(0.6, MEDIUM),
	 .programs = "docker podman nerdctl kubectl ctr",
	 .test = escape_container,
	 .hit = "docker run -v /:/host -it alpine sh",
	 .miss = "docker run -v ./src:/src alpine ls"},
	{.id = "CMD-NSENTER",
	 .reason = "It enters the namespaces of another process.",
	 ROW(0.6, MEDIUM),
	 .programs = "nsenter",
	 .unless = "--help|--version",
	 .hit = "nsenter -t 1 -m sh",
	 .miss = "lsns"},
	{.id = "CMD-KERNEL-SWITCH",
	 .reason = "It sets a switch of the kernel that runs programs as root.",
	 ROW(0.85, HIGH),
	 .test = escape_kernel,
	 .hit = "echo '|/tmp/x' > /proc/sys/kernel/core_pattern",
	 .miss = "cat /proc/sys/kernel/core_pattern"},
	{.id = "CMD-SYSCTL",
	 .reason = "It weakens the kernel's protection.",
	 ROW(0.5, MEDIUM),
	 .programs = "sysctl",
	 .test = escape_sysctl,
	 .hit = "sysctl -w kernel.randomize_va_space=0",
	 .miss = "sysctl -a"},
	{.id = "CMD-PROC-ROOT",
	 .reason = "It reaches into another process or the host's file system.",
	 ROW(0.7, MEDIUM),
	 .test = escape_process,
	 .hit = "ls /proc/1/root/",
	 .miss = "ls /proc/1/"},
	{.id = "CMD-ATTACH",
	 .reason = "It attaches to another process.",
	 ROW(0.4, LOW),
	 .programs = "gdb lldb reptyr",
	 .test = escape_attach,
	 .hit = "gdb -p 1",
	 .miss = "gdb ./a.out"},
	{.id = "CMD-MOUNT",
	 .reason = "It mounts something that leads out or hides files.",
	 ROW(0.4, LOW),
	 .programs = "mount",
	 .test = escape_mount,
	 .hit = "mount -t cgroup -o memory cgroup /tmp/c",
	 .miss = "mount"},
	{.id = "CMD-MODULE",
	 .reason = "It loads code into the kernel.",
	 ROW(0.6, MEDIUM),
	 .programs = "insmod kexec rmmod kldload kldunload kextload",
	 .hit = "insmod ./evil.ko",
	 .miss = "lsmod"},
	{.id = "CMD-MODULE-LOAD",
	 .reason = "It loads a module into the kernel.",
	 ROW(0.35, LOW),
	 .programs = "modprobe",
	 .unless = "-r|-n|-c|-D|--remove|--dry-run|--showconfig|--show-depends|--help",
	 .hit = "modprobe evil",
	 .miss = "modprobe -n evil"},
	{.id = "CMD-MODULE-REMOVE",
	 .reason = "It takes a module out of the kernel.",
	 ROW(0.35, LOW),
	 .programs = "modprobe",
	 .flags = "-r|--remove",
	 .hit = "modprobe -r apparmor",
	 .miss = "modprobe -n evil"},
	{.id = "CMD-SHELL-ESCAPE",
	 .reason = "It makes an ordinary program start a shell.",
	 ROW(0.5, MEDIUM),
	 .test = escape_shell,
	 .hit = "zip a.zip a -T -TT '/bin/sh #'",
	 .miss = "ls -l /bin/sh"},
	{.id = "CMD-SHELL-WRAPPED",
	 .reason = "It starts a shell through another program.",
	 ROW(0.35, LOW),
	 .test = escape_wrapped,
	 .hit = "nice /bin/sh",
	 .miss = "nice make"},
	{.id = "CMD-SHELL-WRITTEN",
	 .reason = "It writes a file that starts a shell.",
	 ROW(0.4, LOW),
	 .programs = "echo printf",
	 .test = escape_written,
	 .hit = "echo /bin/sh > groff",
	 .miss = "echo '#!/bin/sh' > run"},
	{.id = "CMD-PATH-DETOUR",
	 .reason = "Its path goes up and down again to a file of the system.",
	 ROW(0.4, MEDIUM),
	 .test = escape_climb,
	 .hit = "cat /usr/../etc/shells",
	 .miss = "cat ../README"},
	{.id = "CMD-BANG-SHELL",
	 .reason = "It makes an editor or a pager start a shell.",
	 ROW(0.5, MEDIUM),
	 .programs =
		 "vi vim nvim view ex ed less more man sed gdb ftp nmap rvim rview vimdiff crash mysql psql irb mail ssh-keygen gimp",
	 .test = escape_bang,
	 .hit = "vim -c ':!/bin/sh'",
	 .miss = "vim -c ':q'"},
	{.id = "CMD-OPTION-SHELL",
	 .reason = "An option of another program starts a shell.",
	 ROW(0.5, MEDIUM),
	 .test = escape_hooked,
	 .hit = "tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec=/bin/sh",
	 .miss = "tar cf a.tar x"},
	{.id = "CMD-BANG-LINE",
	 .reason = "A line is typed into another program to start a command.",
	 ROW(0.4, LOW),
	 .test = escape_lines,
	 .hit = "less /etc/profile\n!/bin/sh",
	 .miss = "less /etc/profile"},
	{.id = "CMD-CAPSH",
	 .reason = "It starts a shell with other capabilities.",
	 ROW(0.5, MEDIUM),
	 .programs = "capsh",
	 .unless = "--print|--decode|--has-p|--help|--explain",
	 .hit = "capsh --",
	 .miss = "capsh --print"},
	{.id = "CMD-DEBUGFS",
	 .reason = "It changes a file system behind the kernel's back.",
	 ROW(0.5, MEDIUM),
	 .programs = "debugfs",
	 .hit = "debugfs -w /dev/sda1",
	 .miss = "dumpe2fs /dev/sda1"},
};

const struct shell_rules shell_rules_escape = {escape_rows,
					       sizeof(escape_rows) / sizeof(escape_rows[0])};
