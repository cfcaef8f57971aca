/* SPDX-License-Identifier: Apache-2.0 */
/* Files, file systems, repositories and processes that a command would destroy. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool destroy_is_recursive(const struct shell_command *c)
{
	return rule_has(c, "-r|-R|--recursive");
}

static bool destroy_everything(const struct shell_model *m, const struct shell_command *c)
{
	return !(c->via & VIA_CONTAINER) && destroy_is_recursive(c) &&
	       (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)));
}

static bool destroy_cwd(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return destroy_is_recursive(c) && (place & PLACE(CWD)) && !(place & PLACE(UNKNOWN));
}

static bool destroy_system(const struct shell_model *m, const struct shell_command *c)
{
	if ((c->via & (VIA_CONTAINER | VIA_FUNCTION)) || !(rule_operands(m, c) & PLACE(SYSTEM)))
		return false;
	/* a lock that a program left behind */
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] == '-' ? strpbrk(c->argv[i].s, "rR") != NULL
					   : !str_starts(c->argv[i].s, "/var/") ||
						     !(str_ends(c->argv[i].s, "lock") ||
						       str_ends(c->argv[i].s, "lock*") ||
						       str_ends(c->argv[i].s, ".pid")))
			return true;
	return false;
}

static bool destroy_outside(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return destroy_is_recursive(c) && !(c->via & VIA_CONTAINER) &&
	       (place & (PLACE(ABSOLUTE) | PLACE(HOME_BELOW) | PLACE(PARENT)));
}

static bool destroy_unknown(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!destroy_is_recursive(c))
		return false;
	/* "$X/" and "$X"/ * are / and everything when X is empty */
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->argv[i].s, "\001/") == 0 || strcmp(c->argv[i].s, "\001/*") == 0 ||
		    strcmp(c->argv[i].s, "\001*") == 0)
			return true;
	return false;
}

/* Names come from elsewhere: a list, a download, a secret file. */
static bool destroy_fed(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].taint & (TAINT_REMOTE | TAINT_SECRET))
			return true;
	return false;
}

static bool destroy_all(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (!c->cwd && (((c->argv[i].flags & WORD_GLOB) &&
				 rule_is("* ./* .[!.]* .??*", c->argv[i].s)) ||
				str_starts(c->argv[i].s, "!("))) /* all but */
			return true;
	return false;
}

/* The names come from a search of the system or of a home that chooses nothing. */
static bool destroy_searched(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n && !(c->via & VIA_CONTAINER); i++)
		if (c->argv[i].taint & TAINT_WHOLE)
			return true;
	return false;
}

/* ls | xargs rm -rf: all that a listing without a choice shows */
static bool destroy_listed(const struct shell_model *m, const struct shell_command *c)
{
	if (!(c->via & VIA_EACH) || !destroy_is_recursive(c) || c - m->commands < 2)
		return false;
	for (size_t i = 0; i < m->n && &m->commands[i] != c; i++) {
		const struct shell_command *d = &m->commands[i];

		if (d->group != c->group)
			continue;
		if (rule_is("xargs parallel", d->name))
			return true;
		/* find without a condition lists all there is */
		if (strcmp(d->name, "find") == 0 && d->n <= 3 &&
		    rule_is(". ./ .. ../ -print0 -print", d->n > 1 ? d->argv[1].s : "."))
			continue;
		/* all but what is named */
		if (rule_is("grep egrep", d->name) && rule_has(d, "-v|--invert-match") && i > 0)
			continue;
		if (!rule_is("ls dir", d->name) ||
		    (*rule_operand(d, 0) && !rule_is(". ./ .. ../", rule_operand(d, 0))))
			return false;
	}
	return false;
}

static bool destroy_git_dir(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return (place & PLACE(GIT)) && !(place & PLACE(GIT_HOOK)) &&
	       (destroy_is_recursive(c) || rule_is("rmdir unlink Remove-Item del", c->name));
}

static bool destroy_data(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) &
	       (PLACE(ENV_FILE) | PLACE(DATABASE) | PLACE(SECRET) | PLACE(WALLET));
}

static bool destroy_found(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const filters[] = {"-name",   "-iname",     "-path",  "-mtime", "-mmin",
					      "-size",   "-empty",     "-regex", "-newer", "-atime",
					      "-ctime",  "-user",      "-perm",  "-inum",  "-links",
					      "-iregex", "-wholename", "-ipath", "-amin",  "-cmin",
					      "-nouser", "-samefile",  "-lname", "-xtype"};
	uint64_t place = 0;
	bool is_deleting = false, has_filter = false;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		/* -name takes the next word, whatever it looks like */
		for (size_t k = 0; k < sizeof(filters) / sizeof(filters[0]); k++)
			if (strcmp(s, filters[k]) == 0) {
				/* '*' chooses nothing */
				has_filter = has_filter || i + 1 >= c->n ||
					     strcmp(c->argv[i + 1].s, "*") != 0;
				i += strcmp(s, "-empty") != 0;
				break;
			}
		is_deleting = is_deleting || (i < c->n && strcmp(s, "-delete") == 0) ||
			      (i + 2 < c->n && rule_is("-exec -execdir -ok", s) &&
			       strcmp(c->argv[i + 1].s, "rm") == 0 && c->argv[i + 2].s[0] == '-' &&
			       strchr(c->argv[i + 2].s, 'r'));
	}
	for (size_t i = 1; i < c->n && !strchr("-(!", c->argv[i].s[0]); i++)
		place |= rule_place(m, c, &c->argv[i]);
	if (!is_deleting)
		return false;
	if (place & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)))
		return true;
	return !has_filter || (place & PLACE(SYSTEM));
}

static bool destroy_device(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) & PLACE(DEVICE);
}

static bool destroy_wipes(const struct shell_model *m, const struct shell_command *c)
{
	if (strcmp(c->name, "badblocks") == 0 && !rule_has(c, "-w|-n"))
		return false;
	if (strcmp(c->name, "hdparm") == 0 && rule_has(c, "-I|-i|-t|-T|-g|-C|-tT"))
		return false;
	if (rule_is("sgdisk sfdisk tune2fs", c->name) &&
	    rule_has(c, "-p|-l|-d|--print|--list|--dump"))
		return false;
	if (strcmp(c->name, "nvme") == 0 &&
	    rule_is("list smart-log id-ctrl id-ns", rule_operand(c, 0)))
		return false;
	return destroy_device(m, c);
}

static bool destroy_device_dd(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "of=") &&
		    (place_of(m->context, c->argv[i].s + 3, c->cwd, false) & PLACE(DEVICE)))
			return true;
	return false;
}

static bool destroy_zero_dd(const struct shell_model *m, const struct shell_command *c)
{
	return destroy_device_dd(m, c) &&
	       (rule_says(c, "if=/dev/zero") || rule_says(c, "if=/dev/urandom") ||
		rule_says(c, "if=/dev/random"));
}

static bool destroy_redirect(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT &&
		    (rule_place(m, c, &c->redirects[i].target) & PLACE(DEVICE)))
			return true;
	return rule_is("cp tee", c->name) && (rule_operands(m, c) & PLACE(DEVICE));
}

static bool destroy_modes(const struct shell_model *m, const struct shell_command *c)
{
	return (destroy_is_recursive(c) || (c->via & VIA_EACH)) && !(c->via & VIA_CONTAINER) &&
	       (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)));
}

static bool destroy_open_modes(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	return (rule_is("777 0777 a+rwx ugo+rwx a=rwx 666 o+w a+w", rule_operand(c, 0)) &&
		((place & (PLACE(SYSTEM) | PLACE(ROOT) | PLACE(SECRET) | PLACE(SECRET_DIR))) ||
		 (destroy_is_recursive(c) &&
		  (place & (PLACE(CWD) | PLACE(ABSOLUTE) | PLACE(HOME) | PLACE(PARENT))))));
}

/* btrfs subvolume delete; the others say all with their first word */
static bool destroy_pool(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strcmp(rule_operand(c, 0), "subvolume") != 0 ||
	       strcmp(rule_operand(c, 1), "delete") == 0;
}

/* Directories that one application has for itself. */
static bool destroy_is_kept(const struct shell_command *c)
{
	static const char *const dirs[] = {"/opt/",     "/var/lib/",   "/var/cache/",
					   "/var/www/", "/usr/local/", "/usr/lib/node_modules"};
	const char *last = c->n > 1 ? c->argv[c->n - 1].s : "";

	if (strcmp(last, "/var/www") == 0)
		return true;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (str_starts(last, dirs[i]) && (last[strlen(dirs[i])] || !str_ends(dirs[i], "/")))
			return true;
	return false;
}

static bool destroy_system_modes(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = rule_operands(m, c);

	if (place & (PLACE(SUDOERS) | PLACE(SHADOW) | PLACE(ACCOUNT) | PLACE(PAM)))
		return true;
	if (strcmp(c->name, "chown") == 0 && destroy_is_kept(c))
		return false;
	return (place & PLACE(SYSTEM)) && !(place & PLACE(TEMPORARY)) && destroy_is_recursive(c);
}

static bool destroy_move(const struct shell_model *m, const struct shell_command *c)
{
	bool is_glob = false;

	for (size_t i = 1; i < c->n; i++)
		is_glob = is_glob ||
			  ((c->argv[i].flags & WORD_GLOB) &&
			   (rule_place(m, c, &c->argv[i]) & (PLACE(ROOT) | PLACE(HOME))));
	return is_glob || (c->n > 2 && strcmp(c->argv[c->n - 1].s, "/dev/null") == 0);
}

/* What a pool, an array or a table of partitions loses. */
static bool destroy_layout(const struct shell_model *m, const struct shell_command *c)
{
	if (strcmp(c->name, "mdadm") == 0)
		return rule_has(c, "--zero-superblock|--fail|--remove|--stop|-S");
	/* A list of commands for a program that asks. */
	if (c->has_in)
		return rule_operands(m, c) & PLACE(DEVICE);
	for (size_t i = 1; i < c->n; i++)
		if (rule_is("mklabel mktable rm mkpart resizepart", c->argv[i].s))
			return rule_operands(m, c) & PLACE(DEVICE);
	return false;
}

/* One file after the other is made unreadable for good. */
static bool destroy_shreds(const struct shell_model *m, const struct shell_command *c)
{
	return (c->via & (VIA_EACH | VIA_LOOP)) ||
	       (rule_operands(m, c) & (PLACE(HOME_BELOW) | PLACE(SYSTEM)));
}

static bool destroy_packed(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(HOME_BELOW) |
				      PLACE(SYSTEM) | PLACE(DATABASE));
}

static bool destroy_svn(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_is("delete del rm remove", rule_operand(c, 0)) &&
		(rule_says(c, "://") || rule_says(c, "^/"))) ||
	       (strcmp(rule_operand(c, 0), "revert") == 0 && rule_has(c, "-R|--recursive"));
}

static bool destroy_unpacks(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-C --directory -d -D", c->argv[i].s)) {
			uint64_t place = rule_place(m, c, &c->argv[i + 1]);

			return (place &
				(PLACE(ROOT) | PLACE(BINARY) | PLACE(CRON) | PLACE(SUDOERS))) ||
			       strcmp(c->argv[i + 1].s, "/etc") == 0 ||
			       str_starts(c->argv[i + 1].s, "/etc/") ||
			       ((c->in.taint & TAINT_REMOTE) && (place & PLACE(SYSTEM)) &&
				strcmp(c->argv[i + 1].s, "/usr/local") != 0 &&
				strcmp(c->argv[i + 1].s, "/opt") != 0);
		}
	return false;
}

static bool destroy_kill_all(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 2; i < c->n; i++)
		if (strcmp(c->argv[i].s, "-1") == 0 || strcmp(c->argv[i].s, "1") == 0)
			return true;
	return c->n == 2 && strcmp(c->argv[1].s, "-1") == 0;
}

static bool destroy_kill_user(const struct shell_model *m, const struct shell_command *c)
{
	size_t operands = 0;
	bool is_root = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		if (rule_is("-u -U --euid --uid --user", c->argv[i].s) && i + 1 < c->n) {
			is_root = is_root || rule_is("root 0", c->argv[++i].s);
			continue;
		}
		operands += c->argv[i].s[0] != '-';
	}
	return is_root && operands == 0;
}

static bool destroy_log(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT)
			place |= rule_place(m, c, &c->redirects[i].target);
	if (rule_is("rm shred truncate unlink wipe srm", c->name) ||
	    (strcmp(c->name, "tee") == 0 && !rule_has(c, "-a|--append")))
		place |= rule_operands(m, c);
	if (rule_is("dd cp ln", c->name) && rule_says(c, "/dev/"))
		place |= rule_operands(m, c);
	if (rule_is("sed", c->name) && rule_has(c, "-i|--in-place"))
		place |= rule_operands(m, c);
	return place & (PLACE(LOG) | PLACE(HISTORY));
}

static bool destroy_truncate(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 0; i < c->n_redirects; i++) {
		uint64_t place = rule_place(m, c, &c->redirects[i].target);

		if (c->redirects[i].kind == REDIRECT_OUT &&
		    (c->n == 0 || rule_is(": true cat", c->name)) &&
		    !c->redirects[i].target.taint &&
		    (place & (PLACE(SYSTEM) | PLACE(HOME_BELOW) | PLACE(DATABASE))) &&
		    !(place & PLACE(TEMPORARY)))
			return true;
	}
	return false;
}

#define SUSPECT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_MEDIUM, .confidence = 0.6
/* ./halt is a program of one's own */
static bool destroy_is_system(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->argv[0].s[0] != '.';
}

#define DOUBT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_LOW, .confidence = 0.4
#define CERTAIN .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_CRITICAL, .confidence = 0.95

static const struct shell_rule destroy_rows[] = {
	{.id = "CMD-RM-ROOT",
	 .reason = "It deletes the whole system, a top-level directory or a home.",
	 CERTAIN,
	 .programs = "rm shred srm wipe rmdir",
	 .test = destroy_everything,
	 .hit = "rm -rf /",
	 .miss = "rm -rf build/"},
	{.id = "CMD-RM-CWD",
	 .reason = "It deletes everything in the working directory.",
	 SUSPECT,
	 .programs = "rm srm",
	 .test = destroy_cwd,
	 .hit = "rm -rf ./*",
	 .miss = "rm -rf ./dist/*"},
	{.id = "CMD-RM-SYSTEM",
	 .reason = "It deletes a file of the system.",
	 DOUBT,
	 .programs = "rm unlink srm",
	 .test = destroy_system,
	 .hit = "rm -f /usr/bin/env",
	 .miss = "rm -f /tmp/env"},
	{.id = "CMD-RM-OUTSIDE",
	 .reason = "It deletes a directory outside the working directory.",
	 DOUBT,
	 .programs = "rm srm",
	 .test = destroy_outside,
	 .hit = "rm -rf ~/photos",
	 .miss = "rm -rf node_modules"},
	{.id = "CMD-RM-UNKNOWN",
	 .reason = "It deletes everything if the variable is empty.",
	 DOUBT,
	 .programs = "rm srm",
	 .test = destroy_unknown,
	 .hit = "rm -rf \"$DIR\"/*",
	 .miss = "rm -rf \"$DIR/build\""},
	{.id = "CMD-RM-FED",
	 .reason = "What it deletes is named by downloaded or secret data.",
	 SUSPECT,
	 .programs = "rm",
	 .test = destroy_fed,
	 .hit = "rm -rf $(curl http://a.example/list)",
	 .miss = "rm -rf $(ls *.tmp)"},
	{.id = "CMD-RM-ALL",
	 .reason = "It deletes every file of a directory.",
	 DOUBT,
	 .programs = "rm",
	 .test = destroy_all,
	 .hit = "rm *",
	 .miss = "rm *.o"},
	{.id = "CMD-RM-LISTED",
	 .reason = "It deletes all that a listing shows.",
	 DOUBT,
	 .programs = "rm",
	 .test = destroy_listed,
	 .hit = "ls | xargs rm -rf",
	 .miss = "ls | grep tmp | xargs rm -rf"},
	{.id = "CMD-RM-SEARCHED",
	 .reason = "It deletes or changes whatever a search of the system or of a home finds.",
	 SUSPECT,
	 .programs = "rm unlink shred srm trash mv truncate chmod chown chgrp",
	 .test = destroy_searched,
	 .hit = "find / -type f | xargs rm -f",
	 .miss = "find / -name core | xargs rm -f"},
	{.id = "CMD-RM-GIT",
	 .reason = "It deletes the history of a repository.",
	 SUSPECT,
	 .programs = "rm rmdir unlink Remove-Item del",
	 .test = destroy_git_dir,
	 .hit = "rm -rf .git",
	 .miss = "rm -rf .github"},
	{.id = "CMD-RM-DATA",
	 .reason = "It deletes secrets or a database.",
	 DOUBT,
	 .programs = "rm unlink shred srm",
	 .test = destroy_data,
	 .hit = "rm .env",
	 .miss = "rm .env.example"},
	{.id = "CMD-FIND-DELETE",
	 .reason = "It deletes all that it finds in a large place.",
	 SUSPECT,
	 .programs = "find",
	 .test = destroy_found,
	 .hit = "find . -delete",
	 .miss = "find . -name '*.pyc' -delete"},
	{.id = "CMD-DD-DEVICE",
	 .reason = "It writes to a block device.",
	 SUSPECT,
	 .programs = "dd",
	 .test = destroy_device_dd,
	 .hit = "dd if=a.img of=/dev/sda",
	 .miss = "dd if=/dev/sda of=a.img"},
	{.id = "CMD-DD-ZERO",
	 .reason = "It overwrites a block device with nothing.",
	 CERTAIN,
	 .programs = "dd",
	 .test = destroy_zero_dd,
	 .hit = "dd if=/dev/zero of=/dev/sda",
	 .miss = "dd if=/dev/zero of=swapfile"},
	{.id = "CMD-DEVICE-WRITE",
	 .reason = "It writes over a block device.",
	 CERTAIN,
	 .test = destroy_redirect,
	 .hit = "echo x > /dev/sda",
	 .miss = "echo x > /dev/null"},
	{.id = "CMD-MKFS",
	 .reason = "It makes a new file system where one may be.",
	 SUSPECT,
	 .programs =
		 "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mke2fs mkswap mkntfs newfs",
	 .test = destroy_device,
	 .hit = "mkfs.ext4 /dev/sda1",
	 .miss = "mkfs.ext4 disk.img"},
	{.id = "CMD-WIPE",
	 .reason = "It erases a disk or a volume.",
	 SUSPECT,
	 .programs =
		 "wipefs blkdiscard pvremove lvremove vgremove hdparm nvme sgdisk sfdisk badblocks shred scrub nwipe tune2fs ddrescue",
	 .test = destroy_wipes,
	 .hit = "wipefs -a /dev/sda",
	 .miss = "wipefs disk.img"},
	{.id = "CMD-VOLUME-REMOVE",
	 .reason = "It removes a volume with all that is on it.",
	 SUSPECT,
	 .programs = "lvremove vgremove pvremove",
	 .unless = "--test|-t|--help",
	 .hit = "lvremove vg/data",
	 .miss = "lvs vg/data"},
	{.id = "CMD-LVM-REMOVE",
	 .reason = "It removes a volume with all that is on it.",
	 SUSPECT,
	 .programs = "lvm",
	 .words = "lvremove|vgremove|pvremove",
	 .hit = "lvm lvremove vg/data",
	 .miss = "lvm lvs"},
	{.id = "CMD-POOL-DESTROY",
	 .reason = "It destroys a storage pool or a data set.",
	 SUSPECT,
	 .programs = "zpool zfs btrfs",
	 .words = "destroy|labelclear|rollback|subvolume",
	 .test = destroy_pool,
	 .hit = "zpool destroy tank",
	 .miss = "zpool status tank"},
	{.id = "CMD-CRYPT-ERASE",
	 .reason = "It makes an encrypted disk unreadable.",
	 SUSPECT,
	 .programs = "cryptsetup",
	 .words = "luksErase|erase|luksFormat|luksKillSlot",
	 .hit = "cryptsetup luksErase /dev/sda2",
	 .miss = "cryptsetup luksDump /dev/sda2"},
	{.id = "CMD-DISK-LAYOUT",
	 .reason = "It changes the partitions of a disk or takes an array of disks apart.",
	 SUSPECT,
	 .programs = "parted mdadm fdisk gdisk sfdisk cfdisk",
	 .test = destroy_layout,
	 .hit = "parted -s /dev/sda mklabel gpt",
	 .miss = "parted /dev/sda print"},
	{.id = "CMD-SHRED",
	 .reason = "It makes files unreadable for good.",
	 DOUBT,
	 .programs = "shred srm wipe",
	 .unless = "--help|--version",
	 .test = destroy_shreds,
	 .hit = "find ~ -type f -exec shred -u {} +",
	 .miss = "shred -u draft.txt"},
	{.id = "CMD-PACK-REMOVE",
	 .reason = "It deletes what it has packed.",
	 DOUBT,
	 .programs = "tar bsdtar gtar",
	 .flags = "--remove-files",
	 .test = destroy_packed,
	 .hit = "tar cf x.tar --remove-files /var/lib/data",
	 .miss = "tar cf x.tar --remove-files tmp/part"},
	{.id = "CMD-CHMOD-ROOT",
	 .reason = "It changes the rights of the whole system or home.",
	 CERTAIN,
	 .programs = "chmod chown chgrp setfacl",
	 .test = destroy_modes,
	 .hit = "chmod -R 777 /",
	 .miss = "chmod -R u+w src"},
	{.id = "CMD-CHMOD-OPEN",
	 .reason = "It lets everyone write there.",
	 DOUBT,
	 .programs = "chmod",
	 .test = destroy_open_modes,
	 .hit = "chmod 777 /etc/hosts",
	 .miss = "chmod 755 run.sh"},
	{.id = "CMD-CHMOD-SYSTEM",
	 .reason = "It changes the rights of a part of the system.",
	 DOUBT,
	 .programs = "chmod chown chgrp",
	 .test = destroy_system_modes,
	 .hit = "chown -R me /usr/lib",
	 .miss = "chown -R me src"},
	{.id = "CMD-MV-ALL",
	 .reason = "It moves everything away or into nothing.",
	 SUSPECT,
	 .programs = "mv",
	 .test = destroy_move,
	 .hit = "mv /* /tmp",
	 .miss = "mv *.log old/"},
	{.id = "CMD-TRUNCATE",
	 .reason = "It empties a file of the system or the user.",
	 DOUBT,
	 .test = destroy_truncate,
	 .hit = "> /etc/hosts",
	 .miss = ": > out.txt"},
	{.id = "CMD-LOG-ZERO",
	 .reason = "It throws away the journal of a file system.",
	 SUSPECT,
	 .programs = "xfs_repair",
	 .flags = "-L",
	 .hit = "xfs_repair -L /dev/sdb1",
	 .miss = "xfs_repair -n /dev/sdb1"},
	{.id = "CMD-HG-STRIP",
	 .reason = "It throws away changes or history.",
	 DOUBT,
	 .programs = "hg",
	 .words = "strip|purge|rollback|histedit",
	 .hit = "hg strip -r 0",
	 .miss = "hg log -r 0"},
	{.id = "CMD-SVN-DELETE",
	 .reason = "It deletes or reverts files that others have.",
	 DOUBT,
	 .programs = "svn",
	 .test = destroy_svn,
	 .hit = "svn delete https://svn.example/trunk -m x",
	 .miss = "svn status"},
	{.id = "CMD-UNPACK-ROOT",
	 .reason = "It unpacks files over the system.",
	 DOUBT,
	 .programs = "tar bsdtar unzip cpio",
	 .test = destroy_unpacks,
	 .hit = "tar xzf x.tgz -C /",
	 .miss = "tar xzf x.tgz -C out"},
	{.id = "CMD-KILL-ALL",
	 .reason = "It kills every process.",
	 SUSPECT,
	 .programs = "kill",
	 .test = destroy_kill_all,
	 .hit = "kill -9 -1",
	 .miss = "kill -9 1234"},
	{.id = "CMD-KILL-USER",
	 .reason = "It kills all that root or everybody runs.",
	 DOUBT,
	 .programs = "pkill killall",
	 .test = destroy_kill_user,
	 .hit = "pkill -9 -u root",
	 .miss = "pkill -u root nginx"},
	{.id = "CMD-SHUTDOWN",
	 .reason = "It stops or restarts the machine.",
	 DOUBT,
	 .programs = "shutdown reboot halt poweroff",
	 .unless = "-c|-k|-w|--wtmp-only|--help",
	 .test = destroy_is_system,
	 .hit = "shutdown -h now",
	 .miss = "shutdown -c"},
	{.id = "CMD-SHUTDOWN-UNIT",
	 .reason = "It stops or restarts the machine.",
	 DOUBT,
	 .programs = "systemctl init telinit",
	 .words = "poweroff|reboot|halt|kexec|0|6|rescue|emergency|isolate",
	 .hit = "systemctl poweroff",
	 .miss = "systemctl status"},
	{.id = "CMD-LOG-WIPE",
	 .reason = "It deletes logs or the history of commands.",
	 SUSPECT,
	 .test = destroy_log,
	 .hit = "rm /var/log/auth.log",
	 .miss = "tail /var/log/auth.log"},
	{.id = "CMD-JOURNAL-WIPE",
	 .reason = "It deletes logs.",
	 DOUBT,
	 .programs = "journalctl",
	 .flags = "--vacuum-size|--vacuum-time|--vacuum-files",
	 .hit = "journalctl --vacuum-time=1s",
	 .miss = "journalctl -u ssh"},
};

const struct shell_rules shell_rules_destroy = {destroy_rows,
						sizeof(destroy_rows) / sizeof(destroy_rows[0])};
