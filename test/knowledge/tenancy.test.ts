import { beforeAll, expect, test } from "vitest";
import { openLibrary, type Library, type Reader } from "./library.ts";

/* Searches, lists and uploads of one organization never touch the documents of another. */

let library: Library;
let extraction_id: string;
/** An API key and a person of another organization. */
const strangers: Record<string, Reader> = {};

const SECRET = "# Vault\n\nThe secret words are heliotrope and quince.";

beforeAll(async () => {
  library = await openLibrary();
  const slug = await library.collect("Crypt");
  await library.keep(slug, { content: SECRET, name: "secret.md" });
  extraction_id = (await library.extract({ content: SECRET, name: "secret.md" })).body.id;
  await library.extracted(extraction_id);
  const other = await library.platform.organization("Other");
  strangers["another organization"] = library.as(other.api_key);
  strangers["another organization's person"] = library.as(await library.signIn(other));
});

test("lists and searches contain nothing of another organization", async () => {
  for (const [who, stranger] of Object.entries(strangers)) {
    expect((await stranger.call("GET", "/collections")).body.data, who).toEqual([]);
    for (const body of [{}, { tags: ['x" OR org != "'] }, { tags: ["') OR org EXISTS OR (org = '"] }])
      expect((await stranger.search({ query: "heliotrope quince secret", ...body })).body.results, who).toEqual([]);
  }
});

test("two organizations with the same documents each find their own", async () => {
  const [one, two] = [library, library.as((await library.platform.organization("Twin")).api_key)];
  const slugs = [await one.collect("Twins"), await two.collect("Twins")] as const;
  const sent = { content: "The twin lighthouses face each other.", name: "twin.md" };
  const [mine, theirs] = [await one.keep(slugs[0], sent), await two.keep(slugs[1], sent)];
  expect(mine.id).not.toBe(theirs.id);
  const odd = ['"', "\\", '" OR org != "', `${mine.id}" OR doc = "${theirs.id}`, "twins\n", "') OR doc EXISTS"];
  for (const [reader, own] of [
    [one, mine.id],
    [two, theirs.id],
  ] as const) {
    for (const body of [{}, { collections: ["twins"] }, { document_ids: [own] }]) {
      const { results } = (await reader.search({ query: "twin lighthouses", limit: 100, ...body })).body;
      expect(results.map(({ document }: any) => document.id)).toEqual([own]);
    }
    for (const word of odd)
      for (const body of [{ tags: [word] }, { collections: [word] }, { document_ids: [word] }]) {
        const answer = await reader.search({ query: "twin lighthouses", limit: 100, ...body });
        expect([200, 400]).toContain(answer.status);
        expect(
          (answer.body.results ?? []).map(({ document }: any) => document.id).filter((id: string) => id !== own),
        ).toEqual([]);
      }
  }
});

test("identical bytes in another organization are a new document and a new extraction", async () => {
  const stranger = strangers["another organization"]!;
  const { status, body } = await stranger.extract({ content: SECRET, name: "secret.md" });
  expect([status, body.id === extraction_id]).toEqual([202, false]);
  const slug = await stranger.collect("Mine");
  expect((await stranger.upload(slug, { content: SECRET, name: "secret.md" })).status).toBe(202);
});
