import type { clientOf } from "../http/service.ts";
import { uploadForm } from "./library.ts";

/** The things that the requests name. */
export interface Things {
  slug: string;
  collection: string;
  document: string;
  extraction: string;
}

type Call = ReturnType<typeof clientOf>;
export interface Route {
  name: string;
  product: "knowledge" | "extraction";
  /** Error code when the named thing does not exist: a 404, for searches a 400. Undefined when the route names nothing. */
  absent?: string;
  send: (call: Call, things: Things) => ReturnType<Call>;
}

const KNOWLEDGE: [name: string, absent: string | undefined, send: Route["send"]][] = [
  ["list collections", undefined, (call) => call("GET", "/collections")],
  ["create a collection", undefined, (call) => call("POST", "/collections", { name: "Attempted" })],
  ["read a collection", "collection_not_found", (call, { slug }) => call("GET", `/collections/${slug}`)],
  [
    "read a collection by id",
    "collection_not_found",
    (call, { collection }) => call("GET", `/collections/${collection}`),
  ],
  [
    "rename a collection",
    "collection_not_found",
    (call, { collection }) => call("PATCH", `/collections/${collection}`, { name: "Mine" }),
  ],
  ["delete a collection", "collection_not_found", (call, { slug }) => call("DELETE", `/collections/${slug}`)],
  [
    "list the documents of a collection",
    "collection_not_found",
    (call, { slug }) => call("GET", `/collections/${slug}/documents`),
  ],
  [
    "upload to a collection",
    "collection_not_found",
    (call, { collection }) => call("POST", `/collections/${collection}/documents`, uploadForm({})),
  ],
  [
    "push text to a collection",
    "collection_not_found",
    (call, { slug }) => call("POST", `/collections/${slug}/documents/text`, { text: "x" }),
  ],
  ["list all documents", undefined, (call) => call("GET", "/documents?tags=a")],
  [
    "push a batch to a collection",
    "collection_not_found",
    (call, { slug }) => call("POST", "/documents/batch", { collection: slug, documents: [{ text: "x" }] }),
  ],
  ["read a document", "not_found", (call, { document }) => call("GET", `/documents/${document}`)],
  ["read the text of a document", "not_found", (call, { document }) => call("GET", `/documents/${document}/text`)],
  [
    "read the passages of a document",
    "not_found",
    (call, { document }) => call("GET", `/documents/${document}/passages`),
  ],
  [
    "list the versions of a document",
    "not_found",
    (call, { document }) => call("GET", `/documents/${document}/versions`),
  ],
  ["read the file of a document", "not_found", (call, { document }) => call("GET", `/documents/${document}/content`)],
  ["rename a document", "not_found", (call, { document }) => call("PATCH", `/documents/${document}`, { name: "x" })],
  [
    "reprocess a document",
    "not_found",
    (call, { document }) => call("POST", `/documents/${document}/reprocess?reextract=true`),
  ],
  [
    "list the sources of a collection",
    "collection_not_found",
    (call, { slug }) => call("GET", `/collections/${slug}/sources`),
  ],
  [
    "create a source",
    "collection_not_found",
    (call, { slug }) => call("POST", `/collections/${slug}/sources`, { kind: "url", url: "http://127.0.0.1:9/" }),
  ],
  ["read a source", "source_not_found", (call, { document }) => call("GET", `/sources/${document}`)],
  ["list the pages of a source", "source_not_found", (call, { document }) => call("GET", `/sources/${document}/pages`)],
  ["read a source again", "source_not_found", (call, { document }) => call("POST", `/sources/${document}/read`)],
  [
    "pause a source",
    "source_not_found",
    (call, { document }) => call("PATCH", `/sources/${document}`, { paused: true }),
  ],
  ["delete a source", "source_not_found", (call, { document }) => call("DELETE", `/sources/${document}`)],
  ["delete a document", "not_found", (call, { document }) => call("DELETE", `/documents/${document}`)],
  ["search", undefined, (call) => call("POST", "/search", { query: "secret words" })],
  [
    "search in a document",
    "document_not_found",
    (call, { document }) => call("POST", "/search", { query: "secret words", document_ids: [document] }),
  ],
  [
    "verify an answer",
    undefined,
    (call, { document }) =>
      call("POST", "/verify", {
        answer: "The secret words are these.",
        citations: [{ document_id: document, seq: 0 }],
      }),
  ],
  [
    "search in a collection",
    "unknown_collection",
    (call, { slug }) => call("POST", "/search", { query: "secret words", collections: [slug] }),
  ],
];

const EXTRACTION = (base: string): [name: string, absent: string | undefined, send: Route["send"]][] => [
  ["extract", undefined, (call) => call("POST", base, uploadForm({}))],
  ["read an extraction", "extraction_not_found", (call, { extraction }) => call("GET", `${base}/${extraction}`)],
  ["delete an extraction", "extraction_not_found", (call, { extraction }) => call("DELETE", `${base}/${extraction}`)],
];

/** One request for each route of the two APIs, and some variants. */
export const everyRoute = (extractions: string): Route[] => [
  ...KNOWLEDGE.map(([name, absent, send]) => ({ name, product: "knowledge" as const, absent, send })),
  ...EXTRACTION(extractions).map(([name, absent, send]) => ({ name, product: "extraction" as const, absent, send })),
];
