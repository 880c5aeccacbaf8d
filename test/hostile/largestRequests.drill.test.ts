import { afterEach, expect, test } from "vitest";
import { fileForm } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget } from "./target.ts";

/* The largest request and the largest attachment of a chat, and one byte more. They take seconds to send and to read. */

const target = await startTarget();
leavesWell(() => target, afterEach);

const MIB = 1024 * 1024;

test("a request of 64 MiB is accepted, and one byte more is refused", async () => {
  const body = JSON.stringify(say("x"));
  const padded = (bytes: number) => Buffer.alloc(bytes, " ").fill(body, 0, body.length);
  const { status, body: answer } = await target.complete(padded(64 * MIB));
  expect([status, answer.choices[0].message.content]).toEqual([200, "x"]);
  expectRefusal(await target.complete(padded(64 * MIB + 1)), 413, "request_too_large");
});

test("an attachment of 25 MiB is accepted, and one byte more is refused, inline and stored", async () => {
  const most = 25 * MIB;
  const over = Buffer.alloc(most + 1);
  const inline = (bytes: Buffer) =>
    target.complete(say([{ type: "file", file: { file_data: bytes.toString("base64"), filename: "a.bin" } }]));
  expectRefusal(await inline(over), 400, "attachment_too_large", "messages[0].content[0].file.file_data");
  const { id } = (await target.send("POST", "/files", fileForm(over, "a.bin", { type: "" }))).body;
  const stored = await target.complete(say("x", { attachments: [id] }));
  expectRefusal(stored, 400, "attachment_too_large", "attachments[0]");
  const just = await inline(over.subarray(1));
  expect([just.status, just.body.choices?.[0].message.content]).toEqual([
    200,
    `[a.bin, application/octet-stream, ${most} bytes]`,
  ]);
});
