import { expect, test } from "vitest";
import { PricesRemoved, PricesSet, priceStream, type ModelPrice } from "#events/price.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { prices } from "./project.ts";

const model = "acme/large";
const list: ModelPrice[] = [{ valid_from: null, input: "1", output: "2.5" }];

test("the prices projection keeps the row of removed prices, without the list", () => {
  const stream = priceStream(ORGANIZATION, model);
  const changes = projectEvents(prices, stream, PricesSet.of({ model, prices: list }), PricesRemoved.of({ model }));
  const table = { table: "prices", key: { id: stream.slice("price-".length) } };
  const row = { model: JSON.stringify(model), updated_at: RECORDED_AT };
  const created = { organization_id: ORGANIZATION, created_at: RECORDED_AT };
  expect(changes).toEqual([
    { ...table, kind: "put", row: { ...row, ...created, prices: JSON.stringify(list) } },
    { ...table, kind: "patch", row: { ...row, prices: null } },
  ]);
});
