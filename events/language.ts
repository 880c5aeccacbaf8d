/** What a file of the language needs to define its commands and events. */
export { defineCommand, defineEvent, type EventFrom, type StoredFields } from "./define.ts";
export type { CommandFrom } from "./envelope.ts";
