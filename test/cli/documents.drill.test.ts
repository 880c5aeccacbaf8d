import { expect, test } from "vitest";
import { readSettings } from "#infra/config.ts";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { roles, runRoles } from "../../roles/runRoles.ts";
import { openReader } from "../knowledge/library.ts";
import { json, openCommandLine } from "./svc.ts";

test("svc documents warnings names the documents that were read in part, of one organization or of all", async () => {
  const cli = await openCommandLine();
  const { DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY, MASTER_KEY } = cli.env;
  const addresses = {
    database_url: DATABASE_URL!,
    nats_url: NATS_URL!,
    meili_url: MEILI_URL!,
    meili_master_key: MEILI_MASTER_KEY!,
    master_key: MASTER_KEY!,
  };
  const running = await runRoles(roles, { settings: readSettings(cli.env), addresses });
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
