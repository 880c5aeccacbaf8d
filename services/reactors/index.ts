import type { PublicEvent } from "#events/ports.ts";
import { alertOnBudget } from "./alertOnBudget.ts";
import { deleteBlobsOnForgotten, deleteUnusedBlobsOnIndexed } from "./deleteBlobs.ts";
import type { Reactor } from "./reactor.ts";
import { resumeRunAfterTurn, startOpenWork, startUnassignedWork } from "./startWork.ts";

/** The reactors of each event type. */
export const reactors: Record<string, Reactor[]> = {
  TurnStarted: [startUnassignedWork],
  RunCreated: [startUnassignedWork],
  ApprovalDecided: [startUnassignedWork],
  TurnResumed: [startUnassignedWork],
  WaitAnswered: [startUnassignedWork],
  TurnCompleted: [resumeRunAfterTurn],
  TurnFailed: [resumeRunAfterTurn],
  TurnStopped: [resumeRunAfterTurn],
  TurnRefused: [deleteBlobsOnForgotten, resumeRunAfterTurn],
  TurnDeleted: [deleteBlobsOnForgotten],
  ThreadDeleted: [deleteBlobsOnForgotten],
  FileDeleted: [deleteBlobsOnForgotten],
  AgentDeleted: [startOpenWork],
  CollectionDeleted: [startOpenWork],
  SourceDeleted: [startOpenWork],
  ErasureStarted: [startOpenWork],
  RetentionSet: [startOpenWork],
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
