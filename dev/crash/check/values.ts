import type { RecordedEvent } from "#events/envelope.ts";
import type { StoredValue } from "#events/runParts.ts";
import { openBlob, type Stores } from "./openBlob.ts";

/** Values that an event of a run refers to. */
export function valuesIn({ type, personal }: RecordedEvent<any>): StoredValue[] {
  if (!personal) return [];
  if (type === "RunCreated" || type === "RunContinued") return [personal.args];
  if (type === "StepsScheduled") return personal.args;
  return type === "StepCompleted" || type === "RunCompleted" ? [personal.result] : [];
}

/** JSON of run values stored in blobs, by blob. */
export async function openValues(stores: Stores, events: RecordedEvent[]): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const event of events)
    for (const value of valuesIn(event)) {
      if ("json" in value) continue;
      const bytes = await openBlob(stores, { blob: value.blob, thing: event.stream }).catch(() => undefined);
      if (bytes) values.set(value.blob, bytes.toString("utf8"));
    }
  return values;
}
