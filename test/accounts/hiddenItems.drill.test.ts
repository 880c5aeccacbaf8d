import { expect, test } from "vitest";
import { Role } from "#events/user.ts";
import type { Client } from "../workflows/tenant.ts";
import { callRoute } from "./everyRoute.ts";
import { HOLDERS } from "./permissionTable.ts";
import { isHook, openRouteWalk } from "./routeWalk.ts";

/* What routes answer about items of other projects, and to credentials that have ended. */

const walk = await openRouteWalk();

test("items of another project, or of no project, are hidden from a project key", async () => {
  const call = walk.clients["project key"];
  const own = walk.table.filter(({ holders }) => holders["project key"] === "own");
  expect(own.length).toBeGreaterThan(8);
  for (const { route } of own) {
    const unknown = await callRoute(call, route);
    expect(unknown.status, route).toBe(404);
    for (const things of [walk.stage.inOtherProject, walk.stage.inNoProject]) {
      const { status, text } = await callRoute(call, route, things);
      expect([status, text], route).toEqual([404, unknown.text]);
    }
    // its own exist: the answer is about something else, such as the empty body
    const { text } = await callRoute(call, route, walk.stage.things);
    expect(text, route).not.toBe(unknown.text);
  }
});

test("a key without a project reaches items of every project and of none", async () => {
  for (const { route } of walk.table.filter(
    ({ holders }) => holders["project key"] === "own" && holders["API key"] === "yes",
  )) {
    const unknown = await callRoute(walk.clients["API key"], route);
    for (const things of [walk.stage.inOtherProject, walk.stage.inNoProject]) {
      const { text } = await callRoute(walk.clients["API key"], route, things);
      expect(text, route).not.toBe(unknown.text);
    }
  }
});

test("a caller with read access can read every item of the organization", async () => {
  for (const holder of HOLDERS) {
    const rows = walk.secured().filter(({ route, holders }) => route.startsWith("GET ") && holders[holder] === "yes");
    for (const { route } of rows) {
      const { status, text } = await callRoute(walk.clients[holder], route, walk.stage.things);
      expect([401, 403, 500], `${holder}: ${route}: ${text}`).not.toContain(status);
    }
  }
});

test("every route refuses a deleted, expired or ended key or session", async () => {
  const { home, keyWith } = walk.stage;
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
    const wanted = walk.secured().map(({ route }) => [route, isHook(route) ? "401 invalid_webhook_secret" : refusal]);
    expect(await walk.outcomes(call, walk.secured())).toEqual(Object.fromEntries(wanted));
  }
});

test("every role can sign out", async () => {
  for (const role of Role.options) expect((await walk.clients[role]("POST", "/auth/logout")).status).toBe(204);
});
