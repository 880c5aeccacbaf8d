import { expect, test } from "vitest";
import { CollectionCreated, CollectionDeleted } from "#events/collection.ts";
import { DocumentDeleted, DocumentIndexed, DocumentRead } from "#events/document.ts";
import { ExtractionRequested } from "#events/extraction.ts";
import { newId, streamName } from "#events/ids.ts";
import {
  listAllCollections,
  findCollections,
  hasCollections,
  listCollections,
  resolveCollections,
} from "#projections/collections/query.ts";
import { listCollectionDocuments } from "#projections/documents/documentsLeft.ts";
import {
  hasLiveDocuments,
  filterDocuments,
  getDocument,
  listDocuments,
  findLiveDocuments,
  filterListedDocuments,
} from "#projections/documents/query.ts";
import { findWithoutVectors } from "#projections/documents/vectors.ts";
import { getExtraction } from "#projections/extractions/query.ts";
import { documentUploaded } from "../samples.ts";
import { followingFixture, type Fixture } from "./fixture.ts";

const ANY = { readable_by: null, tags: [], types: [], metadata: [] };

async function collection(f: Fixture, slug: string, name = slug) {
  const collection_id = newId();
  const created = CollectionCreated.of(
    { collection_id, slug_claim: `s-${slug}`, name_claim: `n-${slug}` },
    { slug, name, description: "" },
  );
  await f.append(streamName("collection", collection_id), [created]);
  return collection_id;
}

async function document(f: Fixture, collection_id: string, name: string) {
  const document_id = newId();
  const uploaded = documentUploaded(
    document_id,
    { collection_id, size_bytes: 3, content_claim: name },
    { name, tags: ["x"], sha256: "00" },
  );
  await f.append(streamName("document", document_id), [uploaded]);
  return document_id;
}

const ready = (f: Fixture, document_id: string, generation: number) =>
  f.append(streamName("document", document_id), [
    DocumentRead.of({
      document_id,
      generation,
      attempt: 1,
      text: `t${generation}`,
      passages: `p${generation}`,
      page_count: null,
      chunk_count: generation,
      characters: 3,
    }),
    DocumentIndexed.of({
      document_id,
      generation,
      indexed_at: "2026-01-01T00:00:00.000Z",
      units: 1,
      unused: [],
    }),
  ]);

test("collections are found by slug or name, newest first, until they are deleted", async () => {
  const f = await followingFixture();
  const books = await collection(f, "books", "Große Bücher\u0000");
  const papers = await collection(f, "papers", "Books");
  await f.followed();
  const mine = f.organization;
  const found = await findCollections(f.db, [
    [newId(), papers],
    [mine, "books"],
    [mine, newId()],
    [mine, papers],
    [mine, "books"],
  ]);
  expect(found.map((one) => one?.id)).toEqual([undefined, books, undefined, papers, books]);
  const documents = { ready: 0, pending: 0, failed: 0, total: 0, bytes: 0 };
  expect(found[3]).toMatchObject({ slug: "papers", name: "Books", documents });
  const page = await listCollections(f.db, f.organization, { limit: 1, offset: 0 });
  expect([page.total, page.rows.map(({ id }) => id)]).toEqual([2, [papers]]);

  const names = ["BOOKS", " GROSSE bücher\u0000", "große BÜCHER\u0000", "\ud800", "x".repeat(100_000), papers];
  const { found: named, unknown } = await resolveCollections(f.db, f.organization, names);
  expect(named.map(({ id }) => id)).toEqual([books]);
  expect(unknown).toEqual([names[1], names[3], names[4], papers]);
  expect((await listAllCollections(f.db, f.organization)).map(({ slug }) => slug)).toEqual(["books", "papers"]);
  expect([await hasCollections(f.db, f.organization), await hasCollections(f.db, newId())]).toEqual([true, false]);

  const stream = streamName("collection", books);
  const gone = { collection_id: books, slug_claim: "s-books", name_claim: "n-books" };
  await f.append(stream, [CollectionDeleted.of(gone)], { streams: [stream] });
  expect(await findCollections(f.db, [[mine, books]])).toEqual([undefined]);
  await f.followed();
  expect((await resolveCollections(f.db, f.organization, ["books"])).found.map(({ id }) => id)).toEqual([papers]);
});

test("a document is live in one generation, and disappears together with its collection", async () => {
  const f = await followingFixture();
  const books = await collection(f, "books", "Books");
  const first = await document(f, books, "a.txt");
  const second = await document(f, books, "b.txt");
  await f.followed();
  expect(await getDocument(f.db, f.organization, first)).toMatchObject({ status: "pending", chunk_count: 0 });
  expect(await hasLiveDocuments(f.db, f.organization, { collection_ids: [books], document_ids: [] })).toBe(false);
  await ready(f, first, 1);
  await ready(f, first, 2);
  await f.followed();
  expect(await getDocument(f.db, f.organization, first)).toMatchObject({
    status: "ready",
    collection: "Books",
    live_generation: 2,
    text_blob: "t2",
    passages_blob: "p2",
    chunk_count: 2,
    tags: ["x"],
  });
  expect(await getDocument(f.db, newId(), first)).toBeUndefined();
  expect((await filterListedDocuments(f.db, [second, newId(), first])).toSorted()).toEqual([first, second].toSorted());
  const live = await findLiveDocuments(f.db, f.organization, [first, second, "no id"]);
  expect([...live.values()]).toMatchObject([{ id: first, name: "a.txt", live_generation: 2 }]);
  expect(await hasLiveDocuments(f.db, f.organization, { collection_ids: [books], document_ids: [] })).toBe(true);
  expect(await hasLiveDocuments(f.db, f.organization, { collection_ids: [books], document_ids: [second] })).toBe(false);
  expect(await filterDocuments(f.db, f.organization, [first, newId()], [books], [])).toEqual(new Set([first]));
  expect(await filterDocuments(f.db, f.organization, [first], [newId()], [])).toEqual(new Set());

  const all = await listDocuments(f.db, [books], { ...ANY, status: null, limit: 50, offset: 0 });
  expect([all.total, all.rows.map(({ id }) => id)]).toEqual([2, [second, first]]);
  const waiting = await listDocuments(f.db, [books], { ...ANY, status: "pending", limit: 50, offset: 0 });
  expect([waiting.total, waiting.rows.map(({ id }) => id)]).toEqual([1, [second]]);

  const stream = streamName("collection", books);
  await f.append(
    stream,
    [CollectionDeleted.of({ collection_id: books, slug_claim: "s-books", name_claim: "n-books" })],
    {
      streams: [stream],
    },
  );
  expect(await getDocument(f.db, f.organization, first)).toBeUndefined();
  expect(await filterListedDocuments(f.db, [first, second])).toEqual([]);
  expect(await findLiveDocuments(f.db, f.organization, [first])).toEqual(new Map());
  expect(await hasLiveDocuments(f.db, f.organization, { collection_ids: [books], document_ids: [] })).toBe(false);
  expect((await listCollectionDocuments(f.db, books)).ids).toEqual([first, second]);
  const deleted = { document_id: first, collection_id: books, content_claim: "a.txt", external_claim: null };
  await f.append(streamName("document", first), [DocumentDeleted.of(deleted)]);
  await f.followed();
  expect((await listCollectionDocuments(f.db, books)).ids).toEqual([second]);
});

test("an extraction exists until the moment it expires", async () => {
  const f = await followingFixture();
  const extraction_id = newId();
  const expires_at = "2026-01-02T00:00:00.000Z";
  await f.append(streamName("extraction", extraction_id), [
    ExtractionRequested.of(
      { extraction_id, mime_type: "text/csv", size_bytes: 3, blob: "b", content_claim: "c", expires_at, worker: null },
      { name: "a.csv", sha256: "00" },
    ),
  ]);
  await f.followed();
  const at = (moment: string, organization = f.organization) =>
    getExtraction(f.db, organization, extraction_id, new Date(moment));
  expect(await at("2026-01-01T23:59:59.999Z")).toMatchObject({ name: "a.csv", status: "pending", text_blob: null });
  expect(await at(expires_at)).toBeUndefined();
  expect(await at("2026-01-01T00:00:00.000Z", newId())).toBeUndefined();
});

test("documents without vectors are listed with the project whose budgets count them, except those of given payers", async () => {
  const f = await followingFixture();
  const books = await collection(f, "books");
  const [ofKey, ofRun] = [newId(), newId()];
  await f.pool.query(
    "insert into read.usage_projects (owner, organization_id, project_id) values ('key:test', $1, $2)",
    [f.organization, ofKey],
  );
  const uploaded = await document(f, books, "uploaded");
  const pushed = newId();
  const more = { collection_id: books, content_claim: "pushed", project_id: ofRun };
  await f.append(streamName("document", pushed), [documentUploaded(pushed, more, { name: "pushed" })]);
  for (const id of [uploaded, pushed]) await ready(f, id, 1);
  await f.followed();
  const list = (exceptPayers: { principal: string | null; project_id: string | null }[], except: string[] = []) =>
    findWithoutVectors(f.db, f.organization, { space: "s", except, exceptPayers });
  const principal = "key:test";
  expect(await list([])).toEqual([
    { id: pushed, principal, project_id: ofRun },
    { id: uploaded, principal, project_id: ofKey },
  ]);
  expect((await list([{ principal, project_id: ofRun }])).map(({ id }) => id)).toEqual([uploaded]);
  expect(await list([{ principal, project_id: null }], [pushed])).toHaveLength(1);
  expect(await list([{ principal, project_id: ofKey }], [pushed])).toEqual([]);
});
