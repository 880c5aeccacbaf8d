import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { collection } from "../deciders/collection.ts";
import { findHead, readState } from "../states.ts";

/** Whether the log holds the deletion of a collection. A document or a source may be created in it while it is being deleted. */
export async function wasCollectionDeleted(
  log: Pick<EventLog, "heads" | "read">,
  collection_id: string,
): Promise<boolean> {
  const stream = streamName("collection", collection_id);
  const head = await findHead(log, stream);
  return head !== undefined && (await readState(log, head, collection)).state.status !== "standing";
}
