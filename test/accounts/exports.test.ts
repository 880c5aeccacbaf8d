import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { jsonLines } from "../jsonLines.ts";
import { code, SOON, UNKNOWN, workflowSource, type Client } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

const { home, foreign } = await openTwoTenants();
const { say, upload } = belongings(home);

const ASKS = workflowSource(`const { approved } = await ctx.awaitApproval("go", { title: "Go?" });
  return ctx.complete({ approved, ...args });`);

async function exportOf(subject: string, by: Client = home.owner): Promise<any[]> {
  const { status, text, headers } = await by("GET", `/exports?subject=${encodeURIComponent(subject)}`);
  expect([status, headers.get("content-type")], text).toEqual([200, "application/x-ndjson"]);
  const lines = jsonLines(text);
  const { type, counts } = lines.at(-1);
  const counted = lines.slice(1, -1).reduce((sums, line) => ({ ...sums, [line.type]: (sums[line.type] ?? 0) + 1 }), {});
  expect([lines[0].type, type, counts]).toEqual(["export", "end", counted]);
  return lines;
}
const ofType = (lines: any[], type: string): any[] => lines.filter((line) => line.type === type);
/** The bytes in the `content` lines with these fields. */
const contentOf = (lines: any[], of: object): Buffer =>
  Buffer.concat(
    ofType(lines, "content")
      .filter((line) => Object.entries(of).every(([name, value]) => line[name] === value))
      .toSorted((a, b) => a.part - b.part)
      .map(({ base64 }) => Buffer.from(base64, "base64")),
  );

describe("the export of a person", () => {
  test("contains everything that the person owns, started, decided and caused, with file contents, and nothing of others", async () => {
    const me = (await home.made(home.owner("GET", "/auth/me"))).user.id;
    const large = "x".repeat(2_000_000);
    const file = await upload(home.owner, large, "somebody");
    await say(home.owner, "Mine", { user: "somebody", attachments: [file] });
    await say(home.key, "Of the key");
    const run = await home.start(await home.register(ASKS), { order: "A-17" });
    const [approval] = await home.pending(run);
    await home.decide(approval);
    await home.untilOver(run);

    const lines = await exportOf(`person:${me}`);
    expect(ofType(lines, "person")).toMatchObject([{ id: me, role: "owner" }]);
    expect(ofType(lines, "thread")).toMatchObject([{ owner: `person:${me}`, title: "Mine" }]);
    const [turn, ...others] = ofType(lines, "turn");
    expect(others).toEqual([]);
    expect(turn).toMatchObject({
      status: "completed",
      input: [{ role: "user", text: "Mine", attachments: [{ filename: "note.md", bytes: large.length }] }],
      output: { text: expect.stringContaining("Mine") },
    });
    expect(ofType(lines, "file")).toMatchObject([{ id: file, filename: "note.md", bytes: large.length }]);
    // the attachment has the bytes of the file, which are sent once
    const { sha256 } = turn.input[0].attachments[0];
    expect(ofType(lines, "file")).toMatchObject([{ sha256 }]);
    expect(contentOf(lines, {})).toHaveLength(large.length);
    expect(createHash("sha256").update(contentOf(lines, { sha256 })).digest("hex")).toBe(sha256);
    expect(ofType(lines, "run")).toMatchObject([{ id: run, args: { order: "A-17" }, result: { approved: true } }]);
    expect(ofType(lines, "approval")).toMatchObject([{ id: approval.id, decision: "approve", decided_by: { id: me } }]);
    const events = ofType(lines, "event").map(({ event }) => event);
    for (const name of ["UserRegistered", "FileUploaded", "TurnStarted", "RunCreated", "ApprovalDecided"])
      expect(events, name).toContain(name);
    expect(JSON.stringify(lines)).not.toContain("Of the key");
  });

  test("is empty for another organization and for an unknown person", async () => {
    const me = (await home.made(home.owner("GET", "/auth/me"))).user.id;
    expect((await exportOf(`person:${me}`, foreign.owner)).length).toBe(2);
    expect((await exportOf(`person:${UNKNOWN}`)).length).toBe(2);
  });
});

describe("the export of an external user", () => {
  test("contains what all keys and agents store for the user, and the runs that name the user", async () => {
    const user = "zo\u00eb@example.com";
    const { call } = await home.newKey();
    const agent = await home.newAgent();
    await say(call, "From the chat", { user });
    await say(call, "Of another one", { user: "zoe" });
    await say(call, "Of nobody");
    const asked = await home.made(call("POST", `/agents/${agent}/v1/responses`, { input: "From the agent", user }));
    const file = await upload(home.key, "Bytes", user);
    await upload(home.key, "Other bytes", "zoe");
    const workflow = await home.register(workflowSource("return ctx.complete(args);"));
    const hook = await home.made(home.owner("POST", `/workflows/${workflow.id}/triggers`, { name: "shop" }));
    const sent = Buffer.from(user).toString("latin1");
    const path = `/workflows/hooks/${hook.hook_token}`;
    const { run_id } = await home.made(home.caller(hook)("POST", path, { n: 1 }, { "x-svc-external-user": sent }));
    await home.untilOver(run_id);
    await home.made(home.owner("PUT", `/budgets/${encodeURIComponent(`user:${user}`)}`, { tokens_per_day: 1_000_000 }));

    const lines = await exportOf(`user:${user}`);
    expect(ofType(lines, "thread").map(({ title }) => title)).toEqual(["From the agent", "From the chat"]);
    expect(ofType(lines, "turn").map(({ response_id }) => response_id)).toEqual([asked.id, null]);
    expect(ofType(lines, "file")).toMatchObject([{ id: file }]);
    expect(contentOf(lines, { file_id: file }).toString()).toBe("Bytes");
    expect(ofType(lines, "run")).toMatchObject([{ id: run_id, external_user_id: user, args: { n: 1 } }]);
    const events = ofType(lines, "event").map(({ event }) => event);
    for (const name of ["TurnStarted", "FileUploaded", "RunCreated", "BudgetSet"]) expect(events, name).toContain(name);
    for (const text of ["Of another one", "Of nobody"]) expect(JSON.stringify(lines)).not.toContain(text);
  });
});

test("a user whose value is long can be exported, held and erased", async () => {
  const owner = `user:${"token".repeat(500)}`;
  const { call } = await home.newKey();
  await say(call, "Of a long value", { user: owner.slice("user:".length) });
  expect(ofType(await exportOf(owner), "thread")).toMatchObject([{ title: "Of a long value" }]);
  const hold = await home.made(home.owner("POST", "/holds", { subject: owner, name: "Case 7", reason: "A claim" }));
  expect(code(await home.owner("POST", "/erasures", { owner }))).toEqual([409, "legal_hold"]);
  await home.made(home.owner("DELETE", `/holds/${hold.id}`));
  const { id } = await home.made(home.owner("POST", "/erasures", { owner }));
  const erasure = () => home.made(home.owner("GET", `/erasures/${id}`));
  await expect.poll(erasure, SOON).toMatchObject({ status: "completed", threads_deleted: 1 });
});

test("a user whose value has no room in an address can be exported by its body", async () => {
  const user = "\u540d".repeat(3_000);
  const { call } = await home.newKey();
  await say(call, "Of a longer value", { user });
  const { status, text, headers } = await home.owner("POST", "/exports", { subject: `user:${user}` });
  expect([status, headers.get("content-type")], text).toEqual([200, "application/x-ndjson"]);
  const lines = jsonLines(text);
  expect(lines[0]).toMatchObject({ type: "export", subject: `user:${user}` });
  expect(ofType(lines, "thread")).toMatchObject([{ title: "Of a longer value" }]);
  expect(lines.at(-1)).toMatchObject({ type: "end", counts: { thread: 1 } });
  expect(code(await home.owner("POST", "/exports", { subject: "x" }))).toEqual([400, undefined]);
});

test("an export without a subject is refused", async () => {
  for (const subject of ["", "x", "person:1", "user:", `agent:${UNKNOWN}`, `user:${"x".repeat(8_000)}`])
    expect(code(await home.owner("GET", `/exports?subject=${subject}`)), subject).toEqual([400, undefined]);
});
