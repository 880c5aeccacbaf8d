import { afterAll, beforeAll, expect, test } from "vitest";
import type { Credential, ModelMessage } from "#services/turns/model.ts";
import { startAnthropic, type AnthropicDouble } from "#test/doubles/anthropic.ts";
import { startGoogle, type GoogleDouble } from "#test/doubles/google.ts";
import { asking, heard } from "#test/doubles/modelRequest.ts";
import { startProvider, type Provider } from "#test/doubles/provider.ts";
import { openModels } from "./index.ts";

/* What one provider's state holds never goes to another. */

const CANARY = "canary-of-the-other";
let openai: Provider;
let anthropic: AnthropicDouble;
let google: GoogleDouble;
beforeAll(async () => {
  [openai, anthropic, google] = await Promise.all([startProvider(), startAnthropic(), startGoogle()]);
});
afterAll(() => Promise.all([openai, anthropic, google].map(({ close }) => close())));

const models = openModels({ offline: true, privateHosts: [] });
const tools = [{ name: "search", description: "Searches.", parameters: { type: "object" } }];

/** Each provider: who it is, a model of it, an answer with state of its own, and what it was asked last. */
const PROVIDERS = {
  openai: () => ({
    credential: { provider: "openai", api_key: "sk-x", base_url: openai.url },
    model: "gpt-test",
    speak: () =>
      openai.script({
        reasoning: CANARY,
        tool_calls: [{ name: "search", arguments: {}, extra_content: { google: { thought_signature: CANARY } } }],
      }),
    quiet: () => openai.script({ text: "Done." }),
    asked: () => openai.requests.at(-1)!.body,
  }),
  "another of the same kind": () => ({
    ...PROVIDERS.openai(),
    credential: { provider: "mine", api_key: "sk-x", base_url: openai.url },
  }),
  anthropic: () => ({
    credential: { provider: "anthropic", api_key: "sk-ant-x", base_url: anthropic.url },
    model: "claude-opus-5",
    speak: () =>
      anthropic.answers({ blocks: [{ thinking: CANARY }, { redacted: CANARY }, { tool: "search", input: {} }] }),
    quiet: () => anthropic.answers({}),
    asked: () => anthropic.asked().at(-1),
  }),
  google: () => ({
    credential: { provider: "google", api_key: "AIza-x", base_url: google.url },
    model: "gemini-4-pro",
    speak: () => google.answers({ parts: [{ page: CANARY }, { call: "search", signed: true }] }),
    quiet: () => google.answers({}),
    asked: () => google.asked().at(-1),
  }),
};
type Name = keyof typeof PROVIDERS;
const NAMES = Object.keys(PROVIDERS) as Name[];
const PAIRS = NAMES.flatMap((from) => NAMES.map((to) => [from, to] as const));

async function conversation(name: Name): Promise<ModelMessage[]> {
  const { credential, model, speak } = PROVIDERS[name]();
  speak();
  const opened = models.open({ ...credential, guarded: false } satisfies Credential);
  const request = asking("Look", { model, tools, reasoning_effort: "high" });
  const asked = (await heard(opened, request)).find((event) => event.type === "tool_calls")!;
  if (asked.type !== "tool_calls") throw new Error("nothing was asked for");
  expect(JSON.stringify(asked.opaque)).toContain(CANARY);
  const { calls, opaque } = asked;
  return [
    ...request.messages,
    { role: "assistant", parts: [], calls, opaque },
    { role: "tool", call_id: calls[0]!.id, parts: [{ type: "text", text: "{}" }] },
  ];
}

test.each(PAIRS)("what %s holds goes back to itself alone: shown to %s", async (from, to) => {
  const messages = await conversation(from);
  const { asked, credential, model, quiet } = PROVIDERS[to]();
  quiet();
  await heard(models.open({ ...credential, guarded: false }), asking("", { model, tools, messages }));
  const body = JSON.stringify(asked());
  expect(body).toContain("search");
  expect(body.includes(CANARY)).toBe(from === to);
});
