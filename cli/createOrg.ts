import { Unavailable } from "#events/ports.ts";
import { readSettings } from "#infra/config.ts";
import { openBus, openDatabase, openLogAccess, type Database } from "./connect.ts";
import { withServiceUrl } from "./credentials.ts";
import { createOrganization, planOrganization, type Credentials } from "./organization.ts";
import { CliError } from "./cliError.ts";
import { print, printJson, formatTable } from "./output.ts";

const HANDLERS =
  "select from ops.workers where beat_at > now() - interval '10 seconds' and role ~ '(^|\\+)(all|services)(\\+|$)' limit 1";

/** Throws CliError at once if no worker runs, because the command would wait until its deadline. */
async function requireWorker({ db }: Database): Promise<void> {
  if ((await db.query(HANDLERS)).length === 0)
    throw new CliError("No running service handles commands", "start it with npm start, then run this again");
}

/** What a failed attempt created is useless: only this attempt knew the owner's password, and it is never printed. */
function explainUnavailable(error: unknown): never {
  if (!(error instanceof Unavailable)) throw error;
  throw new CliError(
    "The running service did not finish the command in time",
    "svc doctor says why. Then run this again; nobody can sign in to what this attempt may have created",
  );
}

const formatCredentials = ({ base_url, organization_id, api_key, admin }: Credentials): string =>
  formatTable([
    ["Service", base_url],
    ["Organization", organization_id],
    ["API key", api_key],
    ["Sign in", `${admin.email} with ${admin.password}`],
  ]);

/** Creates an organization by commands to the running service, and prints its credentials once they work. */
export async function createOrg(name: string, options: { json?: boolean }): Promise<void> {
  const settings = readSettings(withServiceUrl(process.env, readSettings(process.env)));
  const database = await openDatabase(settings);
  try {
    const { log, db, keyring } = await openLogAccess(database);
    await requireWorker(database);
    const bus = await openBus(settings);
    try {
      const plan = planOrganization(settings);
      const { credentials } = plan;
      const needs = { sender: bus.sender(log), hints: bus.hints, db, keyring };
      const created = createOrganization(needs, settings, { name, plan, patience_ms: 0 });
      const usable = await created.catch(explainUnavailable);
      if (options.json) printJson(credentials);
      else print(formatCredentials(credentials));
      if (!usable)
        process.stderr.write(
          "The read models are behind: the key works once they have caught up (svc projections status).\n",
        );
    } finally {
      await bus.close();
    }
  } finally {
    await database.pool.end();
  }
}
