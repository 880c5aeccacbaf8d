import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change, Row } from "#projections/projection.ts";
import { foldChanges, type WriteRound } from "./foldChanges.ts";

const table = "things";
type Rows = Map<string, Row>;

/** Applies the changes one after the other. */
function applyEach(rows: Rows, changes: Change[]): void {
  for (const change of changes) {
    if (change.kind === "removeWhere") removeMatching(rows, change.where);
    else applyOne(rows, change.kind, change.key, change.kind === "remove" ? {} : change.row);
  }
}

/** Applies rounds as the writer does: first the conditions, then each row once. */
function applyRounds(rows: Rows, rounds: WriteRound[]): void {
  for (const round of rounds)
    for (const { wheres, rows: pending } of round.values()) {
      for (const where of wheres) removeMatching(rows, where);
      for (const { kind, key, row } of pending.values()) applyOne(rows, kind, key, row);
    }
}

function applyOne(rows: Rows, kind: "put" | "patch" | "remove", key: Row, row: Row): void {
  const id = String(key.id);
  if (kind === "put") rows.set(id, { group: null, text: null, ...key, ...row });
  else if (kind === "patch" && rows.has(id)) rows.set(id, { ...rows.get(id), ...row });
  else if (kind === "remove") rows.delete(id);
}

function removeMatching(rows: Rows, where: Row): void {
  for (const [id, row] of rows)
    if (Object.entries(where).every(([column, value]) => row[column] === value)) rows.delete(id);
}

const key = fc.record({ id: fc.constantFrom("a", "b", "c", "d") });
const group = fc.constantFrom("red", "blue");
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    table: fc.constant(table),
    kind: fc.constant("put" as const),
    key,
    row: fc.record({ group, text: fc.string() }),
  }),
  fc.record({
    table: fc.constant(table),
    kind: fc.constant("patch" as const),
    key,
    row: fc.oneof(fc.record({ text: fc.string() }), fc.record({ group })) as fc.Arbitrary<Row>,
  }),
  fc.record({ table: fc.constant(table), kind: fc.constant("remove" as const), key }),
  fc.record({ table: fc.constant(table), kind: fc.constant("removeWhere" as const), where: fc.record({ group }) }),
);

describe("folding changes", () => {
  test("has the same effect as applying the changes one by one, whatever rows are stored", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), fc.array(change, { maxLength: 30 }), (earlier, changes) => {
        const [each, folded]: [Rows, Rows] = [new Map(), new Map()];
        applyEach(each, earlier);
        applyEach(folded, earlier);
        applyEach(each, changes);
        applyRounds(folded, foldChanges(changes));
        expect([...folded].sort()).toEqual([...each].sort());
      }),
      { numRuns: 2_000 },
    );
  });

  test("merges a put and its patches into one row", () => {
    const rounds = foldChanges([
      { table, kind: "put", key: { id: "a" }, row: { text: "one" } },
      { table, kind: "patch", key: { id: "a" }, row: { text: "two" } },
      { table, kind: "patch", key: { id: "b" }, row: { text: "other" } },
    ]);
    expect(rounds).toHaveLength(1);
    expect([...rounds[0]!.get(table)!.rows.values()]).toEqual([
      { kind: "put", key: { id: "a" }, row: { id: "a", text: "two" } },
      { kind: "patch", key: { id: "b" }, row: { text: "other" } },
    ]);
  });

  test("needs a second round only if a conditional removal follows a patch of a column in its condition", () => {
    const gone: Change = { table, kind: "removeWhere", where: { group: "red" } };
    expect(foldChanges([{ table, kind: "patch", key: { id: "a" }, row: { text: "x" } }, gone, gone])).toHaveLength(1);
    expect(foldChanges([{ table, kind: "patch", key: { id: "a" }, row: { group: "red" } }, gone])).toHaveLength(2);
  });
});
