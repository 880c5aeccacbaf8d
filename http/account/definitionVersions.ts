import type { z } from "zod";
import type { DefinitionRow, VersionRow } from "#projections/definitions/query.ts";
import { MAX_PAGE_BYTES, type PageRows } from "#projections/page.ts";
import type { Http } from "../base/deps.ts";
import { readSource } from "./definitionScript.ts";
import { presentVersion, type DefinitionVersion } from "./definitionShape.ts";

/**
 * Adds the sources to a page of a definition's versions, with at most MAX_PAGE_BYTES of source unless the first one is longer.
 * Sources are read one after the other: 500 together would take half a gigabyte.
 */
export async function readVersionPage(
  http: Pick<Http, "vault">,
  definition: Pick<DefinitionRow, "id" | "wrapped_key">,
  { rows: versions, total }: PageRows<VersionRow>,
): Promise<PageRows<z.infer<typeof DefinitionVersion>>> {
  const rows: z.infer<typeof DefinitionVersion>[] = [];
  let size = 0;
  for (const version of versions) {
    const source = await readSource(http, definition, version.blob);
    size += source.length;
    if (size > MAX_PAGE_BYTES && rows.length > 0) break;
    rows.push(presentVersion(version, source));
  }
  return { rows, total };
}
