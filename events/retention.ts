import { z } from "zod";
import { deriveId, streamName } from "./ids.ts";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

/** What a rule applies to: `organization`, or `project:<id>`. */
export const RETENTION_SUBJECT = /^(organization|project:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const Subject = z.object({ subject: z.string().regex(RETENTION_SUBJECT) });

/** Each subject has one stream, so the id is derived from it. */
export const retentionStream = (organization: string, subject: string): string =>
  streamName("retention", deriveId("retention", organization, subject));

/** Days after which things are deleted; absent: kept forever. */
const Days = z.int().min(1).max(36_500).optional();
export const RetentionRules = z.object({ threads: Days, turns: Days, files: Days, documents: Days, runs: Days });
export type RetentionRules = z.infer<typeof RetentionRules>;

const Counts = z.object({
  threads: z.int().nonnegative(),
  files: z.int().nonnegative(),
  documents: z.int().nonnegative(),
  /** Absent: recorded before runs had rules. */
  runs: z.int().nonnegative().optional(),
  /** Absent: recorded before turns had rules. */
  turns: z.int().nonnegative().optional(),
});
export type RetentionCounts = z.infer<typeof Counts>;
/** Rises with each change of the rules and each round of deletions, so that a round can end only once. */
const Round = Subject.extend({ round: z.int().nonnegative() });

const Rules = Subject.extend({ rules: RetentionRules });
export const SetRetention = defineCommand("SetRetention", "retention", Rules);
export const RemoveRetention = defineCommand("RemoveRetention", "retention", Subject);
/** Adds the number of things deleted since the last AdvanceRetention. */
export const AdvanceRetention = defineCommand("AdvanceRetention", "retention", Subject.extend({ deleted: Counts }));
/** Records that nothing older than the rules allow is left. */
export const EndRetentionRound = defineCommand("EndRetentionRound", "retention", Round);

const DueAt = z.object({ due_at: z.iso.datetime() });
export const RetentionSet = defineEvent("RetentionSet", { public: Rules.extend(DueAt.shape) });
export const RetentionRemoved = defineEvent("RetentionRemoved", { public: Subject });
/** Counts of everything deleted so far under all rules the subject ever had. */
export const RetentionAdvanced = defineEvent("RetentionAdvanced", { public: Subject.extend({ deleted: Counts }) });
/** `due_at`: when the next round begins. */
export const RetentionRoundEnded = defineEvent("RetentionRoundEnded", { public: Round.extend(DueAt.shape) });

export type RetentionCommand = CommandsIn<typeof import("./retention.ts")>;
export type RetentionEvent = EventsIn<typeof import("./retention.ts")>;
