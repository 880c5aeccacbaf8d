import { readSettings } from "#infra/config.ts";
import { migrate as migrateDatabase } from "#infra/postgres/migrate.ts";
import { admitServiceRole } from "#infra/postgres/serviceRole.ts";
import { serviceAddress, throwExplained } from "./connect.ts";
import { explain } from "./explain.ts";
import { print } from "./output.ts";
import { Problem } from "./problem.ts";

/**
 * `svc migrate`: applies the missing migrations as the user of DATABASE_URL, grants `serviceRole` what the service needs, and
 * prints what it did. Throws Problem.
 */
export async function migrate({ serviceRole }: { serviceRole?: string }): Promise<void> {
  const url = serviceAddress(readSettings(process.env), "database_url");
  const applied = await migrateDatabase(url).catch((error: unknown) => throwExplained(url, error));
  print(applied.length > 0 ? `Applied ${applied.join(", ")}.` : "The database has every migration.");
  if (serviceRole === undefined) return;
  await admitServiceRole(url, serviceRole).catch((cause: unknown) => {
    const next = "create the role, and run this as the owner of the tables, who is a member of the role or a superuser";
    throw new Problem(`The role ${serviceRole} did not get its rights (${explain(cause)})`, next, { cause });
  });
  print(`The role ${serviceRole} can run the service.`);
}
