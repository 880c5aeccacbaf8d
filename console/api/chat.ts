import { queryOptions } from "@tanstack/react-query";
import { call, Failure } from "./call.ts";
import type { Page, Slice, Trace, TracedCall, TracedMessage, TurnSummary } from "./types.ts";

/* Threads, what they may be had with, and files. Keys start with the kind of thing, which the change stream names. */

export interface Thread {
  id: string;
  agent_id: string | null;
  model: string;
  status: "running" | "completed" | "failed" | "stopped";
  /** The question of the oldest turn that was read. */
  title: string | null;
  newest_turn: string;
  updated_at: string;
}

export type Attachment = Pick<TracedMessage["attachments"][number], "filename" | "mime_type" | "bytes">;

export type Message = Omit<TracedMessage, "attachments"> & { attachments: Attachment[] };

export interface Citation {
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

export type ToolCall = Pick<TracedCall, "id" | "name" | "arguments" | "status" | "duration_ms">;

interface Agent {
  id: string;
  name: string;
  model: string | null;
  api_enabled: boolean;
}

/** What a conversation can be had with. */
export interface Target {
  /** `agent:<id>` or `model:<provider>/<name>`. */
  key: string;
  name: string;
  agent_id?: string;
  model?: string;
}

const MAX_PAGE = 500;
/** Pages that are searched: the newest 10,000 of the person's own questions. */
const MAX_PAGES = 20;
const POLL_MS = 1_500;

/** The person's own turns, the newest first, until `isEnough`. Refused ones are part of no conversation. */
async function readTurns(isEnough: (turns: TurnSummary[]) => boolean, size: number, signal: AbortSignal) {
  const turns: TurnSummary[] = [];
  let after: string | undefined;
  for (let n = 0; n < MAX_PAGES; n++) {
    const query = { principal: "me", limit: size, after };
    const page = await call<Slice<TurnSummary>>("turns", { signal, query });
    turns.push(...page.data.filter(({ status }) => status !== "refused"));
    after = page.next_after ?? undefined;
    if (after === undefined || isEnough(turns)) break;
  }
  return { turns, has_more: after !== undefined };
}

/** A thread from its newest turn, with the question of the oldest one that was read as its title. */
const toThread = (newest: TurnSummary, oldest: TurnSummary): Thread => ({
  id: newest.thread_id,
  agent_id: newest.agent?.id ?? null,
  model: newest.model,
  status: newest.status as Thread["status"],
  title: oldest.question,
  newest_turn: newest.id,
  updated_at: newest.ended_at ?? newest.started_at,
});

function groupByThread(turns: TurnSummary[]): Thread[] {
  const threads = new Map<string, Thread>();
  for (const turn of turns) {
    const known = threads.get(turn.thread_id);
    threads.set(turn.thread_id, known ? { ...known, title: turn.question } : toThread(turn, turn));
  }
  return [...threads.values()];
}

const notFound = (): Failure =>
  new Failure(404, { error: { code: "thread_not_found", message: "You have no such conversation." } });

async function findThread(id: string, signal: AbortSignal): Promise<Thread> {
  const { turns } = await readTurns((all) => all.some(({ thread_id }) => thread_id === id), MAX_PAGE, signal);
  const found = groupByThread(turns).find((thread) => thread.id === id);
  if (!found) throw notFound();
  return found;
}

/** The conversations of the person's newest questions. */
export const listThreads = (limit: number) =>
  queryOptions({
    queryKey: ["thread", "list", limit],
    queryFn: async ({ signal }) => {
      const { turns, has_more } = await readTurns((all) => all.length >= limit, limit, signal);
      return { data: groupByThread(turns), has_more };
    },
    placeholderData: (previous) => previous,
  });

/** Polled while it runs: the change stream names threads to builders and above only. */
export const getThread = (id: string) =>
  queryOptions({
    queryKey: ["thread", "one", id],
    queryFn: ({ signal }) => findThread(id, signal),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? POLL_MS : false),
  });

/** All messages of a thread, the oldest first: the conversation that its newest turn continued, and that turn's answer. */
export const listMessages = (thread: Thread) =>
  queryOptions({
    queryKey: ["thread", "messages", thread.id, thread.newest_turn, thread.status],
    queryFn: async ({ signal }): Promise<Message[]> => {
      const { prompt, answer } = await call<Trace>(`turns/${thread.newest_turn}/trace`, { signal });
      const messages = prompt?.messages ?? [];
      if (!answer?.text) return messages;
      return [...messages, { turn_id: thread.newest_turn, role: "assistant", text: answer.text, attachments: [] }];
    },
    placeholderData: (previous, query) => (query?.queryKey[2] === thread.id ? previous : undefined),
  });

/** Agents first: they have instructions and tools. */
export const listTargets = queryOptions({
  queryKey: ["agent", "targets"],
  queryFn: async ({ signal }): Promise<Target[]> => {
    const [agents, models] = await Promise.all([
      call<Page<Agent>>("agents", { signal, query: { limit: 500 } }),
      call<{ data: { id: string }[] }>("openai/v1/models", { signal }),
    ]);
    return [
      ...agents.data
        .filter(({ model, api_enabled }) => model !== null && api_enabled)
        .map(({ id, name }) => ({ key: `agent:${id}`, name, agent_id: id })),
      ...models.data.map(({ id }) => ({ key: `model:${id}`, name: id, model: id })),
    ];
  },
});

export const targetOf = ({ agent_id, model }: Thread): Omit<Target, "name"> =>
  agent_id === null ? { key: `model:${model}`, model } : { key: `agent:${agent_id}`, agent_id };

/** Questions that are read for the list of conversations at first. */
export const TURNS_PER_PAGE = 100;
