import { beforeAll, describe, expect, test } from "vitest";
import { HOLDERS } from "./permissionTable.ts";
import { expectedOutcome, openRouteWalk } from "./routeWalk.ts";

/* Walks every route of /openapi.json with every kind of credential, and compares the answers with docs/permissions.md. */

const LOGOUT = "POST /api/auth/logout";
let walk: Awaited<ReturnType<typeof openRouteWalk>>;
beforeAll(async () => {
  walk = await openRouteWalk();
});

test("every route has one row in docs/permissions.md, and every row has a route", () => {
  expect(walk.routes.length).toBeGreaterThan(80);
  expect(walk.table.map(({ route }) => route)).toEqual(walk.routes.toSorted());
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
