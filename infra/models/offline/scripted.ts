import { setTimeout as wait } from "node:timers/promises";
import { FinishReason, type ToolCall } from "#events/thread.ts";
import { ModelError, type Model } from "#services/turns/model.ts";
import { joinTexts, lastUserParts, toolRounds, type ToolRound } from "./conversation.ts";
import { isTransientStatus } from "../transientStatus.ts";
import { streamToolCalls, splitChunks, streamAnswer } from "./streamAnswer.ts";

interface Script {
  say: string[];
  reason: string[];
  /** Tools to call together, `rounds` times. */
  tools: Omit<ToolCall, "id">[];
  rounds: number;
  /** Milliseconds before each chunk. */
  slow: number;
  finish: FinishReason | undefined;
  fail: number | "context_length" | undefined;
  cut: boolean;
}

const MAX_SLOW_SECONDS = 3_600;
/** UTF-16 units quoted of a tool's result. */
const MAX_QUOTED_RESULT = 200;
/** Maximum lines of a script; the rest is ignored. They take about 10 ms. */
const MAX_LINES = 100_000;

/** Applies a command to the script; false if there is no such command, or its value is not valid. */
function applyCommand(script: Script, command: string, rest: string): boolean {
  const tool = command === "tool" && /^(?<name>\S+)(?: (?<args>.*))?$/s.exec(rest)?.groups;
  if (command === "say") script.say.push(rest);
  else if (command === "reason") script.reason.push(rest);
  else if (tool) script.tools.push({ name: tool["name"]!, arguments: tool["args"] || "{}" });
  else if (command === "rounds" && /^\d{1,3}$/.test(rest)) script.rounds = Number(rest);
  else if (command === "slow" && Number(rest) >= 0 && Number(rest) <= MAX_SLOW_SECONDS)
    script.slow = Number(rest) * 1_000;
  else if (command === "finish" && FinishReason.safeParse(rest).success) script.finish = FinishReason.parse(rest);
  else if (command === "fail" && /^[45]\d\d$/.test(rest)) script.fail = Number(rest);
  else if (command === "fail" && rest === "context_length") script.fail = rest;
  else if (command === "cut" && rest === "") script.cut = true;
  else return false;
  return true;
}

/** Parses the script in a message. A line that is not a valid command becomes text. */
function parseScript(text: string): Script {
  const script: Script = {
    say: [],
    reason: [],
    tools: [],
    rounds: 1,
    slow: 0,
    finish: undefined,
    fail: undefined,
    cut: false,
  };
  // no pattern per line, because a message may have hundreds of thousands of lines
  for (const line of text.split(/\r?\n/, MAX_LINES)) {
    const space = line.indexOf(" ");
    const word = space === -1 ? line : line.slice(0, space);
    const isCommand = word.startsWith("/") && applyCommand(script, word.slice(1), line.slice(word.length + 1));
    if (!isCommand && line !== "") script.say.push(line);
  }
  return script;
}

/** The error of a provider whose prompt is too long. */
const tooLong = (): ModelError =>
  new ModelError("refused", "The provider answered 400: prompt is too long, as the script says.", {
    status: 400,
    reason: "context_length",
  });
const failure = (status: number): ModelError =>
  new ModelError(
    isTransientStatus(status) ? "transient" : "refused",
    `The provider answered ${status}, as the script says.`,
    {
      status,
    },
  );

/** The output before an interruption: half of the text if it is streamed, otherwise nothing. */
function firstHalf(text: string, streamed: boolean): string {
  const chunks = streamed ? [...splitChunks(text)] : [];
  return chunks.slice(0, Math.ceil(chunks.length / 2)).join("");
}

const quoteResults = ({ calls, results }: ToolRound): string =>
  calls.map(({ name }, n) => `${name}: ${(results[n] ?? "").slice(0, MAX_QUOTED_RESULT)}`).join("\n");

/** offline/scripted: follows the commands in the last user message, for tests. Tools come first, everything else after them. */
export const scripted: Model = {
  async *complete(request, signal) {
    const script = parseScript(joinTexts(lastUserParts(request)));
    const rounds = toolRounds(request);
    const pause = () => (script.slow > 0 ? wait(script.slow, undefined, { signal }) : undefined);
    if (script.tools.length > 0 && rounds.length < script.rounds) {
      await pause();
      yield* streamToolCalls(request, script.tools);
      return;
    }
    if (script.fail === "context_length") throw tooLong();
    if (script.fail !== undefined) throw failure(script.fail);
    const lastRound = rounds.at(-1);
    const text = script.say.length === 0 && lastRound ? quoteResults(lastRound) : script.say.join("\n");
    const speech = {
      text: script.cut ? firstHalf(text, request.streamed) : text,
      reasoning: script.reason.join("\n"),
      finish_reason: script.finish,
      pause,
    };
    for await (const event of streamAnswer(request, speech)) {
      if (script.cut && event.type === "finish")
        throw new ModelError("cut", "The provider broke off, as the script says.");
      yield event;
    }
  },
};
