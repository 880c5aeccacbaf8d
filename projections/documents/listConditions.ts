import type { MetadataValue } from "#events/documentDetails.ts";

/* The columns contain serialized JSON, in which quotes within texts are escaped. So a quoted string in it is always a complete text. */

/** Conditions that the listed documents must all meet. Empty conditions match any document. */
export interface ListConditions {
  /** At least one of these tags. */
  tags: string[];
  /** One of these media types. */
  types: string[];
  /** For each key, one of these values. */
  metadata: { key: string; values: MetadataValue[] }[];
}

interface Condition {
  /** Builds the SQL for the parameter that holds `value`. */
  sql: (parameter: string) => string;
  value: string[];
}

const containsOneOf = (column: string) => (parameter: string) =>
  `exists (select from unnest(${parameter}::text[]) part (words) where position(part.words in ${column}) > 0)`;

const elementForms = (tag: string): string[] => ["[", ","].map((before) => `${before}${JSON.stringify(tag)}`);

const entryForms = (key: string, value: MetadataValue): string[] =>
  ["{", ","].flatMap((before) =>
    ["}", ","].map((after) => `${before}${JSON.stringify(key)}:${JSON.stringify(value)}${after}`),
  );

/** SQL conditions, each with the value of its parameter. */
export const listConditions = ({ tags, types, metadata }: ListConditions): Condition[] => [
  ...(tags.length > 0 ? [{ sql: containsOneOf("tags"), value: tags.flatMap(elementForms) }] : []),
  ...(types.length > 0
    ? [
        {
          sql: (parameter: string) => `mime_type = any (${parameter})`,
          value: types.map((type) => JSON.stringify(type)),
        },
      ]
    : []),
  ...metadata.map(({ key, values }) => ({
    sql: containsOneOf("metadata"),
    value: values.flatMap((value) => entryForms(key, value)),
  })),
];
