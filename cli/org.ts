import { readSettings } from "#infra/config.ts";
import { openBus, openDatabase, openSealed, type Database } from "./connect.ts";
import { besideTheService } from "./credentials.ts";
import { makeOrganization, type Credentials } from "./organization.ts";
import { Problem } from "./problem.ts";
import { print, printJson, table } from "./output.ts";

const HANDLERS =
  "select from ops.workers where beat_at > now() - interval '10 seconds' and role ~ '(^|\\+)(all|services)(\\+|$)' limit 1";

/** Without a worker a command would wait in its queue until its deadline. */
async function somebodyHandles({ db }: Database): Promise<void> {
  if ((await db.query(HANDLERS)).length === 0)
    throw new Problem("No running service handles commands", "start it with npm start, then run this again");
}

const readable = ({ base_url, organization_id, api_key, admin }: Credentials): string =>
  table([
    ["Service", base_url],
    ["Organization", organization_id],
    ["API key", api_key],
    ["Sign in", `${admin.email} with ${admin.password}`],
  ]);

/** Makes an organization by commands to the running service and prints its credentials, once they can be used. */
export async function createOrg(name: string, options: { json?: boolean }): Promise<void> {
  const settings = readSettings(besideTheService(process.env, readSettings(process.env)));
  const database = await openDatabase(settings);
  try {
    const { log, db, keyring } = await openSealed(database);
    await somebodyHandles(database);
    const bus = await openBus(settings);
    try {
      const { credentials, usable } = await makeOrganization(
        { sender: bus.sender(log), hints: bus.hints, db, keyring },
        settings,
        name,
      );
      if (options.json) printJson(credentials);
      else print(readable(credentials));
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
