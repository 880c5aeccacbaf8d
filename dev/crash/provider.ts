import { setTimeout as sleep } from "node:timers/promises";
import { GUARDED_TOOL } from "./linkedWorkflows.ts";
import { startOpenai, type OpenaiDouble, type Reply, type ReceivedRequest } from "#test/doubles/openai.ts";

const lastWords = ({ body }: ReceivedRequest): string => {
  const content = body?.messages?.findLast(({ role }: { role: string }) => role === "user")?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
};

const failure = (status: number, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: { error: { message: `scripted ${status}`, type: "server_error", param: null, code: null } },
});

const whole = (text: string) => ({
  id: "chatcmpl-test",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "gpt-test",
  choices: [{ index: 0, message: { role: "assistant", content: text, refusal: null }, finish_reason: "stop" }],
  usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
});

/** Milliseconds between the words of a stream; a buffered answer takes as long in total. */
const slowly = (ms: number, text: string, { body }: ReceivedRequest): Reply =>
  body.stream === true
    ? { text, delay_ms: ms }
    : {
        async write(response) {
          await sleep(ms * 6);
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole(text)));
        },
      };

/** Number of calls with a prompt so far. */
const counting = () => {
  const counts = new Map<string, number>();
  return (text: string): number => {
    counts.set(text, (counts.get(text) ?? 0) + 1);
    return counts.get(text)!;
  };
};

/* The targets of an alias: every second call of the first fails, and both are always busy for `[429]`, so that no failures are left. */
const SHAKY = "gpt-shaky";
const PLAIN = "gpt-plain";

const modelList = {
  object: "list",
  data: ["gpt-test", SHAKY, PLAIN].map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "test" })),
};

/** No two calls get the same answer, so that text of two attempts cannot pass for one answer. */
let calls = 0;

/**
 * A provider controlled by the prompt's first word in brackets: `[slow 50]`, `[500]`, `[429]`, `[400]`, `[once]` (a 400 to the
 * first call only), `[cut]`, `[tool 50]` (searches first), `[act]` (calls the guarded tool first). Otherwise it repeats the prompt,
 * preceded by the number of the call.
 */
export async function startScriptedProvider(): Promise<OpenaiDouble> {
  const provider = await startOpenai();
  const countOf = counting();
  provider.script((request) => {
    if (request.method !== "POST") return { status: 200, body: modelList };
    const question = lastWords(request);
    const { model } = request.body;
    if (model === SHAKY && countOf(SHAKY) % 2 === 1) return failure(503);
    const [, order, argument] = /^\[(\w+) ?(\d*)\]/.exec(question) ?? [];
    const text = `call ${++calls}: ${question}`;
    if (order === "slow") return slowly(Number(argument), text, request);
    if (order === "tool") {
      const searched = request.body.messages.some(({ role }: { role: string }) => role === "tool");
      if (searched) return slowly(Number(argument), text, request);
      return { text: "Looking.", tool_calls: [{ name: "search_documents", arguments: { query: "word" } }] };
    }
    if (order === "act") {
      const acted = request.body.messages.some(({ role }: { role: string }) => role === "tool");
      const [, id] = /<([^>]+)>/.exec(question) ?? [];
      return acted ? { text } : { text: "", tool_calls: [{ name: GUARDED_TOOL, arguments: { id } }] };
    }
    if (order === "cut") return { text, cut: "mid-event" };
    if (order === "400") return failure(400);
    if (order === "429" && (model === SHAKY || model === PLAIN)) return failure(429, { "retry-after": "1" });
    const count = countOf(question);
    if (order === "once" && count === 1) return failure(400);
    if ((order === "500" || order === "429") && count % 3 !== 0)
      return failure(Number(order), order === "429" ? { "retry-after": "1" } : {});
    return { text };
  });
  return provider;
}
