import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientOf, fileForm, say, signIn, startService } from "./service.ts";

const KILOBYTE = 1_000;

const service = await startService({ HISTORY_KILOBYTES: "20", THREAD_MEGABYTES: "1", ORGANIZATION_MEGABYTES: "3" });
const call = clientOf(service, service.credentials.api_key);

const complete = (body: unknown, headers?: Record<string, string>) => call("POST", "/chat/completions", body, headers);

const upload = (content: string, name: string, as = call) => as("POST", "/files", fileForm(content, name));

/** Files below the blobs' folder whose path contains a word. */
const blobsOf = async (word: string): Promise<string[]> =>
  (await readdir(service.blobs, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes(word));

test("a file that is attached sixteen times is stored once beside the upload, and reaches the model once", async () => {
  const { body } = await upload("The harbour closes at nine. ".repeat(1_000), "harbour.txt");
  const content = [{ type: "text", text: "See" }, ...Array(15).fill({ type: "file", file: { file_id: body.id } })];
  const { headers, body: answer } = await complete({
    model: "offline/echo",
    messages: [{ role: "user", content }],
    attachments: [body.id],
  });
  expect(answer.choices[0].message.content).toBe("See\n[harbour.txt, text/plain, 28000 bytes]");
  const thread = headers.get("x-thread-id")!;
  const [uploaded, ...others] = await blobsOf(`file-${body.id}`);
  const attached = await blobsOf(`thread-${thread}`);
  expect([others, attached.length]).toEqual([[], 1]);
  expect((await stat(attached[0]!)).ino).toBe((await stat(uploaded!)).ino);

  await call("DELETE", `/files/${body.id}`);
  const asked = say("When does the harbour close?", { model: "offline/extractive" });
  const later = await complete(asked, { "x-thread-id": thread });
  expect(later.body.choices[0].message.content).toContain("The harbour closes at nine.");

  await call("DELETE", `/threads/${thread}`);
  await expect.poll(() => blobsOf(`thread-${thread}`)).toEqual([]);
});

test("attached files do not shorten a page of messages", async () => {
  const wide = await startService();
  const ask = clientOf(wide, wide.credentials.api_key);
  const file = { file_data: Buffer.alloc(1_200 * KILOBYTE).toString("base64"), filename: "zeros.bin" };
  const content = [{ type: "file", file }];
  let thread: Record<string, string> = {};
  for (let n = 0; n < 3; n++) {
    const { headers } = await ask(
      "POST",
      "/chat/completions",
      { model: "offline/echo", messages: [{ role: "user", content }] },
      thread,
    );
    thread = { "x-thread-id": headers.get("x-thread-id")! };
  }
  const { body } = await ask("GET", `/threads/${thread["x-thread-id"]}/messages`);
  expect([body.data.length, body.has_more]).toEqual([6, false]);
});

test("inline content that is attached twice is stored once", async () => {
  const file_data = Buffer.from("twice the same").toString("base64");
  const part = (filename: string) => ({ type: "file", file: { file_data, filename } });
  const { headers } = await complete({
    model: "offline/echo",
    messages: [{ role: "user", content: [part("one.txt"), part("two.txt")] }],
  });
  const { body } = await call("GET", `/threads/${headers.get("x-thread-id")}/messages`);
  expect(body.data[0].attachments.map(({ filename }: any) => filename)).toEqual(["one.txt", "two.txt"]);
  expect(await blobsOf(`thread-${headers.get("x-thread-id")}`)).toHaveLength(1);
});

test("a full thread refuses attachments and long messages, but accepts short ones", async () => {
  const { headers } = await complete(say("x".repeat(600 * KILOBYTE)));
  const thread = { "x-thread-id": headers.get("x-thread-id")! };
  await expect
    .poll(async () => (await complete(say("y".repeat(600 * KILOBYTE)), thread)).body.error)
    .toMatchObject({ code: "thread_too_large", param: "messages", message: expect.stringContaining("1 MB") });
  const file = { file_data: Buffer.alloc(600 * KILOBYTE).toString("base64"), filename: "zeros.bin" };
  const attached = await complete(
    { model: "offline/echo", messages: [{ role: "user", content: [{ type: "file", file }] }] },
    thread,
  );
  expect([attached.status, attached.body.error.code]).toEqual([413, "thread_too_large"]);
  expect(attached.body.error.param).toBe("messages[0].content[0].file.file_data");
  expect((await complete(say("short"), thread)).status).toBe(200);
  // another thread would not help a message that no thread takes
  const alone = await complete(say("z".repeat(1_200 * KILOBYTE)));
  expect([alone.status, alone.body.error.message]).toEqual([413, expect.stringContaining("Send less at a time.")]);
});

test("an organization with full storage is refused uploads, while another one is not", async () => {
  const first = clientOf(service, (await service.organization("Full")).api_key);
  expect((await upload("f".repeat(2_900 * KILOBYTE), "large.txt", first)).status).toBe(201);
  const second = await upload("f".repeat(200 * KILOBYTE), "more.txt", first);
  expect([second.status, second.body.error.code, second.body.error.param]).toEqual([
    413,
    "storage_limit_reached",
    "file",
  ]);
  const other = clientOf(service, (await service.organization("Empty")).api_key);
  expect((await upload("f".repeat(200 * KILOBYTE), "more.txt", other)).status).toBe(201);
});

test("every version of a definition counts for what its organization stores, and a deleted definition no longer does", async () => {
  const { admin } = await service.organization("Scripts");
  const { call: person } = await signIn(service.base, admin);
  // its source and its compiled code are stored
  const source = `/* ${"c".repeat(240 * KILOBYTE)} */ export function execute() { return 1 }`;
  const { body } = await person("POST", "/definitions", { type: "tool", name: "long", source });
  const save = () => person("PATCH", `/definitions/${body.id}`, { source });
  const refused = async () => {
    for (let n = 0; n < 20; n++) {
      const { status, body: answer } = await save();
      if (status !== 200) return [status, answer.error.code, answer.error.param];
    }
    return undefined;
  };
  expect(await refused()).toEqual([413, "storage_limit_reached", "source"]);
  expect((await person("DELETE", `/definitions/${body.id}`)).status).toBe(204);
  expect((await person("POST", "/definitions", { type: "tool", name: "again", source })).status).toBe(201);
});

test("a turn loads only the newest turns of a long thread, and only the newest with attachments", async () => {
  const { headers } = await complete(say("first"));
  const thread = { "x-thread-id": headers.get("x-thread-id")! };
  const tokens: number[] = [];
  for (let n = 0; n < 8; n++) {
    const { body } = await complete(say(`${n} ${"word ".repeat(1_000)}`), thread);
    tokens.push(body.usage.prompt_tokens);
  }
  // each turn adds 2,000 tokens: 1,000 asked and 1,000 echoed; two of them fit into 20 kB
  expect(tokens[1]! - tokens[0]!).toBeGreaterThan(1_900);
  expect(tokens[7]).toBe(tokens[6]);
  expect(tokens[7]).toBeLessThan(3.5 * tokens[0]!);
});

test("the messages of a long thread come in pages of whole turns", async () => {
  const { headers } = await complete(say("turn 0"));
  const thread = headers.get("x-thread-id")!;
  for (let n = 1; n < 5; n++) await complete(say(`turn ${n}`), { "x-thread-id": thread });
  const seen: string[] = [];
  let page = (await call("GET", `/threads/${thread}/messages?limit=2`)).body;
  for (; ; page = (await call("GET", `/threads/${thread}/messages?limit=2&after=${page.last_id}`)).body) {
    seen.push(page.data.map(({ content }: any) => content).join());
    if (!page.has_more) break;
  }
  expect(seen).toEqual(["turn 0,turn 0,turn 1,turn 1", "turn 2,turn 2,turn 3,turn 3", "turn 4,turn 4"]);
  const other = (await complete(say("Of another thread"))).headers.get("x-thread-id")!;
  const foreign = (await call("GET", `/threads/${other}/messages`)).body.last_id;
  for (const after of ["nonsense", foreign]) {
    const wrong = await call("GET", `/threads/${thread}/messages?after=${after}`);
    expect([wrong.status, wrong.body.error?.param]).toEqual([400, "after"]);
  }
  const end = (await call("GET", `/threads/${thread}/messages?after=${page.last_id}`)).body;
  expect([end.data, end.has_more]).toEqual([[], false]);
});
