import { describe, expect, test } from "vitest";
import { clientOf, code, startService } from "./service.ts";

const service = await startService();
const base = `${service.base}/api/v1/knowledge`;
const below = clientOf(service, service.credentials.api_key);
const call: typeof below = (method, path, ...rest) => below(method, base + path, ...rest);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNKNOWN = "01900000-0000-7000-8000-000000000000";

let made = 0;
const collection = async (name = `Collection ${++made}`) => {
  const { status, body } = await call("POST", "/collections", { name });
  expect(status).toBe(201);
  return body;
};
const fileForm = (
  content: string | Buffer<ArrayBuffer>,
  name = "note.md",
  type = "text/markdown",
  tags: string[] = [],
) => {
  const form = new FormData();
  for (const tag of tags) form.append("tags", tag);
  form.append("anything", new File([content], name, { type }));
  return form;
};
const upload = (reference: string, ...form: Parameters<typeof fileForm>) =>
  call("POST", `/collections/${reference}/documents`, fileForm(...form));

describe("a collection", () => {
  test("can be created, read, renamed, listed and deleted", async () => {
    const created = await call("POST", "/collections", { name: " Hand Book ", description: "All of it", more: 1 });
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: expect.stringMatching(UUID),
        slug: "hand-book",
        name: "Hand Book",
        description: "All of it",
        documents: { ready: 0, pending: 0, failed: 0, total: 0, bytes: 0 },
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
      },
    ]);
    const { id } = created.body;
    for (const reference of ["hand-book", id, id.toUpperCase()])
      expect((await call("GET", `/collections/${reference}`)).body).toEqual(created.body);
    const renamed = await call("PATCH", "/collections/hand-book", { name: "Guide" });
    expect(renamed.body).toMatchObject({ id, slug: "hand-book", name: "Guide", description: "All of it" });
    const described = await call("PATCH", `/collections/${id}`, { description: "" });
    expect(described.body).toMatchObject({ name: "Guide", description: "" });
    const list = await call("GET", "/collections?limit=9999&offset=-1");
    expect(list.body).toMatchObject({ total: expect.any(Number), limit: 500, offset: 0 });
    expect(list.body.data[0]).toEqual(described.body);
    expect((await call("DELETE", `/collections/${id}`)).status).toBe(204);
    expect(code(await call("GET", `/collections/${id}`))).toEqual([404, "collection_not_found"]);
    expect(code(await call("DELETE", "/collections/hand-book"))).toEqual([404, "collection_not_found"]);
    expect((await collection("hand book")).slug).toBe("hand-book");
  });

  test.each([
    ["no body", undefined, "missing_name"],
    ["no name", {}, "missing_name"],
    ["null", { name: null }, "missing_name"],
    ["an empty name", { name: "" }, "missing_name"],
    ["a blank name", { name: "  " }, "missing_name"],
    ["a name without letters", { name: "!?" }, "invalid_name"],
    ["a number", { name: 7 }, "invalid_name"],
    ["a long name", { name: "x".repeat(121) }, "invalid_name"],
  ])("is refused with %s", async (_name, body, expected) => {
    expect(code(await call("POST", "/collections", body))).toEqual([400, expected]);
  });

  test("has a unique name and slug, ignoring case", async () => {
    await collection("Grüße");
    const other = await collection("Other greetings");
    for (const name of ["GRÜßE", "grusse!"])
      expect(code(await call("POST", "/collections", { name }))).toEqual([400, "collection_exists"]);
    expect(code(await call("PATCH", `/collections/${other.slug}`, { name: "gRÜSSE" }))).toEqual([200, undefined]);
    expect(code(await call("PATCH", `/collections/${other.slug}`, { name: "grüße" }))).toEqual([
      400,
      "collection_exists",
    ]);
  });

  test("is found by slug or id, but only in its organization", async () => {
    const { id, slug } = await collection();
    for (const reference of ["A B", "a_b", "-a", "ä"])
      expect(code(await call("GET", `/collections/${encodeURIComponent(reference)}`))).toEqual([
        400,
        "invalid_collection_reference",
      ]);
    const other = clientOf(service, (await service.organization("Other")).api_key);
    const unknown = await call("GET", `/collections/${UNKNOWN}`);
    expect(code(unknown)).toEqual([404, "collection_not_found"]);
    for (const reference of [id, slug]) {
      const answer = await other("GET", `${base}/collections/${reference}`);
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    }
  });

  test("is created once under one Idempotency-Key", async () => {
    const headers = { "idempotency-key": "one" };
    const first = await call("POST", "/collections", { name: "Keyed" }, headers);
    expect((await call("POST", "/collections", { name: "Keyed" }, headers)).body).toEqual(first.body);
    expect(code(await call("POST", "/collections", { name: "Else" }, headers))).toEqual([
      422,
      "idempotency_key_reused",
    ]);
  });
});

describe("a document", () => {
  test("can be uploaded once, listed, changed and deleted", async () => {
    const { id: collection_id, slug } = await collection();
    const { status, body } = await upload(slug, "# Hi\n", "../no/te.md", "text/markdown", ["a", '["b","a"]']);
    expect([status, body]).toEqual([
      202,
      {
        id: expect.stringMatching(UUID),
        collection_id,
        name: "te.md",
        mime_type: "text/markdown",
        size_bytes: 5,
        status: "pending",
        chunk_count: 0,
        tags: ["a", "b"],
        source: "api",
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
      },
    ]);
    const again = await upload(collection_id, "# Hi\n", "other.md");
    expect([again.status, again.body.id, again.body.name]).toEqual([200, body.id, "te.md"]);
    const list = await call("GET", `/collections/${slug}/documents`);
    expect(list.body).toMatchObject({ data: [{ id: body.id }], total: 1, limit: 50, offset: 0 });
    expect(code(await call("GET", `/collections/${slug}/documents?status=done`))).toEqual([400, "invalid_status"]);
    const changed = await call("PATCH", `/documents/${body.id}`, { name: "new.md", tags: ["z"] });
    expect(changed.body).toMatchObject({ id: body.id, name: "new.md", tags: ["z"] });
    const content = await call("GET", `/documents/${body.id}/content`);
    expect([content.text, content.headers.get("content-type")]).toEqual(["# Hi\n", "text/markdown"]);
    expect(content.headers.get("content-disposition")).toBe("attachment; filename=new.md");
    expect((await call("DELETE", `/documents/${body.id}`)).status).toBe(204);
    for (const path of ["", "/text", "/content"])
      expect(code(await call("GET", `/documents/${body.id}${path}`))).toEqual([404, "not_found"]);
    expect((await call("GET", `/collections/${slug}/documents`)).body).toMatchObject({ data: [], total: 0 });
    expect((await upload(slug, "# Hi\n")).status).toBe(202);
  });

  test("disappears with its collection at once", async () => {
    const { slug } = await collection();
    const { body } = await upload(slug, "gone soon");
    expect((await call("DELETE", `/collections/${slug}`)).status).toBe(204);
    const unknown = await call("GET", `/documents/${UNKNOWN}`);
    expect((await call("GET", `/documents/${body.id}`)).body).toEqual(unknown.body);
    expect(code(await upload(slug, "late"))).toEqual([404, "collection_not_found"]);
  });

  test("is created once under its Idempotency-Key", async () => {
    const { slug } = await collection();
    const send = (content: string) =>
      call("POST", `/collections/${slug}/documents`, fileForm(content), { "idempotency-key": "k" });
    const first = await send("keyed");
    const second = await send("keyed");
    expect([second.status, second.body.id]).toEqual([202, first.body.id]);
    expect(code(await send("else"))).toEqual([422, "idempotency_key_reused"]);
    expect((await call("DELETE", `/documents/${first.body.id}`)).status).toBe(204);
    expect(code(await send("keyed"))).toEqual([404, "not_found"]);
    expect((await upload(slug, "keyed")).status).toBe(202);
  });

  test("whose bytes exist returns the existing one, and is created once that is deleted", async () => {
    const { slug } = await collection();
    const there = await upload(slug, "met");
    const send = () => call("POST", `/collections/${slug}/documents`, fileForm("met"), { "idempotency-key": "m" });
    for (const { status, body } of [await send(), await send()])
      expect([status, body.id]).toEqual([200, there.body.id]);
    await call("DELETE", `/documents/${there.body.id}`);
    const [anew, again] = [await send(), await send()];
    expect([anew.status, again.status, again.body.id]).toEqual([202, 202, anew.body.id]);
    expect(anew.body.id).not.toBe(there.body.id);
  });

  test("is created once by parallel uploads", async () => {
    const { slug } = await collection();
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(slug, "at once")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test.each([
    ["no file", "missing_file", [["tags", "a"]]],
    [
      "two files",
      "too_many_files",
      [
        ["a", new File(["x"], "a.txt")],
        ["b", new File(["y"], "b.txt")],
      ],
    ],
    ["an empty file", "empty_document", [["a", new File([], "a.txt")]]],
    [
      "a bad tag",
      undefined,
      [
        ["tags", "x".repeat(201)],
        ["a", new File(["x"], "a.txt")],
      ],
    ],
  ] as [string, string | undefined, [string, string | File][]][])(
    "is not made of %s",
    async (_name, expected, parts) => {
      const { slug } = await collection();
      const form = new FormData();
      for (const [name, value] of parts) form.append(name, value);
      expect(code(await call("POST", `/collections/${slug}/documents`, form))).toEqual([400, expected]);
    },
  );

  test.each([
    ["a film", Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex"), "a.pdf", "application/pdf"],
    ["packed bytes", Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 37) % 256)), "a.txt", "text/plain"],
    ["an unknown ending", Buffer.from("text"), "a.xyz", "application/octet-stream"],
    ["an archive", Buffer.from("504b0304140000000000", "hex"), "a.zip", "application/zip"],
  ])("is refused as %s, which has no reader", async (_name, bytes, name, type) => {
    const { slug } = await collection();
    expect(code(await upload(slug, bytes, name, type))).toEqual([415, "unsupported_file_type"]);
  });

  test("must be sent in a form", async () => {
    const { slug } = await collection();
    const path = `/collections/${slug}/documents`;
    expect(code(await call("POST", path, { file: "x" }))).toEqual([400, "invalid_body"]);
    const bare = await call("POST", path, "x", { "content-type": "multipart/form-data" });
    expect(code(bare)).toEqual([400, "invalid_body"]);
    const unfinished = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx';
    const cut = await call("POST", path, unfinished, { "content-type": "multipart/form-data; boundary=b" });
    expect(code(cut)).toEqual([400, "invalid_body"]);
    expect(cut.body.error.type).toBe("invalid_request_error");
  });
});

describe("pushed text", () => {
  const push = (slug: string, body: unknown, headers?: Record<string, string>) =>
    call("POST", `/collections/${slug}/documents/text`, body, headers);

  test("is a document without a file", async () => {
    const { slug } = await collection();
    const { status, body } = await push(slug, { text: "# T", name: "T", tags: ["x"] });
    expect([status, body]).toMatchObject([
      202,
      { name: "T", mime_type: "text/markdown", size_bytes: 3, status: "pending", tags: ["x"] },
    ]);
    expect((await push(slug, { text: "# T" })).status).toBe(202);
    expect(code(await call("GET", `/documents/${body.id}/content`))).toEqual([404, "no_stored_file"]);
    expect((await push(slug, { text: "plain", format: "text" })).body.mime_type).toBe("text/plain");
  });

  test("replaces the document with the same external_id", async () => {
    const { slug } = await collection();
    const first = await push(slug, { text: "one", external_id: "e\u0000" });
    expect([first.status, first.body.external_id]).toEqual([202, "e\u0000"]);
    const second = await push(slug, { text: "three", external_id: "e\u0000", name: "new" }, { "idempotency-key": "r" });
    expect([second.status, second.body.id, second.body.name, second.body.size_bytes]).toEqual([
      202,
      first.body.id,
      "new",
      5,
    ]);
    const repeated = await push(
      slug,
      { text: "three", external_id: "e\u0000", name: "new" },
      { "idempotency-key": "r" },
    );
    expect([repeated.status, repeated.body.id]).toEqual([202, first.body.id]);
    expect((await push(slug, { text: "three", external_id: "e\u0000" })).status).toBe(202);
    const other = await push(slug, { text: "three", external_id: "f" });
    expect([other.status, other.body.id === first.body.id]).toEqual([202, false]);
  });

  test.each([
    [{}, "empty_document"],
    [{ text: "" }, "empty_document"],
    [{ text: " \n" }, "empty_document"],
    [{ text: 7 }, undefined],
    [{ text: "x", format: "pdf" }, undefined],
    [{ text: "x", tags: "x" }, undefined],
    [{ text: "x", external_id: "" }, undefined],
  ])("is refused with the body %j", async (body, expected) => {
    const { slug } = await collection();
    expect(code(await push(slug, body))).toEqual([400, expected]);
  });

  test("of 15 MB is stored", async () => {
    const { slug } = await collection();
    const { status, body } = await push(slug, { text: "word ".repeat(3_000_000) });
    expect([status, body.size_bytes]).toEqual([202, 15_000_000]);
  });
});

describe("a search", () => {
  const search = (body: unknown) => call("POST", "/search", body);

  test("finds nothing if nothing is indexed", async () => {
    const { slug, name } = await collection();
    for (const collections of [undefined, null, [slug], [name.toUpperCase()]])
      expect((await search({ query: "what?", collections, limit: 1_000, offset: -3 })).body).toEqual({
        query: "what?",
        results: [],
        limit: 100,
        offset: 0,
        has_more: false,
      });
    expect((await search({ query: "?" })).body).toMatchObject({ results: [], limit: 8, offset: 0 });
  });

  test.each([
    [undefined, "missing_query", null],
    [{}, "missing_query", "query"],
    [{ query: " " }, "missing_query", "query"],
    [{ query: 7 }, undefined, "query"],
    [{ query: "x", limit: "8" }, undefined, "limit"],
    [{ query: "x", limit: 1.5 }, undefined, "limit"],
    [{ query: "x", tags: "x" }, undefined, "tags"],
    [{ query: "x", document_ids: [7] }, undefined, "document_ids[0]"],
    [{ query: "x", document_ids: ["x"] }, "document_not_found", "document_ids"],
    [{ query: "x", document_ids: [UNKNOWN] }, "document_not_found", "document_ids"],
    [{ query: "x", collections: ["nowhere"] }, "unknown_collection", "collections"],
  ])("is refused with the body %j", async (body, expected, param) => {
    const answer = await search(body);
    expect([...code(answer), answer.body.error.param ?? null]).toEqual([400, expected, param]);
  });

  test("of an unknown collection lists the existing slugs, and no ids", async () => {
    const { id, slug } = await collection();
    const { body } = await search({ query: "x", collections: [id] });
    expect(body.error.code).toBe("unknown_collection");
    expect(body.error.message).toContain(slug);
  });

  test("finds documents of the searched collections only", async () => {
    const [one, two] = [await collection(), await collection()];
    const { body } = await upload(one.slug, "found where it is");
    expect((await search({ query: "x", collections: [one.slug], document_ids: [body.id] })).status).toBe(200);
    expect(code(await search({ query: "x", collections: [two.slug], document_ids: [body.id] }))).toEqual([
      400,
      "document_not_found",
    ]);
  });
});
