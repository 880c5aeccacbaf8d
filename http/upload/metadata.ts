import { z } from "zod";
import { readJsonField } from "./jsonField.ts";
import type { Field } from "./multipartForm.ts";

export const MAX_METADATA_KEYS = 16;
const MAX_KEY_LENGTH = 64;
const MAX_VALUE_LENGTH = 512;
/** A key can be written into an address and a filter without escapes; names of JavaScript's own are no keys. */
const KEY = /^(?!__proto__$)[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;

export const MetadataKey = z
  .string()
  .max(MAX_KEY_LENGTH, `must be a key of ${MAX_KEY_LENGTH} characters at most`)
  .regex(KEY, "must be a key of letters, digits, _, ., : and -");

export const MetadataValue = z.union(
  [z.string().max(MAX_VALUE_LENGTH), z.number(), z.boolean()],
  `must be a text of ${MAX_VALUE_LENGTH} characters at most, a number or a boolean`,
);

/** Keys and values of the caller's own. */
export const Metadata = z
  .record(MetadataKey, MetadataValue, {
    error: ({ code }) =>
      code === "invalid_key"
        ? `keys must have 1 to ${MAX_KEY_LENGTH} letters, digits, _, ., : or -`
        : "must be an object of keys and values",
  })
  .refine(
    (metadata) => Object.keys(metadata).length <= MAX_METADATA_KEYS,
    `must have ${MAX_METADATA_KEYS} keys at most`,
  )
  .describe(
    `Keys and values of your own, to filter by: at most ${MAX_METADATA_KEYS}, texts of ${MAX_VALUE_LENGTH} characters at most, numbers or booleans.`,
  );
export type Metadata = z.infer<typeof Metadata>;

/** The metadata of a form; undefined without any. Throws a 400 with `param: metadata`. */
export const readMetadata = (fields: Field[]): Metadata | undefined =>
  readJsonField(fields, "metadata", "a JSON object", Metadata);
