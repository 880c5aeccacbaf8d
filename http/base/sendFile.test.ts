import Fastify from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sendFile } from "./sendFile.ts";

const logged: string[] = [];
const app = Fastify({ logger: { level: "warn", stream: { write: (line: string) => void logged.push(line) } } });
app.decorateRequest("countBytes", () => {});
app.get("/:stored", async (request, reply) => {
  const isStored = (request.params as { stored: string }).stored === "here";
  const file = { mime_type: "text/plain", filename: "note.txt", bytes: 4 };
  const isSent = await sendFile(request, reply, file, async () => (isStored ? Buffer.from("text") : undefined));
  return isSent ? reply : reply.code(404).send({ gone: true });
});
beforeEach(() => void logged.splice(0));
afterEach(() => app.close());

test("a stored file is sent with its type and name, a file with deleted bytes is not sent, and neither is logged as an error", async () => {
  const here = await app.inject("/here");
  expect([here.statusCode, here.body, here.headers["content-type"]]).toEqual([200, "text", "text/plain"]);
  expect(here.headers["content-disposition"]).toContain("note.txt");
  const gone = await app.inject("/gone");
  expect([gone.statusCode, gone.json()]).toEqual([404, { gone: true }]);
  expect(logged).toEqual([]);
});
