import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn, type StoredFields } from "./language.ts";

/** A person's sign-in. Only the SHA-256 of the 256-bit token is stored; `expires_at` is the absolute end (30 days). */
const Session = z.object({
  session_id: z.uuid(),
  user_id: z.uuid(),
  token_hash: z.string(),
  expires_at: z.iso.datetime(),
  /** The person's epoch (see user.ts) when the password was checked. */
  epoch: z.int().positive(),
});

export const StartSession = defineCommand("StartSession", "session", Session);
export const EndSession = defineCommand("EndSession", "session", z.object({ session_id: z.uuid() }));

const inFirstEpoch = ({ data, personal }: StoredFields): StoredFields => ({ data: { ...data, epoch: 1 }, personal });
export const SessionStarted = defineEvent("SessionStarted", {
  public: Session,
  version: 2,
  upcasts: { 1: inFirstEpoch },
});
export const SessionEnded = defineEvent("SessionEnded", { public: z.object({ session_id: z.uuid() }) });

export type SessionCommand = CommandsIn<typeof import("./session.ts")>;
export type SessionEvent = EventsIn<typeof import("./session.ts")>;
