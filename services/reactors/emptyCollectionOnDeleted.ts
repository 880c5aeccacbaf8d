import type { Reactor } from "./reactor.ts";

/** Its documents are deleted at once; the sweep goes on where this was cut off. */
export const emptyCollectionOnDeleted: Reactor = {
  async react({ event, log, attend }) {
    const head = (await log.heads([event.stream])).get(event.stream);
    if (head?.status) await attend(head);
  },
};
