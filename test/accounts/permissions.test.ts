import { beforeAll, describe, expect, test } from "vitest";
import { Role } from "#events/user.ts";
import { startPlatform } from "../platform.ts";
import type { Client } from "../workflows/tenant.ts";
import { callRoute, fillPath, listRoutes, openHomeAndForeign } from "./everyRoute.ts";
import { HOLDERS, readPermissions, type Holder, type Permission } from "./permissionTable.ts";

/* Walks every route of /openapi.json with every kind of credential, and compares the answers with docs/permissions.md. */

/** Status of each code with which a credential is refused. */
const REFUSALS: Record<string, number> = {
  missing_api_key: 401,
  invalid_api_key: 401,
  invalid_session: 401,
  api_key_disabled: 401,
  expired_api_key: 401,
  missing_webhook_secret: 401,
  invalid_webhook_secret: 401,
  session_required: 403,
  forbidden: 403,
  approver_not_allowed: 403,
  product_not_enabled: 403,
};
const LOGOUT = "POST /api/auth/logout";
const SIGNING_IN = new Set(["POST /api/auth/login", "POST /api/auth/start"]);

let stage: Awaited<ReturnType<typeof openHomeAndForeign>>;
let table: Permission[];
let routes: string[];
let clients: Record<Holder, Client>;
beforeAll(async () => {
  const platform = await startPlatform();
  stage = await openHomeAndForeign(platform);
  [table, routes] = [readPermissions(), await listRoutes(platform.url)];
  const { home, things, keyWith } = stage;
  const roles = Object.fromEntries(
    await Promise.all(Role.options.map(async (role) => [role, (await home.member(role)).call] as const)),
  ) as Record<Role, Client>;
  const nobody: Client = (method, path, body, headers) =>
    home.key(method, path, body, { ...headers, authorization: "" });
  clients = {
    ...roles,
    nobody,
    "API key": home.key,
    "project key": (await keyWith({ project_id: things["projects"] })).call,
    "webhook secret": home.clientAt(things["hook_secret"]!),
  };
});

const isHook = (route: string): boolean => route.includes("/hooks/");
/** Routes whose answer depends on a credential of the table. */
const secured = () => table.filter(({ route }) => !SIGNING_IN.has(route) && !route.includes("/approval-links/"));
/** The refusal of a credential with its status, or `allowed`. */
const outcome = async (call: Client, route: string, things?: Record<string, string>): Promise<string> => {
  const { status, body, text } = await callRoute(call, route, things);
  expect(status, `${route}: ${text}`).toBeLessThan(500);
  const code = body?.error?.code as string | undefined;
  return code !== undefined && code in REFUSALS ? `${status} ${code}` : "allowed";
};
const expected = (cell: string): string => (cell === "yes" || cell === "own" ? "allowed" : `${REFUSALS[cell]} ${cell}`);
/** Hooks and approvals check their credential once they are found; every other route checks it before. */
const thingsFor = (route: string) =>
  isHook(route) || route.endsWith("{approval_id}/decision") ? stage.things : undefined;

/** Routes that are called at the same time. */
const AT_ONCE = 8;
/** What every route answers, by route. */
async function outcomes(call: Client, rows: Permission[]): Promise<Record<string, string>> {
  const waiting = [...rows];
  const found: Record<string, string> = {};
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift())
      found[row.route] = await outcome(call, row.route, thingsFor(row.route));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

test("every route has one row in docs/permissions.md, and every row has a route", () => {
  expect(routes.length).toBeGreaterThan(80);
  expect(table.map(({ route }) => route)).toEqual(routes.toSorted());
});

describe.each(HOLDERS)("the holder %s", (holder) => {
  test("is refused exactly the routes that the table forbids", async () => {
    // it would end the session of the test
    const rows = table.filter(({ route, holders }) => route !== LOGOUT || holders[holder] !== "yes");
    const wanted = Object.fromEntries(rows.map(({ route, holders }) => [route, expected(holders[holder])]));
    expect(await outcomes(clients[holder], rows)).toEqual(wanted);
  });
});

test("a key without access to a product is refused exactly the routes of that product", async () => {
  for (const product of ["knowledge", "extraction"]) {
    const { call } = await stage.keyWith({ products: ["knowledge", "extraction"].filter((name) => name !== product) });
    const answers = await outcomes(
      call,
      table.filter(({ holders }) => holders["API key"] === "yes"),
    );
    const refused = Object.keys(answers).filter((route) => answers[route] === "403 product_not_enabled");
    expect(refused.toSorted()).toEqual(table.filter((row) => row.product === product).map(({ route }) => route));
  }
});

test("items of another project, or of no project, are hidden from a project key", async () => {
  const call = clients["project key"];
  const own = table.filter(({ holders }) => holders["project key"] === "own");
  expect(own.length).toBeGreaterThan(8);
  for (const { route } of own) {
    const unknown = await callRoute(call, route);
    expect(unknown.status, route).toBe(404);
    for (const things of [stage.inOtherProject, stage.inNoProject]) {
      const { status, text } = await callRoute(call, route, things);
      expect([status, text], route).toEqual([404, unknown.text]);
    }
    // its own exist: the answer is about something else, such as the empty body
    const { text } = await callRoute(call, route, stage.things);
    expect(text, route).not.toBe(unknown.text);
  }
});

test("a key without a project reaches items of every project and of none", async () => {
  for (const { route } of table.filter(
    ({ holders }) => holders["project key"] === "own" && holders["API key"] === "yes",
  )) {
    const unknown = await callRoute(clients["API key"], route);
    for (const things of [stage.inOtherProject, stage.inNoProject]) {
      const { text } = await callRoute(clients["API key"], route, things);
      expect(text, route).not.toBe(unknown.text);
    }
  }
});

test("a caller with read access can read every item of the organization", async () => {
  for (const holder of HOLDERS) {
    const rows = secured().filter(({ route, holders }) => route.startsWith("GET ") && holders[holder] === "yes");
    for (const { route } of rows) {
      const { status, text } = await callRoute(clients[holder], route, stage.things);
      expect([401, 403, 500], `${holder}: ${route}: ${text}`).not.toContain(status);
    }
  }
});

test("the lists of an organization show nothing of another organization", async () => {
  const { foreign, things } = stage;
  const foreignProject = (await foreign.made(foreign.owner("POST", "/projects", { name: "P" }))).id;
  const foreignKeyOfProject = (await foreign.newKey({ project_id: foreignProject })).call;
  const named = Object.values(things).filter((value) => value.length >= 32);
  expect(named.length).toBeGreaterThan(15);
  const lists = secured().filter(({ route }) => route.startsWith("GET ") && !route.includes("{"));
  expect(lists.length).toBeGreaterThan(25);
  for (const { route } of lists)
    for (const call of [foreign.owner, foreign.key, foreignKeyOfProject]) {
      const { status, text } = await callRoute(call, route);
      expect(status, route).toBeLessThan(500);
      expect(
        named.filter((id) => text.includes(id)),
        route,
      ).toEqual([]);
    }
});

test("items of another organization get the same answer as unknown ones", async () => {
  const { foreign, things } = stage;
  const project_id = (await foreign.made(foreign.owner("POST", "/projects", { name: "Q" }))).id;
  const ofProject = (await foreign.newKey({ project_id })).call;
  let compared = 0;
  for (const { route, holders } of secured()) {
    // the hook's own token leads to it, models are everybody's, and a name that PUT writes is the caller's own organization's
    const namesOwn = route.startsWith("PUT ") && !route.includes("/members/");
    if (!route.includes("{") || isHook(route) || route.includes("/models/") || namesOwn) continue;
    const callers = [foreign.owner, ...(holders["API key"] === "yes" ? [foreign.key, ofProject] : [])];
    for (const call of callers) {
      const [unknown, answer] = [await callRoute(call, route), await callRoute(call, route, things)];
      expect(fillPath(route, things)).not.toBe(fillPath(route));
      expect([answer.status, answer.text], route).toEqual([unknown.status, unknown.text]);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(60);
  await stage.expectUntouched();
});

test("every route refuses a deleted, expired or ended key or session", async () => {
  const { home, keyWith } = stage;
  const [deleted, disabled, expired, rotated] = [
    await keyWith({}),
    await keyWith({}),
    await keyWith({}),
    await keyWith({}),
  ];
  const [left, removed, inactive, renewed] = [
    await home.member("admin"),
    await home.member("admin"),
    await home.member("admin"),
    await home.member("admin"),
  ];
  const past = new Date(Date.now() - 1_000).toISOString();
  await home.made(home.owner("PATCH", `/keys/${expired.id}`, { expires_at: past }));
  await home.made(home.owner("POST", `/keys/${rotated.id}/rotate`));
  await home.made(home.owner("PATCH", `/members/${inactive.id}`, { active: false }));
  await home.made(home.owner("POST", `/members/${renewed.id}/password`));
  await home.made(home.owner("DELETE", `/keys/${deleted.id}`));
  await home.made(home.owner("PATCH", `/keys/${disabled.id}`, { enabled: false }));
  await home.made(left.call("POST", "/auth/logout"));
  await home.made(home.owner("DELETE", `/members/${removed.id}`));
  const revoked: [Client, string][] = [
    [deleted.call, "401 invalid_api_key"],
    [disabled.call, "401 api_key_disabled"],
    [expired.call, "401 expired_api_key"],
    [rotated.call, "401 invalid_api_key"],
    [inactive.call, "401 invalid_session"],
    [renewed.call, "401 invalid_session"],
    [left.call, "401 invalid_session"],
    [removed.call, "401 invalid_session"],
  ];
  for (const [call, refusal] of revoked) {
    const wanted = secured().map(({ route }) => [route, isHook(route) ? "401 invalid_webhook_secret" : refusal]);
    expect(await outcomes(call, secured())).toEqual(Object.fromEntries(wanted));
  }
});

test("every role can sign out", async () => {
  for (const role of Role.options) expect((await clients[role]("POST", "/auth/logout")).status).toBe(204);
});
