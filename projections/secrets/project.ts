import type { SecretEvent } from "#events/secret.ts";
import { defineProjection, encode, streamRow } from "../projection.ts";

const change = streamRow("secrets");

export const secrets = defineProjection<SecretEvent>({
  name: "secrets",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    SecretSet: (event) => change(event, { name: encode(event.data.name) }),
    SecretRemoved: (event) => change(event, { name: null }),
  },
});
