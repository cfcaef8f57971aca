/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of frameworks that drop or empty the database of an application. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

/* A task by its name, wherever it stands: rails db:drop, php artisan migrate:fresh, npm run db:reset. */
static bool schema_task(const struct shell_model *m, const struct shell_command *c)
{
	static const char tasks[] =
		"db:drop db:drop:all db:reset db:purge db:wipe db:nuke db:clean db:destroy db:truncate_all "
		"db:schema:load db:structure:load db:migrate:reset db:migrate:undo:all migrate:fresh migrate:reset "
		"migrate:refresh migration:fresh migration:reset schema:drop database:drop doctrine:database:drop "
		"doctrine:schema:drop d:d:d d:s:d ecto.drop ecto.reset pg:reset db-drop db-reset drop-db reset-db";

	(void)m;
	for (size_t i = 1; i < c->n && i < 8; i++)
		if (rule_is(tasks, c->argv[i].s))
			return true;
	return false;
}

/* manage.py flush, manage.py migrate app zero */
static bool schema_django(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i + 1 < c->n && i < 4; i++) {
		const char *task = c->argv[i + 1].s;

		if (!str_ends(c->argv[i].s, "manage.py") && !str_ends(c->argv[i].s, "django-admin"))
			continue;
		return rule_is("flush reset_db reset_schema", task) ||
		       (strcmp(task, "migrate") == 0 && c->n > i + 3 &&
			strcmp(c->argv[i + 3].s, "zero") == 0);
	}
	return false;
}

#define DOUBT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_LOW, .confidence = 0.4

static const struct shell_rule schema_rows[] = {
	{.id = "CMD-SCHEMA-TASK",
	 .reason = "It drops or empties the database of an application.",
	 DOUBT,
	 .programs =
		 "rails rake php artisan console symfony sequelize sequelize-cli typeorm mikro-orm mix heroku npm pnpm "
		 "yarn bun make just task node ace deno composer",
	 .unless = "--dry-run|-n|--help",
	 .test = schema_task,
	 .hit = "bin/rails db:drop",
	 .miss = "bin/rails db:migrate"},
	{.id = "CMD-SCHEMA-RESET",
	 .reason = "It drops or empties the database of an application.",
	 DOUBT,
	 .programs = "prisma supabase atlas sqlx diesel sea-orm-cli edgedb gel airflow hasura",
	 .words = "migrate|db|schema|database|metadata reset|clean|wipe|drop|fresh|clear",
	 .unless = "--dry-run|--help",
	 .hit = "npx prisma migrate reset --force",
	 .miss = "npx prisma migrate deploy"},
	{.id = "CMD-SCHEMA-CLEAN",
	 .reason = "It drops or empties the database of an application.",
	 DOUBT,
	 .programs = "flyway liquibase drizzle-kit dbmate goose migrate",
	 .words = "clean|drop|drop-all|dropAll|reset",
	 .unless = "--help",
	 .hit = "flyway clean",
	 .miss = "flyway migrate"},
	{.id = "CMD-SCHEMA-PUSH",
	 .reason = "It changes a database although data is lost.",
	 DOUBT,
	 .programs = "prisma",
	 .words = "db push",
	 .flags = "--force-reset|--accept-data-loss",
	 .hit = "prisma db push --force-reset",
	 .miss = "prisma db push"},
	{.id = "CMD-SCHEMA-DOWN",
	 .reason = "It takes every change of a database back, and with it the data.",
	 DOUBT,
	 .programs = "alembic",
	 .words = "downgrade base",
	 .hit = "alembic downgrade base",
	 .miss = "alembic upgrade head"},
	{.id = "CMD-SCHEMA-UNDO",
	 .reason = "It takes every change of a database back, and with it the data.",
	 DOUBT,
	 .programs = "knex",
	 .words = "migrate:rollback",
	 .flags = "--all",
	 .hit = "npx knex migrate:rollback --all",
	 .miss = "npx knex migrate:rollback"},
	{.id = "CMD-SCHEMA-DOTNET",
	 .reason = "It drops the database of an application.",
	 DOUBT,
	 .programs = "dotnet",
	 .words = "ef database drop",
	 .hit = "dotnet ef database drop --force",
	 .miss = "dotnet ef database update"},
	{.id = "CMD-SCHEMA-DJANGO",
	 .reason = "It empties the database of an application.",
	 DOUBT,
	 .programs = "python python3 manage.py django-admin",
	 .test = schema_django,
	 .hit = "python manage.py flush --no-input",
	 .miss = "python manage.py migrate"},
};

const struct shell_rules shell_rules_schema = {schema_rows,
					       sizeof(schema_rows) / sizeof(schema_rows[0])};
