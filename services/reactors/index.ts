import type { PublicEvent } from "#events/ports.ts";
import { attendOnNoRoom } from "./attendOnNoRoom.ts";
import { deleteBlobsOnForgotten } from "./deleteBlobsOnForgotten.ts";
import { deleteUnusedBlobsOnIndexed } from "./deleteUnusedBlobsOnIndexed.ts";
import { emptyCollectionOnDeleted } from "./emptyCollectionOnDeleted.ts";
import type { Reactor } from "./reactor.ts";

/** What happens because of an event, by event type. */
export const reactors: Record<string, Reactor[]> = {
  TurnStarted: [attendOnNoRoom],
  RunCreated: [attendOnNoRoom],
  ApprovalDecided: [attendOnNoRoom],
  TurnRefused: [deleteBlobsOnForgotten],
  TurnDeleted: [deleteBlobsOnForgotten],
  ThreadDeleted: [deleteBlobsOnForgotten],
  FileDeleted: [deleteBlobsOnForgotten],
  CollectionDeleted: [emptyCollectionOnDeleted],
  DocumentIndexed: [deleteUnusedBlobsOnIndexed],
  DocumentDeleted: [deleteBlobsOnForgotten],
  ExtractionDeleted: [deleteBlobsOnForgotten],
  ExtractionExpired: [deleteBlobsOnForgotten],
  RunForgotten: [deleteBlobsOnForgotten],
};

/** Whether an event calls for anybody. */
export const wakes = (event: PublicEvent): boolean =>
  (reactors[event.type] ?? []).some((reactor) => !reactor.skips?.(event));
