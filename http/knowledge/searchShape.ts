import { z } from "zod";
import type { SearchResult } from "#projections/passages/groupHits.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_COLLECTIONS } from "../base/limits.ts";
import type { FieldCodes } from "../base/validate.ts";
import { UserQuery } from "./documentShape.ts";
import { SearchFilter } from "./searchFilter.ts";
import { presentWarnings, Warnings } from "../base/warningShape.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 100;
/** Passages on later pages are not read, because each page would take more than a second. */
const MAX_OFFSET = 10_000;

/** A search repeats these values in up to fifty filters: 100,000 tags in a body of 1 MiB became 200 MB. */
const MAX_TAGS = 1_000;
const MAX_IDS = 5_000;

const strings = (max: number) =>
  z
    .array(z.string("must be a string"), "must be an array of strings")
    .max(max, `must have ${max.toLocaleString("en")} items at most`)
    .nullish();
const whole = () => z.int("must be a whole number").nullish();
const required = "is required";

/** Search body (spec: Knowledge API). */
export const SearchRequest = z
  .object(
    {
      query: z
        .string({ error: ({ input }) => (input === undefined || input === null ? required : "must be a string") })
        .refine((text) => /\S/.test(text), required)
        .describe(
          'A question or words. `"words in quotes"` must occur as they are, `-word` and `-"words in quotes"` must not.',
        ),
      collections: strings(MAX_COLLECTIONS).describe(
        `Slugs or display names in any case, at most ${MAX_COLLECTIONS}. Absent or empty: every collection.`,
      ),
      document_ids: strings(MAX_IDS).describe(`Only these documents; at most ${MAX_IDS}.`),
      tags: strings(MAX_TAGS).describe(`Only documents with one of these tags; at most ${MAX_TAGS}.`),
      filter: SearchFilter.nullish(),
      user: UserQuery.shape.user.nullish(),
      group_by: z
        .literal("document", 'must be "document"')
        .nullish()
        .describe(
          "`document`: each document once, with its best passage and the number of the others. `limit` and `offset` count documents then.",
        ),
      highlights: z.boolean("must be a boolean").nullish().describe("Whether passages say where the words are."),
      limit: whole().describe(`Number of passages, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}.`),
      offset: whole().describe(
        `Passages to skip. More than ${MAX_OFFSET.toLocaleString("en")} are refused, unless the search finds no more than that.`,
      ),
    },
    "must be an object with a query",
  )
  .meta({ title: "SearchRequest" });
export type SearchRequest = z.infer<typeof SearchRequest>;

export const SEARCH_CODES: FieldCodes = [[/^(query)?$/, "missing_query", /(is required|with a query)\.$/]];

/**
 * The window to search for one that may begin beyond MAX_OFFSET. If the search then finds nothing there, it finds nothing later
 * either.
 */
export const reachableWindow = <W extends { offset: number }>(window: W): W => ({
  ...window,
  offset: Math.min(window.offset, MAX_OFFSET),
});

/** Throws a 400 if the reachable window has results, but the one that was asked for begins later. */
export function requireReachable({ offset }: { offset: number }, results: unknown[]): void {
  if (offset <= MAX_OFFSET || results.length === 0) return;
  const most = MAX_OFFSET.toLocaleString("en");
  throw new ApiError(null, `offset: must be ${most} at most; ask for fewer with more words or a filter.`, {
    param: "offset",
  });
}

/** Values out of range are corrected. */
export const readWindow = ({ limit, offset }: Pick<SearchRequest, "limit" | "offset">) => ({
  limit: Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT)),
  offset: Math.max(0, offset ?? 0),
});

/** Search response (spec: Knowledge resources). */
export const SearchResponse = z
  .object({
    query: z.string(),
    results: z.array(
      z.object({
        document: z.object({
          id: z.string(),
          name: z.string(),
          collection_id: z.string(),
          collection: z.string().describe("Display name."),
          version: z.int().describe("Names this text of the document for ever: 1, or more after changes."),
          warnings: Warnings.optional(),
        }),
        score: z.number().describe("Score of its best passage. Comparable within one response only."),
        passages: z.array(
          z.object({
            seq: z.int(),
            page: z.int().optional(),
            section: z.string().optional(),
            reference: z.string().describe("The full citation, ready to print."),
            score: z.number(),
            table_header: z
              .string()
              .optional()
              .describe("The header, in Markdown, of the table whose rows `content` continues; not part of `content`."),
            content: z.string(),
            start: z
              .int()
              .optional()
              .describe(
                "Where `content` begins in the Markdown of this version, in UTF-16 code units. Absent while the index is rebuilt after an update.",
              ),
            end: z.int().optional(),
            highlights: z
              .array(
                z.object({
                  start: z.int(),
                  end: z.int(),
                  document_start: z.int().optional().describe("The same place in the Markdown of this version."),
                  document_end: z.int().optional(),
                }),
              )
              .optional()
              .describe("Places of the query's words in `content`, half open, in UTF-16 code units."),
          }),
        ),
        more_passages: z
          .int()
          .optional()
          .describe("With `group_by`: further passages of the document among the 1,000 best ones of the search."),
      }),
    ),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
    degraded: z
      .array(
        z.object({
          part: z.enum(["embeddings", "reranking"]),
          message: z.string().describe("Why the endpoint did not help."),
        }),
      )
      .optional()
      .describe(
        "Endpoints of the organization that did not help this time, also named in the header `x-svc-search-degraded`. Words found what is here.",
      ),
  })
  .meta({ title: "SearchResponse" });

type Group = z.infer<typeof SearchResponse>["results"][number];

type Highlights = SearchResult["passages"][number]["highlights"];

const presentHighlights = (highlights: NonNullable<Highlights>, contentStart: number | undefined) =>
  highlights.map(({ start, end }) => ({
    start,
    end,
    ...(contentStart !== undefined && { document_start: contentStart + start, document_end: contentStart + end }),
  }));

/** Fields without a value are left out. */
export const presentGroup = ({
  document: { warnings, ...document },
  score,
  passages,
  more_passages,
}: SearchResult): Group => ({
  document: { ...document, ...presentWarnings(warnings) },
  score,
  ...(more_passages !== undefined && { more_passages }),
  passages: passages.map(({ seq, page, section, reference, score, table_header, content, start, end, highlights }) => ({
    seq,
    ...(page !== null && { page }),
    ...(section !== null && { section }),
    reference,
    score,
    ...(table_header !== undefined && { table_header }),
    content,
    ...(start !== undefined && { start, end }),
    ...(highlights && { highlights: presentHighlights(highlights, start) }),
  })),
});
