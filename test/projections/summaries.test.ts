import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { refreshSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { followingFixture } from "./fixture.ts";

const types = Object.keys(documents.on);

test("the summary of a collection counts its documents by status, and is removed with the last one", async () => {
  const f = await followingFixture();
  const [first, second] = [newId(), newId()];
  const put = (collection: string, status: string, size: number) =>
    f.pool.query(
      `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source,
         original, blob, created_at, updated_at)
       values ($1, $2, $3, '"n"', '"t"', $5, $4, '[]', 'api', 'file', 'b', now(), now())`,
      [newId(), f.organization, collection, status, size],
    );
  for (const status of ["ready", "ready", "pending", "processing", "failed"]) await put(first, status, 5);
  await put(second, "pending", 7);
  const rows = async () => {
    const all = await f.db.query<{ collection_id: string }>("select * from ops.collection_summaries");
    return new Map(all.map(({ collection_id, ...counts }) => [collection_id, counts]));
  };

  const seen = await refreshSummaries({ db: f.db, types });
  expect(await rows()).toEqual(
    new Map([
      [first, { ready: 2, pending: 2, failed: 1, total: 5, bytes: 10 }],
      [second, { ready: 0, pending: 1, failed: 0, total: 1, bytes: 0 }],
    ]),
  );

  await f.pool.query("delete from read.documents where collection_id = $1", [second]);
  await refreshSummaries({ db: f.db, types }, seen);
  expect((await rows()).size).toBe(2);
  await f.pool.query("update log.checkpoints set build = build + 1 where name = 'documents'");
  await refreshSummaries({ db: f.db, types }, seen);
  expect([...(await rows()).keys()]).toEqual([first]);
});
