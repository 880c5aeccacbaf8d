import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

const Id = z.object({ erasure_id: z.uuid() });

/** What an erasure deletes, each kind with the event that is the deletion of one. */
export const ERASED = {
  threads: "ThreadDeleted",
  files: "FileDeleted",
  runs: "RunForgotten",
  documents: "DocumentDeleted",
  extractions: "ExtractionDeleted",
} as const;
export type ErasedKind = keyof typeof ERASED;
export const ERASED_KINDS = Object.keys(ERASED) as [ErasedKind, ...ErasedKind[]];
export type ErasedCounts = Record<ErasedKind, number>;
export const NOTHING_ERASED: ErasedCounts = { threads: 0, files: 0, runs: 0, documents: 0, extractions: 0 };

/** A command has 256 KiB at most, and a scope 43 characters. */
export const MAX_ERASED_SCOPES = 4_000;
/** The same command has their ids. */
export const MAX_ERASED_DOCUMENTS = 1_000;
const Start = Id.extend({
  /** `key:<id>`, `person:<id>` or `agent:<id>`, which may be deleted; or `user:` and a mark of an external user, which tells nothing. */
  owner: z.string(),
  /** Of an external user: the owners of threads and files behind the value, and `run:<id>` of runs that have no mark of it. */
  scopes: z.array(z.string()).max(MAX_ERASED_SCOPES).optional(),
  /** Of an external user: documents (ids) that only this user may read. */
  documents: z.array(z.uuid()).max(MAX_ERASED_DOCUMENTS).optional(),
  /** Absent: threads and files, as releases before this field erased. */
  kinds: z.array(z.enum(ERASED_KINDS)).optional(),
});
const Count = z.int().nonnegative();
const Counts = z.object({
  threads: Count,
  files: Count,
  /** These are absent in events of older releases. */
  runs: Count.optional(),
  documents: Count.optional(),
  extractions: Count.optional(),
});
const Progress = Id.extend(Counts.shape);

const Kinds = z.array(z.enum(ERASED_KINDS)).min(1);
/**
 * Deletes everything that an owner has until now. A type of its own: processes of releases before `kinds` know StartErasure, would
 * drop the field and delete something else. They leave this one to others (docs/adr/0092-a-field-that-must-not-be-dropped-is-a-new-command.md).
 */
export const EraseOwner = defineCommand("EraseOwner", "erasure", Start.extend({ kinds: Kinds }));
/** The same, as `http` processes of releases before EraseOwner send it. */
export const StartErasure = defineCommand("StartErasure", "erasure", Start);
/** Records how many were deleted since the last time. */
export const AdvanceErasure = defineCommand("AdvanceErasure", "erasure", Progress);
/** `deleted`: how many deletions of this erasure the log has. What a killed process did not record is counted by it. */
export const CompleteErasure = defineCommand("CompleteErasure", "erasure", Id.extend({ deleted: Counts.optional() }));

export const ErasureStarted = defineEvent("ErasureStarted", { public: Start });
/** How many were deleted so far. */
export const ErasureAdvanced = defineEvent("ErasureAdvanced", { public: Progress });
export const ErasureCompleted = defineEvent("ErasureCompleted", { public: Id });

export type ErasureCommand = CommandsIn<typeof import("./erasure.ts")>;
export type ErasureEvent = EventsIn<typeof import("./erasure.ts")>;
