import type { Decider } from "#events/decider.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { createSizedCache } from "#events/sizedCache.ts";
import { createPause } from "#events/slices.ts";
import { createFold } from "./deciders/records.ts";
import { estimateSize } from "./estimateSize.ts";

export interface StreamState {
  version: number;
  state: any;
  /** The state comes from this process's memory. Another process may have appended since. */
  remembered?: boolean;
}

/**
 * Streams whose state a process remembers, and their size together: a run with a thousand waits may have millions. The organization
 * that has the most makes room.
 */
const REMEMBERED = { entries: 20_000, size: 64 * 1024 * 1024 };

/** The state from a head row; folded again from the events if another version of the decider wrote the row. */
export async function readState(
  log: Pick<EventLog, "read">,
  head: StreamHead,
  decider: Decider<any, any, any>,
): Promise<StreamState> {
  if (head.state_version === decider.version)
    return { version: head.version, state: decider.stored?.read(head.state) ?? head.state };
  const events = await log.read(head.stream);
  return { version: events.length, state: await foldEvents(decider, events) };
}

/** Lets other work run in between, because there may be 70,000 events. */
async function foldEvents(decider: Decider<any, any, any>, events: readonly RecordedEvent[]): Promise<unknown> {
  let state: unknown = decider.initial;
  const [fold, pause] = [createFold(), createPause()];
  for (const event of events) {
    const before = state;
    state = fold(() => decider.evolve(before, event));
    const turn = pause();
    if (turn) await turn;
  }
  return state;
}

/** The head of a stream; undefined if the stream does not exist. */
export const findHead = async (log: Pick<EventLog, "heads">, stream: string): Promise<StreamHead | undefined> =>
  (await log.heads([stream])).get(stream);

/** The newest state of a stream; the initial one if the stream does not exist. */
export async function findState<State>(
  log: Pick<EventLog, "heads" | "read">,
  stream: string,
  decider: Decider<State, any, any>,
): Promise<State> {
  const head = await findHead(log, stream);
  return head ? ((await readState(log, head, decider)).state as State) : decider.initial;
}

export interface StreamStates {
  load(stream: string, decider: Decider<any, any, any>, options: { fresh: boolean }): Promise<StreamState>;
  /** `organization_id`: the organization of the stream. */
  remember(stream: string, state: StreamState, organization_id: string): void;
  forget(stream: string): void;
}

/** Folded states of streams, from memory or else from the head row. Loading costs one row, however long the stream is. */
export function streamStates(log: Pick<EventLog, "heads" | "read">, limits = REMEMBERED): StreamStates {
  const states = createSizedCache<StreamState>(limits);
  return {
    async load(stream, decider, { fresh }) {
      const remembered = states.find(stream);
      if (remembered) return { ...remembered, remembered: true };
      // A fresh stream is assumed to be empty. If it exists, the append conflicts.
      if (fresh) return { version: 0, state: decider.initial, remembered: true };
      const head = await findHead(log, stream);
      return head ? readState(log, head, decider) : { version: 0, state: decider.initial };
    },
    remember: (stream, state, organization_id) => states.set(stream, state, estimateSize(state.state), organization_id),
    forget: states.forget,
  };
}
