import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { UNKNOWN } from "../hostile/target.ts";
import { everyRoute, type Things } from "./everyRoute.ts";
import { openLibrary, type Library, type Reader } from "./library.ts";

/* Things of another organization are answered exactly like things that do not exist. */

let library: Library;
let things: Things;
/** An API key and a person of another organization. */
const strangers: Record<string, Reader> = {};

/** Names of the same length that do not exist. */
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
/** An answer without its date, its request id and the names in the request. */
const comparable = ({ status, headers, text }: Answer, { slug, document }: Things) => ({
  status,
  headers: [...headers].filter(([header]) => !["date", "x-request-id"].includes(header)),
  text: text.replaceAll(slug, "SLUG").replaceAll(document, "ID"),
});

const namingRoutes = everyRoute("").filter(({ absent }) => absent !== undefined);
describe.each(namingRoutes.map(({ name, absent }) => [name, absent] as const))("a request to %s", (name, absent) => {
  test(`of another organization is answered with ${absent}`, async () => {
    const { send } = everyRoute(library.extractions).find((route) => route.name === name)!;
    for (const [who, { call }] of Object.entries(strangers)) {
      const theirs = await send(call, things);
      expect([theirs.status, theirs.body.error.code], who).toEqual([
        absent!.endsWith("not_found") && absent !== "document_not_found" ? 404 : 400,
        absent,
      ]);
      expect(theirs.text).not.toMatch(/secret|heliotrope/);
      expect(comparable(theirs, things), who).toEqual(comparable(await send(call, NOTHING), NOTHING));
    }
  });
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
  expect([status, body.id === things.extraction]).toEqual([202, false]);
  const slug = await stranger.collect("Mine");
  expect((await stranger.upload(slug, { content: SECRET, name: "secret.md" })).status).toBe(202);
});

test("requests of another organization change nothing", async () => {
  const { call } = library;
  expect((await call("GET", `/documents/${things.document}/text`)).text.trim()).toBe(SECRET);
  expect((await call("GET", `/documents/${things.document}`)).body).toMatchObject({
    name: "secret.md",
    status: "ready",
  });
  expect((await call("GET", `/collections/${things.slug}`)).body.name).toBe("Crypt");
  expect((await call("GET", `${library.extractions}/${things.extraction}`)).body.markdown.trim()).toBe(SECRET);
});
