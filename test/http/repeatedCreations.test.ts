import { describe, expect, test } from "vitest";
import { code, openWorkflows, workflowSource } from "../workflows/harness.ts";
import { fileForm } from "./service.ts";

/* A repetition under its Idempotency-Key finds what the first request created, even if that could not be created now. */

const w = await openWorkflows();
const { home } = w;

let keys = 0;
/** Sends a request, changes something, and sends it again: both answers, and that of the same request without its key. */
async function repeat(path: string, body: object, change: (first: { id: string }) => Promise<unknown>) {
  const headers = { "idempotency-key": `creation-${++keys}` };
  const first = await home.owner("POST", path, body, headers);
  expect([200, 201, 202], first.text).toContain(first.status);
  await change(first.body);
  const [again, other] = [await home.owner("POST", path, body, headers), await home.owner("POST", path, body)];
  return { first, again, other };
}
const idsOf = ({ first, again }: Awaited<ReturnType<typeof repeat>>) => [
  again.status,
  again.body.id ?? again.text,
  first.body.id,
];
const expectSame = (answers: Awaited<ReturnType<typeof repeat>>) => {
  const { first } = answers;
  expect(idsOf(answers)).toEqual([first.status, first.body.id, first.body.id]);
};

describe("a repeated start returns the same run although", () => {
  test("its file has since been deleted", async () => {
    const workflow = await home.register();
    const file = (await home.made(home.owner("POST", "/openai/v1/files", fileForm("words", "a.txt")))).id;
    const remove = () => home.made(home.owner("DELETE", `/openai/v1/files/${file}`));
    const answers = await repeat(`/workflows/${workflow.id}/runs`, { args: {}, files: [file] }, remove);
    expectSame(answers);
    expect(code(answers.other)).toEqual([400, "invalid_files"]);
  });

  test("its workflow no longer allows its priority", async () => {
    const workflow = await home.register(undefined, { priority: "high" });
    const lower = () => home.edit(workflow, { envelope: { priority: "low" } });
    const answers = await repeat(`/workflows/${workflow.id}/runs`, { args: {}, priority: "high" }, lower);
    expectSame(answers);
    expect(code(answers.other)).toEqual([400, "invalid_priority"]);
  });
});

describe("a repeated creation returns the same trigger although", () => {
  test("a new version refuses its default arguments", async () => {
    const withArgs = (type: string) =>
      workflowSource("", "", { args: { type: "object", properties: { n: { type } } } });
    const definition = await home.define(withArgs("integer"));
    const workflow = await home.register(undefined, {}, { definition_id: definition.id });
    const save = async () => {
      await home.made(home.owner("PATCH", `/definitions/${definition.id}`, { source: withArgs("string") }));
      await home.edit(workflow, { definition_version: null });
    };
    const answers = await repeat(`/workflows/${workflow.id}/triggers`, { default_args: { n: 1 } }, save);
    expectSame(answers);
    expect(answers.again.body).not.toHaveProperty("secret");
    expect(code(answers.other)).toEqual([400, "invalid_default_args"]);
  });

  test("the workflow of the schedule has since been disabled", async () => {
    const workflow = await home.register();
    const disable = () => home.edit(workflow, { enabled: false });
    const schedule = { cron: "0 0 1 1 *", time_zone: "UTC" };
    const answers = await repeat(`/workflows/${workflow.id}/triggers`, { schedule }, disable);
    expectSame(answers);
    expect(code(answers.other)).toEqual([409, "workflow_disabled"]);
  });
});

test("a repeated creation returns the same workflow although its project has since been deleted", async () => {
  const definition = await home.define();
  const project = await home.made(home.owner("POST", "/projects", { name: "short" }));
  const body = { definition_id: definition.id, project_id: project.id };
  const remove = async (workflow: { id: string }) => {
    await home.edit(workflow, { project_id: null });
    await home.made(home.owner("DELETE", `/projects/${project.id}`));
  };
  const answers = await repeat("/workflows", body, remove);
  expectSame(answers);
  expect(code(answers.other)).toEqual([400, "unknown_project"]);
});

test("a repeated creation returns the same agent although its collection has since been deleted", async () => {
  const { slug } = await home.made(home.owner("POST", "/v1/knowledge/collections", { name: "Short lived" }));
  const remove = () => home.made(home.owner("DELETE", `/v1/knowledge/collections/${slug}`));
  const answers = await repeat("/agents", { name: "A", model: "offline/echo", collections: [slug] }, remove);
  expectSame(answers);
  expect(answers.other.status).toBe(400);
});

describe("a repeated creation returns the same document although a reader has since left, if the document", () => {
  const setUp = async (name: string) => {
    const { slug } = await home.made(home.owner("POST", "/v1/knowledge/collections", { name }));
    const member = await home.member("viewer");
    const leave = () => home.made(home.owner("DELETE", `/members/${member.id}`));
    return { path: `/v1/knowledge/collections/${slug}/documents`, readers: [{ person: member.id }], leave };
  };

  test("is pushed", async () => {
    const { path, readers, leave } = await setUp("Pushed");
    const answers = await repeat(`${path}/text`, { text: "Words", external_id: "e", readers }, leave);
    expectSame(answers);
    expect(answers.other.status).toBe(400);
  });

  test("is uploaded", async () => {
    const { path, readers, leave } = await setUp("Uploaded");
    const upload = () => {
      const form = fileForm("words", "a.txt");
      form.set("readers", JSON.stringify(readers));
      return home.owner("POST", path, form, { "idempotency-key": "uploaded" });
    };
    const first = await upload();
    expect(first.status, first.text).toBe(202);
    await leave();
    expect((await upload()).body.id).toBe(first.body.id);
  });
});
