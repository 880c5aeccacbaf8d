import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { countEvents } from "../countEvents.ts";
import { expectRefusal, leavesWell, parsed, say, startTarget } from "./target.ts";

const target = await startTarget();
leavesWell(() => target, afterEach);

const part = (disposition: string, content: string | Buffer = "x", type = "text/plain") =>
  Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
const file = part('name="file"; filename="a.txt"');
const END = Buffer.from("--b--\r\n");
const upload = (parts: (Buffer | string)[], type = "multipart/form-data; boundary=b") =>
  target.send("POST", "/files", Buffer.concat(parts.map((one) => Buffer.from(one))), { "content-type": type });
const listed = async () => (await target.send("GET", "/files")).body.data.length as number;

describe("a form that cannot be read", () => {
  test.each<[string, string, (Buffer | string)[]]>([
    ["nothing", "missing_file", []],
    ["only an end", "missing_file", [END]],
    ["no end", "invalid_multipart", [file]],
    [
      "a field twice",
      "invalid_multipart",
      [part('name="purpose"', "assistants"), part('name="purpose"', "vision"), file, END],
    ],
    [
      "no end after the name",
      "invalid_multipart",
      ['--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'],
    ],
    ["no end after a header", "invalid_multipart", ["--b\r\nContent-Disp"]],
    ["another boundary", "invalid_multipart", [file.toString().replaceAll("--b", "--c"), "--c--\r\n"]],
    ["only text", "invalid_multipart", ["hello"]],
    ["no file", "missing_file", [part('name="purpose"'), END]],
    ["a file under another name", "missing_file", [part('name="upload"; filename="a.txt"'), END]],
    ["a file without a filename", "missing_file", [part('name="file"'), END]],
    ["a part without a name", "missing_file", [part('filename="a.txt"'), END]],
    ["a part without a disposition", "missing_file", ["--b\r\nContent-Type: text/plain\r\n\r\nx\r\n", END]],
    ["a part named __proto__", "invalid_multipart", [part('name="__proto__"'), file, END]],
    ["a file named __proto__", "invalid_multipart", [part('name="__proto__"; filename="a.txt"'), file, END]],
    ["a part named constructor", "invalid_multipart", [part('name="constructor"'), file, END]],
    ["two files", "invalid_multipart", [file, file, END]],
    [
      "10,000 fields",
      "invalid_multipart",
      [...Array.from({ length: 10_000 }, (_, n) => part(`name="f${n}"`)), file, END],
    ],
    ["10,000 files", "invalid_multipart", [...Array(10_000).fill(file), END]],
    ["a field that is too large", "invalid_multipart", [part('name="purpose"', "x".repeat(70_000)), file, END]],
    ["a header that is too long", "missing_file", [`--b\r\nX-Long: ${"h".repeat(100_000)}\r\n`, file.subarray(5), END]],
    ["a user that is no text", "invalid_multipart", [part('name="user"', '{"a":1}', "application/json"), file, END]],
    ["a field of bad JSON", "invalid_multipart", [part('name="user"', "{", "application/json"), file, END]],
    ["an empty file", "invalid_file", [part('name="file"; filename="a.txt"', ""), END]],
  ])("%s: %s", async (_name, code, parts) => {
    const before = await listed();
    expectRefusal(await upload(parts), 400, code);
    expect(await listed()).toBe(before);
  });

  test.each([
    "application/json",
    "text/plain",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/mixed; boundary=b",
    `multipart/form-data; boundary=${"b".repeat(500)}`,
  ])("with a content type of %s", async (type) => {
    const { status, body } = await upload([file, END], type);
    expect([400, 415]).toContain(status);
    expect(body.error).toMatchObject({ type: "invalid_request_error", message: expect.any(String) });
  });
});

describe("a form that is unusual but readable", () => {
  test("with only filename*", async () => {
    const { status, body } = await upload([part("name=\"file\"; filename*=UTF-8''na%C3%AFve%20%F0%9F%8E%89.txt"), END]);
    expect([status, body.filename]).toEqual([201, "naïve 🎉.txt"]);
  });

  test("with a filename* that cannot be decoded", async () => {
    const { status, body } = await upload([part("name=\"file\"; filename*=UTF-8''%ff%zz.txt"), END]);
    expect([201, 400]).toContain(status);
    expect(body.error?.code ?? body.object).toBeOneOf(["missing_file", "invalid_multipart", "file"]);
  });

  test("with text before and after, parts in any order, and unknown fields", async () => {
    const fields = [part('name="purpose"', "assistants"), part('name="unknown"'), part('name="user"', "ada")];
    const { status, body } = await upload(["preamble\r\n", file, ...fields, END, "epilogue"]);
    expect([status, body.bytes, body.purpose, body.filename]).toEqual([201, 1, "assistants", "a.txt"]);
    expect((await target.send("GET", `/files/${body.id}`)).status).toBe(404);
    expect((await target.send("GET", `/files/${body.id}?user=ada`)).body).toEqual(body);
  });

  test("with characters in fields that stores cannot hold", async () => {
    const odd = "a\u0000b\u202e' or 1=1 --";
    const { status, body } = await upload([part('name="purpose"', odd), part('name="user"', odd), file, END]);
    expect([status, body.purpose]).toEqual([201, odd]);
    expect((await target.send("GET", `/files/${body.id}?user=${encodeURIComponent(odd)}`)).body).toEqual(body);
  });

  test("cannot inject a header through a content type", async () => {
    for (const type of ["text/html\tx", "text", "<script>/x", "text/plain;\0", "a".repeat(3_000)]) {
      const { status, body } = await upload([part('name="file"; filename="a.png"', "x", type), END]);
      expect(status).toBe(201);
      expect(body.mime_type).toMatch(/^[\w.+-]+\/[\w.+-]+$/);
    }
  });

  test("may contain bytes that look like a boundary", async () => {
    const bytes = "-b\r\n--\r\n --b--\r\n\r\n--c--\r\n";
    const { body } = await upload([part('name="file"; filename="a.bin"', bytes), END]);
    expect((await target.send("GET", `/files/${body.id}/content`)).text).toBe(bytes);
  });
});

describe("an upload that is never finished", () => {
  const head = (length: number) =>
    target.head(
      "POST /api/openai/v1/files",
      "Content-Type: multipart/form-data; boundary=b",
      `Content-Length: ${length}`,
    );

  test("and is then cut off stores nothing", async () => {
    const before = await listed();
    const count = await files();
    for (const sent of ["", "--b\r\n", file.toString()]) {
      const { socket } = target.open(head(10_000) + sent);
      await sleep(50);
      socket.destroy();
    }
    await sleep(200);
    expect(await listed()).toBe(before);
    expect(await files()).toBe(count);
  });

  test("disturbs nobody while it hangs", async () => {
    const hanging = Array.from({ length: 20 }, () => target.open(head(10_000) + file.toString()));
    expect((await upload([file, END])).status).toBe(201);
    expect((await target.complete(say("meanwhile"))).status).toBe(200);
    for (const { socket } of hanging) socket.destroy();
  });

  test("a form shorter than its declared length is refused once the sender stops", async () => {
    const { socket, received, closed } = target.open(head(10_000) + file.toString() + END.toString());
    socket.end();
    await closed;
    const answer = parsed(received());
    if (answer) expect([answer.status, answer.body.error.type]).toEqual([400, "invalid_request_error"]);
  });

  const files = () => countEvents(target.platform.resources.db, "FileUploaded");
});

test("a file of 100 MB is stored, and one byte more is refused", async () => {
  const most = Buffer.alloc(100_000_000, "a");
  const begin = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n');
  const kept = await upload([begin, most, "\r\n", END]);
  expect([kept.status, kept.body.bytes]).toEqual([201, 100_000_000]);
  expectRefusal(await upload([begin, most, "a\r\n", END]), 413, "file_too_large");
  expectRefusal(await upload([begin, most, Buffer.alloc(2_000_000), "\r\n", END]), 413, "file_too_large");
});
