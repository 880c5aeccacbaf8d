import type { Recorded } from "#events/envelope.ts";
import type { Value } from "#events/runParts.ts";
import { opened, type Stores } from "./opened.ts";

/** Values that an event of a run speaks of. */
export function valuesIn({ type, personal }: Recorded<any>): Value[] {
  if (!personal) return [];
  if (type === "RunCreated") return [personal.args];
  if (type === "StepsScheduled") return personal.args;
  return type === "StepCompleted" || type === "RunCompleted" ? [personal.result] : [];
}

/** JSON of the values of runs that are kept in blobs, by blob. */
export async function openValues(stores: Stores, events: Recorded[]): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const event of events)
    for (const value of valuesIn(event)) {
      if ("json" in value) continue;
      const bytes = await opened(stores, { blob: value.blob, thing: event.stream }).catch(() => undefined);
      if (bytes) values.set(value.blob, bytes.toString("utf8"));
    }
  return values;
}
