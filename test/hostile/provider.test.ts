import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { startOpenai, type Reply } from "../doubles/openai.ts";
import { chunksOf } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget } from "./target.ts";

/* Whatever a provider answers, the service's answer has the documented shape and reveals no credential. */

const KEY = "sk-very-secret-key";
const json = (body: unknown, status = 200): Reply => ({ status, body });
const raw = (bytes: string | Buffer, headers: Record<string, string> = {}): Reply => ({
  write(response: ServerResponse) {
    response.writeHead(200, { "content-type": "text/event-stream", ...headers }).end(bytes);
  },
});
const choice = (message: unknown, finish_reason: unknown = "stop") => ({
  choices: [{ index: 0, message, finish_reason }],
});
const chunk = (delta: unknown, finish_reason: unknown = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const DONE = "data: [DONE]\n\n";

/** Provider answers for which a client gets a 502, buffered and streamed. */
const bad: Record<string, Reply> = {
  "no JSON": raw("{broken", { "content-type": "application/json" }),
  "a page": raw("<html>Welcome</html>", { "content-type": "text/html" }),
  nothing: raw("", { "content-type": "application/json" }),
  null: json(null),
  "a list": json([]),
  "no choices": json({ id: "x" }),
  "an empty choice list": json({ choices: [] }),
  "choices of odd types": json({ choices: [null, 1, "x"] }),
  "an error in a success": json({ error: { message: `bad key ${KEY}` } }),
  "a redirect": { status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" } },
  "no content": { status: 204 },
  "the key repeated": json({ error: { message: `Incorrect API key provided: ${KEY}` } }, 401),
  "an error of odd shape": json({ error: ["x", { message: {} }] }, 400),
  "an error without end": json({ error: { message: "e".repeat(1_000_000) } }, 400),
  "a page of error": { status: 403, headers: { "content-type": "text/html" }, body: "<h1>No</h1>" },
  "bytes that are no text": raw(Buffer.from([0xff, 0xfe, 0x00]), { "content-type": "application/json" }),
  "a header with the key": { status: 400, headers: { "x-echo": KEY }, body: { error: { message: "no" } } },
};

/** Streams, the text that a client gets, and whether an error ends them. */
const streams: Record<string, [Reply, words: string, broken: boolean]> = {
  "an event that is no JSON": [
    raw(`${chunk({ content: "a" })}data: {broken\n\n${chunk({ content: "b" }, "stop")}${DONE}`),
    "a",
    true,
  ],
  "an error event": [
    raw(`${chunk({ content: "a" })}data: ${JSON.stringify({ error: { message: `${KEY} is out` } })}\n\n`),
    "a",
    true,
  ],
  "no end": [raw(chunk({ content: "a" })), "a", true],
  "bytes that are no text": [
    raw(Buffer.concat([Buffer.from(chunk({ content: "a" })), Buffer.from([0xff, 0x0a, 0x0a])])),
    "",
    true,
  ],
  "comments and unknown events": [
    raw(
      `: hello\n\nevent: ping\ndata: {"choices":[]}\n\n${chunk({ content: "a" })}id: 7\nretry: 1\n\n${chunk({}, "stop")}${DONE}`,
    ),
    "a",
    false,
  ],
  "choices of other numbers": [
    raw(
      `data: ${JSON.stringify({ choices: [{ index: 3, delta: { content: "other" } }] })}\n\n${chunk({ content: "a" }, "stop")}${DONE}`,
    ),
    "a",
    false,
  ],
  "a reason nobody knows": [raw(`${chunk({ content: "a" }, "because")}${DONE}`), "a", false],
  "counts that are none": [
    raw(
      `${chunk({ content: "a" }, "stop")}data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: -1, completion_tokens: "x", total_tokens: {} } })}\n\n${DONE}`,
    ),
    "a",
    false,
  ],
  "line ends of another kind": [
    raw(`${chunk({ content: "a" })}${chunk({}, "stop")}${DONE}`.replaceAll("\n", "\r\n")),
    "a",
    false,
  ],
  "sources of odd types": [
    raw(`${chunk({ content: "a", annotations: [1, null, { url_citation: { url: 5 } }] }, "stop")}${DONE}`),
    "a",
    false,
  ],
  "a packed stream": [
    raw(gzipSync(`${chunk({ content: "a" }, "stop")}${DONE}`), { "content-encoding": "gzip" }),
    "",
    true,
  ],
};

const provider = await startOpenai();
const target = await startTarget({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.url });
provider.script(({ method, body }) => {
  if (method === "GET") return { status: 500 };
  return bad[body.model] ?? streams[body.model]?.[0];
});
afterFile(() => provider.close());
leavesWell(() => target);

describe.concurrent.each([false, true])("a provider that sends (stream: %s)", (stream) => {
  test.each(Object.keys(bad))("%s gets a 502 without the key", async (name) => {
    const answer = await target.complete(say("x", { model: `openai/${name}`, stream }));
    expectRefusal(answer, 502, undefined, null);
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(KEY);
    expect(answer.text.length).toBeLessThan(2_000);
  });
});

describe.concurrent("a provider's stream", () => {
  test.each(Object.entries(streams))("with %s reveals no key and ends correctly", async (name, [, words, broken]) => {
    const { status, text } = await target.complete(say("x", { model: `openai/${name}`, stream: true }));
    expect(text).not.toContain(KEY);
    if (words === "") return expect(status).toBe(502);
    const frames = chunksOf(text);
    expect(frames.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("")).toBe(words);
    expect([text.endsWith(DONE), "error" in frames.at(-1)]).toEqual([!broken, broken]);
  });
});

test.each([
  [
    "text in parts",
    { content: [{ type: "text", text: "a" }, { type: "odd" }, null, { type: "text", text: "b" }] },
    { content: "ab" },
  ],
  ["no text", { content: null }, { content: "" }],
  ["a refusal", { content: null, refusal: "No." }, { content: "", refusal: "No." }],
  ["text of another type", { content: { a: 1 } }, { content: "" }],
])("a provider's answer of %s is accepted", async (name, message, said) => {
  streams[name] = [json(choice(message)), "", false];
  const { status, body } = await target.complete(say("x", { model: `openai/${name}` }));
  expect([status, body.choices[0]]).toEqual([
    200,
    expect.objectContaining({ finish_reason: "stop", message: expect.objectContaining(said) }),
  ]);
  expect(body.usage.total_tokens).toBeGreaterThan(0);
});
