import type { clientOf } from "../http/service.ts";
import { formOf } from "./library.ts";

/** What routes are asked about. */
export interface Things {
  slug: string;
  collection: string;
  document: string;
  extraction: string;
}

type Call = ReturnType<typeof clientOf>;
export interface Attempt {
  name: string;
  product: "knowledge" | "extraction";
  /** The code of its 404, 400 for a search; undefined where the route names nothing. */
  absent?: string;
  ask: (call: Call, things: Things) => ReturnType<Call>;
}

const KNOWLEDGE: [name: string, absent: string | undefined, ask: Attempt["ask"]][] = [
  ["list collections", undefined, (call) => call("GET", "/collections")],
  ["create a collection", undefined, (call) => call("POST", "/collections", { name: "Attempted" })],
  ["read a collection", "collection_not_found", (call, { slug }) => call("GET", `/collections/${slug}`)],
  ["read it by id", "collection_not_found", (call, { collection }) => call("GET", `/collections/${collection}`)],
  [
    "rename it",
    "collection_not_found",
    (call, { collection }) => call("PATCH", `/collections/${collection}`, { name: "Mine" }),
  ],
  ["delete it", "collection_not_found", (call, { slug }) => call("DELETE", `/collections/${slug}`)],
  ["list its documents", "collection_not_found", (call, { slug }) => call("GET", `/collections/${slug}/documents`)],
  [
    "upload to it",
    "collection_not_found",
    (call, { collection }) => call("POST", `/collections/${collection}/documents`, formOf({})),
  ],
  [
    "push text to it",
    "collection_not_found",
    (call, { slug }) => call("POST", `/collections/${slug}/documents/text`, { text: "x" }),
  ],
  ["read a document", "not_found", (call, { document }) => call("GET", `/documents/${document}`)],
  ["read its text", "not_found", (call, { document }) => call("GET", `/documents/${document}/text`)],
  ["read its bytes", "not_found", (call, { document }) => call("GET", `/documents/${document}/content`)],
  ["rename the document", "not_found", (call, { document }) => call("PATCH", `/documents/${document}`, { name: "x" })],
  [
    "reprocess it",
    "not_found",
    (call, { document }) => call("POST", `/documents/${document}/reprocess?reextract=true`),
  ],
  ["delete the document", "not_found", (call, { document }) => call("DELETE", `/documents/${document}`)],
  ["search", undefined, (call) => call("POST", "/search", { query: "secret words" })],
  [
    "search in the document",
    "document_not_found",
    (call, { document }) => call("POST", "/search", { query: "secret words", document_ids: [document] }),
  ],
  [
    "search in the collection",
    "unknown_collection",
    (call, { slug }) => call("POST", "/search", { query: "secret words", collections: [slug] }),
  ],
];

const EXTRACTION = (base: string): [name: string, absent: string | undefined, ask: Attempt["ask"]][] => [
  ["extract", undefined, (call) => call("POST", base, formOf({}))],
  ["read an extraction", "extraction_not_found", (call, { extraction }) => call("GET", `${base}/${extraction}`)],
  ["delete an extraction", "extraction_not_found", (call, { extraction }) => call("DELETE", `${base}/${extraction}`)],
];

/** One request for each thing that the two APIs can do. */
export const everyRoute = (extractions: string): Attempt[] => [
  ...KNOWLEDGE.map(([name, absent, ask]) => ({ name, product: "knowledge" as const, absent, ask })),
  ...EXTRACTION(extractions).map(([name, absent, ask]) => ({ name, product: "extraction" as const, absent, ask })),
];
