import type { EventLog } from "#events/ports.ts";
import { documentFrom } from "../document.ts";
import type { IndexedPassage } from "../passageIndex.ts";
import { decodePassages } from "../../reading/passageLines.ts";
import type { Passage } from "../../reading/reader.ts";
import { sealedBlobs, type SealedBlobs, type SealedDeps } from "../../sealed.ts";
import type { Wanted } from "./plan.ts";

/** Its blobs are gone or do not open. */
export class BrokenPassages extends Error {
  override name = "BrokenPassages";
}

/** The passages of a generation as the index takes them; undefined once the document was erased. Throws BrokenPassages. */
export async function passagesOf(
  deps: SealedDeps & { log: Pick<EventLog, "read"> },
  wanted: Wanted,
): Promise<IndexedPassage[] | undefined> {
  const [blobs, events] = await Promise.all([sealedBlobs(deps, wanted), deps.log.read(wanted.stream)]);
  const described = documentFrom(events);
  if (!blobs || !described) return undefined;
  const { text, passages } = await opened(blobs, wanted);
  const { organization_id, document_id, collection_id } = wanted;
  const { generation } = wanted.text;
  return passages.map(({ seq, page, section, start, end, lead }) => ({
    organization_id,
    collection_id,
    document_id,
    generation,
    ...described,
    seq,
    page,
    section,
    lead,
    text: text.slice(start, end),
  }));
}

async function opened(blobs: SealedBlobs, wanted: Wanted): Promise<{ text: string; passages: Passage[] }> {
  try {
    const [markdown, stored] = await Promise.all([blobs.get(wanted.text.text), blobs.get(wanted.text.passages)]);
    return { text: markdown.toString(), passages: await decodePassages(stored) };
  } catch (error) {
    throw new BrokenPassages(`the passages of ${wanted.stream} cannot be opened`, { cause: error });
  }
}
