import { findHead } from "../states.ts";
import type { Reactor } from "./reactor.ts";

/** Starts a stream's open work at once, such as deleting the documents of a deleted collection. The sweep continues it if it is interrupted. */
export const startOpenWork: Reactor = {
  async react({ event, log, resumeWork }) {
    const head = await findHead(log, event.stream);
    if (head?.status) await resumeWork(head);
  },
};
