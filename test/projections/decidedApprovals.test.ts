import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { listDecidedBy, type DecidedPlace } from "#projections/runs/approvals.ts";
import { runCreated } from "../samples.ts";
import { followingFixture } from "./fixture.ts";

test("the pages of what a person decided contain each approval once, also after a reminder and a deletion", async () => {
  const f = await followingFixture();
  const run_id = newId();
  const created = runCreated({ run_id, workflow_id: newId(), definition_id: newId(), trigger_id: null });
  await f.append(streamName("run", run_id), [created]);
  await f.followed();
  await f.stopFollowing();
  const by = { type: "person" as const, id: newId() };
  const { rows } = await f.pool.query<{ id: string; version: number }>(
    `insert into read.approvals (id, run_id, organization_id, version, status, name, title, assignees, self_approval,
       allow_api_key, decided_by_type, decided_by_id, expires_at, created_at)
     select gen_random_uuid(), $1::uuid, $2::uuid, n, 'approved', '"a"', '"b"', '[]', true, true, $3::text, $4::text, now(),
       timestamptz '2026-01-01' + make_interval(hours => (n + 1) / 2)
     from generate_series(1, 7) n returning id, version`,
    [run_id, f.organization, by.type, by.id],
  );
  const ids = new Map(rows.map(({ id, version }) => [version, id]));
  // the newest waits for another vote, and has a reminder: the inbox shows it first
  await f.pool.query(
    `update read.approvals set status = 'pending', required = 2, decided_by_type = null, decided_by_id = null,
       reminded_at = now() where id = $1`,
    [ids.get(7)],
  );
  await f.pool.query(
    `insert into read.approval_votes (approval_id, by_type, by_id, run_id, organization_id, version, decision, at)
     values ($1, $2, $3, $4, $5, 8, 'approve', now())`,
    [ids.get(7), by.type, by.id, run_id, f.organization],
  );

  const found: string[] = [];
  for (let after: DecidedPlace | null = null; ; ) {
    const page = { after, limit: 3 };
    const part: DecidedPlace[] = await listDecidedBy(f.db, f.organization, by, page);
    found.push(...part.map(({ id }) => id));
    if (part.length < 3) break;
    after = part.at(-1)!;
    await f.pool.query("delete from read.approvals where id = $1", [after.id]);
  }
  expect(found.toSorted()).toEqual([...ids.values()].toSorted());
  expect(found.at(-1)).toBe(ids.get(7));
});
