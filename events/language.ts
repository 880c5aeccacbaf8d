/* One import for the files that define commands and events. */
export { defineCommand, defineEvent, type EventsIn, type StoredFields } from "./define.ts";
export type { CommandsIn } from "./envelope.ts";
