import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { limitFiles } from "./modelRequest.ts";
import type { ThreadMessage } from "./threadMessage.ts";

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

test("a turn after two of large files sends the newer one, and all words, so that its provider takes it", () => {
  const history = [asked(20), asked(20), asked()];
  const kept = limitFiles(history, [asked()]);
  expect(sizes(kept)).toEqual([[], [20], []]);
  expect(kept.map(({ text }) => text)).toEqual(history.map(({ text }) => text));
});

test("the files of a turn itself come first", () => {
  expect(sizes(limitFiles([asked(3), asked(4)], [asked(10, 8)]))).toEqual([[], [4]]);
  expect(sizes(limitFiles([asked(1)], [asked(25)]))).toEqual([[]]);
});
