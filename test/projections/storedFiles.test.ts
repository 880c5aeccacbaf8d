import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { countTexts } from "#infra/postgres/logBytes.ts";
import { refreshSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { storedFiles } from "#projections/storedFiles.ts";
import { fixture } from "./fixture.ts";

type Fixture = Awaited<ReturnType<typeof fixture>>;

const putCollection = async (f: Fixture, collection: string) =>
  f.pool.query(
    `insert into read.collections (id, organization_id, slug, name, name_key, description, created_at, updated_at)
     values ($1, $2, 's', '"n"', 'n', '""', now(), now())`,
    [collection, f.organization],
  );
async function putDocument(f: Fixture, collection: string, status: string, size: number): Promise<string> {
  const id = newId();
  await f.pool.query(
    `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source,
       original, blob, live_generation, created_at, updated_at)
     values ($1, $2, $3, '"n"', '"t"', $5, $4, '[]', 'api', 'file', 'b', 2, now(), now())`,
    [id, f.organization, collection, status, size],
  );
  return id;
}
const putExtraction = (f: Fixture, size: number, chunk_count: number | null) =>
  f.pool.query(
    `insert into read.extractions (id, organization_id, name, mime_type, size_bytes, status, chunk_count, created_at, expires_at)
     values ($1, $2, '"n"', '"t"', $3, 'pending', $4, now(), now())`,
    [newId(), f.organization, size, chunk_count],
  );

test("what an organization stores has the documents that failed, 4 KiB beside each file, the scripts of definitions, and the number of files that wait to be read", async () => {
  const f = await fixture();
  await f.runner().start();
  const [collection, other] = [newId(), newId()];
  await putCollection(f, collection);
  for (const status of ["ready", "pending", "processing", "failed"])
    await putDocument(f, collection, status, 1_000_000);
  await putExtraction(f, 5_000, null);
  await f.pool.query(
    `insert into read.definitions (id, organization_id, type, version, name, meta, grants, blob, sha256, stored_bytes,
       created_at, updated_at)
     values ($1, $2, 'tool', 3, '"n"', '{}', '[]', 'b', 'h', 70000, now(), now())`,
    [newId(), f.organization],
  );
  await refreshSummaries({ db: f.db, types: Object.keys(documents.on) });
  expect(await storedFiles(f.db, [f.organization, other])).toEqual(
    new Map([
      [f.organization, { bytes: 4_000_000 + 5_000 + 5 * 4_096 + 70_000, unread: 3 }],
      [other, { bytes: 0, unread: 0 }],
    ]),
  );
});

test("the text of a small file, and the replaced texts of a document, count until they are deleted", async () => {
  const f = await fixture();
  await f.runner().start();
  const collection = newId();
  await putCollection(f, collection);
  const putText = (document: string, generation: number, chunk_count: number) =>
    f.pool.query(
      `insert into read.readings (document_id, generation, text_blob, passages_blob, chunk_count)
       values ($1, $2, 't', 'p', $3)`,
      [document, generation, chunk_count],
    );
  const small = await putDocument(f, collection, "ready", 60_000);
  await putText(small, 1, 10);
  await putText(small, 2, 40_000);
  // its text is no longer than its file
  await putText(await putDocument(f, collection, "ready", 5_000_000), 2, 100);
  await putExtraction(f, 60_000, 20_000);
  const stored = async () => {
    await countTexts(f.db);
    await refreshSummaries({ db: f.db, types: Object.keys(documents.on) });
    return (await storedFiles(f.db, [f.organization])).get(f.organization)!.bytes;
  };
  const others = 5_000_000 + 24_000_000 + 2 * 4_096;
  expect(await stored()).toBe(others + 48_000_000 + 12_000 + 4_096);
  await f.pool.query("delete from read.readings where document_id = $1", [small]);
  await f.pool.query("delete from read.documents where id = $1", [small]);
  expect(await stored()).toBe(others);
  await f.pool.query("delete from read.readings");
  expect(await stored()).toBe(others);
});
