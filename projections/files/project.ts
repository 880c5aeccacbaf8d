import type { FileEvent } from "#events/file.ts";
import { defineProjection, encode } from "../projection.ts";

export const files = defineProjection<FileEvent>({
  name: "files",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    FileUploaded: ({ organization_id, position, data, personal, meta, recorded_at }) =>
      personal
        ? [
            {
              table: "files",
              kind: "put",
              key: { id: data.file_id },
              row: {
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
              },
            },
          ]
        : [],
    FileDeleted: ({ data }) => [{ table: "files", kind: "remove", key: { id: data.file_id } }],
  },
});
