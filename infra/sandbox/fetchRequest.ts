import { z } from "zod";
import { findExcess } from "#events/jsonLimits.ts";

const MAX_HEADERS = 100;
/** Maximum JSON tokens of a request, as `findExcess` counts them. A header has 6, all other fields together 50. */
const MAX_TOKENS = 10 * MAX_HEADERS;

const FetchRequest = z.object({
  url: z.string().max(8_000),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(200), z.string().max(8_192)])).max(MAX_HEADERS),
  body: z.string().nullable(),
});

/**
 * Reads the JSON of a script's fetch(). Throws an Error for the script when a part is too long. A script may send 1 MiB of headers,
 * which are counted first, because reading them would hold up this process.
 */
export function readFetchRequest(json: string): z.infer<typeof FetchRequest> {
  const isReadable = findExcess(Buffer.from(json), MAX_TOKENS) === undefined;
  const { data } = isReadable ? FetchRequest.safeParse(JSON.parse(json)) : {};
  if (!data) throw new Error("fetch: the address, the method or the headers are too long.");
  return data;
}
