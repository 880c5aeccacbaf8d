import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openReader } from "../knowledge/library.ts";
import { expectRefusal, startTarget } from "./target.ts";

/* The limit of 100 MB, reached byte by byte. A drill, because a reader searches all of the accepted file for a PDF. */

test("a file of 100 MB is accepted as a document and for extraction, and one byte more is refused", async () => {
  const target = await startTarget();
  const reader = openReader(target.platform.url, target.api_key);
  const blobs = async () => {
    const folder = join(target.platform.settings.DATA_DIR, "blobs");
    return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
  };
  const largest = Buffer.alloc(100_000_000, "a line of text that is long\n");
  const send = (path: string, filename: string, ...content: (Buffer | string)[]) => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n`;
    const body = Buffer.concat([head, ...content, "\r\n--b--\r\n"].map((part) => Buffer.from(part)));
    return target.send("POST", target.platform.url + path, body, { "content-type": "multipart/form-data; boundary=b" });
  };
  const before = await blobs();
  for (const path of [
    `/api/v1/knowledge/collections/${await reader.collect("Shelf")}/documents`,
    "/api/v1/extractions",
  ])
    expectRefusal(await send(path, "a.bin.png", largest, "a"), 413, "file_too_large");
  expect(await blobs()).toBe(before);
  const { status, body } = await send("/api/v1/extractions", "a.pdf", "%PDF-1.7 ", largest.subarray(9));
  expect([status, body.size_bytes]).toEqual([202, 100_000_000]);
  expect((await reader.extracted(body.id)).status).toBe("failed");
  await target.isWell();
});
