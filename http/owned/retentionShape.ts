import { z } from "zod";
import type { RetentionRules } from "#events/retention.ts";
import type { ThingCount } from "#projections/thingCounts.ts";
import type { RetentionRow } from "#projections/retention/query.ts";

const KEEP = /^[1-9]\d{0,4}d$/;
const WANTED = 'must be a number of days such as "30d", at most "36500d"';
const MAX_DAYS = 36_500;
const keep = (since: string) =>
  z
    .string(WANTED)
    .refine((text) => KEEP.test(text) && Number.parseInt(text) <= MAX_DAYS, WANTED)
    .nullish()
    .describe(`Days such as \`30d\`, counted from ${since}. Default: kept.`);

export const RetentionToSet = z.strictObject({
  threads: keep("the end of a thread's last turn"),
  turns: keep("the end of a turn, whose texts go also where its thread goes on"),
  files: keep("the upload of a file"),
  documents: keep("the last change of a document; of a project, those that its keys have uploaded"),
  runs: keep("the end of a run, which goes with its approvals and threads"),
});

const kept = z.string().nullable();
export const Retention = z
  .object({
    subject: z.string(),
    threads: kept,
    turns: kept,
    files: kept,
    documents: kept,
    runs: kept,
    deleted: z
      .object({ threads: z.int(), turns: z.int(), files: z.int(), documents: z.int(), runs: z.int() })
      .describe(
        "By all rules that the subject ever had. A process that is killed may leave up to 250 deletions uncounted; the log has each.",
      ),
    next_round_at: z.iso.datetime().describe("When what is too old is looked for again."),
    last_round_at: z.iso.datetime().nullable(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Retention" });

export const ExpiredCount = z.object({
  count: z.int(),
  oldest: z.iso.datetime().nullable().describe("When the oldest of them was created."),
});
const Going = z.object({
  threads: ExpiredCount,
  turns: ExpiredCount,
  files: ExpiredCount,
  documents: ExpiredCount,
  runs: ExpiredCount,
});
export const HeldCount = z.object({
  hold_id: z.string(),
  subject: z.string(),
  name: z.string(),
  kind: z.enum(["threads", "turns", "files", "documents", "runs"]),
  count: z.int(),
});
export const RetentionPreview = Going.extend({
  held: z.array(HeldCount).describe("What is old enough and stays because of a hold."),
}).meta({ title: "RetentionPreview" });

/** The periods that are set, in days. */
export function readRules(body: z.infer<typeof RetentionToSet>): RetentionRules {
  const set = Object.entries(body).flatMap(([kind, text]) => (text == null ? [] : [[kind, Number.parseInt(text)]]));
  return Object.fromEntries(set) as RetentionRules;
}

const days = (count: number | undefined): string | null => (count === undefined ? null : `${count}d`);

export const presentRetention = (row: RetentionRow): z.infer<typeof Retention> => ({
  subject: row.subject,
  threads: days(row.rules.threads),
  turns: days(row.rules.turns),
  files: days(row.rules.files),
  documents: days(row.rules.documents),
  runs: days(row.rules.runs),
  deleted: row.deleted,
  next_round_at: row.next_round_at.toISOString(),
  last_round_at: row.last_round_at?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

export const presentCount = ({ count, oldest }: ThingCount) => ({ count, oldest: oldest?.toISOString() ?? null });

export const presentPreview = (counts: Record<keyof RetentionRules, ThingCount>): z.infer<typeof Going> => ({
  threads: presentCount(counts.threads),
  turns: presentCount(counts.turns),
  files: presentCount(counts.files),
  documents: presentCount(counts.documents),
  runs: presentCount(counts.runs),
});
