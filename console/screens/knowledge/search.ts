import type { DocumentFilter, PassageSearch } from "../../api/knowledgeSearch.ts";
import { readNumber, readTexts } from "../../app/search.ts";
import { startOfDay } from "../../format/days.ts";
import { FieldError } from "../../format/FieldError.ts";

/** The search parameters in the address. Days are in the person's time zone, both included. */
export interface KnowledgeSearch {
  q?: string | undefined;
  /** File types separated by commas: `pdf, docx`. */
  types?: string | undefined;
  /** Tags separated by commas; a document must have all of them. */
  tags?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** Conditions on the documents' own metadata: `kind = lease, year >= 2024`. */
  metadata?: string | undefined;
  /** Show each document once. */
  grouped?: true | undefined;
  /** Page of the hits, from 0. */
  hits?: number | undefined;
}

export const readKnowledgeSearch = (search: Record<string, unknown>): KnowledgeSearch => ({
  ...readTexts(search, "q", "types", "tags", "from", "to", "metadata"),
  grouped: search["grouped"] === true || undefined,
  hits: readNumber(search["hits"]),
});

/** Texts separated by commas; a comma within quotes is part of a text. */
const partsOf = (text = ""): string[] =>
  (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((part) => part.trim()).filter(Boolean);

const OPERATORS = { "=": "eq", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" } as const;
const CONDITION = /^([^=<>]+?)\s*(>=|<=|=|>|<)\s*(.+)$/s;

/** `"2024"` is a text, `2024` a number, `true` a boolean. */
function readValue(text: string): string | number | boolean {
  if (/^".*"$/s.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

const wrongCondition = (why: string) => new FieldError("metadata", `Own metadata: ${why}`);

/** Throws a FieldError that shows the format of a condition. */
function readConditions(text: string | undefined): DocumentFilter["metadata"] {
  const conditions: NonNullable<DocumentFilter["metadata"]> = {};
  for (const part of partsOf(text)) {
    const [, key, sign, value] = CONDITION.exec(part) ?? [];
    if (!key || !sign || !value)
      throw wrongCondition(`“${part}” is no condition. Write one as in kind = lease or year >= 2024.`);
    const operator = OPERATORS[sign as keyof typeof OPERATORS];
    const found = conditions[key];
    if (found && Array.isArray(found) !== (operator === "eq"))
      throw wrongCondition(`“${key}” has a value and a limit. Keep one of them, or both limits.`);
    if (operator === "eq") conditions[key] = [...(Array.isArray(found) ? found : []), readValue(value)];
    else conditions[key] = { ...(Array.isArray(found) ? {} : found), [operator]: readValue(value) };
  }
  return Object.keys(conditions).length > 0 ? conditions : undefined;
}

/** Whether the search has any filter besides the words. */
export const isFiltered = ({ types, tags, from, to, metadata }: KnowledgeSearch): boolean =>
  [types, tags, from, to, metadata].some((value) => value !== undefined);

/** Throws a FieldError. */
export function toPassageSearch(search: KnowledgeSearch, collection: string | undefined): PassageSearch {
  const { q = "", types, tags, from, to, metadata, grouped, hits } = search;
  return {
    query: q,
    collection,
    filter: {
      types: partsOf(types),
      tags: { all: partsOf(tags) },
      created_after: startOfDay(from),
      created_before: startOfDay(to, 1),
      metadata: readConditions(metadata),
    },
    grouped,
    page: hits ?? 0,
  };
}

/** The filter that is wrong; null if there is none. */
export function findWrongFilter(search: KnowledgeSearch): FieldError | null {
  try {
    toPassageSearch(search, undefined);
    return null;
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}
