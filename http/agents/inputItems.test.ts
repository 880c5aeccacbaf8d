import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { inputItems } from "./inputItems.ts";

/* A thread may be longer than the memory: it is read in pages, and the answer is sent in parts. */

type Args = Parameters<typeof inputItems>;

/** A thread of questions of a thousand letters and answers; `page` turns are read at once. */
function openThread(turns: number, page: number) {
  const ids = Array.from({ length: turns }, newId);
  const asked: unknown[][] = [];
  const rowOf = (turn_id: string) => ({
    turn_id,
    position: ids.indexOf(turn_id) + 1,
    status: "completed",
    input: JSON.stringify([{ role: "user", text: "q".repeat(1_000), attachments: [] }]),
    said: JSON.stringify({ text: turn_id, reasoning: "", citations: [] }),
    bytes: 1_100,
  });
  const db = {
    async query(_sql: string, values: unknown[]) {
      asked.push(values);
      const after = values[4] as number;
      return ids.slice(after, after + page).map(rowOf);
    },
  };
  return { ids, asked, db };
}

function openReply() {
  const held: number[] = [];
  const request = { countBytes: (bytes: number) => void held.push(bytes) };
  return { held, reply: { request, raw: { setTimeout() {}, once() {} } } as unknown as Args[1] };
}

/** `places`: gets "taken" and "free" for each long read. */
const read = ({ ids, db }: ReturnType<typeof openThread>, reply: Args[1], places: string[] = []) => {
  const longReadPlaces = { acquire: async () => void places.push("taken"), release: () => void places.push("free") };
  return inputItems({ db, longReadPlaces } as unknown as Args[0], reply, {
    id: ids.at(-1)!,
    organization_id: newId(),
    thread_id: newId(),
    scope: "s",
  });
};

test("the items of a long thread are read in pages, each of which is counted, and sent in parts", async () => {
  const thread = openThread(250, 100);
  const { held, reply } = openReply();
  const parts: string[] = [];
  for await (const part of read(thread, reply)) parts.push(String(part));
  const list = JSON.parse(parts.join(""));
  expect(list.data).toHaveLength(499);
  expect([list.first_id, list.last_id, list.has_more]).toEqual([list.data[0].id, list.data.at(-1).id, false]);
  expect(list.data[1].content[0].text).toBe(thread.ids[0]);
  expect(parts.length).toBeGreaterThan(3);
  expect(held).toEqual([110_000, -110_000, 110_000, -110_000]);
  for (const [, , , until, , limit, bytes] of thread.asked)
    expect([until, limit, bytes]).toEqual([thread.ids.at(-1), expect.any(Number), expect.any(Number)]);
});

test("a client that reads slowly keeps no place among the long reads of its organization", async () => {
  const places: string[] = [];
  const items = read(openThread(250, 100), openReply().reply, places);
  await items[Symbol.asyncIterator]().next();
  expect(places.length).toBeGreaterThan(0);
  expect(places.length % 2 === 0 && places.every((state, n) => state === (n % 2 === 0 ? "taken" : "free"))).toBe(true);
});

test("a thread whose turns are deleted while it is read is no list that looks complete", async () => {
  const thread = openThread(2, 2);
  const deleted = { ...thread, ids: [...thread.ids, newId()] };
  await expect(text(read(deleted, openReply().reply))).rejects.toThrow("deleted");
});

test("the list ends when the credential has ended meanwhile", async () => {
  const { reply } = openReply();
  let checks = 0;
  const recheckCredential = async () => {
    if (++checks === 2) throw new Error("the key was deleted");
  };
  const slow = {
    ...(reply as object),
    elapsedTime: 2_000,
    request: { ...reply.request, recheckCredential },
  } as unknown as Args[1];
  await expect(text(read(openThread(250, 100), slow))).rejects.toThrow("the key was deleted");
  expect(checks).toBe(2);
});
