import type { FileEvent } from "#events/file.ts";
import { defineProjection, encode, putRow, removeRow } from "../projection.ts";

export const files = defineProjection<FileEvent>({
  name: "files",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    FileUploaded: ({ organization_id, position, data, personal, meta, recorded_at }) =>
      personal
        ? [
            putRow("files", data.file_id, {
              organization_id,
              position,
              principal: meta.principal,
              scope: data.scope,
              filename: encode(personal.filename),
              purpose: encode(personal.purpose),
              mime_type: encode(data.mime_type),
              bytes: data.bytes,
              sha256: personal.sha256,
              blob: data.blob,
              created_at: recorded_at,
            }),
          ]
        : [],
    FileDeleted: ({ data }) => [removeRow("files", data.file_id)],
  },
});
