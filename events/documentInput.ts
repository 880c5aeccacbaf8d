import { z } from "zod";
import { limitKeys } from "./limitKeys.ts";

/* Tags and metadata of documents, as requests and steps of workflows send them. */

export const MAX_TAGS = 100;
const MAX_TAG_LENGTH = 200;

const Tag = z
  .string({ error: "must be a string" })
  .trim()
  .min(1, "must not be empty")
  .max(MAX_TAG_LENGTH, `must have ${MAX_TAG_LENGTH} characters at most`);

/** Removes duplicates and keeps the order. */
export const Tags = z
  .array(Tag, { error: "must be an array of strings" })
  .max(MAX_TAGS, `must have ${MAX_TAGS} tags at most`)
  .transform((tags) => [...new Set(tags)]);

export const MAX_METADATA_KEYS = 16;
const MAX_KEY_LENGTH = 64;
const MAX_VALUE_LENGTH = 512;
/** Keys need no escaping in a URL or a filter. `__proto__` is refused, because JavaScript treats it specially. */
const KEY = /^(?!__proto__$)[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;

export const MetadataKey = z
  .string()
  .max(MAX_KEY_LENGTH, `must be a key of ${MAX_KEY_LENGTH} characters at most`)
  .regex(KEY, "must be a key of letters, digits, _, ., : and -");

export const MetadataValueInput = z.union(
  [z.string().max(MAX_VALUE_LENGTH), z.number(), z.boolean()],
  `must be a text of ${MAX_VALUE_LENGTH} characters at most, a number or a boolean`,
);

/** Keys and values of the caller's own. */
export const MetadataInput = limitKeys(
  MAX_METADATA_KEYS,
  z
    .record(MetadataKey, MetadataValueInput, {
      error: ({ code }) =>
        code === "invalid_key"
          ? `keys must have 1 to ${MAX_KEY_LENGTH} letters, digits, _, ., : or -`
          : "must be an object of keys and values",
    })
    .describe(
      `Keys and values of your own, to filter by: at most ${MAX_METADATA_KEYS}, texts of ${MAX_VALUE_LENGTH} characters at most, numbers or booleans.`,
    ),
);
export type MetadataInput = z.infer<typeof MetadataInput>;

const MAX_EXTERNAL_ID_LENGTH = 500;
/** The caller's own id of a document. */
export const ExternalId = z
  .string("must be a string")
  .min(1, "must not be empty")
  .max(MAX_EXTERNAL_ID_LENGTH, `must have ${MAX_EXTERNAL_ID_LENGTH} characters at most`);
/** Text that becomes a document. */
export const DocumentText = z
  .string({ error: ({ input }) => (input === undefined || input === null ? "is required" : "must be a string") })
  .refine((text) => /\S/.test(text), "is required");
export const TextFormat = z.enum(["markdown", "text"], 'must be "markdown" or "text"');
