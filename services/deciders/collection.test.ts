import { expect, test } from "vitest";
import { CollectionChanged, CollectionCreated, CollectionDeleted, CollectionEmptied } from "#events/collection.ts";
import { command, given } from "#test/given.ts";
import { collection } from "./collection.ts";

const id = { collection_id: "k1" };
const claims = { slug_claim: "s1", name_claim: "n1" };
const named = { slug: "handbook", name: "Handbook", description: "" };
const created = CollectionCreated.of({ ...id, ...claims }, named);
const renamed = CollectionChanged.of({ ...id, renamed: { claim: "n2", released: "n1" } }, { name: "Guide" });
const deleted = CollectionDeleted.of({ ...id, ...claims });
const create = command("CreateCollection", { ...id, ...claims, ...named });
const change = (data: object) => command("ChangeCollection", { ...id, ...data });
const remove = command("DeleteCollection", id);
const empty = command("EmptyCollection", id);
const nameTaken = expect.objectContaining({
  code: "collection_exists",
  message: expect.stringContaining("this name."),
});
const slugTaken = expect.objectContaining({ code: "collection_exists", message: expect.stringContaining("slug") });

test("a collection can be created only once, and claims its slug and its name", () => {
  given(collection).when(create).then(created);
  given(collection, [created]).when(create).rejected("collection_exists");
  given(collection, [created, deleted]).when(create).rejected("collection_exists");
  expect(collection.claims!([created])).toEqual({
    hold: [
      { name: "name:n1", rejection: nameTaken },
      { name: "slug:s1", rejection: slugTaken },
    ],
    release: [],
  });
});

test("renaming a collection claims the new name, releases the old one and keeps the slug", () => {
  given(collection, [created])
    .when(change({ name: "Guide", name_claim: "n2" }))
    .then(renamed);
  expect(collection.claims!([renamed])).toEqual({
    hold: [{ name: "name:n2", rejection: nameTaken }],
    release: ["name:n1"],
  });
});

test("changing only the case of a collection's name keeps its claim", () => {
  const respelled = CollectionChanged.of({ ...id, renamed: null }, { name: "HANDBOOK" });
  given(collection, [created])
    .when(change({ name: "HANDBOOK", name_claim: "n1" }))
    .then(respelled);
  expect(collection.claims!([respelled])).toEqual({ hold: [], release: [] });
});

test("changing a collection keeps omitted fields, and an empty change has no event", () => {
  const described = CollectionChanged.of({ ...id, renamed: null }, { description: "All of it" });
  given(collection, [created])
    .when(change({ description: "All of it" }))
    .then(described);
  given(collection, [created]).when(change({})).then();
});

test("deleting a collection releases its current names, destroys its key and leaves work for its documents", () => {
  const gone = CollectionDeleted.of({ ...id, slug_claim: "s1", name_claim: "n2" });
  given(collection, [created, renamed]).when(remove).then(gone);
  expect(collection.claims!([gone])).toEqual({ hold: [], release: ["slug:s1", "name:n2"] });
  expect(collection.erases!([gone], "collection-k1")).toEqual({ things: ["collection-k1"] });
  expect(collection.workStatus!(given(collection, [created, gone]).state)).toEqual({
    status: "deleting",
    due_at: null,
    worker: null,
  });
});

test("a collection is emptied only once and only after it was deleted", () => {
  const emptied = CollectionEmptied.of(id);
  given(collection, [created]).when(empty).then();
  given(collection, [created, deleted]).when(empty).then(emptied);
  given(collection, [created, deleted, emptied]).when(empty).then();
  const { state } = given(collection, [created, deleted, emptied]);
  expect(collection.workStatus!(state)).toEqual({ status: null, due_at: null, worker: null });
});

test("a collection that never existed or is deleted cannot be changed or deleted", () => {
  for (const events of [[], [created, deleted], [created, deleted, CollectionEmptied.of(id)]]) {
    given(collection, events)
      .when(change({ name: "Guide", name_claim: "n2" }))
      .rejected("collection_not_found");
    given(collection, events).when(remove).rejected("collection_not_found");
  }
});
