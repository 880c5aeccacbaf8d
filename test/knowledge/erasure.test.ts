import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { realFile } from "../files/index.ts";
import { searchServer } from "./documents.ts";
import { openLibrary } from "./library.ts";

/* Deleting destroys the bytes, the text, the passages and the data key. */

const library = await openLibrary();

const soon = { timeout: 60_000, interval: 100 };
const folder = () => join(library.platform.settings.DATA_DIR, "blobs", library.credentials.organization_id);
const blobsOf = async (thing: string) => (await readdir(join(folder(), thing)).catch(() => [])).length;
const keysOf = async (thing: string) =>
  (await library.platform.resources.db.query("select from log.keys where thing = $1", [thing])).length;
const remaining = async (thing: string) => ({ blobs: await blobsOf(thing), keys: await keysOf(thing) });
const countPassages = async (id: string) =>
  (await searchServer(library.platform.resources).passages()).filter((name) => name.startsWith(id)).length;

test("deleting a document destroys its blobs, passages and key", async () => {
  const shelf = await library.collect("One");
  const { id } = await library.keep(shelf, { content: realFile("guide.pdf"), name: "guide.pdf" });
  expect(await remaining(`document-${id}`)).toEqual({ blobs: 3, keys: 1 });
  expect(await countPassages(id)).toBeGreaterThan(3);
  expect((await library.call("DELETE", `/documents/${id}`)).status).toBe(204);
  await expect.poll(() => remaining(`document-${id}`), soon).toEqual({ blobs: 0, keys: 0 });
  await expect.poll(() => countPassages(id), soon).toBe(0);
});

test("replacing the text of a document destroys its source and its passages in the index, and keeps its Markdown as a version", async () => {
  const shelf = await library.collect("Two");
  const push = (text: string) => library.push(shelf, { text, external_id: "1" });
  const first = await library.ended((await push("# First\n\nThe first text of it.")).body.id);
  await push("# Second\n\nThe second text of it.");
  await library.until(
    `/documents/${first.id}`,
    ({ status, indexed_at }) => status === "ready" && indexed_at > first.indexed_at,
  );
  // of the older version the Markdown and the places of its passages
  await expect.poll(() => blobsOf(`document-${first.id}`), soon).toBe(3 + 2);
  await expect.poll(() => countPassages(first.id), soon).toBe(1);
});

test("deleting a collection destroys all its documents, including those still being processed or uploaded", async () => {
  const shelf = await library.collect("Three");
  const kept = await library.keep(shelf, { content: "Read before the end.", name: "kept.md" });
  const uploads = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      library.upload(shelf, { content: `Under way ${n}. ${"More words. ".repeat(500)}`, name: `${n}.md` }),
    ),
  );
  const ids = [kept.id, ...uploads.map(({ body }) => body.id)];
  const { body: collection } = await library.call("GET", `/collections/${shelf}`);
  const racing = library.upload(shelf, { content: "Sent at the same moment.", name: "racing.md" });
  expect((await library.call("DELETE", `/collections/${shelf}`)).status).toBe(204);
  const late = await racing;
  if (late.status === 202) ids.push(late.body.id);
  else expectRefusal(late, 404, "collection_not_found");
  for (const id of ids) {
    expectRefusal(await library.call("GET", `/documents/${id}`), 404, "not_found");
    await expect.poll(() => remaining(`document-${id}`), soon).toEqual({ blobs: 0, keys: 0 });
    await expect.poll(() => countPassages(id), soon).toBe(0);
  }
  expect(await keysOf(`collection-${collection.id}`)).toBe(0);
  expect((await library.search({ query: "under way, sent at the same moment" })).body.results).toEqual([]);
});

test("deleting an extraction destroys its blobs and key", async () => {
  const { id } = (await library.extract({ content: "Extracted and destroyed.", name: "a.md" })).body;
  await library.extracted(id);
  expect(await remaining(`extraction-${id}`)).toEqual({ blobs: 2, keys: 1 });
  expect((await library.call("DELETE", `${library.extractions}/${id}`)).status).toBe(204);
  await expect.poll(() => remaining(`extraction-${id}`), soon).toEqual({ blobs: 0, keys: 0 });
});

test("no blob, event or stream state of a document contains a word of it in plain text", async () => {
  const canary = "quokkaphone";
  const shelf = await library.collect("Four");
  const { id } = await library.keep(shelf, {
    content: `A ${canary} is kept here.`,
    name: `${canary}.md`,
    fields: [["tags", canary]],
  });
  const { db } = library.platform.resources;
  for (const name of await readdir(join(folder(), `document-${id}`)))
    expect((await readFile(join(folder(), `document-${id}`, name))).includes(canary)).toBe(false);
  const events = await db.query("select from log.events where data like $1", [`%${canary}%`]);
  const heads = await db.query("select from log.streams where state like $1", [`%${canary}%`]);
  expect([events.length, heads.length]).toEqual([0, 0]);
});
