import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { refreshSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { storedFiles } from "#projections/storedFiles.ts";
import { fixture } from "./fixture.ts";

test("what an organization stores has the documents that failed, 4 KiB beside each file, the scripts of definitions, and the number of files that wait to be read", async () => {
  const f = await fixture();
  await f.runner().start();
  const [collection, other] = [newId(), newId()];
  await f.pool.query(
    `insert into read.collections (id, organization_id, slug, name, name_key, description, created_at, updated_at)
     values ($1, $2, 's', '"n"', 'n', '""', now(), now())`,
    [collection, f.organization],
  );
  for (const status of ["ready", "pending", "processing", "failed"])
    await f.pool.query(
      `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source,
         original, blob, created_at, updated_at)
       values ($1, $2, $3, '"n"', '"t"', 1000000, $4, '[]', 'api', 'file', 'b', now(), now())`,
      [newId(), f.organization, collection, status],
    );
  await f.pool.query(
    `insert into read.extractions (id, organization_id, name, mime_type, size_bytes, status, created_at, expires_at)
     values ($1, $2, '"n"', '"t"', 5000, 'pending', now(), now())`,
    [newId(), f.organization],
  );
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
