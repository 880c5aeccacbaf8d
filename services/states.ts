import type { Decider } from "#events/decider.ts";
import type { EventLog } from "#events/ports.ts";

export interface StreamState {
  version: number;
  state: any;
  /** It came from this process's memory, and another process may have gone on since. */
  remembered?: boolean;
}

const KEPT = 20_000;

/**
 * Folded states of streams: from memory, else from the stream's head row, else folded from its events
 * (when the row was written by a decider of another version). Loading costs one row, however long the stream is.
 */
export function streamStates(log: Pick<EventLog, "heads" | "read">) {
  const kept = new Map<string, StreamState>();

  const fold = async (stream: string, decider: Decider<any, any, any>): Promise<StreamState> => {
    const events = await log.read(stream);
    return {
      version: events.length,
      state: events.reduce((state, event) => decider.evolve(state, event), decider.initial),
    };
  };

  return {
    async load(stream: string, decider: Decider<any, any, any>, { fresh }: { fresh: boolean }): Promise<StreamState> {
      const remembered = kept.get(stream);
      if (remembered) return { ...remembered, remembered: true };
      // A fresh stream is taken for empty without looking; should it exist, the append says so.
      if (fresh) return { version: 0, state: decider.initial, remembered: true };
      const head = (await log.heads([stream])).get(stream);
      if (!head) return { version: 0, state: decider.initial };
      return head.state_version === decider.version
        ? { version: head.version, state: head.state }
        : fold(stream, decider);
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
