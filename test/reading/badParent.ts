import { fileURLToPath } from "node:url";
import { openReader } from "#infra/readers/openReader.ts";

/* The test kills this process while its reading process is in a loop. */

const program = fileURLToPath(new URL("badReader.ts", import.meta.url));
const reader = openReader({ processes: 1, program });
const file = (mime_type: string) => ({ mime_type, bytes: Buffer.from("") });
const { markdown } = await reader.read(file("echo"));
console.log(markdown.toString().trim());
void reader.read(file("loop"));
