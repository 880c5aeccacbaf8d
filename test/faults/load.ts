import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { allEvents } from "../../dev/crash/check/events.ts";
import { turnsOf } from "../../dev/crash/check/evidence.ts";
import { checkChain, checkCommands, checkFollowers, checkHeads } from "../../dev/crash/check/log.ts";
import { checkModels } from "../../dev/crash/check/models.ts";
import { waitUntilQuiet } from "../../dev/crash/waitUntilQuiet.ts";
import type { Resources } from "../../roles/resources.ts";
import { say } from "../http/service.ts";
import { readStream } from "./faultyProvider.ts";

/** A request with a new idempotency key, repeated until it is answered. */
export interface LoadRequest {
  words: string;
  stream: boolean;
  /** Its answer takes half a second or more. */
  slow: boolean;
  /** Status of each attempt; 0 if the connection broke. */
  statuses: number[];
  /** Its stream ended in a final error: text that a reader has received is not sent again. */
  failed: boolean;
}

const PAUSE_MS = 200;
/** Statuses while a part is down; each means that the same request may be sent again. 0: the connection broke. */
const RETRYABLE = [0, 502, 503];
export const answerTo = ({ words }: Pick<LoadRequest, "words">): string => `${words} and some more words`;

export const bodyOf = (request: Pick<LoadRequest, "words" | "stream" | "slow">) =>
  request.slow
    ? say(`/slow ${request.stream ? 0.2 : 0.6}\n/say ${answerTo(request)}`, {
        model: "offline/scripted",
        stream: request.stream,
      })
    : say(answerTo(request), { stream: request.stream });

/** One attempt: its status, 0 if the connection broke. */
export async function tryOnce(url: string, api_key: string, request: LoadRequest): Promise<number> {
  const { words, stream } = request;
  const response = await fetch(`${url}/api/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json", "idempotency-key": words },
    body: JSON.stringify(bodyOf(request)),
  }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (!response || text === undefined) return 0;
  if (response.status !== 200) {
    const { error } = JSON.parse(text);
    expect(error).toMatchObject({ message: expect.stringMatching(/\S/) });
    request.failed = response.status === 502 && error.message.includes("outcome of this Idempotency-Key");
    return request.failed ? 200 : response.status;
  }
  const received = stream
    ? readStream(text)
    : { text: JSON.parse(text).choices[0].message.content, done: true, error: undefined };
  request.failed = received.error !== undefined;
  if (!received.done && !request.failed) return 0;
  if (received.done) expect(received.text).toBe(answerTo(request));
  else expect(answerTo(request).startsWith(received.text)).toBe(true);
  return 200;
}

/** Clients that send one request after the other; `ask` resolves when its nth request is answered. */
export function repeatedly(clients: number, ask: (n: number, client: number) => Promise<void>) {
  let answered = 0;
  let going = true;
  const run = async (client: number) => {
    for (let n = client; going; n++) {
      await ask(n, client);
      answered += 1;
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  all.catch(() => (going = false));
  return {
    /** Resolves once `count` more requests are answered. */
    async more(count: number): Promise<void> {
      const until = answered + count;
      while (going && answered < until) await sleep(20);
      if (!going) await all;
    },
    /** Resolves once all requests are answered. */
    async stop(): Promise<void> {
      going = false;
      await all;
    },
  };
}

/**
 * Clients that send one request after the other, each until it is answered, to the addresses in turn. An answer that is neither a
 * success nor retryable, or has other words than requested, fails the load. `stop` resolves once all requests are answered.
 */
export function startLoad(urls: string[], api_key: string, clients = 8) {
  const requests: LoadRequest[] = [];
  const { more, stop } = repeatedly(clients, async (n) => {
    const one: LoadRequest = { words: randomUUID(), stream: n % 2 === 0, slow: n % 8 < 2, statuses: [], failed: false };
    requests.push(one);
    for (let status = 0; status !== 200; ) {
      status = await tryOnce(urls[((n >> 1) + one.statuses.length) % urls.length]!, api_key, one);
      one.statuses.push(status);
      expect([200, ...RETRYABLE]).toContain(status);
      expect(one.statuses.length).toBeLessThan(150);
      if (status !== 200) await sleep(PAUSE_MS);
    }
  });
  return {
    more,
    /** Those that are answered so far. */
    answered: (): LoadRequest[] => requests.filter(({ statuses }) => statuses.at(-1) === 200),
    stop: async (): Promise<LoadRequest[]> => (await stop(), requests),
  };
}

/** The part of a request that shows in the log. */
type RequestEffect = Pick<LoadRequest, "words" | "failed">;

/** Each request has one effect in the log: completed once, or failed once where its stream said so. */
function expectOneEffect(events: RecordedEvent[], requests: RequestEffect[]) {
  const completed = new Map<string, number>();
  for (const { type, personal } of events as any[])
    if (type === "TurnCompleted") completed.set(personal.said.text, (completed.get(personal.said.text) ?? 0) + 1);
  const effects = requests.map((one) => [one.words, completed.get(answerTo(one)) ?? 0]);
  expect(effects).toEqual(requests.map(({ words, failed }) => [words, failed ? 0 : 1]));
  const ended = events.filter(({ type }) => /^Turn(Completed|Failed|Stopped|Refused)$/.test(type));
  const turns = ended.map(({ data }) => (data as { turn_id: string }).turn_id);
  expect(new Set(turns).size).toBe(turns.length);
}

/** Every request has one effect, and the checks of the crash harness find nothing wrong with the log, its followers and the read models. */
export async function expectSound(
  { pool, db, log }: Pick<Resources, "pool" | "db" | "log">,
  requests: RequestEffect[],
) {
  await waitUntilQuiet(db);
  const events = await allEvents(log);
  expectOneEffect(events, requests);
  expect([
    ...(await checkChain(db, events)),
    ...(await checkHeads(db, events)),
    ...(await checkFollowers(db)),
    ...checkCommands({ events, turns: turnsOf(events) }),
    ...(await checkModels(pool, log)),
  ]).toEqual([]);
}
