import { fileForm } from "../../http/service.ts";
import type { Desk } from "./desk.ts";

const isReady = ({ status }: { status: string }) => status === "ready";

/** A collection with its documents and a source; search, checks of answers, and an extraction. */
export async function askForDocuments(desk: Desk): Promise<void> {
  const { ask, askUntil } = desk;
  const { slug } = await ask("post /api/v1/knowledge/collections");
  await ask("patch /api/v1/knowledge/collections/{reference}", { path: [slug] });
  const { id } = await ask("post /api/v1/knowledge/collections/{reference}/documents/text", { path: [slug] });
  const path = [id];
  await askUntil("get /api/v1/knowledge/documents/{id}", { path }, isReady);
  await ask("get /api/v1/knowledge/documents");
  await ask("get /api/v1/knowledge/documents/{id}/versions", { path });
  await ask("post /api/v1/knowledge/documents/batch");
  await askUntil("post /api/v1/knowledge/search", {}, ({ results }) => results.length > 0);
  const { data } = await ask("get /api/v1/knowledge/documents/{id}/passages", { path });
  const citations = [{ document_id: id, version: 1, seq: data[0].seq }];
  await ask("post /api/v1/knowledge/verify", { body: { citations } });
  await ask("get /api/v1/knowledge/collections");
  await askForSource(desk, slug);

  const form = fileForm("# Refunds\n\nA refund takes five working days.", "refunds.md", { type: "" });
  const extraction = await ask("post /api/v1/extractions", { body: form });
  await askUntil("get /api/v1/extractions/{id}", { path: [extraction.id] }, isReady);
  await ask("get /api/extractions");
}

async function askForSource({ ask, askUntil, site }: Desk, slug: string): Promise<void> {
  const operation = "/api/v1/knowledge/collections/{reference}/sources";
  const body = { kind: "url", url: `${site.url}/help/refunds`, include: undefined };
  const source = await ask(`post ${operation}`, { path: [slug], body });
  await ask(`get ${operation}`, { path: [slug] });
  const path = [source.id];
  await askUntil("get /api/v1/knowledge/sources/{id}/pages", { path }, ({ total }) => total > 0);
  await ask("get /api/v1/knowledge/sources/{id}", { path });
}
