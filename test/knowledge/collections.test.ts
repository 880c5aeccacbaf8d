import { describe, expect, test } from "vitest";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openLibrary } from "./library.ts";

const library = await openLibrary();
const call = library.call;

const create = (body: unknown, headers?: Record<string, string>) => call("POST", "/collections", body, headers);
const NONE = { ready: 0, pending: 0, failed: 0, total: 0, bytes: 0 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe("a collection", () => {
  test("can be created, and read by its slug and by its id", async () => {
    const { status, body } = await create({ name: " Käpt’n & Crew: Rules (2026) ", description: "On board" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      slug: "kapt-n-crew-rules-2026",
      name: "Käpt’n & Crew: Rules (2026)",
      description: "On board",
      documents: NONE,
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
    });
    for (const reference of [body.slug, body.id, body.id.toUpperCase()])
      expect((await call("GET", `/collections/${reference}`)).body).toEqual(body);
  });

  test("has an empty description by default, and ignores unknown fields", async () => {
    const { status, body } = await create({ name: "Plain", colour: "red", slug: "mine", documents: 7 });
    expect([status, body.slug, body.description, body.documents]).toEqual([201, "plain", "", NONE]);
  });

  test.each([
    ["another name for the same slug", "Taken!", "collection_exists"],
    ["the same name in other case", "tAKEN", "collection_exists"],
    ["the same name", "Taken", "collection_exists"],
    ["no letter that a slug can have", "!?…", "invalid_name"],
    ["only signs of another script", "日本語", "invalid_name"],
    ["a number", 7, "invalid_name"],
    ["more than 120 characters", "n".repeat(121), "invalid_name"],
    ["nothing but spaces", "   ", "missing_name"],
    ["nothing", "", "missing_name"],
    ["null", null, "missing_name"],
    ["a missing name", undefined, "missing_name"],
  ])("is refused with %s as its name", async (_what, name, code) => {
    await create({ name: "Taken" });
    expectRefusal(await create({ name }), 400, code);
  });

  test("is refused without a body", async () => expectRefusal(await create(undefined), 400, "missing_name"));

  test("may have a name of one character or of 120", async () => {
    for (const name of ["m".repeat(120), "x"])
      expect((await create({ name })).body).toMatchObject({ name, slug: name });
  });

  test("is created once if several requests for the same name arrive at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: "Contested" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)]);
    for (const { status, body } of answers) if (status === 400) expect(body.error.code).toBe("collection_exists");
  });

  test("may have the same name as a collection of another organization", async () => {
    await create({ name: "Everybody's" });
    const other = library.as((await library.platform.organization("Other")).api_key);
    const { status, body } = await other.call("POST", "/collections", { name: "Everybody's" });
    expect([status, body.slug]).toEqual([201, "everybody-s"]);
  });

  test("is created once per idempotency key", async () => {
    const key = { "idempotency-key": "collection-1" };
    const first = await create({ name: "Once" }, key);
    const again = await create({ name: "Once" }, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expectRefusal(await create({ name: "Twice" }, key), 422, "idempotency_key_reused");
  });

  test("keeps its slug if renamed, so only its old name becomes free", async () => {
    const { body: before } = await create({ name: "Old name" });
    const { status, body } = await call("PATCH", "/collections/old-name", { name: "New name" });
    expect([status, body.slug, body.name, body.description]).toEqual([200, "old-name", "New name", ""]);
    expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at));
    expect((await call("GET", "/collections/old-name")).body).toEqual(body);
    expect((await call("GET", "/collections/new-name")).status).toBe(404);
    expectRefusal(await create({ name: "NEW NAME" }), 400, "collection_exists");
    expectRefusal(await create({ name: "Old name" }), 400, "collection_exists");
    expect((await create({ name: "New  name" })).status).toBe(201);
  });

  test("changes only the fields that are sent", async () => {
    await create({ name: "Changing", description: "one" });
    const described = await call("PATCH", "/collections/changing", { description: "two" });
    expect([described.body.name, described.body.description]).toEqual(["Changing", "two"]);
    const same = await call("PATCH", "/collections/changing", { name: "CHANGING" });
    expect([same.status, same.body.name, same.body.description]).toEqual([200, "CHANGING", "two"]);
    for (const nothing of [{}, { name: null, description: null }])
      expect((await call("PATCH", "/collections/changing", nothing)).body).toMatchObject({
        name: "CHANGING",
        description: "two",
      });
    expect((await call("PATCH", "/collections/changing", { description: "" })).body.description).toBe("");
  });

  test("cannot take the name of another one in any case, but a rename may lead to a slug that is taken", async () => {
    await create({ name: "Grüße" });
    const other = `/collections/${await library.collect("Other greetings")}`;
    for (const name of ["GRÜßE", "grusse!"]) expectRefusal(await create({ name }), 400, "collection_exists");
    expect((await call("PATCH", other, { name: "gRÜSSE" })).status).toBe(200);
    expectRefusal(await call("PATCH", other, { name: "grüße" }), 400, "collection_exists");
  });
});

describe("a reference to a collection", () => {
  test.each(["No Slug", "no_slug", "-x", "ä", "x".repeat(121), "%00", "a..b"])(
    "of the form %s is refused",
    async (reference) => {
      const { status, body } = await call("GET", `/collections/${encodeURIComponent(decodeURIComponent(reference))}`);
      expect([status, body.error.code]).toEqual([400, "invalid_collection_reference"]);
    },
  );

  test.each(["nobody-has-this", UNKNOWN])("to %s, which does not exist, is a 404 on every route", async (reference) => {
    const path = `/collections/${reference}`;
    for (const answer of [
      await call("GET", path),
      await call("PATCH", path, { name: "x" }),
      await call("DELETE", path),
      await call("GET", `${path}/documents`),
      await library.upload(reference),
      await library.push(reference, { text: "x" }),
    ])
      expectRefusal(answer, 404, "collection_not_found");
  });
});

test("collections are listed in pages, newest first, and a limit or offset out of range is corrected", async () => {
  const other = library.as((await library.platform.organization("Lists")).api_key);
  const list = async (query: string) => (await other.call("GET", `/collections${query}`)).body;
  expect(await list("")).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
  for (let n = 0; n < 5; n++) await other.collect(`Number ${n}`);
  const all = await list("");
  expect([all.total, all.data.length, all.data[0].name]).toEqual([5, 5, "Number 4"]);
  expect(await list("?limit=2&offset=1")).toEqual({ data: all.data.slice(1, 3), total: 5, limit: 2, offset: 1 });
  expect(await list("?limit=2&offset=9")).toEqual({ data: [], total: 5, limit: 2, offset: 9 });
  for (const [query, limit, offset] of [
    ["?limit=501", 500, 0],
    ["?limit=100000000000000000000", 500, 0],
    ["?offset=-1", 50, 0],
  ] as const) {
    const { data, ...rest } = await list(query);
    expect([data.length, rest]).toEqual([5, { total: 5, limit, offset }]);
  }
  for (const query of ["?limit=0", "?limit=-3", "?limit=x", "?limit=", "?offset=x"]) {
    const { status, body } = await other.call("GET", `/collections${query}`);
    expect(status, query).toBe(200);
    expect(body.limit, query).toBeGreaterThanOrEqual(1);
    expect(body.limit, query).toBeLessThanOrEqual(500);
    expect(body.total, query).toBe(5);
  }
});

test("a collection counts its documents, and deleting it deletes them", async () => {
  const slug = await library.collect("Counted");
  const kept = await library.keep(slug, { content: "# Kept\n\nA heron stands in the reeds.", name: "heron.md" });
  const failed = await library.keep(slug, { content: "%PDF-1.7 nothing", name: "broken.pdf" });
  expect([kept.status, failed.status]).toEqual(["ready", "failed"]);
  const counted = await library.until(
    `/collections/${slug}`,
    ({ documents }) => documents.ready === 1 && documents.failed === 1,
  );
  expect(counted.documents).toEqual({ ready: 1, pending: 0, failed: 1, total: 2, bytes: kept.size_bytes });

  const deleted = await call("DELETE", `/collections/${slug}`);
  expect([deleted.status, deleted.text]).toEqual([204, ""]);
  expect((await library.search({ query: "heron" })).body.results).toEqual([]);
  expectRefusal(await call("GET", `/collections/${slug}`), 404, "collection_not_found");
  expectRefusal(await call("DELETE", `/collections/${slug}`), 404, "collection_not_found");
  for (const path of ["", "/text", "/content"])
    expectRefusal(await call("GET", `/documents/${kept.id}${path}`), 404, "not_found");
  expectRefusal(await library.upload(slug, { content: "Too late." }), 404, "collection_not_found");
  expect((await call("GET", "/collections?limit=500")).body.data.map((one: any) => one.slug)).not.toContain(slug);
  const anew = await create({ name: "Counted" });
  expect([anew.status, anew.body.slug, anew.body.documents]).toEqual([201, slug, NONE]);
});
