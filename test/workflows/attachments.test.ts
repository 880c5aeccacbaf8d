import { describe, expect, test } from "vitest";
import { code, openWorkflows, UNKNOWN, workflowSource } from "./harness.ts";

/* Files that approvals show, and the defaults of their forms. */

const w = await openWorkflows();

const ASKS = workflowSource(
  `const file = args.own ? await ctx.runStep("save", { text: "offer" }) : args.file;
   return ctx.awaitApproval("boss", { title: "Buy?", attachments: [file], form: args.form });`,
  `save: ({ text }, ctx) => ctx.files.save({ name: "offer.txt", text })`,
);

describe("attachments", () => {
  test("are shown with the approval, also to people with a link, but to nobody else", async () => {
    const run = await w.home.start(await w.home.register(ASKS), { own: true });
    const [{ id, attachments }] = await w.home.pending(run);
    expect(attachments).toEqual([
      { file_id: expect.any(String), name: "offer.txt", mime_type: "text/plain", bytes: 5 },
    ]);
    const [{ file_id }] = attachments;
    const path = `/workflows/approvals/${id}/attachments`;
    expect((await w.home.owner("GET", `${path}/${file_id}`)).text).toBe("offer");
    expect(code(await w.home.owner("GET", `${path}/${UNKNOWN}`))).toEqual([404, "file_not_found"]);
    const stranger = await w.join("Stranger");
    expect((await stranger.owner("GET", `${path}/${file_id}`)).status).toBe(404);

    const link = await w.home.made(w.home.owner("POST", `/workflows/approvals/${id}/links`, {}));
    const guest = w.home.clientAt(new URL(link.url).hash.slice(1));
    const shown = await w.home.made(guest("GET", `/workflows/approval-links/${link.id}`));
    expect(shown.attachments).toEqual(attachments);
    const read = (by = guest) => by("GET", `/workflows/approval-links/${link.id}/attachments/${file_id}`);
    expect((await read()).text).toBe("offer");
    expect((await read(w.home.clientAt("wrong"))).status).toBe(404);
    await w.home.decide({ id });
    expect((await read()).status).toBe(410);
  });

  test("fail the run if it may not read them, and the file stays hidden", async () => {
    const other = await w.home.run(
      workflowSource(`return ctx.runStep("save", {})`, `save: (_, ctx) => ctx.files.save({ name: "a", text: "a" })`),
    );
    const { status, error } = await w.home.run(ASKS, { file: other.result.file_id });
    expect([status, error]).toEqual([
      "failed",
      `awaitApproval: attachments: the run has no file ${other.result.file_id}.`,
    ]);
    expect((await w.home.run(ASKS, { file: 7 })).error).toContain("each of attachments must be the file_id");
  });
});

test("a form's defaults are the data of a decision that leaves them out", async () => {
  const form = {
    type: "object",
    properties: { amount: { type: "integer", default: 5 }, note: { type: "string" } },
    required: ["amount"],
  };
  const workflow = await w.home.register(
    workflowSource(`return ctx.awaitApproval("boss", { title: "Buy?", form: args.form })`),
  );
  const dataOf = async (body: object) => {
    const run = await w.home.start(workflow, { form });
    const [approval] = await w.home.pending(run);
    expect((await w.home.decide(approval, body)).status).toBe(200);
    return (await w.home.untilOver(run)).result.data;
  };
  expect(await dataOf({ decision: "approve" })).toEqual({ amount: 5 });
  expect(await dataOf({ decision: "approve", data: { note: "ok" } })).toEqual({ amount: 5, note: "ok" });
  expect(await dataOf({ decision: "approve", data: { amount: 7 } })).toEqual({ amount: 7 });
  expect(await dataOf({ decision: "reject" })).toBeNull();
});
