import { streamName } from "#events/ids.ts";
import { findHead } from "../states.ts";
import type { Reactor } from "./reactor.ts";

/** Makes the run that waits for a turn look at its end. Redelivered if interrupted. */
export const resumeRunAfterTurn: Reactor = {
  skips: ({ data }) => data.awaited_by === undefined,
  async react({ event, log, resumeWork }) {
    const stream = streamName("run", event.data.awaited_by as string);
    const head = await findHead(log, stream);
    if (head?.status) await resumeWork(head);
  },
};
