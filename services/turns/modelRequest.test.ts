import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { EMPTY_PROMPT } from "#events/thread.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { openConversation } from "./conversation.ts";
import { buildModelRequest, limitFiles, measureFiles, useRequest } from "./modelRequest.ts";
import type { Part } from "./model.ts";
import type { ThreadMessage } from "./threadMessage.ts";
import type { TurnToRun } from "./turnToRun.ts";

const asked = (...megabytes: number[]): ThreadMessage => ({
  turn_id: newId(),
  role: "user",
  text: "Look at this.",
  attachments: megabytes.map((size, n) => ({
    sha256: `${n}`.repeat(64),
    blob: newId(),
    filename: "a.pdf",
    mime_type: "application/pdf",
    bytes: size * 1_000_000,
  })),
});
const sizes = (messages: ThreadMessage[]): number[][] =>
  messages.map(({ attachments }) => attachments.map(({ bytes }) => bytes / 1_000_000));

test("after two turns with large files, only the newer file is sent, and all text", () => {
  const history = [asked(20), asked(20), asked()];
  const kept = limitFiles(history, [asked()], "openai");
  expect(sizes(kept)).toEqual([[], [20], []]);
  expect(kept.map(({ text }) => text)).toEqual(history.map(({ text }) => text));
});

test("the files of a turn itself come first", () => {
  expect(sizes(limitFiles([asked(3), asked(4)], [asked(10, 8)], "openai"))).toEqual([[], [4]]);
  expect(sizes(limitFiles([asked(1)], [asked(25)], "openai"))).toEqual([[]]);
});

test("a provider that has accepted larger files in the thread gets them again, and other providers do not", () => {
  const history = [asked(20), { ...asked(26, 30), taken_by: "openai" }, asked()];
  expect(sizes(limitFiles(history, [asked()], "openai"))).toEqual([[], [26, 30], []]);
  expect(sizes(limitFiles(history, [asked(10)], "openai"))).toEqual([[], [26], []]);
  for (const other of ["anthropic", undefined])
    expect(sizes(limitFiles(history, [asked()], other))).toEqual([[], [], []]);
});

test("the memory of large files is freed after the answer, once for a file of several messages; small files share a buffer", async () => {
  const [large, small] = [Buffer.alloc(1_000_000, "a"), Buffer.from("small")];
  const part = (bytes: Buffer): Part => ({ type: "file", filename: "a.txt", mime_type: "text/plain", bytes });
  const messages = [large, large, small].map((bytes) => ({ role: "user" as const, parts: [part(bytes)] }));
  const ask = async () => large.length;
  expect(await useRequest(async () => modelRequest("", { messages }), ask)).toBe(1_000_000);
  expect([large.length, small.toString()]).toEqual([0, "small"]);
});

test("files too large for the provider are refused before they are loaded; the offline model gets them", () => {
  const conversation = [asked(60, 41)];
  expect(() => measureFiles({ model: "openai/gpt-test" }, conversation)).toThrow("101 MB together");
  expect(measureFiles({ model: "openai/gpt-test" }, [asked(60, 40)])).toBe(100_000_000);
  expect(measureFiles({ model: "offline/echo" }, conversation)).toBe(101_000_000);
  const route = { targets: ["openai/gpt-test"], on: [], timeout_seconds: 1, max_attempts: 1, max_seconds: 1 };
  expect(measureFiles({ model: "fast", route }, conversation)).toBe(101_000_000);
});

test("a file that was attached again is sent, although its first copy is gone, and loaded once", async () => {
  const [gone, there, again] = [asked(1), asked(1), asked(1)];
  const loaded: string[] = [];
  const vault = {
    get: async (_: unknown, blob: string) => {
      loaded.push(blob);
      return blob === gone.attachments[0]!.blob ? undefined : Buffer.from("bytes");
    },
  };
  const turn = { model: "openai/gpt-test", streamed: false };
  const { messages } = await buildModelRequest({ vault }, turn, EMPTY_PROMPT, [], [gone, there, again]);
  expect(messages.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
    ["text"],
    ["text", "file"],
    ["text", "file"],
  ]);
  expect(loaded).toHaveLength(2);
});

test.each([
  ["image/jpg", "ffd8ffe0", "image/jpeg"],
  ["image/png", "ffd8ffe0", "image/jpeg"],
  ["image/jpeg", "89504e470d0a1a0a", "image/png"],
  ["image/png", "474946383961", "image/gif"],
  ["image/png", "524946460a0a0a0a57454250", "image/webp"],
  ["image/svg+xml", "3c7376673e", "image/svg+xml"],
  ["application/pdf", "ffd8ffe0", "application/pdf"],
])("a file of the type %s with the bytes %s is sent as %s", async (mime_type, hex, sent) => {
  const message = asked(1);
  const attachments = message.attachments.map((attachment) => ({ ...attachment, mime_type }));
  const vault = { get: async () => Buffer.from(hex, "hex") };
  const turn = { model: "anthropic/claude-test", streamed: false };
  const { messages } = await buildModelRequest({ vault }, turn, EMPTY_PROMPT, [], [{ ...message, attachments }]);
  expect(messages[0]!.parts[1]).toMatchObject({ mime_type: sent });
});

test("files of tool results follow all results of their round as messages of the user", async () => {
  const calls = ["a", "b"].map((id) => ({ id, name: "look", arguments: "{}", client: true as const }));
  const call = { ...asked(), role: "assistant" as const, calls };
  const result = (call_id: string, message: ThreadMessage) => ({ ...message, role: "tool" as const, call_id });
  const conversation = [call, result("a", asked(1)), result("b", asked()), asked()];
  const vault = { get: async () => Buffer.from("bytes") };
  const turn = { model: "openai/gpt-test", streamed: false };
  const { messages } = await buildModelRequest({ vault }, turn, EMPTY_PROMPT, [], conversation);
  expect(messages.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
    ["assistant", "text"],
    ["tool", "text"],
    ["tool", "text"],
    ["user", "text", "file"],
    ["user", "text"],
  ]);
});

test("a caller's tools are offered as sent, and the request names them for the provider", async () => {
  const sent = [{ name: "web_fetch", description: "Ours", parameters: { type: "object" } }];
  const prompt = { ...EMPTY_PROMPT, client_tools: sent };
  const turn = {
    turn_id: newId(),
    organization_id: newId(),
    model: "google/gemini-test",
    streamed: false,
  } as TurnToRun;
  const known = { tools: { find: async () => [] } as never, countTokens: async () => 0 };
  const { offers } = await openConversation(known, turn, prompt, { history: [], findWindow: async () => undefined });
  expect(await buildModelRequest({} as never, turn, prompt, offers, [])).toMatchObject({
    model: "gemini-test",
    tools: sent,
    client_tools: ["web_fetch"],
  });
  expect(offers).toEqual(sent);
});
