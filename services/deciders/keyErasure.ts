import type { KeyErasure } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import { streamName } from "#events/ids.ts";

/** The erasure of a decider whose stream is one thing: these events destroy the data key of that thing. */
export const eraseOn =
  <E extends NewEvent>(...types: E["type"][]) =>
  (events: E[], stream: string): KeyErasure => ({
    things: events.some(({ type }) => types.includes(type)) ? [stream] : [],
  });

/** Destroys the data keys of credentials that these events replaced or removed. */
export const eraseEndedCredentials = (events: { data: { ends_credential_id: string | null } }[]): KeyErasure => ({
  things: events.flatMap(({ data }) =>
    data.ends_credential_id ? [streamName("credential", data.ends_credential_id)] : [],
  ),
});
