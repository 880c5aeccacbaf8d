import type { RecordedEvent } from "#events/envelope.ts";
import type { ExtractionEvent } from "#events/extraction.ts";
import { DAY_MS } from "#events/units.ts";
import { defineProjection, encode, patchRow, putRow, removeRow, type Change, type Row } from "../projection.ts";

type RequestEvent = RecordedEvent<Extract<ExtractionEvent, { type: "ExtractionRequested" }>>;
const applyRequest = ({ organization_id, data, personal }: RequestEvent): Change[] => {
  if (!personal) return [];
  const expires_at = new Date(data.expires_at);
  const row = {
    organization_id,
    name: encode(personal.name),
    mime_type: encode(data.mime_type),
    size_bytes: data.size_bytes,
    status: "pending",
    // exactly a day before its end, whenever the event was recorded
    created_at: new Date(expires_at.getTime() - DAY_MS),
    expires_at,
  };
  return [putRow("extractions", data.extraction_id, row)];
};

const patch = (id: string, row: Row): Change[] => [patchRow("extractions", id, row)];
const remove = (id: string): Change[] => [removeRow("extractions", id)];

export const extractions = defineProjection<ExtractionEvent>({
  name: "extractions",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ExtractionRequested: applyRequest,
    ExtractionStarted: ({ data }) => patch(data.extraction_id, { status: "processing" }),
    ExtractionCompleted: ({ data: { extraction_id, text, page_count, chunk_count, warnings } }) =>
      patch(extraction_id, { status: "ready", text_blob: text, page_count, chunk_count, warnings: encode(warnings) }),
    ExtractionFailed: ({ data, personal }) =>
      patch(data.extraction_id, { status: "failed", error: encode(personal?.error) }),
    ExtractionDeleted: ({ data }) => remove(data.extraction_id),
    ExtractionExpired: ({ data }) => remove(data.extraction_id),
  },
});
