import { blobFolder, streamName } from "#events/ids.ts";
import type { Reactor } from "./reactor.ts";

/** The event destroyed the data key of the blobs. This deletes the sealed bytes as well. */
export const deleteBlobsOnForgotten: Reactor = {
  async react({ event, blobs }) {
    const turn: string | undefined = event.data.turn_id;
    const things = [event.stream, ...(turn ? [streamName("turn", turn)] : [])];
    await blobs.removeAll(blobFolder(event.organization_id, ...things));
  },
};

/** Deletes text and passages of superseded generations, and vectors of another model. */
export const deleteUnusedBlobsOnIndexed: Reactor = {
  skips: (event) => event.data.unused.length === 0,
  async react({ event, blobs }) {
    for (const key of event.data.unused as string[]) await blobs.remove(key);
  },
};
