import { describe, expect, test } from "vitest";
import { KeyChanged, KeyCreated, KeyDeleted } from "#events/key.ts";
import { changesOf, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/given.ts";
import { keys } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof changesOf>[2][]) => changesOf(keys, `key-${id}`, ...events);
const created = KeyCreated.of(
  {
    key_id: id,
    key_hash: "hash",
    key_hint: "abcd",
    project_id: null,
    products: ["knowledge"],
    expires_at: "2027-01-01T00:00:00.000Z",
    enabled: true,
    allowed_models: null,
  },
  { name: "CI" },
);

describe("keys", () => {
  test("a created key is a row", () => {
    expect(from(created)).toEqual([
      {
        table: "keys",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          name: '"CI"',
          key_hash: "hash",
          key_hint: "abcd",
          project_id: null,
          products: '["knowledge"]',
          enabled: true,
          expires_at: new Date("2027-01-01T00:00:00.000Z"),
          allowed_models: null,
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("an erased key leaves no row", () => {
    expect(from(erased(created))).toEqual([]);
  });

  test("a change touches what it names, and null is a value", () => {
    const changed = KeyChanged.of({ key_id: id, enabled: false, expires_at: null, allowed_models: ["a/b"] }, {});
    expect(from(changed)).toEqual([
      {
        table: "keys",
        kind: "patch",
        key: { id },
        row: { enabled: false, expires_at: null, allowed_models: '["a/b"]', updated_at: RECORDED_AT },
      },
    ]);
    expect(from(KeyChanged.of({ key_id: id }, { name: "new" }))).toMatchObject([
      { row: { name: '"new"', updated_at: RECORDED_AT } },
    ]);
    expect(from(erased(KeyChanged.of({ key_id: id }, { name: "new" })))).toMatchObject([
      { row: { updated_at: RECORDED_AT } },
    ]);
  });

  test("a deleted key's row goes", () => {
    expect(from(KeyDeleted.of({ key_id: id }))).toEqual([{ table: "keys", kind: "remove", key: { id } }]);
  });
});
