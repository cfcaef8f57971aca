/* SPDX-License-Identifier: Apache-2.0 */
/* What macOS has of its own: its disks and backups, what guards it, its accounts, and windows that ask for passwords. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool mac_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

static bool mac_disk(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "tmutil") == 0)
		return rule_is("delete deletelocalsnapshots disable removedestination",
			       rule_operand(c, 0));
	if (strcmp(c->name, "asr") == 0)
		return mac_any(c, "--erase -erase");
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "erase") || str_starts(c->argv[i].s, "secureErase") ||
		    str_starts(c->argv[i].s, "delete") ||
		    rule_is("partitionDisk zeroDisk randomDisk reformat splitPartition "
			    "mergePartitions",
			    c->argv[i].s))
			return true;
	return false;
}

/* Programs whose whole purpose is a guard: which of their words lower it. */
static bool mac_guard(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *name, *words;
	} rows[] = {
		{"csrutil", "disable"},
		{"spctl", "--master-disable --global-disable --add --disable"},
		{"fdesetup", "disable"},
		{"tccutil", "reset"},
		{"systemsetup", "-setremotelogin -setremoteappleevents"},
		{"socketfilterfw", "--setglobalstate --add --unblockapp --setblockall"},
		{"profiles", "remove -R -D"},
		{"kmutil", "load install"},
		{"kextload", ""},
		{"softwareupdate", "--schedule"},
	};

	(void)m;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, c->name) == 0)
			return *rows[i].words
				       ? mac_any(c, rows[i].words) && !mac_any(c, "status list")
				       : c->n > 1;
	if (strcmp(c->name, "xattr") == 0)
		return rule_has(c, "-d|-c|-r") && (rule_says(c, "quarantine") || rule_has(c, "-c"));
	if (strcmp(c->name, "nvram") == 0)
		return rule_says(c, "boot-args") && rule_says(c, "=");
	/* defaults */
	return mac_any(c, "write delete") &&
	       (rule_says(c, "LoginHook") || rule_says(c, "LSQuarantine") ||
		rule_says(c, "com.apple.loginwindow") || rule_says(c, "com.apple.alf") ||
		rule_says(c, "GatekeeperPolicy"));
}

static bool mac_service(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_is("bootout bootstrap disable unload load submit", rule_operand(c, 0)) &&
	       (rule_says(c, "system/") || rule_says(c, "com.apple.") ||
		rule_says(c, "/Library/") || rule_says(c, ".plist") ||
		strcmp(rule_operand(c, 0), "submit") == 0);
}

static bool mac_account(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "security") == 0)
		return rule_is("authorizationdb", rule_operand(c, 0)) && mac_any(c, "write remove");
	return mac_any(c, "-create -append -passwd -delete -change -merge -addUser -deleteUser "
			  "-resetPasswordFor edit -adminPassword");
}

static bool mac_proxy(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return mac_any(c, "-setwebproxy -setsecurewebproxy -setautoproxyurl -setsocksfirewallproxy "
			  "-setftpproxy -setstreamingproxy");
}

static bool mac_asks(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "hidden answer") || rule_says(c, "with administrator privileges") ||
	       (rule_says(c, "ObjC.import") && rule_says(c, ".system(")) ||
	       (rule_says(c, "display dialog") && rule_says(c, "password"));
}

#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule mac_rows[] = {
	{.id = "CMD-MAC-DISK",
	 .reason = "It erases a disk or deletes backups.",
	 ROW(0.6, MEDIUM),
	 .programs = "diskutil tmutil asr",
	 .test = mac_disk,
	 .hit = "diskutil eraseDisk JHFS+ X disk2",
	 .miss = "diskutil list"},
	{.id = "CMD-MAC-GUARD",
	 .reason = "It lowers what guards the system.",
	 ROW(0.5, MEDIUM),
	 .programs =
		 "csrutil spctl fdesetup tccutil systemsetup socketfilterfw profiles kmutil kextload softwareupdate xattr "
		 "nvram defaults",
	 .unless = "--help|-h",
	 .test = mac_guard,
	 .hit = "spctl --master-disable",
	 .miss = "spctl --status"},
	{.id = "CMD-MAC-SERVICE",
	 .reason = "It adds a service to the system or takes one away.",
	 ROW(0.4, LOW),
	 .programs = "launchctl",
	 .test = mac_service,
	 .hit = "launchctl bootout system/com.apple.mdmclient",
	 .miss = "launchctl list"},
	{.id = "CMD-MAC-ACCOUNT",
	 .reason = "It changes accounts or what they may do.",
	 ROW(0.5, MEDIUM),
	 .programs = "dscl sysadminctl dseditgroup security",
	 .test = mac_account,
	 .hit = "sysadminctl -addUser x -admin",
	 .miss = "dscl . -list /Users"},
	{.id = "CMD-MAC-PROXY",
	 .reason = "It leads the traffic of the machine through another one.",
	 ROW(0.4, LOW),
	 .programs = "networksetup",
	 .test = mac_proxy,
	 .hit = "networksetup -setwebproxy Wi-Fi a.example 8080",
	 .miss = "networksetup -listallnetworkservices"},
	{.id = "CMD-MAC-ASK",
	 .reason = "It asks a person for a password in a window of its own.",
	 ROW(0.6, MEDIUM),
	 .programs = "osascript zenity kdialog",
	 .test = mac_asks,
	 .hit = "osascript -e 'display dialog \"x\" default answer \"\" with hidden answer'",
	 .miss = "osascript -e 'display notification \"done\"'"},
};

const struct shell_rules shell_rules_mac = {mac_rows, sizeof(mac_rows) / sizeof(mac_rows[0])};
