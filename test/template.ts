import { randomBytes } from "node:crypto";
import pg from "pg";
import { migrate } from "#infra/postgres/migrate.ts";

/** The address of another database on the same server. */
export const withDatabase = (url: string, name: string) => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

/** Runs one statement on a connection of its own. */
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

/** A migrated database that each test's own is cloned from. */
export const makeTemplate = async (url: string) => {
  const name = freshName("template");
  await administer(url, `create database ${name}`);
  await migrate(withDatabase(url, name));
  return { name, drop: () => administer(url, `drop database if exists ${name} with (force)`) };
};
