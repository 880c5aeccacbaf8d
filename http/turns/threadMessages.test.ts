import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { readMessages } from "./threadMessages.ts";

/** Reads the messages of a thread with one turn. Returns the number of places that the read took, and of messages. */
async function read(bytes: number): Promise<[places: number, messages: number]> {
  const turn = {
    turn_id: newId(),
    position: 1,
    status: "completed",
    input: JSON.stringify([{ role: "user", text: "x", attachments: [] }]),
    prompt_blob: null,
    wrapped_key: null,
    said: null,
    bytes,
    started_at: new Date(),
    ended_at: null,
  };
  const query = async (sql: string, [, , , , after]: unknown[]) => {
    if (!sql.includes("octet_length")) return [{}];
    return after === 0 ? [turn] : [];
  };
  let places = 0;
  const request = { caller: { organization_id: "o" }, acquireLongRead: async () => void places++ };
  const http = { waitUntilCurrent: async () => {}, db: { query } };
  const { data } = await readMessages(http as never, request as never, { id: newId(), scope: "s" }, {});
  return [places, data.length];
}

test("a page of long turns waits for a place among the long reads of its organization before it is read", async () => {
  expect(await read(64 * 1024)).toEqual([0, 1]);
  expect(await read(64 * 1024 + 1)).toEqual([1, 1]);
});
