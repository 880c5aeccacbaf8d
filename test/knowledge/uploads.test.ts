import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { realFile } from "../files/index.ts";
import { openLibrary } from "./library.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const library = await openLibrary();
const call = library.call;
const shelf = await library.collect("Shelf");
const total = async () => (await call("GET", `/collections/${shelf}/documents`)).body.total as number;

test("an upload by a person creates a document that can be listed, changed, downloaded and deleted", async () => {
  const slug = await library.collect("One document");
  const list = async () => (await call("GET", `/collections/${slug}/documents`)).body;
  const person = library.as(await library.signIn());
  const { status, body } = await person.upload(slug, { content: "# Hi\n", name: "../no/te.md", type: "text/markdown" });
  expect([status, body]).toEqual([
    202,
    {
      id: expect.stringMatching(UUID),
      collection_id: expect.stringMatching(UUID),
      name: "te.md",
      mime_type: "text/markdown",
      size_bytes: 5,
      status: "pending",
      chunk_count: 0,
      tags: [],
      source: "upload",
      created_at: expect.stringMatching(TIME),
      updated_at: expect.stringMatching(TIME),
    },
  ]);
  const path = `/documents/${body.id}`;
  expect(await list()).toMatchObject({ data: [{ id: body.id }], total: 1, limit: 50, offset: 0 });
  expectRefusal(await call("GET", `/collections/${slug}/documents?status=done`), 400, "invalid_status");
  const changed = await call("PATCH", path, { name: "new.md", tags: ["z"] });
  expect(changed.body).toMatchObject({ id: body.id, name: "new.md", tags: ["z"] });
  const content = await call("GET", `${path}/content`);
  expect([content.text, content.headers.get("content-type")]).toEqual(["# Hi\n", "text/markdown"]);
  expect(content.headers.get("content-disposition")).toBe("attachment; filename=new.md");
  expect((await call("DELETE", path)).status).toBe(204);
  for (const part of ["", "/text", "/content"]) expectRefusal(await call("GET", path + part), 404, "not_found");
  expect(await list()).toMatchObject({ data: [], total: 0 });
  expect((await library.upload(slug, { content: "# Hi\n" })).status).toBe(202);
});

describe("uploading identical bytes", () => {
  test("creates one document per collection, whatever the file names are", async () => {
    const content = realFile("guide.docx");
    const first = await library.keep(shelf, { content, name: "guide.docx", fields: [["tags", "one"]] });
    const again = await library.upload(shelf, { content, name: "other.docx", fields: [["tags", "two"]] });
    expect([again.status, again.body]).toEqual([200, first]);
  });

  test("to two collections creates two documents", async () => {
    const second = await library.collect("Second shelf");
    const content = "Twice, in two places.";
    const one = await library.upload(shelf, { content });
    const two = await library.upload(second, { content });
    expect([one.status, two.status, one.body.id === two.body.id]).toEqual([202, 202, false]);
  });

  test("eight times at once creates one document", async () => {
    const before = await total();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => library.upload(shelf, { content: "All at once.", name: `${n}.md` })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
    expect(await total()).toBe(before + 1);
    expect((await library.ended(answers[0]!.body.id)).status).toBe("ready");
  });

  test("reads them again if the first document failed", async () => {
    const content = realFile("locked.pdf");
    const failed = await library.keep(shelf, { content, name: "locked.pdf" });
    expect(failed.status).toBe("failed");
    const again = await library.upload(shelf, { content, name: "locked.pdf" });
    expect([again.status, again.body.id]).toEqual([202, failed.id]);
    expect(again.body.status).toMatch(/^(pending|processing)$/);
    expect(again.body).not.toHaveProperty("error");
    expect((await library.ended(failed.id)).status).toBe("failed");
  });

  test("under the same idempotency key returns the same answer", async () => {
    const sent = { content: "Under a key.", name: "key.md", headers: { "idempotency-key": "upload-1" } };
    const first = await library.upload(shelf, sent);
    const again = await library.upload(shelf, sent);
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    expectRefusal(await library.upload(shelf, { ...sent, content: "Something else." }), 422, "idempotency_key_reused");
    expect((await call("DELETE", `/documents/${first.body.id}`)).status).toBe(204);
    expectRefusal(await library.upload(shelf, sent), 404, "not_found");
    expect((await library.upload(shelf, { content: sent.content })).status).toBe(202);
  });

  test("under a new idempotency key returns the existing document, and creates one once that is deleted", async () => {
    const content = "Here before its key.";
    const existing = (await library.upload(shelf, { content })).body.id;
    const send = () => library.upload(shelf, { content, headers: { "idempotency-key": "upload-2" } });
    for (const { status, body } of [await send(), await send()]) expect([status, body.id]).toEqual([200, existing]);
    await call("DELETE", `/documents/${existing}`);
    const [created, again] = [await send(), await send()];
    expect([created.status, again.status, again.body.id]).toEqual([202, 202, created.body.id]);
    expect(created.body.id).not.toBe(existing);
  });
});

describe("the tags of an upload", () => {
  test.each([
    ["one field", [["tags", "a"]], ["a"]],
    [
      "repeated fields",
      [
        ["tags", "a"],
        ["tags", "b"],
        ["tags", "a"],
      ],
      ["a", "b"],
    ],
    ["a JSON array", [["tags", '["a", "b c"]']], ["a", "b c"]],
    [
      "a field and a JSON array",
      [
        ["tags", "a"],
        ["tags", '["b","a"]'],
      ],
      ["a", "b"],
    ],
    ["no field", [], []],
    ["filter syntax", [["tags", 'x" OR org != "']], ['x" OR org != "']],
  ] as [string, [string, string][], string[]][])("can be sent as %s", async (what, fields, tags) => {
    const { status, body } = await library.upload(shelf, { content: `Tags: ${what}`, fields });
    expect([status, body.tags]).toEqual([202, tags]);
  });

  test("have at most 200 characters each", async () => {
    expectRefusal(await library.upload(shelf, { fields: [["tags", "x".repeat(201)]] }), 400, undefined, "tags");
  });
});

const END = "--b--\r\n";
const part = (disposition: string, content = "x", type = "text/plain") =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
const FILE = part('name="file"; filename="a.txt"', "words");
const send = (body: string, type = "multipart/form-data; boundary=b") =>
  call("POST", `/collections/${shelf}/documents`, body, { "content-type": type });

describe("an upload form", () => {
  test("may have its file in a field of any name, after other fields", async () => {
    const { status, body } = await send(part('name="x"') + part('name="anything"; filename="b.txt"', "any name") + END);
    expect([status, body.name, body.size_bytes]).toEqual([202, "b.txt", 8]);
  });

  test("may have any number of unknown fields, whatever they hold", async () => {
    const broken = part('name="zzz"', "{broken", "application/json");
    const many = Array.from({ length: 105 }, (_, n) => part(`name="f${n}"`)).join("");
    const file = part('name="file"; filename="c.txt"', "beside unknown fields");
    const { status, body } = await send(broken + many + file + part('name="tags"', "kept") + END);
    expect([status, body.name, body.tags]).toEqual([202, "c.txt", ["kept"]]);
    expectRefusal(await send(part('name="tags"', "[broken", "application/json") + FILE + END), 400, "invalid_body");
  });

  test.each([
    ["no parts", "missing_file", END],
    ["an empty body", "missing_file", ""],
    ["a part without a filename", "missing_file", part('name="file"') + END],
    ["two files", "too_many_files", FILE + FILE + END],
    ["two files of different names", "too_many_files", FILE + part('name="more"; filename="b.txt"', "more") + END],
    ["no closing boundary", "invalid_body", FILE],
    ["an end inside a header", "invalid_body", "--b\r\nContent-Disp"],
    ["another boundary", "invalid_body", FILE.replaceAll("--b", "--c") + END.replaceAll("--b", "--c")],
    ["an empty file", "empty_document", part('name="file"; filename="a.txt"', "") + END],
  ])("with %s is refused with %s", async (_what, code, body) => {
    const before = await total();
    expectRefusal(await send(body), 400, code);
    expect(await total()).toBe(before);
  });

  test("may have white space before its boundary", async () => {
    const body = part('name="file"; filename="d.txt"', "beside white space") + END;
    expect((await send(body, "Multipart/Form-Data ; boundary=b")).status).toBe(202);
  });

  test.each(["application/json", "text/plain", "multipart/form-data", "multipart/mixed; boundary=b"])(
    "sent as %s is refused",
    async (type) => expectRefusal(await send(FILE + END, type), 400, "invalid_body"),
  );
});

describe("an upload of an unsupported type:", () => {
  const film = Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex");
  test.each([
    ["a film", film, "a.mp4", "video/mp4"],
    ["a film called a PDF", film, "a.pdf", "application/pdf"],
    ["an archive", Buffer.from("504b0506000000000000000000000000000000000000", "hex"), "a.zip", "application/zip"],
    ["a program", Buffer.concat([Buffer.from("7f454c4602010100", "hex"), Buffer.alloc(200)]), "a", ""],
    [
      "a sound",
      Buffer.concat([Buffer.from("ID3\u0003\u0000\u0000\u0000\u0000\u0000\u0000"), Buffer.alloc(100)]),
      "a.mp3",
      "audio/mpeg",
    ],
    ["random bytes", Buffer.from("00ff00fe80818283c0c1f5f6", "hex"), "a.bin", "application/octet-stream"],
    ["packed bytes called a text", Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 37) % 256)), "a.txt", ""],
    ["text with an unknown ending", Buffer.from("text"), "a.xyz", "application/octet-stream"],
  ])("%s is refused", async (_what, content, name, type) => {
    const before = await total();
    expectRefusal(await library.upload(shelf, { content, name, type }), 415, "unsupported_file_type");
    expectRefusal(await library.extract({ content, name, type }), 415, "unsupported_file_type");
    expect(await total()).toBe(before);
  });
});

test("an upload to an unknown collection is refused and stores nothing", async () => {
  expectRefusal(await library.upload("nowhere"), 404, "collection_not_found");
});
