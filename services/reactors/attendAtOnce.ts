import { findHead } from "../states.ts";
import type { Reactor } from "./reactor.ts";

/** Starts the work that a stream has open, such as deleting the documents of a deleted collection. If it is interrupted, the sweep continues. */
export const attendAtOnce: Reactor = {
  async react({ event, log, attend }) {
    const head = await findHead(log, event.stream);
    if (head?.status) await attend(head);
  },
};
