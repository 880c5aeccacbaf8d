import { expect, test } from "vitest";
import { streamReply } from "#test/doubles/dialect.ts";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { collectEvents, finishEvent } from "#test/doubles/modelRequest.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

/* Some servers report counts in every chunk, and not always in ascending order. */

const { double, open, request } = useDouble(DIALECTS.find(({ name }) => name === "openai")!);
const frame = (body: object) => `data: ${JSON.stringify(body)}\n\n`;
const chunk = (content: string, usage?: unknown, finish_reason: string | null = null) =>
  frame({ choices: [{ index: 0, delta: { content }, finish_reason }], ...(usage !== undefined && { usage }) });
const counts = (prompt_tokens: unknown, completion_tokens: unknown) => ({ prompt_tokens, completion_tokens });

test.each([
  ["the last ones apply", [counts(9, 1), counts(9, 80), counts(9, 7)], [9, 7]],
  ["invalid ones do not replace the ones before", [counts(9, 5), counts(-1, 5), null], [9, 5]],
  ["impossible ones do not replace the ones before", [counts(9, 5), counts(9, 4e9)], [9, 5]],
])("of token counts that change during a stream, %s", async (_, usages, [prompt_tokens, completion_tokens]) => {
  const chunks = usages.map((usage, n) => chunk(`${n} `, usage, n === usages.length - 1 ? "stop" : null));
  double().reply(streamReply(`${chunks.join("")}data: [DONE]\n\n`));
  const events = await collectEvents(open(), request("Hello", { streamed: true }));
  expect(finishEvent(events).usage).toMatchObject({ prompt_tokens, completion_tokens });
});
