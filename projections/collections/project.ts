import type { CollectionEvent } from "#events/collection.ts";
import { defineProjection, encode, type Row } from "../projection.ts";
import { toNameKey } from "./nameKey.ts";

const textColumns = ({ name, description }: { name?: string | undefined; description?: string | undefined }): Row => ({
  ...(name !== undefined && { name: encode(name), name_key: encode(toNameKey(name)) }),
  ...(description !== undefined && { description: encode(description) }),
});

export const collections = defineProjection<CollectionEvent>({
  name: "collections",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    CollectionCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "collections",
              kind: "put",
              key: { id: data.collection_id },
              row: {
                organization_id,
                slug: personal.slug,
                ...textColumns(personal),
                created_at: recorded_at,
                updated_at: recorded_at,
              },
            },
          ]
        : [],
    CollectionChanged: ({ data, personal, recorded_at }) => [
      {
        table: "collections",
        kind: "patch",
        key: { id: data.collection_id },
        row: { ...(personal && textColumns(personal)), updated_at: recorded_at },
      },
    ],
    CollectionDeleted: ({ data }) => [{ table: "collections", kind: "remove", key: { id: data.collection_id } }],
    CollectionEmptied: () => [],
  },
});
