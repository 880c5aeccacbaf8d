import { describe, expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { expectRefusal } from "../hostile/target.ts";
import { cutAfter, DONE, endless, FINISH, piece, silentAfter, streaming, words } from "./replies.ts";
import { readStream, setStage, type Fault } from "./faultyProvider.ts";

/* Answers that begin and break off. Output that was sent is kept and counted; a turn without output leaves no trace. */

const SSE = "text/event-stream";
const JSON_TYPE = "application/json";
const BIG = "wide ".repeat(400_000);
const source = { type: "url_citation", url_citation: { url: `https://a.example/${"x".repeat(50_000)}`, title: "" } };
const whole = (content: string, finish_reason = "stop") =>
  JSON.stringify({ choices: [{ index: 0, message: { content }, finish_reason }] });
const body = (text: string | Buffer): Fault => ({
  write: (response) => void response.writeHead(200, { "content-type": JSON_TYPE }).end(text),
});

/** Streams that fail after these words; the provider is not asked again. */
const broken: Record<string, [Fault, said: string]> = {
  "cut within an event": [cutAfter(SSE, words("a "), words("b"), words("never").slice(0, 30)), "a b"],
  "cut after the last word": [cutAfter(SSE, words("a "), words("b")), "a b"],
  "ended without an end": [streaming(words("a "), words("b")), "a b"],
  "bytes that are no text": [streaming(words("a "), words("b"), Buffer.from([0xc3, 0x28, 0x0a])), ""],
  "half of JSON": [streaming(words("a "), words("b"), words("c").slice(0, 30), "\n\n", FINISH, DONE), "a b"],
  "an error": [streaming(words("a "), words("b"), 'data: {"error":{"message":"Out."}}\n\n'), "a b"],
};

/** Streams that are whole for all that. */
const fine: Record<string, [Fault, said: string]> = {
  "cut between the finish and [DONE]": [cutAfter(SSE, words("a "), words("b"), FINISH), "a b"],
  "a piece twice": [streaming(words("a "), words("a "), words("b"), FINISH, DONE), "a a b"],
  "no word at all": [streaming(FINISH, DONE), ""],
  "a reason nobody knows": [streaming(words("a b"), piece({}, "tired"), DONE), "a b"],
  "one piece of 2 MB": [streaming(words("a "), words(BIG), words("b"), FINISH, DONE), `a ${BIG}b`],
};

/** Streams that fail before a word: asked three times. */
const wordless: Record<string, Fault> = {
  "cut before a word": cutAfter(SSE, piece({ role: "assistant", content: "" }), words("never").slice(0, 30)),
  "an error instead of a word": streaming('data: {"error":{"message":"Overloaded."}}\n\n'),
};

/** Buffered answers that are none. */
const unread: Record<string, Fault> = {
  "half of a body": body(whole("never").slice(0, 30)),
  "a body cut off": cutAfter(JSON_TYPE, whole("never").slice(0, 30)),
  "a body that is no text": body(Buffer.from(whole("\u00e9"), "latin1")),
  "a body without end": endless(JSON_TYPE, '{"choices":[{"index":0,"message":{"content":"', "never ".repeat(50_000)),
};

const read: Record<string, [Fault, said: string]> = {
  "no word": [body(whole("")), ""],
  "a strange end": [body(whole("a b", "tired")), "a b"],
  "3 MB": [body(whole(BIG + BIG.slice(1_000_000))), BIG + BIG.slice(1_000_000)],
};

const only = (faults: Record<string, [Fault, string]>) =>
  Object.fromEntries(Object.entries(faults).map(([name, [fault]]) => [name, fault]));

const stage = await setStage({
  ...only(broken),
  ...only(fine),
  ...only(read),
  ...wordless,
  ...unread,
  "a stream without end": endless(SSE, words("a "), words("and on ".repeat(10_000))),
  "sources without end": endless(SSE, words("a "), piece({ annotations: [source] })),
  "silence after two words": silentAfter(words("a "), words("b")),
  "drops for ever": endless(SSE, words("a "), words("b "), 300),
});
afterFile(stage.close);

/** Expects a stream that ended with an error, and a failed turn in the log with the same text and its usage. */
async function expectBroken(name: string, hurry = false) {
  const { answer, called, between, end } = await stage.inThread(name, { stream: true, hurry });
  const { text, error, done } = readStream(answer.text);
  expect([answer.status, done, called, end.type]).toEqual([200, false, 1, "TurnFailed"]);
  expect(error).toEqual({ message: expect.stringMatching(/\S/), type: "api_error", param: null, code: null });
  expect(end.personal.said.text === text, "what was received is what was kept").toBe(true);
  expect([between[0], between[1] === text, between.length]).toEqual(["asked", true, 2]);
  expect(end.data.usage.prompt_tokens).toBeGreaterThan(0);
  expect(end.data.usage.completion_tokens).toBeGreaterThan(0);
  return { text, error };
}

describe.concurrent("a broken stream", () => {
  test.each(Object.entries(broken).filter(([, [, said]]) => said !== ""))(
    "delivers and stores its words: %s",
    async (name, [, said]) => {
      expect((await expectBroken(name)).text).toBe(said);
    },
  );

  test("is cut when it has no end", async () => {
    expect((await expectBroken("a stream without end")).text).toMatch(/^a (and on ){10000,}$/);
  });

  test("is cut when its sources have no end", async () => {
    expect((await expectBroken("sources without end")).text).toBe("a ");
  });

  test.each(["silence after two words", "drops for ever"])("fails at its time limit: %s", async (name) => {
    const { text, error } = await expectBroken(name, true);
    expect([text, error.message]).toEqual([expect.stringMatching(/^a b/), expect.stringContaining("time")]);
  });

  test.each(Object.keys(wordless))("is a 502 after three attempts: %s", async (name) => {
    const { answer, called, between, end } = await stage.inThread(name, { stream: true });
    expectRefusal(answer, 502, undefined, null);
    expect([called, between, end.type]).toEqual([3, [], "TurnRefused"]);
  });

  test("with bytes that are not text is a 502 or ends in an error", async () => {
    const { answer, between, end } = await stage.inThread("bytes that are no text", { stream: true });
    const { done, text } = readStream(answer.text);
    expect([done, end.type]).toEqual([false, answer.status === 502 ? "TurnRefused" : "TurnFailed"]);
    expect(between).toEqual(text === "" ? [] : ["asked", text]);
  });
});

describe.concurrent("an answer that is complete despite its odd form", () => {
  test.each([
    ...Object.entries(fine).map(([name, [, said]]) => [name, said, true] as const),
    ...Object.entries(read).map(([name, [, said]]) => [name, said, false] as const),
  ])("%s", async (name, said, stream) => {
    const { answer, called, between, end } = await stage.inThread(name, { stream });
    expect([answer.status, called, end.type, end.data.finish_reason]).toEqual([200, 1, "TurnCompleted", "stop"]);
    const received = stream ? readStream(answer.text) : { text: answer.body.choices[0].message.content, done: true };
    expect([received.text === said, received.done, end.personal.said.text === said]).toEqual([true, true, true]);
    expect([between[0], between[1] ?? ""].every((text, n) => text === ["asked", said][n])).toBe(true);
  });
});

test.concurrent.each(Object.keys(unread))("a buffered answer that cannot be read is a 502: %s", async (name) => {
  const { answer, called, between, end } = await stage.inThread(name);
  expectRefusal(answer, 502, undefined, null);
  expect([called <= 3, between, end.type]).toEqual([true, [], "TurnRefused"]);
});
