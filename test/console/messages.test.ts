import { expect, test } from "vitest";
import { describeLimit } from "#projections/budgets/limits.ts";
import { describeReserved } from "#projections/budgets/moneyLimits.ts";
import { describeRate } from "#projections/budgets/rates.ts";
import { formatExact } from "../../console/format/index.ts";
import { messageParts } from "../../console/format/messageParts.ts";

/* The messages are those that the service writes: where its words change, this fails. */

const KEY = "key:01a223fa-b083-7915-b200-0d86967f1c86";
const ends_at = new Date("2026-11-29T00:00:00.000Z");
const read = (message: string): string =>
  messageParts(message)
    .map((part) => (typeof part === "string" ? part : `<${part.subject}${part.model ? ` ${part.model}` : ""}>`))
    .join("");

test("the message of a used-up budget names its amount, its period and its subject", () => {
  const limit = { subject: KEY, name: "cost_per_day", spent: "0.0123", at_most: "5", ends_at } as const;
  expect(read(describeLimit(limit))).toBe(
    `The budget of <${KEY}> has used $0.01 of $5.00 (a day). It begins again at ${formatExact("2026-11-29T00:00:00.000Z")}.`,
  );
  const model = { ...limit, subject: "organization@openai/gpt-5", name: "tokens_total", ends_at: null } as const;
  expect(read(describeLimit({ ...model, spent: "1234567", at_most: "1000000" }))).toMatch(
    /^The budget of <organization openai\/gpt-5> has used 1,234,567 of 1,000,000 tokens \(tokens in total\)\. /,
  );
  const bytes = { ...limit, name: "stored_bytes", spent: "9500000", at_most: "10000000", ends_at: null } as const;
  expect(read(describeLimit(bytes))).toContain("has used 9.5 MB of 10 MB (bytes), and this does not fit.");
});

test("reserved money is shown as money", () => {
  const reserved = { subject: "each-user", name: "cost_total", spent: "1", reserved: "2.5", at_most: "3" } as const;
  expect(read(describeReserved({ ...reserved, ends_at: null }))).toBe(
    "The budget of <each-user> has used $1.00 of $3.00 (in total), and $2.50 are reserved for requests under way. Try again when one has ended.",
  );
});

test("a limit per minute or of concurrent turns is described in words", () => {
  const rate = { subject: `user:${"a".repeat(43)}`, counted: "", hard: true, used: 1, at_most: 1 };
  expect(read(describeRate({ ...rate, name: "requests_per_minute" }))).toBe(
    `The limit of requests in a minute for <${rate.subject}> is reached: 1 of 1 requests of this minute are used.`,
  );
  expect(read(describeRate({ ...rate, name: "concurrent_turns" }))).toContain("1 of 1 requests at a time are used.");
  expect(read(describeRate({ ...rate, name: "concurrent_turns", at_most: 0 }))).toMatch(
    /^The limit of requests at a time for <user:a+> is 0: /,
  );
});

test("other messages are unchanged", () => {
  const message = `model: must name provider/model (such as openai/gpt-5); 3 of 4 were read.`;
  expect(messageParts(message)).toEqual([message]);
});
