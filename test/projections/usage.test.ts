import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { RoundRequested, ThreadDeleted, TurnCompleted, TurnDeleted } from "#events/thread.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { usage } from "#projections/usage/project.ts";
import { listUsage, sumUsage } from "#projections/usage/query.ts";
import { findUsedScopes } from "#projections/userScopes.ts";
import { fileUploaded, followingFixture, live, message, said, turnCompleted, turnStarted } from "./fixture.ts";

const tokens = { prompt_tokens: 7, completion_tokens: 5, cached_tokens: 3, reasoning_tokens: 2, cost: "0.1" };
const ALWAYS = { from: new Date(0), to: new Date("9999-01-01") };

const started = (turn_id: string, user: string, scope = `scope of ${user}`) =>
  turnStarted(turn_id, [message("x")], scope, { user });
const round = (turn_id: string, n: number) =>
  RoundRequested.of({ turn_id, attempt: 1, round: n, usage: tokens }, { ...said(""), calls: [] });
const completed = (turn_id: string) =>
  TurnCompleted.of(
    { turn_id, attempt: 1, finish_reason: "stop", usage: tokens, model: "offline/echo" },
    { said: said("") },
  );

test("the usage of a turn counts once, by its rounds if it never ended, and is the same after a rebuild", async () => {
  const f = await followingFixture();
  const thread = () => streamName("thread", newId());
  const [ended, deleted, open] = [newId(), newId(), newId()];
  await f.append(thread(), [started(ended, "ada"), round(ended, 0), round(ended, 1)]);
  const whole = thread();
  await f.append(whole, [started(deleted, "bob"), round(deleted, 0), round(deleted, 1)]);
  await f.append(whole, [TurnDeleted.of({ turn_id: deleted })], { things: [streamName("turn", deleted)] });
  const another = thread();
  await f.append(another, [started(open, "ada"), round(open, 0), completed(open)]);
  await f.append(another, [ThreadDeleted.of({})], { streams: [another] });
  for (let n = 0; n < 10; n++) await live(f, n);
  await f.followed();

  const sums = async () => (await sumUsage(f.db, f.organization, ALWAYS)).prompt_tokens;
  const cost = async () => (await sumUsage(f.db, f.organization, ALWAYS)).cost;
  // two rounds of a running turn, two of a turn that never ends, and one whole turn
  expect(await sums()).toBe(5 * tokens.prompt_tokens);
  // binary floats would give 0.5 here and 0.30000000000000004 below
  expect(await cost()).toBe("0.5");
  const page = { limit: 10, offset: 0 };
  const { rows, total } = await listUsage(f.db, f.organization, { ...ALWAYS, by: "user", ...page });
  expect(rows.map(({ group, turns, prompt_tokens }) => [group, turns, prompt_tokens])).toEqual([
    ["ada", 1, 21],
    [null, 4, 14],
  ]);
  expect(total).toBe(2);

  const before = await f.hashes();
  await rebuild({ pool: f.pool, log: f.log, projection: usage, logger: f.logger });
  expect(await f.hashes()).toEqual(before);
  await f.append(thread(), [turnCompleted(ended, "")]);
  await f.followed();
  expect(await sums()).toBe(3 * tokens.prompt_tokens);
  expect(await cost()).toBe("0.3");
});

test("of the possible owners of a user's things, those with threads or files are found", async () => {
  const f = await followingFixture();
  const [turn_id, file_id] = [newId(), newId()];
  await f.append(streamName("thread", newId()), [started(turn_id, "zoe", "of a thread"), completed(turn_id)]);
  await f.append(streamName("file", file_id), [fileUploaded(file_id, "a.txt")]);
  await f.followed();
  const scopes = ["of a thread", "scope", "unused"];
  expect((await findUsedScopes(f.db, f.organization, scopes)).toSorted()).toEqual(["of a thread", "scope"]);
  expect(await findUsedScopes(f.db, newId(), scopes)).toEqual([]);
});
