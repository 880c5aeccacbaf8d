import { z } from "zod";

const FetchRequest = z.object({
  url: z.string().max(8_000),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(200), z.string().max(8_192)])).max(100),
  body: z.string().nullable(),
});

/** Reads the JSON of a script's fetch(). Throws an Error for the script when a part is too long. */
export function readFetchRequest(json: string): z.infer<typeof FetchRequest> {
  const { data } = FetchRequest.safeParse(JSON.parse(json));
  if (!data) throw new Error("fetch: the address, the method or the headers are too long.");
  return data;
}
