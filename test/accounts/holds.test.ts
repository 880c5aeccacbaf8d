import { expect, test } from "vitest";
import { openPlatform } from "../sharedPlatform.ts";
import { code, openTenant, SOON, UNKNOWN, workflowSource, type Client } from "../workflows/tenant.ts";
import { ageRuns } from "./ageRuns.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

const { home, foreign } = await openTwoTenants();
const { db } = (await openPlatform()).platform.resources;
const { upload } = belongings(home);

async function say(by: Client, text: string, user?: string): Promise<string> {
  const messages = [{ role: "user", content: text }];
  const answer = await by("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages, user });
  return answer.headers.get("x-thread-id")!;
}
const place = (subject: string) => home.owner("POST", "/holds", { subject, name: "Case 7", reason: "A claim" });
const release = (id: string) => home.made(home.owner("DELETE", `/holds/${id}`));
const remove = (by: Client, path: string) => by("DELETE", path);
const retention = () => home.made(home.owner("GET", "/retention/organization"));
const HELD = [409, "legal_hold"];

test("nobody can delete an item until its hold is released", async () => {
  const { id: project } = await home.project("Held");
  const key = await home.newKey({ project_id: project });
  const thread = await say(key.call, "Kept", "anna");
  const file = await upload(key.call, "Kept", "anna");
  const paths = [`/threads/${thread}?user=anna`, `/openai/v1/files/${file}?user=anna`];
  const subjects = ["organization", `project:${project}`, `key:${key.id.toUpperCase()}`, "user:anna"];
  for (const subject of subjects) {
    const hold = await home.made(place(subject));
    expect(hold).toMatchObject({ name: "Case 7", reason: "A claim", released_at: null });
    for (const path of paths) {
      const answer = await remove(key.call, path);
      expect(code(answer)).toEqual(HELD);
      expect(answer.body.error.message).toContain(`"Case 7" (${hold.id})`);
      expect(answer.headers.get("x-should-retry")).toBe("false");
    }
    expect(await release(hold.id)).toMatchObject({ released_by: expect.stringMatching(/^person:/) });
  }
  const [ofThread, ofFile] = [await home.made(place(`thread:${thread}`)), await home.made(place(`file:${file}`))];
  for (const path of paths) expect(code(await remove(key.call, path))).toEqual(HELD);
  await Promise.all([release(ofThread.id), release(ofFile.id)]);
  for (const path of paths) expect((await remove(key.call, path)).status).toBe(200);
});

test("a hold must name an existing item, or a former owner whose data still exists", async () => {
  for (const kind of ["project", "key", "person", "agent", "thread", "file", "document", "run"]) {
    const { status, body } = await place(`${kind}:${UNKNOWN}`);
    expect([status, body.error.param], kind).toEqual([400, "subject"]);
    expect(body.error.message).toContain(`no ${kind} of this organization has the id ${UNKNOWN}`);
  }
  const key = await home.newKey();
  await say(key.call, "Kept");
  await home.made(home.owner("DELETE", `/keys/${key.id}`));
  const ofKey = await home.made(place(`key:${key.id}`));
  await release(ofKey.id);
  const [gone, idle] = [await home.member("builder"), await home.member("builder")];
  await say(gone.call, "Kept, too");
  for (const { id } of [gone, idle]) await home.made(home.owner("DELETE", `/members/${id}`));
  await release((await home.made(place(`person:${gone.id}`))).id);
  expect((await place(`person:${idle.id}`)).status).toBe(400);
  const { user } = await home.made(home.owner("GET", "/auth/me"));
  await release((await home.made(place(`person:${user.id}`))).id);
});

test("a collection is kept while a hold covers one of its documents", async () => {
  const uploader = await home.newKey();
  const { id: collection } = await home.made(home.owner("POST", "/v1/knowledge/collections", { name: "Held papers" }));
  const text = { name: "A", text: "Kept words." };
  const path = `/v1/knowledge/collections/${collection}`;
  const { id } = await home.made(uploader.call("POST", `${path}/documents/text`, text));
  for (const subject of [`document:${id}`, `key:${uploader.id}`]) {
    const hold = await home.made(place(subject));
    const answer = await remove(home.owner, path);
    expect(code(answer)).toEqual(HELD);
    expect(answer.body.error.message).toContain(hold.id);
    expect((await home.owner("GET", `/v1/knowledge/documents/${id}`)).status).toBe(200);
    await release(hold.id);
  }
  expect((await remove(home.owner, path)).status).toBe(204);
});

test("an erasure is refused for a held owner, and waits for other held items", async () => {
  const key = await home.newKey();
  const [kept, gone] = [await say(key.call, "Kept"), await say(key.call, "Gone")];
  const whole = await home.made(place(`key:${key.id}`));
  expect(code(await home.owner("POST", "/erasures", { owner: `key:${key.id}` }))).toEqual(HELD);
  await release(whole.id);
  const hold = await home.made(place(`thread:${kept}`));
  const { id } = await home.made(home.owner("POST", "/erasures", { owner: `key:${key.id}` }));
  const erasure = () => home.made(home.owner("GET", `/erasures/${id}`));
  await expect.poll(erasure, SOON).toMatchObject({ threads_deleted: 1 });
  expect((await key.call("GET", `/threads/${gone}`)).status).toBe(404);
  expect((await key.call("GET", `/threads/${kept}`)).status).toBe(200);
  expect(await erasure()).toMatchObject({ status: "running" });
  expect(code(await home.owner("GET", `/erasures/${id}/certificate`))).toEqual([409, "erasure_running"]);
  await release(hold.id);
  await expect.poll(erasure, SOON).toMatchObject({ status: "completed", threads_deleted: 2 });
});

test("holds are listed, and a hold without a subject is refused", async () => {
  const hold = await home.made(place("user:listed"));
  const list = async (by: Client) => (await home.made(by("GET", "/holds?limit=100"))).data.map(({ id }: any) => id);
  expect(await list(home.owner)).toContain(hold.id);
  expect(await list(foreign.owner)).not.toContain(hold.id);
  expect(code(await foreign.owner("DELETE", `/holds/${hold.id}`))).toEqual([404, "hold_not_found"]);
  await release(hold.id);
  expect(code(await home.owner("DELETE", `/holds/${hold.id}`))).toEqual([404, "hold_not_found"]);
  for (const subject of ["thread:x", "user:", "USER:listed"])
    expect((await place(subject)).body.error, subject).toMatchObject({ param: "subject" });
});

test("a hold that is repeated under the same Idempotency-Key is placed once", async () => {
  const key = { "idempotency-key": "hold-1" };
  const body = { subject: "user:twice", name: "Case 8", reason: "A claim" };
  const send = (fields: object) => home.owner("POST", "/holds", { ...body, ...fields }, key);
  const [first, again] = await Promise.all([home.made(send({})), home.made(send({}))]);
  expect(again).toEqual(first);
  const { data } = await home.made(home.owner("GET", "/holds"));
  expect(data.filter(({ name }: { name: string }) => name === "Case 8")).toHaveLength(1);
  expect(code(await send({ name: "Case 9" }))).toEqual([422, "idempotency_key_reused"]);
  await release(first.id);
});

test("a held run and the threads of its steps are kept until the hold is released", async () => {
  const source = `export const steps = { ask: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }) };
    export const run = (ctx) => ctx.runStep("ask");`;
  const workflow = await home.register(source);
  const { id: person } = (await home.made(home.owner("GET", "/auth/me"))).user;
  const run = await home.start(workflow);
  await home.untilOver(run);
  const rules = { runs: "1d" };
  for (const subject of [`run:${run}`, `person:${person}`, "organization"]) {
    const hold = await home.made(place(subject));
    await ageRuns(db, home);
    const { held } = await home.made(home.owner("POST", "/retention/organization/preview", rules));
    expect(held).toEqual([expect.objectContaining({ hold_id: hold.id, kind: "runs", count: 1 })]);
    await home.made(home.owner("PUT", "/retention/organization", rules));
    await expect.poll(async () => (await retention()).last_round_at, SOON).not.toBeNull();
    expect((await home.read(run)).status).toBe("completed");
    // a round between the two would delete the run
    await home.made(home.owner("DELETE", "/retention/organization"));
    await release(hold.id);
  }
  await home.made(home.owner("PUT", "/retention/organization", rules));
  await expect
    .poll(async () => code(await home.owner("GET", `/workflows/runs/${run}`)), SOON)
    .toEqual([404, "run_not_found"]);
  await home.made(home.owner("DELETE", "/retention/organization"));
});

test("a hold on a key or a person keeps the runs that their runs started, with files and turns of their steps", async () => {
  const { platform } = await openPlatform();
  const tenant = await openTenant(platform.url, await platform.organization("Child runs"));
  const steps = `ask: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }),
    save: (_, ctx) => ctx.files.save({ name: "a.txt", text: "Kept" })`;
  const child = await tenant.register(
    workflowSource(`await ctx.runStep("ask", {}); return ctx.runStep("save", {});`, steps),
    { models: ["offline/echo"] },
  );
  const parent = await tenant.register(
    workflowSource(`return (await ctx.waitForRun(await ctx.startRun("${child.id}", {}))).result;`),
  );
  const key = await tenant.newKey();
  const { id: person } = (await tenant.made(tenant.owner("GET", "/auth/me"))).user;
  const files: string[] = [];
  for (const by of [key.call, tenant.owner])
    files.push((await tenant.untilOver(await tenant.start(parent, {}, by))).result.file_id);
  await ageRuns(db, tenant);
  const past = "now() - interval '3 days'";
  await db.query(`update read.turns set started_at = ${past}, ended_at = ${past} where organization_id = $1`, [
    tenant.organization_id,
  ]);
  const rules = { runs: "2d", turns: "2d" };
  for (const [n, subject] of [`key:${key.id}`, `person:${person}`].entries()) {
    const hold = await tenant.made(tenant.owner("POST", "/holds", { subject, name: "Case 7", reason: "A claim" }));
    const { held, runs, turns } = await tenant.made(tenant.owner("POST", "/retention/organization/preview", rules));
    const kept = held.map(({ kind, count }: { kind: string; count: number }) => `${count} ${kind}`);
    expect(kept.toSorted(), subject).toEqual(["1 turns", "2 runs"]);
    // those of the other one
    expect([runs.count, turns.count], subject).toEqual([2, 1]);
    // the log decides, not the read models
    expect(code(await tenant.owner("DELETE", `/files/${files[n]}`)), subject).toEqual(HELD);
    await tenant.made(tenant.owner("DELETE", `/holds/${hold.id}`));
    expect((await tenant.owner("DELETE", `/files/${files[n]}`)).status, subject).toBe(200);
  }
});

test("a retention preview counts runs kept by a hold of their external user or of their key's project", async () => {
  const { id: project } = await home.project("Held with its keys");
  const key = await home.newKey({ project_id: project });
  const workflow = await home.register("export const run = () => 1;", {}, { project_id: project });
  const hook = await home.hook(workflow);
  const path = `/workflows/hooks/${hook.hook_token}`;
  const called = await home.made(home.caller(hook)("POST", path, {}, { "x-svc-external-user": "rita" }));
  for (const run of [called.run_id, await home.start(workflow, {}, key.call)]) await home.untilOver(run);
  await ageRuns(db, home);
  for (const [subject, count] of [
    ["user:rita", 1],
    [`project:${project}`, 2],
  ] as const) {
    const hold = await home.made(place(subject));
    const { held } = await home.made(home.owner("POST", `/retention/project:${project}/preview`, { runs: "1d" }));
    expect(held).toEqual([expect.objectContaining({ hold_id: hold.id, kind: "runs", count })]);
    await release(hold.id);
  }
});

test("agents, projects and definitions, and the answers of an agent, are kept while a hold covers them", async () => {
  const { id: project } = await home.project("Held itself");
  const { id: empty } = await home.made(home.owner("POST", "/projects", { name: "Held and empty" }));
  const agent = await home.newAgent({ project_id: project });
  const definition = await home.define();
  const { body } = await home.owner("POST", `/agents/${agent}/v1/responses`, { input: "Kept" });
  const response = `/agents/${agent}/v1/responses/${body.id}`;
  for (const [path, subjects] of [
    [`/agents/${agent}`, [`agent:${agent}`, `project:${project}`, "organization"]],
    [response, [`agent:${agent}`, `project:${project}`]],
    [`/projects/${empty}`, [`project:${empty}`, "organization"]],
    [`/definitions/${definition.id}`, ["organization"]],
  ] as const)
    for (const subject of subjects) {
      const hold = await home.made(place(subject));
      expect([path, subject, ...code(await remove(home.owner, path))]).toEqual([path, subject, ...HELD]);
      await release(hold.id);
    }
  for (const path of [response, `/agents/${agent}`, `/projects/${empty}`, `/definitions/${definition.id}`])
    expect((await remove(home.owner, path)).status, path).toBeLessThan(300);
});

test("a hold on a person keeps everything that the person has stored", async () => {
  const { id: person } = (await home.made(home.owner("GET", "/auth/me"))).user;
  const thread = await say(home.owner, "Kept");
  const hold = await home.made(place(`person:${person}`));
  expect(code(await remove(home.owner, `/threads/${thread}`))).toEqual(HELD);
  await release(hold.id);
  expect((await remove(home.owner, `/threads/${thread}`)).status).toBe(200);
});
