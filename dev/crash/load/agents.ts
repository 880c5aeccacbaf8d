import { setTimeout as sleep } from "node:timers/promises";
import { PERSONAL } from "../topology.ts";
import type { WireAnswer, WireRequest } from "./wire.ts";
import { onceOnly, perform, type Action } from "./session.ts";

/** Provider behaviours of a response, with their weights. `[tool]` makes the agent search before it answers. */
const ORDERS = { "": 20, "[slow 40] ": 20, "[tool 60] ": 40, "[slow 250] ": 8, "[500] ": 4, "[400] ": 3, "[cut] ": 5 };

interface StreamEvent {
  type: string;
  sequence_number: number;
  response?: any;
  delta?: string;
}

/** Complete events of a stream. Ignores the error of a restarting server, which repeats the number of the previous event. */
export const eventsIn = (sse: string): StreamEvent[] =>
  [...sse.matchAll(/^data: (.*)\n\n/gm)]
    .map(([, json]) => JSON.parse(json!) as StreamEvent)
    .filter(({ type }) => type !== "error");

const textOf = (response: any): string =>
  response.output
    .flatMap((item: any) => (item.type === "message" ? item.content.map(({ text }: { text: string }) => text) : []))
    .join(" ");

/** The facts in an answer; for a stream also whether its numbering has gaps. */
function readAnswer({ body, text, headers }: WireAnswer) {
  const thread_id = headers.get("x-thread-id");
  if (body) return { response_id: body.id, thread_id, status: body.status, text: textOf(body) };
  const events = eventsIn(text);
  const last = events.at(-1);
  return {
    response_id: events[0]?.response?.id,
    thread_id,
    status: last?.response?.status,
    text: last?.response ? textOf(last.response) : "",
    error: last?.response?.error?.message,
    deltas: events.map(({ type, delta }) => (type === "response.output_text.delta" ? delta : "")).join(""),
    numbered: events.every(({ sequence_number }, n) => sequence_number === n),
    terminal: events.filter(({ type }) => type === "response.completed" || type === "response.failed").length,
  };
}

/** Resumes a broken stream after its last event, or repeats the request if there was none. */
function resumed(base: string, token: string, user: string): (received: string) => WireRequest | undefined {
  return (received) => {
    const events = eventsIn(received);
    const id = events[0]?.response?.id;
    if (!id) return undefined;
    const query = `user=${encodeURIComponent(user)}&stream=true&starting_after=${events.at(-1)!.sequence_number}`;
    return { method: "GET", path: `${base}/responses/${id}?${query}`, token };
  };
}

export async function respond(action: Action, previous?: string): Promise<void> {
  const { id, random, session } = action;
  const streamed = random.chance(0.75);
  const keyed = random.chance(0.75);
  const order = random.weighted(ORDERS);
  const base = `/api/agents/${session.agent}/v1`;
  const done = await perform(action, {
    what: "agent.respond",
    keyed,
    asked: { streamed, order: order.trim(), previous },
    wanted: {
      method: "POST",
      path: `${base}/responses`,
      token: session.api_key,
      headers: keyed ? onceOnly(id) : {},
      body: {
        input: `${order}<${id}> ${PERSONAL} ${"word ".repeat(random.int(3, 30))}`,
        user: session.user,
        stream: streamed,
        ...(previous && { previous_response_id: previous }),
      },
      ...(streamed && { follow: resumed(base, session.api_key, session.user) }),
    },
    read: readAnswer,
  });
  const { response_id, status } = done.got;
  if (response_id) session.answered.push(response_id);
  if (response_id && status === "completed") session.responses.push(response_id);
}

export async function readResponse(action: Action, response_id: string): Promise<void> {
  const { agent, user, api_key } = action.session;
  const path = `/api/agents/${agent}/v1/responses/${response_id}?user=${encodeURIComponent(user)}`;
  await perform(action, {
    what: "agent.read",
    asked: { response_id },
    wanted: { method: "GET", path, token: api_key },
    read: ({ body }) => ({ status: body.status, text: textOf(body) }),
  });
}

/** Reads the whole stream of a finished response again. */
export async function replayResponse(action: Action, response_id: string): Promise<void> {
  const { agent, user, api_key } = action.session;
  const path = `/api/agents/${agent}/v1/responses/${response_id}?stream=true&user=${encodeURIComponent(user)}`;
  await perform(action, {
    what: "agent.replay",
    asked: { response_id },
    wanted: { method: "GET", path, token: api_key },
    read: readAnswer,
  });
}

const USES = 6;
const PAUSE_MS = 150;
/** Pause between two changes, so that a read model that lost the second one still has the first. */
const ENABLED_MS = 1_000;
/** No response has this id. */
const NO_RESPONSE = "resp_00000000-0000-7000-8000-000000000000";

async function setApi(action: Action, token: string, api_enabled: boolean): Promise<boolean> {
  const { switched: agent_id } = action.session;
  const { outcome } = await perform(action, {
    what: api_enabled ? "agent.enable" : "agent.disable",
    asked: { agent_id },
    wanted: { method: "PATCH", path: `/api/agents/${agent_id}`, token, body: { api_enabled } },
  });
  return outcome === "done";
}

/** Turns an agent's API on and off, and uses it repeatedly, so that some uses follow a fault that came after the answer. */
export async function switchAgent(action: Action, token: string): Promise<void> {
  const { switched: agent_id, api_key } = action.session;
  if (!(await setApi({ ...action, id: `${action.id}-on` }, token, true))) return;
  await sleep(ENABLED_MS);
  await setApi({ ...action, id: `${action.id}-off` }, token, false);
  for (let n = 1; n <= USES; n++) {
    await perform(
      { ...action, id: `${action.id}-use-${n}` },
      {
        what: "agent.use",
        asked: { agent_id },
        wanted: { method: "GET", path: `/api/agents/${agent_id}/v1/responses/${NO_RESPONSE}`, token: api_key },
      },
    );
    await sleep(PAUSE_MS);
  }
}
