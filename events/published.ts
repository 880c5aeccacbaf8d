import { z } from "zod";
import { eventDefinitions } from "./index.ts";

/**
 * Public fields that stay in the house all the same: what is kept of secrets, where sealed bytes lie, marks of unique names, and
 * which process has the work. They mean nothing to others.
 */
const INNER =
  /^(key_hash|key_hint|token_hash|secret_hash|secret_hint|hook_token|blob|original|text|passages|frames|unused|scope|slot|worker|command_id|released|sha256|credential_id|ends_credential_id)$|_claim$/;

/** Events that only the log itself needs. */
const UNTOLD = new Set(["ClaimHeld", "ClaimReleased"]);

export const isPublished = (type: string): boolean => !UNTOLD.has(type);

/** Types of the events that are told to other services. */
export const publishedTypes = (): string[] => [...eventDefinitions.keys()].filter(isPublished);

/** What others are told of an event: its public fields, less those that stay in the house. */
export const publishedData = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !INNER.test(name)));

/** Version of the schema of an event's data. */
export const versionOf = (type: string): number => eventDefinitions.get(type)!.version;

export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  [word: string]: unknown;
}

/** JSON Schema (2020-12) of what others are told of an event of this type. */
export function publishedSchema(type: string): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(eventDefinitions.get(type)!.public, { io: "output" }) as JsonSchema;
  const { properties = {}, required = [], additionalProperties: _closed, ...rest } = schema;
  return {
    ...rest,
    properties: publishedData(properties) as Record<string, JsonSchema>,
    required: required.filter((name) => !INNER.test(name)),
  };
}

/** What a message of the feed holds. */
export interface FeedEvent {
  /** Of the whole log: a number that only grows, so that one that comes twice is known. */
  position: number;
  /** `<aggregate>-<uuid>`. */
  stream: string;
  /** 1, 2, 3 … within its stream, with gaps where events are not told. */
  version: number;
  organization_id: string;
  type: string;
  /** Version of the event's schema. */
  schema_version: number;
  /** RFC 3339. */
  recorded_at: string;
  data: Record<string, unknown>;
}
