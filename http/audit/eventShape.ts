import { z } from "zod";
import type { Recorded } from "#events/envelope.ts";
import { eventDefinitions } from "#events/index.ts";
import { traceIdOf } from "#events/trace.ts";

/** Fields that nobody gets to see: credentials as they are kept. */
const HIDDEN = new Set(["key_hash", "token_hash", "secret_hash", "password_hash", "sealed_api_key", "sealed_value"]);

const Fields = z.record(z.string(), z.unknown());
export const AuditEvent = z.object({
  position: z.int().describe("Rises over the whole log; an organization's own have gaps."),
  stream: z.string().describe("What it is about: `<aggregate>-<id>`."),
  version: z.int().describe("1, 2, 3 … within its stream."),
  type: z.string(),
  recorded_at: z.iso.datetime(),
  principal: z.string().describe("Who asked: `person:<id>`, `key:<id>`, `webhook:<id of the trigger>` or `system`."),
  request_id: z.string(),
  trace_id: z.string().nullable().describe("Of the trace (W3C Trace Context) that it belongs to."),
  command_id: z.string().describe("The same for all events of one command."),
  data: Fields,
  personal: Fields.nullable().describe("What ends with the thing that it belongs to."),
  erased: z.boolean().describe("It had personal fields, which are gone."),
});

const shownOf = (fields: object): z.infer<typeof Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !HIDDEN.has(name)));

/** An event as its organization sees it. */
export function presentEvent(event: Recorded): z.infer<typeof AuditEvent> {
  const { position, stream, version, type, recorded_at, command_id, meta } = event;
  const { principal, request_id, traceparent } = meta;
  const personal = event.personal as object | undefined;
  return {
    position,
    stream,
    version,
    type,
    recorded_at: recorded_at.toISOString(),
    principal,
    request_id,
    trace_id: traceIdOf(traceparent),
    command_id,
    data: shownOf(event.data as object),
    personal: personal ? shownOf(personal) : null,
    erased: personal === undefined && eventDefinitions.get(type)?.personal !== undefined,
  };
}

/** The same by SSE. */
export const frameOf = (event: Recorded): string =>
  `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`;
