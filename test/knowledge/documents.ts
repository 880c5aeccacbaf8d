import { createHash } from "node:crypto";
import { expect } from "vitest";
import { blobFolder, newCommandId, newId, streamName } from "#events/ids.ts";
import type { CommandResult, Command } from "#events/envelope.ts";
import { MARKER_ID } from "#infra/meilisearch/document.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import type { Handle } from "#services/handle.ts";
import type { Resources } from "../../roles/resources.ts";
import { SOON } from "../soon.ts";

/** Sends commands about the knowledge of a new organization: over the bus, as http does, or to a handler of the test. */
export function openKnowledge(opened: Resources, { handle }: { handle?: Handle } = {}) {
  const { vault, bus, log } = opened;
  const [organization_id, collection_id] = [newId(), newId()];
  const ask = (
    stream: string,
    type: string,
    data: object,
    keys: Record<string, string> = {},
  ): Promise<CommandResult> => {
    const command: Command = {
      id: newCommandId(),
      type,
      stream,
      organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + 20_000).toISOString(),
      request_id: "test",
      data,
      keys,
    };
    return handle ? handle(command) : bus.sender(log).send(command);
  };
  const sealed = async (thing: string, text: string) => {
    const wrapped_key = vault.createKey(thing);
    const owner = { thing, wrapped_key, folder: blobFolder(organization_id, thing) };
    const blob = await vault.put(owner, Buffer.from(text));
    return { blob, keys: { [thing]: wrapped_key } };
  };
  return {
    organization_id,
    collection_id,
    ask,
    createCollection: () =>
      ask(streamName("collection", collection_id), "CreateCollection", {
        collection_id,
        slug_claim: newId(),
        name_claim: newId(),
        slug: "docs",
        name: "Docs",
        description: "",
      }),
    async upload(text: string, more: { name?: string; mime_type?: string; tags?: string[] } = {}) {
      const document_id = newId();
      const stream = streamName("document", document_id);
      const { blob, keys } = await sealed(stream, text);
      const { name = "a.md", mime_type = "text/markdown", tags = [] } = more;
      const sha256 = createHash("sha256").update(text).digest("hex");
      const answer = await ask(
        stream,
        "UploadDocument",
        {
          document_id,
          collection_id,
          source: "api",
          external_claim: null,
          external_id: null,
          mime_type,
          size_bytes: Buffer.byteLength(text),
          original: "file",
          blob,
          content_claim: newId(),
          name,
          tags,
          sha256,
        },
        keys,
      );
      return { document_id, stream, answer };
    },
    async extract(text: string, seconds = 86_400) {
      const extraction_id = newId();
      const stream = streamName("extraction", extraction_id);
      const { blob, keys } = await sealed(stream, text);
      await ask(
        stream,
        "RequestExtraction",
        {
          extraction_id,
          mime_type: "text/markdown",
          size_bytes: Buffer.byteLength(text),
          blob,
          content_claim: newId(),
          expires_at: new Date(Date.now() + seconds * 1_000).toISOString(),
          name: "a.md",
          sha256: "",
        },
        keys,
      );
      return { extraction_id, stream };
    },
    reprocess: (document_id: string, reextract = false) =>
      ask(streamName("document", document_id), "ReprocessDocument", { document_id, reextract }),
    remove: (document_id: string) => ask(streamName("document", document_id), "DeleteDocument", { document_id }),
  };
}

/** The event types of a stream. */
export const eventTypes = async ({ log }: Resources, stream: string): Promise<string[]> =>
  (await log.read(stream)).map(({ type }) => type);

/** What happens to an uploaded document until it can be found. */
export const READY = ["DocumentUploaded", "ReadingStarted", "DocumentRead", "DocumentIndexed"];

/** Waits until the event types of a stream are as expected. */
export const pollTypes = (opened: Resources, stream: string) => expect.poll(() => eventTypes(opened, stream), SOON);

/** Asks the search server directly, without the service. */
export function searchServer({ addresses, settings, db }: Resources) {
  const { meili_url, meili_master_key } = addresses;
  const index = openPassageIndex({ url: meili_url, key: meili_master_key, prefix: settings.BUS_PREFIX });
  const serving = async (): Promise<string | undefined> =>
    (await db.query<{ index_id: string }>("select index_id from ops.search_index"))[0]?.index_id;
  /** Some fields of all passages in the serving index. */
  const fields = async (...names: string[]): Promise<Record<string, string>[]> => {
    const response = await fetch(`${meili_url}/indexes/${await serving()}/documents/fetch`, {
      method: "POST",
      headers: { authorization: `Bearer ${meili_master_key}`, "content-type": "application/json" },
      body: JSON.stringify({ limit: 100_000, fields: names, filter: `org != ${MARKER_ID}` }),
    });
    if (!response.ok) throw new Error(`the search server answered ${response.status}`);
    return ((await response.json()) as { results: Record<string, string>[] }).results;
  };
  return {
    ...index,
    serving,
    fields,
    /** Names of all passages: `<document>_<generation>_<seq>`. */
    passages: async (): Promise<string[]> => (await fields("pk")).map(({ pk }) => pk!).sort(),
  };
}
