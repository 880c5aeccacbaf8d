import { Unavailable, type EventLog } from "#events/ports.ts";
import { describeDocument, type DescriptionReader, type DocumentDescription } from "../describeDocument.ts";
import { decodeVectors, markPassages } from "../embedding/vectorBlob.ts";
import type { IndexedPassage } from "../passageIndex.ts";
import { decodePassages } from "../../reading/passageLines.ts";
import type { Passage } from "../../reading/reader.ts";
import { openThingBlobs, type ThingBlobs, type VaultDeps } from "../../thingBlobs.ts";
import type { WantedGeneration } from "./planChanges.ts";

/** The blobs of a generation are missing or do not open. */
export class UnreadablePassages extends Error {
  override name = "UnreadablePassages";
}

/** Documents with at most this many events are looked up together, in one shared query. */
const MAX_SHARED_EVENTS = 8;

interface LoadDeps extends VaultDeps {
  log: Pick<EventLog, "event">;
  descriptions: DescriptionReader;
  onError(error: unknown): void;
}

/** The passages of a generation for the index; undefined if the document was erased. Throws UnreadablePassages, Unavailable. */
export async function loadPassages(deps: LoadDeps, wanted: WantedGeneration): Promise<IndexedPassage[] | undefined> {
  const [blobs, description] = await Promise.all([openThingBlobs(deps, wanted), describeWanted(deps, wanted)]);
  if (!blobs) deps.descriptions.forget(wanted.stream);
  if (!blobs || !description) return undefined;
  const passages = await readPassages(blobs, wanted);
  const vectors = await loadVectors(deps, blobs, { wanted, passages });
  const { organization_id, document_id, collection_id } = wanted;
  const { generation } = wanted.text;
  return passages.map((passage, n) => {
    const vector = vectors[n];
    const ids = { organization_id, collection_id, document_id, generation };
    return { ...ids, ...description, ...passage, ...(vector && { vector }) };
  });
}

async function describeWanted(
  { log, descriptions }: LoadDeps,
  { stream, version }: WantedGeneration,
): Promise<DocumentDescription | undefined> {
  if (version > MAX_SHARED_EVENTS) return descriptions.read(stream);
  const events = await Promise.all(Array.from({ length: version }, (_, n) => log.event(stream, n + 1)));
  return describeDocument(events.filter((event) => event !== undefined));
}

type PassageWithText = Omit<Passage, "end"> & { text: string };

/** The passages of a generation with their texts. Throws UnreadablePassages, and Unavailable while the disk cannot be read. */
export async function readPassages(
  blobs: ThingBlobs,
  { text, stream }: Pick<WantedGeneration, "text" | "stream">,
): Promise<PassageWithText[]> {
  try {
    const [markdown, lines] = await Promise.all([blobs.get(text.text), blobs.get(text.passages)]);
    const whole = markdown.toString();
    const passages = await decodePassages(lines);
    return passages.map(({ seq, page, section, start, end, lead }) => ({
      seq,
      page,
      section,
      lead,
      start,
      text: whole.slice(start, end),
    }));
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    throw new UnreadablePassages(`the passages of ${stream} cannot be opened`, { cause: error });
  }
}

/** Loads the stored vectors of passages. A missing blob, replaced by another model's, is no error: such passages are found by their words. */
async function loadVectors(
  { onError }: LoadDeps,
  blobs: ThingBlobs,
  { wanted: { vectors, stream }, passages }: { wanted: WantedGeneration; passages: PassageWithText[] },
): Promise<(IndexedPassage["vector"] | undefined)[]> {
  if (!vectors) return [];
  const { space, dimensions } = vectors;
  const numbers = new Map<string, Float32Array>();
  try {
    for (const key of vectors.blobs) await decodeVectors(await blobs.get(key), dimensions, numbers);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    onError(new Error(`the vectors of ${stream} cannot be opened`, { cause: error }));
    return [];
  }
  const marks = await markPassages(passages);
  return marks.map(({ mark }) => {
    const values = numbers.get(mark);
    return values && { space, values };
  });
}
