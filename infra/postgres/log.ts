import type pg from "pg";
import type { RecordedEvent } from "#events/envelope.ts";
import type { AuditLog } from "#events/auditLog.ts";
import type { CommandOutcome, EventLog, ScannedEvent, StreamPage } from "#events/ports.ts";
import { mapInSlices } from "#events/slices.ts";
import type { DataKeys, Keyring } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { failpoint } from "../failpoint.ts";
import { groupCommit } from "./append.ts";
import type { AppendListener } from "./appendWatch.ts";
import { decodeData, decodeEvent, EVENT_COLUMNS, type EventRow } from "./decode.ts";
import { IS_ALIVE, IS_GONE } from "./heartbeat.ts";
import { createHeadReader } from "./heads.ts";
import { findOpenWork } from "./openWork.ts";
import { createRecentKeys } from "./recentKeys.ts";
import { encodeAppend, neededKeys } from "./encode.ts";
import { asDb } from "./pool.ts";
import { createRecentEvents, decodeRecent } from "./recentEvents.ts";
import { createChainChecker } from "./auditChain.ts";
import { createHistogramReader } from "./auditHistogram.ts";
import { createHashReader, createSliceReader } from "./auditSlices.ts";
import { readStreamPages } from "./streamPages.ts";
import { batchLookups } from "./batchLookups.ts";

const READ_NEWEST = `
  with newest as (
    select *, sum(coalesce(octet_length(sealed), 0)) over (order by version desc) as size from (
      select * from log.events where stream = $1 and version < $2 and type = any($3) order by version desc limit $4
    ) e
  )
  select ${EVENT_COLUMNS.replace("log.events e", "newest e")}
  where e.size <= $5 or e.version = (select max(version) from newest) order by e.version`;
/** Reads by index, one event after the other, however many there were when the plan was cached. */
const EVENTS = `select ${EVENT_COLUMNS.replace(
  "log.events e",
  `unnest($1::text[], $2::integer[]) wanted(stream, version) cross join lateral (
    select * from log.events found where found.stream = wanted.stream and found.version = wanted.version offset 0
  ) e`,
)}`;
const FOLLOW = `select ${EVENT_COLUMNS} where e.position > $1 order by e.position limit $2`;
const SCAN = `select h.position as head, e.* from log.head h left join lateral (
    select position, type, stream, version, organization_id, recorded_at, meta, shape, data from log.events
    where position > $1 and position <= h.position and type = any($2) order by position limit $3
  ) e on true order by e.position`;
const SCAN_OF_ORGANIZATION = SCAN.replace("where position", "where organization_id = $4 and position");
const ALIVE = `select exists (select from ops.workers w where w.worker = $1 and ${IS_ALIVE}) as alive`;
/** A process that leaves deletes its row, so a silent row means that it died. */
const DIED = `select exists (select from ops.workers w where w.worker = $1 and ${IS_GONE}) as died`;
const OUTCOMES = `
  select c.command_id, c.organization_id, c.position, c.fingerprint, c.rejection
  from unnest($1::text[], $2::uuid[]) wanted(command_id, organization_id) join log.commands c using (command_id, organization_id)`;

interface AppenderOptions {
  pool: pg.Pool;
  keyring: Keyring;
  findKeys: DataKeys["find"];
  recentEvents: ReturnType<typeof createRecentEvents>;
  onAppend: AppendListener | undefined;
}

function createAppender({ pool, keyring, findKeys, recentEvents, onAppend }: AppenderOptions): EventLog["append"] {
  const commit = groupCommit(pool, onAppend);
  const recentKeys = createRecentKeys();
  return async (request) => {
    const needed = neededKeys(request);
    const known = recentKeys.find(needed);
    const unknown = needed.filter((thing) => !known.has(thing));
    const existing = unknown.length > 0 ? new Map([...known, ...(await findKeys(unknown))]) : known;
    const encoded = encodeAppend(request, existing, keyring);
    const type = request.events[0]?.event.type;
    failpoint(`before-${type}`);
    const result = await commit(encoded);
    failpoint(`after-${type}`);
    if (result.kind === "committed") {
      recentKeys.add(encoded.keys);
      recentEvents.add(encoded, result);
    }
    return result;
  };
}

async function scanStored(db: Db, [after, types, limit, organization]: Parameters<EventLog["scan"]>) {
  type Row = Omit<ScannedEvent, "recorded_at" | "data"> & Pick<EventRow, "recorded_at" | "meta" | "shape" | "data">;
  const isPart = organization !== undefined;
  const values = [after, types, limit, ...(isPart ? [organization] : [])];
  const rows = await db.query<Partial<Row> & { head: number }>(isPart ? SCAN_OF_ORGANIZATION : SCAN, values);
  const found = rows.filter((row): row is Row & { head: number } => row.position !== null);
  const events = found.map(({ meta, head: _, shape, data, ...row }) => ({
    ...row,
    recorded_at: row.recorded_at.toISOString(),
    data: decodeData({ type: row.type, shape, data }),
    traceparent: (JSON.parse(meta) as RecordedEvent["meta"]).traceparent,
  }));
  return { events, seen: events.length === limit ? events.at(-1)!.position : rows[0]!.head };
}

async function collectEvents(pages: AsyncIterable<StreamPage>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of pages) for (const event of page.events) events.push(event);
  return events;
}

const eventKey = ({ stream, version }: Pick<EventRow, "stream" | "version">): string => `${version} ${stream}`;

function createEventReader(db: Db, keyring: Keyring): EventLog["event"] {
  const find = batchLookups<EventRow>(async (keys) => {
    const places = keys.map((key) => key.split(" "));
    const wanted = [places.map(([, stream]) => stream), places.map(([version]) => Number(version))];
    const rows = await db.query<EventRow>(EVENTS, wanted);
    return new Map(rows.map((row) => [eventKey(row), row]));
  });
  return async (stream, version) => {
    const key = eventKey({ stream, version });
    const row = (await find([key])).get(key);
    return row && decodeEvent(row, keyring);
  };
}

const UUID_LENGTH = 36;
const commandKey = (organization: string, id: string): string => `${organization} ${id}`;

/**
 * Batches reads of outcomes. Every command that waits for long asks once a second; with a query for each, hundreds of them would
 * wait for a connection until the log seemed unreachable.
 */
function createOutcomeReader(db: Db): EventLog["outcome"] {
  type Row = Omit<CommandOutcome, "rejection"> & {
    command_id: string;
    organization_id: string;
    rejection: string | null;
  };
  const find = batchLookups<Row>(async (keys) => {
    const ids = keys.map((key) => key.slice(UUID_LENGTH + 1));
    const rows = await db.query<Row>(OUTCOMES, [ids, keys.map((key) => key.slice(0, UUID_LENGTH))]);
    return new Map(rows.map((row) => [commandKey(row.organization_id, row.command_id), row]));
  });
  return async (id, organization) => {
    const key = commandKey(organization, id);
    const row = (await find([key])).get(key);
    if (!row) return undefined;
    const { position, fingerprint, rejection } = row;
    return { position, fingerprint, rejection: rejection === null ? null : JSON.parse(rejection) };
  };
}

/** What this process knows of the events that it has recorded a moment ago. Undefined if the database must answer. */
export interface RecentRecords {
  recentTime(position: number): Date | undefined;
  /** JSON of the public data of an event, by its `eventPlace`. */
  recentData(place: string): string | undefined;
}

export function openLog(
  pool: pg.Pool,
  keyring: Keyring,
  onAppend?: AppendListener,
): EventLog & DataKeys & AuditLog & RecentRecords {
  const db = asDb(pool);
  const recentEvents = createRecentEvents();

  const findKeys = batchLookups<string>(async (things) => {
    const rows = await db.query<{ thing: string; wrapped: string }>(
      "select thing, wrapped from log.keys where thing = any($1)",
      [things],
    );
    return new Map(rows.map((row) => [row.thing, row.wrapped]));
  });

  const pages = (stream: string, fromVersion = 1) => readStreamPages(db, keyring, stream, fromVersion);

  return {
    append: createAppender({ pool, keyring, findKeys, recentEvents, onAppend }),
    heads: createHeadReader(db),
    ...findOpenWork(db),
    slice: createSliceReader(db, keyring),
    hashes: createHashReader(db),
    histogram: createHistogramReader(db),
    checkChain: createChainChecker(db),
    find: findKeys,
    pages,
    read: (stream, fromVersion) => collectEvents(pages(stream, fromVersion)),
    event: createEventReader(db, keyring),
    async readNewest(stream, { before, types, limit, bytes }) {
      const rows = await db.query<EventRow>(READ_NEWEST, [stream, before, types, limit, bytes]);
      return mapInSlices(rows, (row) => decodeEvent(row, keyring));
    },
    async follow(after, limit) {
      const recent = recentEvents.follow(after, limit);
      if (recent) return mapInSlices(recent, decodeRecent);
      const rows = await db.query<EventRow>(FOLLOW, [after, limit]);
      return mapInSlices(rows, (row) => decodeEvent(row, keyring));
    },
    async scan(...query) {
      const [after, types, limit, organization] = query;
      const recent = organization === undefined ? recentEvents.scan(after, types, limit) : undefined;
      return recent ?? scanStored(db, query);
    },
    async isAlive(process) {
      const [row] = await db.query<{ alive: boolean }>(ALIVE, [process]);
      return row!.alive;
    },
    async hasDied(process) {
      const [row] = await db.query<{ died: boolean }>(DIED, [process]);
      return row!.died;
    },
    outcome: createOutcomeReader(db),
    recentTime: recentEvents.recordedAt,
    recentData: recentEvents.publicData,
  };
}
