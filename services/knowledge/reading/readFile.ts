import { UnreadableFile, type CutText, type ReadText } from "../../reading/reader.ts";
import type { ThingBlobs } from "../../thingBlobs.ts";
import type { JobDeps } from "./job.ts";

const NO_TEXT = "No text was found in this file.";

/** The fields of a reading that its event records. */
export const readFields = ({
  page_count,
  chunk_count,
  characters,
  warnings,
}: CutText & Pick<ReadText, "warnings">) => ({
  page_count,
  chunk_count,
  characters,
  ...(warnings && { warnings }),
});

/** Reads the original. Its bytes are in memory only while a reader works on them. Throws UnreadableFile. */
export function readFile(
  { reader, openFiles }: JobDeps,
  organization_id: string,
  blobs: ThingBlobs,
  { blob, mime_type, name }: { blob: string; mime_type: string; name: string },
): Promise<ReadText> {
  return openFiles.run(organization_id, async () => {
    const reading = await reader.read({ bytes: await blobs.get(blob), mime_type, name }, organization_id);
    if (reading.chunk_count === 0) throw new UnreadableFile(NO_TEXT);
    return reading;
  });
}
