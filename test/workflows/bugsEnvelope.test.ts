import { beforeAll, describe, expect, test } from "vitest";
import { openWorkshop, workflowOf, type Workshop } from "./workshop.ts";

/* What bounds a run: its secrets, its limits, its project. */

let w: Workshop;
beforeAll(async () => {
  w = await openWorkshop();
});

const codeOf = ({ status, error_info }: any) => [status, error_info?.code];

describe("a secret", () => {
  const VALUE = 'canary "x\\y" 93/+=ü';
  const leaks = (text: string) =>
    [
      VALUE,
      JSON.stringify(VALUE).slice(1, -1),
      encodeURIComponent(VALUE),
      Buffer.from(VALUE).toString("base64"),
    ].filter((form) => text.includes(form));

  test.each([
    ["in a result", `return { [key]: key, list: [key + "!"], coded: encodeURIComponent(key) };`, "completed"],
    ["in an error", `throw new NonRetryableError("denied: " + key);`, "failed"],
    ["in the log", `ctx.log("key is", key); console?.log?.(key); return 1;`, "completed"],
  ])("%s is told to nobody", async (_, body, status) => {
    const { home } = w;
    await home.secret("canary", VALUE);
    const source = workflowOf(
      `const told = await ctx.runStep("tell", {}); ctx.log(told); return told;`,
      `tell: async (_, ctx) => { const console = undefined; const key = await ctx.secrets.get("canary"); ${body} }`,
      { secrets: ["canary"] },
    );
    const workflow = await home.register(source, { secrets: ["canary"] });
    const run = await home.start(workflow);
    const record = await home.over(run);
    expect(record.status, record.error).toBe(status);
    const answers = await Promise.all([
      home.api("GET", `/workflows/runs/${run}`),
      home.api("GET", `/workflows/runs/${run}/events`),
      home.api("GET", `/workflows/${workflow.id}/runs`),
    ]);
    for (const { text } of answers) expect(leaks(text)).toEqual([]);
    expect(answers[0].text).toContain("[secret canary]");
    expect(answers[1].text).toContain("[secret canary]");
  });

  test("that the envelope loses while the run waits fails at the step that asks for it", async () => {
    const { home } = w;
    await home.secret("lost", "soon-gone");
    const source = workflowOf(
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
    const record = await home.over(run);
    expect(codeOf(record)).toEqual(["failed", "secret_not_allowed"]);
    expect(record.steps.map(({ status, result }: any) => [status, result])).toEqual([
      ["completed", 9],
      ["failed", null],
    ]);
  });
});

test("limits stay as they were when a run began, whatever becomes of the envelope", async () => {
  const { home } = w;
  const source = workflowOf(
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
  expect((await home.over(before)).result).toEqual([1, 2, 3]);
  expect(codeOf(await home.over(after))).toEqual(["failed", "too_many_steps"]);
});

test("a key of a project reaches the runs of its project and of none, and no other", async () => {
  const { home } = w;
  const project = async (name: string): Promise<string> =>
    (await home.made(home.api("POST", "/projects", { name }))).id;
  const [mine, theirs] = [await project("Mine"), await project("Theirs")];
  const { key } = await home.made(home.api("POST", "/keys", { name: "K", project_id: mine }));
  const by = home.clientAt(key);
  const source = workflowOf(`return (await ctx.awaitApproval("boss", { title: "Go?" })).decided_by.type;`);
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
  for (const project_id of [mine, null]) {
    const { run, statuses } = await seen(project_id);
    expect(statuses).toEqual([202, 200, 200, 200]);
    expect((await home.over(run)).result).toBe("api_key");
  }
  const { run, statuses } = await seen(theirs);
  expect(statuses).toEqual([404, 404, 404, 404]);
  expect((await home.read(run)).status).toBe("running");
});
