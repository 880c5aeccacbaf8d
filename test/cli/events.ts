import { newId, streamName } from "#events/ids.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { afterFile } from "#test/cleanUp.ts";
import { change, named } from "#test/log/log.ts";
import { openCommandLine } from "./svc.ts";

/** Appends eight events: the ends of six sessions, an organization with a sealed name, the end of a session of another organization. */
export async function appendEightEvents(url: string, key: Uint8Array) {
  const pool = openPool(url, { max: 2, name: "test" });
  afterFile(() => pool.end());
  const log = openLog(pool, openKeyring(key));
  const sessions = Array.from({ length: 6 }, () => streamName("session", newId()));
  for (const stream of sessions) await log.append(change(stream));
  const organization = named("Ada & Söhne \u2028 \u009b31m");
  await log.append(change(organization.stream, organization));
  const other = newId();
  await log.append(change(streamName("session", newId()), { organization: other }));
  return { pool, log, sessions, organization: organization.stream, other };
}

export type CommandLine = Awaited<ReturnType<typeof openCommandLine>>;
export type EightEvents = Awaited<ReturnType<typeof appendEightEvents>>;

/** A command line on a log of eight events. */
export async function openWithEightEvents(): Promise<{ cli: CommandLine; its: EightEvents }> {
  const cli = await openCommandLine();
  return { cli, its: await appendEightEvents(cli.database.url, cli.key) };
}
