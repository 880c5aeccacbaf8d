import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { UNKNOWN } from "../hostile/target.ts";
import { everyRoute, type Things } from "./everyRoute.ts";
import { openLibrary, type Library, type Reader } from "./library.ts";

/* What belongs to another organization is answered like what does not exist, to the byte. */

let library: Library;
let things: Things;
/** Another organization's key and person. */
const strangers: Record<string, Reader> = {};

/** The same things by names of the same length that nobody has. */
const NOTHING: Things = { slug: "vault", collection: UNKNOWN, document: UNKNOWN, extraction: UNKNOWN };
const SECRET = "# Vault\n\nThe secret words are heliotrope and quince.";

beforeAll(async () => {
  library = await openLibrary();
  const slug = await library.collect("Crypt");
  const { id: document, collection_id } = await library.keep(slug, { content: SECRET, name: "secret.md" });
  const { id: extraction } = (await library.extract({ content: SECRET, name: "secret.md" })).body;
  await library.extracted(extraction);
  things = { slug, collection: collection_id, document, extraction };
  const other = await library.platform.organization("Other");
  strangers["another organization"] = library.as(other.api_key);
  strangers["another organization's person"] = library.as(await library.signIn(other));
});

type Answer = Awaited<ReturnType<ReturnType<typeof clientOf>>>;
/** Everything of an answer but when it was given, its number, and the name that was asked for. */
const bytesOf = ({ status, headers, text }: Answer, { slug, document }: Things) => ({
  status,
  headers: [...headers].filter(([header]) => !["date", "x-request-id"].includes(header)),
  text: text.replaceAll(slug, "SLUG").replaceAll(document, "ID"),
});

const named = everyRoute("").filter(({ absent }) => absent !== undefined);
describe.each(named.map(({ name, absent }) => [name, absent] as const))("to %s", (name, absent) => {
  test(`of another organization is ${absent}`, async () => {
    const { ask } = everyRoute(library.extractions).find((attempt) => attempt.name === name)!;
    for (const [who, { call }] of Object.entries(strangers)) {
      const theirs = await ask(call, things);
      expect([theirs.status, theirs.body.error.code], who).toEqual([
        absent!.endsWith("not_found") && absent !== "document_not_found" ? 404 : 400,
        absent,
      ]);
      expect(theirs.text).not.toMatch(/secret|heliotrope/);
      expect(bytesOf(theirs, things), who).toEqual(bytesOf(await ask(call, NOTHING), NOTHING));
    }
  });
});

test("lists and searches show one's own only", async () => {
  for (const [who, stranger] of Object.entries(strangers)) {
    expect((await stranger.call("GET", "/collections")).body.data, who).toEqual([]);
    for (const body of [{}, { tags: ['x" OR org != "'] }, { tags: ["') OR org EXISTS OR (org = '"] }])
      expect((await stranger.search({ query: "heliotrope quince secret", ...body })).body.results, who).toEqual([]);
  }
});

test("a search of two organizations with the same documents finds one's own", async () => {
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

test("identical bytes of another organization are new", async () => {
  const stranger = strangers["another organization"]!;
  const { status, body } = await stranger.extract({ content: SECRET, name: "secret.md" });
  expect([status, body.id === things.extraction]).toEqual([202, false]);
  const slug = await stranger.collect("Mine");
  expect((await stranger.upload(slug, { content: SECRET, name: "secret.md" })).status).toBe(202);
});

test("what strangers tried has changed nothing", async () => {
  const { call } = library;
  expect((await call("GET", `/documents/${things.document}/text`)).text.trim()).toBe(SECRET);
  expect((await call("GET", `/documents/${things.document}`)).body).toMatchObject({
    name: "secret.md",
    status: "ready",
  });
  expect((await call("GET", `/collections/${things.slug}`)).body.name).toBe("Crypt");
  expect((await call("GET", `${library.extractions}/${things.extraction}`)).body.markdown.trim()).toBe(SECRET);
});
