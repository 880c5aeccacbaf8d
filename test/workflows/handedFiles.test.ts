import { describe, expect, test } from "vitest";
import { code, openWorkflows, UNKNOWN, workflowSource, type Client } from "./harness.ts";

/* Files that people hand to a run with decisions, votes and comments. */

const w = await openWorkflows();

const upload = (by: Client, name: string) => w.home.upload(`text of ${name}`, by, name);
const shownAs = (file_id: string, name: string) => ({
  file_id,
  name,
  mime_type: "text/plain",
  bytes: `text of ${name}`.length,
});
const approvalPath = (id: string) => `/workflows/approvals/${id}`;
const attachment = (id: string, file: string, by = w.home.owner) =>
  by("GET", `${approvalPath(id)}/attachments/${file}`);
const comment = (id: string, body: object, by = w.home.owner) => by("POST", `${approvalPath(id)}/comments`, body);
const filesOf = async (run: string) => (await w.home.made(w.home.owner("GET", `/workflows/runs/${run}/files`))).data;

/** Requests an approval, reads its files, and fails if `args.fail` is set. */
const READS = workflowSource(
  `const answer = await ctx.awaitApproval("boss", { title: "Buy?", required: args.required });
   const ids = args.read ?? answer.files ?? [];
   const read = await ctx.runStepMany("read", ids.map((file_id) => ({ file_id })));
   if (args.fail) throw new Error("not yet");
   return { answer, read: read.map(({ content }) => content) };`,
  `read: (args, ctx) => ctx.files.read(args)`,
);
/** Starts a run that requests an approval; returns both ids. */
async function asking(args: object = {}) {
  const run = await w.home.start(await w.home.register(READS), args);
  const [approval] = await w.home.pending(run);
  return { run, approval: approval.id as string };
}

describe("a decision", () => {
  test("passes its files to the run, and the run's steps and readers can read them", async () => {
    const file = await upload(w.home.owner, "contract.txt");
    const { run, approval } = await asking();
    expect((await attachment(approval, file)).status).toBe(404);
    const decided = await w.home.decide({ id: approval }, { decision: "approve", files: [file.toUpperCase(), file] });
    expect(decided.body.files).toEqual([shownAs(file, "contract.txt")]);
    const { status, result } = await w.home.untilOver(run);
    expect([status, result.answer.files, result.read]).toEqual(["completed", [file], ["text of contract.txt"]]);

    const viewer = await w.home.member("viewer", "Vera");
    const shown = (await viewer.call("GET", approvalPath(approval))).body;
    expect([shown.files, shown.votes[0].files]).toEqual([decided.body.files, decided.body.files]);
    expect((await attachment(approval, file, viewer.call)).text).toBe("text of contract.txt");
    expect(await filesOf(run)).toMatchObject([{ id: file, name: "contract.txt", given: true, approval_id: approval }]);
    const content = (by = viewer.call) => by("GET", `/workflows/runs/${run}/files/${file}/content`);
    expect((await content()).text).toBe("text of contract.txt");
    const stranger = await w.join("Stranger");
    expect((await content(stranger.owner)).status).toBe(404);
    expect((await attachment(approval, file, stranger.owner)).status).toBe(404);
  });

  test("without files leaves the answer unchanged", async () => {
    const { run, approval } = await asking();
    await w.home.decide({ id: approval }, { decision: "approve", files: [] });
    expect((await w.home.untilOver(run)).result.answer).not.toHaveProperty("files");
  });

  test("of several people has the files of each vote", async () => {
    const other = await w.home.member("approver", "Ann");
    const { run, approval } = await asking({ required: 2 });
    const [first, last] = [await upload(w.home.owner, "one.txt"), await upload(other.call, "two.txt")];
    await w.home.decide({ id: approval }, { decision: "approve", files: [first] });
    const { body } = await w.home.decide({ id: approval }, { decision: "approve", files: [last] }, other.call);
    expect(body.votes.map(({ files }: any) => files)).toEqual([
      [shownAs(first, "one.txt")],
      [shownAs(last, "two.txt")],
    ]);
    expect(body.files).toEqual([shownAs(last, "two.txt")]);
    const { result } = await w.home.untilOver(run);
    expect(result.answer.votes.map(({ files }: any) => files)).toEqual([[first], [last]]);
    expect((await filesOf(run)).map(({ id }: any) => id)).toEqual([first, last]);
  });

  test("passes its files to a retry and a fork of the run", async () => {
    const file = await upload(w.home.owner, "late.txt");
    const { run, approval } = await asking({ fail: true });
    await w.home.decide({ id: approval }, { decision: "approve", files: [file] });
    expect((await w.home.untilOver(run)).error).toContain("not yet");
    const retried = await w.home.made(w.home.owner("POST", `/workflows/runs/${run}/retry`));
    await w.home.untilOver(retried.id);
    expect(await filesOf(retried.id)).toMatchObject([{ id: file, given: true, approval_id: null }]);
    // with other arguments, so that people are asked again, and the step reads what was handed over before
    const fork = { args: { read: [file] } };
    const forked = await w.home.made(w.home.owner("POST", `/workflows/runs/${retried.id}/fork`, fork));
    const [again] = await w.home.pending(forked.id);
    await w.home.decide(again);
    expect((await w.home.untilOver(forked.id)).result.read).toEqual(["text of late.txt"]);
  });
});

describe("a comment", () => {
  test("passes its files to the readers of the run, once for a repeated request", async () => {
    const file = await upload(w.home.owner, "offer.txt");
    const { run, approval } = await asking();
    const body = { text: "Their offer", files: [file] };
    const send = () => w.home.owner("POST", `${approvalPath(approval)}/comments`, body, { "idempotency-key": "offer" });
    const made = await send();
    expect([made.status, made.body.files]).toEqual([201, [shownAs(file, "offer.txt")]]);
    expect((await send()).body).toEqual(made.body);
    const { data } = (await w.home.key("GET", `${approvalPath(approval)}/comments`)).body;
    expect(data).toEqual([made.body]);
    expect((await attachment(approval, file, w.home.key)).text).toBe("text of offer.txt");
    expect(await filesOf(run)).toMatchObject([{ id: file, approval_id: approval }]);
  });

  test("no longer shows a file that its owner has deleted", async () => {
    const file = await upload(w.home.owner, "gone.txt");
    const { run, approval } = await asking();
    await comment(approval, { text: "See", files: [file] });
    expect((await w.home.owner("DELETE", `/openai/v1/files/${file}`)).status).toBeLessThan(300);
    expect((await w.home.owner("GET", `${approvalPath(approval)}/comments`)).body.data[0].files).toEqual([]);
    expect((await attachment(approval, file)).status).toBe(404);
    expect(await filesOf(run)).toEqual([]);
    await w.home.decide({ id: approval });
    expect((await w.home.untilOver(run)).status).toBe("completed");
  });
});

describe("access is refused", () => {
  test("to files of others, unknown ids, and too many files", async () => {
    const { approval } = await asking();
    const theirs = await upload((await w.join("Stranger")).owner, "theirs.txt");
    const colleague = await upload((await w.home.member("approver", "Bob")).call, "bobs.txt");
    const own = await upload(w.home.owner, "own.txt");
    const refusals = async (files: unknown) => [
      (await comment(approval, { text: "x", files })).body.error,
      (await w.home.decide({ id: approval }, { decision: "approve", files })).body.error,
    ];
    const none = { code: "invalid_files", param: "files.1", message: expect.stringContaining("you have no such file") };
    for (const id of [theirs, colleague, UNKNOWN]) expect(await refusals([own, id])).toMatchObject([none, none]);
    const many = Array.from({ length: 21 }, () => own);
    for (const bad of [many, "x", ["x"]]) for (const { param } of await refusals(bad)) expect(param).toMatch(/^files/);
    expect((await w.home.owner("GET", approvalPath(approval))).body).toMatchObject({
      status: "pending",
      comment_count: 0,
    });
  });

  test("to everything for a person with a link, who can neither send files nor see files of others", async () => {
    const file = await upload(w.home.owner, "internal.txt");
    const { approval } = await asking();
    await comment(approval, { text: "Not for guests", files: [file] });
    const link = await w.home.made(w.home.owner("POST", `${approvalPath(approval)}/links`, {}));
    const guest = w.home.clientAt(new URL(link.url).hash.slice(1));
    const path = `/workflows/approval-links/${link.id}`;
    expect((await guest("GET", path)).text).not.toContain("internal.txt");
    expect(code(await guest("GET", `${path}/attachments/${file}`))).toEqual([404, "file_not_found"]);
    const sent = await guest("POST", `${path}/decision`, { decision: "approve", files: [file] });
    expect([...code(sent), sent.body.error.param]).toEqual([400, "invalid_files", "files"]);
    expect((await guest("POST", `${path}/decision`, { decision: "approve" })).status).toBe(200);
  });
});
