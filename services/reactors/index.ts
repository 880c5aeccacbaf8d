import type { PublicEvent } from "#events/ports.ts";
import { deleteBlobsOnForgotten } from "./deleteBlobsOnForgotten.ts";
import { deleteUnusedBlobsOnIndexed } from "./deleteUnusedBlobsOnIndexed.ts";
import { emptyCollectionOnDeleted } from "./emptyCollectionOnDeleted.ts";
import type { Reactor } from "./reactor.ts";
import { runTurnOnStarted } from "./runTurnOnStarted.ts";

/** What happens because of an event, by event type. */
export const reactors: Record<string, Reactor[]> = {
  TurnStarted: [runTurnOnStarted],
  TurnRefused: [deleteBlobsOnForgotten],
  TurnDeleted: [deleteBlobsOnForgotten],
  ThreadDeleted: [deleteBlobsOnForgotten],
  FileDeleted: [deleteBlobsOnForgotten],
  CollectionDeleted: [emptyCollectionOnDeleted],
  DocumentIndexed: [deleteUnusedBlobsOnIndexed],
  DocumentDeleted: [deleteBlobsOnForgotten],
  ExtractionDeleted: [deleteBlobsOnForgotten],
  ExtractionExpired: [deleteBlobsOnForgotten],
};

/** Whether an event calls for anybody. */
export const wakes = (event: PublicEvent): boolean =>
  (reactors[event.type] ?? []).some((reactor) => !reactor.skips?.(event));
