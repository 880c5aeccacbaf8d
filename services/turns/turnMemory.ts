import { createCapacity, type CapacityLimits } from "../sharing/capacity.ts";
import { createFairSemaphore } from "../sharing/fairSemaphore.ts";
import { ModelError } from "./model.ts";

/** UTF-16 units of text that the turns of a process hold at once: all of them, and those of one organization. */
export interface TurnShares {
  /** Prompts with the history before them. A turn waits for room. */
  conversations: CapacityLimits;
  /** What models and tools say. Nothing waits with an open connection, so what finds no room is cut. */
  answers: CapacityLimits;
}
const SHARES: TurnShares = {
  conversations: { total: 64_000_000, perTenant: 32_000_000 },
  answers: { total: 64_000_000, perTenant: 32_000_000 },
};
/** Of each turn, so much counts as nothing: a thousand of them fit. */
const FREE = 64 * 1024;

const NO_ROOM = "The turns of this organization hold too much text at once.";

/** What one turn holds. */
export interface TurnShare {
  /** Resolves when there is room for a conversation of this size, or for a smaller one after `keep`. */
  reserve(size: number, signal: AbortSignal): Promise<void>;
  /** The real size of the conversation, which is at most the reserved one. */
  keep(size: number): void;
  /** Counts what a model or a tool has said. Throws a ModelError when there is no room. */
  add(size: number): void;
  close(): void;
}

/** Bounds the text that running turns hold: a thousand may run, each with megabytes, for as long as their providers like. */
export function createTurnMemory({ conversations, answers }: TurnShares = SHARES) {
  const waiting = createFairSemaphore(conversations);
  const said = createCapacity(answers);
  return {
    open(organization: string): TurnShare {
      let [reserved, counted, heard] = [0, 0, 0];
      let isClosed = false;
      const keep = (size: number): void => {
        const kept = size <= FREE ? 0 : Math.min(size, reserved);
        if (kept < reserved) waiting.release(organization, reserved - kept);
        reserved = kept;
      };
      return {
        keep,
        async reserve(size, signal) {
          if (size <= FREE) return;
          const wanted = Math.min(size, conversations.perTenant);
          await waiting.acquire(organization, signal, wanted);
          // the turn may have failed meanwhile
          if (isClosed) waiting.release(organization, wanted);
          else reserved = wanted;
        },
        add(size) {
          heard += size;
          const more = Math.max(0, heard - FREE) - counted;
          if (more === 0) return;
          if (!said.hasRoom(organization, more)) throw new ModelError("cut", NO_ROOM);
          said.take(organization, more);
          counted += more;
        },
        close() {
          isClosed = true;
          keep(0);
          if (counted > 0) said.release(organization, counted);
          counted = 0;
        },
      };
    },
  };
}
export type TurnMemory = ReturnType<typeof createTurnMemory>;
