import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

const Id = z.object({ erasure_id: z.uuid() });

/** The kinds of things an erasure deletes, each with the event that records one deletion. */
export const ERASURE_EVENTS = {
  threads: "ThreadDeleted",
  files: "FileDeleted",
  runs: "RunForgotten",
  documents: "DocumentDeleted",
  extractions: "ExtractionDeleted",
} as const;
export type ErasedKind = keyof typeof ERASURE_EVENTS;
export const ERASED_KINDS = Object.keys(ERASURE_EVENTS) as [ErasedKind, ...ErasedKind[]];
export type ErasedCounts = Record<ErasedKind, number>;
export const NOTHING_ERASED: ErasedCounts = { threads: 0, files: 0, runs: 0, documents: 0, extractions: 0 };

/** A command has at most 256 KiB, and a scope 43 characters. */
export const MAX_ERASED_SCOPES = 4_000;
/** Their ids are in the same command as the scopes. */
export const MAX_ERASED_DOCUMENTS = 1_000;
const Start = Id.extend({
  /**
   * `key:<id>`, `person:<id>` or `agent:<id>`, which may be deleted already; or `user:<mark>`, where the mark is a keyed hash of
   * the external user.
   */
  owner: z.string(),
  /** For an external user: the owners of this user's threads and files, and `run:<id>` for runs that do not carry the user's mark. */
  scopes: z.array(z.string()).max(MAX_ERASED_SCOPES).optional(),
  /** For an external user: ids of documents that only this user may read. */
  documents: z.array(z.uuid()).max(MAX_ERASED_DOCUMENTS).optional(),
  /** Absent: threads and files only, as in releases before this field. */
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
 * Deletes everything that an owner has created so far. This is a command type of its own because processes of releases before
 * `kinds` know StartErasure, would drop the field and delete the wrong things. They leave this type to newer processes
 * (docs/adr/0092-a-field-that-must-not-be-dropped-is-a-new-command.md).
 */
export const EraseOwner = defineCommand("EraseOwner", "erasure", Start.extend({ kinds: Kinds }));
/** EraseOwner without `kinds`, as `http` processes of earlier releases send it. */
export const StartErasure = defineCommand("StartErasure", "erasure", Start);
/** Adds the number of things deleted since the last AdvanceErasure. */
export const AdvanceErasure = defineCommand("AdvanceErasure", "erasure", Progress);
/** `deleted`: the number of deletions by this erasure that the log holds, which includes those that a killed process did not report. */
export const CompleteErasure = defineCommand("CompleteErasure", "erasure", Id.extend({ deleted: Counts.optional() }));

export const ErasureStarted = defineEvent("ErasureStarted", { public: Start });
/** Counts of everything deleted so far. */
export const ErasureAdvanced = defineEvent("ErasureAdvanced", { public: Progress });
export const ErasureCompleted = defineEvent("ErasureCompleted", { public: Id });

export type ErasureCommand = CommandsIn<typeof import("./erasure.ts")>;
export type ErasureEvent = EventsIn<typeof import("./erasure.ts")>;
