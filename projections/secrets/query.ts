import { partsOf } from "#events/ids.ts";
import { secretStream } from "#events/secret.ts";
import { decoded, type Db } from "../projection.ts";

export interface SecretRow {
  name: string;
  /** When the organization first set it. */
  created_at: Date;
  updated_at: Date;
}

const present = (row: SecretRow): SecretRow => ({ ...row, name: decoded(row.name) });

/** An organization's secrets, never their values, in the order they were first set. */
export async function listSecrets(db: Db, organization: string): Promise<SecretRow[]> {
  const rows = await db.query<SecretRow>(
    `select name, created_at, updated_at from read.secrets where organization_id = $1 and name is not null
     order by created_at, id`,
    [organization],
  );
  return rows.map(present);
}

export async function getSecret(db: Db, organization: string, name: string): Promise<SecretRow | undefined> {
  const [row] = await db.query<SecretRow>(
    "select name, created_at, updated_at from read.secrets where organization_id = $1 and id = $2 and name is not null",
    [organization, partsOf(secretStream(organization, name)).id],
  );
  return row && present(row);
}
