import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { realFile } from "../files/index.ts";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
let search: Library["search"];
const ids: Record<string, string> = {};

const chapter = (n: number) =>
  `## Chapter ${n}\n\n${`The harbour master writes chapter ${n} of the log with care. `.repeat(18)}\n`;
const LOG = `# Log of the harbour\n\n${Array.from({ length: 12 }, (_, n) => chapter(n + 1)).join("\n")}`;

beforeAll(async () => {
  library = await openLibrary();
  search = library.search;
  const [harbour, farm] = [await library.collect("The Harbour"), await library.collect("Farm & Fields")];
  const keep = async (name: string, collection: string, content: string | Buffer<ArrayBuffer>, tags: string[] = []) => {
    const sent = { content, name, fields: tags.map((tag): [string, string] => ["tags", tag]) };
    const { id, status } = await library.keep(collection, sent);
    expect(status).toBe("ready");
    ids[name] = id;
  };
  await Promise.all([
    keep("log.md", harbour, LOG, ["log", "2026"]),
    keep("pilots.md", harbour, "# Pilots\n\nA pilot boards every ship over 40 metres.", ["rules"]),
    keep("guide.pdf", harbour, realFile("guide.pdf")),
    keep("barley.txt", farm, "Barley is sown in March. The harbour is far away."),
    keep("cows.md", farm, "# Cows\n\n## Milking\n\nThe cows are milked at five.", ["animals", "rules"]),
    keep("deck.pptx", farm, realFile("deck.pptx")),
  ]);
});

const found = async (body: object) => {
  const answer = await search(body);
  expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ results: expect.any(Array) })]);
  return answer.body;
};
const names = ({ results }: any): string[] => results.map(({ document }: any) => document.name);
const passages = ({ results }: any): any[] => results.flatMap((group: any) => group.passages);

test("a passage that begins within a table has the header of the table beside its content", async () => {
  const header = "| Part | Price in euros |\n| --- | --- |";
  const rows = Array.from({ length: 120 }, (_, n) => `| Gasket ${n} | ${n * 7} |`).join("\n");
  const sent = { content: `# Price list\n\n${header}\n${rows}\n`, name: "prices.md" };
  const { id } = await library.keep(await library.collect("Prices"), sent);
  const hits = passages(await found({ query: "gasket", document_ids: [id], limit: 100 }));
  const [first, ...others] = hits.toSorted((a, b) => a.seq - b.seq);
  expect(first).not.toHaveProperty("table_header");
  expect(others.length).toBeGreaterThan(0);
  const content = expect.stringMatching(/^\| Gasket/);
  for (const hit of others) expect(hit).toMatchObject({ table_header: header, content });
  const { body, text } = await library.call("GET", `/documents/${id}/text`);
  const whole: string = body?.text ?? text;
  for (const { start, end, content } of hits) expect(whole.slice(start, end)).toBe(content);
});

describe("a search response", () => {
  test("groups passages by document, best first, in the order of their rank", async () => {
    const answer = await found({ query: "harbour master", limit: 100 });
    expect(Object.keys(answer).sort()).toEqual(["has_more", "limit", "offset", "query", "results"]);
    expect(answer).toMatchObject({ query: "harbour master", limit: 100, offset: 0, has_more: false });
    expect(names(answer)[0]).toBe("log.md");
    expect(new Set(names(answer)).size).toBe(answer.results.length);
    for (const group of answer.results) {
      expect(Object.keys(group).sort()).toEqual(["document", "passages", "score"]);
      const scores = group.passages.map(({ score }: any) => score);
      expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
      expect(group.score).toBe(scores[0]);
    }
    const best = answer.results.map(({ score }: any) => score);
    expect(best).toEqual(best.toSorted((a: number, b: number) => b - a));
    const log = answer.results[0].passages.map(({ seq }: any) => seq);
    expect(new Set(log).size).toBe(log.length);
    expect(log.length).toBeGreaterThanOrEqual(12);
  });

  test("cites pages of PDFs and slides, headings of other files, or else the number of the passage", async () => {
    const first = async (query: string, document: string) =>
      passages(await found({ query, document_ids: [ids[document]] }))[0];
    const pdf = await first("gloves and lamp", "guide.pdf");
    expect(pdf).toMatchObject({ page: 2, reference: "p. 2", content: expect.stringContaining("gloves") });
    const slide = await first("iron pole", "deck.pptx");
    expect(slide).toMatchObject({ page: 4, reference: "p. 4" });
    const headed = await first("milked", "cows.md");
    expect(headed).toMatchObject({ section: "Cows > Milking", reference: "Cows > Milking" });
    expect(headed).not.toHaveProperty("page");
    const plain = await first("barley", "barley.txt");
    expect(plain).toEqual({
      seq: 0,
      start: 0,
      end: 49,
      reference: "excerpt 1",
      score: expect.any(Number),
      content: expect.stringContaining("Barley is sown in March."),
    });
  });

  test("contains the current names of the document and its collection", async () => {
    const { id: collection_id } = (await library.call("GET", "/collections/farm-fields")).body;
    const document = { id: ids["cows.md"], name: "cows.md", collection_id, collection: "Farm & Fields", version: 1 };
    expect((await found({ query: "milked" })).results[0].document).toEqual(document);
    await library.call("PATCH", "/collections/farm-fields", { name: "Barn" });
    expect((await found({ query: "milked" })).results[0].document).toEqual({ ...document, collection: "Barn" });
    expect(names(await found({ query: "milked", collections: ["barn"] }))).toEqual(["cows.md"]);
    await library.call("PATCH", "/collections/farm-fields", { name: "Farm & Fields" });
  });

  test("is the same for the same query", async () => {
    const query = { query: "chapter of the harbour log", limit: 30 };
    expect(await found(query)).toEqual(await found(query));
  });
});

describe("limit and offset of a search", () => {
  test("count passages, and all pages together are the whole result", async () => {
    const whole = passages(await found({ query: "harbour master chapter", limit: 100 }));
    const paged: any[] = [];
    for (let offset = 0; ; offset += 5) {
      const page = await found({ query: "harbour master chapter", limit: 5, offset });
      expect(page).toMatchObject({ limit: 5, offset, has_more: offset + 5 < whole.length });
      paged.push(...passages(page));
      if (!page.has_more) break;
    }
    const key = ({ seq, content, score }: any) => ({ seq, content, score });
    expect(paged.map(key).sort((a, b) => b.score - a.score || a.content.localeCompare(b.content))).toEqual(
      whole.map(key).sort((a, b) => b.score - a.score || a.content.localeCompare(b.content)),
    );
  });

  test("default to 8 and 0, and are corrected when out of range", async () => {
    const query = "harbour master chapter";
    const plain = await found({ query });
    expect([plain.limit, plain.offset, passages(plain).length, plain.has_more]).toEqual([8, 0, 8, true]);
    for (const [sent, limit, offset] of [
      [{ limit: 101 }, 100, 0],
      [{ limit: 1e9 }, 100, 0],
      [{ offset: -4 }, 8, 0],
      [{ limit: null, offset: null }, 8, 0],
    ] as const) {
      const answer = await found({ query, ...sent });
      expect([answer.limit, answer.offset]).toEqual([limit, offset]);
    }
    const least = await found({ query, limit: 0 });
    expect(least.limit).toBeGreaterThanOrEqual(1);
    const beyond = await found({ query, offset: 5_000 });
    expect([beyond.results, beyond.has_more]).toEqual([[], false]);
    for (const offset of [10_000, 10_001, Number.MAX_SAFE_INTEGER])
      expect(await found({ query, offset })).toEqual({ query, results: [], limit: 8, offset, has_more: false });
    const exact = passages(await found({ query, limit: 100 })).length;
    expect((await found({ query, limit: exact })).has_more).toBe(false);
    expect((await found({ query, limit: exact - 1 })).has_more).toBe(true);
  });
});

describe("limiting a search", () => {
  test("to collections works by slug or name in any case", async () => {
    for (const collections of [["the-harbour"], ["The Harbour"], ["THE HARBOUR"], ["the-harbour", "The Harbour"]]) {
      const answer = await found({ query: "harbour", collections, limit: 100 });
      expect(names(answer)).not.toContain("barley.txt");
      expect(names(answer)).toContain("log.md");
    }
    const both = await found({ query: "harbour", collections: ["the-harbour", "farm-fields"], limit: 100 });
    expect(names(both).sort()).toEqual(names(await found({ query: "harbour", limit: 100 })).sort());
  });

  test("to an unknown collection fails and lists the known slugs", async () => {
    const { id } = (await library.call("GET", "/collections/the-harbour")).body;
    for (const name of ["nowhere", id, "", 'x" OR org != "']) {
      const answer = await search({ query: "harbour", collections: ["the-harbour", name] });
      expectRefusal(answer, 400, "unknown_collection", "collections");
      expect(answer.body.error.message).toContain("the-harbour");
      expect(answer.body.error.message).toContain("farm-fields");
    }
  });

  test("to documents works only for those in the searched collections", async () => {
    expect(names(await found({ query: "harbour", document_ids: [ids["barley.txt"]] }))).toEqual(["barley.txt"]);
    const two = await found({ query: "harbour", document_ids: [ids["barley.txt"], ids["log.md"]], limit: 100 });
    expect(names(two).sort()).toEqual(["barley.txt", "log.md"]);
    for (const document_ids of [[UNKNOWN], [ids["log.md"], UNKNOWN], ["nonsense"]])
      expectRefusal(await search({ query: "harbour", document_ids }), 400, "document_not_found", "document_ids");
    expectRefusal(
      await search({ query: "harbour", collections: ["the-harbour"], document_ids: [ids["barley.txt"]] }),
      400,
      "document_not_found",
    );
  });

  test("to tags finds documents with any of them", async () => {
    expect(names(await found({ query: "pilot cows harbour", tags: ["rules"] })).sort()).toEqual([
      "cows.md",
      "pilots.md",
    ]);
    expect(names(await found({ query: "cows harbour", tags: ["animals", "log"] })).sort()).toEqual([
      "cows.md",
      "log.md",
    ]);
    for (const tags of [["none"], ["RULES "], ['x" OR org != "'], ["') OR org EXISTS"], ["log\\"], ["log\nOR"]])
      expect((await found({ query: "harbour", tags })).results).toEqual([]);
  });

  test("to an empty list searches everything or nothing", async () => {
    const all = names(await found({ query: "harbour", limit: 100 }));
    for (const selection of [{ collections: [] }, { tags: [] }, { document_ids: [] }]) {
      const answer = await search({ query: "harbour", limit: 100, ...selection });
      expect(answer.status).toBe(200);
      expect([all, []]).toContainEqual(names(answer.body));
    }
  });
});

describe("a search query", () => {
  test.each([
    ["no value", undefined],
    ["spaces", "  \n "],
    ["null", null],
  ])("of %s counts as missing", async (_what, query) => {
    expectRefusal(await search({ query }), 400, "missing_query", "query");
  });

  test("without a body counts as missing", async () => {
    expectRefusal(await library.call("POST", "/search"), 400, "missing_query", null);
  });

  test.each([
    [{ query: 7 }, "query"],
    [{ query: "x", limit: "8" }, "limit"],
    [{ query: "x", limit: 1.5 }, "limit"],
    [{ query: "x", tags: "x" }, "tags"],
    [{ query: "x", document_ids: [7] }, "document_ids[0]"],
  ])("in the body %j is refused for %s", async (body, param) => {
    expectRefusal(await search(body), 400, undefined, param);
  });

  test.each(["collections", "document_ids", "tags"])(
    "with more %s than the search server can take is refused",
    async (field) => {
      const answer = await search({ query: "harbour", [field]: Array.from({ length: 20_000 }, (_, n) => `x${n}`) });
      expect(answer).toMatchObject({ status: 400, body: { error: { param: field } } });
      expect(answer.body.error.message).toContain("at most");
    },
  );

  test.each(["zzzyxwv", "?!…", "😀", "the", "x".repeat(10_000), "lamp ".repeat(2_000), '"', "\\", 'org = "x"'])(
    "of odd words gets an answer: $0",
    async (query) => {
      expect((await found({ query })).query).toBe(query);
    },
  );

  test("finds words in another case, with other endings, and phrases in quotes", async () => {
    for (const query of ["BARLEY", "sowing barley", '"Barley is sown"', "When is barley sown in the fields?"])
      expect(names(await found({ query }))[0]).toBe("barley.txt");
  });
});

test("a search of an organization without documents finds nothing", async () => {
  const other = library.as((await library.platform.organization("Empty")).api_key);
  const nothing = { query: "harbour", results: [], limit: 8, offset: 0, has_more: false };
  for (const collections of [undefined, null])
    expect((await other.search({ query: "harbour", collections })).body).toEqual(nothing);
  await other.collect("The Harbour");
  expect((await other.search({ query: "harbour", collections: ["the-harbour"] })).body).toEqual(nothing);
});

test.each(["refusing", "silent"] as const)(
  "a search while the search index is %s is a 502, never an empty result",
  async (state) => {
    library.index.set(state);
    const { status, body } = await search({ query: "harbour" });
    library.index.set("open");
    expect([status, body.error.code ?? undefined, body.results]).toEqual([502, undefined, undefined]);
    expect(names(await found({ query: "harbour master" }))[0]).toBe("log.md");
  },
);
