import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { say } from "../http/service.ts";
import { WAITING } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

/* GET /api/find: what an id names. */

const { home: tenant, foreign: stranger } = await openTwoTenants();

const find = async (id: string, by = tenant.owner) =>
  (await tenant.made(by("GET", `/find?id=${encodeURIComponent(id)}`))).data;

test("a request is found by every id that its client received, and by its trace id", async () => {
  const answer = await tenant.key("POST", "/openai/v1/chat/completions", say("Hello"));
  const id = answer.body.id.replace("chatcmpl-", "");
  const turn = { kind: "turn", id };
  const { trace_id } = await tenant.made(tenant.owner("GET", `/turns/${id}/trace`));
  const thread = answer.headers.get("x-thread-id")!;
  for (const name of [answer.body.id, id.toUpperCase(), ` ${id} `, answer.headers.get("x-request-id")!, trace_id])
    expect(await find(name), name).toEqual([turn]);
  expect(await find(thread)).toEqual([{ kind: "thread", id: thread }, turn]);
  expect(await find(`thread-${thread}`)).toEqual([{ kind: "thread", id: thread }, turn]);
  expect(await find(answer.headers.get("x-request-id")!, stranger.owner)).toEqual([]);
  expect(await find(id, stranger.owner)).toEqual([]);
});

test("GET /find finds things, members, approvals, and the effects of a client's request id", async () => {
  const workflow = await tenant.register(WAITING);
  const run = await tenant.start(workflow);
  await tenant.until(run, ({ waiting_on }) => waiting_on.length > 0);
  const [approval] = await tenant.pending(run);
  const me = (await tenant.made(tenant.owner("GET", "/auth/me"))).user.id;
  for (const [kind, id] of [
    ["workflow", workflow.id],
    ["run", run],
    ["approval", approval.id],
    ["user", me],
  ])
    expect(await find(id), kind).toEqual([{ kind, id }]);
  const project = await tenant.made(tenant.owner("POST", "/projects", { name: "A" }, { "x-request-id": "theirs-7" }));
  expect(await find("theirs-7")).toEqual([{ kind: "project", id: project.id }]);
  expect(await find("nothing like it")).toEqual([]);
  expectRefusal(await tenant.owner("GET", "/find?id="), 400, undefined, "id");
  expectRefusal(await tenant.owner("GET", "/find?id=a%00b"), 400, undefined, "id");
  expectRefusal(await tenant.owner("GET", "/find"), 400, undefined, "id");
});
