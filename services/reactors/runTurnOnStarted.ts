import type { Reactor } from "./reactor.ts";

/** A turn that found no room where it was committed; one that was committed with room is running already. */
export const runTurnOnStarted: Reactor = {
  skips: (event) => event.data.worker !== null,
  async react({ event, log, attend }) {
    const head = (await log.heads([event.stream])).get(event.stream);
    if (head?.status && head.worker === null) await attend(head);
  },
};
