import { streamName } from "#events/ids.ts";
import { findHead } from "../states.ts";
import type { Reaction, Reactor } from "./reactor.ts";

/** `unassigned`: only work that no worker holds. */
async function resume({ log, resumeWork }: Reaction, stream: string, { unassigned = false } = {}): Promise<void> {
  const head = await findHead(log, stream);
  if (head?.status && (!unassigned || head.worker === null)) await resumeWork(head);
}

/** Starts a stream's open work at once, such as deleting the documents of a deleted collection. The sweep continues it if it is interrupted. */
export const startOpenWork: Reactor = {
  react: (reaction) => resume(reaction, reaction.event.stream),
};

/** Starts work committed by a process that had no room. A process with room has started it already. */
export const startUnassignedWork: Reactor = {
  skips: ({ data }) => data.worker !== null,
  react: (reaction) => resume(reaction, reaction.event.stream, { unassigned: true }),
};

/** Makes the run that waits for a turn look at its end. Redelivered if interrupted. */
export const resumeRunAfterTurn: Reactor = {
  skips: ({ data }) => data.awaited_by === undefined,
  react: (reaction) => resume(reaction, streamName("run", reaction.event.data.awaited_by as string)),
};
