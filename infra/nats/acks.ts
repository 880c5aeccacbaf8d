import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";

/** `stored`: the message's sequence number in the stream. */
export type PubAck = { stored: number } | "no_responders" | { refused: string };

export interface Acks {
  /** Creates a reply subject. The listener gets the PubAck that arrives on it. */
  expect(listener: (ack: PubAck) => void): { reply: string; stop(): void };
}

/** Receives every PubAck of this process on one subscription. */
export function openAcks({ nc, inboxPrefix }: Connection): Acks {
  const inbox = createInbox(inboxPrefix);
  const listeners = new Map<string, (ack: PubAck) => void>();
  let count = 0;
  nc.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (!error) listeners.get(message.subject)?.(readAck(message));
    },
  });
  return {
    expect(listener) {
      const reply = `${inbox}.${(count += 1)}`;
      listeners.set(reply, listener);
      return { reply, stop: () => listeners.delete(reply) };
    },
  };
}

function readAck(message: Msg): PubAck {
  if (message.headers?.code === 503) return "no_responders";
  const text = message.string();
  const { error, seq } = JSON.parse(text) as { error?: { err_code?: number; description?: string }; seq: number };
  if (!error) return { stored: seq };
  return { refused: `${error.description ?? "refused"} (${error.err_code ?? "no code"})` };
}
