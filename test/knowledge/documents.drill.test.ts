import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { readable, realFile, unreadable } from "../files/index.ts";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
let call: Library["call"];
let shelf: string;
/** The answers to the uploads, by file name. */
const uploads = new Map<string, Awaited<ReturnType<Library["upload"]>>>();
beforeAll(async () => {
  library = await openLibrary();
  call = library.call;
  shelf = await library.collect("Shelf");
  await Promise.all(
    [...readable, ...unreadable].map(async ({ name }) => {
      const sent = { content: realFile(name), name, fields: [["tags", "real"]] as [string, string][] };
      uploads.set(name, await library.upload(shelf, sent));
    }),
  );
});

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe("uploading the file", () => {
  test.each(readable)(
    "$name creates a document that can be found, read and downloaded",
    async ({ name, mime_type, page_count, says, warning }) => {
      const content = realFile(name);
      const uploaded = uploads.get(name)!;
      const { id: collection_id } = (await call("GET", `/collections/${shelf}`)).body;
      expect(uploaded.status).toBe(202);
      const waiting = {
        id: ID,
        collection_id,
        name,
        mime_type,
        size_bytes: content.length,
        tags: ["real"],
        source: "api",
        created_at: INSTANT,
        updated_at: INSTANT,
      };
      expect(uploaded.body).toEqual({
        ...waiting,
        chunk_count: 0,
        status: expect.stringMatching(/^(pending|processing)$/),
      });

      const warned = warning && { warnings: [expect.objectContaining(warning)] };
      const { chunk_count, ...ready } = await library.ended(uploaded.body.id);
      expect(ready).toEqual({
        ...waiting,
        id: uploaded.body.id,
        created_at: uploaded.body.created_at,
        status: "ready",
        ...(page_count !== null && { page_count }),
        ...warned,
        indexed_at: INSTANT,
      });
      expect(chunk_count).toBeGreaterThanOrEqual(page_count ?? 1);
      expect(Date.parse(ready.indexed_at)).toBeGreaterThanOrEqual(Date.parse(ready.created_at));

      const { body } = await library.search({ query: says.at(-1), document_ids: [ready.id], limit: 100 });
      expect(body.results[0]?.document).toEqual({
        id: ready.id,
        name,
        collection_id,
        collection: "Shelf",
        version: 1,
        ...warned,
      });
      const { passages } = body.results[0];
      expect(
        passages.every(({ page }: any) => (page_count === null ? page === undefined : page >= 1 && page <= page_count)),
      ).toBe(true);

      const text = await call("GET", `/documents/${ready.id}/text`);
      expect([text.status, text.headers.get("content-type")]).toEqual([
        200,
        expect.stringMatching(/^text\/markdown\b/),
      ]);
      for (const { content: words } of passages) expect(text.text).toContain(words.trim());

      const original = await fetch(`${library.platform.url}/api/v1/knowledge/documents/${ready.id}/content`, {
        headers: { authorization: `Bearer ${library.credentials.api_key}` },
      });
      expect(Buffer.from(await original.arrayBuffer()).equals(content)).toBe(true);
      expect(Object.fromEntries(original.headers)).toMatchObject({
        "content-disposition": `attachment; filename=${name.includes(" ") ? `"${name}"` : name}`,
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
      });
    },
  );

  test.each(unreadable)("$name is accepted, and the document fails with a reason", async ({ name, message }) => {
    const { status, body } = uploads.get(name)!;
    expect(status).toBe(202);
    const failed = await library.ended(body.id);
    expect(failed).toMatchObject({ status: "failed", name, chunk_count: 0, error: expect.stringMatching(message) });
    expect(failed).not.toHaveProperty("indexed_at");
    expect(failed.error).not.toMatch(/\bat \w|Error:|\/.*\.(ts|js)|undefined/);
    expectRefusal(await call("GET", `/documents/${body.id}/text`), 404, "no_extracted_text");
    expect((await call("GET", `/documents/${body.id}/content`)).status).toBe(200);
  });
});

describe("the list of documents", () => {
  test("has pages and can be filtered by status", async () => {
    const list = async (query: string) => (await call("GET", `/collections/${shelf}/documents${query}`)).body;
    const all = await list("?limit=500");
    expect([all.total, all.data.length, all.limit, all.offset]).toEqual([
      readable.length + unreadable.length,
      readable.length + unreadable.length,
      500,
      0,
    ]);
    expect(all.data[3]).toEqual((await call("GET", `/documents/${all.data[3].id}`)).body);
    expect(await list("?limit=2&offset=3")).toEqual({ ...all, data: all.data.slice(3, 5), limit: 2, offset: 3 });
    for (const [status, total] of [
      ["ready", readable.length],
      ["failed", unreadable.length],
      ["pending", 0],
      ["processing", 0],
    ] as const) {
      const page = await list(`?status=${status}&limit=5`);
      expect([page.total, page.data.length]).toEqual([total, Math.min(5, total)]);
      expect(page.data.every((one: any) => one.status === status)).toBe(true);
    }
    for (const [query, limit] of [
      ["?limit=501", 500],
      ["?limit=0", 1],
      ["?limit=x", 50],
    ] as const)
      expect((await list(query)).limit).toBe(limit);
    for (const status of ["done", "READY", "ready,failed", "%00"])
      expectRefusal(await call("GET", `/collections/${shelf}/documents?status=${status}`), 400, "invalid_status");
  });

  test("has only documents of its collection, and is empty for an empty one", async () => {
    const empty = await library.collect("Empty shelf");
    expect((await call("GET", `/collections/${empty}/documents`)).body).toEqual({
      data: [],
      total: 0,
      limit: 50,
      offset: 0,
    });
  });
});

describe("a document", () => {
  test("can be renamed and tagged, and search shows it at once", async () => {
    const { id } = await library.keep(shelf, {
      content: "The walrus sleeps.",
      name: "walrus.md",
      fields: [["tags", "ice"]],
    });
    const changed = await call("PATCH", `/documents/${id}`, { name: "Odobenus.md", tags: ["sea", "sea", "snow"] });
    expect([changed.status, changed.body.name, changed.body.tags]).toEqual([200, "Odobenus.md", ["sea", "snow"]]);
    const found = async (tags: string[]) => (await library.search({ query: "walrus", tags })).body.results;
    await expect.poll(async () => (await found(["snow"])).length).toBe(1);
    expect((await found(["snow"]))[0].document.name).toBe("Odobenus.md");
    expect(await found(["ice"])).toEqual([]);
  });

  test("is gone everywhere as soon as it is deleted", async () => {
    const { id } = await library.keep(shelf, { content: "A lynx crosses the road.", name: "lynx.md" });
    expect((await library.search({ query: "lynx" })).body.results).toHaveLength(1);
    const { status, text } = await call("DELETE", `/documents/${id}`);
    expect([status, text]).toEqual([204, ""]);
    expect((await library.search({ query: "lynx" })).body.results).toEqual([]);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/text"],
      ["GET", "/content"],
      ["POST", "/reprocess"],
      ["DELETE", ""],
    ] as const)
      expectRefusal(await call(method, `/documents/${id}${path}`), 404, "not_found");
    expectRefusal(await library.search({ query: "lynx", document_ids: [id] }), 400, "document_not_found");
    const again = await library.upload(shelf, { content: "A lynx crosses the road.", name: "lynx.md" });
    expect([again.status, again.body.id === id]).toEqual([202, false]);
  });

  test.each(["nonsense", "01900000-0000-7000-8000-000000000000", "%00", "..%2f..%2fetc"])(
    "with the id %s does not exist",
    async (id) => {
      for (const [method, path] of [
        ["GET", ""],
        ["GET", "/text"],
        ["GET", "/content"],
        ["POST", "/reprocess"],
        ["PATCH", ""],
        ["DELETE", ""],
      ] as const)
        expectRefusal(
          await call(method, `/documents/${id}${path}`, method === "PATCH" ? { name: "x" } : undefined),
          404,
          "not_found",
        );
    },
  );
});
