import { beforeAll, describe, expect, test } from "vitest";
import { openPlatform } from "../sharedPlatform.ts";
import { code, openTenant, SOON, UNKNOWN, workflowSource, type Client, type Tenant } from "../workflows/tenant.ts";
import { ageRuns } from "./ageRuns.ts";

let home: Tenant;
let platform: Awaited<ReturnType<typeof openPlatform>>["platform"];
beforeAll(async () => {
  ({ platform } = await openPlatform());
});

const upload = (by: Client) => home.upload("Hello", by);
async function say(by: Client, text: string): Promise<string> {
  const messages = [{ role: "user", content: text }];
  const answer = await by("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages });
  return answer.headers.get("x-thread-id")!;
}
async function document(name: string): Promise<string> {
  const path = "/v1/knowledge/collections/shelf/documents/text";
  const { id } = await home.made(home.owner("POST", path, { text: name, name }));
  const read = async () => (await home.owner("GET", `/v1/knowledge/documents/${id}`)).body.status;
  await expect.poll(read, SOON).toBe("ready");
  return id;
}
/** Moves everything that the organization has now to the past. */
async function age(days: number, tenant = home): Promise<void> {
  await tenant.owner("GET", "/threads?limit=1");
  await tenant.owner("GET", "/files?owner=key:" + UNKNOWN);
  const past = "now() - make_interval(days => $2)";
  for (const [table, columns] of [
    ["threads", ["created_at"]],
    ["turns", ["started_at", "ended_at"]],
    ["files", ["created_at"]],
    ["documents", ["created_at", "updated_at"]],
    ["runs", ["completed_at"]],
  ] as const)
    await platform.resources.db.query(
      `update read.${table} set ${columns.map((column) => `${column} = ${past}`).join(", ")} where organization_id = $1`,
      [tenant.organization_id, days],
    );
}
const get = (subject = "organization") => home.made(home.owner("GET", `/retention/${subject}`));
const put = (body: object, subject = "organization", by = home.owner) => by("PUT", `/retention/${subject}`, body);
const preview = (body: object, subject = "organization") =>
  home.made(home.owner("POST", `/retention/${subject}/preview`, body));
const threads = async () => (await home.made(home.key("GET", "/threads"))).data.map(({ id }: any) => id);
const fileStatus = async (id: string, by = home.key) => (await by("GET", `/openai/v1/files/${id}`)).status;
const NONE = { count: 0, oldest: null };
const NOTHING = { threads: NONE, files: NONE, documents: NONE, turns: NONE, runs: NONE, held: [] };

describe("retention", () => {
  beforeAll(async () => {
    home = await openTenant(platform.url, await platform.organization("Retention"));
    await home.made(home.owner("POST", "/v1/knowledge/collections", { name: "Shelf" }));
  });

  test("deletes items older than its rules, as the preview says, and nothing else", async () => {
    const [old, file, page] = [await say(home.key, "Old"), await upload(home.key), await document("old.md")];
    await age(40);
    const [young, youngFile] = [await say(home.key, "Young"), await upload(home.key)];
    const rules = { threads: "30d", files: "30d", documents: "30d" };
    const one = { count: 1, oldest: expect.stringMatching(/Z$/) };
    expect(await preview(rules)).toEqual({
      threads: one,
      files: one,
      documents: one,
      turns: NONE,
      runs: NONE,
      held: [],
    });
    expect(await preview({ threads: "41d" })).toEqual(NOTHING);
    expect(await threads()).toEqual([young, old]);

    expect((await put(rules)).body).toMatchObject({ subject: "organization", ...rules });
    await expect.poll(async () => (await get()).last_round_at, SOON).not.toBeNull();
    expect((await get()).deleted).toEqual({ threads: 1, files: 1, documents: 1, turns: 0, runs: 0 });
    expect(await threads()).toEqual([young]);
    expect([await fileStatus(file), await fileStatus(youngFile)]).toEqual([404, 200]);
    expect((await home.owner("GET", `/v1/knowledge/documents/${page}`)).status).toBe(404);
    const events = (await home.made(home.owner("GET", "/events?type=ThreadDeleted,FileDeleted,DocumentDeleted"))).data;
    expect(events.map(({ principal }: any) => principal)).toEqual(["system", "system", "system"]);
    expect(await preview(rules)).toEqual(NOTHING);
  });

  test("keeps an old thread that has a recent turn", async () => {
    const thread = await say(home.key, "Old, and goes on");
    await age(40);
    await home.made(
      home.key(
        "POST",
        "/openai/v1/chat/completions",
        { model: "offline/echo", messages: [{ role: "user", content: "On" }] },
        { "x-thread-id": thread },
      ),
    );
    await home.owner("GET", "/threads?limit=1");
    expect((await preview({ threads: "1d" })).threads.count).toBe(1);
    expect(await threads()).toContain(thread);
  });

  test("erases the texts of single turns from the audit, and the thread remains usable", async () => {
    await home.made(home.owner("DELETE", "/retention/organization"));
    const thread = await say(home.key, "Old words");
    await age(40);
    const goOn = (text: string) =>
      home.made(
        home.key(
          "POST",
          "/openai/v1/chat/completions",
          { model: "offline/echo", messages: [{ role: "user", content: text }] },
          { "x-thread-id": thread },
        ),
      );
    await goOn("Young words");
    const messages = async () => JSON.stringify(await home.made(home.key("GET", `/threads/${thread}/messages`)));
    const audit = async () => JSON.stringify(await home.made(home.owner("GET", "/turns?limit=100")));
    expect(await audit()).toContain("Old words");
    expect((await preview({ turns: "30d" })).turns.count).toBeGreaterThan(0);
    const hold = await home.made(
      home.owner("POST", "/holds", { subject: `thread:${thread}`, name: "Case 7", reason: "A claim" }),
    );
    const { held } = await preview({ turns: "30d" });
    expect(held).toEqual([expect.objectContaining({ hold_id: hold.id, kind: "turns", count: 1 })]);
    await home.made(put({ turns: "30d" }));
    await expect.poll(async () => (await get()).last_round_at, SOON).not.toBeNull();
    expect(await audit()).toContain("Old words");

    await home.made(home.owner("DELETE", `/holds/${hold.id}`));
    await home.made(put({ turns: "30d" }));
    await expect.poll(audit, SOON).not.toContain("Old words");
    expect(await messages()).not.toContain("Old words");
    expect(await messages()).toContain("Young words");
    expect((await get()).deleted.turns).toBeGreaterThan(0);
    await goOn("Newest words");
  });

  test("counts a turn that goes with its thread once, in the preview and when it is deleted", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Once"));
    await say(tenant.key, "Old");
    const kept = await say(tenant.key, "Old, and goes on");
    await age(2, tenant);
    const messages = [{ role: "user", content: "On" }];
    await tenant.made(
      tenant.key("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages }, { "x-thread-id": kept }),
    );
    const count = (rules: object) => tenant.made(tenant.owner("POST", "/retention/organization/preview", rules));
    const rules = { threads: "1d", turns: "1d" };
    expect(await count({ turns: "1d" })).toMatchObject({ turns: { count: 2 } });
    expect(await count(rules)).toMatchObject({ threads: { count: 1 }, turns: { count: 1 } });
    await tenant.made(tenant.owner("PUT", "/retention/organization", rules));
    const round = () => tenant.made(tenant.owner("GET", "/retention/organization"));
    await expect.poll(async () => (await round()).last_round_at, SOON).not.toBeNull();
    expect((await round()).deleted).toMatchObject({ threads: 1, turns: 1 });
  });

  test("of a project applies to the data of its keys", async () => {
    await home.made(home.owner("DELETE", "/retention/organization"));
    const { id: project } = await home.project("Short");
    const inProject = await home.newKey({ project_id: project });
    const [file, other] = [await upload(inProject.call), await upload(home.key)];
    const thread = await say(inProject.call, "In the project");
    await say(home.key, "Elsewhere");
    await age(2);
    const subject = `project:${project}`;
    expect(await preview({ threads: "1d", files: "1d" }, subject)).toMatchObject({
      threads: { count: 1 },
      files: { count: 1 },
    });
    await home.made(put({ threads: "1d", files: "1d" }, subject));
    await expect
      .poll(async () => (await get(subject)).deleted, SOON)
      .toEqual({ threads: 1, files: 1, documents: 0, turns: 0, runs: 0 });
    expect([await fileStatus(file, inProject.call), await fileStatus(other)]).toEqual([404, 200]);
    expect((await inProject.call("GET", `/threads/${thread}`)).status).toBe(404);
    expect((await home.made(home.owner("GET", "/retention"))).data.map((row: any) => row.subject)).toEqual([subject]);
  });

  test("of a project deletes the documents that its keys uploaded, unless a hold covers them", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Shelves"));
    const { id: project_id } = await tenant.project("Closed");
    const key = await tenant.newKey({ project_id });
    const { id: shelf } = await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { name: "Shelf" }));
    const push = async (by: Client, text: string) =>
      (await tenant.made(by("POST", `/v1/knowledge/collections/${shelf}/documents/text`, { text, name: text }))).id;
    const [inProject, elsewhere] = [await push(key.call, "In the project"), await push(tenant.key, "Elsewhere")];
    const document = (id: string) => tenant.owner("GET", `/v1/knowledge/documents/${id}`);
    for (const id of [inProject, elsewhere])
      await expect.poll(async () => (await document(id)).body.status, SOON).toBe("ready");
    await age(2, tenant);
    const subject = `project:${project_id}`;
    const hold = await tenant.made(tenant.owner("POST", "/holds", { subject, name: "Case 7", reason: "R" }));
    const count = () => tenant.made(tenant.owner("POST", `/retention/${subject}/preview`, { documents: "1d" }));
    expect(await count()).toMatchObject({
      documents: { count: 0 },
      held: [{ hold_id: hold.id, kind: "documents", count: 1 }],
    });
    expect(code(await tenant.owner("DELETE", `/v1/knowledge/documents/${inProject}`))).toEqual([409, "legal_hold"]);
    await tenant.made(tenant.owner("DELETE", `/holds/${hold.id}`));
    expect(await count()).toMatchObject({ documents: { count: 1 }, held: [] });
    await tenant.made(tenant.owner("PUT", `/retention/${subject}`, { documents: "1d" }));
    await expect.poll(async () => (await document(inProject)).status, SOON).toBe(404);
    expect((await document(elsewhere)).status).toBe(200);
  });

  test("of a project also applies to the data of its deleted keys and agents", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Closing"));
    const { id: project_id } = await tenant.project("Closed");
    const key = await tenant.newKey({ project_id });
    const agent = await tenant.made(tenant.owner("POST", "/agents", { name: "A", model: "offline/echo", project_id }));
    await say(key.call, "By the key");
    await upload(key.call);
    await tenant.made(tenant.owner("POST", `/agents/${agent.id}/v1/responses`, { input: "By the agent" }));
    await tenant.made(tenant.owner("DELETE", `/keys/${key.id}`));
    await tenant.made(tenant.owner("DELETE", `/agents/${agent.id}`));
    const place = { subject: `project:${project_id}`, name: "Case 7", reason: "R" };
    const hold = await tenant.made(tenant.owner("POST", "/holds", place));
    await age(2, tenant);
    const rules = { threads: "1d", files: "1d" };
    const count = () => tenant.made(tenant.owner("POST", `/retention/project:${project_id}/preview`, rules));
    const held = (kind: string, count: number) => ({
      hold_id: hold.id,
      subject: place.subject,
      name: "Case 7",
      kind,
      count,
    });
    expect(await count()).toMatchObject({
      threads: { count: 0 },
      files: { count: 0 },
      held: [held("threads", 2), held("files", 1)],
    });
    await tenant.made(tenant.owner("DELETE", `/holds/${hold.id}`));
    expect(await count()).toMatchObject({ threads: { count: 2 }, files: { count: 1 }, held: [] });
  });

  test("destroys runs that ended long ago, with their approvals and threads, but no live run", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Runs"));
    const chat = `chat: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] })`;
    const source = workflowSource(
      `const { decision } = await ctx.awaitApproval("Go on", { title: "Go on" }); const said = await ctx.runStep("chat", {}); return { decision, thread: said.thread_id };`,
      chat,
    );
    const workflow = await tenant.register(source, { models: ["offline/echo"] });
    const [over, live] = [await tenant.start(workflow, {}), await tenant.start(workflow, {})];
    const [approval] = await tenant.pending(over);
    await tenant.decide(approval, { decision: "approve" });
    const { result } = await tenant.untilOver(over);
    await ageRuns(platform.resources.db, tenant);
    const count = await tenant.made(tenant.owner("POST", "/retention/organization/preview", { runs: "2d" }));
    expect(count).toEqual({ ...NOTHING, runs: { count: 1, oldest: expect.any(String) } });
    await tenant.made(tenant.owner("PUT", "/retention/organization", { runs: "2d" }));
    const rules = () => tenant.made(tenant.owner("GET", "/retention/organization"));
    await expect.poll(async () => (await rules()).deleted.runs, SOON).toBe(1);
    expect(await rules()).toMatchObject({ runs: "2d", threads: null });
    expect(code(await tenant.owner("GET", `/workflows/runs/${over}`))).toEqual([404, "run_not_found"]);
    expect((await tenant.read(live)).status).toBe("running");
    const types = async (stream: string) => (await platform.resources.log.read(stream)).at(-1)!.type;
    expect([await types(`run-${over}`), await types(`thread-${result.thread}`)]).toEqual([
      "RunForgotten",
      "ThreadDeleted",
    ]);
  });

  test("keeps the turns of a run until the run has ended", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Live runs"));
    const chat = `chat: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] })`;
    const source = workflowSource(
      `await ctx.runStep("chat", {}); await ctx.awaitApproval("Go on", { title: "Go on" }); return 1;`,
      chat,
    );
    const run = await tenant.start(await tenant.register(source, { models: ["offline/echo"] }), {});
    const [approval] = await tenant.pending(run);
    // also waits until the read models have the turn and its run
    const count = async () =>
      (await tenant.made(tenant.owner("POST", "/retention/organization/preview", { turns: "30d" }))).turns.count;
    expect(await count()).toBe(0);
    const past = "now() - interval '40 days'";
    await platform.resources.db.query(
      `update read.turns set started_at = ${past}, ended_at = ${past} where organization_id = $1`,
      [tenant.organization_id],
    );
    expect(await count()).toBe(0);
    await tenant.decide(approval, { decision: "approve" });
    await tenant.untilOver(run);
    expect(await count()).toBe(1);
  });

  test("refuses invalid subjects and rules", async () => {
    for (const body of [
      {},
      { threads: null },
      { threads: "0d" },
      { threads: 30 },
      { threads: "36501d" },
      { extractions: "1d" },
    ])
      expect(code(await put(body)), JSON.stringify(body)).toEqual([400, undefined]);
    expect(code(await put({ threads: "1d" }, "key:x"))).toEqual([400, "invalid_subject"]);
    expect(code(await put({ threads: "1d" }, `project:${UNKNOWN}`))).toEqual([400, "unknown_project"]);
    for (const method of ["GET", "DELETE"])
      expect(code(await home.owner(method, "/retention/organization")), method).toEqual([404, "retention_not_found"]);
  });

  test("continues after a page of held runs that the read models do not yet know to be held", async () => {
    const tenant = await openTenant(platform.url, await platform.organization("Behind"));
    const workflow = await tenant.register(workflowSource("return 1;"));
    const hook = await tenant.hook(workflow);
    const startFor = async (user: string): Promise<string> => {
      const headers = { "x-svc-external-user": user };
      return (await tenant.made(tenant.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, {}, headers)))
        .run_id;
    };
    // more than a round deletes together
    const kept: string[] = [];
    while (kept.length < 60) kept.push(...(await Promise.all(Array.from({ length: 10 }, () => startFor("anna")))));
    const free = await startFor("bob");
    for (const run of [...kept, free]) await tenant.untilOver(run);
    await tenant.made(tenant.owner("POST", "/holds", { subject: "user:anna", name: "Case 8", reason: "A claim" }));
    await ageRuns(platform.resources.db, tenant);
    await tenant.made(tenant.owner("PUT", "/retention/organization", { runs: "2d" }));
    const rules = () => tenant.made(tenant.owner("GET", "/retention/organization"));
    await expect.poll(async () => (await rules()).last_round_at, SOON).not.toBeNull();
    expect((await rules()).deleted.runs).toBe(1);
    expect((await tenant.owner("GET", `/workflows/runs/${free}`)).status).toBe(404);
    expect((await tenant.read(kept[0]!)).status).toBe("completed");
  });

  test("skips held items, and the preview names the holds", async () => {
    const [kept, gone] = [await say(home.key, "Held"), await say(home.key, "Not held")];
    await age(40);
    const placing = { subject: `thread:${kept}`, name: "Case 7", reason: "A claim" };
    const { id, subject, name } = await home.made(home.owner("POST", "/holds", placing));
    const held = [{ hold_id: id, subject, name, kind: "threads", count: 1 }];
    expect(await preview({ threads: "30d" })).toMatchObject({ held });
    await home.made(put({ threads: "30d" }));
    await expect.poll(threads, SOON).not.toContain(gone);
    expect(await threads()).toContain(kept);
    await home.made(home.owner("DELETE", `/holds/${id}`));
    await home.made(put({ threads: "30d" }));
    await expect.poll(threads, SOON).not.toContain(kept);
  });
});
