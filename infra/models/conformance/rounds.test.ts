import { describe, expect, test } from "vitest";
import type { ModelRequest } from "#services/turns/model.ts";
import type { Answer } from "#test/doubles/dialect.ts";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { afterCalls, callsEvent, collectEvents, finishEvent, outputText, tool } from "#test/doubles/modelRequest.ts";
import { useDouble, WAYS } from "#test/doubles/useDouble.ts";

/* Rounds of tools. The fake providers refuse calls without results, and state that comes back changed. */

const tools = ["search", "read"].map(tool);

describe.each(DIALECTS)("$name", (dialect) => {
  const { double, open, request } = useDouble(dialect);

  describe.each(WAYS)("a $way answer with calls", ({ streamed }) => {
    const look = (more: Partial<ModelRequest> = {}) => request("Look", { tools, streamed, ...more });
    /** Sends a request, and continues it with the results of the calls. */
    async function twoRounds(answer: Answer) {
      double().reply(answer, { text: "Done." });
      const first = await collectEvents(open(), look());
      const second = await collectEvents(open(), look({ messages: afterCalls(look().messages, first) }));
      expect(outputText(second)).toBe("Done.");
      return { first, conversation: double().conversations().at(-1)! };
    }
    const input = { q: "a long question, so that it comes in several pieces" };

    test("has its text first, then all calls at once", async () => {
      double().reply({
        text: "Let me look.",
        calls: [
          { name: "search", args: input },
          { name: "read", args: { q: "2" } },
          { name: "search", args: {} },
        ],
      });
      const events = await collectEvents(open(), look());
      expect(outputText(events)).toBe("Let me look.");
      expect(events.some(({ type }) => type === "progress")).toBe(streamed);
      expect(events.slice(-2)).toEqual([
        {
          type: "tool_calls",
          calls: [
            { id: expect.any(String), name: "search", arguments: JSON.stringify(input) },
            { id: expect.any(String), name: "read", arguments: '{"q":"2"}' },
            { id: expect.any(String), name: "search", arguments: "{}" },
          ],
          ...(callsEvent(events)!.opaque !== undefined && { opaque: expect.anything() }),
        },
        expect.objectContaining({ type: "finish", finish_reason: "tool_calls" }),
      ]);
      expect(double().conversations().at(-1)!.tools).toEqual(["search", "read"]);
    });

    test("goes back with its text and the results of its calls", async () => {
      const calls = [
        { name: "search", args: input },
        { name: "read", args: {} },
      ];
      const { first, conversation } = await twoRounds({ text: "Let me look.", calls });
      const ids = callsEvent(first)!.calls.map(({ id }) => id);
      expect(new Set(ids).size).toBe(2);
      expect(conversation).toMatchObject({
        texts: ["Look", "Let me look."],
        calls: calls.map((call, n) => ({ id: ids[n], ...call })),
        results: ids.map((id) => ({ id, output: { found: true } })),
      });
    });

    test("goes back with the provider's own state", async () => {
      const { conversation } = await twoRounds({ state: "c2VhbGVk", calls: [{ name: "search", args: input }] });
      expect(conversation.state).toContain("c2VhbGVk");
    });

    test("has its calls counted if the provider counts nothing", async () => {
      double().reply({ usage: null, calls: [{ name: "search", args: { q: "one two three" } }] });
      expect(finishEvent(await collectEvents(open(), look())).usage.completion_tokens).toBeGreaterThan(10);
    });
  });
});

describe("the state of a provider's calls", () => {
  const STATE = "canary-of-another";
  const providers = DIALECTS.map((dialect) => ({
    label: dialect.name as string,
    ...useDouble(dialect),
    provider: dialect.name as string,
  }));
  const all = [...providers, { ...providers[0]!, label: "another provider with OpenAI's API", provider: "mine" }];

  test.each(all.flatMap((from) => all.map((to) => [from.label, to.label, from, to] as const)))(
    "of %s, in a request to %s, is sent only if they are the same",
    async (_from, _to, from, to) => {
      from.double().reply({ state: STATE, calls: [{ name: "search", args: {} }] });
      const first = from.request("Look", { tools, reasoning_effort: "high" });
      const events = await collectEvents(from.open({ provider: from.provider }), first);
      expect(JSON.stringify(callsEvent(events)!.opaque)).toContain(STATE);
      to.double().reply({ text: "Done." });
      const messages = afterCalls(first.messages, events);
      await collectEvents(to.open({ provider: to.provider }), to.request("", { tools, messages }));
      const body = JSON.stringify(to.double().prompts().at(-1)!.body);
      expect(body).toContain("search");
      expect(body.includes(STATE)).toBe(from === to);
    },
  );
});
