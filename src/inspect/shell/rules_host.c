/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to the machine itself: its firewall, routes, clock, accounts, services, packages, trust and boot.  People
 * who look after a machine do such things, an agent that works on a project seldom needs to: none of them is more than
 * suspicious by itself.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool host_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

static bool host_any_starts(const struct shell_command *c, const char *start)
{
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, start))
			return true;
	return false;
}

static bool host_any_ends(const struct shell_command *c, const char *end)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] != '-' && str_ends(c->argv[i].s, end))
			return true;
	return false;
}

static bool host_firewall(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "nft") == 0)
		return (host_any(c, "add insert replace create reset") &&
			!rule_is("table chain set map", rule_operand(c, 1))) ||
		       rule_has(c, "-f|--file");
	if (strcmp(c->name, "ufw") == 0)
		/* to shut a port is no opening */
		return rule_is("allow insert delete route", rule_operand(c, 0));
	if (strcmp(c->name, "firewall-cmd") == 0)
		return host_any_starts(c, "--add-") || host_any_starts(c, "--remove-") ||
		       host_any_starts(c, "--set-") || host_any_starts(c, "--panic-on") ||
		       host_any_starts(c, "--direct");
	return true; /* iptables-restore */
}

static bool host_network(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "ip") == 0)
		return rule_is("route r ro link l addr a address rule neigh n neighbour tunnel xfrm netns",
			       rule_operand(c, 0)) &&
		       host_any(c, "add del delete replace change append flush set");
	if (strcmp(c->name, "route") == 0)
		return rule_is("add del delete flush change", rule_operand(c, 0));
	if (strcmp(c->name, "arp") == 0)
		return rule_has(c, "-s|-d|-f|--set|--delete");
	if (strcmp(c->name, "ifconfig") == 0 || strcmp(c->name, "iwconfig") == 0)
		return host_any(c, "promisc down hw netmask alias mode add");
	if (strcmp(c->name, "tc") == 0)
		return host_any(c, "add change replace");
	return true; /* macchanger */
}

static bool host_clock(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "timedatectl") == 0)
		return host_any(c, "set-time set-timezone set-ntp");
	if (strcmp(c->name, "hwclock") == 0)
		return rule_has(c, "--set|-w|--systohc|-s|--hctosys");
	if (rule_has(c, "-s|--set"))
		return true;
	/* date MMDDhhmm[[CC]YY][.ss] */
	return strlen(rule_operand(c, 0)) >= 8 && isdigit((unsigned char)rule_operand(c, 0)[0]) &&
	       strspn(rule_operand(c, 0), "0123456789.") == strlen(rule_operand(c, 0));
}

static bool host_name(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "hostnamectl") == 0)
		return false; /* it is made for that, and keeps the old one nowhere */
	return *rule_operand(c, 0) || rule_has(c, "-F|--file");
}

static bool host_service(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "systemctl") == 0)
		return host_any(c, "enable link mask reenable set-default preset edit");
	if (strcmp(c->name, "loginctl") == 0)
		return host_any(c, "enable-linger");
	if (strcmp(c->name, "rc-update") == 0)
		return host_any(c, "add");
	return !rule_has(c, "--list|-h|--help");
}

/* A list of groups with one among them that can become root. */
static bool host_is_strong(const char *groups)
{
	while (*groups) {
		size_t n = strcspn(groups, ",");
		char one[32];

		if (n > 0 && n < sizeof(one)) {
			memcpy(one, groups, n);
			one[n] = '\0';
			if (rule_is("sudo wheel root docker lxd admin disk shadow", one))
				return true;
		}
		groups += n;
		groups += *groups == ',';
	}
	return false;
}

/* Number 0, or an account that nobody logs in with. */
static bool host_is_root(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is("0 root nobody daemon www-data bin sys --uid=0", c->argv[i].s) ||
		    host_is_strong(c->argv[i].s))
			return true;
	return false;
}

static bool host_account(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "chage") == 0)
		return !rule_has(c, "-l|--list") && c->n > 1;
	if (strcmp(c->name, "passwd") == 0)
		return (*rule_operand(c, 0) || rule_has(c, "-l|-e|-u|-d|--lock|--unlock")) &&
		       !rule_has(c, "-S|--status|-a");
	if (strcmp(c->name, "ipa") == 0 || strcmp(c->name, "samba-tool") == 0)
		return host_any(c, "user-add user-mod user-del group-add-member user group");
	/* one's own shell; a name, a number, a home or a group that gives nothing */
	if (strcmp(c->name, "chsh") == 0)
		return *rule_operand(c, 0) || !rule_has(c, "-s|--shell") || rule_says(c, "/tmp/");
	if (strcmp(c->name, "usermod") == 0 && !rule_is("root 0", rule_operand(c, 0)) &&
	    rule_has(c, "-l|--login|-u|--uid|-d|--home|-c|--comment|-G|--groups|-aG|--shell") &&
	    !rule_has(c, "-L|-U|--lock|--unlock|-p|--password|-o|--non-unique"))
		return host_is_root(c);
	return c->n > 1 || rule_is("vipw vigr", c->name);
}

static bool host_package(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_is("dpkg", c->name))
		return rule_has(c, "-i|--install|--unpack");
	if (rule_is("rpm", c->name))
		return rule_has(c, "-i|-U|-F|--install|--upgrade") && !rule_has(c, "-q|--query");
	if (rule_is("opkg pkg pkg_add installp", c->name))
		return host_any_ends(c, ".ipk") || host_any_ends(c, ".txz") ||
		       host_any_ends(c, ".pkg") || host_any_ends(c, ".tgz");
	if (rule_is("snap apk", c->name))
		return rule_has(c, "--dangerous|--allow-untrusted|--devmode");
	return rule_is("install localinstall reinstall", rule_operand(c, 0)) &&
	       (host_any_ends(c, ".deb") || host_any_ends(c, ".rpm"));
}

static bool host_trust(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "keytool") == 0)
		return rule_says(c, "-import") && rule_says(c, "trust");
	if (strcmp(c->name, "trust") == 0)
		return rule_is("anchor", rule_operand(c, 0));
	if (strcmp(c->name, "security") == 0)
		return rule_is("add-trusted-cert", rule_operand(c, 0));
	return true;
}

static bool host_sysctl(const struct shell_model *m, const struct shell_command *c)
{
	/* what databases, browsers and watchers of files ask their users to set */
	static const char *const usual[] = {"vm.max_map_count=",   "fs.inotify.",
					    "vm.swappiness=",      "vm.overcommit_memory=",
					    "net.core.somaxconn=", "fs.file-max="};

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		bool is_usual = false;

		for (size_t k = 0; k < sizeof(usual) / sizeof(usual[0]); k++)
			is_usual = is_usual || str_starts(s, usual[k]);
		if (strchr(s, '=') && !is_usual &&
		    (str_starts(s, "kernel.") || str_starts(s, "net.") || str_starts(s, "fs.") ||
		     str_starts(s, "vm.") || str_starts(s, "user.") || str_starts(s, "dev.")))
			return true;
	}
	/* a file of settings, and not the one of the system */
	return rule_has(c, "-p|--load") && *rule_operand(c, 0);
}

static bool host_boot(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "efibootmgr") == 0)
		return rule_has(c, "-c|-B|-o|-n|-A|--create|--delete-bootnum|--bootorder");
	if (strcmp(c->name, "grub-mkconfig") == 0)
		return rule_has(c, "-o|--output");
	return !rule_has(c, "--help|-h|--version|-l|--info|--default-kernel");
}

static bool host_bpf(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strcmp(c->name, "bpftool") != 0
		       ? !rule_has(c, "-l|--help|-h|-V")
		       : host_any(c, "load loadall attach detach pin update");
}

static bool host_rights(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const open[] = {"777",   "a+w",   "o+w",   "+w",      "a+rwx",
					   "o+rwx", "ugo+w", "a=rwx", "ugo=rwx", "a+rw",
					   "o+rw",  "666",   "0777",  "ugo+rwx"};

	(void)m;
	if (!rule_has(c, "-R|--recursive"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(open) / sizeof(open[0]); k++)
			if (strcmp(c->argv[i].s, open[k]) == 0)
				return true;
	return false;
}

/* What belongs to root and is set so that it runs as root needs nobody's help. */
static bool host_root(const struct shell_model *m, const struct shell_command *c)
{
	const char *owner = rule_operand(c, 0);

	(void)m;
	return (strcmp(owner, "root") == 0 || str_starts(owner, "root:") ||
		strcmp(owner, "0") == 0 || str_starts(owner, "0:")) &&
	       !(c->via & (VIA_CONTAINER | VIA_FUNCTION));
}

static bool host_open(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return rule_is("777 0777 a+rwx ugo+rwx a=rwx 666 0666 o+w a+w ugo+w +rwx",
		       rule_operand(c, 0)) &&
	       (place & (PLACE(ABSOLUTE) | PLACE(HOME) | PLACE(HOME_BELOW) | PLACE(TEMPORARY)));
}

static bool host_cluster(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return host_any(c, "clusterrolebinding rolebinding") || rule_says(c, "cluster-admin") ||
	       (host_any(c, "proxy port-forward") && rule_says(c, "0.0.0.0"));
}

static bool host_helper(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "credential.helper") && host_any(c, "store");
}

/* Root, or whoever it is; an account of a service has fewer rights. */
static bool host_become(const struct shell_model *m, const struct shell_command *c)
{
	const char *user = rule_operand(c, 0);

	(void)m;
	if (strcmp(user, "-") == 0)
		user = rule_operand(c, 1);
	if (strcmp(c->name, "su") == 0 && *user && strcmp(user, "root") != 0 &&
	    user[0] != SHELL_UNKNOWN)
		return false;
	return !rule_has(c, "-c|--command|--help|--session-command") && !(c->via & VIA_EACH);
}

static bool host_flags(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strstr(c->argv[i].s, "chg") || strstr(c->argv[i].s, "append") ||
		    strstr(c->argv[i].s, "immutable") || strstr(c->argv[i].s, "hidden"))
			return true;
	return false;
}

static bool host_daemon(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return host_any(c,
			"sshd systemd systemd-logind dbus-daemon dockerd containerd NetworkManager "
			"systemd-networkd systemd-resolved cron crond init Xorg gdm sddm");
}

static bool host_link(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (c->argv[i].s[0] != '-')
			return rule_place(m, c, &c->argv[i]) &
			       (PLACE(ROOT) | PLACE(HOME) | PLACE(SECRET) | PLACE(SECRET_DIR) |
				PLACE(SHADOW));
	return false;
}

static bool host_alternative(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) & (PLACE(TEMPORARY) | PLACE(HOME_BELOW));
}

#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule host_rows[] = {
	{.id = "CMD-FIREWALL-RULE",
	 .reason = "It changes what the firewall lets through.",
	 ROW(0.4, LOW),
	 .programs = "iptables ip6tables iptables-legacy iptables-nft ebtables arptables",
	 .flags = "-A|-I|-R|-N|--append|--insert|--replace",
	 .hit = "iptables -A INPUT -p tcp --dport 4444 -j ACCEPT",
	 .miss = "iptables -L -n"},
	{.id = "CMD-FIREWALL-SET",
	 .reason = "It changes what the firewall lets through.",
	 ROW(0.4, LOW),
	 .programs = "nft ufw firewall-cmd iptables-restore ip6tables-restore",
	 .test = host_firewall,
	 .hit = "firewall-cmd --permanent --add-port=4444/tcp",
	 .miss = "firewall-cmd --list-all"},
	{.id = "CMD-NETWORK-SET",
	 .reason = "It changes addresses, routes or interfaces of the machine.",
	 ROW(0.35, LOW),
	 .programs = "ip route arp ifconfig iwconfig tc macchanger",
	 .test = host_network,
	 .hit = "ip route add default via 192.0.2.1",
	 .miss = "ip route show"},
	{.id = "CMD-CLOCK-SET",
	 .reason = "It sets the clock, which logs and certificates rely on.",
	 ROW(0.35, LOW),
	 .programs = "date timedatectl hwclock",
	 .test = host_clock,
	 .hit = "date 010100001971",
	 .miss = "date +%Y%m%d"},
	{.id = "CMD-HOSTNAME-SET",
	 .reason = "It changes the name of the machine.",
	 ROW(0.35, LOW),
	 .programs = "hostname hostnamectl",
	 .unless = "-f|-i|-I|-s|-d|-A|--fqdn|--ip-address|--all-ip-addresses|--short|--domain",
	 .test = host_name,
	 .hit = "hostname other",
	 .miss = "hostname -f"},
	{.id = "CMD-ACCOUNT-CHANGE",
	 .reason = "It changes or deletes accounts or groups.",
	 ROW(0.4, LOW),
	 .programs =
		 "groupadd addgroup groupdel groupmod userdel deluser delgroup usermod chsh chage gpasswd passwd vipw vigr ipa samba-tool",
	 .unless = "--help|--version",
	 .test = host_account,
	 .hit = "userdel -r alice",
	 .miss = "passwd -S alice"},
	{.id = "CMD-DIRECTORY-WRITE",
	 .reason = "It changes accounts in a directory of a whole network.",
	 ROW(0.4, LOW),
	 .programs = "ldapadd ldapmodify ldapdelete ldappasswd ldapmodrdn kadmin kadmin.local",
	 .hit = "ldapadd -H ldap://dc.example.com -f user.ldif",
	 .miss = "ldapwhoami -x"},
	{.id = "CMD-SERVICE-ENABLE",
	 .reason = "It makes a service run at every start, or never again.",
	 ROW(0.35, LOW),
	 .programs = "systemctl loginctl update-rc.d chkconfig rc-update",
	 .unless = "--help|--version",
	 .test = host_service,
	 .hit = "systemctl enable --now x.service",
	 .miss = "systemctl status x.service"},
	{.id = "CMD-PACKAGE-LOCAL",
	 .reason = "It installs a package from a file, whose scripts run as root.",
	 ROW(0.35, LOW),
	 .programs = "dpkg rpm apt apt-get dnf yum zypper snap apk opkg pkg pkg_add installp",
	 .test = host_package,
	 .hit = "dpkg -i x.deb",
	 .miss = "dpkg -l"},
	{.id = "CMD-TRUST-ADD",
	 .reason = "It makes the machine trust another certificate authority.",
	 ROW(0.4, LOW),
	 .programs = "update-ca-certificates update-ca-trust trust keytool security",
	 .unless = "--help|-h",
	 .test = host_trust,
	 .hit = "keytool -import -trustcacerts -file x.crt",
	 .miss = "keytool -list"},
	{.id = "CMD-SYSCTL-SET",
	 .reason = "It sets a parameter of the kernel.",
	 ROW(0.35, LOW),
	 .programs = "sysctl",
	 .test = host_sysctl,
	 .hit = "sysctl -w net.ipv4.ip_forward=1",
	 .miss = "sysctl net.ipv4.ip_forward"},
	{.id = "CMD-BOOT-SET",
	 .reason = "It changes how the machine starts.",
	 ROW(0.35, LOW),
	 .programs = "efibootmgr grub-install grub-mkconfig grub2-mkconfig update-grub grubby",
	 .test = host_boot,
	 .hit = "grub-mkconfig -o /boot/grub/grub.cfg",
	 .miss = "efibootmgr -v"},
	{.id = "CMD-BPF",
	 .reason = "It puts a program into the kernel.",
	 ROW(0.4, LOW),
	 .programs = "bpftool bpftrace",
	 .test = host_bpf,
	 .hit = "bpftool prog load x.o /sys/fs/bpf/x",
	 .miss = "bpftool prog list"},
	{.id = "CMD-CHMOD-ALL",
	 .reason = "It lets everybody write to a whole tree.",
	 ROW(0.35, LOW),
	 .programs = "chmod",
	 .test = host_rights,
	 .hit = "chmod -R a+w data",
	 .miss = "chmod -R a+r data"},
	{.id = "CMD-CHMOD-EVERYBODY",
	 .reason = "It lets everybody write to a file outside the working directory.",
	 ROW(0.35, LOW),
	 .programs = "chmod",
	 .test = host_open,
	 .hit = "chmod a+w /srv/data",
	 .miss = "chmod a+w data"},
	{.id = "CMD-CHOWN-ROOT",
	 .reason = "It gives a file to root.",
	 ROW(0.35, LOW),
	 .programs = "chown",
	 .unless = "--help|--version",
	 .test = host_root,
	 .hit = "chown root:root tool",
	 .miss = "chown alice tool"},
	{.id = "CMD-ACL",
	 .reason = "It gives other users rights that a listing of files does not show.",
	 ROW(0.35, LOW),
	 .programs = "setfacl",
	 .flags = "-m|-x|-b|-M|--modify|--set|--remove-all",
	 .hit = "setfacl -m u:mallory:rwx data",
	 .miss = "getfacl data"},
	{.id = "CMD-FILE-FLAGS",
	 .reason = "It makes a file unchangeable or hidden, or undoes it.",
	 ROW(0.35, LOW),
	 .programs = "chflags",
	 .test = host_flags,
	 .hit = "chflags simmutable x",
	 .miss = "chflags opaque x"},
	{.id = "CMD-UNPACK-SETUID",
	 .reason = "It unpacks files that keep the rights of their owner.",
	 ROW(0.4, LOW),
	 .programs = "unzip",
	 .flags = "-K",
	 .hit = "unzip -K x.zip",
	 .miss = "unzip x.zip"},
	{.id = "CMD-CLUSTER-ADMIN",
	 .reason = "It gives somebody all rights in a cluster, or opens it to the network.",
	 ROW(0.4, LOW),
	 .programs = "kubectl oc",
	 .test = host_cluster,
	 .hit = "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y",
	 .miss = "kubectl get pods"},
	{.id = "CMD-CREDENTIAL-STORE",
	 .reason = "It keeps passwords as plain text from now on.",
	 ROW(0.35, LOW),
	 .programs = "git",
	 .words = "config",
	 .test = host_helper,
	 .hit = "git config --global credential.helper store",
	 .miss = "git config --global credential.helper"},
	{.id = "CMD-SU",
	 .reason = "It opens a shell of another user.",
	 ROW(0.35, LOW),
	 .programs = "su newgrp",
	 .test = host_become,
	 .hit = "su - root",
	 .miss = "su alice -c 'make test'"},
	{.id = "CMD-DAEMON-KILL",
	 .reason = "It kills a service that others rely on.",
	 ROW(0.35, LOW),
	 .programs = "pkill killall",
	 .unless = "-HUP|-0|-1|-USR1|-USR2|--help",
	 .test = host_daemon,
	 .hit = "killall -9 sshd",
	 .miss = "killall -HUP sshd"},
	{.id = "CMD-ALTERNATIVE-SET",
	 .reason =
		 "It makes a command of the system mean a file that anybody could have put there.",
	 ROW(0.4, LOW),
	 .programs = "update-alternatives alternatives",
	 .flags = "--install|--set",
	 .test = host_alternative,
	 .hit = "update-alternatives --install /usr/bin/python python /tmp/x 100",
	 .miss = "update-alternatives --install /usr/bin/cc cc /usr/bin/gcc-12 100"},
	{.id = "CMD-FIRMWARE",
	 .reason = "It writes firmware, which outlives every system on the machine.",
	 ROW(0.5, MEDIUM),
	 .programs = "flashrom fwupdtool",
	 .flags = "-w|-E|--write|--erase|--force",
	 .hit = "flashrom -p internal -w x.rom",
	 .miss = "flashrom -p internal -r x.rom"},
	{.id = "CMD-LINK-OUT",
	 .reason = "It makes credentials or the whole system reachable under another name.",
	 ROW(0.4, LOW),
	 .programs = "ln",
	 .test = host_link,
	 .hit = "ln -s ~/.ssh public/keys",
	 .miss = "ln -s ../shared lib"},
	{.id = "CMD-SWAP-OFF",
	 .reason = "It takes memory away from the whole machine.",
	 ROW(0.35, LOW),
	 .programs = "swapoff",
	 .hit = "swapoff -a",
	 .miss = "swapon --show"},
	{.id = "CMD-STRESS",
	 .reason = "It uses up the machine.",
	 ROW(0.35, LOW),
	 .programs = "stress stress-ng",
	 .unless = "--help|--version",
	 .hit = "stress --cpu 8",
	 .miss = "nproc"},
};

const struct shell_rules shell_rules_host = {host_rows, sizeof(host_rows) / sizeof(host_rows[0])};
