import { FormData } from "undici";
import { randomFrom } from "../search/random.ts";
import { progress } from "../tools/progress.ts";
import { randomLines } from "./report.ts";
import type { Service } from "../tools/service.ts";

const KNOWLEDGE = "/api/v1/knowledge";
const SINGLE_DOCUMENTS = 20;
export const BATCH_SIZES = [10, 100, 1_000];
const CONNECTIONS = 16;
/** How many documents of a batch are searched for by a unique word. */
const SAMPLE = 10;

/** A word that no other document has. */
const uniqueWord = (seed: number): string => {
  const random = randomFrom(seed);
  return Array.from({ length: 12 }, () => "abcdefghiklmnoprstuv"[Math.floor(random() * 20)]).join("");
};

/** About 1,500 characters of Markdown. */
const upload = async ({ call }: Service, collection: string, seed: number): Promise<{ id: string }> => {
  const form = new FormData();
  const text = `# Note ${seed}\n\n${randomLines(seed, 19).join(".\n")}.\n\nIts word is ${uniqueWord(seed)}.\n`;
  form.set("file", new File([text], `note-${seed}.md`, { type: "text/markdown" }));
  return call("POST", `${KNOWLEDGE}/collections/${collection}/documents`, form, [202]);
};

const finds = async ({ call }: Service, seed: number): Promise<true | undefined> => {
  const { results } = await call("POST", `${KNOWLEDGE}/search`, { query: uniqueWord(seed), limit: 1 }, [200]);
  return results.length > 0 || undefined;
};

const createCollection = async ({ call }: Service, name: string): Promise<string> =>
  (await call("POST", `${KNOWLEDGE}/collections`, { name }, [201])).slug;

/** Milliseconds from the upload of a document to the first search that finds it, one document after another. */
export const measureSingle = async (service: Service): Promise<number[]> => {
  const slug = await createCollection(service, "One by one");
  const times: number[] = [];
  for (let n = 0; n <= SINGLE_DOCUMENTS; n++) {
    progress(`one document at a time: ${n} of ${SINGLE_DOCUMENTS}`);
    const seed = 1_000_000 + n;
    const start = performance.now();
    await upload(service, slug, seed);
    await service.until("a document", 2, () => finds(service, seed));
    // The first document creates the index.
    if (n > 0) times.push(performance.now() - start);
  }
  return times;
};

export interface BatchTimes {
  documents: number;
  /** Seconds from the first upload until the service had accepted all documents, and until all were searchable. */
  accepted: number;
  searchable: number;
}

/** Uploads short documents at once and waits until search finds them. */
export const measureBatch = async (service: Service, documents: number): Promise<BatchTimes> => {
  const slug = await createCollection(service, `Batch of ${documents}`);
  const seeds = Array.from({ length: documents }, (_, n) => documents * 10 + n);
  const left = seeds.values();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1_000;
  const send = async (): Promise<void> => {
    for (const seed of left) await upload(service, slug, seed);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const accepted = seconds();
  await service.until(`${documents} documents`, 20, async () => {
    const list = `${KNOWLEDGE}/collections/${slug}/documents?limit=1&status=`;
    const { total } = await service.call("GET", `${list}ready`, undefined, [200]);
    progress(`${documents} documents at once: ${total} searchable`);
    return total === documents || undefined;
  });
  const searchable = seconds();
  for (const seed of seeds.filter((_, n) => n % Math.ceil(documents / SAMPLE) === 0))
    if (!(await finds(service, seed))) throw new Error(`document ${seed} is ready, but search does not find it`);
  return { documents, accepted, searchable };
};
