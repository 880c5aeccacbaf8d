import { beforeAll, describe, expect, test } from "vitest";
import { fileForm } from "../http/service.ts";
import { code, openWorkflows, WAITING, workflowSource } from "../workflows/harness.ts";

/* Numbers that a double cannot hold are refused where callers hand data to runs, tools and documents: rounded, an id names something else. */

const w = await openWorkflows();
const { owner, key, made } = w.home;

const ODD = "9007199254740993";
const names = { agent: "", collection: "", document: "", workflow: "", ended: "", approval: "" };
beforeAll(async () => {
  names.agent = await w.home.newAgent();
  names.collection = (await made(owner("POST", "/v1/knowledge/collections", { name: "Exact" }))).slug;
  const texts = `/v1/knowledge/collections/${names.collection}/documents/text`;
  names.document = (await made(owner("POST", texts, { text: "x" }))).id;
  names.workflow = (await w.home.register(WAITING)).id;
  const run = await w.home.start({ id: names.workflow });
  await w.home.until(run, ({ waiting_on }) => waiting_on.length > 0);
  names.approval = (await w.home.approvals(run))[0].id;
  names.ended = (await w.home.run(workflowSource("return 1"))).id;
});

describe("a number that would be rounded is refused and named in", () => {
  type Case = [title: string, path: () => string, body: string, param: string, code?: string];
  const schedule = '"schedule":{"cron":"0 9 * * *"}';
  const cases: Case[] = [
    [
      "arguments of a run",
      () => `/workflows/${names.workflow}/runs`,
      `{"args":{"id":${ODD}}}`,
      "args.id",
      "invalid_args",
    ],
    ["arguments of a fork", () => `/workflows/runs/${names.ended}/fork`, `{"args":{"a":[1,${ODD}]}}`, "args.a[1]"],
    ["an event", () => "/workflows/events", `{"name":"paid","data":{"x":1e400}}`, "data.x"],
    [
      "default arguments",
      () => `/workflows/${names.workflow}/triggers`,
      `{"name":"T","default_args":{"id":${ODD}}}`,
      "default_args.id",
      "invalid_default_args",
    ],
    [
      "a schedule",
      () => `/workflows/${names.workflow}/triggers`,
      `{"name":"T",${schedule},"args":{"id":${ODD}}}`,
      "args.id",
      "invalid_args",
    ],
    [
      "a decision",
      () => `/workflows/approvals/${names.approval}/decision`,
      `{"decision":"approve","data":{"id":${ODD}}}`,
      "data.id",
      "invalid_data",
    ],
    [
      "metadata of a text",
      () => `/v1/knowledge/collections/${names.collection}/documents/text`,
      `{"text":"y","metadata":{"id":${ODD}}}`,
      "metadata.id",
    ],
    [
      "vars",
      () => `/agents/${names.agent}/v1/responses`,
      `{"input":"x","vars":{"id":${ODD}}}`,
      "vars.id",
      "invalid_vars",
    ],
    [
      "metadata of a chat",
      () => "/openai/v1/chat/completions",
      `{"model":"offline/echo","messages":[{"role":"user","content":"x"}],"metadata":{"id":${ODD}}}`,
      "metadata.id",
    ],
  ];
  test.each(cases)("%s", async (_, path, body, param, wanted) => {
    const answer = await owner("POST", path(), body);
    expect([...code(answer), answer.body.error.param]).toEqual([400, wanted, param]);
    expect(answer.body.error.message).toContain("as text");
  });

  test("changed metadata of a document, and metadata of an upload", async () => {
    const changed = await owner("PATCH", `/v1/knowledge/documents/${names.document}`, `{"metadata":{"id":${ODD}}}`);
    expect([changed.status, changed.body.error.param]).toEqual([400, "metadata.id"]);
    const form = fileForm("z", "z.txt", { fields: { metadata: `{"id":${ODD}}` } });
    const sent = await owner("POST", `/v1/knowledge/collections/${names.collection}/documents`, form);
    expect([sent.status, sent.body.error.param]).toEqual([400, "metadata"]);
  });
});

test("exactly representable numbers arrive unchanged", async () => {
  const { id } = await w.home.register(workflowSource("return args"));
  const { id: run } = await made(
    key("POST", `/workflows/${id}/runs`, '{"args":{"most":9007199254740991,"far":6.02e23}}'),
  );
  expect((await w.home.untilOver(run)).result).toEqual({ most: 9007199254740991, far: 6.02e23 });
});

test("a webhook's numbers arrive as text with all digits, because its sender cannot change them", async () => {
  const workflow = await w.home.register(workflowSource("return args"));
  const payload = `{"id":${ODD},"list":[{"id":-${ODD}}],"n":7}`;
  const arrived = { id: ODD, list: [{ id: `-${ODD}` }], n: 7 };
  const hook = await w.home.hook(workflow);
  const { run_id } = await made(w.home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, payload));
  expect((await w.home.polled(hook, run_id)).result).toEqual(arrived);
});
