import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/*
 * The other organization's clients, in a thread of their own: the attacker's client sends hundreds of requests and reads megabytes of answers, and would
 * hold up the clock of a client in its thread. One client takes one turn after the other, another one searches, uploads and runs a workflow, for the
 * whole drill, so no row contains the start of a client.
 */

const TURN_PAUSE_MS = 20;
const WORK_PAUSE_MS = 100;
const { url, api_key, collection, workflow } = workerData as BystanderData;

export interface BystanderData {
  url: string;
  api_key: string;
  /** Slug of a collection with a document about bees. */
  collection: string;
  /** Id of a workflow of one step. */
  workflow: string;
}
export type Kind = "turn" | "search" | "upload" | "run";
/** The requests that ended since the report before. */
export interface BystanderReport {
  times: Record<Kind, number[]>;
  /** What was not answered as it should be, with its status; 0 where the connection broke. */
  failures: string[];
}

async function request(method: string, path: string, body?: FormData | object): Promise<{ status: number; body: any }> {
  const isForm = body instanceof FormData;
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${api_key}`,
      ...(body !== undefined && !isForm && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  }).catch(() => undefined);
  const answer: unknown = await response?.json().catch(() => undefined);
  return { status: response?.status ?? 0, body: answer };
}

let documents = 0;
/** Each answers whether it got what it asked for, and a status. */
const WORK: Record<Kind, () => Promise<[isGood: boolean, status: number]>> = {
  async turn() {
    const messages = [{ role: "user", content: "still here" }];
    const { status } = await request("POST", "/api/openai/v1/chat/completions", { model: "offline/echo", messages });
    return [status === 200, status];
  },
  async search() {
    const query = { query: "honey bees", collections: [collection] };
    const { status, body } = await request("POST", "/api/v1/knowledge/search", query);
    return [status === 200 && body.results.length > 0, status];
  },
  async upload() {
    const form = new FormData();
    form.append("file", new Blob([`Note ${documents++}: the meadow was mown.`]), `note${documents}.txt`);
    const { status } = await request("POST", `/api/v1/knowledge/collections/${collection}/documents`, form);
    return [status === 202, status];
  },
  async run() {
    const started = await request("POST", `/api/workflows/${workflow}/runs`, { args: { n: 1 } });
    if (started.status !== 202) return [false, started.status];
    const { status, body } = await request("GET", `/api/workflows/runs/${started.body.id}?wait=20`);
    return [status === 200 && body.result === 2, status];
  },
};

const emptyReport = (): BystanderReport => ({ times: { turn: [], search: [], upload: [], run: [] }, failures: [] });
let report = emptyReport();
let isAsked = false;
parentPort!.on("message", () => (isAsked = true));

/** What the second client waits for: a request that has not ended counts, too. */
let waiting: { kind: Kind; start: number } | undefined;

async function act(kind: Kind): Promise<void> {
  const start = performance.now();
  if (kind !== "turn") waiting = { kind, start };
  const [isGood, status] = await WORK[kind]();
  report.times[kind].push(performance.now() - start);
  if (!isGood) report.failures.push(`${kind} ${status}`);
}

async function work(): Promise<never> {
  for (;;)
    for (const kind of ["search", "upload", "run"] as const) {
      await act(kind);
      waiting = undefined;
      await sleep(WORK_PAUSE_MS);
    }
}
void work();

for (;;) {
  await act("turn");
  if (isAsked) {
    // a turn that is under way when the report is asked for belongs to it
    isAsked = false;
    if (waiting) report.times[waiting.kind].push(performance.now() - waiting.start);
    parentPort!.postMessage(report);
    report = emptyReport();
  }
  await sleep(TURN_PAUSE_MS);
}
