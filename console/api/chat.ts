import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, itemPath, queryOne } from "./call.ts";
import { byId, readAll } from "./readAll.ts";
import type { Trace, TracedCall, TracedMessage } from "./trace.ts";
import type { Page, Slice, Source } from "./types.ts";

/* Threads, the models and agents that can answer in them, and files. Keys start with the kind of item, as the change stream names it. */

export interface Thread {
  id: string;
  agent_id: string | null;
  model: string;
  status: "running" | "completed" | "failed" | "stopped";
  /** The beginning of its first question. */
  title: string | null;
  newest_turn_id: string;
  updated_at: string;
}

export type Attachment = Pick<TracedMessage["attachments"][number], "filename" | "mime_type" | "bytes">;

export type Message = Omit<TracedMessage, "attachments"> & { attachments: Attachment[] };

export interface Citation extends Source {
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

/** A model or an agent that can answer. */
export interface Target {
  /** `agent:<id>` or `model:<provider>/<name>`. */
  key: string;
  name: string;
  agent_id?: string;
  model?: string;
}

const POLL_MS = 1_500;

/** The person's own conversations in pages, most recently begun first. */
export const listThreads = infiniteQueryOptions({
  queryKey: ["thread", "list"],
  queryFn: ({ signal, pageParam: after }) => call<Slice<Thread>>("threads", { signal, query: { after } }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_after }) => next_after ?? undefined,
});

/** Polled while it runs, because the change stream names threads only for builders and above. */
export const getThread = (id: string) =>
  queryOptions({
    queryKey: ["thread", "one", id],
    queryFn: queryOne<Thread>(itemPath("threads", id)),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? POLL_MS : false),
  });

/** The messages up to a turn, including its answer, oldest first. */
async function readMessages(turn_id: string, signal: AbortSignal): Promise<Message[]> {
  const { prompt, answer } = await call<Trace>(`${itemPath("turns", turn_id)}/trace`, { signal });
  const messages = prompt?.messages ?? [];
  return answer?.text ? [...messages, { turn_id, role: "assistant", text: answer.text, attachments: [] }] : messages;
}

/** The messages that a fork from a turn continues. */
export const listMessagesUpTo = (turn_id: string) =>
  queryOptions({
    queryKey: ["thread", "fork", turn_id],
    queryFn: ({ signal }) => readMessages(turn_id, signal),
  });

/** All messages of a thread, oldest first: the conversation that its newest turn continued, and that turn's answer. */
export const listMessages = (thread: Thread) =>
  queryOptions({
    queryKey: ["thread", "messages", thread.id, thread.newest_turn_id, thread.status],
    queryFn: ({ signal }) => readMessages(thread.newest_turn_id, signal),
    placeholderData: (previous, query) => (query?.queryKey[2] === thread.id ? previous : undefined),
  });

/** Agents first, because they have instructions and tools. Read at every mount, because only administrators receive changes of models. */
export const listTargets = queryOptions({
  queryKey: ["agent", "targets"],
  refetchOnMount: "always",
  queryFn: async ({ signal }): Promise<Target[]> => {
    const [agents, models] = await Promise.all([
      readAll(async (query) => {
        const { data, total } = await call<Page<Agent>>("agents", { signal, query });
        // without the instructions, which may be long
        return { data: data.map(({ id, name, model, api_enabled }) => ({ id, name, model, api_enabled })), total };
      }, byId),
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
