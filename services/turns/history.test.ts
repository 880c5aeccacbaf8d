import fc from "fast-check";
import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { EMPTY_PROMPT, type Attachment } from "#events/thread.ts";
import { readHistory, type HistoryStores } from "./history.ts";
import { buildModelRequest } from "./modelRequest.ts";
import { createRecentHistories } from "./recentHistories.ts";
import { createTurnMemory } from "./turnMemory.ts";

const organization_id = newId();
const thread = streamName("thread", newId());
const MAX_TEXT = 200;
const memory = createTurnMemory();
const share = memory.open(organization_id);
const { signal } = new AbortController();

/** An in-memory thread that counts the events read from it. */
function stageThread() {
  const events: RecordedEvent[] = [];
  const read: number[] = [];
  const append = (type: string, turn_id: string, personal: object | undefined, more: object = {}) =>
    events.push({
      type,
      stream: thread,
      version: events.length + 1,
      data: { turn_id, ...more },
      personal,
    } as RecordedEvent);
  const log: HistoryStores["log"] = {
    async readNewest(_, { before, types, limit }) {
      const page = events.filter(({ type, version }) => version < before && types.includes(type)).slice(-limit);
      read.push(...page.map(({ version }) => version));
      return page;
    },
  };
  const stores = (maxHistoryText = MAX_TEXT): HistoryStores => ({
    log,
    recentHistories: createRecentHistories(),
    maxHistoryText,
    vault: { get: async () => undefined },
  });
  return {
    events,
    read,
    stores,
    start(turn_id: string, text: string, attachments: Attachment[] = []): number {
      append("TurnStarted", turn_id, { input: { prompt: { messages: [{ role: "user", text, attachments }] } } });
      return events.length;
    },
    end: (turn_id: string, text: string, model = "a/model") =>
      append("TurnCompleted", turn_id, { said: { text } }, { model }),
    /** A round with a finished call of a server tool, and a call of one of the caller's own tools, which ends the turn. */
    call(turn_id: string, model: string): void {
      const calls = [
        { id: "s", name: "search", arguments: "{}" },
        { id: "c", name: "own", arguments: "{}", client: true },
      ];
      append("RoundRequested", turn_id, { text: "Hm.", calls, opaque: { signature: "x" } }, { round: 0 });
      const found = { output: { text: "Found" }, sources: [] };
      append("ToolFinished", turn_id, found, { round: 0, call: 0, status: "completed" });
      append("TurnCompleted", turn_id, { said: { text: "Hm.", calls: [calls[1]] } }, { model, open_calls: ["c"] });
    },
    refuse(turn_id: string): void {
      append("TurnRefused", turn_id, undefined);
      this.erase(turn_id);
    },
    delete(turn_id: string): void {
      append("TurnDeleted", turn_id, undefined);
      this.erase(turn_id);
    },
    erase(turn_id: string): void {
      for (const event of events)
        if ((event.data as { turn_id: string }).turn_id === turn_id) Object.assign(event, { personal: undefined });
    },
  };
}

const turn = fc.record({
  length: fc.integer({ min: 1, max: 40 }),
  ending: fc.constantFrom("completes", "completes", "completes", "is refused", "runs elsewhere"),
  deletes: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 4 }),
});

test("a history that is continued from memory equals the one that is read from the log, whatever was refused or deleted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 30 }), async (turns) => {
      const staged = stageThread();
      const stores = staged.stores();
      const ids: string[] = [];
      for (const [n, { length, ending, deletes }] of turns.entries()) {
        const version = staged.start(`t${n}`, `${n}`.padEnd(length));
        ids.push(`t${n}`);
        if (ending !== "runs elsewhere") {
          const history = await readHistory(stores, { organization_id, thread, version }, share, signal);
          expect(history).toEqual(
            await readHistory(staged.stores(), { organization_id, thread, version }, share, signal),
          );
        }
        if (ending === "is refused") staged.refuse(`t${n}`);
        else staged.end(`t${n}`, `answer ${n}`);
        if (deletes !== null && ids[deletes] !== undefined) staged.delete(ids[deletes]);
      }
    }),
  );
});

test("a turn that ended with calls of the caller's own tools leaves its rounds, and its provider's data to that provider", async () => {
  const staged = stageThread();
  staged.start("t0", "question");
  staged.call("t0", "a/model");
  const version = staged.start("t1", "next");
  const history = await readHistory(staged.stores(), { organization_id, thread, version }, share, signal);
  expect(history.map(({ role, text, call_id }) => [role, text, call_id])).toEqual([
    ["user", "question", undefined],
    ["assistant", "Hm.", undefined],
    ["tool", "Found", "s"],
  ]);
  const asked = async (model: string) => {
    const turn = { model, streamed: false };
    return (await buildModelRequest(staged.stores(), turn, EMPTY_PROMPT, [], history)).messages[1];
  };
  expect(await asked("a/other")).toMatchObject({ calls: [{ id: "s" }, { id: "c" }], opaque: { signature: "x" } });
  expect(await asked("b/other")).not.toHaveProperty("opaque");
});

test("attachments of a turn that was answered have the provider that took them", async () => {
  const staged = stageThread();
  const attachments = [{ filename: "a.txt", mime_type: "text/plain", bytes: 1, sha256: "a", blob: "b" }];
  for (const turn_id of ["t0", "t1"]) staged.start(turn_id, "question", attachments);
  staged.end("t0", "answer", "a/model");
  const version = staged.start("t2", "next");
  const history = await readHistory(staged.stores(), { organization_id, thread, version }, share, signal);
  expect(history.map(({ taken_by }) => taken_by)).toEqual(["a", undefined, undefined]);
});

test("a turn reads only the events since the turn before", async () => {
  const staged = stageThread();
  const stores = staged.stores();
  for (let n = 0; n < 20; n++) {
    const version = staged.start(`t${n}`, "question");
    await readHistory(stores, { organization_id, thread, version }, share, signal);
    staged.end(`t${n}`, "answer");
  }
  const version = staged.start("last", "question");
  staged.read.length = 0;
  const history = await readHistory(stores, { organization_id, thread, version }, share, signal);
  expect(staged.read).toEqual([version - 2, version - 1]);
  expect(history.at(-1)).toMatchObject({ role: "assistant", text: "answer" });
});

test("a long history is read again from the log once the organization has room for it", async () => {
  const staged = stageThread();
  for (let n = 0; n < 8; n++) {
    staged.start(`t${n}`, `${n}`.padEnd(10_000));
    staged.end(`t${n}`, "answer");
  }
  const version = staged.start("last", "question");
  const own = createTurnMemory({
    conversations: { total: 200_000, perTenant: 100_000 },
    answers: { total: 1, perTenant: 1 },
    pieces: { total: 1, perTenant: 1 },
  });
  const [first, second] = [own.open(organization_id), own.open(organization_id)];
  await first.reserve(100_000, signal);
  const stores = staged.stores(100_000);
  const reading = readHistory(stores, { organization_id, thread, version }, second, signal);
  for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  expect([second.hasRoom(100_000), stores.recentHistories.find(thread)]).toEqual([false, undefined]);
  first.close();
  expect((await reading).map(({ text }) => text.trim())).toEqual(
    Array.from({ length: 8 }, (_, n) => [`${n}`, "answer"]).flat(),
  );
  expect(second.hasRoom(100_000)).toBe(true);
});
