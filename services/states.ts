import type { Decider } from "#events/decider.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";

export interface StreamState {
  version: number;
  state: any;
  /** It came from this process's memory, and another process may have gone on since. */
  remembered?: boolean;
}

const KEPT = 20_000;

/** The state that a head row stands for: the one it holds, or folded anew where a decider of another version wrote it. */
export async function stateOf(
  log: Pick<EventLog, "read">,
  head: StreamHead,
  decider: Decider<any, any, any>,
): Promise<StreamState> {
  if (head.state_version === decider.version) return { version: head.version, state: head.state };
  const events = await log.read(head.stream);
  const state = events.reduce((before, event) => decider.evolve(before, event), decider.initial);
  return { version: events.length, state };
}

/**
 * Folded states of streams: from memory, else from the stream's head row, else folded from its events
 * (when the row was written by a decider of another version). Loading costs one row, however long the stream is.
 */
export function streamStates(log: Pick<EventLog, "heads" | "read">) {
  const kept = new Map<string, StreamState>();

  return {
    async load(stream: string, decider: Decider<any, any, any>, { fresh }: { fresh: boolean }): Promise<StreamState> {
      const remembered = kept.get(stream);
      if (remembered) return { ...remembered, remembered: true };
      // A fresh stream is taken for empty without looking; should it exist, the append says so.
      if (fresh) return { version: 0, state: decider.initial, remembered: true };
      const head = (await log.heads([stream])).get(stream);
      return head ? stateOf(log, head, decider) : { version: 0, state: decider.initial };
    },
    remember(stream: string, state: StreamState): void {
      kept.delete(stream);
      kept.set(stream, state);
      if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    },
    forget(stream: string): void {
      kept.delete(stream);
    },
  };
}
