import { parseStreamName } from "#events/ids.ts";
import { secretStream } from "#events/secret.ts";
import { decode, findRow, type Db } from "../projection.ts";

export interface SecretRow {
  name: string;
  /** When the organization first set it. */
  created_at: Date;
  updated_at: Date;
}

const parseRow = (row: SecretRow): SecretRow => ({ ...row, name: decode(row.name) });

/** An organization's secrets without their values, in the order in which they were first set. */
export async function listSecrets(db: Db, organization: string): Promise<SecretRow[]> {
  const rows = await db.query<SecretRow>(
    `select name, created_at, updated_at from read.secrets where organization_id = $1 and name is not null
     order by created_at, id`,
    [organization],
  );
  return rows.map(parseRow);
}

export const getSecret = (db: Db, organization: string, name: string): Promise<SecretRow | undefined> =>
  findRow(
    db,
    "select name, created_at, updated_at from read.secrets where organization_id = $1 and id = $2 and name is not null",
    [organization, parseStreamName(secretStream(organization, name)).id],
    parseRow,
  );
