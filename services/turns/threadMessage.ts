import type { Message } from "#events/thread.ts";

/** A message of a thread with attachments that are not loaded yet. */
export interface ThreadMessage extends Message {
  turn_id: string;
  /** Of a message with attachments: the provider that accepted them and answered. */
  taken_by?: string;
  /** Of an answer with calls: its provider's own data, returned only to that provider. */
  opaque?: { provider: string; data: unknown };
}

export const providerOf = (model: string): string => model.slice(0, model.indexOf("/"));
