import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { resolveReferences } from "./itemReferences.ts";

const ended = (id: string) => ({
  id,
  thread_id: newId(),
  organization_id: "o",
  scope: "s",
  model: '"m"',
  streamed: true,
  status: "completed",
  input: null,
  prompt_blob: null,
  said: JSON.stringify({ text: `answer ${id}`, reasoning: "", citations: [] }),
  finish_reason: "stop",
  usage: null,
  error: null,
  code: null,
  agent: JSON.stringify({ agent_id: "a", version: 1, expose_tool_items: false, previous_turn_id: null }),
  asked: null,
  frames: null,
  wrapped_key: null,
  command_id: "c",
  attempt: 1,
  ends_by: new Date(),
  started_at: new Date(),
  ended_at: new Date(),
  parked_at: null,
});

/** Twenty references to answers of so many bytes. `most`: how many were read at the same time. */
async function refer(bytes: number) {
  const turns = Array.from({ length: 20 }, () => newId());
  let [open, most, acquired, released] = [0, 0, 0, 0];
  async function query(sql: string, values: string[]) {
    if (sql.includes("unnest")) return turns.map((id) => ({ id, bytes }));
    if (!sql.includes("read.turns t")) return [];
    most = Math.max(most, ++open);
    await setImmediate();
    open -= 1;
    return [ended(values[1]!)];
  }
  const longReadPlaces = { acquire: async () => void acquired++, release: () => void released++ };
  const disconnected = new AbortController().signal;
  const reach = { organization_id: "o", scope: "s", thread_id: undefined, countBytes: () => undefined, disconnected };
  const input = turns.map((id) => ({ type: "item_reference", id: `msg_${id}` }));
  const resolved = await resolveReferences({ db: { query }, longReadPlaces } as never, reach, { input });
  expect(resolved.input).toEqual(turns.map((id) => ({ type: "message", role: "assistant", content: `answer ${id}` })));
  return { most, acquired, released };
}

test("short answers are read eight at a time, and long ones alone and with a place among the long reads", async () => {
  expect(await refer(10_000)).toEqual({ most: 8, acquired: 0, released: 0 });
  expect(await refer(3_000_000)).toEqual({ most: 1, acquired: 1, released: 1 });
});
