import type { Command } from "#events/envelope.ts";
import { newCommandId, newId, streamName } from "#events/ids.ts";
import type { Route } from "#events/route.ts";
import { EMPTY_PROMPT, StartTurn, type Message, type Prompt, type TurnAgent } from "#events/thread.ts";

/** A prompt that asks for nothing but an answer to these messages. */
export const promptOf = (messages: Message[]): Prompt => ({ ...EMPTY_PROMPT, messages });

interface Start {
  organization_id: string;
  model: string;
  /** What the model stands for, if it is an alias. */
  route?: Route | undefined;
  streamed?: boolean;
  /** How long the turn may take. */
  seconds?: number;
  stream?: string;
  agent?: TurnAgent;
  /** What else the prompt says. */
  prompt?: Partial<Prompt>;
}

/** A turn as http would start it, in a thread of its own unless one is named. */
export const startTurn = (
  text: string,
  { organization_id, model, route, streamed, seconds, stream, prompt, agent }: Start,
): Command => ({
  id: newCommandId(),
  type: StartTurn.type,
  stream: stream ?? streamName("thread", newId()),
  organization_id,
  principal: "system",
  at: new Date().toISOString(),
  deadline: new Date(Date.now() + 20_000).toISOString(),
  request_id: "test",
  data: {
    turn_id: newId(),
    scope: "mine",
    model,
    ...(route && { route }),
    ...(agent && { agent }),
    streamed: streamed ?? false,
    ends_by: new Date(Date.now() + (seconds ?? 60) * 1_000).toISOString(),
    input: { prompt: { ...promptOf([{ role: "user", text, attachments: [] }]), ...prompt } },
    continues: false,
  },
});
