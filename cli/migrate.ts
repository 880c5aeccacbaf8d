import { readSettings } from "#infra/config.ts";
import { migrate as migrateDatabase } from "#infra/postgres/migrate.ts";
import { grantServiceRole } from "#infra/postgres/serviceRole.ts";
import { serviceAddress, throwExplained } from "./connect.ts";
import { explainError } from "./explainError.ts";
import { print } from "./output.ts";
import { CliError } from "./cliError.ts";

/**
 * `svc migrate`: applies the missing migrations as the user of DATABASE_URL, grants `serviceRole` what the service needs, and
 * prints what it did. Throws CliError.
 */
export async function migrate({ serviceRole }: { serviceRole?: string }): Promise<void> {
  const url = serviceAddress(readSettings(process.env), "database_url");
  const applied = await migrateDatabase(url).catch((error: unknown) => throwExplained(url, error));
  print(applied.length > 0 ? `Applied ${applied.join(", ")}.` : "The database has every migration.");
  if (serviceRole === undefined) return;
  await grantServiceRole(url, serviceRole).catch((cause: unknown) => {
    const next = "create the role, and run this as the owner of the tables, who is a member of the role or a superuser";
    throw new CliError(`The role ${serviceRole} did not get its rights (${explainError(cause)})`, next, { cause });
  });
  print(`The role ${serviceRole} can run the service.`);
}
