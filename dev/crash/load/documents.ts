import { FormData } from "undici";
import { PERSONAL } from "../topology.ts";
import { sha256 } from "./chat.ts";
import { onceOnly, perform, type Action } from "./session.ts";
import type { KnownDocument } from "./known.ts";
import { KNOWLEDGE } from "./wire.ts";

const wordOf = (id: string): string => `w${id.replaceAll("-", "x")}`;

/** A page of text that contains the word once, so that one passage holds it. */
const markdownOf = ({ id, random }: Action): string =>
  [
    `# Note ${id} of ${PERSONAL}`,
    `The word of this note is ${wordOf(id)}.`,
    ...Array.from({ length: random.int(0, 12) }, () => `Filler ${"text ".repeat(random.int(20, 120))}.`),
  ].join("\n\n");

export const markdownForm = (id: string, text: string) => (): FormData => {
  const filled = new FormData();
  filled.set("file", new File([text], `${PERSONAL}-${id}.md`, { type: "text/markdown" }));
  return filled;
};

export async function uploadDocument(action: Action): Promise<void> {
  const { id, session } = action;
  const { api_key, collection, documents } = session;
  const text = markdownOf(action);
  const word = wordOf(id);
  const done = await perform(action, {
    what: "document.upload",
    keyed: true,
    asked: { word, sha256: sha256(Buffer.from(text)) },
    wanted: {
      method: "POST",
      path: `${KNOWLEDGE}/collections/${collection}/documents`,
      token: api_key,
      headers: onceOnly(id),
      form: markdownForm(id, text),
    },
    read: ({ body }) => ({ document_id: body.id }),
  });
  if (done.got["document_id"]) documents.push({ id: done.got["document_id"], word });
}

/** Text under one of the client's few external ids: it replaces the earlier text. */
export async function pushText(action: Action): Promise<void> {
  const { id, random, session } = action;
  const external_id = `${PERSONAL}-${session.client}-${random.int(1, 3)}`;
  await perform(action, {
    what: "document.push",
    keyed: true,
    asked: { external_id, word: wordOf(id) },
    wanted: {
      method: "POST",
      path: `${KNOWLEDGE}/collections/${session.collection}/documents/text`,
      token: session.api_key,
      headers: onceOnly(id),
      body: { text: markdownOf(action), external_id, name: `${external_id}.md` },
    },
    read: ({ body }) => ({ document_id: body.id }),
  });
}

export async function readDocument(action: Action, { id: document_id }: KnownDocument): Promise<void> {
  await perform(action, {
    what: "document.read",
    asked: { document_id },
    wanted: { method: "GET", path: `${KNOWLEDGE}/documents/${document_id}`, token: action.session.api_key },
    read: ({ body }) => ({ status: body.status, chunk_count: body.chunk_count }),
  });
}

export async function readText(action: Action, { id: document_id, word }: KnownDocument): Promise<void> {
  await perform(action, {
    what: "document.text",
    asked: { document_id, word },
    wanted: { method: "GET", path: `${KNOWLEDGE}/documents/${document_id}/text`, token: action.session.api_key },
    read: ({ text }) => ({ holds: text.includes(word) }),
  });
}

export async function reprocess(action: Action, { id: document_id }: KnownDocument): Promise<void> {
  const reextract = action.random.chance(0.3);
  await perform(action, {
    what: "document.reprocess",
    keyed: true,
    asked: { document_id, reextract },
    wanted: {
      method: "POST",
      path: `${KNOWLEDGE}/documents/${document_id}/reprocess${reextract ? "?reextract=true" : ""}`,
      token: action.session.api_key,
      headers: onceOnly(action.id),
    },
  });
}

export async function deleteDocument(action: Action, document: KnownDocument): Promise<void> {
  const { api_key, documents } = action.session;
  documents.splice(documents.indexOf(document), 1);
  await perform(action, {
    what: "document.delete",
    asked: { document_id: document.id },
    wanted: { method: "DELETE", path: `${KNOWLEDGE}/documents/${document.id}`, token: api_key },
  });
}

/** Searches for a document by its word. */
export async function search(action: Action, { id: document_id, word }: KnownDocument): Promise<void> {
  await perform(action, {
    what: "document.search",
    asked: { document_id, word },
    wanted: { method: "POST", path: `${KNOWLEDGE}/search`, token: action.session.api_key, body: { query: word } },
    read: ({ body }) => ({
      found: body.results.map((group: { document: { id: string }; passages: unknown[] }) => ({
        id: group.document.id,
        passages: group.passages.length,
      })),
    }),
  });
}
