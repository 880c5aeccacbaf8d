import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { RequestExtraction } from "#events/extraction.ts";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import { types } from "#events/mediaTypes.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary, type Library } from "../knowledge/library.ts";

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});

const read = (id: string) => library.call("GET", `${library.extractions}/${id}`);

/** An extraction as http would ask for it, but one that lives for `ms` only. */
async function shortLived(ms: number, text: string) {
  const { bus, log, keyring, blobs } = library.platform.opened;
  const { organization_id } = library.credentials;
  const extraction_id = newId();
  const stream = streamOf("extraction", extraction_id);
  const folder = `${organization_id}/${stream}`;
  const wrapped = keyring.create(stream);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const expires_at = new Date(Date.now() + ms);
  const answer = await bus.sender(log).send({
    id: newCommandId(),
    type: RequestExtraction.type,
    stream,
    organization_id,
    principal: "system",
    at: new Date().toISOString(),
    deadline: new Date(Date.now() + 30_000).toISOString(),
    request_id: "test",
    keys: { [stream]: wrapped },
    data: {
      extraction_id,
      mime_type: types.md,
      size_bytes: text.length,
      blob: await blobs.put(folder, keyring.seal(stream, wrapped, Buffer.from(text))),
      content_claim: keyring.mark("extraction", [organization_id, sha256, types.md].join("\n")),
      expires_at: expires_at.toISOString(),
      name: "moment.md",
      sha256,
    },
  });
  expect(answer.rejection).toBeUndefined();
  return { id: extraction_id, folder, expires_at };
}

test("a result is there until the instant it expires, and then as if it had never been", async () => {
  const { id, expires_at } = await shortLived(4_000, "Gone in a moment.");
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
  const { id } = await shortLived(3_000, "Sent again.");
  const sent = { content: "Sent again.", name: "moment.md" };
  expect((await library.extract(sent)).body.id).toBe(id);
  await sleep(3_100);
  const anew = await library.extract(sent);
  expect([anew.status, anew.body.id === id]).toEqual([202, false]);
  expect((await library.extracted(anew.body.id)).status).toBe("ready");
  await library.call("DELETE", `${library.extractions}/${anew.body.id}`);
});

test("its bytes, its text and its key are destroyed soon after", async () => {
  const { id, folder, expires_at } = await shortLived(2_500, "Swept up.");
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
