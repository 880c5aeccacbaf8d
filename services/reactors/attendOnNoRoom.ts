import type { Reactor } from "./reactor.ts";

/** Work that found no room where it was committed; what was committed with room is under way already. */
export const attendOnNoRoom: Reactor = {
  skips: (event) => event.data.worker !== null,
  async react({ event, log, attend }) {
    const head = (await log.heads([event.stream])).get(event.stream);
    if (head?.status && head.worker === null) await attend(head);
  },
};
