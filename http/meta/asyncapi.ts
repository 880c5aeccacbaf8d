import { z } from "zod";
import { publishedSchema, publishedTypes, schemaVersion } from "#events/published.ts";

const Envelope = z.object({
  position: z.int().describe("Position in the log, strictly increasing. A redelivered event has the same position."),
  stream: z.string().describe("`<aggregate>-<uuid>`."),
  version: z.int().describe("1, 2, 3 … within its stream, with gaps where events are not published."),
  organization_id: z.uuid(),
  type: z.string(),
  schema_version: z.int().describe("Version of the schema of `data`. Within a version, fields are only added."),
  recorded_at: z.iso.datetime(),
});

function message(type: string) {
  const { $schema: _, ...envelope } = z.toJSONSchema(Envelope) as {
    properties: Record<string, object>;
    [word: string]: unknown;
  };
  const { properties, required = [] } = envelope;
  const specific = {
    type: { const: type },
    schema_version: { const: schemaVersion(type) },
    data: publishedSchema(type),
  };
  return {
    name: type,
    contentType: "application/json",
    headers: {
      type: "object",
      properties: {
        "Nats-Msg-Id": { type: "string", description: "`<position>:<recorded_at in epoch milliseconds>`." },
        traceparent: {
          type: "string",
          description: "The trace of the event (W3C Trace Context), if it has one.",
        },
      },
    },
    payload: { ...envelope, properties: { ...properties, ...specific }, required: [...(required as string[]), "data"] },
  };
}

/** The events that other services can subscribe to on the bus (AsyncAPI 3.0), from the schemas that the events are stored with. */
export function asyncApi(prefix: string) {
  const types = publishedTypes();
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Assistant platform",
      version: "1.0.0",
      description:
        "Every event of the log without its personal fields, at least once, in the order of the log. " +
        `The JetStream stream ${prefix.toUpperCase()}_EVENTS keeps them for a week.`,
    },
    defaultContentType: "application/json",
    channels: {
      events: {
        address: `${prefix}.evt.v1.{organization}.{aggregate}.{event}`,
        parameters: {
          organization: { description: "Id of the organization, or `*`." },
          aggregate: { description: "`thread`, `document`, `run` …, or `*`." },
          event: { description: "The event's type, or `*`." },
        },
        messages: Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }])),
      },
    },
    operations: {
      hear: { action: "send", channel: { $ref: "#/channels/events" }, summary: "Events, as they are committed." },
    },
    components: { messages: Object.fromEntries(types.map((type) => [type, message(type)])) },
  };
}
