import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { createRequestRows, type Kind, type Outcome } from "./requestRows.ts";

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
const WORK: Record<Kind, () => Promise<Outcome>> = {
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

const rows = createRequestRows();
const act = (kind: Kind): Promise<void> => rows.act(kind, WORK[kind]);
// each message asks for the row since the message before
parentPort!.on("message", () => void rows.end().then((row) => parentPort!.postMessage(row)));

async function work(): Promise<never> {
  for (;;)
    for (const kind of ["search", "upload", "run"] as const) {
      await act(kind);
      await sleep(WORK_PAUSE_MS);
    }
}
void work();

for (;;) {
  await act("turn");
  await sleep(TURN_PAUSE_MS);
}
