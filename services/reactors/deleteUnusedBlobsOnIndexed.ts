import type { Reactor } from "./reactor.ts";

/** Deletes text and passages of superseded generations, and vectors of another model. */
export const deleteUnusedBlobsOnIndexed: Reactor = {
  skips: (event) => event.data.unused.length === 0,
  async react({ event, blobs }) {
    for (const key of event.data.unused as string[]) await blobs.remove(key);
  },
};
