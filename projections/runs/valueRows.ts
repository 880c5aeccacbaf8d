import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { StoredValue } from "#events/runParts.ts";
import { putRow, type Change } from "../projection.ts";

type OfRun = NewEvent & { data: { run_id: string } };

/** Counts what the values of an event take as blobs, as long as the run exists. Most values are in the event itself. */
export function putValues(
  { organization_id, position, data: { run_id } }: RecordedEvent<OfRun>,
  values: readonly (StoredValue | undefined)[] | undefined,
): Change[] {
  let bytes = 0;
  for (const value of values ?? []) if (value && "blob" in value) bytes += value.bytes;
  return bytes === 0 ? [] : [putRow("run_values", { run_id, position }, { organization_id, bytes })];
}
