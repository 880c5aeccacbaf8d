import fc from "fast-check";
import { expect, test } from "vitest";
import { foldChanges } from "#infra/postgres/foldChanges.ts";
import { readTables } from "#infra/postgres/tables.ts";
import { planRounds, writePlan } from "#infra/postgres/writePlan.ts";
import type { Change, Row } from "#projections/projection.ts";
import { fixture } from "./fixture.ts";

const table = "things";
const key = fc.record({ id: fc.constantFrom("a", "b", "c"), part: fc.integer({ min: 0, max: 2 }) });
const colour = fc.constantFrom("red", "blue");
const put = fc.record({
  table: fc.constant(table),
  kind: fc.constant("put" as const),
  key,
  row: fc.record({ colour, text: fc.string({ maxLength: 3 }).map((text) => text.replaceAll("\0", "")) }),
});
const remove = fc.record({ table: fc.constant(table), kind: fc.constant("remove" as const), key });
const removeWhere = fc.record({
  table: fc.constant(table),
  kind: fc.constant("removeWhere" as const),
  where: fc.oneof(
    fc.record({ colour }),
    key.map(({ id }) => ({ id })),
    key.map(({ part }) => ({ part, colour: "red" })),
  ),
});
const patch = fc.record({
  table: fc.constant(table),
  kind: fc.constant("patch" as const),
  key,
  row: fc.oneof(fc.record({ text: fc.constant("patched") }), fc.record({ colour })) as fc.Arbitrary<Row>,
});
const change: fc.Arbitrary<Change> = fc.oneof(put, remove, removeWhere, patch);
const withoutPatches: fc.Arbitrary<Change> = fc.oneof(put, remove, removeWhere);
const changes = fc.oneof(fc.array(change, { maxLength: 12 }), fc.array(withoutPatches, { maxLength: 12 }));

const rowId = ({ id, part }: Row): string => `${String(id)} ${String(part)}`;
const matches = (row: Row, where: Row): boolean =>
  Object.entries(where).every(([column, value]) => row[column] === value);

/** Applies the changes one after the other. */
function applyEach(rows: Map<string, Row>, each: Change[]): void {
  for (const one of each) {
    if (one.kind === "removeWhere") {
      for (const [id, row] of rows) if (matches(row, one.where)) rows.delete(id);
    } else if (one.kind === "remove") rows.delete(rowId(one.key));
    else if (one.kind === "put") rows.set(rowId(one.key), { ...one.key, ...one.row });
    else if (rows.has(rowId(one.key))) rows.set(rowId(one.key), { ...rows.get(rowId(one.key)), ...one.row });
  }
}

test("a batch of changes leaves the same rows as the changes one by one, whatever rows are stored", async () => {
  const f = await fixture();
  const client = await f.pool.connect();
  await client.query(`create schema batch; create table batch.things (
    id text not null, part integer not null, colour text, text text, primary key (id, part))`);
  await client.query("set plan_cache_mode = force_generic_plan");
  const target = { schema: "batch", tables: await readTables(client, "batch") };
  const write = (batch: Change[]) => writePlan(client, planRounds(target, foldChanges(batch)));
  const stored = async () => (await client.query("select * from batch.things order by id, part")).rows;
  let oneStatement = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(put, { maxLength: 6 }), changes, async (earlier, batch) => {
      const rows = new Map<string, Row>();
      await client.query("truncate batch.things");
      await write(earlier);
      applyEach(rows, [...earlier, ...batch]);
      if (planRounds(target, foldChanges(batch)).length === 1) oneStatement += 1;
      await write(batch);
      expect(await stored()).toEqual([...rows.values()].sort((a, b) => (rowId(a) < rowId(b) ? -1 : 1)));
    }),
    { numRuns: 300 },
  );
  expect(oneStatement).toBeGreaterThan(100);
  client.release();
});
