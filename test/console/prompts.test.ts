import { expect, test } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { joinTexts } from "#infra/models/offline/conversation.ts";
import { MAX_ROUNDS } from "#services/turns/converse.ts";
import { roundMessages as sentMessages, type Round } from "#services/turns/round.ts";
import type { TracedCall, TracedRound } from "../../console/api/trace.ts";
import { countPrompts, roundMessages, precedingTools } from "../../console/screens/request/prompts.ts";

const result = (text: string) => ({ status: "completed" as const, text, sources: [] });
const ROUNDS: Round[] = [
  {
    text: "",
    reasoning: "Look it up.",
    citations: [],
    calls: [
      { id: "call_0", name: "search_documents", arguments: '{"query":"days"}' },
      { id: "call_1", name: "web_fetch", arguments: "not json" },
    ],
    opaque: { signature: "of the provider" },
    usage: NO_USAGE,
    results: [result("Thirty days."), result("")],
  },
  {
    text: "And once more.",
    reasoning: "",
    citations: [],
    calls: [{ id: "call_2", name: "web_fetch", arguments: "{}" }],
    usage: NO_USAGE,
    results: [result("<img src=x>")],
  },
];

const traced = (status: TracedCall["status"] = "completed"): TracedRound[] =>
  ROUNDS.map(({ calls, results, ...round }, n) => ({
    ...round,
    round: n,
    attempt: 1,
    at: "2026-12-01T09:00:00.000Z",
    calls: calls.map((call, at) => ({
      ...call,
      status,
      output: results[at]!.text,
      sources: [],
      tool_version: null,
      secrets: [],
      attempt: 1,
      duration_ms: 1,
      ended_at: "2026-12-01T09:00:00.000Z",
      approval: null,
    })),
  }));

test("the console shows for each round exactly the prompt that the service sends to the model", () => {
  for (const nth of [0, 1, 2]) {
    const sent = ROUNDS.slice(0, nth)
      .flatMap(sentMessages)
      .map(({ parts, ...message }) => ({ ...message, text: joinTexts(parts) }));
    expect(roundMessages({ rounds: traced() }, nth)).toEqual(sent);
  }
  expect(precedingTools({ rounds: traced() }, 1)).toBe("search_documents, web_fetch");
});

test("the model is asked again after each round, unless a call has no result or the rounds are used up", () => {
  expect(countPrompts({ rounds: [] })).toBe(1);
  expect(countPrompts({ rounds: traced() })).toBe(3);
  expect(countPrompts({ rounds: traced("client") })).toBe(2);
  expect(countPrompts({ rounds: traced("running") })).toBe(2);
  // the service does not ask again after its last round
  const rounds = Array.from({ length: MAX_ROUNDS }, () => traced()[0]!);
  expect(countPrompts({ rounds })).toBe(MAX_ROUNDS);
  expect(countPrompts({ rounds: rounds.slice(1) })).toBe(MAX_ROUNDS);
});
