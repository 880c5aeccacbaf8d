import { z } from "zod";
import { GONE_RULES, PAGE_RESULTS, SOURCE_KINDS } from "#events/source.ts";
import type { SourcePage } from "#projections/sources/pages.ts";
import type { SourceRow } from "#projections/sources/query.ts";
import { presentRule, ScheduleInput, ScheduleOutput } from "../base/scheduleRule.ts";
import type { FieldCodes } from "../base/validate.ts";

const MAX_PAGES = 5_000;
const DEFAULT_PAGES = 500;
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 200;
const MAX_URL_LENGTH = 2_048;

const patterns = z
  .array(
    z
      .string("must be a string")
      .max(MAX_PATTERN_LENGTH, `must have ${MAX_PATTERN_LENGTH} characters at most`)
      .regex(/^[/*]/, "must begin with / or *"),
    "must be an array of patterns",
  )
  .max(MAX_PATTERNS, `must have ${MAX_PATTERNS} items at most`);
const include = patterns.describe(
  "Paths of the pages that are read, as patterns of robots.txt: `/docs/`, `/*.html$`. Empty: all.",
);
const exclude = patterns.describe("Paths of pages that are not read.");
const max_pages = z
  .int("must be a whole number")
  .min(1, "must be 1 at least")
  .max(MAX_PAGES, `must be ${MAX_PAGES} at most`)
  .describe("Pages that a read visits at most.");
const when_gone = z
  .enum(GONE_RULES, `must be ${GONE_RULES.join(" or ")}`)
  .describe("Whether the document of a page that is gone is deleted or kept.");
const schedule = ScheduleInput.nullish().describe("When it is read again; null: only when somebody asks for it.");

export const CreateSourceBody = z.strictObject({
  kind: z.enum(SOURCE_KINDS, "must be url or sitemap").describe("`url`: one page. `sitemap`: the pages that it lists."),
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .max(MAX_URL_LENGTH, `must have ${MAX_URL_LENGTH} characters at most`)
    .refine(
      (url) => URL.parse(url)?.username === "" && URL.parse(url)?.password === "",
      "must have no user and password",
    )
    .describe("A public address."),
  schedule,
  include: include.default([]),
  exclude: exclude.default([]),
  max_pages: max_pages.default(DEFAULT_PAGES),
  when_gone: when_gone.default("delete"),
});
export const ChangeSourceBody = z
  .strictObject({
    schedule,
    include,
    exclude,
    max_pages,
    when_gone,
    paused: z.boolean("must be true or false").describe("A pause also ends the read under way."),
  })
  .partial();
export const SOURCE_CODES: FieldCodes = [[/^schedule/, "invalid_schedule"]];

const count = z.int();
/** Source (docs/documents.md). */
export const Source = z
  .object({
    id: z.string(),
    collection_id: z.string(),
    kind: z.enum(SOURCE_KINDS),
    url: z.string(),
    schedule: ScheduleOutput.nullable().describe("Null: it is read only when somebody asks for it."),
    include,
    exclude,
    max_pages,
    when_gone,
    paused: z.boolean(),
    next_at: z.iso.datetime().nullable().describe("When it is read next by its schedule."),
    last_read: z
      .object({
        read: z.int().describe("1, 2, 3 …"),
        status: z.enum(["reading", "ended", "stopped"]).describe("`stopped`: by a pause."),
        started_at: z.iso.datetime(),
        ended_at: z.iso.datetime().nullable(),
        listed: count.nullable().describe("Pages that it visits; null until they are known."),
        pages: z
          .object({ new: count, changed: count, same: count, failed: count, gone: count, removed: count })
          .describe("Pages so far, by their results."),
        error: z.string().nullable().describe("Why not all pages could be read."),
      })
      .describe("The read under way, or the last one."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Source" });

export const PageOfSource = z
  .object({
    url: z.string(),
    result: z
      .enum(PAGE_RESULTS)
      .describe("Of the last read that visited it. `gone`: its document is kept; `removed`: it was deleted."),
    error: z.string().nullable().describe("Why it failed. The document keeps what it had."),
    document_id: z.string().nullable(),
    read: z.int().describe("The number of that read."),
    checked_at: z.iso.datetime(),
    changed_at: z.iso.datetime().nullable().describe("When its content was last new."),
  })
  .meta({ title: "PageOfSource" });

function readStatus({ reading, ended_at }: Pick<SourceRow, "reading" | "ended_at">): "reading" | "ended" | "stopped" {
  if (reading) return "reading";
  return ended_at === null ? "stopped" : "ended";
}

export function presentSource(row: SourceRow): z.infer<typeof Source> {
  const { rule, next_at, created_at, updated_at, ...rest } = row;
  const { read, reading, started_at, ended_at, listed, pages, error, ...settings } = rest;
  return {
    ...settings,
    schedule: rule && presentRule(rule),
    next_at: row.paused ? null : (next_at?.toISOString() ?? null),
    last_read: {
      read,
      status: readStatus({ reading, ended_at }),
      started_at: started_at.toISOString(),
      ended_at: ended_at?.toISOString() ?? null,
      listed,
      pages,
      error,
    },
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

export const presentPage = (row: SourcePage): z.infer<typeof PageOfSource> => {
  const { url, result, error, document_id, read, checked_at, changed_at } = row;
  const changed = changed_at?.toISOString() ?? null;
  return { url, result, error, document_id, read, checked_at: checked_at.toISOString(), changed_at: changed };
};
