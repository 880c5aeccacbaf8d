import { expect, test } from "vitest";
import { longestTurn } from "../../../test/computingTime.ts";
import { callTool, type ToolOutcome } from "./call.ts";
import { searchDocuments } from "./searchDocuments.ts";
import type { ToolContext } from "./tool.ts";

const never = async (): Promise<never> => {
  throw new Error("not reached");
};
const tools = [searchDocuments({ search: never } as never)];
const context = { organization_id: "o", signal: new AbortController().signal } as unknown as ToolContext;
const call = (args: string): Promise<ToolOutcome> =>
  callTool(tools, { id: "c", name: "search_documents", arguments: args }, context, () => {});

test.each([
  ["numbers where texts belong", `{"query":"a","tags":[${"0,".repeat(400_000)}0]}`, "has more than 20000 values"],
  ["names that all differ", `{${Array.from({ length: 60_000 }, (_, n) => `"q${n}":0`).join()}}`, "20000 values"],
  ["a text of 8 MiB", JSON.stringify({ query: "\n".repeat(4_000_000) }), "longer than 1,048,576 characters"],
  ["brackets in brackets", "[".repeat(10_000), "nests deeper than 64 levels"],
])("a model's arguments with %s are refused without holding the event loop", async (_title, args, reason) => {
  let outcome: ToolOutcome | undefined;
  expect(await longestTurn(async () => void (outcome = await call(args)))).toBeLessThan(50);
  expect(outcome).toMatchObject({ status: "failed" });
  expect(outcome!.text).toContain(reason);
});

test("of thousands of wrong arguments the model reads the first ones, and how many more there are", async () => {
  const { text } = await call(`{"query":"a","tags":[${"0,".repeat(15_000)}0]}`);
  expect(text).toContain("tags.0: ");
  expect(text).toContain("tags.9: ");
  expect(text).toContain("; and 14991 more");
  expect(text.length).toBeLessThan(1_000);
});
