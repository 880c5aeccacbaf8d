import { describe, expect, test } from "vitest";
import { SecretRemoved, SecretSet } from "#events/secret.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { secrets } from "./project.ts";

const secret_id = "0198c0de-0000-7000-8000-00000000000a";
const credential_id = "0198c0de-0000-7000-8000-00000000000b";
const key = { id: secret_id };
const set = SecretSet.of({ name: "shop_key", credential_id, ends_credential_id: null }, { sealed_value: "sealed" });
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(secrets, `secret-${secret_id}`, ...events);

describe("the secrets projection", () => {
  test("inserts a secret with its name and without its value", () => {
    const row = { organization_id: ORGANIZATION, name: '"shop_key"', updated_at: RECORDED_AT, created_at: RECORDED_AT };
    expect(from(set)).toEqual([{ table: "secrets", kind: "put", key, row }]);
  });

  test("hides the name of a removed secret, and shows the name of one that is set again", () => {
    const removed = SecretRemoved.of({ name: "shop_key", ends_credential_id: credential_id });
    expect(from(set, removed, set).slice(1)).toEqual([
      { table: "secrets", kind: "patch", key, row: { name: null, updated_at: RECORDED_AT } },
      { table: "secrets", kind: "patch", key, row: { name: '"shop_key"', updated_at: RECORDED_AT } },
    ]);
  });
});
