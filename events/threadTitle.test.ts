import { describe, expect, test } from "vitest";
import { titleOf } from "./threadTitle.ts";

const user = (text: string) => ({ role: "user" as const, text });

describe("the title of a thread", () => {
  test.each([
    ["a short message as a whole", "Where is my order?", "Where is my order?"],
    ["a message with its white space collapsed", "  Hello\n\n\tthere ", "Hello there"],
    ["a long message up to a space", `${"word ".repeat(30)}`, `${"word ".repeat(16).trim()}…`],
    ["a long word, cut", "a".repeat(200), `${"a".repeat(80)}…`],
    ["a text that ends before half an emoji", `${"a".repeat(79)}😀😀`, `${"a".repeat(79)}…`],
    ["nothing for a message without text", " \n ", null],
  ])("is %s", (_, text, title) => expect(titleOf([user(text)])).toBe(title));

  test("comes from the first message of the user, and reads only its beginning", () => {
    expect(titleOf([{ role: "assistant", text: "Welcome" }, user("Hi"), user("Again")])).toBe("Hi");
    expect(titleOf([])).toBeNull();
    expect(titleOf([user(" ".repeat(1_000_000) + "x")])).toBeNull();
  });
});
