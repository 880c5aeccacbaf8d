import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";

export type Stored = "stored" | "no_responders" | { refused: string };

export interface Acks {
  /** A reply subject whose PubAck goes to the listener. */
  expect(listener: (stored: Stored) => void): { reply: string; forget(): void };
}

/** Hears every PubAck of this process on one subscription. */
export function openAcks({ nc }: Connection): Acks {
  const inbox = createInbox();
  const waiting = new Map<string, (stored: Stored) => void>();
  let count = 0;
  nc.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (!error) waiting.get(message.subject)?.(read(message));
    },
  });
  return {
    expect(listener) {
      const reply = `${inbox}.${(count += 1)}`;
      waiting.set(reply, listener);
      return { reply, forget: () => waiting.delete(reply) };
    },
  };
}

function read(message: Msg): Stored {
  if (message.headers?.code === 503) return "no_responders";
  const text = message.string();
  if (!text.includes('"error"')) return "stored";
  const { error } = JSON.parse(text) as { error: { err_code?: number; description?: string } };
  return { refused: `${error.description ?? "refused"} (${error.err_code ?? "no code"})` };
}
