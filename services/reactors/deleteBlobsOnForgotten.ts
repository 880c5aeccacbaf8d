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
