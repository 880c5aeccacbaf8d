import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

const Id = z.object({ erasure_id: z.uuid() });
/** A command has 256 KiB at most, and a scope 43 characters. */
export const MAX_ERASED_SCOPES = 4_000;
const Start = Id.extend({
  /** `key:<id>`, `person:<id>` or `agent:<id>`, which may be deleted; or `user:` and a mark of an external user, which tells nothing. */
  owner: z.string(),
  /** Of an external user: the owners of threads and files behind the value. */
  scopes: z.array(z.string()).max(MAX_ERASED_SCOPES).optional(),
});
const Progress = Id.extend({ threads: z.int().nonnegative(), files: z.int().nonnegative() });

/** Deletes all threads and files that an owner has until now. */
export const StartErasure = defineCommand("StartErasure", "erasure", Start);
/** Records how many were deleted since the last time. */
export const AdvanceErasure = defineCommand("AdvanceErasure", "erasure", Progress);
export const CompleteErasure = defineCommand("CompleteErasure", "erasure", Id);

export const ErasureStarted = defineEvent("ErasureStarted", { public: Start });
/** How many were deleted so far. */
export const ErasureAdvanced = defineEvent("ErasureAdvanced", { public: Progress });
export const ErasureCompleted = defineEvent("ErasureCompleted", { public: Id });

export type ErasureCommand = CommandsIn<typeof import("./erasure.ts")>;
export type ErasureEvent = EventsIn<typeof import("./erasure.ts")>;
