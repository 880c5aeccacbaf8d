import type { Reactor } from "./reactor.ts";

/** Text and passages of earlier generations, which nobody finds any more. */
export const deleteUnusedBlobsOnIndexed: Reactor = {
  skips: (event) => event.data.unused.length === 0,
  async react({ event, blobs }) {
    for (const key of event.data.unused as string[]) await blobs.remove(key);
  },
};
