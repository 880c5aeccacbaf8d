import { expect, test } from "vitest";
import { DefinitionCreated, DefinitionDeleted, DefinitionSaved } from "#events/definition.ts";
import { SecretRemoved, SecretSet } from "#events/secret.ts";
import { command, given } from "#test/given.ts";
import { definition } from "./definition.ts";
import { secret } from "./secret.ts";

const words = { name: "lookup", meta: { description: "", parameters: {}, secrets: ["key"] }, grants: ["key"] };
const saved = { definition_id: "d1", name_claim: "n1", blob: "o/definition-d1/1", sha256: "h" };
const created = DefinitionCreated.of({ ...saved, type: "tool", version: 1, stored_bytes: 5 }, words);

test("every save of a definition is a new version that adds to the stored bytes, and a new name releases the old one", () => {
  given(definition)
    .when(command("CreateDefinition", { ...saved, type: "tool", size_bytes: 5, ...words }))
    .then(created);
  expect(definition.claims!([created])).toMatchObject({
    hold: [{ name: "definition:n1", rejection: { code: "definition_exists" } }],
    release: [],
  });
  const second = { type: "tool" as const, version: 2, stored_bytes: 12 };
  const same = DefinitionSaved.of({ ...saved, blob: "b2", ...second, released: null }, words);
  given(definition, [created])
    .when(command("SaveDefinition", { ...saved, blob: "b2", size_bytes: 7, ...words }))
    .then(same);
  expect(definition.claims!([same])).toEqual({ hold: [], release: [] });
  // sent by a process that does not count yet
  const third = { type: "tool" as const, version: 3, stored_bytes: 12 };
  const renamed = DefinitionSaved.of({ ...saved, name_claim: "n2", ...third, released: "n1" }, words);
  given(definition, [created, same])
    .when(command("SaveDefinition", { ...saved, name_claim: "n2", ...words }))
    .then(renamed);
  expect(definition.claims!([renamed])).toMatchObject({
    hold: [{ name: "definition:n2" }],
    release: ["definition:n1"],
  });
});

test("a definition has at most 10,000 versions, and can then be deleted", () => {
  const last = DefinitionSaved.of({ ...saved, type: "tool", version: 10_000, released: null }, words);
  given(definition, [created, last])
    .when(command("SaveDefinition", { ...saved, ...words }))
    .rejected("too_many_versions");
  given(definition, [created, last])
    .when(command("DeleteDefinition", { definition_id: "d1" }))
    .then(DefinitionDeleted.of({ definition_id: "d1", name_claim: "n1" }));
});

test("deleting a definition releases its name and destroys its key", () => {
  const deleted = DefinitionDeleted.of({ definition_id: "d1", name_claim: "n1" });
  given(definition, [created])
    .when(command("DeleteDefinition", { definition_id: "d1" }))
    .then(deleted);
  expect(definition.claims!([deleted])).toEqual({ hold: [], release: ["definition:n1"] });
  expect(definition.erases!([deleted], "definition-d1")).toEqual({ things: ["definition-d1"] });
  given(definition, [created, deleted])
    .when(command("SaveDefinition", { ...saved, ...words }))
    .rejected("definition_not_found");
});

test("the state of a secret holds its value until it is replaced or removed", () => {
  const set = SecretSet.of({ name: "key", credential_id: "c1", ends_credential_id: null }, { sealed_value: "sealed" });
  given(secret)
    .when(command("SetSecret", { name: "key", credential_id: "c1", sealed_value: "sealed" }))
    .then(set);
  expect(given(secret, [set]).state).toEqual({ status: "set", credential_id: "c1", sealed_value: "sealed" });
  const removed = SecretRemoved.of({ name: "key", ends_credential_id: "c1" });
  given(secret, [set])
    .when(command("RemoveSecret", { name: "key" }))
    .then(removed);
  expect(secret.erases!([removed], "secret-s")).toEqual({ things: ["credential-c1"] });
  given(secret, [set, removed])
    .when(command("RemoveSecret", { name: "key" }))
    .rejected("secret_not_found");
});
