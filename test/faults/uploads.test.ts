import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { leavesWell, startTarget } from "../hostile/target.ts";
import { ALONE } from "../sharedPlatform.ts";

const target = await startTarget(ALONE);
leavesWell(() => target, afterEach);

const FILE = Buffer.concat([
  Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'),
  Buffer.alloc(2_000_000, "a"),
  Buffer.from("\r\n--b--\r\n"),
]);
const head = (name: string) =>
  target.head(
    "POST /api/openai/v1/files",
    "Content-Type: multipart/form-data; boundary=b",
    `Content-Length: ${FILE.length}`,
    `Idempotency-Key: ${name}`,
  );
const kept = async () => {
  const events = await target.platform.resources.db.query("select from log.events where type = 'FileUploaded'", []);
  const blobs = await readdir(join(target.platform.settings.DATA_DIR, "blobs"), {
    recursive: true,
    withFileTypes: true,
  });
  return { events: events.length, blobs: blobs.filter((entry) => entry.isFile()).length };
};

test("an upload that breaks off at any tenth stores nothing, and can be sent again", async () => {
  const nothing = { events: 0, blobs: 0 };
  // at its start, the service writes and removes a file to learn the disk's time
  await expect.poll(kept).toEqual(nothing);
  const tenths = Array.from({ length: 10 }, (_, n) => n);
  const parts = tenths.map((tenth) => FILE.subarray(0, Math.floor((FILE.length * tenth) / 10)));
  await Promise.all(
    parts.map(async (part, tenth) => {
      const { socket } = target.open(Buffer.concat([Buffer.from(head(`tenth-${tenth}`)), part]));
      await sleep(200);
      socket.resetAndDestroy();
    }),
  );
  await sleep(200);
  expect(await kept()).toEqual(nothing);

  const again = await Promise.all(
    tenths.map((tenth) =>
      target.send("POST", "/files", FILE, {
        "content-type": "multipart/form-data; boundary=b",
        "idempotency-key": `tenth-${tenth}`,
      }),
    ),
  );
  expect(again.map(({ status, body }) => [status, body.bytes])).toEqual(tenths.map(() => [201, 2_000_000]));
  expect(await kept()).toEqual({ events: 10, blobs: 10 });
});
