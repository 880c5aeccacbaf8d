import { parseStreamName } from "#events/ids.ts";
import { priceStream, type ModelPrice } from "#events/price.ts";
import { mapInSlices } from "#events/slices.ts";
import { decode, findRow, type Db } from "../projection.ts";

export interface PriceRow {
  /** `provider/model`. */
  model: string;
  prices: ModelPrice[];
  /** When the organization first set it. */
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = "model, prices, created_at, updated_at";
const IS_SET = "prices is not null";
type StoredRow = Omit<PriceRow, "prices"> & { prices: string };
const parseRow = ({ model, prices, ...times }: StoredRow): PriceRow => ({
  model: decode(model),
  prices: decode(prices),
  ...times,
});

/** The prices that an organization has set, in the order in which they were first set. */
export async function listPrices(db: Db, organization: string): Promise<PriceRow[]> {
  const rows = await db.query<StoredRow>(
    `select ${COLUMNS} from read.prices where organization_id = $1 and ${IS_SET} order by created_at, id`,
    [organization],
  );
  return mapInSlices(rows, parseRow);
}

export const getPrices = (db: Db, organization: string, model: string): Promise<PriceRow | undefined> =>
  findRow(
    db,
    `select ${COLUMNS} from read.prices where organization_id = $1 and id = $2 and ${IS_SET}`,
    [organization, parseStreamName(priceStream(organization, model)).id],
    parseRow,
  );
