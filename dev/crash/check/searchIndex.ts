import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { MARKER_ID } from "#infra/meilisearch/document.ts";
import type { Db } from "#projections/projection.ts";
import { documentHistories } from "./documents.ts";
import { different, lost, type Finding } from "./finding.ts";

interface Server {
  meili_url: string;
  meili_master_key: string;
}

const PAGE = 1_000;

/** Keys of all passages in an index: `<document>_<generation>_<seq>`. */
async function keysIn({ meili_url, meili_master_key }: Server, index: string): Promise<string[]> {
  const keys: string[] = [];
  for (let total = 1; keys.length < total; ) {
    const response = await fetch(`${meili_url}/indexes/${index}/documents/fetch`, {
      method: "POST",
      headers: { authorization: `Bearer ${meili_master_key}`, "content-type": "application/json" },
      body: JSON.stringify({ offset: keys.length, limit: PAGE, fields: ["pk"] }),
    });
    if (!response.ok) throw new Error(`the index ${index} cannot be read: ${response.status}`);
    const page = (await response.json()) as { results: { pk: string }[]; total: number };
    keys.push(...page.results.map(({ pk }) => pk));
    total = page.results.length === 0 ? 0 : page.total;
  }
  return keys.filter((key) => key !== MARKER_ID);
}

/** I7: the index holds the live passages of existing documents, each once, and nothing else. */
export async function checkIndex(db: Db, server: Server, events: RecordedEvent[]): Promise<Finding[]> {
  const wanted = new Set(
    documentHistories(events)
      .filter(({ stream, status, live }) => stream.startsWith("document-") && status !== "gone" && live > 0)
      .flatMap(({ stream, live, chunks }) =>
        Array.from({ length: chunks.get(live)! }, (_, seq) => `${parseStreamName(stream).id}_${live}_${seq}`),
      ),
  );
  const [serving] = await db.query<{ index_id: string }>("select index_id from ops.search_index");
  if (!serving) return wanted.size > 0 ? [lost("I7", "index", `there is none for ${wanted.size} passages`)] : [];
  const keys = await keysIn(server, serving.index_id);
  const there = new Set(keys);
  return [
    ...[...wanted].filter((key) => !there.has(key)).map((key) => lost("I7", key, "is not in the index")),
    ...keys.filter((key) => !wanted.has(key)).map((key) => different("I7", key, "is left in the index")),
  ];
}
