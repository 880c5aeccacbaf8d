import type { EventLog } from "#events/ports.ts";
import { describeDocument } from "../describeDocument.ts";
import type { IndexedPassage } from "../passageIndex.ts";
import { decodePassages } from "../../reading/passageLines.ts";
import type { Passage } from "../../reading/reader.ts";
import { openThingBlobs, type ThingBlobs, type VaultDeps } from "../../thingBlobs.ts";
import type { WantedGeneration } from "./planChanges.ts";

/** The blobs of a generation are missing or do not open. */
export class UnreadablePassages extends Error {
  override name = "UnreadablePassages";
}

/** The passages of a generation for the index; undefined if the document was erased. Throws UnreadablePassages. */
export async function loadPassages(
  deps: VaultDeps & { log: Pick<EventLog, "read"> },
  wanted: WantedGeneration,
): Promise<IndexedPassage[] | undefined> {
  const [blobs, events] = await Promise.all([openThingBlobs(deps, wanted), deps.log.read(wanted.stream)]);
  const description = describeDocument(events);
  if (!blobs || !description) return undefined;
  const { text, passages } = await readBlobs(blobs, wanted);
  const { organization_id, document_id, collection_id } = wanted;
  const { generation } = wanted.text;
  return passages.map(({ seq, page, section, start, end, lead }) => ({
    organization_id,
    collection_id,
    document_id,
    generation,
    ...description,
    seq,
    page,
    section,
    lead,
    text: text.slice(start, end),
    start,
  }));
}

async function readBlobs(
  blobs: ThingBlobs,
  { text, stream }: WantedGeneration,
): Promise<{ text: string; passages: Passage[] }> {
  try {
    const [markdown, passages] = await Promise.all([blobs.get(text.text), blobs.get(text.passages)]);
    return { text: markdown.toString(), passages: await decodePassages(passages) };
  } catch (error) {
    throw new UnreadablePassages(`the passages of ${stream} cannot be opened`, { cause: error });
  }
}
