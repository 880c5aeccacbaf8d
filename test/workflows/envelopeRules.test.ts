import { describe, expect, test } from "vitest";
import { openWorkflows, workflowSource } from "./harness.ts";

/* The limits that an envelope sets for a run: its secrets, its limits, its project. */

const w = await openWorkflows();

const codeOf = ({ status, error_info }: any) => [status, error_info?.code];

describe("a secret of a run", () => {
  const VALUE = 'canary "x\\y" 93/+=ü';
  const leaks = (text: string) =>
    [
      VALUE,
      JSON.stringify(VALUE).slice(1, -1),
      encodeURIComponent(VALUE),
      Buffer.from(VALUE).toString("base64"),
      VALUE.split("").reverse().join(""),
    ].filter((form) => text.includes(form));

  test.each([
    ["the result of a step", `return { [key]: key, list: [key + "!"], coded: encodeURIComponent(key) };`, "completed"],
    ["the error of a step", `throw new NonRetryableError("denied: " + key);`, "failed"],
    ["a reversed result", `return [...key].reverse().join("");`, "completed"],
    [
      "a base64 and an error",
      `throw new NonRetryableError("denied: " + btoa(unescape(encodeURIComponent(key))));`,
      "failed",
    ],
    ["the log of a step", `ctx.log("key is", key); console?.log?.(key); return 1;`, "completed"],
  ])("is redacted in %s everywhere", async (_, body, status) => {
    const { home } = w;
    await home.secret("canary", VALUE);
    const source = workflowSource(
      `const told = await ctx.runStep("tell", {}); ctx.log(told); return told;`,
      `tell: async (_, ctx) => { const console = undefined; const key = await ctx.secrets.get("canary"); ${body} }`,
      { secrets: ["canary"] },
    );
    const workflow = await home.register(source, { secrets: ["canary"] });
    const run = await home.start(workflow);
    const record = await home.untilOver(run);
    expect(record.status, record.error).toBe(status);
    const answers = await Promise.all([
      home.owner("GET", `/workflows/runs/${run}`),
      home.owner("GET", `/workflows/runs/${run}/events`),
      home.owner("GET", `/workflows/${workflow.id}/runs`),
    ]);
    for (const { text } of answers) expect(leaks(text)).toEqual([]);
    expect(answers[0].text).toContain("[secret canary]");
    expect(answers[1].text).toContain("[secret canary]");
  });

  test("can be declared in the definition, for each workflow whose envelope allows it", async () => {
    const { home } = w;
    const definition = await home.define(workflowSource("return 1;"));
    const register = (name: string, secrets: string[]) =>
      home.register(undefined, { secrets }, { definition_id: definition.id, name });
    const [first, second] = [await register("First", ["a", "b"]), await register("Second", ["b"])];
    const read = async () => (await home.made(home.owner("GET", `/definitions/${definition.id}`))).access;
    const { secrets, results } = await read();
    expect(secrets).toEqual([
      { name: "a", workflow_id: first.id, workflow_name: "First" },
      { name: "b", workflow_id: first.id, workflow_name: "First" },
      { name: "b", workflow_id: second.id, workflow_name: "Second" },
    ]);
    // the same as docs/permissions.md says of GET /api/workflows/runs/{run_id}
    expect(results).toEqual({
      roles: ["owner", "admin", "builder", "approver", "viewer"],
      api_keys: true,
      webhooks: true,
      models: false,
    });
    await home.edit(first, { envelope: { secrets: [] } });
    expect((await read()).secrets).toEqual([{ name: "b", workflow_id: second.id, workflow_name: "Second" }]);
  });

  test("removed from the envelope during a wait fails the step that reads it", async () => {
    const { home } = w;
    await home.secret("lost", "soon-gone");
    const source = workflowSource(
      `const first = await ctx.runStep("tell", { n: 1 });
      await ctx.awaitApproval("boss", { title: "Go?" });
      return [first, await ctx.runStep("tell", { n: 2 })];`,
      `tell: async (_, ctx) => (await ctx.secrets.get("lost")).length`,
    );
    const workflow = await home.register(source, { secrets: ["lost"] });
    const run = await home.start(workflow);
    const [approval] = await home.pending(run);
    await home.edit(workflow, { envelope: { secrets: [] } });
    expect((await home.read(run)).status).toBe("running");
    await home.decide(approval);
    const record = await home.untilOver(run);
    expect(codeOf(record)).toEqual(["failed", "secret_not_allowed"]);
    expect(record.steps.map(({ status, result }: any) => [status, result])).toEqual([
      ["completed", 9],
      ["failed", null],
    ]);
  });
});

test("a run keeps its initial limits if the envelope changes", async () => {
  const { home } = w;
  const source = workflowSource(
    `await ctx.awaitApproval("boss", { title: "Go?" });
    return ctx.runStepMany("echo", args.items);`,
    `echo: (args) => args`,
  );
  const workflow = await home.register(source, { limits: { max_steps: 3 } });
  const before = await home.start(workflow, { items: [1, 2, 3] });
  await home.pending(before);
  await home.edit(workflow, { envelope: { limits: { max_steps: 2 } } });
  const after = await home.start(workflow, { items: [1, 2, 3] });
  for (const run of [before, after]) await home.decide((await home.pending(run))[0]);
  expect((await home.untilOver(before)).result).toEqual([1, 2, 3]);
  expect(codeOf(await home.untilOver(after))).toEqual(["failed", "too_many_steps"]);
});

test("a project key reaches only the runs and approvals of its project", async () => {
  const { home } = w;
  const project = async (name: string): Promise<string> =>
    (await home.made(home.owner("POST", "/projects", { name }))).id;
  const [mine, theirs] = [await project("Mine"), await project("Theirs")];
  const { key } = await home.made(home.owner("POST", "/keys", { name: "K", project_id: mine }));
  const by = home.clientAt(key);
  const source = workflowSource(`return (await ctx.awaitApproval("boss", { title: "Go?" })).decided_by.type;`);
  const seen = async (project_id: string | null) => {
    const workflow = await home.register(source, {}, { project_id });
    const run = await home.start(workflow);
    const [approval] = await home.pending(run);
    const answers = [
      await by("POST", `/workflows/${workflow.id}/runs`, { args: {} }),
      await by("GET", `/workflows/runs/${run}`),
      await by("GET", `/workflows/runs/${run}/approvals`),
      await home.decide(approval, "approve", by),
    ];
    return { run, statuses: answers.map(({ status }) => status) };
  };
  const own = await seen(mine);
  expect(own.statuses).toEqual([202, 200, 200, 200]);
  expect((await home.untilOver(own.run)).result).toBe("api_key");
  for (const project_id of [theirs, null]) {
    const { run, statuses } = await seen(project_id);
    expect(statuses).toEqual([404, 404, 404, 404]);
    expect((await home.read(run)).status).toBe("running");
  }
});
