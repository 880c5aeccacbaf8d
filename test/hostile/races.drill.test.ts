import { afterEach, describe, expect, test } from "vitest";
import { fileForm } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget, type TargetAnswer } from "./target.ts";

const target = await startTarget();
leavesWell(() => target, afterEach);

const started = "select from log.events where type = 'TurnStarted'";
const begun = async (): Promise<number> => (await target.platform.resources.db.query(started, [])).length;
const thread = async () => (await target.complete(say("Hello"))).headers.get("x-thread-id")!;
const upload = (name: string, headers: Record<string, string> = {}) =>
  target.send("POST", "/files", fileForm(name, `${name}.txt`), headers);
const slow = (text: string, more: object = {}) => say(`/slow 3\n/say ${text}`, { model: "offline/scripted", ...more });
const tally = (answers: TargetAnswer[]) => {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const times = <T>(n: number, each: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, at) => each(at)));

describe("a thread that is deleted while its turn runs", () => {
  test("returns 404 to waiting clients", async () => {
    const id = await thread();
    const before = await begun();
    const waiting = target.complete(slow("one"), { "x-thread-id": id });
    await expect.poll(begun).toBe(before + 1);
    expect((await target.send("DELETE", `/threads/${id}`)).status).toBe(200);
    expectRefusal(await waiting, 404, "thread_not_found", "x-thread-id");
  });

  test("ends a stream with an error", async () => {
    const id = await thread();
    // resolves with the first word
    const streaming = await fetch(`${target.chat}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${target.api_key}`, "content-type": "application/json", "x-thread-id": id },
      body: JSON.stringify(slow("one two three", { stream: true })),
    });
    expect((await target.send("DELETE", `/threads/${id}`)).status).toBe(200);
    const text = await streaming.text();
    expect([streaming.status, text.includes("[DONE]")]).toEqual([200, false]);
    expect(JSON.parse(text.trim().split("data: ").at(-1)!)).toEqual({
      error: { message: expect.stringContaining("deleted"), type: "api_error", param: null, code: null },
    });
  });
});

test("fifty concurrent turns of one thread run one after the other", async () => {
  const id = await thread();
  expect(tally(await times(50, (n) => target.complete(say(`turn ${n}`), { "x-thread-id": id })))).toEqual({ 200: 50 });
  const { data } = (await target.send("GET", `/threads/${id}/messages?limit=100`)).body as {
    data: { role: string; content: string }[];
  };
  expect(data).toHaveLength(102);
  for (let at = 0; at < data.length; at += 2) {
    expect([data[at]!.role, data[at + 1]!.role]).toEqual(["user", "assistant"]);
    expect(data[at]!.content).toBe(data[at + 1]!.content);
  }
});

test("a hundred requests under one key count as one", async () => {
  const answers = await times(100, () => target.complete(say("same"), { "idempotency-key": "hundred" }));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const files = await times(20, () => upload("same", { "idempotency-key": "twenty" }));
  expect(new Set(files.map(({ body }) => body.id)).size).toBe(1);
  expectRefusal(await upload("other", { "idempotency-key": "twenty" }), 422, "idempotency_key_reused");
});

test("a file is deleted once, and concurrent readers get it completely or not at all", async () => {
  const { id } = (await upload("contested")).body;
  const all = await times(40, (n) => {
    if (n % 4 === 3) return target.send("DELETE", `/files/${id}`);
    if (n % 2 === 0) return target.complete(say("x", { attachments: [id] }));
    return target.send("GET", `/files/${id}/content`);
  });
  expect(all.filter(({ body }) => body?.deleted === true)).toHaveLength(1);
  expect(all.every(({ status }) => status === 200 || status === 404)).toBe(true);
  expect((await target.complete(say("x", { attachments: [id] }))).status).toBe(404);
});
