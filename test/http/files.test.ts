import { describe, expect, test } from "vitest";
import { raw } from "./raw.ts";
import { clientOf, fileForm, startService } from "./service.ts";

const service = await startService();
const call = clientOf(service, service.credentials.api_key);

const upload = (content: string | Buffer<ArrayBuffer>, name: string, type: string, fields = {}) =>
  call("POST", "/files", fileForm(content, name, { type, fields }));

/** A multipart body written by hand; incomplete when `end` is false. */
const multipart = (parts: string[], end = true) =>
  call("POST", "/files", parts.map((part) => `--b\r\n${part}\r\n`).join("") + (end ? "--b--\r\n" : ""), {
    "content-type": "multipart/form-data; boundary=b",
  });
const part = (name: string, content = "x", filename = `; filename="${name}.txt"`) =>
  `Content-Disposition: form-data; name="${name}"${filename}\r\nContent-Type: text/plain\r\n\r\n${content}`;

describe("an uploaded file", () => {
  test("can be stored, listed, read and deleted", async () => {
    const { status, body } = await upload("hello", "note.txt", "text/plain", { purpose: "assistants" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: "file",
      bytes: 5,
      created_at: expect.any(Number),
      filename: "note.txt",
      purpose: "assistants",
      mime_type: "text/plain",
      status: "processed",
    });
    const list = await call("GET", "/files");
    expect(list.body).toMatchObject({ object: "list", first_id: body.id, has_more: false });
    expect((await call("GET", `/files/${body.id}`)).body).toEqual(body);
    const content = await call("GET", `/files/${body.id}/content`);
    expect(content.text).toBe("hello");
    expect(Object.fromEntries(content.headers)).toMatchObject({
      "content-type": "text/plain",
      "content-disposition": "attachment; filename=note.txt",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect((await call("DELETE", `/files/${body.id}`)).body).toEqual({ id: body.id, object: "file", deleted: true });
    const gone = await call("GET", `/files/${body.id}`);
    expect([gone.status, gone.body.error.code]).toEqual([404, "file_not_found"]);
    expect((await call("DELETE", `/files/${body.id}`)).status).toBe(404);
  });

  test("has the purpose user_data by default, and a type from its name if the client sends none", async () => {
    const { body } = await upload("%PDF", "paper.pdf", "application/octet-stream");
    expect(body).toMatchObject({ purpose: "user_data", mime_type: "application/pdf" });
  });

  const PNG = "\u0089PNG\r\n\u001a\n\u0000";
  test.each([
    [
      "like OpenAI's client for .NET",
      "name=file; filename=a.pdf; filename*=utf-8''a.pdf",
      "%PDF-1.7",
      "a.pdf",
      "application/pdf",
    ],
    [
      "with a name outside ASCII",
      "name=file; filename=\"=?utf-8?B?w6QucG5n?=\"; filename*=utf-8''%C3%A4.png",
      PNG,
      "ä.png",
      "image/png",
    ],
    ["like ruby-openai", 'name="file"; filename="a.png"\r\nContent-Type: ', PNG, "a.png", "image/png"],
    ["with text", 'name="file"; filename="a.csv"', "a,b", "a.csv", "text/plain"],
  ])(
    "has the type of its name if its part has none and the bytes are no text: %s",
    async (_name, head, content, filename, mime_type) => {
      const { status, body } = await multipart([`Content-Disposition: form-data; ${head}\r\n\r\n${content}`]);
      expect([status, body.filename, body.mime_type]).toEqual([201, filename, mime_type]);
    },
  );

  test("belongs to one pair of key and user", async () => {
    const { body } = await upload("mine", "mine.txt", "text/plain", { user: "ada" });
    expect((await call("GET", `/files/${body.id}?user=ada`)).status).toBe(200);
    const unknown = await call("GET", "/files/01900000-0000-7000-8000-000000000000");
    for (const query of ["", "?user=", "?user=bob"])
      expect((await call("GET", `/files/${body.id}${query}`)).body).toEqual(unknown.body);
    expect((await call("GET", `/files/${body.id}?user=a&user=ada`)).status).toBe(400);
    expect((await call("GET", "/files/nonsense")).body).toEqual(unknown.body);
    const other = clientOf(service, (await service.organization("Other")).api_key);
    expect((await other("GET", `/files/${body.id}?user=ada`)).body).toEqual(unknown.body);
  });

  test("with a very long name is stored under a shorter one", async () => {
    const { status, body } = await upload("x", `${"n".repeat(5_000)}.txt`, "text/plain");
    expect(status).toBe(201);
    expect(Buffer.byteLength(body.filename)).toBeLessThanOrEqual(255);
    expect(body.filename.endsWith(".txt")).toBe(true);
  });

  test("of 30 MB is stored, but too large for a completion", async () => {
    const { status, body } = await upload(Buffer.alloc(30_000_000), "large.bin", "application/octet-stream");
    expect([status, body.bytes]).toEqual([201, 30_000_000]);
    const answer = await call("POST", "/chat/completions", {
      model: "offline/echo",
      messages: [{ role: "user", content: "x" }],
      attachments: [body.id],
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, "attachment_too_large"]);
  });
});

describe("an upload is refused", () => {
  test.each([
    ["no file", [part("purpose", "x", "")], 400, "missing_file"],
    ["a file part without a filename", [part("file", "x", "")], 400, "missing_file"],
    ["an empty file", [part("file", "")], 400, "invalid_file"],
    ["two files", [part("file"), part("file")], 400, "invalid_multipart"],
    ["very many parts", Array.from({ length: 10_000 }, (_, n) => part(`f${n}`, "x", "")), 400, "invalid_multipart"],
    ["a part named __proto__", [part("__proto__", "x", ""), part("file")], 400, "invalid_multipart"],
  ])("when it has %s", async (_name, parts, status, code) => {
    const answer = await multipart(parts);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test("when it is incomplete", async () => {
    const { status, body } = await multipart([part("file")], false);
    expect([status, body.error.code]).toEqual([400, "invalid_multipart"]);
  });

  test("when its part has only filename*", async () => {
    const { status } = await multipart([part("file", "x", "; filename*=UTF-8''odd%20name.txt")]);
    expect([201, 400]).toContain(status);
  });

  test("when it is JSON, or multipart without a boundary", async () => {
    const json = await call("POST", "/files", { file: "x" });
    expect([json.status, json.body.error.code]).toEqual([400, "invalid_multipart"]);
    const malformed = await call("POST", "/files", '{"file":', { "content-type": "application/json" });
    expect([malformed.status, malformed.body.error]).toMatchObject([400, json.body.error]);
    const bare = await call("POST", "/files", "x", { "content-type": "multipart/form-data" });
    expect([bare.status, bare.body.error.code]).toEqual([400, "invalid_multipart"]);
  });

  test.each(["text/plain", "application/pdf", "application/octet-stream"])("when it is %s", async (type) => {
    const { status, body } = await call("POST", "/files", "x", { "content-type": type });
    const message = "The body must be multipart/form-data.";
    expect([status, body.error]).toMatchObject([400, { code: "invalid_multipart", message }]);
  });

  test("when it is over 100 MB, by its length alone", async () => {
    const head = `POST /api/openai/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.credentials.api_key}\r\n`;
    const answer = await raw(
      service.base,
      `${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 200000000\r\n\r\n`,
    );
    expect(answer).toContain(" 413 ");
    expect(answer).toContain('"file_too_large"');
  });
});
