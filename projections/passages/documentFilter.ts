import type { MetadataValue } from "#events/documentDetails.ts";
import type { LiveDocument } from "../documents/query.ts";
import type { Bounds, DocumentFilter, Period } from "./engine.ts";

const isWithin = (time: Date, { from, before }: Period): boolean =>
  (from === undefined || time >= from) && (before === undefined || time < before);

const isBetween = (value: MetadataValue, bounds: Bounds): boolean =>
  Object.entries(bounds).every(([name, bound]) => {
    if (typeof value !== typeof bound) return false;
    if (name === "gt") return value > bound;
    if (name === "gte") return value >= bound;
    return name === "lt" ? value < bound : value <= bound;
  });

/** Whether a document fits. The index narrows a search down by the same filter, but may be behind. */
export const matchesFilter = (
  document: Pick<LiveDocument, "tags" | "mime_type" | "created_at" | "updated_at" | "metadata">,
  { any_tags, all_tags, types, created, updated, metadata }: DocumentFilter,
): boolean =>
  (any_tags.length === 0 || any_tags.some((tag) => document.tags.includes(tag))) &&
  all_tags.every((tag) => document.tags.includes(tag)) &&
  (types.length === 0 || types.includes(document.mime_type)) &&
  isWithin(document.created_at, created) &&
  isWithin(document.updated_at, updated) &&
  metadata.every((condition) => {
    if (!Object.hasOwn(document.metadata, condition.key)) return false;
    const value = document.metadata[condition.key]!;
    return "values" in condition ? condition.values.includes(value) : isBetween(value, condition.bounds);
  });
