import { streamOf } from "#events/ids.ts";
import type { Reactor } from "./reactor.ts";

/** Their data key went with the event; now the sealed bytes go as well. */
export const deleteBlobsOnForgotten: Reactor = {
  async react({ event, blobs }) {
    const turn: string | undefined = event.data.turn_id;
    const folder = [event.organization_id, event.stream, ...(turn ? [streamOf("turn", turn)] : [])].join("/");
    await blobs.removeAll(folder);
  },
};
