import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { longestTurn } from "#test/computingTime.ts";
import { countRounds } from "#test/countRounds.ts";
import { storeMessages, type TurnBlobs } from "./storeMessages.ts";

const MIB = 1024 * 1024;
const http = {
  db: { query: async () => [{ bytes: 0 }] },
  settings: { ORGANIZATION_MEGABYTES: 10_000, THREAD_MEGABYTES: 10_000 },
  stored: async () => ({ bytes: 0, unread: 0 }),
  vault: { put: () => setImmediate("blob") },
} as unknown as Parameters<typeof storeMessages>[0];
const turn: TurnBlobs = {
  turn_id: "t",
  thread_id: "t",
  organization_id: "o",
  scope: "s",
  key: "k",
  room: { admit: async () => {} },
};

/** Base64 texts of the same length that differ in their last bytes only. */
const attached = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, n) => {
    const content = Buffer.alloc(bytes, "a");
    content.write(String(n).padStart(3, "0"), bytes - 3);
    return { kind: "inline" as const, filename: "a", mime_type: "a/b", base64: content.toString("base64"), param: "p" };
  });

const store = (files: ReturnType<typeof attached>) => storeMessages(http, turn, [{ role: "user", text: "", files }]);

test("the event loop goes round while an attachment of 25 MiB is hashed", async () => {
  const content = Buffer.alloc(25 * MIB, "a");
  const storing = store(attached(1, content.length));
  expect(await countRounds(storing)).toBeGreaterThan(6);
  expect((await storing).stored_bytes).toBe(content.length);
});

test("attachments that differ only in their last bytes are compared without blocking the process", async () => {
  const files = attached(16, 6 * MIB);
  await store(files.slice(0, 1));
  expect(await longestTurn(() => store(files))).toBeLessThan(60);
  expect((await store([...files, ...files])).stored_bytes).toBe(16 * 6 * MIB);
});

test("uploaded files are looked up together", async () => {
  let [open, most] = [0, 0];
  const query = async () => {
    most = Math.max(most, ++open);
    await setImmediate();
    open -= 1;
    return [];
  };
  const files = [newId(), newId(), newId()].map((file_id) => ({ kind: "stored" as const, file_id, param: "p" }));
  const storing = storeMessages({ ...http, db: { query }, waitUntilCurrent: async () => {} }, turn, [
    { role: "user", text: "", files },
  ]);
  await expect(storing).rejects.toMatchObject({ errorCode: "file_not_found" });
  expect(most).toBe(3);
});
