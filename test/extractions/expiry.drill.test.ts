import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary } from "../knowledge/library.ts";
import { requestShortLived } from "./requestShortLived.ts";

const library = await openLibrary();
// starts a reading process: the moments below are for reading alone
await library.extracted((await library.extract()).body.id);

const read = (id: string) => library.call("GET", `${library.extractions}/${id}`);

const extraction = (ms: number, text: string) =>
  requestShortLived(
    { opened: library.platform.resources, organization_id: library.credentials.organization_id },
    ms,
    text,
  );

test("an extraction can be read until the moment it expires, and is then a 404", async () => {
  const { id, expires_at } = await extraction(8_000, "Gone in a moment.");
  const record = await library.extracted(id);
  expect([record.status, record.markdown.trim(), record.expires_at]).toEqual([
    "ready",
    "Gone in a moment.",
    expires_at.toISOString(),
  ]);
  for (let reads = 0; ; reads++) {
    const sentAt = Date.now();
    const answer = await read(id);
    const answeredAt = Date.now();
    if (answeredAt < expires_at.getTime()) expect(answer.status).toBe(200);
    if (sentAt < expires_at.getTime()) continue;
    expect(reads).toBeGreaterThan(0);
    expectRefusal(answer, 404, "extraction_not_found");
    break;
  }
  expectRefusal(await library.call("DELETE", `${library.extractions}/${id}`), 404, "extraction_not_found");
});

test("identical bytes sent after the expiry are a new extraction, even before the sweep deletes the old one", async () => {
  const { id, expires_at } = await extraction(6_000, "Sent again.");
  const sent = { content: "Sent again.", name: "moment.md" };
  expect((await library.extract(sent)).body.id).toBe(id);
  await sleep(expires_at.getTime() - Date.now() + 100);
  const second = await library.extract(sent);
  expect([second.status, second.body.id === id]).toEqual([202, false]);
  expect((await library.extracted(second.body.id)).status).toBe("ready");
  await library.call("DELETE", `${library.extractions}/${second.body.id}`);
});

test("the bytes, the text and the key of an expired extraction are destroyed soon after", async () => {
  const { id, folder, expires_at } = await extraction(6_000, "Swept up.");
  await library.extracted(id);
  const { db } = library.platform.resources;
  const blobs = () => readdir(join(library.platform.settings.DATA_DIR, "blobs", folder)).catch(() => []);
  const key = async () =>
    (await db.query("select from log.keys where thing = $1", [streamName("extraction", id)])).length;
  expect([(await blobs()).length, await key()]).toEqual([2, 1]);
  await expect.poll(async () => [(await blobs()).length, await key()], { interval: 200 }).toEqual([0, 0]);
  expect(Date.now()).toBeGreaterThanOrEqual(expires_at.getTime());
});
