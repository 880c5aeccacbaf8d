import { describe, expect, test } from "vitest";
import { UNKNOWN, openWorkflows, workflowSource } from "./harness.ts";

/* Files that go into runs and come out of them. */

const w = await openWorkflows();

const uploadOrder = (text: string) => w.home.upload(text, w.home.owner, "order.txt");
const start = (id: string, body: object, by = w.home.owner) => by("POST", `/workflows/${id}/runs`, body);
const content = (run: string, file: string, by = w.home.owner) =>
  by("GET", `/workflows/runs/${run}/files/${file}/content`);

const COPY = workflowSource(
  `const order = await ctx.runStep("read", { file_id: args.order });
   const copy = await ctx.runStep("write", { name: "copy-of-" + order.name, text: order.content.toUpperCase() });
   if (args.fail) throw new Error("not yet");
   return { copy, read: await ctx.runStep("read", { file_id: copy.file_id }) };`,
  `read: (args, ctx) => ctx.files.read(args), write: (args, ctx) => ctx.files.save(args)`,
);

describe("a run", () => {
  test("reads the files that it was started with, and lists the files that its steps saved", async () => {
    const order = await uploadOrder("two chairs");
    const { id } = await w.home.register(COPY);
    const { body } = await start(id, { args: { order }, files: [order] });
    const { status, result } = await w.home.untilOver(body.id);
    expect(status).toBe("completed");
    expect(result.read).toMatchObject({ name: "copy-of-order.txt", content: "TWO CHAIRS", bytes: 10 });
    const { data } = await w.home.made(w.home.owner("GET", `/workflows/runs/${body.id}/files`));
    expect(data).toMatchObject([
      { id: order, name: "order.txt", mime_type: "text/plain", bytes: 10, given: true },
      { id: result.copy.file_id, name: "copy-of-order.txt", bytes: 10, given: false },
    ]);
    const copy = await content(body.id, result.copy.file_id, w.home.key);
    expect([copy.status, copy.text]).toEqual([200, "TWO CHAIRS"]);
    expect((await content(body.id, order)).text).toBe("two chairs");
  });

  test("cannot read a file that it was not started with", async () => {
    const order = await uploadOrder("secret order");
    const { id } = await w.home.register(COPY);
    const { status, error } = await w.home.untilOver((await start(id, { args: { order } })).body.id);
    expect([status, error]).toEqual(["failed", `read_file: file_id: the run has no file ${order}.`]);
  });

  test("stores files and documents within the budget of its project", async () => {
    const { id: project_id } = await w.home.project();
    const subject = `/budgets/project:${project_id}`;
    await w.home.made(w.home.owner("PUT", subject, { stored_bytes: 25, documents: 1 }));
    await w.home.made(w.home.owner("POST", "/v1/knowledge/collections", { name: "Notes of a project" }));
    const stores = workflowSource(
      `await ctx.runStep("save", { name: "a.txt", text: "ten bytes." });
       return ctx.runStep("push", { collection: "notes-of-a-project", external_id: "a", text: "ten bytes." });`,
      "save: (args, ctx) => ctx.files.save(args), push: (args, ctx) => ctx.knowledge.push(args)",
    );
    const { id } = await w.home.register(stores, { writable_collections: ["notes-of-a-project"] }, { project_id });
    expect((await w.home.untilOver((await start(id, { args: {} })).body.id)).status).toBe("completed");
    const spent = async () =>
      (await w.home.made(w.home.owner("GET", subject))).limits.map((limit: any) => [limit.name, limit.spent]);
    await expect.poll(async () => Object.fromEntries(await spent())).toEqual({ stored_bytes: "20", documents: "1" });
    // a new budget applies to steps within a second
    const ended = async () => w.home.untilOver((await start(id, { args: {} })).body.id);
    await expect.poll(ended).toMatchObject({ status: "failed", error: expect.stringContaining("(stored_bytes)") });
  });

  test("keeps its files in a retry or fork", async () => {
    const order = await uploadOrder("one table");
    const { id } = await w.home.register(COPY);
    const failed = await w.home.untilOver((await start(id, { args: { order, fail: true }, files: [order] })).body.id);
    expect(failed.error).toContain("not yet");
    const { body } = await w.home.owner("POST", `/workflows/runs/${failed.id}/fork`, { args: { order } });
    const { status, result } = await w.home.untilOver(body.id);
    expect([status, result?.read.content]).toEqual(["completed", "ONE TABLE"]);
  });
});

describe("access is refused", () => {
  test("to files of others, unknown ids, and too many files", async () => {
    const stranger = await w.join("Stranger");
    const { call } = await w.home.newKey();
    const theirs = await stranger.upload("theirs");
    const own = await uploadOrder("mine");
    const { id } = await w.home.register(COPY);
    const refused = async (files: unknown, by = w.home.owner) => (await start(id, { args: {}, files }, by)).body.error;
    const none = { code: "invalid_files", message: expect.stringContaining("you have no such file") };
    expect(await refused([own, theirs])).toMatchObject({ ...none, param: "files.1" });
    expect(await refused([UNKNOWN])).toMatchObject({ ...none, param: "files.0" });
    // the file of a person is not one of a key of the same organization
    expect(await refused([own], call)).toMatchObject({ ...none, param: "files.0" });
    expect(await refused(["x"])).toMatchObject({ code: "invalid_files", param: "files.0" });
    expect(await refused("x")).toMatchObject({ code: "invalid_files", param: "files" });
    expect(await refused(Array.from({ length: 21 }, () => UNKNOWN))).toMatchObject({ code: "invalid_files" });
  });

  test("to a run's file for another organization, and for readers of another run", async () => {
    const { id } = await w.home.register(
      workflowSource(`return ctx.runStep("write", {})`, `write: (_, ctx) => ctx.files.save({ name: "a", text: "a" })`),
    );
    const [one, other] = await Promise.all([w.home.start({ id }), w.home.start({ id })]);
    const { result } = await w.home.untilOver(one);
    await w.home.untilOver(other);
    const stranger = await w.join("Far");
    expect((await content(one, result.file_id)).status).toBe(200);
    expect((await content(other, result.file_id)).status).toBe(404);
    expect((await content(one, result.file_id, stranger.owner)).status).toBe(404);
    expect((await stranger.owner("GET", `/workflows/runs/${one}/files`)).status).toBe(404);
  });
});
