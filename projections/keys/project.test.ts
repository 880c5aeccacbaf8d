import { describe, expect, test } from "vitest";
import { KeyChanged, KeyCreated, KeyDeleted, KeyRotated } from "#events/key.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { keys } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof projectEvents>[2][]) => projectEvents(keys, `key-${id}`, ...events);
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

describe("the keys projection", () => {
  test("inserts a created key", () => {
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
          client_tools: false,
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

  test("inserts nothing for an erased key", () => {
    expect(from(erased(created))).toEqual([]);
  });

  test("patches only the changed columns, null included", () => {
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

  test("replaces only the secret of a rotated key", () => {
    const rotated = KeyRotated.of({ key_id: id, key_hash: "i", key_hint: "efgh" });
    expect(from(rotated)).toEqual([
      {
        table: "keys",
        kind: "patch",
        key: { id },
        row: { key_hash: "i", key_hint: "efgh", updated_at: RECORDED_AT },
      },
    ]);
  });

  test("removes a deleted key", () => {
    expect(from(KeyDeleted.of({ key_id: id }))).toEqual([{ table: "keys", kind: "remove", key: { id } }]);
  });
});
