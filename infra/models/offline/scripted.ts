import { setTimeout as wait } from "node:timers/promises";
import { FinishReason, type ToolCall } from "#events/thread.ts";
import { ModelError, type Model } from "#services/turns/model.ts";
import { lastUserParts, roundsBefore, textOf, type RoundBefore } from "./conversation.ts";
import { mayPass } from "../status.ts";
import { askFor, chunksOf, speak } from "./speak.ts";

interface Script {
  say: string[];
  reason: string[];
  /** Called together, `rounds` times. */
  tools: Omit<ToolCall, "id">[];
  rounds: number;
  /** Milliseconds before each chunk. */
  slow: number;
  finish: FinishReason | undefined;
  fail: number | undefined;
  cut: boolean;
}

const EMPTY: Script = {
  say: [],
  reason: [],
  tools: [],
  rounds: 1,
  slow: 0,
  finish: undefined,
  fail: undefined,
  cut: false,
};
const MAX_SLOW_SECONDS = 3_600;
/** What is said of a tool's result, in UTF-16 units. */
const BRIEF = 200;

/** Reads one line; one that is no order, or none that can be obeyed, is said like any text. */
function read(script: Script, line: string): Script {
  const [, order, rest = ""] = /^\/(say|reason|tool|rounds|slow|finish|fail|cut)(?: (.*))?$/s.exec(line) ?? [];
  if (order === "say") return { ...script, say: [...script.say, rest] };
  if (order === "reason") return { ...script, reason: [...script.reason, rest] };
  const [, name, args = ""] = /^(\S+)(?: (.*))?$/s.exec(rest) ?? [];
  if (order === "tool" && name) return { ...script, tools: [...script.tools, { name, arguments: args || "{}" }] };
  if (order === "rounds" && /^\d{1,3}$/.test(rest)) return { ...script, rounds: Number(rest) };
  if (order === "slow" && Number(rest) >= 0 && Number(rest) <= MAX_SLOW_SECONDS)
    return { ...script, slow: Number(rest) * 1_000 };
  if (order === "finish" && FinishReason.safeParse(rest).success)
    return { ...script, finish: FinishReason.parse(rest) };
  if (order === "fail" && /^[45]\d\d$/.test(rest)) return { ...script, fail: Number(rest) };
  if (order === "cut" && rest === "") return { ...script, cut: true };
  return line === "" ? script : { ...script, say: [...script.say, line] };
}

const failure = (status: number): ModelError =>
  new ModelError(mayPass(status) ? "transient" : "refused", `The provider answered ${status}, as the script says.`, {
    status,
  });

/** What is said before the answer breaks off: half of it to somebody who reads along, else nothing. */
function firstHalf(text: string, streamed: boolean): string {
  const chunks = streamed ? chunksOf(text) : [];
  return chunks.slice(0, Math.ceil(chunks.length / 2)).join("");
}

const brief = ({ calls, results }: RoundBefore): string =>
  calls.map(({ name }, n) => `${name}: ${(results[n] ?? "").slice(0, BRIEF)}`).join("\n");

/** offline/scripted: obeys the lines of what the user said last, for tests. Tools come first, all else after them. */
export const scripted: Model = {
  async *complete(request, signal) {
    const script = textOf(lastUserParts(request))
      .split(/\r?\n/)
      .reduce((so, line) => read(so, line), EMPTY);
    const rounds = roundsBefore(request);
    const pause = () => (script.slow > 0 ? wait(script.slow, undefined, { signal }) : undefined);
    if (script.tools.length > 0 && rounds.length < script.rounds) {
      await pause();
      yield* askFor(request, script.tools);
      return;
    }
    if (script.fail !== undefined) throw failure(script.fail);
    const found = rounds.at(-1);
    const said = script.say.length === 0 && found ? brief(found) : script.say.join("\n");
    const speech = {
      text: script.cut ? firstHalf(said, request.streamed) : said,
      reasoning: script.reason.join("\n"),
      finish_reason: script.finish,
      pause,
    };
    for await (const event of speak(request, speech)) {
      if (script.cut && event.type === "finish")
        throw new ModelError("cut", "The provider broke off, as the script says.");
      yield event;
    }
  },
};
