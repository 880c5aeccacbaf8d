import type { RecordedEvent } from "#events/envelope.ts";
import type { DefinitionEvent } from "#events/definition.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

type SaveEvent = RecordedEvent<Extract<DefinitionEvent, { type: "DefinitionCreated" | "DefinitionSaved" }>>;

/** The columns that a save sets; undefined if the definition was erased. */
function columns({ data, personal, recorded_at }: SaveEvent): Row | undefined {
  const { version, blob, sha256 } = data;
  return (
    personal && {
      version,
      name: encode(personal.name),
      meta: encode(personal.meta),
      grants: encode(personal.grants),
      blob,
      sha256,
      updated_at: recorded_at,
    }
  );
}

const version = ({ data, personal, meta, recorded_at }: SaveEvent): Change => ({
  table: "definition_versions",
  kind: "put",
  key: { definition_id: data.definition_id, version: data.version },
  row: {
    meta: encode(personal?.meta),
    blob: data.blob,
    sha256: data.sha256,
    created_by: meta.principal,
    created_at: recorded_at,
  },
});

export const definitions = defineProjection<DefinitionEvent>({
  name: "definitions",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    DefinitionCreated: (event) => {
      const { organization_id, data, recorded_at } = event;
      const row = columns(event);
      const created = row && { organization_id, type: data.type, ...row, created_at: recorded_at };
      return created
        ? [{ table: "definitions", kind: "put", key: { id: data.definition_id }, row: created }, version(event)]
        : [];
    },
    DefinitionSaved: (event) => {
      const row = columns(event);
      return row
        ? [{ table: "definitions", kind: "patch", key: { id: event.data.definition_id }, row }, version(event)]
        : [];
    },
    DefinitionDeleted: ({ data: { definition_id } }) => [
      { table: "definitions", kind: "remove", key: { id: definition_id } },
      { table: "definition_versions", kind: "removeWhere", where: { definition_id } },
    ],
  },
});
