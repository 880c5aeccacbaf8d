import { parseStreamName } from "#events/ids.ts";
import { providerStream, type ProviderFormat } from "#events/provider.ts";
import { mapInSlices } from "#events/slices.ts";
import { decode, decodeOrNull, encode, findRow, type Db } from "../projection.ts";

export interface ProviderRow {
  name: string;
  /** Null: the provider's default address. */
  base_url: string | null;
  /** Models that the organization added. */
  models: string[] | null;
  /** Its API format; absent: derived from its name. */
  format?: ProviderFormat;
  /** Context windows by model name; null: the published ones. */
  context_windows: Record<string, number> | null;
  /** For a search endpoint: its model; otherwise null. */
  model: string | null;
  dimensions: number | null;
  /** Sealed with the deployment's master key (base64). */
  sealed_api_key: string;
  /** When the organization first set it. */
  created_at: Date;
  updated_at: Date;
}

const COLUMNS =
  "name, base_url, models, format, context_windows, model, dimensions, sealed_api_key, created_at, updated_at";
type StoredRow = Omit<ProviderRow, "models" | "format" | "context_windows" | "model"> & {
  models: string | null;
  format: ProviderFormat | null;
  context_windows: string | null;
  model: string | null;
};
const parseRow = ({ format, ...row }: StoredRow): ProviderRow => ({
  ...row,
  ...(format && { format }),
  name: decode(row.name),
  base_url: decodeOrNull(row.base_url),
  models: decodeOrNull(row.models),
  context_windows: decodeOrNull(row.context_windows),
  model: decodeOrNull(row.model),
});

const IS_CONFIGURED = "sealed_api_key is not null";

/** An organization's provider credentials, in the order in which they were first set. */
export async function listProviders(db: Db, organization: string): Promise<ProviderRow[]> {
  const rows = await db.query<StoredRow>(
    `select ${COLUMNS} from read.providers where organization_id = $1 and ${IS_CONFIGURED} order by created_at, id`,
    [organization],
  );
  return mapInSlices(rows, parseRow);
}

/** Organizations that have configured a search endpoint of this name, and when they did so last. */
export const listOrganizationsWith = (db: Db, name: string): Promise<{ id: string; configured_at: Date }[]> =>
  db.query(
    `select organization_id as id, updated_at as configured_at from read.providers
     where name = $1 and model is not null and ${IS_CONFIGURED}`,
    [encode(name)],
  );

export const getProvider = (db: Db, organization: string, name: string): Promise<ProviderRow | undefined> =>
  findRow(
    db,
    `select ${COLUMNS} from read.providers where organization_id = $1 and id = $2 and ${IS_CONFIGURED}`,
    [organization, parseStreamName(providerStream(organization, name)).id],
    parseRow,
  );
