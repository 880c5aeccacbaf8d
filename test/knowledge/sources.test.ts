import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openLibrary, type Library } from "./library.ts";
import { gzip, openSourceSite, type SourceSite } from "./sourceSite.ts";

/* Addresses and sitemaps whose pages are documents of a collection (ADR 59). */

let library: Library;
let site: SourceSite;
let collection: string;
let collections = 0;
beforeAll(async () => {
  site = await openSourceSite();
  library = await openLibrary({ PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "0", SCHEDULE_SECONDS: "1" });
});
beforeEach(async () => {
  site.pages.clear();
  site.asked();
  collection = await library.collect(`Web ${++collections}`);
});

const create = async (body: object) => {
  const { status, body: created } = await library.call("POST", `/collections/${collection}/sources`, body);
  expect(status, JSON.stringify(created)).toBe(201);
  return created as { id: string };
};
const ended = (id: string, read = 1) =>
  library.until(`/sources/${id}`, ({ last_read }) => last_read.read >= read && last_read.status === "ended");
const again = async (id: string) => {
  const { body } = await library.call("POST", `/sources/${id}/read`);
  return ended(id, body.last_read.read);
};
const pagesOf = async (id: string): Promise<Record<string, any>> => {
  const { body } = await library.call("GET", `/sources/${id}/pages?limit=500`);
  return Object.fromEntries(body.data.map((page: any) => [new URL(page.url).pathname, page]));
};
const results = async (id: string) =>
  Object.fromEntries(Object.entries(await pagesOf(id)).map(([path, { result }]) => [path, result]));
const documents = async () => (await library.call("GET", `/collections/${collection}/documents`)).body.data;

describe("a sitemap", () => {
  test("becomes documents; changed pages replace them, and removed pages are deleted", async () => {
    site.pages.set("/a.html", "The heron waits.").set("/b.html", "The tide turns.").set("/c.html", "The ice melts.");
    site.pages.set("/sitemap.xml", site.sitemap("/a.html", "/b.html", "/c.html", "/missing.html"));
    const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml") });
    const first = await ended(id);
    expect(first.last_read).toMatchObject({
      read: 1,
      listed: 4,
      error: null,
      pages: { new: 3, changed: 0, same: 0, failed: 1, gone: 0, removed: 0 },
    });
    const before = await pagesOf(id);
    expect(before["/missing.html"].error).toBe("The server answered 404.");
    const heron = await library.ended(before["/a.html"].document_id);
    expect(heron).toMatchObject({
      status: "ready",
      source: "connector",
      external_id: site.url("/a.html"),
      name: "a.html",
    });

    await library.call("PATCH", `/documents/${heron.id}`, { name: "Herons", tags: ["bird"] });
    site.asked();
    site.pages.set("/a.html", "The heron has flown.");
    site.pages.set("/sitemap.xml", site.sitemap("/a.html", "/b.html"));
    const second = await again(id);
    expect(second.last_read.pages).toEqual({ new: 0, changed: 1, same: 1, failed: 0, gone: 0, removed: 2 });
    expect(await results(id)).toEqual({
      "/a.html": "changed",
      "/b.html": "same",
      "/c.html": "removed",
      "/missing.html": "removed",
    });
    const asked = site.requests.length;
    expect(asked).toBe(4);
    expect(await library.ended(heron.id)).toMatchObject({ name: "Herons", tags: ["bird"], status: "ready" });
    const { body } = await library.call("GET", `/documents/${heron.id}/versions`);
    expect(body.data.map(({ version }: any) => version)).toEqual([2, 1]);
    expect((await documents()).map(({ name }: any) => name).sort()).toEqual(["Herons", "b.html"]);
  });

  test("is not read again if nothing has changed, even without validators of the server", async () => {
    site.pages.set("/a.html", "Same.").set("/plain.html", "As ever.");
    site.pages.set("/sitemap.xml", site.sitemap("/a.html", "/plain.html"));
    const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml") });
    await ended(id);
    const pages = Object.values(await pagesOf(id));
    const before = await Promise.all(pages.map(({ document_id }) => library.ended(document_id)));
    site.asked();
    await again(id);
    const asked = Object.fromEntries(site.requests.map(({ path, headers }) => [path, headers["if-none-match"]]));
    expect([asked["/a.html"], asked["/plain.html"]]).toEqual([expect.any(String), undefined]);
    expect(await results(id)).toEqual({ "/a.html": "same", "/plain.html": "same" });
    expect(await Promise.all(pages.map(({ document_id }) => library.ended(document_id)))).toEqual(before);
  });

  test("may be nested and compressed, and lists only pages of its own host", async () => {
    site.pages.set("/a.html", "One.").set("/b.html", "Two.").set("/private/c.html", "Three.");
    site.pages.set("/sitemap.xml", site.index("/one.xml", "/two.xml.gz", "/sitemap.xml"));
    site.pages.set("/one.xml", site.sitemap("/a.html", "http://example.com/x.html", "nonsense", "/a.html#part"));
    site.pages.set("/two.xml.gz", gzip(site.sitemap("/b.html", "/private/c.html")));
    const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml"), exclude: ["/private/"] });
    expect((await ended(id)).last_read).toMatchObject({ listed: 2, error: null });
    expect(await results(id)).toEqual({ "/a.html": "new", "/b.html": "new" });
  });

  // each entity contains the previous one twice
  const nestedEntities = `<!ENTITY e0 "b">${Array.from({ length: 30 }, (_, n) => `<!ENTITY e${n + 1} "&e${n};&e${n};">`).join("")}`;

  test("that cannot be read deletes nothing, and reports why", async () => {
    site.pages.set("/a.html", "One.").set("/sitemap.xml", site.sitemap("/a.html"));
    const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml") });
    await ended(id);
    const failures: [string | number, string][] = [
      [500, "The server answered 500."],
      ["<html></html>", "neither urlset nor sitemapindex"],
      [`<!DOCTYPE x [${nestedEntities}]><urlset>&e30;</urlset>`, "entities"],
      ["<urlset/>", "lists no page"],
    ];
    for (const [answer, why] of failures) {
      site.pages.set("/sitemap.xml", answer);
      expect((await again(id)).last_read.error).toContain(why);
    }
    expect(await documents()).toHaveLength(1);
    site.pages.set("/sitemap.xml", site.index("/lost.xml", "/other.xml"));
    site.pages.set("/other.xml", site.sitemap("/b.html")).set("/b.html", "Two.");
    expect((await again(id)).last_read.error).toContain("/lost.xml: The server answered 404.");
    expect(await documents()).toHaveLength(2);
  });
});

test("robots.txt is obeyed, and a site whose robots.txt fails is not read", async () => {
  site.pages.set("/robots.txt", "User-agent: *\nDisallow: /inner/\nAllow: /inner/open.html");
  site.pages.set("/inner/a.html", "No.").set("/inner/open.html", "Yes.").set("/jump.html", { to: "/inner/a.html" });
  site.pages.set("/sitemap.xml", site.sitemap("/inner/a.html", "/inner/open.html", "/jump.html"));
  const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml") });
  await ended(id);
  expect(await results(id)).toEqual({ "/inner/a.html": "failed", "/inner/open.html": "new", "/jump.html": "failed" });
  expect((await pagesOf(id))["/jump.html"].error).toContain("robots.txt");
  expect(site.asked()).not.toContain("/inner/a.html");
  site.pages.set("/robots.txt", 500);
  expect((await again(id)).last_read.error).toContain("The robots.txt of this address cannot be read");
  expect(await documents()).toHaveLength(1);
});

test("a single page is read by its schedule, and a removed page can be kept", async () => {
  site.pages.set("/a.html", "One.");
  const source = { kind: "url", url: site.url("/a.html"), schedule: { every: 1 }, when_gone: "keep" };
  const { id } = await create(source);
  await ended(id, 2);
  site.pages.set("/a.html", 410);
  await library.until(`/sources/${id}`, ({ last_read }) => last_read.pages.gone === 1);
  expect((await library.call("PATCH", `/sources/${id}`, { paused: true })).body).toMatchObject({ next_at: null });
  expect(await documents()).toHaveLength(1);
  await library.call("PATCH", `/sources/${id}`, { paused: false, schedule: null });
  site.pages.set("/a.html", "One.");
  await again(id);
  expect(await results(id)).toEqual({ "/a.html": "same" });
});

test("documents of pages that are gone are kept until the source is changed to delete them", async () => {
  site.pages.set("/a.html", "One.").set("/b.html", "Two.").set("/sitemap.xml", site.sitemap("/a.html", "/b.html"));
  const { id } = await create({ kind: "sitemap", url: site.url("/sitemap.xml"), when_gone: "keep" });
  await ended(id);
  site.pages.set("/sitemap.xml", site.sitemap("/a.html"));
  for (const read of [2, 3]) {
    expect((await again(id)).last_read).toMatchObject({ read, error: null });
    expect(await results(id)).toEqual({ "/a.html": "same", "/b.html": "gone" });
  }
  expect(await documents()).toHaveLength(2);
  expect((await library.call("PATCH", `/sources/${id}`, { when_gone: "delete" })).status).toBe(200);
  expect((await again(id)).last_read.pages).toMatchObject({ same: 1, removed: 1 });
  expect((await documents()).map(({ name }: any) => name)).toEqual(["a.html"]);
});

test("a citation shows what was cited after the page has changed", async () => {
  site.pages.set("/a.html", "The heron waits.");
  const { id } = await create({ kind: "url", url: site.url("/a.html") });
  await ended(id);
  const { document_id } = (await pagesOf(id))["/a.html"];
  await library.ended(document_id);
  const call = (name: string, args: object) => `/tool ${name} ${JSON.stringify(args)}`;
  const lines = [
    call("search_documents", { query: "heron waits", document_ids: [document_id] }),
    call("read_document", { document_id }),
    "/say Done.",
  ];
  const { body } = await library.call("POST", `${library.platform.url}/api/openai/v1/chat/completions`, {
    model: "offline/scripted",
    messages: [{ role: "user", content: lines.join("\n") }],
    tools: ["search_documents", "read_document"].map((name) => ({ type: "function", function: { name } })),
  });
  const cited: URL[] = body.choices[0].message.annotations.map(({ url_citation }: any) => new URL(url_citation.url));
  expect(cited.map(({ pathname, search }) => pathname + search)).toEqual(
    Array.from({ length: 2 }, () => `/api/v1/knowledge/documents/${document_id}/text?version=1`),
  );
  site.pages.set("/a.html", "The heron has flown.");
  await again(id);
  const versions = () => library.call("GET", `/documents/${document_id}/versions`);
  await expect.poll(async () => (await versions()).body.total, { timeout: 20_000 }).toBe(2);
  for (const { pathname, search } of cited)
    expect((await library.call("GET", library.platform.url + pathname + search)).text).toContain("The heron waits.");
});

test("addresses that are not public, or that belong to another document, fail with a message", async () => {
  await library.push(collection, { text: "Mine.", external_id: site.url("/a.html") });
  site.pages.set("/a.html", "Theirs.").set("/in.html", { to: "http://127.0.0.1:1/" });
  const [mine, inside, jump] = [
    await create({ kind: "url", url: site.url("/a.html") }),
    await create({ kind: "url", url: "http://10.0.0.1/" }),
    await create({ kind: "url", url: site.url("/in.html") }),
  ];
  const error = async ({ id }: { id: string }) => {
    await ended(id);
    return Object.values(await pagesOf(id))[0].error;
  };
  expect(await error(mine)).toContain("not of this source");
  expect(await error(inside)).toContain("not a public address");
  expect(await error(jump)).toContain("127.0.0.1 is not a public address");
  expect(await documents()).toHaveLength(1);
});

test("a source is deleted with or without its documents, and with its collection", async () => {
  site.pages.set("/a.html", "One.").set("/b.html", "Two.");
  const [a, b] = [
    await create({ kind: "url", url: site.url("/a.html") }),
    await create({ kind: "url", url: site.url("/b.html") }),
  ];
  await Promise.all([ended(a.id), ended(b.id)]);
  expect((await library.call("DELETE", `/sources/${a.id}`)).status).toBe(204);
  expect((await library.call("GET", `/sources/${a.id}`)).body.error.code).toBe("source_not_found");
  expect((await library.call("DELETE", `/sources/${b.id}?documents=true`)).status).toBe(204);
  await library.until(`/collections/${collection}/documents`, ({ total }) => total === 1);
  const c = await create({ kind: "url", url: site.url("/b.html"), schedule: { every: 60 } });
  await library.call("DELETE", `/collections/${collection}`);
  expect((await library.call("GET", `/sources/${c.id}`)).status).toBe(404);
  const left = () => library.platform.resources.db.query("select 1 from read.sources where id = $1", [c.id]);
  await expect.poll(left, { timeout: 20_000 }).toEqual([]);
});

test("invalid fields are named, and a source is read only once at a time", async () => {
  const refused = async (body: object) => {
    const { status, body: answer } = await library.call("POST", `/collections/${collection}/sources`, body);
    return [status, answer.error.param, answer.error.code];
  };
  const url = site.url("/a.html");
  expect(await refused({ kind: "rss", url })).toEqual([400, "kind", null]);
  expect(await refused({ kind: "url", url: "file:///etc/passwd" })).toEqual([400, "url", null]);
  expect(await refused({ kind: "url", url: "http://ann:secret@example.com/" })).toEqual([400, "url", null]);
  expect(await refused({ kind: "url", url, max_pages: 5_001 })).toEqual([400, "max_pages", null]);
  expect(await refused({ kind: "url", url, include: ["docs"] })).toEqual([400, "include[0]", null]);
  expect(await refused({ kind: "url", url, color: 1 })).toEqual([400, "color", null]);
  expect(await refused({ kind: "url", url, schedule: { cron: "* * 31 2 *" } })).toEqual([
    400,
    "schedule.cron",
    "invalid_schedule",
  ]);
  site.pages.set("/a.html", "One.");
  const { id } = await create({ kind: "url", url });
  const codes = await Promise.all([1, 2, 3].map(() => library.call("POST", `/sources/${id}/read`)));
  expect(codes.filter(({ status }) => status === 202).length).toBeLessThan(3);
  expect(codes.find(({ status }) => status !== 202)!.body.error.code).toBe("already_reading");
  const other = await library.platform.organization("Others");
  expect((await library.as(other.api_key).call("GET", `/sources/${id}`)).status).toBe(404);
});

test("a source adds no document beyond the budget of its organization", async () => {
  site.pages.set("/a.html", "One.").set("/b.html", "Two.").set("/sitemap.xml", site.sitemap("/a.html", "/b.html"));
  const credentials = await library.platform.organization("Small");
  const small = library.as(credentials.api_key);
  const admin = library.as(await library.signIn(credentials));
  const budget = await admin.call("PUT", `${library.platform.url}/api/budgets/organization`, { documents: 1 });
  expect(budget.status, budget.text).toBe(200);
  const slug = await small.collect("Web");
  const made = await small.call("POST", `/collections/${slug}/sources`, {
    kind: "sitemap",
    url: site.url("/sitemap.xml"),
  });
  const { last_read } = await small.until(`/sources/${made.body.id}`, (source) => source.last_read.status === "ended");
  expect(last_read.pages).toMatchObject({ new: 1, failed: 1 });
  const { body } = await small.call("GET", `/sources/${made.body.id}/pages`);
  expect(body.data.map(({ error }: any) => error).join()).toContain("1 of 1 documents");
});
