import { expect, test } from "vitest";
import { MAX_ERASED_SCOPES } from "#events/erasure.ts";
import { ownerScope } from "#events/scope.ts";
import { ORGANIZATION } from "#test/projections/projectEvents.ts";
import type { Http } from "../base/deps.ts";
import { readErasedOwner } from "./erasures.ts";

/** An organization with threads of this many keys. The user has some with the seventh key. */
function readOwner(keys: number) {
  const used = ownerScope("key:7", "zoe");
  const query = async (text: string, [, scopes]: [string, string[]]) => {
    if (text.includes("unnest")) return scopes.filter((scope) => scope === used).map((scope) => ({ scope }));
    if (!text.includes("distinct principal")) return [];
    return Array.from({ length: keys }, (_, n) => ({ principal: `key:${n}`, agent_id: null }));
  };
  const http = { db: { query }, waitUntilCurrent: async () => {}, keyring: { keyedHash: () => "mark" } };
  return { used, found: readErasedOwner(http as unknown as Http, ORGANIZATION, "user:zoe") };
}

test("an external user can be erased however many keys an organization has: then only where the user has things", async () => {
  const many = readOwner(MAX_ERASED_SCOPES + 1);
  expect(await many.found).toEqual({ owner: "user:mark", scopes: [many.used], documents: [] });
  expect((await readOwner(MAX_ERASED_SCOPES).found).scopes).toHaveLength(MAX_ERASED_SCOPES);
});
