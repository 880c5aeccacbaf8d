import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/* Generates a client: `node generate.mjs <openapiFetch|heyApi> <folder with openapi.json>`. */

const [kind, folder] = process.argv.slice(2);
const client = join(folder, "client");

if (kind === "openapiFetch") {
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  const schema = JSON.parse(await readFile(join(folder, "openapi.json"), "utf8"));
  // a field with a default may be left out of a request
  const types = await openapiTS(schema, { defaultNonNullable: false });
  await writeFile(join(client, "schema.ts"), astToString(types));
} else {
  const { createClient } = await import("@hey-api/openapi-ts");
  await createClient({
    input: join(folder, "openapi.json"),
    output: { path: client, module: { extension: ".ts" } },
    plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    logs: { level: "silent" },
  });
}
