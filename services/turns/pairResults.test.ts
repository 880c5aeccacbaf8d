import { expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import type { ThreadMessage } from "./threadMessage.ts";
import { pairResults } from "./pairResults.ts";

const said = (role: "user" | "assistant", text: string): ThreadMessage => ({
  role,
  text,
  attachments: [],
  turn_id: "t",
});
const calling = (text: string, ...ids: string[]): ThreadMessage => ({
  ...said("assistant", text),
  calls: ids.map((id) => ({ id, name: "f", arguments: "{}", client: true })),
});
const result = (call_id: string, text: string): ThreadMessage => ({
  role: "tool",
  text,
  attachments: [],
  call_id,
  turn_id: "t",
});
const short = (messages: ThreadMessage[]) =>
  pairResults(messages).map(({ role, text, call_id }) => [role, call_id, text].filter(Boolean).join(" "));

test("a conversation without calls stays as it is", () => {
  const messages = [said("user", "Hi"), said("assistant", "Hello")];
  expect(pairResults(messages)).toBe(messages);
});

test("results follow their calls, in the order of the calls", () => {
  expect(
    short([calling("One", "a", "b"), result("b", "B"), result("a", "A"), calling("Two", "a"), result("a", "C")]),
  ).toEqual(["assistant One", "tool a A", "tool b B", "assistant Two", "tool a C"]);
});

test("results keep their files", () => {
  const attachments = [{ filename: "a.png", mime_type: "image/png", bytes: 1, sha256: "0", blob: "b" }];
  const pictured = { ...result("a", "See"), attachments };
  for (const before of [[calling("", "a")], []])
    expect(pairResults([...before, pictured]).at(-1)!.attachments).toEqual(attachments);
});

test("a call without a result gets a substitute, before the message that the caller sent instead", () => {
  expect(short([calling("", "a", "b"), result("b", "B"), said("user", "Never mind")])).toEqual([
    "assistant",
    expect.stringMatching(/^tool a .*went on/),
    "tool b B",
    "user Never mind",
  ]);
});

test("results that were sent again replace the earlier ones and the failed answer to them", () => {
  expect(
    short([calling("", "a"), result("a", "Old"), said("assistant", "It br"), said("user", "x"), result("a", "New")]),
  ).toEqual(["assistant", "tool a New", "user x"]);
});

test("a result whose call was deleted reaches the model as text", () => {
  expect(short([result("a", "Rain"), said("user", "Well?")])).toEqual([
    expect.stringMatching(/^user The result of a tool call[^]*Rain$/),
    "user Well?",
  ]);
});

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `call_${n}`);

test.each([
  ["30,000 calls, each with its result", ids(30_000).flatMap((id) => [calling("", id), result(id, "R")])],
  [
    "10,000 calls in one message",
    [
      calling("", ...ids(10_000)),
      ...ids(10_000)
        .map((id) => result(id, "R"))
        .toReversed(),
    ],
  ],
])("%s are paired in linear time", (_title, messages) => {
  expect(pairResults(messages)).toHaveLength(messages.length);
  expect(computingTime(() => pairResults(messages))).toBeLessThan(100);
});
