import type { DocumentReader } from "#events/documentDetails.ts";
import { isUuid } from "#events/ids.ts";
import type { DocumentFilter, EngineScope, Period } from "#projections/passages/engine.ts";
import type { PassageRemoval } from "#services/knowledge/passageIndex.ts";
import { conditionMarks, readerMark, RESTRICTED_MARK, tagMark, typeMark } from "./marks.ts";

/** The filter of every search: a conjunction that always includes the organization. An invalid id matches nothing. */
export const filterWithin = ({
  organization_id,
  collection_ids,
  document_ids,
  tags,
  filter,
  reader,
}: EngineScope): string[] => [
  isOneOf("org", [organization_id]),
  isOneOf("coll", collection_ids),
  ...(document_ids.length > 0 ? [isOneOf("doc", document_ids)] : []),
  ...(tags.length > 0 ? [hasTag(tags)] : []),
  ...(filter ? narrow(filter) : []),
  ...(reader ? [isReadable(reader)] : []),
];

const hasTag = (tags: string[]): string => `tags IN [${tags.map(tagMark).join(", ")}]`;
export const hasMark = (marks: string[]): string => `marks IN [${marks.join(", ")}]`;

/** Matches documents without the restricted mark, because processes of the previous release index unrestricted documents without marks. */
const isReadable = (reader: readonly DocumentReader[]): string =>
  `marks NOT IN [${RESTRICTED_MARK}]${reader.length > 0 ? ` OR ${hasMark(reader.map(readerMark))}` : ""}`;

/** The conditions that the index can check. It does not store when a document last changed; the read model checks that afterwards. */
const narrow = ({ any_tags, all_tags, types, created, metadata }: DocumentFilter): string[] => [
  ...(any_tags.length > 0 ? [hasTag(any_tags)] : []),
  ...all_tags.map((tag) => hasTag([tag])),
  ...(types.length > 0 ? [hasMark(types.map(typeMark))] : []),
  ...narrowPeriod(created),
  ...metadata.map((condition) => hasMark(conditionMarks(condition))),
];

const narrowPeriod = ({ from, before }: Period): string[] => [
  ...(from ? [`created >= ${from.getTime()}`] : []),
  ...(before ? [`created < ${before.getTime()}`] : []),
];

/** A filter for the passages that removals name. */
export const filterSuperseded = (superseded: PassageRemoval[]): string => {
  const single = superseded.filter(({ only_generation }) => only_generation !== undefined);
  const others = superseded.filter(({ only_generation }) => only_generation === undefined);
  const whole = others.filter(({ below_generation }) => below_generation === null);
  const older = others.filter(({ below_generation }) => below_generation !== null);
  return [
    isOneOf(
      "doc",
      whole.map(({ document_id }) => document_id),
    ),
    ...older.map(
      ({ document_id, below_generation }) => `(${isOneOf("doc", [document_id])} AND gen < ${Number(below_generation)})`,
    ),
    ...single.map(
      ({ document_id, only_generation }) => `(${isOneOf("doc", [document_id])} AND gen = ${Number(only_generation)})`,
    ),
  ].join(" OR ");
};

const isOneOf = (attribute: string, ids: string[]): string => `${attribute} IN [${ids.filter(isUuid).join(", ")}]`;
