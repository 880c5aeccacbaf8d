import { randomBytes } from "node:crypto";
import pg from "pg";
import { pino } from "pino";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { migrate } from "#infra/postgres/migrate.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { createProjector } from "#infra/postgres/projector.ts";
import { projections } from "#projections/index.ts";

/** The address of another database on the same server. */
export const withDatabase = (url: string, name: string) => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

/** Runs one statement on a new connection. */
export const administer = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

export const freshName = (kind: string) => `svc_${kind}_${randomBytes(6).toString("hex")}`;

/** Builds the read models as the role `projections` does. */
const buildReadModels = async (url: string) => {
  const pool = openPool(url, { max: 4, name: "template" });
  const log = openLog(pool, openKeyring(Buffer.alloc(32)));
  const hints = { announceProjected: () => {}, onCommitted: () => () => {}, onRequested: () => () => {} };
  const projector = createProjector({ pool, log, hints, projections, logger: pino({ level: "silent" }) });
  await projector.start();
  await projector.stop();
  await pool.end();
};

/** The databases that tests clone. `migrated` has no read models; `ready` has them, which halves the start of a platform. */
export const makeTemplates = async (url: string) => {
  const [migrated, ready] = [freshName("migrated"), freshName("ready")];
  await administer(url, `create database ${migrated}`);
  await migrate(withDatabase(url, migrated));
  await administer(url, `create database ${ready} template ${migrated}`);
  await buildReadModels(withDatabase(url, ready));
  const drop = async () => {
    for (const name of [migrated, ready]) await administer(url, `drop database if exists ${name} with (force)`);
  };
  return { names: { migrated, ready }, drop };
};
