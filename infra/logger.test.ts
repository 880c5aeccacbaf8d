import { expect, test } from "vitest";
import { withTrace } from "#events/spans.ts";
import { createLogger } from "./logger.ts";

const logLine = (fields: object, message = "m"): string => {
  const lines: string[] = [];
  createLogger("info", "test", { write: (line) => void lines.push(line) }).info(fields, message);
  return lines.join("");
};

test.each([
  ["an API key", "sk-svc-HIrapiUJC5aR4xEaSMCoSB-40q3ZoQ3usVZptnkJbVE"],
  ["a session", "sess-svc-HIrapiUJC5aR4xEaSMCoSB-40q3ZoQ3usVZptnkJbVE"],
  ["a webhook secret", "whsec-svc-HIrapiUJC5aR4xEaSMCoSB-40q3ZoQ3usVZptnkJbVE"],
  ["a provider's key", "sk-proj-0123456789abcdefghij"],
  ["a Google key", "AIzaSyA0123456789abcdefghijklmnopqrstuv"],
])("%s is never logged, in any field", (_, secret) => {
  const line = logLine(
    { headers: { authorization: `Bearer ${secret}` }, err: new Error(`refused ${secret}`) },
    `with ${secret}`,
  );
  expect(line).not.toContain(secret);
  expect(line).toContain("[secret]");
});

test("a password in a URL is never logged", () => {
  expect(logLine({ url: "postgres://svc:hunter22@127.0.0.1/db" })).toContain("postgres://svc:[secret]@127.0.0.1/db");
});

test("a log line within a trace contains its trace_id", () => {
  const trace_id = "a".repeat(32);
  const line = withTrace({ trace_id, span_id: "b".repeat(16), sampled: false }, () => logLine({ n: 1 }));
  expect(JSON.parse(line)).toMatchObject({ trace_id, n: 1 });
  expect(JSON.parse(logLine({ n: 1 }))).not.toHaveProperty("trace_id");
});

test("a logged error has its name, message, code and cause, but not the database's details of rows", () => {
  const cause = Object.assign(new Error("duplicate key"), {
    code: "23505",
    detail: "Key (email)=(canary@example.com) exists",
  });
  const line = logLine({ err: new Error("not saved", { cause }) });
  expect(line).toMatch(/not saved.*duplicate key/s);
  expect(line).toContain("23505");
  expect(line).not.toContain("canary");
});
