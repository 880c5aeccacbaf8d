import { createHash } from "node:crypto";
import type { AuditedEvent } from "#events/auditLog.ts";
import type { StoredFields } from "#events/define.ts";
import { eventDefinitions } from "#events/index.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Keyring } from "#events/vault.ts";

/** A row of log.events with the wrapped key of its thing, which is null after its erasure. */
export interface EventRow {
  position: number;
  stream: string;
  version: number;
  organization_id: string;
  type: string;
  shape: number;
  command_id: string;
  recorded_at: Date;
  meta: string;
  data: string;
  sealed: Buffer | null;
  thing: string | null;
  wrapped: string | null;
}

/** Looks up keys event by event: the cached plan of a join would read all keys, however many there are by then. */
export const EVENT_COLUMNS = `e.position, e.stream, e.version, e.organization_id, e.type, e.shape, e.command_id, e.recorded_at,
  e.meta, e.data, e.sealed, e.thing, k.wrapped
  from log.events e left join lateral (select wrapped from log.keys where thing = e.thing offset 0) k on true`;

/**
 * The principal that caused an event, as the index events_by_principal has it (migration 14): the first field of `meta`. Null for
 * the service's own work.
 */
export const PRINCIPAL_SQL = `nullif(split_part(meta, '"', 4), 'system')`;

function openPersonal(row: EventRow, keyring: Keyring): Record<string, unknown> | undefined {
  if (!row.sealed || !row.thing || !row.wrapped) return undefined;
  return JSON.parse(keyring.open(row.thing, row.wrapped, row.sealed).toString());
}

type StoredEvent = Omit<EventRow, "sealed" | "thing" | "wrapped">;

type StoredShape = Pick<StoredEvent, "type" | "shape" | "data">;

/** An event's fields in their newest version. This is the only place that upcasts. */
function upcastFields(row: StoredShape, personal: Record<string, unknown> | undefined): StoredFields {
  let fields: StoredFields = { data: JSON.parse(row.data), personal };
  const definition = eventDefinitions.get(row.type);
  for (let shape = row.shape; definition && shape < definition.version; shape++) {
    const convert = definition.upcasts[shape];
    if (!convert) throw new Error(`${row.type} has no upcast from version ${shape}`);
    fields = convert(fields);
  }
  return fields;
}

/** The public fields of an event in their newest version, for which no key is needed. */
export const decodeData = (row: StoredShape): Record<string, unknown> => upcastFields(row, undefined).data;

function upcast(row: StoredEvent, personal: Record<string, unknown> | undefined): RecordedEvent {
  const fields = upcastFields(row, personal);
  return {
    position: row.position,
    stream: row.stream,
    version: row.version,
    organization_id: row.organization_id,
    type: row.type,
    ...fields,
    command_id: row.command_id,
    recorded_at: row.recorded_at,
    meta: JSON.parse(row.meta),
  };
}

export const decodeEvent = (row: EventRow, keyring: Keyring): RecordedEvent => upcast(row, openPersonal(row, keyring));

/** Like decodeEvent, with the personal fields as JSON; null if the event has none. */
export const decodeOpened = (row: StoredEvent, personal: string | null): RecordedEvent =>
  upcast(row, personal === null ? undefined : JSON.parse(personal));

/** The event without its personal fields, for which no key is needed. */
export const decodePublic = (row: StoredEvent, sealed: Buffer | null): AuditedEvent => ({
  ...upcast(row, undefined),
  sealed_hash: hashSealed(sealed),
});

export const hashSealed = (sealed: Buffer | null): string | null =>
  sealed && createHash("sha256").update(sealed).digest("hex");
