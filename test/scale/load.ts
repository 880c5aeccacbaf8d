import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { expect } from "vitest";
import { answerTo, bodyOf, repeatedly, type LoadRequest } from "../faults/load.ts";

const PAUSE_MS = 200;
/** Stream errors after which a turn counts as failed. */
const MAX_STREAM_ERRORS = 3;
const TURNS_IN_THREAD = 4;

/** A turn from its client's perspective. */
export interface ClientTurn extends LoadRequest {
  thread: string | undefined;
  /** The requested thread; undefined for a new one. */
  within: string | undefined;
  /** Errors that the SDK did not retry by itself. */
  errors: string[];
}

/** One request, with the SDK's own retries. True when the answer was complete. Throws the SDK's errors. */
async function requestOnce(client: OpenAI, one: ClientTurn): Promise<boolean> {
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
  let received = "";
  let finished = false;
  for await (const { choices } of data) {
    received += choices[0]?.delta.content ?? "";
    finished ||= Boolean(choices[0]?.finish_reason);
    expect(answerTo(one).startsWith(received)).toBe(true);
  }
  if (finished) expect(received).toBe(answerTo(one));
  return finished;
}

/** The message of an error in a stream; undefined for an error after which the same request may be sent again. */
function streamErrorMessage(error: unknown): string | undefined {
  if (!(error instanceof OpenAI.APIError)) return undefined;
  const maybe = error instanceof OpenAI.APIConnectionError || [502, 503].includes(error.status ?? 0);
  if (!maybe && error.status !== undefined) throw error;
  return maybe ? undefined : error.message;
}

/** A repeat got the failure of its turn, which the same key will get again. */
const isOutcome = (error: unknown): boolean =>
  error instanceof OpenAI.APIError && error.message.includes("This is the outcome of this Idempotency-Key");

/** Clients that chat with the SDK at one address. Each turn has its own idempotency key and is repeated until it is answered. */
export function startTurns(url: string, api_key: string, clients: number) {
  const turns: ClientTurn[] = [];
  /** The current thread of each client. */
  const threads: (string | undefined)[] = [];
  const openai = new OpenAI({ apiKey: api_key, baseURL: `${url}/api/openai/v1` });

  const { more, stop } = repeatedly(clients, async (n, client) => {
    const thread = n % TURNS_IN_THREAD === 0 ? undefined : threads[client];
    const one: ClientTurn = {
      words: randomUUID(),
      stream: n % 2 === 0,
      slow: n % 8 < 2,
      statuses: [],
      failed: false,
      thread,
      within: thread,
      errors: [],
    };
    turns.push(one);
    for (let done = false, streamErrors = 0; !done && !one.failed; ) {
      try {
        done = await requestOnce(openai, one);
      } catch (error) {
        one.errors.push(String(error));
        if (streamErrorMessage(error) !== undefined) streamErrors += 1;
        one.failed = isOutcome(error) || streamErrors === MAX_STREAM_ERRORS;
        expect(one.errors.length, one.errors.join("\n")).toBeLessThan(100);
        await sleep(PAUSE_MS);
      }
    }
    threads[client] = one.thread;
  });
  return { more, stop: async (): Promise<ClientTurn[]> => (await stop(), turns) };
}

/** A run that was acknowledged. */
export interface StartedRun {
  n: number;
  id: string;
}

/** Starts runs of a workflow one after the other. Each has its own idempotency key and is repeated until it is acknowledged. */
export function startRuns(url: string, api_key: string, workflow: string) {
  const started: StartedRun[] = [];
  let isRunning = true;
  async function startRun(n: number): Promise<string> {
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
    for (let n = 0; isRunning; n += 1) {
      started.push({ n, id: await startRun(n) });
      await sleep(PAUSE_MS);
    }
  })();
  all.catch(() => {});
  return {
    /** Those that are acknowledged so far. */
    started,
    async stop(): Promise<StartedRun[]> {
      isRunning = false;
      await all;
      return started;
    },
  };
}
