import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openWorkflows, WAITING, type Tenant, type Workflows } from "./harness.ts";

/* Workflow routes are for builders and above who are signed in. Things of another organization are answered exactly like things that do not exist. */

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

let w: Workflows;
let home: Tenant;
let things: Things;
let viewer: Tenant["owner"];
let approver: Tenant["owner"];
let stranger: Tenant["owner"];
beforeAll(async () => {
  w = await openWorkflows();
  ({ home } = w);
  [{ call: viewer }, { call: approver }] = [await home.member("viewer"), await home.member("approver")];
  const workflow = await home.register(WAITING, {}, { name: "heliotrope" });
  const { id } = await home.hook({ id: workflow.id }, { name: "quince" });
  things = { definition: workflow.definition.id, workflow: workflow.id, trigger: id };
  stranger = (await w.join("Other")).owner;
});

const send = (call: Tenant["owner"], [method, path, , body]: Route, of: Things) => call(method, path(of), body?.(of));
type Answer = Awaited<ReturnType<Tenant["owner"]>>;
/** An answer without its date and its request id. */
const comparable = ({ status, headers, text }: Answer) => ({
  status,
  headers: [...headers].filter(([header]) => !["date", "x-request-id"].includes(header)),
  text,
});
/** The workflow and its triggers as their owner sees them. */
const readAll = async () => [
  (await home.owner("GET", `/workflows/${things.workflow}`)).body,
  (await home.owner("GET", `/workflows/${things.workflow}/triggers`)).body,
];

describe.each(ROUTES.map((route) => [`${route[0]} ${route[1](NOTHING)}`, route] as const))("%s", (_, route) => {
  const [, , absent] = route;

  test("is refused without a session", async () => {
    const before = await readAll();
    expectRefusal(await send(home.key, route, things), 403, "session_required", null);
    const bare = await fetch(`${w.url}/api` + route[1](things), { method: route[0] });
    const refused = (await bare.json()) as { error: { code: string } };
    expect([bare.status, refused.error.code]).toEqual([401, "missing_api_key"]);
    for (const [token, code] of [
      ["sess-svc-x", "invalid_session"],
      ["sk-svc-x", "invalid_api_key"],
      ["whsec-svc-x", "invalid_api_key"],
    ] as const)
      expectRefusal(await send(clientOf({ chat: `${w.url}/api` }, token), route, things), 401, code, null);
    expect(await readAll()).toEqual(before);
  });

  test("is open to viewers and approvers only for reading", async () => {
    const before = await readAll();
    for (const call of [viewer, approver]) {
      const answer = await send(call, route, things);
      if (MANAGING.includes(route)) expectRefusal(answer, 403, "forbidden", null);
      else expect(answer.status).toBe(200);
    }
    expect(await readAll()).toEqual(before);
  });

  test("gives another organization the same answers as for unknown ids", async () => {
    const before = await readAll();
    const theirs = await send(stranger, route, things);
    expect(theirs.text).not.toMatch(/heliotrope|quince/);
    expect(comparable(theirs)).toEqual(comparable(await send(stranger, route, NOTHING)));
    if (absent) expect([theirs.status, theirs.body.error.code]).toEqual([404, absent]);
    else expect(theirs.body).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
    expect(await readAll()).toEqual(before);
  });
});

test("a trigger cannot be accessed through a workflow of another organization", async () => {
  const source = "export async function run() {}";
  const { body: definition } = await stranger("POST", "/definitions", { type: "workflow", name: "mine", source });
  const { body: own } = await stranger("POST", "/workflows", { definition_id: definition.id });
  const before = await readAll();
  for (const [method, rest] of [
    ["POST", "/rotate"],
    ["DELETE", ""],
  ] as const) {
    const at = (id: string) => stranger(method, `/workflows/${own.id}/triggers/${id}${rest}`);
    const theirs = await at(things.trigger);
    expectRefusal(theirs, 404, "trigger_not_found", "trigger_id");
    expect(comparable(theirs)).toEqual(comparable(await at(UNKNOWN)));
  }
  expect(await readAll()).toEqual(before);
});

test("a builder can manage workflows and triggers", async () => {
  const { call } = await home.member("builder");
  const path = `/workflows/${(await home.register()).id}`;
  const { status, body } = await call("POST", `${path}/triggers`, {});
  expect(status).toBe(201);
  const trigger = `${path}/triggers/${body.id}`;
  expect((await call("POST", `${trigger}/rotate`)).status).toBe(200);
  expect((await call("DELETE", trigger)).status).toBe(204);
  expect((await call("PATCH", path, { name: "built" })).status).toBe(200);
  expect((await call("DELETE", path)).status).toBe(204);
  const { definition } = await home.register();
  expect((await call("POST", "/workflows", { definition_id: definition.id })).status).toBe(201);
});
