import { partsOf } from "#events/ids.ts";
import { providerStream } from "#events/provider.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface ProviderRow {
  name: string;
  /** Null: the provider's own address. */
  base_url: string | null;
  /** Models that the organization named itself. */
  models: string[] | null;
  /** Sealed under the deployment's master key (base64). */
  sealed_api_key: string;
  /** When the organization first set it. */
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = "name, base_url, models, sealed_api_key, created_at, updated_at";
type Stored = Omit<ProviderRow, "models"> & { models: string | null };
const present = (row: Stored): ProviderRow => ({
  ...row,
  name: decoded(row.name),
  base_url: decode(row.base_url),
  models: decode(row.models),
});

const STANDS = "sealed_api_key is not null";

/** An organization's provider credentials, in the order they were first set. */
export async function listProviders(db: Db, organization: string): Promise<ProviderRow[]> {
  const rows = await db.query<Stored>(
    `select ${COLUMNS} from read.providers where organization_id = $1 and ${STANDS} order by created_at, id`,
    [organization],
  );
  return rows.map(present);
}

export async function getProvider(db: Db, organization: string, name: string): Promise<ProviderRow | undefined> {
  const [row] = await db.query<Stored>(
    `select ${COLUMNS} from read.providers where organization_id = $1 and id = $2 and ${STANDS}`,
    [organization, partsOf(providerStream(organization, name)).id],
  );
  return row && present(row);
}
