import { expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { HoldPlaced, holdStream, PlaceHold, ReleaseHold } from "#events/hold.ts";
import { newId, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { DeleteThread } from "#events/thread.ts";
import { createHandler } from "#services/handle.ts";
import { openPlatform } from "../sharedPlatform.ts";
import { openTenant } from "../workflows/tenant.ts";

const { platform } = await openPlatform();
const log = platform.resources.log;
const home = await openTenant(platform.url, await platform.organization("Hold races"));

const handlerOn = (eventLog: EventLog) =>
  createHandler({
    log: eventLog,
    hints: { announceCommitted: () => {} },
    worker: () => undefined,
    afterCommit: () => {},
  });

async function say(text: string): Promise<{ thread: string; scope: string }> {
  const messages = [{ role: "user", content: text }];
  const answer = await home.key("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages });
  const thread = answer.headers.get("x-thread-id")!;
  const [started] = await log.read(streamName("thread", thread));
  return { thread, scope: (started!.data as { scope: string }).scope };
}
const commandFor = (type: string, stream: string, data: object) =>
  newCommand(type, {
    stream,
    organization_id: home.organization_id,
    request_id: "test",
    data,
    timeout_ms: 10_000,
  });
const changeHolds = async (type: string, data: object) => {
  const result = await handlerOn(log)(commandFor(type, holdStream(home.organization_id), data));
  expect(result.rejection).toBeUndefined();
};

/** Deletes a thread, and runs `between` after the deletion was decided and right before it is appended. */
async function deleteThread({ thread, scope }: { thread: string; scope: string }, between: () => Promise<void>) {
  let isFirst = true;
  const append: EventLog["append"] = async (request) => {
    if (isFirst) {
      isFirst = false;
      expect(request.events.map(({ event }) => event.type)).toContain("ThreadDeleted");
      await between();
    }
    return log.append(request);
  };
  return handlerOn({ ...log, append })(commandFor(DeleteThread.type, streamName("thread", thread), { scope }));
}
const types = async (thread: string) => (await log.read(streamName("thread", thread))).map(({ type }) => type);

test("a hold that is acknowledged between the decision and the append of a deletion keeps the thread", async () => {
  const said = await say("Kept words");
  const hold = { hold_id: newId(), subject: `thread:${said.thread}`, name: "Case 7", reason: "A claim" };
  const result = await deleteThread(said, () => changeHolds(PlaceHold.type, hold));
  expect(result.rejection).toMatchObject({ code: "legal_hold" });
  expect(await types(said.thread)).not.toContain("ThreadDeleted");
  const { body } = await home.key("GET", `/threads/${said.thread}/messages`);
  expect(JSON.stringify(body)).toContain("Kept words");

  await changeHolds(ReleaseHold.type, { hold_id: hold.hold_id });
  expect((await deleteThread(said, async () => {})).rejection).toBeUndefined();
  expect(await types(said.thread)).toContain("ThreadDeleted");
});

test("a deletion that races with a hold of another item is decided again and succeeds", async () => {
  const said = await say("Gone words");
  const hold = { hold_id: newId(), subject: `thread:${newId()}`, name: "Case 8", reason: "A claim" };
  expect((await deleteThread(said, () => changeHolds(PlaceHold.type, hold))).rejection).toBeUndefined();
  expect(await types(said.thread)).toContain("ThreadDeleted");
  expect((await log.read(holdStream(home.organization_id))).at(-1)!.type).toBe(HoldPlaced.type);
});
