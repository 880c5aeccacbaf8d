import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { refreshSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { organizationBytes } from "#projections/storedBytes.ts";
import { fixture } from "./fixture.ts";

test("what an organization stores has the documents that failed, and 4 KiB beside each document", async () => {
  const f = await fixture();
  await f.runner().start();
  const [collection, other] = [newId(), newId()];
  await f.pool.query(
    `insert into read.collections (id, organization_id, slug, name, name_key, description, created_at, updated_at)
     values ($1, $2, 's', '"n"', 'n', '""', now(), now())`,
    [collection, f.organization],
  );
  for (const status of ["ready", "pending", "failed"])
    await f.pool.query(
      `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source,
         original, blob, created_at, updated_at)
       values ($1, $2, $3, '"n"', '"t"', 1000000, $4, '[]', 'api', 'file', 'b', now(), now())`,
      [newId(), f.organization, collection, status],
    );
  await refreshSummaries({ db: f.db, types: Object.keys(documents.on) });
  expect(await organizationBytes(f.db, [f.organization, other])).toEqual(
    new Map([
      [f.organization, 3_000_000 + 3 * 4_096],
      [other, 0],
    ]),
  );
});
