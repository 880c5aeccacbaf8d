import type { MetadataValue } from "#events/documentDetails.ts";

/* The columns of documents are JSON as it was written. Within its texts quotes are escaped, so what stands between quotes here is a whole text. */

/** What the documents of a list are like; every condition must hold. Empty: any. */
export interface ListConditions {
  /** It has one of them. */
  tags: string[];
  /** Media types, of which it has one. */
  types: string[];
  /** By key, the values of which it has one. */
  metadata: { key: string; values: MetadataValue[] }[];
}

interface Condition {
  /** For the parameter with the value. */
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

/** As conditions of SQL, each with the value of its parameter. */
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
