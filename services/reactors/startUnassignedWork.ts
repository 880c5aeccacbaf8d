import { findHead } from "../states.ts";
import type { Reactor } from "./reactor.ts";

/** Starts work committed by a process that had no room. A process with room has started it already. */
export const startUnassignedWork: Reactor = {
  skips: (event) => event.data.worker !== null,
  async react({ event, log, resumeWork }) {
    const head = await findHead(log, event.stream);
    if (head?.status && head.worker === null) await resumeWork(head);
  },
};
