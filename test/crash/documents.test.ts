import { beforeEach, describe, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

const DOCUMENT = "document-d";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

const at = (generation: number) => ({ document_id: "d", generation });

/** A document that is uploaded by operation 1, read and indexed. */
function ready() {
  scenario.event("DocumentUploaded", DOCUMENT, "1", at(1), { sha256: "x" });
  scenario.operation("document.upload", "1", { asked: { word: "w" }, got: { document_id: "d" } }, [202]);
  scenario.event("DocumentRead", DOCUMENT, "worker", { ...at(1), chunk_count: 1 });
  scenario.event("DocumentIndexed", DOCUMENT, "index", { ...at(1), units: 1, unused: [] });
  scenario.operation("document.read", "2", { asked: { document_id: "d" }, got: { status: "ready" } });
}

const found = (passages: number) => ({
  asked: { document_id: "d", word: "w" },
  got: { found: passages > 0 ? [{ id: "d", passages }] : [] },
});

test("finding an existing document is no finding", () => {
  ready();
  scenario.operation("document.search", "3", found(1));
  scenario.event("DocumentReprocessed", DOCUMENT, "4", { ...at(2), reextract: false });
  scenario.operation("document.reprocess", "4", { asked: { document_id: "d" } }, [202]);
  scenario.event("DocumentRead", DOCUMENT, "worker again", { ...at(2), chunk_count: 1 });
  scenario.event("DocumentIndexed", DOCUMENT, "index again", { ...at(2), units: 0, unused: [] });
  scenario.event("DocumentDeleted", DOCUMENT, "5", { document_id: "d" });
  scenario.operation("document.delete", "5", { asked: { document_id: "d" } }, [204]);
  scenario.operation("document.search", "6", found(0));
  expect(scenario.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("a document that was ready and is not found, or is found in two generations at once", () => {
    ready();
    scenario.operation("document.search", "3", found(0));
    scenario.operation("document.search", "4", found(2));
    expect(scenario.findings()).toEqual(["lost I7", "doubled I7"]);
  });

  test("a document that is found after it was deleted", () => {
    ready();
    scenario.event("DocumentDeleted", DOCUMENT, "3", { document_id: "d" });
    scenario.operation("document.delete", "3", { asked: { document_id: "d" } }, [204]);
    scenario.operation("document.search", "4", found(1));
    expect(scenario.findings()).toEqual(["different I16"]);
  });

  test("a document that never became ready, one that was charged twice, and one that was never", () => {
    scenario.event("DocumentUploaded", DOCUMENT, "1", at(1), { sha256: "x" });
    expect(scenario.findings()).toEqual(["stuck I8"]);
    scenario.event("DocumentIndexed", DOCUMENT, "index", { ...at(1), units: 1, unused: [] });
    scenario.event("DocumentIndexed", DOCUMENT, "index again", { ...at(1), units: 1, unused: [] });
    scenario.event("DocumentUploaded", "document-e", "2", at(1), { sha256: "x" });
    scenario.event("DocumentIndexed", "document-e", "index of another", { ...at(1), units: 0, unused: [] });
    expect(scenario.findings()).toEqual(["doubled I13", "lost I13"]);
  });

  test("a generation that was read twice, and text of another document", () => {
    ready();
    scenario.event("DocumentRead", DOCUMENT, "a second worker", { ...at(1), chunk_count: 1 });
    scenario.operation("document.text", "3", { asked: { document_id: "d", word: "w" }, got: { holds: false } });
    expect(scenario.findings()).toEqual(["doubled I5", "different I12"]);
  });
});
