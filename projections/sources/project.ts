import type { RecordedEvent } from "#events/envelope.ts";
import type { PageChange, SourceEvent, SourcePagesRead } from "#events/source.ts";
import type { EventFrom } from "#events/define.ts";
import {
  defineProjection,
  encode,
  encodeColumns,
  patchRow,
  putRow,
  removeRows,
  thingRows,
  type Change,
  type Row,
} from "../projection.ts";

const rows = thingRows("sources");
const date = (at: string | null): Date | null => (at === null ? null : new Date(at));

const pages = "source_pages";
const removeWhere = (where: Row): Change => removeRows(pages, where);

/** The columns set at the start of a read. */
const started = (read: number, { recorded_at }: Pick<RecordedEvent, "recorded_at">): Row => ({
  read,
  reading: true,
  listed: null,
  started_at: recorded_at,
  ended_at: null,
  error: null,
});

const TEXTS: ReadonlySet<string> = new Set(["url", "etag", "last_modified"]);

function pageChange(event: RecordedEvent<EventFrom<typeof SourcePagesRead>>, change: PageChange): Change {
  const { organization_id, recorded_at, data } = event;
  const { page, first, result, error, ...given } = change;
  const key = { source_id: data.source_id, page };
  const isNewContent = result === "new" || result === "changed";
  const row = {
    ...encodeColumns(given, TEXTS),
    // its document was deleted
    ...(result === "removed" && { document_id: null }),
    ...(isNewContent && { changed_at: recorded_at }),
    result,
    error: encode(error),
    read: data.read,
    checked_at: recorded_at,
  };
  return first ? putRow(pages, key, { organization_id, ...row }) : patchRow(pages, key, row);
}

export const sources = defineProjection<SourceEvent>({
  name: "sources",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    SourceCreated: (event) => {
      const { data, personal } = event;
      if (!personal) return [];
      const { source_id, collection_id, kind, max_pages, when_gone, rule, next } = data;
      const { url, include, exclude } = personal;
      const row = { collection_id, kind, max_pages, when_gone, rule: encode(rule), next_at: date(next) };
      const texts = { url: encode(url), include: encode(include), exclude: encode(exclude) };
      return [rows.create(event, source_id, { ...row, ...texts, paused: false, ...started(1, event) })];
    },
    SourceChanged: (event) => {
      const { source_id, max_pages, when_gone, rule, next } = event.data;
      const { include, exclude } = event.personal ?? {};
      const texts = { ...(include && { include: encode(include) }), ...(exclude && { exclude: encode(exclude) }) };
      return [
        rows.change(event, source_id, { max_pages, when_gone, rule: encode(rule), next_at: date(next), ...texts }),
      ];
    },
    SourcePaused: (event) => [rows.change(event, event.data.source_id, { paused: true, reading: false })],
    SourceResumed: (event) => [
      rows.change(event, event.data.source_id, { paused: false, next_at: date(event.data.next) }),
    ],
    SourceReadStarted: (event) => {
      const { source_id, read, next } = event.data;
      return [
        rows.change(event, source_id, { ...started(read, event), next_at: date(next) }),
        removeWhere({ source_id, result: "removed" }),
      ];
    },
    SourceReadTaken: () => [],
    SourceListed: (event) => [rows.change(event, event.data.source_id, { listed: event.data.listed })],
    SourcePagesRead: (event) =>
      event.data.pages.map((page, n) => pageChange(event, { ...page, ...event.personal?.pages[n] })),
    SourceReadEnded: (event) => {
      const error = encode(event.personal?.error);
      return [rows.change(event, event.data.source_id, { reading: false, ended_at: event.recorded_at, error })];
    },
    // its pages are needed to find the documents that are deleted next
    SourceDeleted: ({ data: { source_id, documents } }) => [
      rows.remove(source_id),
      ...(documents ? [] : [removeWhere({ source_id })]),
    ],
    SourceEmptied: ({ data: { source_id } }) => [removeWhere({ source_id })],
  },
});
