import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../http/service.ts";
import { uploadForm } from "../knowledge/library.ts";
import { callRoute, fillPath } from "./everyRoute.ts";
import { HOLDERS } from "./permissionTable.ts";
import { expectedOutcome, isHook, openRouteWalk } from "./routeWalk.ts";

/* Walks every route of /openapi.json: with every kind of credential as docs/permissions.md says, and as another organization. */

const LOGOUT = "POST /api/auth/logout";
/** Valid content of routes that would refuse an empty body before they look for the item in their path. */
const CONTENT: Record<string, object> = {
  "PATCH /api/v1/knowledge/collections/{reference}": { name: "Theirs" },
  "PATCH /api/v1/knowledge/documents/{id}": { name: "theirs" },
  "PATCH /api/v1/knowledge/sources/{id}": { paused: true },
  "PATCH /api/workflows/{id}": { name: "theirs" },
  "POST /api/v1/knowledge/collections/{reference}/documents": uploadForm({}),
  "POST /api/v1/knowledge/collections/{reference}/documents/text": { text: "x" },
  "POST /api/v1/knowledge/collections/{reference}/sources": { kind: "url", url: "http://127.0.0.1:9/" },
};
const SEARCH = "POST /api/v1/knowledge/search";
/** Requests that name an item in their body, and the code of the answer if there is no such item. */
const NAMED_IN_BODY: [route: string, kind: string, code: string | undefined, bodyOf: (named: string) => object][] = [
  [SEARCH, "documents", "document_not_found", (id) => ({ query: "Hello", document_ids: [id] })],
  [SEARCH, "collections", "unknown_collection", (slug) => ({ query: "Hello", collections: [slug] })],
  [
    "POST /api/v1/knowledge/documents/batch",
    "collections",
    "collection_not_found",
    (collection) => ({ collection, documents: [{ text: "x" }] }),
  ],
  [
    "POST /api/v1/knowledge/verify",
    "documents",
    undefined,
    (document_id) => ({ answer: "Hello says the document.", citations: [{ document_id, seq: 0 }] }),
  ],
  ["POST /api/workflows", "definitions", "definition_not_found", (definition_id) => ({ definition_id })],
  ["POST /api/agents", "projects", "unknown_project", (project_id) => ({ name: "A", project_id })],
  ["POST /api/keys", "projects", "unknown_project", (project_id) => ({ name: "K", project_id })],
];
const walk = await openRouteWalk();

test("every route has one row in docs/permissions.md, and every row has a route", () => {
  expect(walk.routes.length).toBeGreaterThan(80);
  expect(walk.table.map(({ route }) => route)).toEqual(walk.routes.toSorted());
});

test("the lists of an organization show nothing of another organization", async () => {
  const { foreign, things } = walk.stage;
  const foreignProject = (await foreign.made(foreign.owner("POST", "/projects", { name: "P" }))).id;
  const foreignKeyOfProject = (await foreign.newKey({ project_id: foreignProject })).call;
  const named = Object.values(things).filter((value) => value.length >= 32);
  expect(named.length).toBeGreaterThan(15);
  const lists = walk.secured().filter(({ route }) => route.startsWith("GET ") && !route.includes("{"));
  expect(lists.length).toBeGreaterThan(25);
  /** A name of what has no id: a secret, a provider, a price, an alias, a group. */
  const homeName = /"home["_/]/;
  for (const { route } of lists)
    for (const call of [foreign.owner, foreign.key, foreignKeyOfProject]) {
      const { status, text } = await callRoute(call, route);
      expect(status, route).toBeLessThan(500);
      expect(text, route).not.toMatch(homeName);
      expect(
        named.filter((id) => text.includes(id)),
        route,
      ).toEqual([]);
    }
});

test("items of another organization get the same answer as unknown ones", async () => {
  const { foreign, things } = walk.stage;
  const project_id = (await foreign.made(foreign.owner("POST", "/projects", { name: "Q" }))).id;
  const ofProject = (await foreign.newKey({ project_id })).call;
  let compared = 0;
  for (const { route, holders } of walk.secured()) {
    // the hook's own token leads to it, models are everybody's, and a name that PUT writes is the caller's own organization's
    const namesOwn = route.startsWith("PUT ") && !route.includes("/members/");
    if (!route.includes("{") || isHook(route) || route.includes("/models/") || namesOwn) continue;
    const callers = [foreign.owner, ...(holders["API key"] === "yes" ? [foreign.key, ofProject] : [])];
    for (const call of callers) {
      const ask = (named?: typeof things) => callRoute(call, route, named, CONTENT[route]);
      const [unknown, answer] = [await ask(), await ask(things)];
      expect(fillPath(route, things)).not.toBe(fillPath(route));
      expect([answer.status, answer.text], route).toEqual([unknown.status, unknown.text]);
      if (route in CONTENT) expect(answer.status, route).toBe(404);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(60);
  expect(walk.routes).toEqual(expect.arrayContaining(Object.keys(CONTENT)));
  await walk.stage.expectUntouched();
});

test("items of another organization that a body names get the same answer as unknown ones", async () => {
  const { foreign, things } = walk.stage;
  for (const [route, kind, code, bodyOf] of NAMED_IN_BODY) {
    const ask = async (named: string) => {
      const { status, text, body } = await callRoute(foreign.owner, route, undefined, bodyOf(named));
      expect(body.error?.code, route).toBe(code);
      return [status, text.replaceAll(named, "NAMED")];
    };
    expect(await ask(things[kind]!), route).toEqual(await ask(kind === "collections" ? "unheard-of" : UNKNOWN));
  }
});

describe.each(HOLDERS)("the holder %s", (holder) => {
  test("is refused exactly the routes that the table forbids", async () => {
    // it would end the session of the test
    const rows = walk.table.filter(({ route, holders }) => route !== LOGOUT || holders[holder] !== "yes");
    const wanted = Object.fromEntries(rows.map(({ route, holders }) => [route, expectedOutcome(holders[holder])]));
    expect(await walk.outcomes(walk.clients[holder], rows)).toEqual(wanted);
  });
});

test("a key without access to a product is refused exactly the routes of that product", async () => {
  for (const product of ["knowledge", "extraction"]) {
    const { call } = await walk.stage.keyWith({
      products: ["knowledge", "extraction"].filter((name) => name !== product),
    });
    const answers = await walk.outcomes(
      call,
      walk.table.filter(({ holders }) => holders["API key"] === "yes"),
    );
    const refused = Object.keys(answers).filter((route) => answers[route] === "403 product_not_enabled");
    expect(refused.toSorted()).toEqual(walk.table.filter((row) => row.product === product).map(({ route }) => route));
  }
});
