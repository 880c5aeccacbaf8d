import type { Recorded } from "#events/envelope.ts";
import { streamOf } from "#events/ids.ts";
import type { Blobs, DataKeys, Keyring } from "#events/ports.ts";
import { Prompt, type Attachment, type Message, type ThreadEvent } from "#events/thread.ts";
import type { ModelRequest, Part } from "./model.ts";

export interface Stores {
  blobs: Pick<Blobs, "get">;
  keyring: Pick<Keyring, "open">;
  dataKeys: DataKeys;
}

type Started = Extract<ThreadEvent, { type: "TurnStarted" }>;
type Input = NonNullable<Started["personal"]>["input"];

/** Opens a blob of a turn; undefined when the bytes or their key are gone. */
export async function openBlob(stores: Stores, turn: string, blob: string): Promise<Buffer | undefined> {
  const thing = streamOf("turn", turn);
  const [sealed, keys] = await Promise.all([stores.blobs.get(blob), stores.dataKeys.find([thing])]);
  const wrapped = keys.get(thing);
  return sealed && wrapped ? stores.keyring.open(thing, wrapped, sealed) : undefined;
}

/** What the caller asked in a turn, wherever it is kept; undefined when it was erased. */
export async function promptOf(stores: Stores, turn: string, input: Input | undefined): Promise<Prompt | undefined> {
  if (!input) return undefined;
  if ("prompt" in input) return input.prompt;
  const json = await openBlob(stores, turn, input.prompt_blob);
  return json && Prompt.parse(JSON.parse(json.toString()));
}

async function fileParts(stores: Stores, turn: string, attachments: Attachment[]): Promise<Part[]> {
  const parts = attachments.map(async ({ filename, mime_type, blob }): Promise<Part[]> => {
    const bytes = await openBlob(stores, turn, blob);
    // Replay is best effort (spec: Attachment rules): without its bytes the message stands by its text.
    return bytes ? [{ type: "file", filename, mime_type, bytes }] : [];
  });
  return (await Promise.all(parts)).flat();
}

async function modelMessage(stores: Stores, turn: string, message: Message): Promise<ModelRequest["messages"][number]> {
  const text: Part[] =
    message.text === "" && message.attachments.length > 0 ? [] : [{ type: "text", text: message.text }];
  return { role: message.role, parts: [...text, ...(await fileParts(stores, turn, message.attachments))] };
}

/** The answer that a turn left in the thread; a failed or stopped one keeps what was produced. */
function answerOf(event: ThreadEvent | undefined): ModelRequest["messages"] {
  if (!event || !("personal" in event) || !event.personal || !("said" in event.personal)) return [];
  const { text } = event.personal.said;
  return text === "" ? [] : [{ role: "assistant", parts: [{ type: "text", text }] }];
}

/** The conversation before a turn, oldest first. Refused turns and erased ones are not part of it. */
export async function historyBefore(
  stores: Stores,
  events: Recorded[],
  turn: string,
): Promise<ModelRequest["messages"]> {
  const ends = new Map<string, ThreadEvent>();
  const started: Started[] = [];
  for (const event of events as unknown as ThreadEvent[]) {
    if (event.type === "TurnStarted" && event.data.turn_id !== turn) started.push(event);
    else if ("turn_id" in event.data) ends.set(event.data.turn_id, event);
  }
  const turns = started.map(async ({ data, personal }) => {
    const prompt = await promptOf(stores, data.turn_id, personal?.input);
    if (!prompt || ends.get(data.turn_id)?.type === "TurnRefused") return [];
    const asked = await Promise.all(prompt.messages.map((message) => modelMessage(stores, data.turn_id, message)));
    return [...asked, ...answerOf(ends.get(data.turn_id))];
  });
  return (await Promise.all(turns)).flat();
}

/** What the model is asked: the conversation so far, then this turn's messages. */
export async function modelRequest(
  stores: Stores,
  turn: { id: string; model: string; streamed: boolean },
  prompt: Prompt,
  tools: ModelRequest["tools"],
  history: ModelRequest["messages"],
): Promise<ModelRequest> {
  const { messages, vars: _, tools: _names, knowledge: _limits, agent, ...settings } = prompt;
  const asked = await Promise.all(messages.map((message) => modelMessage(stores, turn.id, message)));
  const model = turn.model.slice(turn.model.indexOf("/") + 1);
  // the caller's instructions come after the agent's own (spec: Agent response request)
  const instructions = [agent?.instructions, prompt.instructions].filter(Boolean).join("\n\n") || null;
  return {
    ...settings,
    instructions,
    reasoning_effort: agent?.reasoning_effort ?? null,
    model,
    messages: [...history, ...asked],
    tools,
    streamed: turn.streamed,
  };
}
