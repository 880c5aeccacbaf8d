import type { CollectionEvent } from "#events/collection.ts";
import { defineProjection, encode, thingRows, type Row } from "../projection.ts";
import { toNameKey } from "./nameKey.ts";

const textColumns = ({ name, description }: { name?: string | undefined; description?: string | undefined }): Row => ({
  ...(name !== undefined && { name: encode(name), name_key: encode(toNameKey(name)) }),
  ...(description !== undefined && { description: encode(description) }),
});

const rows = thingRows("collections");

export const collections = defineProjection<CollectionEvent>({
  name: "collections",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    CollectionCreated: (event) => {
      const { data, personal } = event;
      return personal
        ? [rows.create(event, data.collection_id, { slug: personal.slug, ...textColumns(personal) })]
        : [];
    },
    CollectionChanged: (event) => [
      rows.change(event, event.data.collection_id, event.personal ? textColumns(event.personal) : {}),
    ],
    CollectionDeleted: ({ data }) => [rows.remove(data.collection_id)],
    CollectionEmptied: () => [],
  },
});
