import { expect, test } from "vitest";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { openReader } from "../knowledge/library.ts";
import { json, openCommandLine } from "./svc.ts";

test("svc documents warnings lists the documents that were read only in part, of one organization or of all", async () => {
  const cli = await openCommandLine();
  const running = await cli.startRoles();
  try {
    expect((await cli.svc("documents", "warnings")).stdout).toBe("No document lacks anything that its file has.\n");
    const { api_key, organization_id } = json(await cli.svc("org", "create", "Ada's", "--json"));
    const { collect, keep } = openReader(running.address!, api_key);
    const shelf = await collect("Scans");
    const content = Buffer.from(pdfOf([show(72, 700, 10, "The keeper paints the railing."), "", ""]));
    const { id } = await keep(shelf, { content, name: "part.pdf" });
    await keep(shelf, { content: "# All of it", name: "whole.md" });
    const message = "Pages 2-3 have no text that could be read, as blank and scanned pages do.";
    const warnings = [{ code: "page_without_text", pages: [2, 3], message }];
    const listed = await cli.svc("documents", "warnings", "--organization", organization_id, "--json");
    expect(json(listed)).toEqual([{ id, organization_id, name: "part.pdf", warnings }]);
    const ran = await cli.svc("documents", "warnings");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout.split("\n").slice(1)).toEqual([expect.stringMatching(`${id}.*part.pdf.*${message}`), ""]);
    const first = await cli.svc("documents", "warnings", "--limit", "1");
    expect(first).toMatchObject({ stdout: ran.stdout, stderr: expect.stringContaining("there may be more") });
    const other = await cli.svc(
      "documents",
      "warnings",
      "--organization",
      "0198c0de-0000-7000-8000-00000000000a",
      "--json",
    );
    expect(json(other)).toEqual([]);
  } finally {
    await running.stop();
  }
});
