import { MARKER_ID } from "./document.ts";
import { MeilisearchError } from "./request.ts";
import type { Server } from "./server.ts";

const MISSING = new Set(["index_not_found", "document_not_found"]);

/** Whether the index exists and still has its marker document. An emptied index has lost it. */
export const hasIndex = async (server: Server, uid: string): Promise<boolean> => {
  try {
    await server.request({ method: "GET", path: `/indexes/${uid}/documents/${MARKER_ID}?fields=pk`, timeoutMs: 5_000 });
    return true;
  } catch (error) {
    if (error instanceof MeilisearchError && MISSING.has(error.code)) return false;
    throw error;
  }
};
