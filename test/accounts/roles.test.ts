import { beforeAll, describe, expect, test } from "vitest";
import { Role } from "#events/user.ts";
import { UNKNOWN } from "../hostile/target.ts";
import { openPeople, type People } from "./people.ts";

/* Every route of the service's own description that a session reaches, asked by every role. */

const EVERYBODY = Role.options;
const USERS: Role[] = ["owner", "admin", "builder", "approver"];
const BUILDERS: Role[] = ["owner", "admin", "builder"];
const ADMINS: Role[] = ["owner", "admin"];

/** What may be done by whom: the first line that fits counts, and a route that fits none is not thought of. */
const RULES: [route: RegExp, roles: Role[]][] = [
  [/^POST \/api\/auth\/(logout|password)$/, EVERYBODY],
  [/^GET \/api\/auth\/me$/, EVERYBODY],
  [/^\w+ \/api\/(keys|providers)\b/, ADMINS],
  [/^GET \/api\/(events|usage|turns\/\{id\}\/trace)$/, ADMINS],
  [/^GET \/api\/(members|projects)\b/, EVERYBODY],
  [/^\w+ \/api\/(members|projects)\b/, ADMINS],
  [/^\w+ \/api\/(definitions|secrets)\b/, BUILDERS],
  // only approvers decide, which is said with a code of its own
  [/^POST \/api\/workflows\/approvals\/\{\w+\}\/decision$/, EVERYBODY],
  [/^POST \/api\/workflows\/(runs\/\{\w+\}\/cancel|\{\w+\}\/runs)$/, USERS],
  [/^GET \/api\/(agents|workflows|workflow-definitions)\b/, EVERYBODY],
  [/^\w+ \/api\/agents\/\{agent_id\}\/v1\//, USERS],
  [/^\w+ \/api\/(agents|workflows)\b/, BUILDERS],
  [/^POST \/api\/v1\/knowledge\/search$/, EVERYBODY],
  [/^GET \/api\/(openai\/v1|v1)\//, EVERYBODY],
  [/^(POST|PATCH|DELETE) \/api\/(openai\/v1|v1)\//, USERS],
];
const METHODS = ["get", "post", "put", "patch", "delete"] as const;

let people: People;
let routes: string[];
const signedIn = {} as Record<Role, People["owner"]>;
beforeAll(async () => {
  people = await openPeople();
  for (const role of Role.options) signedIn[role] = (await people.join(role)).call;
  const { paths } = (await people.owner("GET", `${people.service.base}/openapi.json`)).body as {
    paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
  };
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]?.security?.some((by) => "session" in by || "key" in by)).map(
      (method) => `${method.toUpperCase()} ${path}`,
    ),
  );
});

const allowed = (route: string) => RULES.find(([pattern]) => pattern.test(route))?.[1];
const ask = async (route: string, call: People["owner"]) => {
  const [method, path] = route.split(" ") as [string, string];
  const filled = path.replace(/\{[^}]*\}|\*/g, UNKNOWN);
  const { status, body } = await call(method, people.service.base + filled, method === "GET" ? undefined : {});
  return status === 403 && body.error.code === "forbidden" ? "forbidden" : status;
};

test("each route has its rule, and each rule a route", () => {
  expect(routes.length).toBeGreaterThan(60);
  expect(routes.filter((route) => !allowed(route))).toEqual([]);
  const used = new Set(routes.map((route) => RULES.find(([pattern]) => pattern.test(route))));
  expect(RULES.filter((rule) => !used.has(rule))).toEqual([]);
});

describe.each(EVERYBODY)("%s", (role) => {
  test("is refused what the role may not do, and nothing else", async () => {
    for (const route of routes) {
      // it would end the session that asks
      if (route.endsWith("/auth/logout")) continue;
      const answer = await ask(route, signedIn[role]);
      if (allowed(route)!.includes(role)) expect(answer, route).not.toBe("forbidden");
      else expect(answer, route).toBe("forbidden");
      expect([401, 500], route).not.toContain(answer);
    }
  });
});

test("everybody signs out", async () => {
  for (const role of EVERYBODY) expect((await signedIn[role]("POST", "/auth/logout")).status).toBe(204);
});
