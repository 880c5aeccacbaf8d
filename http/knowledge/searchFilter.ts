import { z } from "zod";
import { canonicalType, MEDIA_TYPES, typeFromFileName } from "#events/mediaTypes.ts";
import type { DocumentFilter } from "#projections/passages/engine.ts";
import { MAX_METADATA_KEYS, MetadataKey, MetadataValueInput } from "#events/documentInput.ts";
import { limitKeys } from "#events/limitKeys.ts";

/*
 * Filters of the documents that a search may find, beyond the fields of the spec. Unknown fields are refused, because ignoring
 * one would find too much.
 */

const MAX_TAGS = 100;
const MAX_VALUES = 100;

const tags = (meaning: string) =>
  z
    .array(z.string("must be a string"), "must be an array of strings")
    .max(MAX_TAGS, `must have ${MAX_TAGS} items at most`)
    .transform((sent) => sent.map((tag) => tag.trim()))
    .optional()
    .describe(meaning);

const time = (meaning: string) =>
  z.iso
    .datetime({ offset: true, error: "must be a time such as 2026-01-31T00:00:00Z" })
    .transform((text) => new Date(text))
    .optional()
    .describe(meaning);

/** The media type for `pdf`, `docx` or a media type. */
const mediaType = (sent: string): string => typeFromFileName(`x.${sent}`) ?? canonicalType(sent);

const KNOWN_TYPES = new Set<string>(Object.values(MEDIA_TYPES));
export const MediaType = z
  .string("must be a string")
  .transform(mediaType)
  .refine((type) => KNOWN_TYPES.has(type), `must be one of ${Object.keys(MEDIA_TYPES).join(", ")}, or a media type`);

const bound = z.union([z.number(), z.string().max(512)], "must be a number or a text").optional();
const Bounds = z
  .strictObject({ gt: bound, gte: bound, lt: bound, lte: bound })
  .refine((bounds) => Object.values(bounds).some((value) => value !== undefined), "must have gt, gte, lt or lte")
  .refine(({ gt, gte }) => gt === undefined || gte === undefined, "must have gt or gte, not both")
  .refine(({ lt, lte }) => lt === undefined || lte === undefined, "must have lt or lte, not both");
const Condition = z.union(
  [MetadataValueInput, z.array(MetadataValueInput).min(1).max(MAX_VALUES), Bounds],
  `must be a value, an array of 1 to ${MAX_VALUES} values, or an object with gt, gte, lt or lte`,
);

export const SearchFilter = z
  .strictObject(
    {
      tags: z
        .strictObject({ any: tags("It has one of them."), all: tags("It has all of them.") }, "must be {any, all}")
        .optional(),
      types: z
        .array(MediaType, "must be an array of strings")
        .max(MAX_TAGS, `must have ${MAX_TAGS} items at most`)
        .optional()
        .describe("Types as file extensions (`pdf`, `docx`) or media types."),
      created_after: time("At this time or later."),
      created_before: time("Before this time."),
      updated_after: time("Changed at this time or later."),
      updated_before: time("Last changed before this time."),
      metadata: limitKeys(
        MAX_METADATA_KEYS,
        z.record(MetadataKey, Condition, "must be an object of keys and conditions"),
      )
        .optional()
        .describe("By key: a value, an array of values of which it has one, or bounds `{gt, gte, lt, lte}`."),
    },
    "must be an object",
  )
  .describe("Only documents that meet all of these conditions.");
type SearchFilter = z.infer<typeof SearchFilter>;

type Conditions = NonNullable<SearchFilter["metadata"]>;
const readCondition = ([key, sent]: [string, Conditions[string]]): DocumentFilter["metadata"][number] =>
  typeof sent === "object" && !Array.isArray(sent)
    ? { key, bounds: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) }
    : { key, values: Array.isArray(sent) ? sent : [sent] };

/** Converts the filter of a request for queries. Absent conditions exclude nothing. */
export const readFilter = (filter: SearchFilter): DocumentFilter => ({
  any_tags: filter.tags?.any ?? [],
  all_tags: filter.tags?.all ?? [],
  types: filter.types ?? [],
  created: { from: filter.created_after, before: filter.created_before },
  updated: { from: filter.updated_after, before: filter.updated_before },
  metadata: Object.entries(filter.metadata ?? {}).map(readCondition),
});
