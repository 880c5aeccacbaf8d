import { z } from "zod";
import type { SearchResult } from "#projections/passages/groups.ts";
import type { FieldCodes } from "../validate.ts";

const DEFAULT = 8;
const MOST = 100;
/** Nobody leafs so far; behind it each page would cost a second and more. */
const FARTHEST = 10_000;

/** Every one of them is in each of up to fifty filters; 100,000 tags made 200 MB of a body of 1 MiB. */
const MOST_NAMES = 1_000;
const MOST_IDS = 5_000;

const strings = (most: number) =>
  z
    .array(z.string("must be a string"), "must be an array of strings")
    .max(most, `must have ${most.toLocaleString("en")} items at most`)
    .nullish();
const whole = () => z.int("must be a whole number").nullish();
const required = "is required";

/** Search body (spec: Knowledge API). */
export const Search = z.object(
  {
    query: z
      .string({ error: ({ input }) => (input === undefined || input === null ? required : "must be a string") })
      .refine((text) => /\S/.test(text), required),
    collections: strings(MOST_NAMES).describe(
      `Slugs or display names, whatever their case, ${MOST_NAMES} at most; left out: every collection.`,
    ),
    document_ids: strings(MOST_IDS).describe(`Only these documents; ${MOST_IDS} at most.`),
    tags: strings(MOST_NAMES).describe(`Documents with any one of these tags; ${MOST_NAMES} at most.`),
    limit: whole().describe(`Passages; ${DEFAULT} by default, ${MOST} at most.`),
    offset: z
      .int("must be a whole number")
      .max(FARTHEST, `must be ${FARTHEST.toLocaleString("en")} at most`)
      .nullish()
      .describe(`Passages to skip, ${FARTHEST.toLocaleString("en")} at most.`),
  },
  "must be an object with a query",
);
export type Search = z.infer<typeof Search>;

export const SEARCH_CODES: FieldCodes = [[/^(query)?$/, "missing_query", /(is required|with a query)\.$/]];

/** Of passages; what is out of range is corrected. */
export const windowOf = ({ limit, offset }: Pick<Search, "limit" | "offset">) => ({
  limit: Math.min(MOST, Math.max(1, limit ?? DEFAULT)),
  offset: Math.max(0, offset ?? 0),
});

/** Search response (spec: Knowledge resources). */
export const Found = z.object({
  query: z.string(),
  results: z.array(
    z.object({
      document: z.object({
        id: z.string(),
        name: z.string(),
        collection_id: z.string(),
        collection: z.string().describe("Display name."),
      }),
      score: z.number().describe("Of its best passage; to be compared within one response."),
      passages: z.array(
        z.object({
          seq: z.int(),
          page: z.int().optional(),
          section: z.string().optional(),
          reference: z.string().describe("The whole citation, as it is printed."),
          score: z.number(),
          content: z.string(),
        }),
      ),
    }),
  ),
  limit: z.int(),
  offset: z.int(),
  has_more: z.boolean(),
});

type Group = z.infer<typeof Found>["results"][number];

/** A field with no value is left out. */
export const presentGroup = ({ document, score, passages }: SearchResult): Group => ({
  document,
  score,
  passages: passages.map(({ seq, page, section, reference, score, content }) => ({
    seq,
    ...(page !== null && { page }),
    ...(section !== null && { section }),
    reference,
    score,
    content,
  })),
});
