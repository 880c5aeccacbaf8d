import type { PriceEvent } from "#events/price.ts";
import { defineProjection, encode, streamRow } from "../projection.ts";

const change = streamRow("prices");

export const prices = defineProjection<PriceEvent>({
  name: "prices",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    PricesSet: (event) => change(event, { model: encode(event.data.model), prices: encode(event.data.prices) }),
    PricesRemoved: (event) => change(event, { model: encode(event.data.model), prices: null }),
  },
});
