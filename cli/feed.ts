import { streamName } from "#events/ids.ts";
import { readSettings } from "#infra/config.ts";
import { ListenerTaken } from "#infra/nats/feed.ts";
import { SUBJECT_TOKEN } from "#infra/nats/names.ts";
import type { Db } from "#projections/projection.ts";
import { withBus, withDatabase } from "./connect.ts";
import { print } from "./output.ts";
import { CliError } from "./cliError.ts";

const FIND = "select exists (select from log.streams where stream = $1) as there";

/** Refuses a mistyped id, whose consumer would silently wait forever. Throws CliError. */
async function requireOrganization(db: Db, organization: string): Promise<void> {
  const [found] = await db.query<{ there: boolean }>(FIND, [streamName("organization", organization)]);
  const next = "svc log tail --type OrganizationCreated shows the ids of all of them";
  if (!found!.there) throw new CliError(`No organization has the id ${organization}`, next);
}

function explainTaken(error: unknown): never {
  if (!(error instanceof ListenerTaken)) throw error;
  throw new CliError(error.message, "name another listener: each receives one organization", { cause: error });
}

/** Creates the consumer by which another service, with a NATS account of its own, listens to one organization. Throws CliError. */
export async function addListener(name: string, organization: string): Promise<void> {
  if (!SUBJECT_TOKEN.test(name))
    throw new CliError(`${JSON.stringify(name)} cannot be a consumer`, "use letters, digits, hyphens and underscores");
  const { BUS_PREFIX } = readSettings(process.env);
  const id = organization.toLowerCase();
  await withDatabase(({ db }) => requireOrganization(db, id));
  await withBus(({ feed }) => feed.addListener(name, id).catch(explainTaken));
  print(`The consumer ${name} of ${BUS_PREFIX.toUpperCase()}_EVENTS receives the events of ${id}.`);
}
