import { describe, expect, test } from "vitest";
import { indexKey, searchKey, type LimitedKey } from "#infra/meilisearch/limitedKey.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { openServer } from "#infra/meilisearch/server.ts";
import { searchServer } from "../../roles/searchServer.ts";
import { afterFile } from "../cleanUp.ts";
import { aPassage, anIndex } from "./passages.ts";

/* What the keys of the platform allow on a real search server. */

const foreign = "other-passages-00000001";
const its = await anIndex();
const master = openServer({ url: its.url, key: its.key });
afterFile(master.close);

const serverWith = (key: LimitedKey) => {
  const server = openServer({ url: its.url, key });
  afterFile(server.close);
  return server;
};
type Call = Parameters<typeof master.request>[0];
const call = (method: Call["method"], path: string, body?: object): Call => ({
  method,
  path,
  timeoutMs: 5_000,
  ...(body && { body }),
});
const refused = { code: "invalid_api_key" };

/** What no key of the platform may do. */
const forbidden = [
  call("GET", "/keys"),
  call("POST", "/keys", { actions: ["*"], indexes: ["*"], expiresAt: null }),
  call("POST", "/dumps"),
  call("GET", "/stats"),
  call("POST", `/indexes/${foreign}/search`, { q: "" }),
  call("POST", `/indexes/${foreign}/documents/fetch`, {}),
  call("POST", "/multi-search", { queries: [{ indexUid: foreign, q: "" }] }),
  call("DELETE", `/indexes/${foreign}`),
];

describe("the key for searching", () => {
  test("searches and reads the passages of this deployment", async () => {
    const passage = aPassage("The lighthouse keeps its light.");
    await its.put([passage]);
    const within = {
      organization_id: passage.organization_id,
      collection_ids: [passage.collection_id],
      document_ids: [],
      tags: [],
    };
    const [found] = await its.engine.search(its.id, within, [{ words: "lighthouse", matching: "all", limit: 5 }]);
    expect(found!.ids).toHaveLength(1);
    expect(await its.engine.fetch(its.id, within, found!.ids)).toMatchObject([{ text: passage.text }]);
  });
  test("cannot write, change settings, or reach another index or the keys", async () => {
    const server = serverWith(searchKey({ masterKey: its.key, prefix: its.prefix }));
    const writing = [
      call("POST", `/indexes/${its.id}/documents`, [{ pk: "x" }]),
      call("DELETE", `/indexes/${its.id}/documents`),
      call("PATCH", `/indexes/${its.id}/settings`, { stopWords: ["a"] }),
      call("DELETE", `/indexes/${its.id}`),
      call("POST", "/indexes", { uid: `${its.prefix}-passages-00000009` }),
      call("GET", "/tasks"),
    ];
    for (const one of [...forbidden, ...writing])
      await expect(server.request(one), one.path).rejects.toMatchObject(refused);
  });
});

describe("the key for indexing", () => {
  test("cannot reach or create an index of another deployment, or the keys", async () => {
    const server = serverWith(indexKey({ masterKey: its.key, prefix: its.prefix }));
    for (const one of [...forbidden, call("POST", `/indexes/${foreign}/documents`, [{ pk: "x" }])])
      await expect(server.request(one), one.path).rejects.toMatchObject(refused);
    await expect(server.request(call("POST", "/indexes", { uid: foreign }))).rejects.toMatchObject(refused);
    await expect(master.request(call("GET", `/indexes/${foreign}`))).rejects.toMatchObject({ code: "index_not_found" });
  });
  test("is created again after the server has lost it, once for concurrent requests", async () => {
    type Keys = { results: { uid: string; name: string }[] };
    const mine = async () =>
      (await master.request<Keys>(call("GET", "/keys?limit=1000"))).results.filter(
        ({ name }) => name === `${its.prefix} index`,
      );
    const [before, ...others] = await mine();
    expect(others).toEqual([]);
    await master.request(call("DELETE", `/keys/${before!.uid}`));
    const exist = await Promise.all([1, 2, 3].map(() => its.index.exists(its.id)));
    expect(exist).toEqual([true, true, true]);
    expect((await mine()).map(({ uid }) => uid)).toEqual([before!.uid]);
  });
});

test("two deployments on one server have separate keys, and a wrong master key creates none", async () => {
  const prefix = `${its.prefix}2`;
  const other = openPassageIndex({ url: its.url, key: indexKey({ masterKey: its.key, prefix }), prefix });
  afterFile(other.close);
  expect(await other.list()).toEqual([]);
  await expect(other.count(its.id)).rejects.toMatchObject(refused);
  const wrong = openSearchEngine({ url: its.url, key: searchKey({ masterKey: "wrong", prefix }) });
  afterFile(wrong.close);
  await expect(wrong.has(its.id)).rejects.toMatchObject(refused);
});

test("with MEILI_API_KEY the platform creates no keys", () => {
  const settings = { MEILI_API_KEY: "own", BUS_PREFIX: "svc" } as never;
  const addresses = { meili_url: "http://search:7700", meili_master_key: "" } as never;
  expect(searchServer({ settings, addresses }, "search")).toEqual({ url: "http://search:7700", key: "own" });
});
