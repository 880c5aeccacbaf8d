import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { columnArray } from "#infra/postgres/columnArray.ts";
import type { ColumnValue } from "#projections/projection.ts";
import { fixture } from "./fixture.ts";

const long = "ä€😀\\\"',{}\n".repeat(10_000);
const id = newId();
/** Values by type; the second list has one that only PostgreSQL itself can read. */
const values: Record<string, [ColumnValue[], ColumnValue[]?]> = {
  text: [
    ["", "a", "a", null, null, "NULL", "ä€😀", '{"a":"\\\\"}', "x".repeat(48), "ä".repeat(49), long, long, "last"],
  ],
  uuid: [
    [id, id, null, newId(), id.toUpperCase()],
    [id, `{${id}}`],
  ],
  boolean: [[true, false, false, null, true]],
  integer: [
    [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), null],
    [1, "2"],
  ],
  bigint: [[0, 1, -1, 2 ** 32, 2 ** 32 - 1, -(2 ** 32) - 5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null]],
  "timestamp with time zone": [
    [
      new Date(0),
      new Date("1999-12-31T23:59:59.999Z"),
      new Date("2000-01-01"),
      new Date("2026-02-03T04:05:06.789Z"),
      null,
    ],
    [new Date(5), "2026-02-03T04:05:06.123456Z"],
  ],
  numeric: [[0.1, 12, null, "1e-9"]],
};

test("PostgreSQL reads a binary column with the same values as one by one", async () => {
  const f = await fixture();
  for (const [type, lists] of Object.entries(values))
    for (const [n, list] of lists.entries()) {
      const array = columnArray(
        type,
        list!.map((value) => ({ value })),
        "value",
      );
      expect([type, Buffer.isBuffer(array)]).toEqual([type, n === 0 && type !== "numeric"]);
      const { rows } = await f.pool.query(
        `select u::text as value from unnest($1::${type}[]) with ordinality o(u, n) order by n`,
        [array],
      );
      const single: unknown[] = [];
      for (const value of list!)
        single.push((await f.pool.query(`select $1::${type}::text as value`, [value])).rows[0].value);
      expect(rows.map(({ value }) => value)).toEqual(single);
    }
});

test("half a surrogate pair becomes a replacement character, and a NUL is refused as invalid data", async () => {
  const f = await fixture();
  const read = async (text: string) =>
    (await f.pool.query("select u from unnest($1::text[]) u", [columnArray("text", [{ text }], "text")])).rows;
  expect(await read("a\ud800b")).toEqual([{ u: "a\ufffdb" }]);
  await expect(read("a\0b")).rejects.toMatchObject({ code: "22021" });
});
