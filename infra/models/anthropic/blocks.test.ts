import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "#services/turns/model.ts";
import type { Block } from "#test/doubles/anthropic.ts";
import { ANTHROPIC } from "#test/doubles/anthropic/dialect.ts";
import { afterCalls, collectEvents, outputText, reasoningText, tool } from "#test/doubles/modelRequest.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

/* Blocks of answers. The fake provider refuses thinking that comes back changed. */

const { double, open, request } = useDouble(ANTHROPIC);
const tools = ["search", "read"].map(tool);

/** Sends a request that gets these blocks, and continues it. Returns the blocks sent back, and both bodies. */
async function twoRounds(blocks: Block[], more: Partial<ModelRequest> = {}) {
  double().answers({ blocks }, { blocks: [{ text: "Done." }] });
  const first = request("Look", { model: "claude-opus-5", tools, reasoning_effort: "high", ...more });
  const messages = afterCalls(first.messages, await collectEvents(open(), first));
  expect(outputText(await collectEvents(open(), { ...first, tool_choice: "auto", messages }))).toBe("Done.");
  const bodies = double()
    .prompts()
    .map(({ body }) => body);
  return { bodies, returned: bodies[1].messages[1].content as any[], messages };
}

test.each([false, true])(
  "separate texts are set apart, and consecutive ones are not (streamed: %s)",
  async (streamed) => {
    double().answers({
      blocks: [
        { text: "One" },
        { text: "." },
        { redacted: "xyz" },
        { text: "Two." },
        { thinking: "A" },
        { thinking: "B" },
      ],
    });
    const events = await collectEvents(open(), request("?", { streamed }));
    expect([outputText(events), reasoningText(events)]).toEqual(["One.\n\nTwo.", "A\n\nB"]);
  },
);

const TYPES = { thinking: "thinking", redacted: "redacted_thinking", text: "text", tool: "tool_use" };
const wireType = (block: Block): string => Object.entries(TYPES).find(([field]) => field in block)![1];

test("blocks in any order go back unchanged", async () => {
  const words = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.trim() !== "");
  const block = fc.oneof(
    words.map((thinking): Block => ({ thinking })),
    words.map((redacted): Block => ({ redacted })),
    words.map((text): Block => ({ text })),
    fc.jsonValue().map((q): Block => ({ tool: "search", input: { q } })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 6 }), fc.boolean(), async (blocks, streamed) => {
      const all: Block[] = [...blocks, { tool: "read", input: { q: "last" } }];
      const { returned } = await twoRounds(all, { streamed });
      expect(returned.map(({ type }) => type)).toEqual(all.map(wireType));
      const texts = returned.flatMap(({ type, text }) => (type === "text" ? text : []));
      expect(texts).toEqual(all.flatMap((one) => ("text" in one ? one.text : [])));
    }),
    { numRuns: 60 },
  );
});

test("thinking before a call that the turn dropped stays", async () => {
  const { messages } = await twoRounds([
    { thinking: "Many." },
    { tool: "search", input: {} },
    { tool: "read", input: {} },
  ]);
  const [user, answer, result] = messages as any[];
  const kept = [user, { ...answer, calls: answer.calls.slice(0, 1) }, result];
  await collectEvents(open(), request("", { model: "claude-opus-5", tools, reasoning_effort: "high", messages: kept }));
  const { content } = double().prompts().at(-1)!.body.messages[1];
  expect(content.map(({ type }: any) => type)).toEqual(["thinking", "tool_use"]);
});

describe("thinking by budget", () => {
  const model = "claude-haiku-4-5";

  test("stays off in a turn whose first choice was forced", async () => {
    const { bodies } = await twoRounds([{ tool: "search", input: {} }], { model, tool_choice: "required" });
    expect(bodies.map(({ thinking }) => thinking)).toEqual([undefined, undefined]);
  });

  test("stays on in a turn that has thought", async () => {
    const blocks = [{ thinking: "Hm." }, { tool: "search", input: {} }];
    const { bodies } = await twoRounds(blocks, { model, reasoning_effort: "low" });
    expect(bodies.map(({ thinking }) => thinking.type)).toEqual(["enabled", "enabled"]);
  });
});
