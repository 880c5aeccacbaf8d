import { serveReading } from "#infra/readers/serve.ts";
import { cutPassages } from "#services/reading/passages.ts";
import { readFile } from "#services/reading/read.ts";

/* The program of a reading process; infra/readers starts it. */
serveReading({ read: readFile, cut: cutPassages });
