import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blobFolder, newId, streamName } from "#events/ids.ts";
import { newCanary } from "../erasure/canary.ts";
import { fileForm } from "../http/service.ts";
import { jsonLines } from "../jsonLines.ts";
import { openPlatform } from "../sharedPlatform.ts";
import { tablesWith } from "../tables.ts";
import { code, SOON, WAITING, workflowSource, type Client } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

/* Runs, documents and extractions in the export and in the erasure of a person. */

const { platform } = await openPlatform();
const { home } = await openTwoTenants(platform);
const { upload } = belongings(home);

/** A run that stores its argument everywhere it can: in a turn, a file, an approval, a child run and its result. */
const KEEPS = workflowSource(
  `const { text } = await ctx.runStep("ask", { text: args.text });
   await ctx.runStep("save", { text });
   if (args.child) await ctx.startRun(args.child, { text: args.text });
   const answer = await ctx.awaitApproval("boss", { title: args.text, form: { type: "object" } });
   return { text, answer };`,
  `ask: async ({ text }, ctx) => ({ text: (await ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: text }] })).content }),
   save: ({ text }, ctx) => ctx.files.save({ name: "kept.txt", text })`,
);

async function exportOf(subject: string): Promise<any[]> {
  const { text } = await home.owner("GET", `/exports?subject=${encodeURIComponent(subject)}`);
  return jsonLines(text);
}
const ofType = (lines: any[], type: string): any[] => lines.filter((line) => line.type === type);
const idsOf = (lines: any[], type: string): string[] => ofType(lines, type).map(({ id }) => id);
const bytesOf = (lines: any[], of: object): string =>
  ofType(lines, "content")
    .filter((line) => Object.entries(of).every(([name, value]) => line[name] === value))
    .map(({ base64 }) => Buffer.from(base64, "base64").toString())
    .join("");

const startErasure = async (owner: string): Promise<string> =>
  (await home.made(home.owner("POST", "/erasures", { owner }))).id;
const readErasure = (id: string): Promise<any> => home.made(home.owner("GET", `/erasures/${id}`));
async function settled(id: string): Promise<any> {
  await expect.poll(async () => (await readErasure(id)).status, SOON).toBe("completed");
  return readErasure(id);
}
async function certificateOf(id: string): Promise<any[]> {
  const { text } = await home.owner("GET", `/erasures/${id}/certificate`);
  return jsonLines(text);
}
/** Names of the blobs of a thing. */
const blobsOf = (thing: string): Promise<string[]> =>
  readdir(join(platform.settings.DATA_DIR, "blobs", blobFolder(home.organization_id, thing))).catch(() => []);
const runStatus = async (run: string) => code(await home.owner("GET", `/workflows/runs/${run}`));
const GONE = [404, "run_not_found"];

let shelves = 0;
async function newCollection(): Promise<string> {
  return (await home.made(home.owner("POST", "/v1/knowledge/collections", { name: `Shelf ${++shelves}` }))).id;
}
async function push(by: Client, collection: string, text: string, more: object = {}): Promise<string> {
  const path = `/v1/knowledge/collections/${collection}/documents/text`;
  const { id } = await home.made(by("POST", path, { name: "Note", text, ...more }));
  const status = async () => (await home.owner("GET", `/v1/knowledge/documents/${id}`)).body.status;
  await expect.poll(status, SOON).toBe("ready");
  return id;
}
const found = async (query: string): Promise<number> =>
  (await home.made(home.owner("POST", "/v1/knowledge/search", { query }))).results.length;
async function extract(by: Client, text: string): Promise<string> {
  const { id } = await home.made(by("POST", "/v1/extractions", fileForm(text, "read.md", { type: "" })));
  await expect.poll(async () => (await home.owner("GET", `/v1/extractions/${id}`)).body.status, SOON).toBe("ready");
  return id;
}

/** A person with a run in each state, a document and an extraction, all with the canary. */
async function leaveEverything(canary: string) {
  const member = await home.member("builder");
  const { call } = member;
  const [workflow, waiting] = [await home.register(KEEPS), await home.register(WAITING)];
  const run = await home.start(workflow, { text: canary, child: waiting.id }, call);
  const [approval] = await home.pending(run);
  const comment = { text: `I say ${canary}` };
  await home.made(call("POST", `/workflows/approvals/${approval.id}/comments`, comment));
  await home.made(home.decide(approval, { decision: "approve", comment: canary, data: { canary } }));
  await home.untilOver(run);
  const live = await home.start(waiting, { text: canary }, call);
  await home.pending(live);
  const collection = await newCollection();
  const document = await push(call, collection, `A word on ${canary} in a text.`);
  const extraction = await extract(call, `Read ${canary} aloud.`);
  const { data } = await home.made(home.owner("GET", `/workflows/runs?starter_id=${run}`));
  return {
    owner: `person:${member.id}`,
    member,
    workflow,
    run,
    live,
    child: data[0].id,
    approval,
    collection,
    document,
    extraction,
  };
}

describe("all data of a person:", () => {
  test("the export contains what the erasure deletes: runs with all their data, documents and extractions", async () => {
    const canary = newCanary();
    const other = await home.start(await home.register(KEEPS), { text: "Of another person" });
    const [question] = await home.pending(other);
    const kept = await push(home.owner, await newCollection(), "A document of another person.");
    const mine = await leaveEverything(canary);
    const remark = { text: `I also say ${canary}` };
    await home.made(mine.member.call("POST", `/workflows/approvals/${question.id}/comments`, remark));
    const asked = { decision: "approve", comment: `Decided with ${canary}` };
    await home.made(home.decide(question, asked, mine.member.call));
    await home.untilOver(other);

    const lines = await exportOf(mine.owner);
    expect(idsOf(lines, "run").toSorted()).toEqual([mine.run, mine.live, mine.child].toSorted());
    const exported = ofType(lines, "run").find(({ id }) => id === mine.run);
    expect(exported).toMatchObject({ args: { text: canary }, result: { answer: { approved: true } } });
    expect(JSON.stringify(exported.steps)).toContain(canary);
    const approval = ofType(lines, "approval").find(({ id }) => id === mine.approval.id);
    expect(approval).toMatchObject({ title: canary, comment: canary, data: { canary } });
    expect(ofType(lines, "comment")).toMatchObject([{ approval_id: mine.approval.id, text: `I say ${canary}` }]);
    expect(idsOf(lines, "approval")).toContain(question.id);
    const remarks = ofType(lines, "event").filter(({ event }) => event === "ApprovalCommented");
    expect(remarks.map(({ personal }) => personal.text).toSorted()).toEqual(
      [remark.text, `I say ${canary}`].toSorted(),
    );
    const [saved] = ofType(lines, "file");
    expect(saved).toMatchObject({ run_id: mine.run, filename: "kept.txt" });
    expect(bytesOf(lines, { file_id: saved.id })).toContain(canary);
    expect(ofType(lines, "turn")).toMatchObject([{ input: [{ text: canary }] }]);
    expect(ofType(lines, "document")).toMatchObject([{ id: mine.document, name: "Note" }]);
    expect(bytesOf(lines, { document_id: mine.document })).toBe(`A word on ${canary} in a text.`);
    expect(ofType(lines, "extraction")).toMatchObject([
      { id: mine.extraction, markdown: expect.stringContaining(canary) },
    ]);
    expect(JSON.stringify(lines)).not.toContain("A document of another person");

    await expect.poll(() => found(canary), SOON).toBe(1);
    const stored = [mine.document, mine.extraction].map((id, n) => streamName(n === 0 ? "document" : "extraction", id));
    for (const thing of stored) expect(await blobsOf(thing), thing).not.toEqual([]);
    const id = await startErasure(mine.owner);
    const done = await settled(id);
    const counts = { runs: 3, documents: 1, extractions: 1, threads: 1, files: 1 };
    for (const [kind, count] of Object.entries(counts)) expect(done[`${kind}_deleted`], kind).toBe(count);
    for (const run of [mine.run, mine.live, mine.child]) expect(await runStatus(run)).toEqual(GONE);
    expect((await home.owner("GET", `/v1/knowledge/documents/${mine.document}`)).status).toBe(404);
    expect((await home.owner("GET", `/v1/extractions/${mine.extraction}`)).status).toBe(404);
    await expect.poll(() => found(canary), SOON).toBe(0);
    for (const thing of stored) await expect.poll(() => blobsOf(thing), SOON).toEqual([]);

    // what others have started and uploaded stays, including this person's comments on it
    expect((await home.read(other)).status).toBe("completed");
    expect((await home.owner("GET", `/v1/knowledge/documents/${kept}`)).status).toBe(200);
    expect(await home.made(home.owner("GET", `/workflows/approvals/${question.id}`))).toMatchObject(asked);
    const tables = async () => (await tablesWith(platform.resources.db, canary)).toSorted();
    // the comment, the decision, and the result of the run that got it as the answer
    await expect.poll(tables, SOON).toEqual(["read.approval_comments", "read.approvals", "read.runs"]);

    const certificate = await certificateOf(id);
    expect(certificate.at(-1)).toMatchObject({ type: "end", erased: 7, counts });
    const events = ofType(certificate, "erased").map(({ event }) => event);
    expect(events.toSorted().join(" ")).toBe(
      "DocumentDeleted ExtractionDeleted FileDeleted RunForgotten RunForgotten RunForgotten ThreadDeleted",
    );
    const ends = await home.made(home.owner("GET", `/events?stream=run-${mine.live}`));
    const named = ends.data.filter(({ type }: any) => /RunCancelled|RunForgotten/.test(type));
    expect(named).toMatchObject([{ request_id: `erasure-${id}` }, { request_id: `erasure-${id}` }]);
    expect(
      (await exportOf(mine.owner)).map(({ type }) => type).filter((type) => /run|document|extraction/.test(type)),
    ).toEqual([]);
  });

  test("a hold keeps a run or a document until its release, and the erasure waits", async () => {
    const mine = await leaveEverything(newCanary());
    const hold = async (subject: string): Promise<string> =>
      (await home.made(home.owner("POST", "/holds", { subject, name: "Case 7", reason: "A claim" }))).id;
    const holds = [await hold(`run:${mine.child}`), await hold(`document:${mine.document}`)];
    const id = await startErasure(mine.owner);
    await expect.poll(() => readErasure(id), SOON).toMatchObject({ runs_deleted: 1, extractions_deleted: 1 });
    // the run that has started the held one stays with it
    expect([await runStatus(mine.live), (await runStatus(mine.child))[0]]).toEqual([GONE, 200]);
    expect((await home.owner("GET", `/v1/knowledge/documents/${mine.document}`)).status).toBe(200);
    expect(await readErasure(id)).toMatchObject({ status: "running", documents_deleted: 0 });
    for (const one of holds) await home.made(home.owner("DELETE", `/holds/${one}`));
    expect(await settled(id)).toMatchObject({ runs_deleted: 3, documents_deleted: 1 });
    expect((await certificateOf(id)).at(-1).counts).toMatchObject({ runs: 3, documents: 1 });
  });
});

test("an erasure of an external user deletes the user's runs, the runs that they started, and documents that only the user may read", async () => {
  const [user, canary] = [`zo\u00eb-${newId()}@example.com`, newCanary()];
  const waiting = await home.register(WAITING);
  const workflow = await home.register(KEEPS);
  const hook = await home.hook(workflow);
  const call = async (name: string, payload: object): Promise<string> => {
    const headers = { "x-svc-external-user": Buffer.from(name).toString("latin1") };
    const path = `/workflows/hooks/${hook.hook_token}`;
    return (await home.made(home.caller(hook)("POST", path, payload, headers))).run_id;
  };
  const run = await call(user, { text: canary, child: waiting.id });
  const other = await call("zoe", { text: "Of another one" });
  for (const one of [run, other]) await home.pending(one);
  const collection = await newCollection();
  const reader = { external_user: user };
  const document = await push(home.key, collection, `Only for ${canary}.`, { readers: [reader] });
  const shared = await push(home.key, collection, "For two.", { readers: [reader, { external_user: "zoe" }] });
  const file = await upload(home.key, canary, user);

  const lines = await exportOf(`user:${user}`);
  expect(ofType(lines, "run")).toMatchObject([{}, { id: run, args: { text: canary } }]);
  expect(idsOf(lines, "document")).toEqual([document]);
  expect(idsOf(lines, "file")).toContain(file);
  expect(ofType(lines, "approval").map(({ title }) => title)).toContain(canary);

  const held = await home.made(
    home.owner("POST", "/holds", { subject: `user:${user}`, name: "Case 8", reason: "A claim" }),
  );
  expect(code(await home.owner("POST", "/erasures", { owner: `user:${user}` }))).toEqual([409, "legal_hold"]);
  await home.made(home.owner("DELETE", `/holds/${held.id}`));
  const done = await settled(await startErasure(`user:${user}`));
  expect(done).toMatchObject({ runs_deleted: 2, documents_deleted: 1, threads_deleted: 1, files_deleted: 2 });
  expect(await runStatus(run)).toEqual(GONE);
  expect((await home.read(other)).status).toBe("running");
  expect((await home.owner("GET", `/v1/knowledge/documents/${document}`)).status).toBe(404);
  expect((await home.owner("GET", `/v1/knowledge/documents/${shared}`)).status).toBe(200);
  await expect.poll(() => tablesWith(platform.resources.db, canary), SOON).toEqual([]);
  await home.cancel(other);
});
