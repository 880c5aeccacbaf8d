import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import pino from "pino";
import type { Recorded } from "#events/envelope.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { hashTables } from "#infra/postgres/tables.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "../../roles/open.ts";
import { say } from "../http/service.ts";
import { heardIn } from "./stage.ts";

/** A request under a key of its own, tried until it has its answer. */
export interface Asked {
  words: string;
  stream: boolean;
  /** Says its answer in half a second or more. */
  slow: boolean;
  /** What each try came to: a status; 0 where the connection broke. */
  statuses: number[];
  /** Its stream ended in an error, for good: what a reader has seen is not said anew. */
  failed: boolean;
}

const PAUSE_MS = 200;
/** What may be said while something is away; each means that the same request may be sent again. */
const MAYBE = [0, 502, 503];
export const answerTo = ({ words }: Pick<Asked, "words">): string => `${words} and some more words`;

export const bodyOf = (asked: Pick<Asked, "words" | "stream" | "slow">) =>
  asked.slow
    ? say(`/slow ${asked.stream ? 0.2 : 0.6}\n/say ${answerTo(asked)}`, {
        model: "offline/scripted",
        stream: asked.stream,
      })
    : say(answerTo(asked), { stream: asked.stream });

/** One try; the status, 0 where the connection broke. */
export async function tryOnce(url: string, api_key: string, asked: Asked): Promise<number> {
  const { words, stream } = asked;
  const response = await fetch(`${url}/api/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json", "idempotency-key": words },
    body: JSON.stringify(bodyOf(asked)),
  }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (!response || text === undefined) return 0;
  if (response.status !== 200) {
    expect(JSON.parse(text)).toEqual({ error: expect.objectContaining({ message: expect.stringMatching(/\S/) }) });
    return response.status;
  }
  const heard = stream
    ? heardIn(text)
    : { text: JSON.parse(text).choices[0].message.content, done: true, error: undefined };
  asked.failed = heard.error !== undefined;
  if (!heard.done && !asked.failed) return 0;
  if (heard.done) expect(heard.text).toBe(answerTo(asked));
  else expect(answerTo(asked).startsWith(heard.text)).toBe(true);
  return 200;
}

/** Clients of which each asks on and on; `ask` resolves when its nth request is answered. */
export function onAndOn(clients: number, ask: (n: number, client: number) => Promise<void>) {
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
    /** Resolves once so many more have been answered. */
    async more(count: number): Promise<void> {
      const until = answered + count;
      while (going && answered < until) await sleep(20);
      if (!going) await all;
    },
    /** Resolves once all are answered. */
    async stop(): Promise<void> {
      going = false;
      await all;
    },
  };
}

/**
 * Clients that ask on and on, each request until it is answered, at one address after the other. An answer of another kind
 * than success or "unknown", or with other words than were asked for, fails the load. `stop` resolves once all are answered.
 */
export function startLoad(urls: string[], api_key: string, clients = 8) {
  const asked: Asked[] = [];
  const { more, stop } = onAndOn(clients, async (n) => {
    const one: Asked = { words: randomUUID(), stream: n % 2 === 0, slow: n % 8 < 2, statuses: [], failed: false };
    asked.push(one);
    for (let status = 0; status !== 200; ) {
      status = await tryOnce(urls[((n >> 1) + one.statuses.length) % urls.length]!, api_key, one);
      one.statuses.push(status);
      expect([200, ...MAYBE]).toContain(status);
      expect(one.statuses.length).toBeLessThan(150);
      if (status !== 200) await sleep(PAUSE_MS);
    }
  });
  return { more, stop: async (): Promise<Asked[]> => (await stop(), asked) };
}

export async function allEvents(log: Opened["log"]): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (let more = await log.follow(0, 1_000); more.length > 0; more = await log.follow(more.at(-1)!.position, 1_000))
    events.push(...more);
  return events;
}

/** What of a request shows in the log. */
type Effect = Pick<Asked, "words" | "failed">;

/** Each request has one effect in the log: completed once, or failed once where its stream said so. */
function expectOneEffect(events: Recorded[], asked: Effect[]) {
  const completed = new Map<string, number>();
  for (const { type, personal } of events as any[])
    if (type === "TurnCompleted") completed.set(personal.said.text, (completed.get(personal.said.text) ?? 0) + 1);
  const effects = asked.map((one) => [one.words, completed.get(answerTo(one)) ?? 0]);
  expect(effects).toEqual(asked.map(({ words, failed }) => [words, failed ? 0 : 1]));
  const ended = events.filter(({ type }) => /^Turn(Completed|Failed|Stopped|Refused)$/.test(type));
  const turns = ended.map(({ data }) => (data as { turn_id: string }).turn_id);
  expect(new Set(turns).size).toBe(turns.length);
}

/** Every request has one effect, nothing is open, the chain holds and the read models are what a rebuild makes of it. */
export async function expectSound({ pool, db, log }: Pick<Opened, "pool" | "db" | "log">, asked: Effect[]) {
  const open = "select stream from log.streams where status = 'running'";
  await expect.poll(() => db.query(open, []), { timeout: 20_000 }).toEqual([]);
  const behind =
    "select name, c.position from log.checkpoints c, log.head h where c.name <> 'reactions' and c.position < h.position";
  await expect.poll(() => db.query(behind, []), { timeout: 10_000 }).toEqual([]);
  expect(await db.query("select stream, error from log.parked", [])).toEqual([]);
  expectOneEffect(await allEvents(log), asked);
  await verifyLog(db, () => {});
  const client = await pool.connect();
  try {
    const before = await hashTables(client, "read");
    for (const projection of projections) await rebuild({ pool, log, projection, logger: pino({ level: "silent" }) });
    expect(before).toEqual(await hashTables(client, "read"));
  } finally {
    client.release();
  }
}
