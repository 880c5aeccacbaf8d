import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import type { CommandResult } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { startTurn } from "../startTurn.ts";

/* One turn in flight per thread, for all clients together. */

test.concurrent("a request to a busy thread waits, and gets 409 if the thread stays busy", async ({ expect }) => {
  const platform = await startPlatform();
  const { api_key } = await platform.organization();
  const client = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  const ask = (text: string, thread?: string) =>
    client(
      "POST",
      "/chat/completions",
      say(text, { model: "offline/scripted" }),
      thread ? { "x-thread-id": thread } : {},
    );
  const [short, long] = await Promise.all([ask("/say first"), ask("/say first")]);
  const [brief, lasting] = [short.headers.get("x-thread-id")!, long.headers.get("x-thread-id")!];
  const running = [ask("/slow 2\n/say a", brief), ask("/slow 24\n/say b", lasting)];
  await sleep(200);
  const [waited, refused] = await Promise.all([ask("/say then", brief), ask("/say never", lasting)]);
  expect([waited.status, waited.body.choices[0].message.content]).toEqual([200, "then"]);
  expectRefusal(refused, 409, "thread_busy");
  expect(refused.headers.get("x-should-retry")).toBe("true");
  expect((await Promise.all(running)).map(({ body }) => body.choices[0].message.content)).toEqual(["a", "b"]);
  expect((await ask("/say at last", lasting)).status).toBe(200);
});

const THREADS = 200;
const EACH = 50;
const AT_ONCE = 256;
const organization_id = newId();
const start = (stream: string) => startTurn("go", { organization_id, model: "offline/echo", stream });

const ALTERNATING = `
  with turns as (
    select stream, type, lag(type) over (partition by stream order by version) as before from log.events
    where type in ('TurnStarted', 'TurnCompleted', 'TurnFailed', 'TurnStopped', 'TurnRefused'))
  select count(*) filter (where type = 'TurnStarted')::integer as started,
         count(*) filter (where type <> 'TurnStarted')::integer as ended,
         count(*) filter (where (type = 'TurnStarted') = (coalesce(before, 'TurnCompleted') = 'TurnStarted'))::integer as overlapping
  from turns`;

test.concurrent("10,000 turns that race for 200 threads on two workers never overlap, and each gets an answer", async ({
  expect,
}) => {
  const deployment = await testDeployment();
  const sender = await startPlatform({ roles: [], deployment });
  await Promise.all([1, 2].map(() => startPlatform({ roles: ["services"], deployment })));
  const { bus, log, db, reach } = sender.resources;
  const commands = bus.sender(log, reach.isReachable);
  const threads = Array.from({ length: THREADS }, () => streamName("thread", newId()));
  const waiting = threads.flatMap((stream) => Array.from({ length: EACH }, () => stream));
  const answers: CommandResult[] = [];
  const send = async () => {
    for (let stream = waiting.pop(); stream; stream = waiting.pop()) answers.push(await commands.send(start(stream)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));

  const begun = answers.filter(({ position, rejection }) => position > 0 && !rejection);
  const busy = answers.filter(({ rejection }) => rejection?.code === "thread_busy");
  expect(begun.length + busy.length).toBe(THREADS * EACH);
  expect(begun.length).toBeGreaterThanOrEqual(THREADS);
  const counted = async () => (await db.query(ALTERNATING, []))[0];
  await expect.poll(counted).toEqual({ started: begun.length, ended: begun.length, overlapping: 0 });
});
