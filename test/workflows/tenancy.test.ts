import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openManagement, type Management } from "./manage.ts";

/* Who manages workflows: builders and above, signed in; and what belongs to another organization is like what does not exist, to the byte. */

interface Things {
  definition: string;
  workflow: string;
  trigger: string;
}
const NOTHING: Things = { definition: UNKNOWN, workflow: UNKNOWN, trigger: UNKNOWN };
type Route = [method: string, path: (things: Things) => string, absent?: string, body?: (things: Things) => unknown];

const READING: Route[] = [
  ["GET", () => "/workflow-definitions"],
  ["GET", () => "/workflows"],
  ["GET", ({ workflow }) => `/workflows/${workflow}`, "workflow_not_found"],
  ["GET", ({ workflow }) => `/workflows/${workflow}/triggers`, "workflow_not_found"],
];
const trigger = (rest: string) => (things: Things) => `/workflows/${things.workflow}/triggers/${things.trigger}${rest}`;
const MANAGING: Route[] = [
  ["POST", () => "/workflows", "definition_not_found", ({ definition }) => ({ definition_id: definition })],
  ["PATCH", ({ workflow }) => `/workflows/${workflow}`, "workflow_not_found", () => ({ name: "theirs" })],
  ["DELETE", ({ workflow }) => `/workflows/${workflow}`, "workflow_not_found"],
  ["POST", ({ workflow }) => `/workflows/${workflow}/triggers`, "workflow_not_found", () => ({})],
  ["POST", trigger("/rotate"), "workflow_not_found"],
  ["DELETE", trigger(""), "workflow_not_found"],
];
const ROUTES = [...READING, ...MANAGING];

let m: Management;
let things: Things;
let stranger: Management["person"];
beforeAll(async () => {
  m = await openManagement();
  const workflow = await m.register({ name: "heliotrope" });
  const { id } = await m.trigger(workflow.id, { name: "quince" });
  things = { definition: workflow.definition.id, workflow: workflow.id, trigger: id };
  stranger = await m.signIn(await m.service.organization("Other"));
});

const ask = (call: Management["person"], [method, path, , body]: Route, of: Things) =>
  call(method, path(of), body?.(of));
type Answer = Awaited<ReturnType<Management["person"]>>;
/** Everything of an answer but when it was given and its number. */
const bytesOf = ({ status, headers, text }: Answer) => ({
  status,
  headers: [...headers].filter(([header]) => !["date", "x-request-id"].includes(header)),
  text,
});
/** What there is, as its owner sees it. */
const standing = async () => [
  (await m.person("GET", `/workflows/${things.workflow}`)).body,
  (await m.person("GET", `/workflows/${things.workflow}/triggers`)).body,
];

describe.each(ROUTES.map((route) => [`${route[0]} ${route[1](NOTHING)}`, route] as const))("%s", (_, route) => {
  const [, , absent] = route;

  test("needs a person", async () => {
    const before = await standing();
    expectRefusal(await ask(m.key, route, things), 403, "session_required", null);
    const bare = await fetch(m.api + route[1](things), { method: route[0] });
    const refused = (await bare.json()) as { error: { code: string } };
    expect([bare.status, refused.error.code]).toEqual([401, "missing_api_key"]);
    for (const [token, code] of [
      ["sess-svc-x", "invalid_session"],
      ["sk-svc-x", "invalid_api_key"],
      ["whsec-svc-x", "invalid_api_key"],
    ] as const)
      expectRefusal(await ask(clientOf({ chat: m.api }, token), route, things), 401, code, null);
    expect(await standing()).toEqual(before);
  });

  test("is for the roles that it is for", async () => {
    const before = await standing();
    for (const role of ["viewer", "approver"])
      await m.as(role, async () => {
        const answer = await ask(m.person, route, things);
        if (MANAGING.includes(route)) expectRefusal(answer, 403, "forbidden", null);
        else expect(answer.status).toBe(200);
      });
    expect(await standing()).toEqual(before);
  });

  test("tells another organization nothing", async () => {
    const before = await standing();
    const theirs = await ask(stranger, route, things);
    expect(theirs.text).not.toMatch(/heliotrope|quince/);
    expect(bytesOf(theirs)).toEqual(bytesOf(await ask(stranger, route, NOTHING)));
    if (absent) expect([theirs.status, theirs.body.error.code]).toEqual([404, absent]);
    else expect(theirs.body).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
    expect(await standing()).toEqual(before);
  });
});

test("a trigger is not reached through another organization's workflow", async () => {
  const source = "export async function run() {}";
  const { body: definition } = await stranger("POST", "/definitions", { type: "workflow", name: "mine", source });
  const { body: own } = await stranger("POST", "/workflows", { definition_id: definition.id });
  const before = await standing();
  for (const [method, rest] of [
    ["POST", "/rotate"],
    ["DELETE", ""],
  ] as const) {
    const at = (id: string) => stranger(method, `/workflows/${own.id}/triggers/${id}${rest}`);
    const theirs = await at(things.trigger);
    expectRefusal(theirs, 404, "trigger_not_found", "trigger_id");
    expect(bytesOf(theirs)).toEqual(bytesOf(await at(UNKNOWN)));
  }
  expect(await standing()).toEqual(before);
});

test("a builder manages", async () => {
  await m.as("builder", async () => {
    const { id } = await m.register();
    const { id: made } = await m.trigger(id);
    const at = `/workflows/${id}/triggers/${made}`;
    expect((await m.person("POST", `${at}/rotate`)).status).toBe(200);
    expect((await m.person("DELETE", at)).status).toBe(204);
    expect((await m.person("PATCH", `/workflows/${id}`, { name: "built" })).status).toBe(200);
    expect((await m.person("DELETE", `/workflows/${id}`)).status).toBe(204);
  });
});
