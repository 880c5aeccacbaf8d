import { z } from "zod";
import type { AuditedEvent } from "#events/auditLog.ts";
import { eventDefinitions } from "#events/index.ts";
import { parseTraceId } from "#events/trace.ts";
import type { ToCursor } from "./cursor.ts";

/** Hashed and sealed credentials are never shown. */
const HIDDEN_FIELDS = new Set([
  "key_hash",
  "token_hash",
  "secret_hash",
  "password_hash",
  "sealed_api_key",
  "sealed_value",
  "sealed_by",
  "sealed_secret",
]);

const Fields = z.record(z.string(), z.unknown());
export const AuditEvent = z
  .object({
    cursor: z.string().describe("Its place in the organization's log: `after` of a request for what follows it."),
    stream: z.string().describe("The stream of what it is about: `<aggregate>-<id>`."),
    version: z.int().describe("1, 2, 3 … within its stream."),
    type: z.string(),
    recorded_at: z.iso.datetime(),
    principal: z
      .string()
      .describe(
        "The caller: `person:<id>`, `key:<id>`, `webhook:<id of the trigger>`, `link:<id of the link to an approval>` or `system`.",
      ),
    request_id: z.string(),
    trace_id: z.string().nullable().describe("The trace (W3C Trace Context) that it belongs to."),
    command_id: z.string().describe("The same for all events of one command."),
    data: Fields,
    personal: Fields.nullable().describe("Fields that are deleted with the thing they belong to."),
    erased: z.boolean().describe("It had personal fields, which have been deleted."),
    sealed_hash: z
      .string()
      .nullable()
      .describe("SHA-256 (hex) of the personal fields as they are stored, encrypted; it stays when they are deleted."),
  })
  .meta({ title: "AuditEvent" });
export type AuditEvent = z.infer<typeof AuditEvent>;

/** Removes hidden fields, also in nested objects and arrays: the key of an attached file is deep in the prompt. */
const withoutHidden = (fields: object): z.infer<typeof Fields> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (HIDDEN_FIELDS.has(name) ? [] : [[name, shown(value)]])),
  );

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  return typeof value === "object" && value !== null && !(value instanceof Date) ? withoutHidden(value) : value;
}

export function presentEvent(event: AuditedEvent, toCursor: ToCursor): AuditEvent {
  const { position, stream, version, type, recorded_at, command_id, meta } = event;
  const { principal, request_id, traceparent } = meta;
  const personal = event.personal as object | undefined;
  return {
    cursor: toCursor(position),
    stream,
    version,
    type,
    recorded_at: recorded_at.toISOString(),
    principal,
    request_id,
    trace_id: parseTraceId(traceparent),
    command_id,
    data: withoutHidden(event.data as object),
    personal: personal ? withoutHidden(personal) : null,
    erased: personal === undefined && eventDefinitions.get(type)?.personal !== undefined,
    sealed_hash: event.sealed_hash,
  };
}

/** Presents an event as a frame of Server-Sent Events. */
export function toSseFrame(event: AuditedEvent, toCursor: ToCursor): string {
  const shown = presentEvent(event, toCursor);
  return `id: ${shown.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(shown)}\n\n`;
}
