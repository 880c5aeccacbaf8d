import { describe, expect, test } from "vitest";
import { CollectionChanged, CollectionCreated, CollectionDeleted, CollectionEmptied } from "#events/collection.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { collections } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(collections, `collection-${id}`, ...events);
const claims = { slug_claim: "s", name_claim: "n" };
const created = CollectionCreated.of(
  { collection_id: id, ...claims },
  { slug: "hand-book", name: "Hand Book\u0000", description: "" },
);

describe("the collections projection", () => {
  test("inserts a created collection with a case-insensitive name key, and nothing if it was erased", () => {
    expect(from(created)).toEqual([
      {
        table: "collections",
        kind: "put",
        key: { id },
        row: {
          organization_id: ORGANIZATION,
          slug: "hand-book",
          name: '"Hand Book\\u0000"',
          name_key: '"hand book\\u0000"',
          description: '""',
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
    ]);
    expect(from(erased(created))).toEqual([]);
  });

  test("patches only the changed columns", () => {
    const renamed = CollectionChanged.of({ collection_id: id, renamed: null }, { name: "ＦＡＱ" });
    expect(from(renamed)).toEqual([
      {
        table: "collections",
        kind: "patch",
        key: { id },
        row: { name: '"ＦＡＱ"', name_key: '"faq"', updated_at: RECORDED_AT },
      },
    ]);
    const described = CollectionChanged.of({ collection_id: id, renamed: null }, { description: "d" });
    expect(from(described)).toMatchObject([{ row: { description: '"d"', updated_at: RECORDED_AT } }]);
    expect(from(erased(described))).toMatchObject([{ row: { updated_at: RECORDED_AT } }]);
  });

  test("removes a deleted collection, and changes nothing when it is emptied", () => {
    expect(
      from(CollectionDeleted.of({ collection_id: id, ...claims }), CollectionEmptied.of({ collection_id: id })),
    ).toEqual([{ table: "collections", kind: "remove", key: { id } }]);
  });
});
