import type { RecordedEvent } from "#events/envelope.ts";
import type { DefinitionEvent } from "#events/definition.ts";
import {
  defineProjection,
  encode,
  patchRow,
  putRow,
  removeRow,
  removeRows,
  type Change,
  type Row,
} from "../projection.ts";

type SaveEvent = RecordedEvent<Extract<DefinitionEvent, { type: "DefinitionCreated" | "DefinitionSaved" }>>;

/** The columns that a save sets; undefined if the definition was erased. */
function columns({ data, personal, recorded_at }: SaveEvent): Row | undefined {
  const { version, blob, sha256, stored_bytes = 0 } = data;
  return (
    personal && {
      version,
      name: encode(personal.name),
      meta: encode(personal.meta),
      grants: encode(personal.grants),
      blob,
      sha256,
      stored_bytes,
      updated_at: recorded_at,
    }
  );
}

const version = ({ data, personal, meta, recorded_at }: SaveEvent): Change =>
  putRow(
    "definition_versions",
    { definition_id: data.definition_id, version: data.version },
    {
      meta: encode(personal?.meta),
      blob: data.blob,
      sha256: data.sha256,
      created_by: meta.principal,
      created_at: recorded_at,
    },
  );

export const definitions = defineProjection<DefinitionEvent>({
  name: "definitions",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    DefinitionCreated: (event) => {
      const { organization_id, data, recorded_at } = event;
      const row = columns(event);
      const created = row && { organization_id, type: data.type, ...row, created_at: recorded_at };
      return created ? [putRow("definitions", data.definition_id, created), version(event)] : [];
    },
    DefinitionSaved: (event) => {
      const row = columns(event);
      return row ? [patchRow("definitions", event.data.definition_id, row), version(event)] : [];
    },
    DefinitionDeleted: ({ data: { definition_id } }) => [
      removeRow("definitions", definition_id),
      removeRows("definition_versions", { definition_id }),
    ],
  },
});
