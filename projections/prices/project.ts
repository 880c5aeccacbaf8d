import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { PriceEvent } from "#events/price.ts";
import { defineProjection, encode, type Change } from "../projection.ts";

/** The first event of the stream creates the row, later ones change it. */
function change(
  { stream, version, organization_id, recorded_at }: RecordedEvent,
  model: string,
  prices: unknown,
): Change[] {
  const key = { id: parseStreamName(stream).id };
  const row = { organization_id, model: encode(model), prices: encode(prices), updated_at: recorded_at };
  return version === 1
    ? [{ table: "prices", kind: "put", key, row: { ...row, created_at: recorded_at } }]
    : [{ table: "prices", kind: "patch", key, row }];
}

export const prices = defineProjection<PriceEvent>({
  name: "prices",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    PricesSet: (event) => change(event, event.data.model, event.data.prices),
    PricesRemoved: (event) => change(event, event.data.model, null),
  },
});
