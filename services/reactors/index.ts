import type { PublicEvent } from "#events/ports.ts";
import { alertOnBudget } from "./alertOnBudget.ts";
import { attendAtOnce } from "./attendAtOnce.ts";
import { attendOnNoRoom } from "./attendOnNoRoom.ts";
import { deleteBlobsOnForgotten } from "./deleteBlobsOnForgotten.ts";
import { deleteUnusedBlobsOnIndexed } from "./deleteUnusedBlobsOnIndexed.ts";
import type { Reactor } from "./reactor.ts";
import { resumeRunAfterTurn } from "./resumeRunAfterTurn.ts";

/** The reactors of each event type. */
export const reactors: Record<string, Reactor[]> = {
  TurnStarted: [attendOnNoRoom],
  RunCreated: [attendOnNoRoom],
  ApprovalDecided: [attendOnNoRoom],
  TurnResumed: [attendOnNoRoom],
  WaitAnswered: [attendOnNoRoom],
  TurnCompleted: [resumeRunAfterTurn],
  TurnFailed: [resumeRunAfterTurn],
  TurnStopped: [resumeRunAfterTurn],
  TurnRefused: [deleteBlobsOnForgotten, resumeRunAfterTurn],
  TurnDeleted: [deleteBlobsOnForgotten],
  ThreadDeleted: [deleteBlobsOnForgotten],
  FileDeleted: [deleteBlobsOnForgotten],
  AgentDeleted: [attendAtOnce],
  CollectionDeleted: [attendAtOnce],
  SourceDeleted: [attendAtOnce],
  ErasureStarted: [attendAtOnce],
  RetentionSet: [attendAtOnce],
  DocumentIndexed: [deleteUnusedBlobsOnIndexed],
  PassagesEmbedded: [deleteUnusedBlobsOnIndexed],
  DocumentDeleted: [deleteBlobsOnForgotten],
  ExtractionDeleted: [deleteBlobsOnForgotten],
  ExtractionExpired: [deleteBlobsOnForgotten],
  MessageDelivered: [deleteBlobsOnForgotten],
  RunForgotten: [deleteBlobsOnForgotten],
  BudgetReached: [alertOnBudget],
};

/** Whether a reactor has work to do for an event. */
export const hasReaction = (event: PublicEvent): boolean =>
  (reactors[event.type] ?? []).some((reactor) => !reactor.skips?.(event));
