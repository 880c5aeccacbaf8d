import { send } from "./call.ts";
import type { Citation, ToolCall } from "./chat.ts";
import { readEvents } from "./sse.ts";

/* Sends questions, and follows an answer while it is written. Chats with models and with agents have different streams. */

/** An answer that is being written. */
export interface LiveAnswer {
  turn_id?: string;
  text: string;
  calls: ToolCall[];
  citations: Citation[];
  error?: string;
}

export interface Question {
  text: string;
  files: { id: string; filename: string; mime_type: string; bytes: number }[];
  agent_id?: string | undefined;
  model?: string | undefined;
  /** Sent with every retry, so that a question is asked only once. */
  key: string;
  thread_id?: string | undefined;
  /** The earlier messages, if a new thread continues another one. */
  history?: HistoryMessage[] | undefined;
}

export interface HistoryMessage {
  role: "user" | "assistant";
  content: string;
}

interface Part {
  text?: string;
  refusal?: string;
  annotations?: Citation[];
}
interface Item {
  type: "reasoning" | "function_call" | "message";
  id: string;
  name?: string;
  arguments?: string;
  status?: "in_progress" | "completed" | "incomplete";
  content?: Part[];
}
/** The fields of a response stream's event that the console reads. */
interface ResponseEvent {
  type: string;
  output_index?: number;
  delta?: string;
  item?: Item;
  message?: string;
  response?: { id: string; output: Item[]; error: { message: string } | null };
}
interface Chunk {
  id?: string;
  choices?: { delta: { content?: string; refusal?: string; annotations?: { url_citation: Citation }[] } }[];
  error?: { message: string };
}

const CALL_STATUS = { in_progress: "running", completed: "completed", incomplete: "failed" } as const;

const asCall = ({ id, name = "", arguments: args = "", status = "in_progress" }: Item): ToolCall => ({
  id,
  name,
  arguments: args,
  status: CALL_STATUS[status],
  duration_ms: null,
});

function fromItems(items: Item[]): Pick<LiveAnswer, "text" | "calls" | "citations"> {
  const parts = items.flatMap(({ type, content }) => (type === "message" ? (content ?? []) : []));
  return {
    text: parts.map(({ text, refusal }) => text ?? refusal ?? "").join("\n\n"),
    calls: items.filter(({ type }) => type === "function_call").map(asCall),
    citations: parts.flatMap(({ annotations }) => annotations ?? []),
  };
}

const bareId = (id: string): string => id.replace(/^(resp_|chatcmpl-)/, "");

async function* followResponse(response: Response): AsyncGenerator<LiveAnswer> {
  const items: Item[] = [];
  let answer: LiveAnswer = { text: "", calls: [], citations: [] };
  for await (const event of readEvents<ResponseEvent>(response)) {
    const { type, output_index = 0, delta = "", item, message } = event;
    const known = items[output_index];
    if (event.response) {
      answer = { ...answer, turn_id: bareId(event.response.id) };
      if (event.response.error) answer = { ...answer, error: event.response.error.message };
    }
    if (type === "error" && message) answer = { ...answer, error: message };
    if (item) items[output_index] = item;
    if (type === "response.output_text.delta" && known?.type === "message")
      items[output_index] = { ...known, content: [{ text: (known.content?.[0]?.text ?? "") + delta }] };
    answer = { ...answer, ...fromItems(items) };
    yield answer;
  }
}

async function* followChunks(response: Response): AsyncGenerator<LiveAnswer> {
  let answer: LiveAnswer = { text: "", calls: [], citations: [] };
  for await (const { id, choices = [], error } of readEvents<Chunk>(response)) {
    const { content = "", refusal = "", annotations = [] } = choices[0]?.delta ?? {};
    answer = {
      ...answer,
      ...(id && { turn_id: bareId(id) }),
      text: answer.text + content + refusal,
      citations: [...answer.citations, ...annotations.map(({ url_citation }) => url_citation)],
      ...(error && { error: error.message }),
    };
    yield answer;
  }
}

export interface Exchange {
  thread_id: string;
  answers: AsyncGenerator<LiveAnswer>;
}

/** Sends a question. The same question with the same key continues its answer. */
export async function askQuestion(question: Question, signal: AbortSignal): Promise<Exchange> {
  const { text, files, agent_id, model, key, thread_id, history = [] } = question;
  const messages = [...history, { role: "user", content: text }];
  const attachments = files.map(({ id }) => id);
  const headers = { "idempotency-key": key, ...(thread_id && { "x-thread-id": thread_id }) };
  const common = { stream: true, ...(attachments.length > 0 && { attachments }) };
  const response = agent_id
    ? await send(`agents/${agent_id}/v1/responses`, {
        method: "POST",
        body: { input: messages, ...common },
        headers,
        signal,
      })
    : await send("openai/v1/chat/completions", {
        method: "POST",
        body: { model, messages, ...common },
        headers,
        signal,
      });
  const answers = agent_id ? followResponse(response) : followChunks(response);
  return { thread_id: response.headers.get("x-thread-id")!, answers };
}

/** Follows a running answer of an agent, from its beginning. */
export async function reopenAnswer(
  agent_id: string,
  turn: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<LiveAnswer>> {
  const path = `agents/${agent_id}/v1/responses/resp_${turn}`;
  return followResponse(await send(path, { query: { stream: "true" }, signal }));
}

/** Stops an agent's answer. A model's answer stops when its last reader disconnects. */
export const stopResponse = (agent_id: string, turn: string): Promise<Response> =>
  send(`agents/${agent_id}/v1/responses/resp_${turn}/cancel`, { method: "POST" });

export async function uploadFile(file: File): Promise<Question["files"][number]> {
  const form = new FormData();
  form.set("file", file);
  return (await send("openai/v1/files", { method: "POST", form })).json() as Promise<Question["files"][number]>;
}
