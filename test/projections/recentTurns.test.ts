import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { ThreadDeleted, TurnCompleted } from "#events/thread.ts";
import { TurnParked, TurnResumed } from "#events/threadApprovals.ts";
import { listRecentTurns } from "#projections/budgets/recentTurns.ts";
import { filterRunningTurns } from "#projections/turns/query.ts";
import { followingFixture, message, said, turnCompleted, turnStarted } from "./fixture.ts";

test("a starting process counts a turn that was resumed after days until it waits again or ends", async () => {
  const f = await followingFixture();
  const turn_id = newId();
  const stream = streamName("thread", newId());
  const listed = async () => {
    await f.followed();
    const found = await listRecentTurns(f.db, f.organization, new Date(Date.now() - 60_000));
    return found.map((turn) => [turn.turn_id, turn.attempt]);
  };
  const park = (attempt: number) => TurnParked.of({ turn_id, attempt, frames: "f", left_ms: 1 });
  const resume = (attempt: number) =>
    TurnResumed.of({ turn_id, attempt, worker: "w", ends_by: "2999-01-01T00:00:00.000Z" });
  await f.append(stream, [turnStarted(turn_id, [message("x")], "s"), park(1)]);
  await f.followed();
  await f.db.query("update read.turns set started_at = started_at - interval '3 days' where id = $1", [turn_id]);
  expect(await listed()).toEqual([]);
  await f.append(stream, [resume(2)]);
  expect(await listed()).toEqual([[turn_id, 2]]);
  await f.append(stream, [park(2)]);
  expect(await listed()).toEqual([]);
  const usage = { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, reasoning_tokens: 0 };
  await f.append(stream, [
    resume(3),
    TurnCompleted.of({ turn_id, attempt: 3, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
  ]);
  expect(await listed()).toEqual([]);
});

test("a starting process counts tokens of turns that ended in the last minute, however long they ran, and of running ones", async () => {
  const f = await followingFixture();
  const [late, early, running] = [newId(), newId(), newId()];
  const usage = { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, reasoning_tokens: 0 };
  for (const turn_id of [late, early])
    await f.append(streamName("thread", newId()), [
      turnStarted(turn_id, [message("x")]),
      TurnCompleted.of({ turn_id, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
    ]);
  await f.append(streamName("thread", newId()), [turnStarted(running, [message("x".repeat(400))])]);
  await f.followed();
  const move = (column: string, minutes: number, ids: string[]) =>
    f.db.query(`update read.turns set ${column} = ${column} - make_interval(mins => $1) where id = any($2::uuid[])`, [
      minutes,
      ids,
    ]);
  await move("started_at", 30, [late, early]);
  await move("ended_at", 2, [early]);
  const found = await listRecentTurns(f.db, f.organization, new Date(Date.now() - 60_000));
  expect(found.map(({ turn_id, tokens, expected }) => [turn_id, tokens, expected > 100])).toEqual([
    [running, 0, true],
    [late, 10, false],
  ]);
});

test("of several turns, those that run are found together, also those that the read model does not have yet", async () => {
  const f = await followingFixture();
  const [ended, running] = [newId(), newId()];
  await f.append(streamName("thread", newId()), [turnStarted(running, [message("x")])]);
  await f.append(streamName("thread", newId()), [turnStarted(ended, [message("x")]), turnCompleted(ended, "y")]);
  await f.followed();
  expect(await filterRunningTurns(f.db, [ended, running, newId()])).toEqual([running]);

  await f.stopFollowing();
  const [unread, deleted, thread] = [newId(), newId(), streamName("thread", newId())];
  await f.append(streamName("thread", newId()), [turnStarted(unread, [message("x")])]);
  await f.append(thread, [turnStarted(deleted, [message("x")])]);
  await f.append(thread, [ThreadDeleted.of({})], { streams: [thread] });
  const found = await filterRunningTurns(f.db, [ended, running, unread, deleted]);
  expect(found.toSorted()).toEqual([running, unread].toSorted());
});
