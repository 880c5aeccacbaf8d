import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { TurnDeleted } from "#events/thread.ts";
import { allTurnLines, ROWS_PER_QUERY, type ExportScope } from "#http/owned/exportLines.ts";
import { fixture, message, turnCompleted, turnStarted } from "../projections/fixture.ts";

test("an export continues behind a turn that is deleted while its thread is read", async () => {
  const f = await fixture();
  await f.runner().start();
  const thread = newId();
  const stream = streamName("thread", thread);
  const ids = Array.from({ length: ROWS_PER_QUERY + 1 }, () => newId());
  for (const id of ids) await f.append(stream, [turnStarted(id, [message(id)]), turnCompleted(id, `to ${id}`)]);
  await f.followed();

  let pages = 0;
  const recheck = async () => {
    pages += 1;
    if (pages !== 2) return;
    const turn_id = ids[ROWS_PER_QUERY - 1]!;
    await f.append(stream, [TurnDeleted.of({ turn_id })], { things: [streamName("turn", turn_id)] });
    await f.followed();
  };
  const needs = { http: { db: f.db }, organization_id: f.organization, sent: new Set<string>(), recheck };
  const lines = allTurnLines(needs as unknown as ExportScope, { id: thread, scope: "scope", agent_id: null });
  expect((await Array.fromAsync(lines)).map(({ id }) => id)).toEqual(ids);
});
