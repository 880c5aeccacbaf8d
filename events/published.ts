import { z } from "zod";
import { eventDefinitions } from "./index.ts";

/** Public fields that other services never receive: hashes and hints of secrets, blob keys, claims, and the worker of a stream. */
const INTERNAL_FIELDS =
  /^(key_hash|key_hint|token_hash|secret_hash|secret_hint|hook_token|blob|original|text|passages|frames|unused|scope|scopes|user_mark|slot|worker|command_id|released|sha256|credential_id|ends_credential_id)$|_claim$/;

/** Events that only the log itself uses. */
const UNPUBLISHED_TYPES = new Set(["ClaimHeld", "ClaimReleased"]);

export const isPublished = (type: string): boolean => !UNPUBLISHED_TYPES.has(type);

/** Types of the events that other services receive. */
export const publishedTypes = (): string[] => [...eventDefinitions.keys()].filter(isPublished);

/** The fields of an event that other services receive: its public fields without the internal ones. */
export const publishedData = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !INTERNAL_FIELDS.test(name)));

/** Version of the data schema of an event type. */
export const schemaVersion = (type: string): number => eventDefinitions.get(type)!.version;

export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  [word: string]: unknown;
}

/** JSON Schema (2020-12) of the published data of an event type. */
export function publishedSchema(type: string): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(eventDefinitions.get(type)!.public, { io: "output" }) as JsonSchema;
  const { properties = {}, required = [], additionalProperties: _closed, ...rest } = schema;
  return {
    ...rest,
    properties: publishedData(properties) as Record<string, JsonSchema>,
    required: required.filter((name) => !INTERNAL_FIELDS.test(name)),
  };
}

/** One message of the event feed. */
export interface FeedEvent {
  /** Position in the whole log. It only grows, so a consumer can detect a message delivered twice. */
  position: number;
  /** `<aggregate>-<uuid>`. */
  stream: string;
  /** 1, 2, 3 … within its stream, with gaps where events are not published. */
  version: number;
  organization_id: string;
  type: string;
  /** Version of the event's schema. */
  schema_version: number;
  /** RFC 3339. */
  recorded_at: string;
  data: Record<string, unknown>;
}
