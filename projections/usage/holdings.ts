import type { DocumentEvent } from "#events/document.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { ExtractionEvent } from "#events/extraction.ts";
import type { FileEvent } from "#events/file.ts";
import type { RunEvent } from "#events/run.ts";
import { principalOf } from "#events/runOrigin.ts";
import type { Change, Row } from "../projection.ts";

/* What is stored and what is running: rows that exist as long as their thing. */

const table = "usage_holdings";

const NOTHING = { bytes: 0, documents: 0, runs: 0 };
export const putHolding = ({ organization_id, position, meta }: RecordedEvent, id: string, row: Row): Change => ({
  table,
  kind: "put",
  key: { id },
  row: { organization_id, position, principal: meta.principal, ...NOTHING, ...row },
});
export const removeHolding = (id: string): Change => ({ table, kind: "remove", key: { id } });

export type HoldingEvent =
  | FileEvent
  | Extract<DocumentEvent, { type: "DocumentDeleted" }>
  | Extract<ExtractionEvent, { type: "ExtractionDeleted" | "ExtractionExpired" }>
  | Extract<
      RunEvent,
      { type: "RunCreated" | "RunCompleted" | "RunFailed" | "RunCancelled" | "RunContinued" | "RunForgotten" }
    >;

const endRun = ({ data }: { data: { run_id: string } }): Change[] => [removeHolding(data.run_id)];
const endExtraction = ({ data }: { data: { extraction_id: string } }): Change[] => [removeHolding(data.extraction_id)];

/** Rows for things that have no other row of usage. */
export const holdings = {
  FileUploaded: (event: RecordedEvent<Extract<HoldingEvent, { type: "FileUploaded" }>>) => {
    const { file_id, bytes, user_mark = null, project_id } = event.data;
    return [putHolding(event, file_id, { bytes, user_mark, ...(project_id && { project_id }) })];
  },
  FileDeleted: ({ data }: { data: { file_id: string } }) => [removeHolding(data.file_id)],
  DocumentDeleted: ({ data }: { data: { document_id: string } }) => [removeHolding(data.document_id)],
  ExtractionDeleted: endExtraction,
  ExtractionExpired: endExtraction,
  RunCreated: (event: RecordedEvent<Extract<HoldingEvent, { type: "RunCreated" }>>) => {
    const { run_id, started_by, project_id, user_mark = null } = event.data;
    return [putHolding(event, run_id, { principal: principalOf(started_by), project_id, user_mark, runs: 1 })];
  },
  RunCompleted: endRun,
  RunFailed: endRun,
  RunCancelled: endRun,
  RunContinued: endRun,
  RunForgotten: endRun,
};
