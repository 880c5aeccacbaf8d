import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { streamOf } from "#events/ids.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary, type Library } from "../knowledge/library.ts";
import { shortLived } from "./shortLived.ts";

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});

const read = (id: string) => library.call("GET", `${library.extractions}/${id}`);

const extraction = (ms: number, text: string) =>
  shortLived({ opened: library.platform.opened, organization_id: library.credentials.organization_id }, ms, text);

test("a result is there until the instant it expires, and then as if it had never been", async () => {
  const { id, expires_at } = await extraction(4_000, "Gone in a moment.");
  const record = await library.extracted(id);
  expect([record.status, record.markdown.trim(), record.expires_at]).toEqual([
    "ready",
    "Gone in a moment.",
    expires_at.toISOString(),
  ]);
  for (let there = 0; ; there++) {
    const asked = Date.now();
    const answer = await read(id);
    const answered = Date.now();
    if (answered < expires_at.getTime()) expect(answer.status).toBe(200);
    if (asked < expires_at.getTime()) continue;
    expect(there).toBeGreaterThan(0);
    expectRefusal(answer, 404, "extraction_not_found");
    break;
  }
  expectRefusal(await library.call("DELETE", `${library.extractions}/${id}`), 404, "extraction_not_found");
});

test("identical bytes after it are new, though nobody has cleaned up yet", async () => {
  const { id } = await extraction(3_000, "Sent again.");
  const sent = { content: "Sent again.", name: "moment.md" };
  expect((await library.extract(sent)).body.id).toBe(id);
  await sleep(3_100);
  const anew = await library.extract(sent);
  expect([anew.status, anew.body.id === id]).toEqual([202, false]);
  expect((await library.extracted(anew.body.id)).status).toBe("ready");
  await library.call("DELETE", `${library.extractions}/${anew.body.id}`);
});

test("its bytes, its text and its key are destroyed soon after", async () => {
  const { id, folder, expires_at } = await extraction(2_500, "Swept up.");
  await library.extracted(id);
  const { db } = library.platform.opened;
  const kept = () => readdir(join(library.platform.settings.DATA_DIR, "blobs", folder)).catch(() => []);
  const key = async () =>
    (await db.query("select from log.keys where thing = $1", [streamOf("extraction", id)])).length;
  expect([(await kept()).length, await key()]).toEqual([2, 1]);
  await expect
    .poll(async () => [(await kept()).length, await key()], { timeout: 20_000, interval: 200 })
    .toEqual([0, 0]);
  expect(Date.now()).toBeGreaterThanOrEqual(expires_at.getTime());
});
