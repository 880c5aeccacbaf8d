import { parseStreamName } from "#events/ids.ts";
import type { SecretEvent } from "#events/secret.ts";
import { defineProjection, encode } from "../projection.ts";

export const secrets = defineProjection<SecretEvent>({
  name: "secrets",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    SecretSet: ({ stream, version, organization_id, data, recorded_at }) => {
      const key = { id: parseStreamName(stream).id };
      const row = { name: encode(data.name), updated_at: recorded_at };
      return version === 1
        ? [{ table: "secrets", kind: "put", key, row: { organization_id, ...row, created_at: recorded_at } }]
        : [{ table: "secrets", kind: "patch", key, row }];
    },
    SecretRemoved: ({ stream, recorded_at }) => [
      {
        table: "secrets",
        kind: "patch",
        key: { id: parseStreamName(stream).id },
        row: { name: null, updated_at: recorded_at },
      },
    ],
  },
});
