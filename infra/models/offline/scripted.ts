import { setTimeout as wait } from "node:timers/promises";
import { FinishReason } from "#events/thread.ts";
import { ModelError, type Model } from "#services/turns/model.ts";
import { lastUserParts, textOf } from "./conversation.ts";
import { mayPass } from "../status.ts";
import { chunksOf, speak } from "./speak.ts";

interface Script {
  say: string[];
  reason: string[];
  /** Milliseconds before each chunk. */
  slow: number;
  finish: FinishReason | undefined;
  fail: number | undefined;
  cut: boolean;
}

const EMPTY: Script = { say: [], reason: [], slow: 0, finish: undefined, fail: undefined, cut: false };
const MAX_SLOW_SECONDS = 3_600;

/** Reads one line; one that is no order, or none that can be obeyed, is said like any text. */
function read(script: Script, line: string): Script {
  const [, order, rest = ""] = /^\/(say|reason|slow|finish|fail|cut)(?: (.*))?$/s.exec(line) ?? [];
  if (order === "say") return { ...script, say: [...script.say, rest] };
  if (order === "reason") return { ...script, reason: [...script.reason, rest] };
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

/** offline/scripted: obeys the lines of what the user said last, for tests. */
export const scripted: Model = {
  async *complete(request, signal) {
    const script = textOf(lastUserParts(request))
      .split(/\r?\n/)
      .reduce((so, line) => read(so, line), EMPTY);
    if (script.fail !== undefined) throw failure(script.fail);
    const said = script.say.join("\n");
    const speech = {
      text: script.cut ? firstHalf(said, request.streamed) : said,
      reasoning: script.reason.join("\n"),
      finish_reason: script.finish,
      pause: () => (script.slow > 0 ? wait(script.slow, undefined, { signal }) : undefined),
    };
    for await (const event of speak(request, speech)) {
      if (script.cut && event.type === "finish")
        throw new ModelError("cut", "The provider broke off, as the script says.");
      yield event;
    }
  },
};
