import { streamName } from "#events/ids.ts";
import { releaseBuffer } from "#events/releaseBuffer.ts";
import { sentType } from "#events/requestSize.ts";
import type { Attachment, Prompt } from "#events/thread.ts";
import type { TurnStores } from "./history.ts";
import { limitSentFiles, type AnswerMemory, type ModelMessage, type ModelRequest, type Part } from "./model.ts";
import { providerOf, type ThreadMessage } from "./threadMessage.ts";
import type { TurnToRun } from "./turnToRun.ts";

/**
 * Bytes of attachments in a request that includes some of earlier turns, unless its provider has accepted more in this thread. They
 * are 29 MB in base64: the strictest provider accepts requests of 32 MB and would refuse each later turn.
 */
const MAX_FILE_BYTES = 22_000_000;

/** The provider that a turn asks; undefined if its model is an alias. */
export const targetProvider = ({ route, model }: Pick<TurnToRun, "model" | "route">): string | undefined =>
  route ? undefined : providerOf(model);

type LoadFile = (turn: string, attachment: Attachment) => Promise<Buffer | undefined>;

/** Loads content that is attached several times only once. Undefined if the bytes or their key are gone. */
function openFiles({ vault }: TurnStores): LoadFile {
  const loaded = new Map<string, Buffer>();
  return async (turn, { sha256, blob, sealed_by }) => {
    // each turn has its own copy: if one is gone, that of another turn may still exist
    const bytes = loaded.get(sha256) ?? (await vault.get(sealed_by ?? { thing: streamName("turn", turn) }, blob));
    if (bytes) loaded.set(sha256, bytes);
    return bytes;
  };
}

const isSameFile = (a: Attachment, b: Attachment): boolean =>
  a.sha256 === b.sha256 && a.filename === b.filename && a.mime_type === b.mime_type;

/** Bytes that the attachments of these messages take in memory. */
export function attachedBytes(messages: ThreadMessage[]): number {
  const sizes = new Map(messages.flatMap(({ attachments }) => attachments.map(({ sha256, bytes }) => [sha256, bytes])));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Bytes of a turn's attachments in memory. Throws a ModelError before loading if they are too large for its provider. An alias's
 * provider is not known yet.
 */
export function measureFiles(turn: Pick<TurnToRun, "model" | "route">, conversation: ThreadMessage[]): number {
  const bytes = attachedBytes(conversation);
  const provider = targetProvider(turn);
  if (provider !== undefined && provider !== "offline") limitSentFiles(bytes);
  return bytes;
}

/** The most bytes of attachments that the provider has accepted in one turn of the history. */
function takenBytes(history: ThreadMessage[], provider: string): number {
  const turns = Map.groupBy(
    history.filter(({ taken_by }) => taken_by === provider),
    ({ turn_id }) => turn_id,
  );
  return turns.values().reduce((most, messages) => Math.max(most, attachedBytes(messages)), 0);
}

/**
 * Leaves out the oldest attachments that do not fit beside those of the turn itself; their messages keep the text. `provider`: the
 * recipient; undefined while unknown.
 */
export function limitFiles(
  history: ThreadMessage[],
  own: ThreadMessage[],
  provider: string | undefined,
): ThreadMessage[] {
  const taken = provider === undefined ? 0 : takenBytes(history, provider);
  let left = Math.max(MAX_FILE_BYTES, taken) - attachedBytes(own);
  return history
    .toReversed()
    .map((message) => {
      const attachments = message.attachments.filter(({ bytes }) => (left -= bytes) >= 0);
      return attachments.length === message.attachments.length ? message : { ...message, attachments };
    })
    .toReversed();
}

/** The files of a message, without duplicates. */
export const distinctFiles = ({ attachments }: ThreadMessage): Attachment[] =>
  attachments.filter((one, n) => attachments.findIndex((other) => isSameFile(one, other)) === n);

/** `provider`: the recipient; undefined while unknown. */
async function modelMessage(
  load: LoadFile,
  message: ThreadMessage,
  provider: string | undefined,
): Promise<ModelMessage> {
  const { role, text, attachments, turn_id, calls, call_id, opaque } = message;
  if (role === "tool") return { role, call_id: call_id!, parts: [{ type: "text", text }] };
  if (calls)
    return {
      role: "assistant",
      parts: text === "" ? [] : [{ type: "text", text }],
      calls: calls.map(({ client: _, ...call }) => call),
      ...(opaque && opaque.provider === (provider ?? opaque.provider) && { opaque: opaque.data }),
    };
  const parts: Part[] = text === "" && attachments.length > 0 ? [] : [{ type: "text", text }];
  for (const attachment of distinctFiles(message)) {
    const { filename, mime_type } = attachment;
    const bytes = await load(turn_id, attachment);
    // Replay is best effort (spec: Attachment rules): a message without its file keeps its text.
    if (bytes) parts.push({ type: "file", filename, mime_type: sentType(mime_type, bytes), bytes });
  }
  return { role, parts };
}

const RESULT_FILES = "The files in the results of the tools above:";

/** Not every provider accepts files in tool results, so the files follow the results as messages of the user. */
function moveResultFiles(conversation: ThreadMessage[]): ThreadMessage[] {
  let waiting: ThreadMessage[] = [];
  return conversation.flatMap((message, n) => {
    if (message.role !== "tool") return [message];
    if (message.attachments.length > 0) waiting.push({ ...message, role: "user", text: RESULT_FILES });
    if (conversation[n + 1]?.role === "tool") return [message];
    const files = waiting;
    waiting = [];
    return [message, ...files];
  });
}

/**
 * The request to the model: the conversation so far and this turn's messages. For a turn with a route, each target gets its own
 * model name and only its own provider's data (`isolateState`).
 */
export async function buildModelRequest(
  stores: TurnStores,
  turn: Pick<TurnToRun, "model" | "streamed" | "route">,
  prompt: Prompt,
  tools: ModelRequest["tools"],
  conversation: ThreadMessage[],
  share?: AnswerMemory,
): Promise<ModelRequest> {
  const { messages: _messages, vars: _vars, tools: _tools, client_tools, knowledge: _, agent, ...settings } = prompt;
  const load = openFiles(stores);
  const provider = targetProvider(turn);
  const messages: ModelRequest["messages"] = [];
  // one after the other: sealed and opened copies of all files would take twice the memory
  for (const message of moveResultFiles(conversation)) messages.push(await modelMessage(load, message, provider));
  const model = turn.model.slice(turn.model.indexOf("/") + 1);
  // The caller's instructions come after the agent's own (spec: Agent response request).
  const instructions = [agent?.instructions, prompt.instructions].filter(Boolean).join("\n\n") || null;
  return {
    ...settings,
    instructions,
    reasoning_effort: agent?.reasoning_effort ?? null,
    model,
    messages,
    tools,
    ...(client_tools && { client_tools: client_tools.map(({ name }) => name) }),
    streamed: turn.streamed,
    ...(share && { share }),
  };
}

/** Runs work with a request, then frees the memory of its files. */
export async function useRequest<T>(
  build: () => Promise<ModelRequest>,
  ask: (request: ModelRequest) => Promise<T>,
): Promise<T> {
  const request = await build();
  try {
    return await ask(request);
  } finally {
    for (const part of request.messages.flatMap(({ parts }) => parts))
      if (part.type === "file") releaseBuffer(part.bytes);
  }
}
