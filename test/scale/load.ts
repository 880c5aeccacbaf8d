import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { expect } from "vitest";
import { answerTo, bodyOf, onAndOn, type Asked } from "../faults/load.ts";

const PAUSE_MS = 200;
/** So often a stream may end in an error before its turn counts as failed. */
const ERRORS = 3;
const TURNS_IN_THREAD = 4;

/** A turn as its client knows it. */
export interface AskedTurn extends Asked {
  thread: string | undefined;
  /** The one it was asked in; undefined where it was to begin one. */
  within: string | undefined;
  /** Errors that the SDK did not see to by itself. */
  errors: string[];
}

/** Asks once, with the SDK's own retries; true when the answer came in full. Throws what the SDK throws. */
async function ask(client: OpenAI, one: AskedTurn): Promise<boolean> {
  const headers = { "idempotency-key": one.words, ...(one.within && { "x-thread-id": one.within }) };
  if (!one.stream) {
    const body = bodyOf(one) as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const { data, response } = await client.chat.completions.create(body, { headers }).withResponse();
    one.thread = response.headers.get("x-thread-id")!;
    expect(data.choices[0]!.message.content).toBe(answerTo(one));
    return true;
  }
  const body = bodyOf(one) as OpenAI.ChatCompletionCreateParamsStreaming;
  const { data, response } = await client.chat.completions.create(body, { headers }).withResponse();
  one.thread = response.headers.get("x-thread-id")!;
  let heard = "";
  let finished = false;
  for await (const { choices } of data) {
    heard += choices[0]?.delta.content ?? "";
    finished ||= Boolean(choices[0]?.finish_reason);
    expect(answerTo(one).startsWith(heard)).toBe(true);
  }
  if (finished) expect(heard).toBe(answerTo(one));
  return finished;
}

/** Says the error that a stream told; undefined for what means that the same request may be sent again. */
function toldError(error: unknown): string | undefined {
  if (!(error instanceof OpenAI.APIError)) return undefined;
  const maybe = error instanceof OpenAI.APIConnectionError || [502, 503].includes(error.status ?? 0);
  if (!maybe && error.status !== undefined) throw error;
  return maybe ? undefined : error.message;
}

/** Clients that converse by the SDK at one address, each turn under a key of its own until it is answered. */
export function startTurns(url: string, api_key: string, clients: number) {
  const asked: AskedTurn[] = [];
  /** In which each client converses. */
  const threads: (string | undefined)[] = [];
  const openai = new OpenAI({ apiKey: api_key, baseURL: `${url}/api/openai/v1` });

  const { more, stop } = onAndOn(clients, async (n, client) => {
    const thread = n % TURNS_IN_THREAD === 0 ? undefined : threads[client];
    const one: AskedTurn = {
      words: randomUUID(),
      stream: n % 2 === 0,
      slow: n % 8 < 2,
      statuses: [],
      failed: false,
      thread,
      within: thread,
      errors: [],
    };
    asked.push(one);
    for (let done = false, told = 0; !done && !one.failed; ) {
      try {
        done = await ask(openai, one);
      } catch (error) {
        one.errors.push(String(error));
        if (toldError(error) !== undefined) told += 1;
        one.failed = told === ERRORS;
        expect(one.errors.length, one.errors.join("\n")).toBeLessThan(100);
        await sleep(PAUSE_MS);
      }
    }
    threads[client] = one.thread;
  });
  return { more, stop: async (): Promise<AskedTurn[]> => (await stop(), asked) };
}

/** A run that was acknowledged. */
export interface StartedRun {
  n: number;
  id: string;
}

/** Starts runs of a workflow one after the other, each under a key of its own until it is acknowledged. */
export function startRuns(url: string, api_key: string, workflow: string) {
  const started: StartedRun[] = [];
  let going = true;
  async function begin(n: number): Promise<string> {
    const headers = {
      authorization: `Bearer ${api_key}`,
      "content-type": "application/json",
      "idempotency-key": `run-${n}`,
    };
    for (;;) {
      const body = JSON.stringify({ args: { n } });
      const response = await fetch(`${url}/api/workflows/${workflow}/runs`, { method: "POST", headers, body }).catch(
        () => undefined,
      );
      const text = await response?.text().catch(() => undefined);
      if (response?.ok && text) return (JSON.parse(text) as { id: string }).id;
      if (response && text !== undefined) expect([502, 503], text).toContain(response.status);
      await sleep(PAUSE_MS);
    }
  }
  const all = (async () => {
    for (let n = 0; going; n += 1) {
      started.push({ n, id: await begin(n) });
      await sleep(PAUSE_MS);
    }
  })();
  all.catch(() => {});
  return {
    async stop(): Promise<StartedRun[]> {
      going = false;
      await all;
      return started;
    },
  };
}
