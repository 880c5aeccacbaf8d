import { beforeEach, describe, expect, test } from "vitest";
import { story } from "./story.ts";

const DOCUMENT = "document-d";

let told: ReturnType<typeof story>;
beforeEach(() => (told = story()));

const at = (generation: number) => ({ document_id: "d", generation });

/** A document that is uploaded by operation 1, read and indexed. */
function ready() {
  told.event("DocumentUploaded", DOCUMENT, "1", at(1), { sha256: "x" });
  told.operation("document.upload", "1", { asked: { word: "w" }, got: { document_id: "d" } }, [202]);
  told.event("DocumentRead", DOCUMENT, "worker", { ...at(1), chunk_count: 1 });
  told.event("DocumentIndexed", DOCUMENT, "index", { ...at(1), units: 1, unused: [] });
  told.operation("document.read", "2", { asked: { document_id: "d" }, got: { status: "ready" } });
}

const found = (passages: number) => ({
  asked: { document_id: "d", word: "w" },
  got: { found: passages > 0 ? [{ id: "d", passages }] : [] },
});

test("a document that is found while it is there is no finding", () => {
  ready();
  told.operation("document.search", "3", found(1));
  told.event("DocumentReprocessed", DOCUMENT, "4", { ...at(2), reextract: false });
  told.operation("document.reprocess", "4", { asked: { document_id: "d" } }, [202]);
  told.event("DocumentRead", DOCUMENT, "worker again", { ...at(2), chunk_count: 1 });
  told.event("DocumentIndexed", DOCUMENT, "index again", { ...at(2), units: 0, unused: [] });
  told.event("DocumentDeleted", DOCUMENT, "5", { document_id: "d" });
  told.operation("document.delete", "5", { asked: { document_id: "d" } }, [204]);
  told.operation("document.search", "6", found(0));
  expect(told.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("a document that was ready and is not found, or is found in two generations at once", () => {
    ready();
    told.operation("document.search", "3", found(0));
    told.operation("document.search", "4", found(2));
    expect(told.findings()).toEqual(["lost I7", "doubled I7"]);
  });

  test("a document that is found after it was deleted", () => {
    ready();
    told.event("DocumentDeleted", DOCUMENT, "3", { document_id: "d" });
    told.operation("document.delete", "3", { asked: { document_id: "d" } }, [204]);
    told.operation("document.search", "4", found(1));
    expect(told.findings()).toEqual(["different I16"]);
  });

  test("a document that never became ready, one that was charged twice, and one that was never", () => {
    told.event("DocumentUploaded", DOCUMENT, "1", at(1), { sha256: "x" });
    expect(told.findings()).toEqual(["stuck I8"]);
    told.event("DocumentIndexed", DOCUMENT, "index", { ...at(1), units: 1, unused: [] });
    told.event("DocumentIndexed", DOCUMENT, "index again", { ...at(1), units: 1, unused: [] });
    told.event("DocumentUploaded", "document-e", "2", at(1), { sha256: "x" });
    told.event("DocumentIndexed", "document-e", "index of another", { ...at(1), units: 0, unused: [] });
    expect(told.findings()).toEqual(["doubled I13", "lost I13"]);
  });

  test("a generation that was read twice, and text that is another's", () => {
    ready();
    told.event("DocumentRead", DOCUMENT, "a second worker", { ...at(1), chunk_count: 1 });
    told.operation("document.text", "3", { asked: { document_id: "d", word: "w" }, got: { holds: false } });
    expect(told.findings()).toEqual(["doubled I5", "different I12"]);
  });
});
