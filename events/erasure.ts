import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

const Id = z.object({ erasure_id: z.uuid() });
/** `key:<id>`, `person:<id>` or `agent:<id>`; the owner may be deleted. */
const Start = Id.extend({ owner: z.string() });
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
