import { UnreadableFile, type ReadText } from "../../reading/reader.ts";
import type { SealedBlobs } from "../../sealed.ts";
import type { JobDeps } from "./job.ts";

const NOTHING = "No text was found in this file.";

/** Reads what was sent. Its bytes are held only as long as a reader works on them. Throws UnreadableFile. */
export function readFile(
  { reader, slots }: JobDeps,
  blobs: SealedBlobs,
  { blob, mime_type, name }: { blob: string; mime_type: string; name: string },
): Promise<ReadText> {
  return slots(async () => {
    const reading = await reader.read({ bytes: await blobs.get(blob), mime_type, name });
    if (reading.chunk_count === 0) throw new UnreadableFile(NOTHING);
    return reading;
  });
}
