import { describe, expect, test } from "vitest";
import { DefinitionCreated, DefinitionDeleted, DefinitionSaved } from "#events/definition.ts";
import { erased, ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { definitions } from "./project.ts";

const definition_id = "0198c0de-0000-7000-8000-00000000000a";
const meta = { description: "Adds", parameters: {}, secrets: [] };
const version = (number: number) => ({
  definition_id,
  version: number,
  name_claim: "claim",
  blob: `blob-${number}`,
  sha256: `hash-${number}`,
  stored_bytes: 5 * number,
});
const created = DefinitionCreated.of({ ...version(1), type: "tool" }, { name: "add", meta, grants: ["key"] });
const saved = DefinitionSaved.of({ ...version(2), type: "tool", released: "claim" }, { name: "sum", meta, grants: [] });
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(definitions, `definition-${definition_id}`, ...events);

describe("the definitions projection", () => {
  test("inserts a created definition and its first version", () => {
    expect(from(created)).toMatchObject([
      {
        table: "definitions",
        kind: "put",
        key: { id: definition_id },
        row: {
          organization_id: ORGANIZATION,
          type: "tool",
          version: 1,
          name: '"add"',
          grants: '["key"]',
          blob: "blob-1",
          stored_bytes: 5,
        },
      },
      {
        table: "definition_versions",
        kind: "put",
        key: { definition_id, version: 1 },
        row: { meta: JSON.stringify(meta), blob: "blob-1", sha256: "hash-1", created_at: RECORDED_AT },
      },
    ]);
  });

  test("replaces the columns of a saved definition, and keeps its versions", () => {
    expect(from(saved)).toMatchObject([
      {
        table: "definitions",
        kind: "patch",
        row: { version: 2, name: '"sum"', grants: "[]", sha256: "hash-2", stored_bytes: 10 },
      },
      { table: "definition_versions", kind: "put", key: { definition_id, version: 2 } },
    ]);
  });

  test("removes a deleted definition with all its versions, and has no row of an erased one", () => {
    expect(from(DefinitionDeleted.of({ definition_id, name_claim: "claim" }))).toEqual([
      { table: "definitions", kind: "remove", key: { id: definition_id } },
      { table: "definition_versions", kind: "removeWhere", where: { definition_id } },
    ]);
    expect(from(erased(created), erased(saved))).toEqual([]);
  });
});
